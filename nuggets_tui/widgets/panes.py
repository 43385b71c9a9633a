"""The six panes of the main screen and where each stands: beside each other, as tabs of one column, or one alone."""

from __future__ import annotations

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

NARROW: Final = 100
WIDE: Final = 160
# Below this many lines the panes would be a few rows each, so they become tabs as well.
LOW: Final = 18
# No pane is smaller than this, frame included.
LEAST_WIDTH: Final = 16
LEAST_HEIGHT: Final = 4


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
    return shape_for(size)


def shape_for(size: Size) -> dict[str, Region]:
    """All panes beside each other: three above three, or in two halves where there is much room."""
    return _four_columns(size) if size.width > WIDE else _three_columns(size)


def _at(share: float, length: int, low: int, high: int) -> int:
    """The first cell behind a line that divides a length, from low to high."""
    return min(max(round(share * length), low), high)


def _three_columns(size: Size) -> dict[str, Region]:
    """What is read above, as high as it can be; what lies around it below."""
    width, height = size
    top = _at(0.72, height, 2 * LEAST_HEIGHT, height - LEAST_HEIGHT)
    facts = _at(0.34, width, LEAST_WIDTH, width - 2 * LEAST_WIDTH)
    notes = _at(0.69, width, facts + LEAST_WIDTH, width - LEAST_WIDTH)
    near = _at(0.34, width, LEAST_WIDTH, width - 2 * LEAST_WIDTH)
    graph = _at(0.59, width, near + LEAST_WIDTH, width - LEAST_WIDTH)
    return {
        "facts": Region(0, 0, facts, top),
        "notes": Region(facts, 0, notes - facts, top),
        "note": Region(notes, 0, width - notes, top),
        "neighbours": Region(0, top, near, height - top),
        "graph": Region(near, top, graph - near, height - top),
        "audit": Region(graph, top, width - graph, height - top),
    }


def _four_columns(size: Size) -> dict[str, Region]:
    """Lists and the log in one half, the note above its neighbours and their picture in the other."""
    width, height = size
    notes = _at(0.63, width, 2 * LEAST_WIDTH, width - 2 * LEAST_WIDTH)
    log = _at(0.72, height, LEAST_HEIGHT, height - LEAST_HEIGHT)
    facts = _at(0.34, width, LEAST_WIDTH, notes - LEAST_WIDTH)
    beside = width - notes
    upper = _at(0.48, height, LEAST_HEIGHT, height - 2 * LEAST_HEIGHT)
    graph = _at(0.7, height, upper + LEAST_HEIGHT, height - LEAST_HEIGHT)
    return {
        "facts": Region(0, 0, facts, log),
        "notes": Region(facts, 0, notes - facts, log),
        "note": Region(notes, 0, beside, upper),
        "neighbours": Region(notes, upper, beside, graph - upper),
        "graph": Region(notes, graph, beside, height - graph),
        "audit": Region(0, log, notes, height - log),
    }


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
