"""The picture of a note's surroundings is true: nothing overlaps, every line leads where it says, all is counted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.hostile import HOSTILE
from kits.laws import examples
from rich.cells import cell_len

from nuggets_tui.graph.near import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Cell,
    Direction,
    GraphData,
    GraphEdge,
    GraphNode,
    Picture,
    Wire,
    drawn,
    lay_out,
    step,
)

LONG = "wide 語 and [/x] " * 700
DIRECTIONS: tuple[Direction, ...] = ("left", "right", "up", "down")
SIDES = {UP: (0, -1), DOWN: (0, 1), LEFT: (-1, 0), RIGHT: (1, 0)}
OPPOSITE = {UP: DOWN, DOWN: UP, LEFT: RIGHT, RIGHT: LEFT}
titles = st.one_of(st.text(max_size=30), st.sampled_from([*HOSTILE, LONG, "語" * 40]))


@st.composite
def graphs(draw: st.DrawFn) -> GraphData:
    count = draw(st.integers(0, 24))
    kinds = st.sampled_from(["note", "fact"])
    nodes = [GraphNode(f"n{n}", draw(titles), draw(st.booleans()), draw(kinds)) for n in range(count)]
    ends = st.integers(0, max(count, 1))
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=50))
    # Most nodes hang on an earlier one, so that pictures have several columns.
    pairs += [(draw(st.integers(0, n - 1)), n) for n in range(1, count) if draw(st.integers(0, 4))]
    left_out = draw(
        st.dictionaries(st.integers(0, max(count - 1, 0)).map("n{}".format), st.integers(0, 999), max_size=3)
    )
    edges = tuple(GraphEdge(f"n{a}", f"n{b}") for a, b in pairs)
    return GraphData(tuple(nodes), edges, "n0", left_out)


def star(count: int, *, inwards: bool = False) -> GraphData:
    names = ["middle", *(f"leaf {n}" for n in range(count))]
    edges = [GraphEdge(name, "middle") if inwards else GraphEdge("middle", name) for name in names[1:]]
    return GraphData(tuple(GraphNode(name, name) for name in names), tuple(edges), "middle")


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
@given(graphs(), st.tuples(st.integers(-1, 170), st.integers(-1, 45)))
def test_any_picture_is_true_whole_reached_by_arrows_and_the_same_again(
    data: GraphData, size: tuple[int, int]
) -> None:
    picture = lay_out(data, *size)
    assert lay_out(data, *size) == picture
    taken: set[Cell] = set()
    for box in picture.boxes:
        cells = {(box.x + x, box.y + y) for x in range(box.width) for y in range(box.height)}
        assert not cells & taken
        taken |= cells
        assert all(0 <= x < picture.width and 0 <= y < picture.height for x, y in cells)
        assert cell_len(box.text) + (4 if box.role == "focus" else 2) == box.width
        assert "\x1b" not in box.text
    linked = {frozenset((edge.a, edge.b)) for edge in data.edges}
    for wire in picture.wires:
        assert not wire.b or frozenset((wire.a, wire.b)) in linked
        assert touched(wire, picture) == {wire.a, wire.b}
        assert not taken & wire.cells.keys()
        loose = 0
        for (x, y), arms in wire.cells.items():
            for arm, (dx, dy) in SIDES.items():
                loose += bool(arms & arm) and not wire.cells.get((x + dx, y + dy), 0) & OPPOSITE[arm]
        assert loose == 2
    if data.nodes and size[0] >= 6 and size[1] >= 1:
        told = sum(int(box.text.split()[1]) for box in picture.boxes if not box.id)
        every = len(data.nodes) + sum(data.left_out.values())
        assert len(picture.box_of) + told + picture.without_room == every
        reached = {picture.focus}
        for id in [*reached, *picture.box_of]:
            reached |= {step(picture, id, way) for way in DIRECTIONS}
        assert reached >= picture.box_of.keys()


@pytest.mark.parametrize("count", [1, 9, 200])
def test_what_finds_no_room_is_counted_where_it_would_hang(count: int) -> None:
    picture = lay_out(star(count), 60, 9)
    (more,) = [box.text for box in picture.boxes if not box.id] or [""]
    assert more == (f"… {count - 8} more" if count > 9 else "")


def test_what_only_links_to_the_note_stands_at_its_left_where_there_is_room() -> None:
    assert {box.column for box in lay_out(star(3, inwards=True), 90, 9).boxes} == {0, -1}
    assert {box.column for box in lay_out(star(3, inwards=True), 40, 9).boxes} == {0, 1}
    assert {wire.arrow[1] for wire in lay_out(star(3), 90, 9).wires if wire.arrow} == {"▸"}


def test_light_and_heavy_arms_have_a_character_of_their_own() -> None:
    assert drawn(0, DOWN | RIGHT) == "╭"
    assert drawn(LEFT | RIGHT, UP | DOWN) == "┿"
    assert all(drawn(heavy, 15 & ~heavy) for heavy in range(16))
