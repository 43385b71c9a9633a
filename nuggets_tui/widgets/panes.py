"""The six panes of the main screen and where each stands: beside each other, as tabs of one column, or one alone."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.geometry import NULL_OFFSET, NULL_SPACING, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.reactive import reactive
from textual.widget import Widget

from nuggets_tui.messages import Asked
from nuggets_tui.widgets.pane_shapes import (
    LOW,
    NARROW,
    PANE_TITLES,
    PANES,
    TABS,
    WIDE,
    PaneName,
    one_at_a_time,
    regions_for,
)

__all__ = [
    "LOW",
    "NARROW",
    "PANES",
    "PANE_TITLES",
    "TABS",
    "WIDE",
    "GraphPlace",
    "PaneName",
    "Panes",
    "one_at_a_time",
    "regions_for",
]


class _PaneLayout(Layout):
    name = "panes"

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        assert isinstance(parent, Panes)
        regions = regions_for(size, parent.active, parent.zoomed)
        return [
            WidgetPlacement(regions[child.id], NULL_OFFSET, NULL_SPACING, child)
            for child in children
            if child.id in regions
        ]


class GraphPlace(Widget):
    """Keeps the place of the Graph pane until the picture's own modules are there, after the first frame."""

    def __init__(self) -> None:
        super().__init__(id="graph", classes="pane")
        self.border_title = Content("5 Graph")

    def render(self) -> str:
        return ""


class Panes(Widget):
    """Holds the panes. `active` is the one that keeps its place when only one is shown; `zoomed` shows it alone.

    Two clicks on a pane's title show it alone.
    """

    active: reactive[PaneName] = reactive[PaneName]("notes", layout=True)
    zoomed: reactive[bool] = reactive(False, layout=True)

    _arrangement = _PaneLayout()

    @property
    def layout(self) -> Layout:
        """The panes' own arrangement; styles cannot name it."""
        return self._arrangement

    @property
    def single(self) -> bool:
        """Whether only one pane is on screen."""
        return self.zoomed or one_at_a_time(self.size)

    def watch_active(self) -> None:
        self.show_and_hide(self.size)

    def watch_zoomed(self) -> None:
        self.show_and_hide(self.size)

    def show_and_hide(self, size: Size) -> None:
        """Takes panes that have no place out of the display, so that the tab key passes them over."""
        if not size:
            return
        wanted = regions_for(size, self.active, self.zoomed)
        for child in self.children:
            shown = child.id in wanted
            if child.display is not shown:
                child.display = shown

    def on_resize(self) -> None:
        self.show_and_hide(self.size)

    def on_click(self, event: events.Click) -> None:
        if event.chain != 2 or event.button != 1:
            return
        place = event.screen_offset - self.region.offset
        regions = regions_for(self.size, self.active, self.zoomed).items()
        named = (pane for pane, region in regions if region.contains_point(place) and place.y == region.y)
        pane = next(named, None)
        if pane in PANES:
            event.stop()
            self.post_message(Asked(lambda main: main.arrangement.zoom(pane)))
