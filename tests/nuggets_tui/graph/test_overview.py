"""The overview places every note, the same each time, near what it belongs to, and steadily."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.hostile import HOSTILE
from kits.laws import examples

from core.model.note import Link, Note, replace
from core.model.snapshot import Snapshot
from nuggets_tui.graph.overview import Overview, lay_out_overview


def note(id: str, *to: str, nugget: str = "web", tags: tuple[str, ...] = (), **more: object) -> Note:
    links = tuple(Link(to=other) for other in to)
    fields: dict[str, object] = {"title": id, "content": ""} | more
    return Note(id=id, nugget_name=nugget, tags=tags, links=links, **fields)  # type: ignore[arg-type]


@st.composite
def memories(draw: st.DrawFn) -> Snapshot:
    count = draw(st.integers(0, 40))
    ids = st.integers(0, max(count, 1)).map("n{}".format)
    names = st.sampled_from(["web", "ops", *HOSTILE])
    return Snapshot(
        notes=tuple(
            note(
                f"n{draw(st.integers(0, 3)) if draw(st.integers(0, 20)) == 0 else number}",
                *draw(st.lists(ids, max_size=3)),
                nugget=draw(names),
                tags=tuple(
                    draw(st.lists(st.sampled_from(["auth", "scope:user", "db", *HOSTILE]), max_size=3))
                ),
                hidden=draw(st.booleans()),
                extra={"mergedInto": draw(ids)} if draw(st.booleans()) else {},
                title=draw(st.sampled_from([f"note {number}", *HOSTILE])),
            )
            for number in range(count)
        )
    )


def many(count: int, seed: int = 1, tags: bool = True) -> Snapshot:
    """Notes of three nuggets with tags, and links mostly among those of one tag."""
    chance = random.Random(seed)
    notes = []
    for number in range(count):
        topic = number % 8
        near = f"n{chance.randrange(count) // 8 * 8 + topic}"
        to = [near] if chance.random() < 0.7 else []
        to += [f"n{chance.randrange(count)}"] if chance.random() < 0.1 else []
        own = (f"topic{topic}",) if tags and chance.random() < 0.8 else ()
        notes.append(note(f"n{number}", *to, nugget=f"nugget{topic % 3}", tags=own, title=f"about {topic}"))
    return Snapshot(notes=tuple(notes))


def away(one: Overview, other: Overview) -> np.ndarray:
    """How far the notes of both lie apart, in parts of the whole."""
    ids = [id for id in one.ids if id in other.number]
    first = one.place[[one.number[id] for id in ids]]
    second = other.place[[other.number[id] for id in ids]]
    apart: np.ndarray = np.hypot(*(first - second).T) / np.ptp(one.place, axis=0).max()
    return apart


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(memories())
def test_every_note_has_a_place_in_the_disc_of_its_community(snapshot: Snapshot) -> None:
    overview = lay_out_overview(snapshot)
    assert overview.ids == tuple(snapshot.by_id)
    assert np.isfinite(overview.place).all()
    for number, place in enumerate(overview.place):
        disc = overview.communities[overview.community[number]]
        assert np.hypot(*(place - (disc.x, disc.y))) <= disc.radius * 1.001
        assert overview.nuggets[disc.nugget].name == snapshot.by_id[overview.ids[number]].nugget_name
    assert sum(disc.count for disc in overview.communities) == len(overview.ids)
    assert sum(disc.count for disc in overview.nuggets) == len(overview.ids)
    assert all(a != b for a, b in overview.links.tolist())


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(memories())
def test_discs_do_not_overlap(snapshot: Snapshot) -> None:
    discs = lay_out_overview(snapshot).communities
    for number, one in enumerate(discs):
        for other in discs[:number]:
            assert np.hypot(one.x - other.x, one.y - other.y) >= (one.radius + other.radius) * 0.97


@pytest.mark.slow
@settings(max_examples=examples(20), deadline=None)
@given(memories())
def test_the_same_memory_lies_the_same_each_time_and_after_itself(snapshot: Snapshot) -> None:
    first = lay_out_overview(snapshot)
    again = lay_out_overview(Snapshot(notes=tuple(snapshot.notes)))
    after = lay_out_overview(snapshot, first)
    assert np.array_equal(first.place, again.place)
    assert np.array_equal(first.place, after.place)


def test_a_small_change_moves_few_notes_and_none_of_the_others_far() -> None:
    """The law of stability: 95 in 100 notes stay within a twentieth of the picture of where they were."""
    for seed in range(4):
        for change in ["a note", "no note", "a link"]:
            snapshot = many(800, seed)
            before = lay_out_overview(snapshot)
            chance = random.Random(seed)
            one, other = chance.sample(snapshot.notes, 2)
            notes = {
                "a note": (*snapshot.notes, replace(one, id="new", links=(Link(to=one.id),))),
                "no note": tuple(each for each in snapshot.notes if each is not one),
                "a link": tuple(
                    replace(each, links=(*each.links, Link(to=other.id))) if each is one else each
                    for each in snapshot.notes
                ),
            }[change]
            moved = away(before, lay_out_overview(Snapshot(notes=notes), before))
            assert (moved <= 0.05).mean() >= 0.95
            assert (moved <= 0.01).mean() >= 0.6


def test_a_new_nugget_and_a_new_community_leave_the_others_where_they_were() -> None:
    snapshot = many(300)
    before = lay_out_overview(snapshot)
    more = tuple(note(f"new{number}", nugget="other", tags=("fresh",)) for number in range(40))
    assert away(before, lay_out_overview(Snapshot(notes=(*snapshot.notes, *more)), before)).max() < 1e-9


def test_communities_are_told_by_tags_and_bear_their_names() -> None:
    overview = lay_out_overview(many(400))
    names = {(overview.nuggets[disc.nugget].name, disc.name) for disc in overview.communities if disc.name}
    assert names == {(f"nugget{topic % 3}", f"topic{topic}") for topic in range(8)}


def test_without_tags_links_tell_communities_and_titles_name_them() -> None:
    chance = random.Random(2)
    notes = tuple(
        note(
            f"n{number}",
            *(f"n{number // 50 * 50 + chance.randrange(50)}" for _ in range(3)),
            title=f"{('jwt', 'deploy', 'invoice')[number // 50]} number {number}",
        )
        for number in range(150)
    )
    overview = lay_out_overview(Snapshot(notes=notes))
    large = [disc for disc in overview.communities if disc.count > 15]
    assert {disc.name.split()[0] for disc in large} == {"jwt", "deploy", "invoice"}
    for disc in large:
        number = overview.communities.index(disc)
        groups = {int(overview.ids[at][1:]) // 50 for at in np.flatnonzero(overview.community == number)}
        assert len(groups) == 1


def test_without_links_notes_lie_by_nugget_and_tag() -> None:
    notes = tuple(
        note(f"n{n}", nugget=f"nugget{n % 2}", tags=("auth",) if n % 4 < 2 else ("db",)) for n in range(80)
    )
    overview = lay_out_overview(Snapshot(notes=notes))
    assert len(overview.communities) == 4
    assert not len(overview.links)


def test_linked_notes_lie_nearer_to_each_other_than_others_do() -> None:
    overview = lay_out_overview(many(800))
    one, other = overview.links.T
    same = overview.community[one] == overview.community[other]
    linked = np.hypot(*(overview.place[one] - overview.place[other])[same].T).mean()
    shuffled = np.random.default_rng(1).permutation(len(overview.ids))
    rank = shuffled[np.argsort(overview.community[shuffled], kind="stable")]
    pairs = np.stack((rank[:-1], rank[1:]), axis=1)
    pairs = pairs[overview.community[pairs[:, 0]] == overview.community[pairs[:, 1]]]
    others = np.hypot(*(overview.place[pairs[:, 0]] - overview.place[pairs[:, 1]]).T).mean()
    assert linked < 0.75 * others


def test_a_note_merged_away_is_joined_with_its_survivor() -> None:
    gone = note("gone", hidden=True, extra={"mergedInto": "kept"})
    overview = lay_out_overview(Snapshot(notes=(note("kept"), gone)))
    assert overview.linked(overview.number["kept"]).tolist() == [overview.number["gone"]]
    assert overview.hidden.tolist() == [False, True]


def test_a_hub_a_single_note_and_an_empty_memory_have_a_picture() -> None:
    leaves = tuple(note(f"n{number}") for number in range(5000))
    hub = note("hub", *(leaf.id for leaf in leaves), "hub", "nowhere")
    overview = lay_out_overview(Snapshot(notes=(hub, *leaves)))
    assert len(overview.linked(0)) == 5000
    assert len(lay_out_overview(Snapshot(notes=(note("alone", "alone"),))).place) == 1
    assert lay_out_overview(Snapshot()).ids == ()


@dataclass
class Stop(Exception):
    """Nobody waits any more."""


@pytest.mark.slow
def test_the_work_pauses_often_and_ends_when_nobody_waits() -> None:
    pauses = 0

    def count() -> None:
        nonlocal pauses
        pauses += 1

    lay_out_overview(many(5000), pause=count)
    assert pauses >= 10

    def stop() -> None:
        raise Stop

    with pytest.raises(Stop):
        lay_out_overview(many(50), pause=stop)
