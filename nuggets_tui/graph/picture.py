"""A finished picture of a graph: boxes with text, wires as cells and their characters, and where arrow keys lead."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final, Literal

UP: Final = 1
DOWN: Final = 2
LEFT: Final = 4
RIGHT: Final = 8
_ACROSS: Final = LEFT | RIGHT
_ALONG: Final = UP | DOWN

Cell = tuple[int, int]
Role = Literal["focus", "node", "ghost", "more"]
Stroke = Literal["tree", "cross", "ghost"]

_LIGHT: Final = {
    LEFT: "╴", RIGHT: "╶", UP: "╵", DOWN: "╷",
    _ACROSS: "─", _ALONG: "│",
    DOWN | RIGHT: "╭", DOWN | LEFT: "╮", UP | RIGHT: "╰", UP | LEFT: "╯",
    _ALONG | RIGHT: "├", _ALONG | LEFT: "┤", _ACROSS | DOWN: "┬", _ACROSS | UP: "┴",
    _ACROSS | _ALONG: "┼",
}  # fmt: skip
_ARMS: Final = {
    "UP": UP, "DOWN": DOWN, "LEFT": LEFT, "RIGHT": RIGHT, "VERTICAL": _ALONG, "HORIZONTAL": _ACROSS,
}  # fmt: skip
_BROKEN: Final[dict[Stroke, dict[int, str]]] = {
    "tree": {},
    "cross": {_ACROSS: "╌", _ALONG: "╎"},
    "ghost": {_ACROSS: "┈", _ALONG: "┊"},
}


@dataclass(frozen=True)
class NodeBox:
    """A node's place: `width` x `height` cells from its left upper corner. `text` is its title, `lines` follow it.

    From three cells of height on it has a frame; else `text` stands alone in its middle line.

    `level`: links between it and the focus; `side`: -1 left of the focus, 1 right of it, 0 the focus itself.
    """

    id: str
    x: int
    y: int
    width: int
    height: int
    text: str
    role: Role
    level: int = 0
    side: int = 0
    lines: tuple[str, ...] = ()

    @property
    def middle(self) -> Cell:
        """The cell in its middle."""
        return self.x + self.width // 2, self.y + self.height // 2

    def covers(self, x: int, y: int) -> bool:
        """Whether a cell lies in it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(frozen=True)
class Wire:
    """The line of one link: for each of its cells the sides it leaves by; `arrow`: a sign at one of them."""

    a: str
    b: str
    stroke: Stroke
    cells: Mapping[Cell, int]
    arrow: tuple[Cell, str] | None = None


@dataclass(frozen=True)
class Picture:
    """A graph laid out on `width` x `height` cells. `notes_without_room`, `links_without_room`: what is not on it."""

    width: int = 0
    height: int = 0
    boxes: tuple[NodeBox, ...] = ()
    wires: tuple[Wire, ...] = ()
    notes_without_room: int = 0
    links_without_room: int = 0
    focus: str = ""

    @cached_property
    def box_of(self) -> Mapping[str, NodeBox]:
        """Boxes of notes by id."""
        return {box.id: box for box in self.boxes if box.id}

    @cached_property
    def wire_of(self) -> Mapping[frozenset[str], Wire]:
        """Wires by the ids at their ends."""
        return {frozenset((wire.a, wire.b)): wire for wire in self.wires if wire.a and wire.b}

    @cached_property
    def linked(self) -> Mapping[str, tuple[str, ...]]:
        """For each note the notes that a wire joins it to."""
        found: dict[str, list[str]] = {id: [] for id in self.box_of}
        for wire in self.wires:
            if wire.a in found and wire.b in found:
                found[wire.a].append(wire.b)
                found[wire.b].append(wire.a)
        return {id: tuple(others) for id, others in found.items()}

    @cached_property
    def glyphs(self) -> Mapping[Cell, tuple[str, Stroke, int]]:
        """For each cell that wires pass, the character, the most solid stroke there, and the arms."""
        pieces: dict[Cell, list[tuple[int, Stroke]]] = {}
        for wire in self.wires:
            for cell, mask in wire.cells.items():
                pieces.setdefault(cell, []).append((mask, wire.stroke))
        glyphs = {cell: _joined(parts) for cell, parts in pieces.items()}
        for wire in self.wires:
            if wire.arrow is not None:
                cell, sign = wire.arrow
                glyphs[cell] = (sign, wire.stroke, 0)
        return glyphs

    @cached_property
    def glyph_rows(self) -> Mapping[int, tuple[tuple[int, str, Stroke, int], ...]]:
        """For each row that wires pass, (column, character, stroke, arms) from left to right."""
        rows: dict[int, list[tuple[int, str, Stroke, int]]] = {}
        for (x, y), glyph in sorted(self.glyphs.items()):
            rows.setdefault(y, []).append((x, *glyph))
        return {y: tuple(row) for y, row in rows.items()}

    @cached_property
    def way_to(self) -> Mapping[str, Wire]:
        """For each note but the focus the wire by which it hangs on the picture."""
        ways: dict[str, Wire] = {}
        for wire in self.wires:
            if wire.b:
                ways.setdefault(wire.b, wire)
        return ways

    def at(self, x: int, y: int) -> NodeBox | None:
        """The box at a cell."""
        return next((box for box in self.boxes if box.covers(x, y)), None)


def mixed(heavy: int, light: int) -> str:
    """The box character with these heavy and these light arms."""
    return _mixed_table()[heavy, light & ~heavy]


@cache
def _mixed_table() -> dict[tuple[int, int], str]:
    """All box characters of light and heavy arms, read off their names ("LIGHT DOWN AND RIGHT HEAVY" and such)."""
    table: dict[tuple[int, int], str] = {}
    for code in range(0x2500, 0x2580):
        words = unicodedata.name(chr(code)).removeprefix("BOX DRAWINGS ").split()
        if not {*words} <= {*_ARMS, "LIGHT", "HEAVY", "AND"}:
            continue
        arms = {"LIGHT": 0, "HEAVY": 0}
        weight = ""
        for group in " ".join(words).split(" AND "):
            weight = next((word for word in group.split() if word in arms), weight)
            for word in group.split():
                arms[weight] |= _ARMS.get(word, 0)
        table[arms["HEAVY"], arms["LIGHT"]] = chr(code)
    return table


def _joined(parts: list[tuple[int, Stroke]]) -> tuple[str, Stroke, int]:
    """One character for all that meets in a cell.

    Lines that only cross do not touch: the one along passes under the one across.
    """
    if all(mask in (_ACROSS, _ALONG) for mask, _ in parts):
        across = [part for part in parts if part[0] == _ACROSS]
        parts = across or parts
    merged = 0
    for mask, _ in parts:
        merged |= mask
    strokes = {stroke for _, stroke in parts}
    stroke: Stroke = "tree" if "tree" in strokes else "cross" if "cross" in strokes else "ghost"
    return _BROKEN[stroke].get(merged, _LIGHT[merged]), stroke, merged


Direction = Literal["left", "right", "up", "down"]


def step(picture: Picture, note_id: str, direction: Direction) -> str:
    """Id of the note that an arrow key leads to from a note; "" when there is none that way.

    Left and right follow a link to the nearest linked note of another column. Up and down lead to the next note of
    the same column, or along a link where the column has no other.
    """
    here = picture.box_of.get(note_id)
    if here is None:
        return ""
    sign = 1 if direction in ("right", "down") else -1
    linked = [picture.box_of[other] for other in picture.linked[note_id]]
    if direction in ("left", "right"):
        found = [box for box in linked if (_column(box) - _column(here)) * sign > 0]
    else:
        column = [box for box in picture.box_of.values() if _column(box) == _column(here)]
        fellow = min(_beyond(here, column, sign), key=lambda box: box.y * sign, default=None)
        if fellow is not None:
            return fellow.id
        found = _beyond(here, linked, sign)
    nearest = min(found, key=lambda box: (_distance(here, box), box.y, box.x), default=None)
    return nearest.id if nearest else ""


def _column(box: NodeBox) -> int:
    return box.side * box.level


def _beyond(here: NodeBox, boxes: list[NodeBox], sign: int) -> list[NodeBox]:
    return [box for box in boxes if (box.middle[1] - here.middle[1]) * sign > 0]


def _distance(one: NodeBox, other: NodeBox) -> int:
    """Squared distance of two boxes' middles; a cell is twice as high as wide."""
    across = one.middle[0] - other.middle[0]
    along = 2 * (one.middle[1] - other.middle[1])
    return across * across + along * along
