"""Lays a note's surroundings out in cells: the focus, columns of neighbours beside it, wires between them.

Every node has a row of its own among those of its branch, so that branches never overlap and the wires from a
node to what hangs on it share one vertical line that meets no other. Links that are not part of this tree run
on tracks of their own: between nodes of one column right behind the titles, between neighbouring columns right
before them. The layout depends on nothing but its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len

from nuggets_tui.safe_text import cut
from nuggets_tui.widgets.graph_data import GraphData, GraphEdge, GraphNode
from nuggets_tui.widgets.graph_picture import NodeBox, Picture, Role, Wire
from nuggets_tui.widgets.graph_route import NARROW_CHANNEL, Place, Router
from nuggets_tui.widgets.graph_tree import Branch, Sorted, branches, sides, sort_out, trim_depth, trim_rows

UNTITLED: Final = "(no title)"
_TWO_SIDED: Final = 72
_NARROW_LABEL: Final = 10
_WIDE_LABEL: Final = 48
_STRETCH: Final = 6
_FRAME: Final = 4


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

    `own`: cells for the focus's title; `spare`: cells that nothing needs; `shortened`: cells cut off titles.
    """

    parts: list[Side]
    routers: list[Router]
    own: int
    spare: int
    shortened: int

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
) -> Picture:
    """The picture of the graph around `focus` in `width` x `height` cells.

    The focus stands at the left, what it links to in columns to the right; with room for it, notes that only
    link to the focus stand to its left. What finds no room shows as "… 12 more" where it would hang, or counts
    in `notes_without_room` and `links_without_room`. Empty when the focus is not among the nodes, or without
    room for it.
    """
    graph = sort_out(GraphData(tuple(nodes), tuple(edges), focus, tuple(left_out)))
    if focus not in graph.nodes or width < 6 or height < 1:
        return Picture(max(width, 0), max(height, 0))
    found = branches(graph)
    plan = _plan(graph, [], found, width, height)
    if width >= _TWO_SIDED:
        # Both sides only where that costs no title a letter, or brings more notes into the picture.
        wide = _plan(graph, *sides(graph, found, height), width, height)
        if wide.parts[0].found and (wide.shortened == 0 or wide.shown > plan.shown):
            plan = wide
    return _draw(graph, plan, width, height)


def _plan(graph: Sorted, left: list[Branch], right: list[Branch], width: int, height: int) -> Plan:
    parts = [Side(-1, tuple(left)), Side(1, tuple(right))]
    _fit_depth(parts, graph, width)
    for side in parts:
        side.found = trim_rows(side.found, height)
    # "… 12 more" may be wider than the titles whose place it takes.
    _fit_depth(parts, graph, width)
    for side in parts:
        _place_rows(side, graph, height)
    routers = [Router(graph, side.places, side.depth) for side in parts]
    return _fit_widths(graph, parts, routers, width)


def _fit_depth(parts: list[Side], graph: Sorted, width: int) -> None:
    """Cut the deepest columns until the narrowest form of the rest fits."""
    title = cell_len(_title(graph.nodes[graph.focus], width))
    own = min(title, _NARROW_LABEL) + _FRAME
    while True:
        columns = [cells for side in parts for cells in _narrowest(side.found, graph)]
        if not columns or own + sum(columns) + len(columns) * NARROW_CHANNEL <= width:
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


def _place_rows(side: Side, graph: Sorted, height: int) -> None:
    """Give each end of a branch its row and each node the middle of what hangs on it."""
    rows = sum(branch.rows for branch in side.found)
    step = 2 if rows * 2 - 1 <= height else 1
    next_row = 0

    def place(branch: Branch, level: int, parent: str) -> Place:
        nonlocal next_row
        children = [place(child, level + 1, branch.id) for child in branch.children]
        if children:
            row = (children[0].row + children[-1].row) // 2
        else:
            row = next_row
            next_row += step
        here = Place(branch.id, parent, level, row, _label(branch, graph), _role(branch, graph))
        side.places.append(here)
        return here

    tops = [place(branch, 0, graph.focus) for branch in side.found]
    if not tops:
        return
    block = (rows - 1) * step + 1
    middle = (tops[0].row + tops[-1].row) // 2
    shift = min(max(_focus_row(height) - middle, 0), height - block)
    for here in side.places:
        here.row += shift


def _focus_row(height: int) -> int:
    return (height - 1) // 2


def _title(node: GraphNode, width: int) -> str:
    sign = {("fact", False): "◆ ", ("fact", True): "◇ "}.get(
        (node.kind, node.hidden), "○ " if node.hidden else ""
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


def _draw(graph: Sorted, plan: Plan, width: int, height: int) -> Picture:
    columns = sum(side.depth for side in plan.parts)
    stretch = min(plan.spare // columns, _STRETCH) if columns else 0
    for side, router in zip(plan.parts, plan.routers, strict=True):
        router.stretch = stretch
        router.settle(side.widths)
    left = plan.routers[0]
    spare = plan.spare - stretch * columns
    margin = spare // 2 if left.places else min(spare, 1)
    frame = _frame(graph, margin + left.length, plan.own, height)
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


def _fit_widths(graph: Sorted, parts: list[Side], routers: list[Router], width: int) -> Plan:
    """Set the columns' widths.

    Titles shrink from the widest on; when they are at their narrowest, links that are not part of the tree
    give up their tracks.
    """
    widths = [cell_len(_title(graph.nodes[graph.focus], width))]
    for side in parts:
        side.widths = [0] * side.depth
        for here in side.places:
            side.widths[here.level] = max(side.widths[here.level], cell_len(here.label))
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
    return Plan(parts, routers, fitted[0], spare, sum(widths) - sum(fitted))


def _shrunk(widths: list[int], room: int) -> list[int]:
    """The widths, the widest cut down to one measure so that they fit; none below the narrowest label."""
    for most in range(max(widths), _NARROW_LABEL - 1, -1):
        cut_down = [min(each, most) for each in widths]
        if sum(cut_down) <= room:
            return cut_down
    return [min(each, _NARROW_LABEL) for each in widths]


def _frame(graph: Sorted, x: int, room: int, height: int) -> NodeBox:
    node = graph.nodes[graph.focus]
    label = cut(_title(node, room + 2), room)
    row = _focus_row(height)
    tall = height >= 3
    return NodeBox(
        graph.focus, x, row - 1 if tall else row, cell_len(label) + _FRAME, 3 if tall else 1, label, "focus"
    )
