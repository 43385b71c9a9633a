"""Arranging the panes: wider, higher, one alone, and all as they were."""

from __future__ import annotations

from textual import on

from nuggets_tui.notices import say
from nuggets_tui.screens.main_state import MainState
from nuggets_tui.widgets.pane_shapes import USUAL
from nuggets_tui.widgets.panes import Panes

_COLUMNS, _ROWS = 4, 2


class MainPanes(MainState):
    """The commands that move the lines between panes. The mouse can take hold of the lines, too."""

    def do_wider(self) -> None:
        """The pane with the cursor, wider."""
        self._grow(columns=_COLUMNS)

    def do_narrower(self) -> None:
        """The pane with the cursor, narrower."""
        self._grow(columns=-_COLUMNS)

    def do_higher(self) -> None:
        """The pane with the cursor, higher."""
        self._grow(rows=_ROWS)

    def do_lower(self) -> None:
        """The pane with the cursor, lower."""
        self._grow(rows=-_ROWS)

    def do_usual_panes(self) -> None:
        """All lines between panes where they were at first."""
        panes = self.query_one(Panes)
        panes.zoomed = False
        panes.shares = USUAL
        self.go_to(panes.active)

    def _grow(self, *, columns: int = 0, rows: int = 0) -> None:
        panes = self.query_one(Panes)
        if panes.zoomed:
            say(self, f"One pane fills the screen; {self.view.keys.key('zoom')} brings the others back.")
        elif panes.single:
            say(self, "Here the panes are tabs, each as large as the screen allows.")
        else:
            panes.grow(columns=columns, rows=rows)

    @on(Panes.ZoomWanted)
    def _zoom_or_not(self, event: Panes.ZoomWanted) -> None:
        event.stop()
        panes = self.query_one(Panes)
        panes.zoomed = not panes.zoomed
        self.go_to(event.pane)
