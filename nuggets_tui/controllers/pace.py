"""The panes beside the lists follow the cursor once it rests, so that a held key never waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from nuggets_tui import pace
from nuggets_tui.controllers.controller import Controller
from nuggets_tui.view import View, same_but

if TYPE_CHECKING:
    from nuggets_tui.screens.main import MainScreen

# What changes while somebody goes down a list and programs write.
_PASSING: Final = ("note_id", "suggested", "origin", "busy", "snapshot", "fresh", "log", "now", "found")


class PaceController(Controller):
    """Keeps `beside`, what the panes beside the lists show, in step with `view`."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._resting: Timer | None = None

    def view_changed(self, before: View, after: View) -> None:
        """Follows at once, or once the cursor rests where that is all that moved."""
        can_wait = before.note is not None and after.note is not None and same_but(before, after, *_PASSING)
        if pace.REST > 0 and can_wait:
            self._follow_later(anew=before.note_id != after.note_id)
        else:
            self.follow_now()

    def catch_up(self) -> None:
        """Whoever goes over to another pane finds what is shown now."""
        if self._resting is not None:
            self.follow_now()

    def follow_now(self) -> None:
        """The panes beside the lists show what is shown now."""
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        self.main.beside = self.view

    def _follow_later(self, *, anew: bool) -> None:
        """Once the cursor rests. anew: it was moved just now; programs that write again and again put nothing off."""
        if self._resting is None:
            self._resting = self.main.set_timer(pace.REST, self.follow_now)
        elif anew:
            self._resting.reset()
