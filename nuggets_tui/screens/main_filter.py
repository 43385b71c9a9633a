"""Filters of the audit log: chosen in a dialog, told in the pane, let go again with the same key or esc."""

from __future__ import annotations

from textual import work

from nuggets_tui.log import Scope
from nuggets_tui.screens.main_log import MainLog
from nuggets_tui.threads import aside


class MainFilter(MainLog):
    """The part of the main screen that narrows the audit log."""

    @work(group="open", exclusive=True, exit_on_error=False)
    async def do_log_filter(self) -> None:
        """Chooses what of the log is shown; all of it again where something was chosen before."""
        from nuggets_tui.screens.log_filter import LogFilterScreen, offered

        if self.let_filters_go():
            return
        found = await self.attempt(aside(offered, self.desk.memory))
        if found is not None:
            screen = LogFilterScreen(self.log_scope, found, self.view.note, self.desk.clock())
            self.app.push_screen(screen, self._filtered)

    def let_filters_go(self) -> bool:
        """Shows the whole log again; False when it is shown already."""
        if not self.log_scope.filtered:
            return False
        self.show_log_of(self.log_scope.cleared())
        self.go_to("audit")
        return True

    def _filtered(self, scope: Scope | None) -> None:
        if scope is not None:
            self.show_log_of(scope)
            self.go_to("audit")
