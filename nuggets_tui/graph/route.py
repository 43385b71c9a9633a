"""Wires on one side of the focus: which track each link takes, and the cells it passes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len

from nuggets_tui.graph.picture import DOWN, LEFT, RIGHT, UP, Cell, NodeBox, Role, Stroke, Wire
from nuggets_tui.graph.tree import Sorted
from nuggets_tui.safe_text import cut

# A channel without tracks: line, the tree's vertical line, line, arrow.
BARE_CHANNEL: Final = 4
_MOST_TRACKS: Final = 6
_SHARED: Final = 3


@dataclass
class Place:
    """A node's column (`level`, 0 next to the focus) and middle row, what it hangs on, its label and further lines."""

    id: str
    parent: str
    level: int
    row: int
    label: str
    role: Role
    lines: tuple[str, ...] = ()
    start: int = 0
    cells: int = 0

    @property
    def wanted(self) -> int:
        """Cells that its text needs."""
        return max(map(cell_len, (self.label, *self.lines)))

    @property
    def end(self) -> int:
        """Distance of the cell behind its label."""
        return self.start + self.cells


@dataclass
class Track:
    """The vertical lines on one column of cells: links, each with the rows it spans."""

    links: list[tuple[Place, Place]] = field(default_factory=list)

    def has_room(self, low: int, high: int) -> bool:
        """Whether no line on the track touches these rows."""
        return all(high < min(a.row, b.row) or max(a.row, b.row) < low for a, b in self.links)


@dataclass
class Channel:
    """The cells between two columns: tracks behind the titles, the tree's line, tracks before the next titles."""

    level: int
    behind: list[Track] = field(default_factory=list)
    before: list[Track] = field(default_factory=list)
    start: int = 0
    last: bool = False

    def width(self, stretch: int) -> int:
        """Cells that it takes."""
        if self.last:
            return len(self.behind) + 1 if self.behind else 0
        return BARE_CHANNEL + len(self.behind) + len(self.before) + stretch

    def tree_line(self, stretch: int) -> int:
        """Distance of the tree's vertical line from the focus."""
        # The longer part leads to one note alone, and so has room for the reason of its link.
        return self.start + 1 + len(self.behind) + min(stretch // 2, _SHARED)


class Router:
    """Finds the wires between the places of one side. Distances count from the focus's frame outwards."""

    def __init__(self, graph: Sorted, places: list[Place], depth: int, tall: int = 1) -> None:
        """tall: rows of a node; from 3 on it has a frame."""
        self.places = places
        self._tall = tall
        # Cells beside a text: a blank, or a blank and a frame.
        self._pad = 1 if tall == 1 else 2
        self.stretch = 0
        self._graph = graph
        self._at = {place.id: place for place in places if place.id}
        # Channel 0 lies between the focus and the first column, the last one behind the last column.
        self._channels = [Channel(level, last=level == depth) for level in range(depth + 1)]
        self._assign()

    @property
    def channels(self) -> int:
        """Cells of all channels and of the blanks beside the titles."""
        columns = len(self._channels) - 1
        return sum(channel.width(self.stretch) for channel in self._channels) + 2 * self._pad * columns

    @property
    def length(self) -> int:
        """Cells from the focus's frame to the end of the side."""
        return self._channels[-1].start + self._channels[-1].width(self.stretch)

    def drop_track(self) -> bool:
        """Give up one track; False when there is none."""
        tracks = [pile for channel in self._channels for pile in (channel.behind, channel.before) if pile]
        if not tracks:
            return False
        max(tracks, key=len).pop()
        return True

    def _assign(self) -> None:
        links = []
        for one, other in self._graph.links:
            a, b = self._at.get(one), self._at.get(other)
            if a is None or b is None or a.parent == b.id or b.parent == a.id:
                continue
            near, far = (a, b) if a.level <= b.level else (b, a)
            links.append((abs(a.row - b.row), near, far))
        # Short lines first: they stay next to the titles, and the long ones go round them.
        links.sort(key=lambda link: (link[0], link[1].row, link[2].row))
        for _, near, far in links:
            channel = self._channels[near.level + 1]
            pile = channel.behind if near.level == far.level else channel.before
            low, high = sorted((near.row, far.row))
            for track in pile:
                if track.has_room(low, high):
                    track.links.append((near, far))
                    break
            else:
                if len(pile) < _MOST_TRACKS:
                    pile.append(Track([(near, far)]))

    def fix_distances(self, widths: list[int]) -> None:
        """Fix all distances, now that the columns' widths are known."""
        at = 0
        for channel in self._channels:
            channel.start = at
            at += channel.width(self.stretch)
            if channel.last:
                break
            for place in self.places:
                if place.level == channel.level:
                    place.start = at
                    place.label = cut(place.label, widths[channel.level])
                    place.lines = tuple(cut(line, widths[channel.level]) for line in place.lines)
                    place.cells = place.wanted + 2 * self._pad
            at += widths[channel.level] + 2 * self._pad

    def boxes(self, origin: int, sign: int) -> Iterable[NodeBox]:
        """The nodes' boxes; `origin` is the first cell beside the focus, `sign` -1 on its left."""
        for place in self.places:
            x = origin + place.start if sign > 0 else origin - place.end + 1
            tall = self._tall if place.id else 1
            top = place.row - tall // 2
            yield NodeBox(
                place.id,
                x,
                top,
                place.cells,
                tall,
                place.label,
                place.role,
                place.level + 1,
                sign,
                place.lines,
            )

    def wires(self, origin: int, sign: int, focus_row: int) -> Iterable[Wire]:
        """The wires of the tree, then those on tracks."""
        yield from (self._tree_wire(place, origin, sign, focus_row) for place in self.places)
        for channel in self._channels:
            for number, track in enumerate(channel.behind):
                at = channel.start + number
                yield from (self._level_wire(a, b, at, origin, sign) for a, b in track.links)
            for number, track in enumerate(channel.before):
                at = channel.start + channel.width(self.stretch) - 2 - number
                yield from (self._cross_wire(a, b, at, origin, sign) for a, b in track.links)

    def _tree_wire(self, place: Place, origin: int, sign: int, focus_row: int) -> Wire:
        parent = self._at.get(place.parent)
        start, row = (parent.end, parent.row) if parent else (0, focus_row)
        path = _Path(origin, sign)
        line = self._channels[place.level].tree_line(self.stretch)
        path.across(start, line, row)
        path.along(line, row, place.row)
        path.across(line, place.start - 1, place.row)
        path.leave(place.start - 1, place.row)
        path.enter(start, row)
        ghost = place.role == "ghost" or (parent is not None and parent.role == "ghost")
        stroke: Stroke = "ghost" if ghost else "tree"
        return Wire(place.parent, place.id, stroke, path.cells, self._arrow(place, origin, sign))

    def _arrow(self, place: Place, origin: int, sign: int) -> tuple[Cell, str] | None:
        if not place.id:
            return None
        out, back = self._graph.directions(place.parent, place.id)
        if out == back:
            return None
        outward = "▸" if sign > 0 else "◂"
        inward = "◂" if sign > 0 else "▸"
        return (origin + sign * (place.start - 1), place.row), outward if out else inward

    def _level_wire(self, a: Place, b: Place, at: int, origin: int, sign: int) -> Wire:
        path = _Path(origin, sign)
        for place in (a, b):
            path.across(place.end, at, place.row)
            path.enter(place.end, place.row)
        path.along(at, a.row, b.row)
        return Wire(a.id, b.id, _cross_stroke(a, b), path.cells)

    def _cross_wire(self, near: Place, far: Place, at: int, origin: int, sign: int) -> Wire:
        path = _Path(origin, sign)
        path.across(near.end, at, near.row)
        path.enter(near.end, near.row)
        path.along(at, near.row, far.row)
        path.across(at, far.start - 1, far.row)
        path.leave(far.start - 1, far.row)
        return Wire(near.id, far.id, _cross_stroke(near, far), path.cells)


def _cross_stroke(a: Place, b: Place) -> Stroke:
    return "ghost" if "ghost" in (a.role, b.role) else "cross"


class _Path:
    """Cells of a wire, each with the sides that the wire leaves it by."""

    def __init__(self, origin: int, sign: int) -> None:
        self.cells: dict[Cell, int] = {}
        self._origin = origin
        self._sign = sign

    def _mark(self, distance: int, row: int, sides: int) -> None:
        if self._sign < 0 and sides in (LEFT, RIGHT):
            sides = LEFT + RIGHT - sides
        cell = (self._origin + self._sign * distance, row)
        self.cells[cell] = self.cells.get(cell, 0) | sides

    def across(self, start: int, end: int, row: int) -> None:
        """A line along a row, outwards."""
        for distance in range(start, end):
            self._mark(distance, row, RIGHT)
            self._mark(distance + 1, row, LEFT)

    def along(self, distance: int, start: int, end: int) -> None:
        """A line from row to row."""
        low, high = min(start, end), max(start, end)
        for row in range(low, high):
            self._mark(distance, row, DOWN)
            self._mark(distance, row + 1, UP)

    def enter(self, distance: int, row: int) -> None:
        """The line's first cell touches what lies before it."""
        self._mark(distance, row, LEFT)

    def leave(self, distance: int, row: int) -> None:
        """The line's last cell touches what lies behind it."""
        self._mark(distance, row, RIGHT)
