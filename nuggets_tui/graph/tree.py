"""A note's surroundings as branches that fit a number of rows: who hangs on whom, on which side of the focus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from nuggets_tui.graph.data import GraphData, GraphNode

DEEPEST: Final = 8
Pair = tuple[str, str]


@dataclass(frozen=True)
class Branch:
    """A node with the nodes that hang on it; without an id it stands for `count` notes that found no room."""

    id: str
    count: int = 1
    children: tuple[Branch, ...] = ()

    @property
    def rows(self) -> int:
        """Rows that it takes: one for each of its ends."""
        return max(1, sum(child.rows for child in self.children))

    @property
    def depth(self) -> int:
        """Columns that it takes."""
        return 1 + max((child.depth for child in self.children), default=0)

    @property
    def size(self) -> int:
        """Notes in it, those without room included."""
        return self.count + sum(child.size for child in self.children)

    def ids(self) -> Iterable[str]:
        """Ids of the nodes in it."""
        if self.id:
            yield self.id
        for child in self.children:
            yield from child.ids()


@dataclass(frozen=True)
class Former:
    """How the notes stood in the picture before: their order from above, their parents, and their sides."""

    order: Mapping[str, int] = field(default_factory=dict)
    parent: Mapping[str, str] = field(default_factory=dict)
    side: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Sorted:
    """A graph with each node's distance from the focus and the neighbour it hangs on.

    `links`: for a pair of nodes in order, whether a link goes from the first to the second and the other way.
    """

    focus: str
    nodes: dict[str, GraphNode]
    links: dict[Pair, tuple[bool, bool]]
    near: dict[str, list[str]]
    level: dict[str, int]
    parent: dict[str, str]
    left_out: dict[str, int] = field(default_factory=dict)
    former: Former = field(default_factory=lambda: Former())

    def pair(self, one: str, other: str) -> Pair:
        """The two in the order in which `links` knows them."""
        return (one, other) if (one, other) in self.links else (other, one)

    def directions(self, start: str, end: str) -> tuple[bool, bool]:
        """Whether a link goes from start to end, and from end to start."""
        if (start, end) in self.links:
            return self.links[start, end]
        there, back = self.links.get((end, start), (False, False))
        return back, there


def sort_out(data: GraphData, former: Former | None = None) -> Sorted:
    """Distances and parents by breadth-first search, in the order of the nodes; what is out of reach has none.

    Notes of the picture before keep the parents they had, where they still may.
    """
    former = former or Former()
    nodes: dict[str, GraphNode] = {}
    for node in data.nodes:
        nodes.setdefault(node.id, node)
    order = {id: number for number, id in enumerate(nodes)}
    links: dict[Pair, tuple[bool, bool]] = {}
    near: dict[str, list[str]] = {id: [] for id in nodes}
    for edge in data.edges:
        if edge.a == edge.b or edge.a not in nodes or edge.b not in nodes:
            continue
        forward = order[edge.a] < order[edge.b]
        pair = (edge.a, edge.b) if forward else (edge.b, edge.a)
        if pair not in links:
            near[edge.a].append(edge.b)
            near[edge.b].append(edge.a)
        there, back = links.get(pair, (False, False))
        links[pair] = (there or forward, back or not forward)
    for others in near.values():
        others.sort(key=order.__getitem__)
    level, parent = _distances(data.focus, near)
    for id, above in former.parent.items():
        if id in parent and above in near[id] and level.get(above) == level[id] - 1:
            parent[id] = above
    left_out: dict[str, int] = {}
    for id, count in data.left_out:
        if id in level and count > 0:
            left_out[id] = left_out.get(id, 0) + count
    return Sorted(data.focus, nodes, links, near, level, parent, left_out, former)


def _distances(focus: str, near: dict[str, list[str]]) -> tuple[dict[str, int], dict[str, str]]:
    level: dict[str, int] = {focus: 0} if focus in near else {}
    parent: dict[str, str] = {}
    queue = list(level)
    for current in queue:
        for other in near[current]:
            if other not in level and level[current] < DEEPEST:
                level[other] = level[current] + 1
                parent[other] = current
                queue.append(other)
    return level, parent


def branches(graph: Sorted) -> list[Branch]:
    """The branches on the focus, linked siblings beside each other; those of the picture before in their order."""
    hanging: dict[str, list[str]] = {}
    for id in graph.nodes:
        if id in graph.parent:
            hanging.setdefault(graph.parent[id], []).append(id)

    built: dict[str, Branch] = {}
    for id in sorted(graph.level, key=lambda each: -graph.level[each]):
        children = [built[child] for child in _grouped(hanging.get(id, []), graph)]
        if id in graph.left_out:
            children.append(Branch("", graph.left_out[id]))
        built[id] = Branch(id, 1, tuple(children))
    return list(built[graph.focus].children) if graph.focus in built else []


def _grouped(ids: Sequence[str], graph: Sorted) -> list[str]:
    known = sorted((id for id in ids if id in graph.former.order), key=graph.former.order.__getitem__)
    if known:
        # A newcomer stands behind the last note that it is linked with.
        for id in ids:
            if id not in graph.former.order:
                places = [known.index(other) + 1 for other in graph.near[id] if other in known]
                known.insert(max(places, default=len(known)), id)
        return known
    waiting = dict.fromkeys(ids)
    grouped: list[str] = []
    while waiting:
        stack = [next(iter(waiting))]
        while stack:
            id = stack.pop()
            if id in waiting:
                del waiting[id]
                grouped.append(id)
                stack.extend(other for other in reversed(graph.near[id]) if other in waiting)
    return grouped


def sides(graph: Sorted, found: list[Branch], rows: int) -> tuple[list[Branch], list[Branch]]:
    """Branches for the left and for the right of the focus.

    Branches that only link to the focus, and are not linked from it, stand on the left. Linked branches stay on
    one side, so that no line has to cross the focus. When the right has too few rows, its last ones move over.
    """
    left: list[Branch] = []
    right: list[Branch] = []
    for group in _clusters(graph, found):
        incoming = all(
            branch.id and graph.directions(graph.focus, branch.id) == (False, True) for branch in group
        )
        before = [graph.former.side[branch.id] for branch in group if branch.id in graph.former.side]
        (left if (sum(before) < 0 if before else incoming) else right).extend(group)
    groups = _clusters(graph, right)
    while len(groups) > 1 and _rows(right) > rows:
        last = groups.pop()
        if _rows(left) + _rows(last) > rows:
            break
        left.extend(last)
        right = [branch for group in groups for branch in group]
    if graph.former.order:
        # Who stands beside whom has been settled.
        place = {id(branch): number for number, branch in enumerate(found)}
        left.sort(key=lambda branch: place[id(branch)])
        right.sort(key=lambda branch: place[id(branch)])
    return left, right


def _rows(found: Sequence[Branch]) -> int:
    return sum(branch.rows for branch in found)


def _clusters(graph: Sorted, found: Sequence[Branch]) -> list[list[Branch]]:
    """Branches in groups that have no link between them, in the order given."""
    owner = {id: number for number, branch in enumerate(found) for id in branch.ids()}
    joined = list(range(len(found)))

    def root(number: int) -> int:
        while joined[number] != number:
            number = joined[number]
        return number

    for one, other in graph.links:
        if one in owner and other in owner:
            low, high = sorted((root(owner[one]), root(owner[other])))
            joined[high] = low
    groups: dict[int, list[Branch]] = {}
    for number, branch in enumerate(found):
        groups.setdefault(root(number), []).append(branch)
    return list(groups.values())


def trim_depth(found: Iterable[Branch], depth: int) -> tuple[Branch, ...]:
    """The branches without what lies deeper than `depth` columns."""
    if depth <= 0:
        return ()
    return tuple(replace(branch, children=trim_depth(branch.children, depth - 1)) for branch in found)


def trim_rows(found: Sequence[Branch], rows: int) -> tuple[Branch, ...]:
    """The branches in at most `rows` rows; what finds no room becomes one branch that counts it."""
    if rows <= 0 or not found:
        return ()
    if len(found) > rows:
        kept, rest = found[: rows - 1], found[rows - 1 :]
        more = Branch("", sum(branch.size for branch in rest))
        return (*(replace(branch, children=trim_rows(branch.children, 1)) for branch in kept), more)
    shares = _shares([branch.rows for branch in found], rows)
    return tuple(
        replace(branch, children=trim_rows(branch.children, share))
        for branch, share in zip(found, shares, strict=True)
    )


def _shares(wanted: Sequence[int], rows: int) -> list[int]:
    """Rows for each: at least one, at most what it wants, otherwise as even as can be."""
    shares = [1] * len(wanted)
    spare = rows - len(wanted)
    while spare > 0:
        hungry = [number for number, share in enumerate(shares) if share < wanted[number]]
        if not hungry:
            break
        for number in hungry[:spare]:
            shares[number] += 1
        spare -= min(spare, len(hungry))
    return shares
