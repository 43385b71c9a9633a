"""The overview of the memory as points: over the whole screen, and back to what was there before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nuggets_tui.screens.main_state import MainState
from nuggets_tui.widgets.key_bar import KeyBar
from nuggets_tui.widgets.panes import PaneName, Panes

if TYPE_CHECKING:
    from nuggets_tui.widgets.graph import GraphPane


# Keys that the overview takes for itself.
_OWN_KEYS = ("n",)


class MainGraph(MainState):
    """The command of the overview."""

    _before_overview: tuple[PaneName, bool] = ("notes", False)

    def do_overview(self) -> None:
        """All notes as points, over the whole screen; and back."""
        pane = self._graph_pane
        if pane is None:
            return
        panes = self.query_one(Panes)
        if pane.overview and panes.zoomed and panes.active == "graph":
            self._leave_overview(pane)
            return
        if not pane.overview:
            self._before_overview = (panes.active, panes.zoomed)
        pane.overview = True
        panes.zoomed = True
        self.go_to("graph")
        self.show_keys()

    def show_keys(self) -> None:
        """Shows the keys that do something now; in the overview a letter of its own is none of them."""
        super().show_keys()
        if getattr(self.focused, "overview", False):
            bar = self.query_one(KeyBar)
            bar.commands = tuple(each for each in bar.commands if each.shown_keys[0] not in _OWN_KEYS)

    @property
    def _graph_pane(self) -> GraphPane | None:
        """The Graph pane; None before it takes its place, right after the first frame."""
        from nuggets_tui.widgets.graph import GraphPane

        return next(iter(self.query(GraphPane)), None)

    def on_graph_pane_overview_left(self) -> None:
        """Back to the surroundings of a note."""
        pane = self._graph_pane
        if pane is not None and pane.overview:
            self._leave_overview(pane)

    def _leave_overview(self, pane: GraphPane) -> None:
        panes = self.query_one(Panes)
        former, panes.zoomed = self._before_overview
        pane.overview = False
        # A list that gets the cursor shows the note that its own stands on.
        self.reading.reveal()
        self.go_to("graph" if panes.zoomed else former)
        self.show_keys()
