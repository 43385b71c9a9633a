"""The six panes of the main screen and where each stands: beside each other, as tabs of one column, or one alone."""

from __future__ import annotations

from typing import Final, Literal

from textual.content import Content
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.reactive import reactive
from textual.widget import Widget

PaneName = Literal["facts", "notes", "note", "neighbours", "graph", "audit"]
PANES: Final[tuple[PaneName, ...]] = ("facts", "notes", "note", "neighbours", "graph", "audit")
PANE_TITLES: Final[dict[PaneName, str]] = {
    "facts": "Facts",
    "notes": "Notes",
    "note": "Note",
    "neighbours": "Neighbours",
    "graph": "Graph",
    "audit": "Audit log",
}
TABS: Final = "tabs"

NARROW: Final = 100
WIDE: Final = 160
# Below this many lines the panes would be a few rows each, so they become tabs as well.
LOW: Final = 18


def one_at_a_time(size: Size) -> bool:
    """Whether the space is too small for panes beside each other."""
    return size.width < NARROW or size.height < LOW


def regions_for(size: Size, active: PaneName, zoomed: bool) -> dict[str, Region]:
    """Where everything stands in a space: pane names, and "tabs" when only one pane is shown.

    Regions never overlap, and fill the space.
    """
    width, height = size
    if zoomed or one_at_a_time(size):
        return {TABS: Region(0, 0, width, 1), active: Region(0, 1, width, max(0, height - 1))}
    if width > WIDE:
        return _four_columns(width, height)
    top = round(height * 0.62)
    below = height - top
    facts, right = round(width * 0.25), round(width * 0.39)
    notes = width - facts - right
    note = round(top * 0.62)
    graph = round(width * 0.42)
    return {
        "facts": Region(0, 0, facts, top),
        "notes": Region(facts, 0, notes, top),
        "note": Region(facts + notes, 0, right, note),
        "neighbours": Region(facts + notes, note, right, top - note),
        "graph": Region(0, top, graph, below),
        "audit": Region(graph, top, width - graph, below),
    }


def _four_columns(width: int, height: int) -> dict[str, Region]:
    facts, notes, note = round(width * 0.18), round(width * 0.26), round(width * 0.29)
    graph = width - facts - notes - note
    left, right = facts + notes, facts + notes + note
    log = round(height * 0.28)
    upper = round(height * 0.62)
    return {
        "facts": Region(0, 0, facts, height - log),
        "notes": Region(facts, 0, notes, height - log),
        "note": Region(left, 0, note, upper),
        "neighbours": Region(left, upper, note, height - upper),
        "graph": Region(right, 0, graph, height),
        "audit": Region(0, height - log, left, log),
    }


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
        """Nothing."""
        return ""


class Panes(Widget):
    """Holds the panes. `active` is the one that keeps its place when only one is shown; `zoomed` shows it alone."""

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
        """Shows what the new pane needs shown."""
        self.show_and_hide(self.size)

    def watch_zoomed(self) -> None:
        """Shows or hides the panes beside the active one."""
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
        """Another size may mean another arrangement."""
        self.show_and_hide(self.size)
