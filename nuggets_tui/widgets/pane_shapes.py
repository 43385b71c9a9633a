"""Where the panes stand: shares of the space at each line between them, which a person can move."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import msgspec
from textual.geometry import Region, Size

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
# No line between panes is moved so far that less than this is left of a pane, frame included.
LEAST_WIDTH: Final = 16
LEAST_HEIGHT: Final = 4

Shares = Mapping[str, float]
# Of the width or height that the line divides, measured from the left or the top.
USUAL: Final[Shares] = MappingProxyType(
    {
        "facts": 0.34, "notes": 0.69, "upper": 0.72, "near": 0.34, "graph": 0.59,
        "wide facts": 0.34, "wide notes": 0.63, "wide log": 0.72, "wide upper": 0.48, "wide graph": 0.7,
    }
)  # fmt: skip


class Divider(msgspec.Struct, frozen=True):
    """A line between panes: its name among the shares, whether it stands upright, where it is, and what it divides.

    at: the first column (or row) behind the line. low, high: where it can be moved. length: of the space that the share
    is of. region: the two columns (or rows) of cells, one of either side's frame, by which the mouse takes it.
    """

    name: str
    upright: bool
    at: int
    low: int
    high: int
    length: int
    region: Region

    def share_at(self, place: int) -> float:
        """The share that puts the line at a column (or row), as near as it may go."""
        return min(max(place, self.low), self.high) / self.length


class Shape(msgspec.Struct, frozen=True):
    """All panes in a space, and the lines between them."""

    regions: dict[str, Region]
    dividers: tuple[Divider, ...]

    def divider_at(self, x: int, y: int) -> Divider | None:
        """The line that a cell belongs to."""
        return next((each for each in self.dividers if each.region.contains(x, y)), None)

    def named(self, name: str) -> Divider:
        """A line by its name."""
        return next(each for each in self.dividers if each.name == name)


def one_at_a_time(size: Size) -> bool:
    """Whether the space is too small for panes beside each other."""
    return size.width < NARROW or size.height < LOW


def regions_for(size: Size, active: PaneName, zoomed: bool, shares: Shares = USUAL) -> dict[str, Region]:
    """Where everything stands in a space: pane names, and "tabs" when only one pane is shown.

    Regions never overlap, and fill the space.
    """
    width, height = size
    if zoomed or one_at_a_time(size):
        return {TABS: Region(0, 0, width, 1), active: Region(0, 1, width, max(0, height - 1))}
    return shape_for(size, shares).regions


def shape_for(size: Size, shares: Shares) -> Shape:
    """All panes beside each other: three above three, or in two halves where there is much room."""
    return _four_columns(size, shares) if size.width > WIDE else _three_columns(size, shares)


# Which line a pane is made wider or higher by, and whether it moves away from the pane's beginning.
_WIDER: Final = {
    "facts": ("facts", 1), "notes": ("notes", 1), "note": ("notes", -1), "neighbours": ("near", 1),
    "graph": ("graph", 1), "audit": ("graph", -1),
}  # fmt: skip
_HIGHER: Final = {
    "facts": ("upper", 1), "notes": ("upper", 1), "note": ("upper", 1), "neighbours": ("upper", -1),
    "graph": ("upper", -1), "audit": ("upper", -1),
}  # fmt: skip
_WIDER_OF_FOUR: Final = {
    "facts": ("wide facts", 1), "notes": ("wide notes", 1), "note": ("wide notes", -1),
    "neighbours": ("wide notes", -1), "graph": ("wide notes", -1), "audit": ("wide notes", 1),
}  # fmt: skip
_HIGHER_OF_FOUR: Final = {
    "facts": ("wide log", 1), "notes": ("wide log", 1), "note": ("wide upper", 1),
    "neighbours": ("wide graph", 1), "graph": ("wide graph", -1), "audit": ("wide log", -1),
}  # fmt: skip


def resized(size: Size, shares: Shares, pane: PaneName, *, columns: int = 0, rows: int = 0) -> Shares:
    """The shares after a pane has grown by columns or rows (or shrunk); as they were where it cannot."""
    four = size.width > WIDE
    for cells, lines in (
        (columns, _WIDER_OF_FOUR if four else _WIDER),
        (rows, _HIGHER_OF_FOUR if four else _HIGHER),
    ):
        if cells and pane in lines:
            name, sign = lines[pane]
            divider = shape_for(size, shares).named(name)
            shares = moved(shares, divider, divider.at + sign * cells)
    return shares


def moved(shares: Shares, divider: Divider, place: int) -> Shares:
    """The shares with a line moved to a column or row, as near as it may go."""
    return MappingProxyType({**shares, divider.name: divider.share_at(place)})


class _Maker:
    """Sets the lines of a space one after the other."""

    def __init__(self, size: Size, shares: Shares) -> None:
        self.width = size.width
        self._shares = shares
        self.dividers: list[Divider] = []

    def column(self, name: str, low: int, high: int, top: int, height: int) -> int:
        """A line between columns, somewhere from low to high; the first column behind it."""
        at = self._place(name, self.width, low, high)
        region = Region(at - 1, top, 2, height)
        self.dividers.append(Divider(name, True, at, low, high, self.width, region))
        return at

    def row(self, name: str, low: int, high: int, left: int, width: int, length: int) -> int:
        """A line between rows of a space of some length, somewhere from low to high; the first row behind it."""
        at = self._place(name, length, low, high)
        self.dividers.append(Divider(name, False, at, low, high, length, Region(left, at - 1, width, 2)))
        return at

    def _place(self, name: str, length: int, low: int, high: int) -> int:
        return min(max(round(self._shares[name] * length), low), high)


def _three_columns(size: Size, shares: Shares) -> Shape:
    """What is read above, as high as it can be; what lies around it below."""
    make, (width, height) = _Maker(size, shares), size
    top = make.row("upper", 2 * LEAST_HEIGHT, height - LEAST_HEIGHT, 0, width, height)
    facts = make.column("facts", LEAST_WIDTH, width - 2 * LEAST_WIDTH, 0, top)
    notes = make.column("notes", facts + LEAST_WIDTH, width - LEAST_WIDTH, 0, top)
    near = make.column("near", LEAST_WIDTH, width - 2 * LEAST_WIDTH, top, height - top)
    graph = make.column("graph", near + LEAST_WIDTH, width - LEAST_WIDTH, top, height - top)
    regions = {
        "facts": Region(0, 0, facts, top),
        "notes": Region(facts, 0, notes - facts, top),
        "note": Region(notes, 0, width - notes, top),
        "neighbours": Region(0, top, near, height - top),
        "graph": Region(near, top, graph - near, height - top),
        "audit": Region(graph, top, width - graph, height - top),
    }
    return Shape(regions, tuple(make.dividers))


def _four_columns(size: Size, shares: Shares) -> Shape:
    """Lists and the log in one half, the note above its neighbours and their picture in the other."""
    make, (width, height) = _Maker(size, shares), size
    notes = make.column("wide notes", 2 * LEAST_WIDTH, width - 2 * LEAST_WIDTH, 0, height)
    log = make.row("wide log", LEAST_HEIGHT, height - LEAST_HEIGHT, 0, notes, height)
    facts = make.column("wide facts", LEAST_WIDTH, notes - LEAST_WIDTH, 0, log)
    beside = width - notes
    upper = make.row("wide upper", LEAST_HEIGHT, height - 2 * LEAST_HEIGHT, notes, beside, height)
    graph = make.row("wide graph", upper + LEAST_HEIGHT, height - LEAST_HEIGHT, notes, beside, height)
    regions = {
        "facts": Region(0, 0, facts, log),
        "notes": Region(facts, 0, notes - facts, log),
        "note": Region(notes, 0, beside, upper),
        "neighbours": Region(notes, upper, beside, graph - upper),
        "graph": Region(notes, graph, beside, height - graph),
        "audit": Region(0, log, notes, height - log),
    }
    return Shape(regions, tuple(make.dividers))
