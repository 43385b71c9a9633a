"""Other memories on this machine: looking for them, and opening one in place of the present one."""

from __future__ import annotations

from pathlib import Path

from textual import work

from nuggets_tui.notices import say
from nuggets_tui.screens.main_opening import MainOpening
from nuggets_tui.threads import aside
from nuggets_tui.widgets.header import short_path


class MainMemories(MainOpening):
    """The part of the main screen that knows of other memories."""

    def do_memories(self) -> None:
        """A list of the memories found, to read or to open."""
        from nuggets_tui.screens.memories import MemoriesScreen

        self.app.push_screen(MemoriesScreen(self.view.home, self._opening.clock()), self._open_found)

    def _open_found(self, path: str | None) -> None:
        if path is None:
            return
        if path == self.view.home:
            say(self, "This memory is open already.")
            return
        self.open_another(Path(path), f"Now open: {short_path(path)}. nuggets --home opens it at once.")

    def welcome(self) -> None:
        """How to begin, with the memories that are there already once they are found."""
        super().welcome()
        self._look_for_memories()

    @work(group="memories", exclusive=True, exit_on_error=False)
    async def _look_for_memories(self) -> None:
        from nuggets_tui.screens.first_minutes import welcome_lines
        from nuggets_tui.screens.memories import memories_here

        home = self.view.home
        found = await self.attempt(aside(memories_here, home))
        if found and self.view.empty and self.view.home == home:
            self.show_message(welcome_lines(self.view, found), trouble=False)
