"""A note's surroundings laid out in cells: the note in a frame, columns of titles beside it, lines between them.

Each note hangs on the first note that leads to it, and has a row of its own among those of its branch, so that lines
never cross. What only links to the note in the frame stands at its left, where there is room for both sides. What finds
no room is counted: "… 12 more". The layout depends on nothing but its arguments.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final, Literal

from rich.cells import cell_len

from core.graph.neighbours import linked, surroundings
from core.model.snapshot import Snapshot
from nuggets_tui.safe_text import cut

UNTITLED: Final = "(no title)"
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
Cell = tuple[int, int]
Role = Literal["focus", "node", "ghost", "more"]
Direction = Literal["left", "right", "up", "down"]
_DEEPEST: Final = 8
# From this width on notes may stand on both sides of the frame.
_TWO_SIDED: Final = 72
_LEAST_LABEL, _MOST_LABEL = 8, 48
# Cells of a frame beside its title, and of a title's blanks.
_FRAME, _BLANKS = 4, 2
# Between two columns: line, the line along that notes of one parent share, line, arrow; and how much longer it may get.
_CHANNEL, _STRETCH = 4, 6
_ARMS: Final = {
    "UP": UP, "DOWN": DOWN, "LEFT": LEFT, "RIGHT": RIGHT, "VERTICAL": UP | DOWN, "HORIZONTAL": LEFT | RIGHT,
}  # fmt: skip


@dataclass(frozen=True)
class Box:
    """A title and its place: `width` x `height` cells from its left upper corner, three high with a frame around it.

    id: "" for notes without room. column: links to the frame, negative at its left.
    """

    id: str
    x: int
    y: int
    width: int
    text: str
    role: Role
    column: int = 0
    height: int = 1

    @property
    def row(self) -> int:
        return self.y + self.height // 2

    def covers(self, x: int, y: int) -> bool:
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(frozen=True)
class Wire:
    """The line to a note from its parent: of each cell the sides it leaves by. arrow: a cell and its sign."""

    a: str
    b: str
    ghost: bool
    cells: Mapping[Cell, int]
    arrow: tuple[Cell, str] | None = None


@dataclass(frozen=True)
class Picture:
    """Surroundings on `width` x `height` cells. without_room: notes that are not on it and not counted in a "more"."""

    width: int = 0
    height: int = 0
    boxes: tuple[Box, ...] = ()
    wires: tuple[Wire, ...] = ()
    without_room: int = 0
    focus: str = ""

    @cached_property
    def box_of(self) -> Mapping[str, Box]:
        return {box.id: box for box in self.boxes if box.id}

    @cached_property
    def wire_to(self) -> Mapping[str, Wire]:
        """For each note but the one in the frame, the line by which it hangs on the picture."""
        return {wire.b: wire for wire in self.wires if wire.b}

    @cached_property
    def rows(self) -> Mapping[int, Sequence[tuple[int, str, bool, int]]]:
        """For each row that lines pass: (column, character, whether it leads to a hidden note, arms), from the left."""
        arms: dict[Cell, int] = {}
        solid: set[Cell] = set()
        for wire in self.wires:
            for cell, mask in wire.cells.items():
                arms[cell] = arms.get(cell, 0) | mask
                if not wire.ghost:
                    solid.add(cell)
        arrows = dict(wire.arrow for wire in self.wires if wire.arrow is not None)
        rows: dict[int, list[tuple[int, str, bool, int]]] = {}
        for (x, y), mask in sorted(arms.items()):
            sign = arrows.get((x, y)) or drawn(0, mask)
            rows.setdefault(y, []).append((x, sign, (x, y) not in solid, mask))
        return rows

    def at(self, x: int, y: int) -> Box | None:
        return next((box for box in self.boxes if box.covers(x, y)), None)


def drawn(heavy: int, light: int) -> str:
    """The box character with these heavy and these light arms."""
    return _characters()[heavy, light & ~heavy]


@cache
def _characters() -> dict[tuple[int, int], str]:
    """All box characters of light and heavy arms, read off their names ("LIGHT DOWN AND RIGHT HEAVY" and such)."""
    table: dict[tuple[int, int], str] = {}
    for code in range(0x2500, 0x2580):
        words = unicodedata.name(chr(code)).removeprefix("BOX DRAWINGS ").split()
        if not {*words} <= {*_ARMS, "LIGHT", "HEAVY", "AND", "ARC"}:
            continue
        arms = {"LIGHT": 0, "HEAVY": 0}
        weight = ""
        for group in " ".join(words).split(" AND "):
            weight = next((word for word in group.split() if word in arms), weight)
            for word in group.split():
                arms[weight] |= _ARMS.get(word, 0)
        # The rounded corners come last, and are the ones wanted.
        table[arms["HEAVY"], arms["LIGHT"]] = chr(code)
    return table


# What hangs on what


@dataclass
class _Branch:
    """A note with those that hang on it; without an id it stands for `count` notes without room."""

    id: str
    count: int = 1
    children: list[_Branch] = field(default_factory=list)
    row: int = 0

    @property
    def rows(self) -> int:
        return max(1, sum(child.rows for child in self.children))

    @property
    def size(self) -> int:
        return self.count + sum(child.size for child in self.children)


@dataclass
class _Side:
    """One side of the frame. widths: cells of the titles of each column, nearest first."""

    sign: int
    found: list[_Branch]
    widths: list[int] = field(default_factory=list)

    def columns(self) -> Iterator[list[_Branch]]:
        level = self.found
        while level:
            yield level
            level = [child for branch in level for child in branch.children]


def lay_out(data: GraphData, width: int, height: int) -> Picture:
    """The picture in so many cells; empty when the focus is not among the nodes, or without room for it."""
    nodes: dict[str, GraphNode] = {}
    for node in data.nodes:
        nodes.setdefault(node.id, node)
    if data.focus not in nodes or width < 6 or height < 1:
        return Picture(max(width, 0), max(height, 0))
    links = {(edge.a, edge.b) for edge in data.edges if edge.a != edge.b and {edge.a, edge.b} <= nodes.keys()}
    root = _tree(data, list(nodes), links)
    left = [one for one in root.children if one.id and (data.focus, one.id) not in links]
    labels = {id: _label(node) for id, node in nodes.items()}
    sides = [_Side(-1, left), _Side(1, [one for one in root.children if one not in left])]
    if width < _TWO_SIDED or _needed(sides, labels, data.focus) > width:
        sides = [_Side(-1, []), _Side(1, root.children)]
    _fit(sides, labels, data.focus, width, height)
    return _draw(data, nodes, links, labels, sides, width, height)


def _tree(data: GraphData, ids: Sequence[str], links: set[tuple[str, str]]) -> _Branch:
    """The note in the middle with all that hangs on it, by breadth first, in the order of the nodes."""
    order = {id: number for number, id in enumerate(ids)}
    near: dict[str, set[str]] = {id: set() for id in ids}
    for one, other in links:
        near[one].add(other)
        near[other].add(one)
    built, level = {data.focus: _Branch(data.focus)}, {data.focus: 0}
    queue = [data.focus]
    for id in queue:
        for other in sorted(near[id], key=order.__getitem__):
            if other not in built and level[id] < _DEEPEST:
                built[other], level[other] = _Branch(other), level[id] + 1
                built[id].children.append(built[other])
                queue.append(other)
        if data.left_out.get(id):
            built[id].children.append(_Branch("", data.left_out[id]))
    return built[data.focus]


def _label(node: GraphNode) -> str:
    sign = {("fact", False): "◆ ", ("fact", True): "◇ "}.get(
        (node.kind, node.hidden), "⊘ " if node.hidden else ""
    )
    title = cut(node.title.strip(), _MOST_LABEL)
    return sign + (title if cell_len(title) else UNTITLED)


def _text(branch: _Branch, labels: Mapping[str, str]) -> str:
    return labels[branch.id] if branch.id else f"… {branch.count} more"


# Making it fit


def _needed(sides: Sequence[_Side], labels: Mapping[str, str], focus: str, most: int = _MOST_LABEL) -> int:
    """Cells of everything, with titles cut to so many."""
    columns = [
        max(min(cell_len(_text(branch, labels)), most) for branch in level)
        for side in sides
        for level in side.columns()
    ]
    return min(cell_len(labels[focus]), most) + _FRAME + sum(columns) + len(columns) * (_CHANNEL + _BLANKS)


def _fit(sides: Sequence[_Side], labels: Mapping[str, str], focus: str, width: int, height: int) -> None:
    """Cuts the deepest columns that have no room, then rows, then titles, the widest first."""
    for _ in range(2):
        # "… 12 more" may be wider than the titles whose place it takes.
        while any(side.found for side in sides) and _needed(sides, labels, focus, _LEAST_LABEL) > width:
            depths = [len(list(side.columns())) for side in sides]
            deepest = sides[depths.index(max(depths))]
            deepest.found = _shallower(deepest.found, max(depths) - 1)
        for side in sides:
            side.found = _trimmed(side.found, height)
    most = next(
        (
            most
            for most in range(_MOST_LABEL, _LEAST_LABEL, -1)
            if _needed(sides, labels, focus, most) <= width
        ),
        _LEAST_LABEL,
    )
    for side in sides:
        side.widths = [
            max(min(cell_len(_text(branch, labels)), most) for branch in level) for level in side.columns()
        ]


def _shallower(found: Sequence[_Branch], depth: int) -> list[_Branch]:
    if depth <= 0:
        return []
    return [_Branch(one.id, one.count, _shallower(one.children, depth - 1)) for one in found]


def _trimmed(found: Sequence[_Branch], rows: int) -> list[_Branch]:
    """The branches in at most so many rows; what finds no room becomes one branch that counts it."""
    if rows <= 0 or not found:
        return []
    kept, rest = (found, []) if len(found) <= rows else (found[: rows - 1], found[rows - 1 :])
    shares = [1] * len(kept)
    spare = rows - len(kept) - bool(rest)
    while spare > 0 and (hungry := [at for at, one in enumerate(kept) if shares[at] < one.rows]):
        for at in hungry[:spare]:
            shares[at] += 1
        spare -= min(spare, len(hungry))
    branches = [
        _Branch(one.id, one.count, _trimmed(one.children, share))
        for one, share in zip(kept, shares, strict=True)
    ]
    return [*branches, *([_Branch("", sum(one.size for one in rest))] if rest else [])]


# Drawing


def _draw(
    data: GraphData,
    nodes: Mapping[str, GraphNode],
    links: set[tuple[str, str]],
    labels: Mapping[str, str],
    sides: Sequence[_Side],
    width: int,
    height: int,
) -> Picture:
    middle = (height - 1) // 2
    for side in sides:
        _place_rows(side.found, middle, height)
    columns = sum(len(side.widths) for side in sides)
    lengths = [sum(side.widths) + len(side.widths) * (_CHANNEL + _BLANKS) for side in sides]
    own = cut(labels[data.focus], max(width - _FRAME - sum(lengths), 1))
    spare = max(width - cell_len(own) - _FRAME - sum(lengths), 0)
    stretch = min(spare // columns, _STRETCH) if columns else 0
    spare -= stretch * columns
    margin = spare // 2 if sides[0].found else min(spare, 1)
    x = margin + lengths[0] + stretch * len(sides[0].widths)
    tall = 3 if height >= 3 else 1
    frame = Box(data.focus, x, middle - tall // 2, cell_len(own) + _FRAME, own, "focus", 0, tall)
    boxes, wires = [frame], []
    for side in sides:
        origin = x + frame.width if side.sign > 0 else x - 1
        pen = _Pen(side, nodes, links, labels, origin, _CHANNEL + stretch)
        pen.draw(side.found, data.focus, nodes[data.focus].hidden, 0, middle, 0, 1)
        boxes += pen.boxes
        wires += pen.wires
    told = sum(int(box.text.split()[1]) for box in boxes if not box.id)
    shown = sum(bool(box.id) for box in boxes)
    every = len(nodes) + sum(data.left_out.values())
    return Picture(width, height, tuple(boxes), tuple(wires), every - shown - told, data.focus)


def _place_rows(found: Sequence[_Branch], middle: int, height: int) -> None:
    """Gives each end of a branch its row, and each note the middle of what hangs on it."""
    rows = sum(branch.rows for branch in found)
    step = 2 if rows * 2 - 1 <= height else 1
    at = 0

    def place(branch: _Branch) -> None:
        nonlocal at
        for child in branch.children:
            place(child)
        if branch.children:
            branch.row = (branch.children[0].row + branch.children[-1].row) // 2
        else:
            branch.row, at = at, at + step

    def move(branch: _Branch, by: int) -> None:
        branch.row += by
        for child in branch.children:
            move(child, by)

    for branch in found:
        place(branch)
    if found:
        centre = (found[0].row + found[-1].row) // 2
        shift = min(max(middle - centre, 0), height - (rows - 1) * step - 1)
        for branch in found:
            move(branch, shift)


class _Pen:
    """Draws one side. origin: the first cell beside the frame, from which distances count outwards."""

    def __init__(
        self,
        side: _Side,
        nodes: Mapping[str, GraphNode],
        links: set[tuple[str, str]],
        labels: Mapping[str, str],
        origin: int,
        channel: int,
    ) -> None:
        self._side = side
        self._nodes, self._links, self._labels = nodes, links, labels
        self._origin = origin
        self._channel = channel
        self.boxes: list[Box] = []
        self.wires: list[Wire] = []

    def draw(
        self, found: Sequence[_Branch], parent: str, ghost: bool, end: int, row: int, start: int, column: int
    ) -> None:
        """The branches on a parent that ends at a distance; the channel behind it begins at `start`."""
        sign, first = self._side.sign, start + self._channel
        for branch in found:
            text = cut(_text(branch, self._labels), self._side.widths[column - 1])
            cells = cell_len(text) + _BLANKS
            hidden = bool(branch.id) and self._nodes[branch.id].hidden
            role: Role = "more" if not branch.id else "ghost" if hidden else "node"
            x = self._origin + first if sign > 0 else self._origin - first - cells + 1
            self.boxes.append(Box(branch.id, x, branch.row, cells, text, role, sign * column))
            cells_of = self._line(
                end, row, start + 1 + min((self._channel - _CHANNEL) // 2, 3), first - 1, branch.row
            )
            arrow = self._arrow(parent, branch.id, (self._origin + sign * (first - 1), branch.row))
            self.wires.append(Wire(parent, branch.id, ghost or hidden, cells_of, arrow))
            following = first + self._side.widths[column - 1] + _BLANKS
            self.draw(branch.children, branch.id, hidden, first + cells, branch.row, following, column + 1)

    def _arrow(self, parent: str, id: str, cell: Cell) -> tuple[Cell, str] | None:
        out, back = (parent, id) in self._links, (id, parent) in self._links
        if not id or out == back:
            return None
        return cell, "▸" if (self._side.sign > 0) is out else "◂"

    def _line(self, end: int, row: int, turn: int, last: int, to: int) -> dict[Cell, int]:
        """Cells of a line from a distance and row over a turn to another row."""
        cells: dict[Cell, int] = {}

        def mark(distance: int, at: int, arm: int) -> None:
            if self._side.sign < 0 and arm in (LEFT, RIGHT):
                arm = LEFT + RIGHT - arm
            cell = (self._origin + self._side.sign * distance, at)
            cells[cell] = cells.get(cell, 0) | arm

        mark(end, row, LEFT)
        mark(last, to, RIGHT)
        for first, stop, at in ((end, turn, row), (turn, last, to)):
            for distance in range(first, stop):
                mark(distance, at, RIGHT)
                mark(distance + 1, at, LEFT)
        for at in range(min(row, to), max(row, to)):
            mark(turn, at, DOWN)
            mark(turn, at + 1, UP)
        return cells


def step(picture: Picture, note_id: str, direction: Direction) -> str:
    """Id of the note that an arrow key leads to from a note; "" when there is none that way.

    Left and right follow a line; up and down lead to the next note of the same column, from the frame to one beside it.
    """
    here = picture.box_of.get(note_id)
    if here is None:
        return ""
    sign = 1 if direction in ("right", "down") else -1
    ends = [{wire.a, wire.b} - {note_id} for wire in picture.wires if note_id in (wire.a, wire.b)]
    linked = [picture.box_of[id] for (id,) in ends if id]
    if direction in ("left", "right"):
        found = [box for box in linked if (box.column - here.column) * sign > 0]
    else:
        column = [box for box in picture.box_of.values() if box.column == here.column]
        found = [box for box in (column if len(column) > 1 else linked) if (box.row - here.row) * sign > 0]
    return min(found, key=lambda box: (abs(box.row - here.row), box.row)).id if found else ""


def reasons(data: GraphData, one: str, other: str) -> str:
    """Why a link between two notes is there, both ways, then its ends and direction."""
    edges = [edge for edge in data.edges if {edge.a, edge.b} == {one, other}]
    titles = {node.id: cut(node.title.strip(), 28) for node in data.nodes}
    there, back = (any(edge.a == id for edge in edges) for id in (one, other))
    sign = "↔" if there and back else "→" if there else "←"
    why = "; ".join(dict.fromkeys(edge.reason.strip() for edge in edges if edge.reason.strip()))
    return f"{why or 'no reason given'} · {titles.get(one, '')} {sign} {titles.get(other, '')}"


def summary(data: GraphData, picture: Picture) -> str:
    """How many notes the picture shows, how far it reaches, and what found no room."""
    shown = len(picture.box_of) - 1
    hidden = f"{_count(data.hidden, 'hidden note')}" if data.hidden else ""
    if shown <= 0 and not data.edges and not picture.without_room:
        return f"no visible notes within 1 link · {hidden}" if hidden else "no links yet"
    reach = max((abs(box.column) for box in picture.boxes if box.id), default=1)
    said = [f"{_count(shown, 'note')} within {_count(max(reach, 1), 'link')}"] if shown > 0 else []
    if picture.without_room:
        said.append(f"no room for {_count(picture.without_room, 'note')}")
    hung = {frozenset((wire.a, wire.b)) for wire in picture.wires}
    pairs = {frozenset((edge.a, edge.b)) for edge in data.edges if {edge.a, edge.b} <= picture.box_of.keys()}
    if pairs - hung:
        said.append(f"{_count(len(pairs - hung), 'more link')} between them")
    return " · ".join([*said, *([hidden] if hidden else [])])


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"


NODE_LIMIT: Final = 60


@dataclass(frozen=True)
class GraphNode:
    """A note of the picture. kind: "note" or "fact"."""

    id: str
    title: str
    hidden: bool = False
    kind: str = "note"


@dataclass(frozen=True)
class GraphEdge:
    """A link from `a` to `b`, with its reason."""

    a: str
    b: str
    reason: str = ""


@dataclass(frozen=True)
class GraphData:
    """A note (`focus`) and what surrounds it.

    left_out: for a node's id, how many of its neighbours are not among the nodes. hidden: how many hidden notes the
    focus is linked to that are not drawn.
    """

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    focus: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    hidden: int = 0


def graph_data(
    snapshot: Snapshot, note_id: str, hops: int = 1, show_hidden: bool = False, limit: int = NODE_LIMIT
) -> GraphData:
    """The notes within `hops` links of a note, nearest first, at most `limit`; empty when there is no such note."""
    if note_id not in snapshot.by_id:
        return GraphData()
    inside = surroundings(snapshot, note_id, hops=hops, limit=limit, include_hidden=show_hidden)
    notes = [snapshot.by_id[id] for id in inside]
    nodes = tuple(
        GraphNode(note.id, note.title, note.hidden, "fact" if note.is_fact else "note") for note in notes
    )
    edges = tuple(
        GraphEdge(note.id, link.to, link.reason)
        for note in notes
        for link in note.links
        if link.to in inside and link.to != note.id
    )
    left_out = _left_out(snapshot, inside, hops, show_hidden)
    near = linked(snapshot, note_id)
    hidden = 0 if show_hidden else sum(snapshot.by_id[other].hidden for other in near)
    return GraphData(nodes, edges, note_id, left_out, hidden)


def _left_out(snapshot: Snapshot, inside: dict[str, int], hops: int, show_hidden: bool) -> dict[str, int]:
    counts: dict[str, int] = {}
    taken = set(inside)
    for note_id, hop in inside.items():
        if hop >= hops:
            continue
        near = linked(snapshot, note_id)
        missing = {other for other in near if show_hidden or not snapshot.by_id[other].hidden} - taken
        taken |= missing
        if missing:
            counts[note_id] = len(missing)
    return counts
