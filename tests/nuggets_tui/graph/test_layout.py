"""The picture of a graph is true: nothing overlaps, nothing lies outside, every line leads where it says."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from kits.hostile import HOSTILE
from kits.laws import examples
from rich.cells import cell_len

from nuggets_tui.graph.caption import summary
from nuggets_tui.graph.data import GraphData, GraphEdge, GraphNode
from nuggets_tui.graph.layout import UNTITLED, lay_out, lay_out_fitting
from nuggets_tui.graph.picture import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Cell,
    Direction,
    NodeBox,
    Picture,
    Wire,
    mixed,
    step,
)

MEGABYTE = "wide 語 and [/x] " * 70_000
DIRECTIONS: tuple[Direction, ...] = ("left", "right", "up", "down")
SIDES = {UP: (0, -1), DOWN: (0, 1), LEFT: (-1, 0), RIGHT: (1, 0)}
OPPOSITE = {UP: DOWN, DOWN: UP, LEFT: RIGHT, RIGHT: LEFT}

titles = st.one_of(st.text(max_size=30), st.sampled_from([*HOSTILE, MEGABYTE, "語" * 40]))
details = st.integers(0, 2)
sizes = st.tuples(st.integers(-1, 170), st.integers(-1, 45))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[GraphNode], list[GraphEdge], list[tuple[str, int]]]:
    count = draw(st.integers(0, 24))
    nodes = [
        GraphNode(
            f"n{n}",
            draw(titles),
            draw(st.booleans()),
            draw(st.sampled_from(["note", "fact"])),
            tags=draw(st.sampled_from(["", "#auth #jwt", *HOSTILE])),
            first_line=draw(titles),
        )
        for n in range(count)
    ]
    ends = st.integers(0, max(count, 1))
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=50))
    # Most nodes hang on an earlier one, so that pictures have several columns.
    pairs += [(draw(st.integers(0, n - 1)), n) for n in range(1, count) if draw(st.integers(0, 4))]
    left_out = draw(st.lists(st.tuples(ends.map("n{}".format), st.integers(0, 999)), max_size=3))
    return nodes, [GraphEdge(f"n{a}", f"n{b}") for a, b in pairs], left_out


def chain(*names: str) -> tuple[list[GraphNode], list[GraphEdge]]:
    nodes = [GraphNode(name, name) for name in names]
    return nodes, [GraphEdge(a, b) for a, b in itertools.pairwise(names)]


def star(count: int) -> tuple[list[GraphNode], list[GraphEdge]]:
    names = ["middle", *(f"leaf {n}" for n in range(count))]
    return [GraphNode(name, name) for name in names], [GraphEdge("middle", name) for name in names[1:]]


def text(picture: Picture) -> list[str]:
    """The picture as lines, without the frame's corners."""
    cells: dict[Cell, str] = {cell: sign for cell, (sign, _, _) in picture.glyphs.items()}
    for box in picture.boxes:
        for x in range(box.width):
            cells[box.x + x, box.y + box.height // 2] = ""
        cells[box.x, box.y + box.height // 2] = f" {box.text}".ljust(box.width)
    return [
        "".join(cells.get((x, y), " ") for x in range(picture.width)).rstrip() for y in range(picture.height)
    ]


def cells_of(box: NodeBox) -> set[Cell]:
    return {(box.x + x, box.y + y) for x in range(box.width) for y in range(box.height)}


def touched(wire: Wire, picture: Picture) -> set[str]:
    """Ids of the boxes that a wire runs into."""
    found = set()
    for (x, y), arms in wire.cells.items():
        for arm, (dx, dy) in SIDES.items():
            box = picture.at(x + dx, y + dy)
            if arms & arm and box is not None:
                found.add(box.id)
    return found


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(graphs(), sizes, details)
def test_any_picture_is_true_whole_reached_by_arrows_and_the_same_again(
    graph: tuple[list[GraphNode], list[GraphEdge], list[tuple[str, int]]], size: tuple[int, int], detail: int
) -> None:
    nodes, edges, left_out = graph
    picture = lay_out(nodes, edges, "n0", *size, left_out, detail)
    assert_boxes_lie_inside_and_overlap_neither_each_other_nor_a_wire(picture, detail)
    assert_every_wire_is_one_line_between_the_notes_of_a_link(picture, edges)
    assert_everything_is_drawn_or_counted(picture, nodes, edges, size, detail)
    assert_arrow_keys_reach_every_note(picture)
    assert lay_out(list(nodes), list(edges), "n0", *size, left_out, detail) == picture


def assert_boxes_lie_inside_and_overlap_neither_each_other_nor_a_wire(picture: Picture, detail: int) -> None:
    taken: set[Cell] = set()
    for box in picture.boxes:
        cells = cells_of(box)
        assert not cells & taken
        taken |= cells
        assert box.x >= 0
        assert box.x + box.width <= picture.width
        assert box.y >= 0
        assert box.y + box.height <= picture.height
        frame = 4 if box.role == "focus" or detail else 2
        assert max(map(cell_len, (box.text, *box.lines))) + frame == box.width
        assert "\x1b" not in box.text + "".join(box.lines)
    for x, y in picture.glyphs:
        assert (x, y) not in taken
        assert 0 <= x < picture.width
        assert 0 <= y < picture.height


def assert_every_wire_is_one_line_between_the_notes_of_a_link(
    picture: Picture, edges: list[GraphEdge]
) -> None:
    linked = {frozenset((edge.a, edge.b)) for edge in edges}
    for wire in picture.wires:
        assert not wire.b or frozenset((wire.a, wire.b)) in linked
        assert touched(wire, picture) == {wire.a, wire.b}
        loose = 0
        for (x, y), arms in wire.cells.items():
            for arm, (dx, dy) in SIDES.items():
                if arms & arm:
                    beyond = wire.cells.get((x + dx, y + dy), 0)
                    loose += not beyond & OPPOSITE[arm]
        assert loose == 2


def assert_everything_is_drawn_or_counted(
    picture: Picture, nodes: list[GraphNode], edges: list[GraphEdge], size: tuple[int, int], detail: int
) -> None:
    if not picture.boxes:
        assert not nodes or size[0] < 6 or size[1] < 2 * detail + 1
        return
    counted = sum(int(box.text.split()[1]) for box in picture.boxes if box.role == "more" and box.width > 8)
    if all(box.width > 8 for box in picture.boxes if box.role == "more"):
        assert len(picture.box_of) + counted + picture.notes_without_room >= len(nodes)
    inside = {
        frozenset((edge.a, edge.b))
        for edge in edges
        if edge.a != edge.b and edge.a in picture.box_of and edge.b in picture.box_of
    }
    assert len(picture.wire_of) + picture.links_without_room == len(inside)
    assert picture.notes_without_room >= 0


def assert_arrow_keys_reach_every_note(picture: Picture) -> None:
    reached = [picture.focus]
    for id in reached:
        for direction in DIRECTIONS:
            found = step(picture, id, direction)
            if found and found not in reached:
                reached.append(found)
    assert {*reached} - {""} == picture.box_of.keys()


def test_the_focus_stands_left_and_its_links_lead_to_the_right() -> None:
    nodes, edges = chain("Auth", "JWT", "Store")
    edges.append(GraphEdge("Auth", "CORS"))
    picture = lay_out([*nodes, GraphNode("CORS", "CORS")], edges, "Auth", 40, 5)
    assert text(picture) == [
        "",
        "            ╭────▸ JWT ─────────▸ Store",
        "  Auth   ───┤",
        "            ╰────▸ CORS",
        "",
    ]


def test_arrows_tell_the_direction_and_plain_lines_go_both_ways() -> None:
    nodes = [GraphNode(name, name) for name in "abcd"]
    edges = [GraphEdge("a", "b"), GraphEdge("c", "a"), GraphEdge("a", "d"), GraphEdge("d", "a")]
    picture = lay_out(nodes, edges, "a", 20, 3)
    assert [line.split()[-2][-1] for line in text(picture)] == ["▸", "◂", "─"]


def test_notes_that_only_link_here_stand_left_when_there_is_room() -> None:
    nodes = [GraphNode(name, name) for name in ("here", "out", "in")]
    edges = [GraphEdge("here", "out"), GraphEdge("in", "here")]
    wide = lay_out(nodes, edges, "here", 80, 7)
    assert wide.box_of["in"].x < wide.box_of["here"].x < wide.box_of["out"].x
    narrow = lay_out(nodes, edges, "here", 40, 7)
    assert narrow.box_of["here"].x < narrow.box_of["in"].x


def test_links_between_neighbours_are_drawn_too() -> None:
    nodes, edges = star(3)
    edges.append(GraphEdge("leaf 0", "leaf 2"))
    picture = lay_out(nodes, edges, "middle", 50, 5)
    wire = picture.wire_of[frozenset(("leaf 0", "leaf 2"))]
    assert wire.stroke == "cross"
    assert touched(wire, picture) == {"leaf 0", "leaf 2"}
    assert picture.links_without_room == 0


def test_what_finds_no_room_is_counted_where_it_would_hang() -> None:
    nodes, edges = star(20)
    picture = lay_out(nodes, edges, "middle", 50, 9)
    assert [box.text for box in picture.boxes if box.role == "more"] == ["… 12 more"]
    assert len(picture.box_of) == 9
    assert picture.notes_without_room == 0


def test_notes_that_were_never_handed_in_are_counted_too() -> None:
    nodes, edges = star(2)
    picture = lay_out(nodes, edges, "middle", 50, 9, [("middle", 4970)])
    assert [box.text for box in picture.boxes if box.role == "more"] == ["… 4970 more"]


def test_a_pane_too_small_for_any_neighbour_says_so_and_not_that_there_is_none() -> None:
    nodes, edges = chain("a", "b")
    picture = lay_out(nodes, edges, "a", 6, 3)
    assert picture.box_of.keys() == {"a"}
    assert summary(GraphData(tuple(nodes), tuple(edges), "a"), picture).startswith("no room for 1 note")


def test_columns_without_room_are_counted() -> None:
    nodes, edges = chain(*"abcdefgh")
    picture = lay_out(nodes, edges, "a", 30, 9)
    assert picture.box_of.keys() == {"a", "b", "c", "d"}
    assert picture.notes_without_room == 4


def test_hidden_notes_are_ghosts_with_a_sign_and_facts_have_theirs() -> None:
    nodes = [
        GraphNode("a", "a"),
        GraphNode("b", "b", hidden=True),
        GraphNode("c", "c", kind="fact"),
        GraphNode("d", "d", hidden=True, kind="fact"),
    ]
    picture = lay_out(nodes, [GraphEdge("a", name) for name in "bcd"], "a", 40, 6)
    assert [(box.text, box.role) for box in picture.boxes] == [
        ("a", "focus"),
        ("⊘ b", "ghost"),
        ("◆ c", "node"),
        ("◇ d", "ghost"),
    ]
    assert picture.way_to["b"].stroke == "ghost"


def columns(picture: Picture) -> dict[str, int]:
    """The column of each note, 0 for the focus, counted from it to the right."""
    return {box.id: box.side * box.level for box in picture.boxes if box.id}


def orders(picture: Picture, among: set[str]) -> dict[int, list[str]]:
    """The notes of each column from above, of some notes."""
    found: dict[int, list[str]] = {}
    for box in sorted(picture.boxes, key=lambda box: box.y):
        if box.id in among:
            found.setdefault(box.side * box.level, []).append(box.id)
    return found


def chain_of(id: str, picture: Picture) -> list[str]:
    """The notes by which a note hangs on the focus."""
    found = []
    while id != picture.focus:
        id = picture.way_to[id].a
        found.append(id)
    return found


ROOM = (1500, 400)


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(graphs(), details, st.data())
def test_one_note_or_link_more_or_less_leaves_all_others_in_their_columns_and_in_their_order(
    graph: tuple[list[GraphNode], list[GraphEdge], list[tuple[str, int]]], detail: int, data: st.DataObject
) -> None:
    """The law of stability, for notes whose distance from the focus and whose way to it stay the same."""
    nodes, edges, _ = graph
    nodes = nodes or [GraphNode("n0", "n0")]
    before = lay_out(nodes, edges, "n0", *ROOM, detail=detail)
    change = data.draw(st.sampled_from(["note", "no note", "link", "no link"]))
    ends = st.sampled_from([node.id for node in nodes])
    if change == "note":
        nodes = [*nodes, GraphNode("new", "new")]
        pair = ("new", data.draw(ends))
        edges = [*edges, GraphEdge(*(pair if data.draw(st.booleans()) else pair[::-1]))]
    elif change == "no note":
        gone = data.draw(ends.filter(lambda id: id != "n0")) if len(nodes) > 1 else ""
        nodes = [node for node in nodes if node.id != gone]
    elif change == "link":
        edges = [*edges, GraphEdge(data.draw(ends), data.draw(ends))]
    else:
        edges = edges[1:]
    after = lay_out(nodes, edges, "n0", *ROOM, detail=detail, former=before)
    was, now = columns(before), columns(after)
    stay = {id for id in was if id in now and abs(was[id]) == abs(now[id])}
    moved = {id for id in stay if was[id] != now[id]}
    event(f"{change}: {len(moved)} of {len(stay)} change sides")
    # Only a link between the two sides brings what it joins to one side.
    assert not moved or change == "link"
    held = {id for id in stay - moved if chain_of(id, after) == chain_of(id, before)}
    assert orders(after, held) == orders(before, held)


def test_without_a_change_the_picture_before_is_drawn_again() -> None:
    nodes, edges = star(6)
    edges.append(GraphEdge("leaf 0", "leaf 4"))
    before = lay_out(nodes, edges, "middle", 60, 20)
    assert lay_out(nodes, edges, "middle", 60, 20, former=before) == before


def test_a_canvas_fits_all_notes_of_an_enlarged_picture() -> None:
    nodes, edges = star(40)
    data = GraphData(tuple(nodes), tuple(edges), "middle")
    for detail in (1, 2):
        picture = lay_out_fitting(data, 60, 12, detail)
        assert picture.box_of.keys() == {node.id for node in nodes}
        assert picture.width >= 60
        assert picture.height >= 40 * (2 * detail + 1)
    assert lay_out_fitting(data, 60, 12, None) == lay_out(nodes, edges, "middle", 60, 12)


def test_one_more_leaf_leaves_the_order_of_the_others() -> None:
    nodes, edges = star(6)
    before = lay_out(nodes[:-1], edges[:-1], "middle", 60, 20)
    after = lay_out(nodes, edges, "middle", 60, 20)

    def order(picture: Picture) -> list[str]:
        leaves = [box for box in picture.boxes if box.role == "node"]
        return [box.id for box in sorted(leaves, key=lambda box: box.y)]

    assert order(after)[:-1] == order(before)
    assert after.box_of["leaf 0"].x == before.box_of["leaf 0"].x


def test_lines_that_only_cross_do_not_touch() -> None:
    across = Wire("a", "b", "tree", {(1, 1): LEFT | RIGHT})
    along = Wire("c", "d", "cross", {(1, 1): UP | DOWN})
    assert Picture(3, 3, (), (along, across)).glyphs[1, 1][0] == "─"
    corner = Wire("a", "c", "tree", {(1, 1): LEFT | DOWN})
    assert Picture(3, 3, (), (along, corner)).glyphs[1, 1][0] == "┤"


@pytest.mark.parametrize(
    ("heavy", "light", "sign"), [(LEFT | RIGHT, 0, "━"), (RIGHT | DOWN, UP, "┢"), (0, 15, "┼")]
)
def test_heavy_and_light_arms_meet_in_one_character(heavy: int, light: int, sign: str) -> None:
    assert mixed(heavy, light) == sign


def test_every_meeting_of_arms_has_a_character() -> None:
    assert all(mixed(heavy, light) for heavy in range(16) for light in range(16) if heavy | light)


@pytest.mark.parametrize("title", ["", "   ", "\u0301", "\n"])
def test_a_note_without_a_title_can_still_be_seen(title: str) -> None:
    picture = lay_out([GraphNode("a", title)], [], "a", 30, 3)
    assert picture.boxes[0].text.strip() in (UNTITLED, "\u0301")
    assert cell_len(picture.boxes[0].text) > 0


def test_a_focus_that_is_not_there_gives_an_empty_picture() -> None:
    assert lay_out([GraphNode("a", "a")], [], "b", 30, 3).boxes == ()
    assert lay_out([], [], "", 30, 3).boxes == ()
