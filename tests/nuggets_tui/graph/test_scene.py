"""The overview's picture is true: every shown note has a point in it, lines stay inside, names cover no other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.hostile import HOSTILE, RAW
from kits.laws import examples
from rich.cells import cell_len

from core.model.note import Link, Note
from core.model.snapshot import Snapshot
from nuggets_tui.graph.overview import (
    BLANK,
    CHOSEN_LINE,
    GHOST,
    Camera,
    Scene,
    beyond,
    coloured,
    fitting,
    lay_out_overview,
    lines,
    nearest,
    next_disc,
)

sizes = st.tuples(st.integers(1, 150), st.integers(1, 45))
WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))


@st.composite
def memories(draw: st.DrawFn) -> Snapshot:
    count = draw(st.integers(1, 40))
    ends = st.integers(0, count).map("n{}".format)
    return Snapshot(
        notes=tuple(
            Note(
                id=f"n{number}",
                nugget_name=draw(st.sampled_from(["web", "ops", *HOSTILE])),
                title=draw(st.sampled_from(["note", *HOSTILE])),
                content="",
                tags=tuple(draw(st.lists(st.sampled_from(["auth", "db", *HOSTILE]), max_size=2))),
                links=tuple(Link(to=to) for to in draw(st.lists(ends, max_size=3))),
                hidden=draw(st.booleans()),
                kind=draw(st.sampled_from(["note", "fact"])),
            )
            for number in range(count)
        )
    )


def scene_of(
    snapshot: Snapshot,
    size: tuple[int, int],
    *,
    hidden: bool = True,
    closer: float = 1.0,
    nugget: int | None = None,
) -> Scene:
    overview = lay_out_overview(snapshot)
    discs = [disc for disc in overview.communities if nugget in (None, disc.nugget)]
    whole = fitting(discs, *size)
    camera = whole.closer(closer, whole.x, whole.y)
    return Scene(overview, snapshot.by_id, camera, coloured(overview, {}, nugget is not None), nugget, hidden)


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(memories(), sizes, st.booleans())
def test_every_shown_note_has_a_point_inside_the_picture(
    snapshot: Snapshot, size: tuple[int, int], hidden: bool
) -> None:
    scene = scene_of(snapshot, size, hidden=hidden)
    signs, styles = scene.cells
    assert signs.shape == styles.shape == (size[1], size[0])
    shown = np.flatnonzero(scene.shown)
    assert shown.tolist() == scene.in_view.tolist()
    for number in shown.tolist():
        column, row = scene.cell(number)
        assert signs[row, column] != BLANK
        assert scene.crowd[row, column] > 0
    assert scene.crowd.sum() == len(shown)
    if not hidden:
        assert not (styles == GHOST).any()


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(memories(), sizes, st.floats(1, 50), st.integers(0, 39))
def test_names_and_lines_stay_inside_at_any_distance(
    snapshot: Snapshot, size: tuple[int, int], closer: float, number: int
) -> None:
    scene = scene_of(snapshot, size, closer=closer)
    number %= len(snapshot.notes)
    signs, styles = scene.cells_with(number)
    assert signs.shape == styles.shape == (size[1], size[0])
    text = signs.astype("<u4").tobytes().decode("utf-32-le")
    assert cell_len(text) == size[0] * size[1]
    taken = np.zeros((size[1], size[0]), dtype=bool)
    for label in itertools.chain(*scene.labels.values()):
        width = cell_len(label.text)
        cells = (label.row, slice(label.column, label.column + width))
        assert 0 <= label.row < size[1]
        assert 0 <= label.column <= size[0] - width
        assert not taken[cells].any()
        assert not RAW.search(label.text)
        taken[cells] = True


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(memories(), sizes)
def test_arrows_lead_onwards_in_their_direction_and_never_to_what_is_not_shown(
    snapshot: Snapshot, size: tuple[int, int]
) -> None:
    scene = scene_of(snapshot, size, hidden=False)
    for number in np.flatnonzero(scene.shown).tolist():
        column, row = scene.cell(number)
        for across, down in WAYS:
            for found in (beyond(scene, number, across, down), next_disc(scene, number, across, down)):
                assert found is None or scene.shown[found]
            found = beyond(scene, number, across, down)
            if found is not None:
                there = scene.cell(found)
                assert (there[0] - column) * across + (there[1] - row) * down > 0
        assert scene.cell(nearest(scene, column, row) or 0) is not None


def test_one_nugget_alone_leaves_out_the_others() -> None:
    notes = tuple(
        Note(id=f"n{n}", nugget_name=("web", "ops")[n % 2], title="", content="") for n in range(20)
    )
    scene = scene_of(Snapshot(notes=notes), (40, 10), nugget=0)
    assert {scene.overview.ids[number] for number in scene.in_view} == {f"n{n}" for n in range(1, 20, 2)}


def test_a_line_reaches_from_end_to_end_and_is_cut_off_at_the_rim() -> None:
    camera = Camera(4, 2)
    across = lines(camera, np.array([(0, 0)]), np.array([(7, 0)]))
    assert (across[0] == 0x09).all()
    assert not across[1].any()
    cut_off = lines(camera, np.array([(-1000, 4)]), np.array([(1000, 4)]))
    assert (cut_off[1] == 0x09).all()
    assert not lines(camera, np.array([(-9, -9)]), np.array([(-1, 900)])).any()


def test_the_links_of_the_marked_note_are_drawn_to_their_ends() -> None:
    notes = (
        Note(id="a", nugget_name="web", title="", content="", links=(Link(to="b"),)),
        Note(id="b", nugget_name="ops", title="", content=""),
    )
    scene = scene_of(Snapshot(notes=notes), (40, 10))
    _, styles = scene.cells_with(0)
    for number in (0, 1):
        column, row = scene.cell(number)
        assert styles[row, column] == CHOSEN_LINE


def test_nuggets_differ_in_colour_and_keep_the_colours_they_had() -> None:
    notes = tuple(
        Note(id=f"n{n}", nugget_name=f"nugget {n % 5}", title="", content="", tags=(f"t{n % 15}",))
        for n in range(150)
    )
    overview = lay_out_overview(Snapshot(notes=notes))
    by_nugget = coloured(overview, {}, apart=False)
    assert len({by_nugget[at] for at, _ in enumerate(overview.communities)}) == 5
    keys = {disc.key: 3 for disc in overview.nuggets}
    assert set(coloured(overview, keys, apart=False)) == {3}
