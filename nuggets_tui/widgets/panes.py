"""The six panes of the main screen and where each stands: beside each other, as tabs of one column, or one alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from textual import events
from textual.content import Content
from textual.events import Click
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from nuggets_tui.commands import BY_NAME
from nuggets_tui.view import Asked, View

PaneName = Literal["facts", "notes", "note", "neighbours", "graph", "audit"]
PANES: Final[tuple[PaneName, ...]] = ("facts", "notes", "note", "neighbours", "graph", "audit")
PANE_TITLES: Final[dict[PaneName, str]] = {
    "facts": "Facts",
    "notes": "Notes",
    "note": "Note",
    "neighbours": "Neighbours",
    "graph": "Graph",
    "audit": "Log",
}
TABS: Final = "tabs"
# From the left: the lists, then down what is read.
READING_ORDER: Final[tuple[PaneName, ...]] = ("facts", "notes", "note", "neighbours", "audit", "graph")

NARROW: Final = 100
# From here on the graph has a column of its own.
WIDE: Final = 160
# Below this many lines the panes would be a few rows each, so they become tabs as well.
LOW: Final = 18
# No pane is lower than this, frame included.
LEAST_HEIGHT: Final = 4


def one_at_a_time(size: Size) -> bool:
    """Whether the space is too small for panes beside each other."""
    return size.width < NARROW or size.height < LOW


def regions_for(size: Size, active: PaneName, zoomed: bool, *, searching: bool = False) -> dict[str, Region]:
    """Where everything stands in a space: pane names, and "tabs" when only one pane is shown.

    searching: Facts and the log give their room to the results and the note, unless one of them has the cursor.
    Regions never overlap, and fill the space.
    """
    width, height = size
    if zoomed or one_at_a_time(size) or (active == "graph" and width < WIDE):
        return {TABS: Region(0, 0, width, 1), active: Region(0, 1, width, max(0, height - 1))}
    # The lists on the left, what is read on the right; where there is much room, the graph in a column of its own.
    shares = (0.36, 1.0) if width < WIDE else (0.3, 0.72)
    left, right = (round(share * width) for share in shares)
    if searching and active not in ("facts", "audit"):
        lists, read = {"notes": 1.0}, {"note": 0.72, "neighbours": 1.0}
    else:
        lists, read = {"notes": 0.56, "facts": 1.0}, {"note": 0.46, "neighbours": 0.7, "audit": 1.0}
    regions = _column(0, left, height, lists) | _column(left, right - left, height, read)
    return regions | _column(right, width - right, height, {"graph": 1.0} if width >= WIDE else {})


def _column(x: int, width: int, height: int, ends: Mapping[str, float]) -> dict[str, Region]:
    """Panes on top of each other. ends: where each ends, as a share of the height in [0, 1]."""
    regions, top = {}, 0
    for below, (name, end) in zip(range(len(ends) - 1, -1, -1), ends.items(), strict=True):
        bottom = min(max(round(end * height), top + LEAST_HEIGHT), height - below * LEAST_HEIGHT)
        regions[name], top = Region(x, top, width, bottom - top), bottom
    return regions


__all__ = [
    "LOW",
    "NARROW",
    "PANES",
    "PANE_TITLES",
    "READING_ORDER",
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
        regions = parent.regions(size)
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
    """Holds the panes. `active` is the one that keeps its place when only one is shown; `zoomed` shows it alone;
    `searching` gives results and note more room.

    Two clicks on a pane's title show it alone.
    """

    active: reactive[PaneName] = reactive[PaneName]("notes", layout=True)
    zoomed: reactive[bool] = reactive(False, layout=True)
    searching: reactive[bool] = reactive(False, layout=True)

    _arrangement = _PaneLayout()

    @property
    def layout(self) -> Layout:
        """The panes' own arrangement; styles cannot name it."""
        return self._arrangement

    @property
    def single(self) -> bool:
        """Whether only one pane is on screen."""
        return TABS in self.regions(self.size)

    def regions(self, size: Size) -> dict[str, Region]:
        return regions_for(size, self.active, self.zoomed, searching=self.searching)

    def watch_active(self) -> None:
        self.show_and_hide(self.size)

    def watch_zoomed(self) -> None:
        self.show_and_hide(self.size)

    def watch_searching(self) -> None:
        self.show_and_hide(self.size)

    def show_and_hide(self, size: Size) -> None:
        """Takes panes that have no place out of the display, so that the tab key passes them over."""
        if not size:
            return
        wanted = self.regions(size)
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
        regions = self.regions(self.size).items()
        named = (pane for pane, region in regions if region.contains_point(place) and place.y == region.y)
        pane = next(named, None)
        if pane in PANES:
            event.stop()
            self.post_message(Asked(lambda main: main.arrangement.zoom(pane)))


class TabLine(Widget):
    """One line of tabs. `results`: whether Notes shows results just now. `zoomed`: whether there is room for all.

    How many are selected stands behind the tabs: the list that is selected in may be behind another pane.
    """

    view: reactive[View] = reactive(View(), repaint=False)

    active: reactive[PaneName] = reactive[PaneName]("notes")
    results: reactive[bool] = reactive(False)
    zoomed: reactive[bool] = reactive(False)

    def watch_view(self, before: View, after: View) -> None:
        if before.selected is not after.selected:
            self.refresh()

    async def on_click(self, event: Click) -> None:
        pane, action = event.style.meta.get("pane"), event.style.meta.get("does")
        if pane:
            self.post_message(Asked(lambda main: main.go_to(pane)))
        elif action:
            await self.run_action(action)

    def render(self) -> Content:
        tabs = Content("").join(self._tab(number, name) for number, name in enumerate(PANES, 1))
        room = self.size.width - 1 - tabs.cell_length
        ends = [_all_panes()] if self.zoomed else []
        count = len(self.view.selected)
        if count:
            said = f"✓ {count:,} selected"
            needed = len(said) + 2 + sum(end.cell_length + 3 for end in ends)
            ends.insert(0, Content.styled(said if needed <= room else f"✓{count:,}", "bold $text-accent"))
        end = Content("   ").join(ends)
        gap = room - end.cell_length
        return Content.assemble(tabs, " " * gap, end) if ends and gap > 1 else tabs

    def _tab(self, number: int, name: PaneName) -> Content:
        title = "Results" if name == "notes" and self.results else PANE_TITLES[name]
        if name == self.active:
            tab = Content.assemble(
                ("▌", "$text-accent"), (f"{number} {title}", "bold"), ("▐", "$text-accent")
            )
        else:
            tab = Content.assemble((f" {number} ", "$text-accent"), (f"{title} ", "$text-muted"))
        # A mark of our own instead of "@click", which would paint every tab as a link.
        return tab.stylize(Style.from_meta({"pane": name}))


def _all_panes() -> Content:
    key = BY_NAME["zoom"].shown_keys
    said = Content.assemble((key[0] if key else "", "bold $text-accent"), (" all panes", "$text-muted"))
    return said.stylize(Style.from_meta({"does": "screen.command('zoom')"}))
