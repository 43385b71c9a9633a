"""Lays a note's surroundings out in cells: the focus, columns of neighbours beside it, wires between them.

Every node has a row of its own among those of its branch, so that branches never overlap and the wires from a
node to what hangs on it share one vertical line that meets no other. Links that are not part of this tree run
on tracks of their own: between nodes of one column right behind the titles, between neighbouring columns right
before them. The layout depends on nothing but its arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len

from nuggets_tui.graph.data import GraphData, GraphEdge, GraphNode
from nuggets_tui.graph.picture import NodeBox, Picture, Role, Wire
from nuggets_tui.graph.route import BARE_CHANNEL, Place, Router
from nuggets_tui.graph.tree import (
    Branch,
    Former,
    Sorted,
    branches,
    sides,
    sort_out,
    trim_depth,
    trim_rows,
)
from nuggets_tui.safe_text import cut

UNTITLED: Final = "(no title)"
_TWO_SIDED: Final = 72
_NARROW_LABEL: Final = 10
# What is left of the focus's own title, which the pane beside it tells in full, before its neighbours go.
_NARROWEST_OWN: Final = 4
_WIDE_LABEL: Final = 48
_FRAME: Final = 4
DETAILS: Final = (0, 1, 2)
"""How much of each note is drawn: the title; a box around it; in the box its tags and its first line too."""
_TALL: Final = (1, 3, 5)
# How much longer than needed the lines between two columns get: words find room on long ones.
_STRETCH: Final = (6, 30, 30)
# Cells of a note's first line, and of one where there is room; before that each column's lines get so many.
_LINE_CELLS: Final = 34
_MOST_LINE_CELLS: Final = 76
_KEPT_FREE: Final = 12
_ENDLESS: Final = 100_000


@dataclass
class Side:
    """One side of the focus while it is laid out: its branches, its columns, where each node came to lie.

    Distances count cells from the focus's frame outwards.
    """

    sign: int
    found: tuple[Branch, ...]
    widths: list[int] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """Columns."""
        return max((branch.depth for branch in self.found), default=0)


@dataclass
class Plan:
    """Both sides with their columns fixed.

    `own`: cells for the focus's title; `spare`: cells that nothing needs; `shortened`: cells cut off titles;
    `line_cells`: cells of a note's first line.
    """

    parts: list[Side]
    routers: list[Router]
    own: int
    spare: int
    shortened: int
    line_cells: int = _LINE_CELLS

    @property
    def depth(self) -> int:
        """Columns of both sides."""
        return sum(side.depth for side in self.parts)

    @property
    def shown(self) -> int:
        """Notes in the picture besides the focus."""
        return sum(bool(place.id) for side in self.parts for place in side.places)


def lay_out(
    nodes: Sequence[GraphNode],
    edges: Sequence[GraphEdge],
    focus: str,
    width: int,
    height: int,
    left_out: Sequence[tuple[str, int]] = (),
    detail: int = 0,
    former: Picture | None = None,
) -> Picture:
    """The picture of the graph around `focus` in `width` x `height` cells.

    The focus stands at the left, what it links to in columns to the right; with room for it, notes that only
    link to the focus stand to its left. What finds no room shows as "… 12 more" where it would hang, or counts
    in `notes_without_room` and `links_without_room`. Empty when the focus is not among the nodes, or without
    room for it. `detail`: one of DETAILS. `former`: the picture before; with the same focus, its notes keep
    their columns and their order as far as they can.
    """
    known = _former(former) if former is not None and former.focus == focus else Former()
    graph = sort_out(GraphData(tuple(nodes), tuple(edges), focus, tuple(left_out)), known)
    tall = _TALL[detail]
    if focus not in graph.nodes or width < 6 or height < tall:
        return Picture(max(width, 0), max(height, 0))
    found = branches(graph)
    plan = _plan(graph, [], found, width, height, detail)
    if width >= _TWO_SIDED:
        # Both sides only where that costs no title a letter, or brings more notes into the picture.
        wide = _plan(graph, *sides(graph, found, height // tall), width, height, detail)
        stays = any(side < 0 for side in known.side.values()) and wide.shown >= plan.shown
        if wide.parts[0].found and (wide.shortened == 0 or wide.shown > plan.shown or stays):
            plan = wide
    longer = _LINE_CELLS + (plan.spare - _KEPT_FREE * plan.depth) // (plan.depth + 1)
    if detail == DETAILS[-1] and longer > _LINE_CELLS:
        # Room that nothing needs goes to the first lines of the notes.
        left, right = ([*side.found] for side in plan.parts)
        plan = _plan(graph, left, right, width, height, detail, min(longer, _MOST_LINE_CELLS))
    return _draw(graph, plan, width, height, detail)


def lay_out_fitting(
    data: GraphData, width: int, height: int, detail: int | None, former: Picture | None = None
) -> Picture:
    """As `lay_out`, on a canvas as large as `detail` needs, `width` x `height` cells at least.

    Without a detail the one that shows most of each note and needs no more than these cells.
    """

    def drawn(size: tuple[int, int], detail: int) -> Picture:
        return lay_out(data.nodes, data.edges, data.focus, *size, data.left_out, detail, former)

    if detail == 0:
        return drawn((width, height), 0)
    graph = sort_out(data)
    if data.focus not in graph.nodes:
        return Picture(max(width, 0), max(height, 0))
    if detail is not None:
        wide, high = _needed(graph, detail, width)
        return drawn((max(width, wide), max(height, high)), detail)
    told = any(node.tags or node.first_line for node in data.nodes)
    fullest = max(Counter(graph.level.values()).values())
    for each in reversed(DETAILS[1:] if told else DETAILS[1:2]):
        if fullest * _TALL[each] > 2 * height:
            continue
        wide, high = _needed(graph, each, width)
        if wide <= width and high <= height:
            return drawn((width, height), each)
    return drawn((width, height), 0)


def _needed(graph: Sorted, detail: int, width: int) -> tuple[int, int]:
    """Columns and rows that everything needs; both sides of the focus where that fits the width."""
    found = branches(graph)
    split = sides(graph, found, _ENDLESS)
    sizes = []
    for left, right in (split, ([], found)):
        plan = _plan(graph, left, right, _ENDLESS, _ENDLESS, detail)
        rows = max(sum(branch.rows for branch in side.found) for side in plan.parts)
        sizes.append((_ENDLESS - plan.spare + 2, max(rows, 1) * _TALL[detail]))
    return sizes[0] if _TWO_SIDED <= width >= sizes[0][0] else sizes[1]


def _former(picture: Picture) -> Former:
    boxes = sorted((box for box in picture.boxes if box.id), key=lambda box: (box.y, box.x))
    return Former(
        {box.id: number for number, box in enumerate(boxes)},
        {wire.b: wire.a for wire in reversed(picture.wires) if wire.b and wire.stroke != "cross"},
        {box.id: box.side for box in boxes if box.level == 1},
    )


def _plan(
    graph: Sorted,
    left: list[Branch],
    right: list[Branch],
    width: int,
    height: int,
    detail: int,
    cells: int = _LINE_CELLS,
) -> Plan:
    tall = _TALL[detail]
    parts = [Side(-1, tuple(left)), Side(1, tuple(right))]
    _fit_depth(parts, graph, width, tall)
    for side in parts:
        side.found = trim_rows(side.found, height // tall)
    # "… 12 more" may be wider than the titles whose place it takes.
    _fit_depth(parts, graph, width, tall)
    for side in parts:
        _place_rows(side, graph, height, detail, cells)
    routers = [Router(graph, side.places, side.depth, tall) for side in parts]
    return _fit_widths(graph, parts, routers, width, detail, cells)


def _fit_depth(parts: list[Side], graph: Sorted, width: int, tall: int) -> None:
    """Cut the deepest columns until the narrowest form of the rest fits; the last goes after most of the own title."""
    title = cell_len(_title(graph.nodes[graph.focus], width))
    channel = BARE_CHANNEL + (2 if tall == 1 else 4)
    while True:
        columns = [cells for side in parts for cells in _narrowest(side.found, graph)]
        own = min(title, _NARROW_LABEL if len(columns) > 1 else _NARROWEST_OWN) + _FRAME
        if not columns or own + sum(columns) + len(columns) * channel <= width:
            return
        deepest = max(parts, key=lambda side: side.depth)
        deepest.found = trim_depth(deepest.found, deepest.depth - 1)


def _narrowest(found: Sequence[Branch], graph: Sorted) -> list[int]:
    """For each column of some branches the fewest cells that its titles need."""
    columns: list[int] = []
    level = list(found)
    while level:
        columns.append(max(min(cell_len(_label(branch, graph)), _NARROW_LABEL) for branch in level))
        level = [child for branch in level for child in branch.children]
    return columns


def _place_rows(side: Side, graph: Sorted, height: int, detail: int, cells: int) -> None:
    """Give each end of a branch its row and each node the middle of what hangs on it."""
    rows = sum(branch.rows for branch in side.found)
    tall = _TALL[detail]
    step = tall + 1 if rows * (tall + 1) - 1 <= height else tall
    next_row = tall // 2

    def place(branch: Branch, level: int, parent: str) -> Place:
        nonlocal next_row
        children = [place(child, level + 1, branch.id) for child in branch.children]
        if children:
            row = (children[0].row + children[-1].row) // 2
        else:
            row = next_row
            next_row += step
        lines = _lines(graph.nodes[branch.id], detail, cells) if branch.id else ()
        here = Place(branch.id, parent, level, row, _label(branch, graph), _role(branch, graph), lines)
        side.places.append(here)
        return here

    tops = [place(branch, 0, graph.focus) for branch in side.found]
    if not tops:
        return
    block = (rows - 1) * step + tall
    middle = (tops[0].row + tops[-1].row) // 2
    shift = min(max(_focus_row(height) - middle, 0), height - block)
    for here in side.places:
        here.row += shift


def _lines(node: GraphNode, detail: int, cells: int) -> tuple[str, ...]:
    return (cut(node.tags, cells), cut(node.first_line, cells)) if detail == 2 else ()


def _focus_row(height: int) -> int:
    return (height - 1) // 2


def _title(node: GraphNode, width: int) -> str:
    sign = {("fact", False): "◆ ", ("fact", True): "◇ "}.get(
        (node.kind, node.hidden), "⊘ " if node.hidden else ""
    )
    title = cut(node.title.strip(), width)
    return sign + (title if cell_len(title) else UNTITLED)


def _label(branch: Branch, graph: Sorted) -> str:
    if not branch.id:
        return f"… {branch.count} more"
    return _title(graph.nodes[branch.id], _WIDE_LABEL)


def _role(branch: Branch, graph: Sorted) -> Role:
    if not branch.id:
        return "more"
    return "ghost" if graph.nodes[branch.id].hidden else "node"


def _draw(graph: Sorted, plan: Plan, width: int, height: int, detail: int) -> Picture:
    columns = plan.depth
    stretch = min(plan.spare // columns, _STRETCH[detail]) if columns else 0
    for side, router in zip(plan.parts, plan.routers, strict=True):
        router.stretch = stretch
        router.fix_distances(side.widths)
    left = plan.routers[0]
    spare = plan.spare - stretch * columns
    margin = spare // 2 if left.places else min(spare, 1)
    frame = _frame(graph, margin + left.length, plan, height, detail)
    boxes: list[NodeBox] = [frame]
    wires: list[Wire] = []
    for side, router in zip(plan.parts, plan.routers, strict=True):
        origin = frame.x + frame.width if side.sign > 0 else frame.x - 1
        boxes.extend(router.boxes(origin, side.sign))
        wires.extend(router.wires(origin, side.sign, _focus_row(height)))
    shown = {box.id for box in boxes if box.id}
    counted = sum(_without_room(side.found) for side in plan.parts)
    every = len(graph.nodes) + sum(graph.left_out.values())
    drawn = {frozenset((wire.a, wire.b)) for wire in wires}
    wanted = {frozenset(pair) for pair in graph.links if pair[0] in shown and pair[1] in shown}
    return Picture(
        width,
        height,
        tuple(boxes),
        tuple(wires),
        every - len(shown) - counted,
        len(wanted - drawn),
        graph.focus,
    )


def _without_room(found: Sequence[Branch]) -> int:
    return sum(_without_room(branch.children) if branch.id else branch.count for branch in found)


def _fit_widths(
    graph: Sorted, parts: list[Side], routers: list[Router], width: int, detail: int, cells: int
) -> Plan:
    """Set the columns' widths.

    Titles shrink from the widest on; when they are at their narrowest, links that are not part of the tree
    give up their tracks.
    """
    focus = graph.nodes[graph.focus]
    widths = [max(map(cell_len, (_title(focus, width), *_lines(focus, detail, cells))))]
    for side in parts:
        side.widths = [0] * side.depth
        for here in side.places:
            side.widths[here.level] = max(side.widths[here.level], here.wanted)
        widths.extend(side.widths)
    while True:
        room = width - _FRAME - sum(router.channels for router in routers)
        fitted = _shrunk(widths, room)
        if sum(fitted) <= room or not any(router.drop_track() for router in routers):
            break
    spare = room - sum(fitted)
    if spare < 0:
        fitted[0] = max(fitted[0] + spare, 1)
        spare = 0
    at = 1
    for side in parts:
        side.widths = fitted[at : at + side.depth]
        at += side.depth
    return Plan(parts, routers, fitted[0], spare, sum(widths) - sum(fitted), cells)


def _shrunk(widths: list[int], room: int) -> list[int]:
    """The widths, the widest cut down to one measure so that they fit; none below the narrowest label."""
    for most in range(max(widths), _NARROW_LABEL - 1, -1):
        cut_down = [min(each, most) for each in widths]
        if sum(cut_down) <= room:
            return cut_down
    return [min(each, _NARROW_LABEL) for each in widths]


def _frame(graph: Sorted, x: int, plan: Plan, height: int, detail: int) -> NodeBox:
    node, room = graph.nodes[graph.focus], plan.own
    label = cut(_title(node, room + 2), room)
    lines = tuple(cut(line, room) for line in _lines(node, detail, plan.line_cells))
    row = _focus_row(height)
    tall = max(_TALL[detail], 3) if height >= 3 else 1
    width = max(map(cell_len, (label, *lines))) + _FRAME
    return NodeBox(graph.focus, x, row - tall // 2, width, tall, label, "focus", lines=lines)
