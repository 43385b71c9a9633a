"""Where the panes stand: shares of the space at each line between them."""

from __future__ import annotations

from typing import Final, Literal

from textual.geometry import Region, Size

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
