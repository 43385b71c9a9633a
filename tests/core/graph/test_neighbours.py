"""What lies around a note: its links, notes worth linking, and its surroundings as a small graph."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.drafts import make_link, make_note

from core.errors import NotFoundError
from core.graph.neighbours import neighbours, suggestions, surroundings
from core.model.note import Note, replace
from core.model.snapshot import Snapshot

A, B, C, D = (make_note(number) for number in range(1, 5))


def _linked(*pairs: tuple[int, int], hidden: tuple[int, ...] = (), count: int = 5) -> Snapshot:
    """A snapshot of notes 0 to `count` - 1, linked one way as the pairs say."""
    notes = [make_note(number, hidden=number in hidden) for number in range(count)]
    for one, other in pairs:
        notes[one] = replace(notes[one], links=(*notes[one].links, make_link(notes[other], f"r{other}")))
    return Snapshot(notes=tuple(notes))


def _numbers(notes: tuple[Note, ...]) -> list[int]:
    return [int(note.id[-8:], 16) for note in notes]


def test_a_link_that_stands_both_ways_is_shown_once_and_one_way_ones_where_they_point() -> None:
    one = replace(A, links=(make_link(B), make_link(C, "cause")))
    snapshot = Snapshot(
        notes=(one, replace(B, links=(make_link(A),)), C, replace(D, links=(make_link(A, "see"),)))
    )
    found = neighbours(snapshot, A.id)
    assert [(note.id, link.reason) for note, link in found.outgoing] == [(B.id, "kin"), (C.id, "cause")]
    assert [(note.id, link.reason) for note, link in found.incoming] == [(D.id, "see")]


def test_a_note_that_is_not_there_has_no_surroundings() -> None:
    for look in (neighbours, suggestions, surroundings):
        with pytest.raises(NotFoundError):
            look(Snapshot(notes=(A,)), B.id)  # type: ignore[operator]


def test_notes_with_two_uncommon_words_in_common_are_suggested_best_first() -> None:
    notes = (
        make_note(1, title="Retention policy", content="Backups of the ledger are studied weekly."),
        make_note(2, title="Study of policies", content="How long is retention?"),
        make_note(3, title="Backup and retention", content="Other."),
        make_note(4, title="Policy", content="Nothing else."),
        make_note(5, title="Retention policy study", content="Hidden.", hidden=True),
        make_note(6, title="Retention policy study", content="Elsewhere.", nugget_name="other"),
    )
    found = suggestions(Snapshot(notes=notes), notes[0].id)
    assert [suggestion.note.id for suggestion in found] == [notes[1].id, notes[2].id]
    assert set(found[0].shared) <= {"policy", "Retention", "studied"}
    assert len(found[0].shared) == 3


def test_linked_notes_and_words_that_everything_has_are_not_suggested() -> None:
    many = [make_note(number, title="deploy staging", content=f"word{number}") for number in range(40)]
    linked = replace(many[0], links=(make_link(many[1]),), content="rare one")
    many[0], many[1], many[2] = (
        linked,
        replace(many[1], content="rare one"),
        replace(many[2], content="rare one"),
    )
    found = suggestions(Snapshot(notes=tuple(many)), linked.id)
    assert [suggestion.note.id for suggestion in found] == [many[2].id]


def test_surroundings_reach_as_far_as_asked_and_show_lines_once() -> None:
    snapshot = _linked((0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (0, 0))
    for hops, reached in ((0, [0]), (1, [0, 1]), (2, [0, 1, 2]), (9, [0, 1, 2, 3, 4])):
        found = surroundings(snapshot, snapshot.notes[0].id, hops=hops)
        assert _numbers(found.notes) == reached
        assert len(found.edges) == len(reached) - 1
        assert found.left_out == 0
    assert list(found.hops.values()) == [0, 1, 2, 3, 4]


def test_hidden_notes_are_passed_over_unless_asked_for() -> None:
    snapshot = _linked((0, 1), (1, 2), hidden=(1,))
    assert _numbers(surroundings(snapshot, snapshot.notes[0].id, hops=3).notes) == [0]
    assert _numbers(surroundings(snapshot, snapshot.notes[0].id, hops=3, include_hidden=True).notes) == [
        0,
        1,
        2,
    ]


def test_a_note_merged_away_hangs_on_its_survivor_where_hidden_notes_are_shown() -> None:
    gone = replace(B, hidden=True, extra={"mergedInto": A.id})
    before = replace(C, hidden=True, extra={"mergedInto": B.id})
    odd = replace(D, hidden=True, extra={"mergedInto": ["nowhere"]})
    snapshot = Snapshot(notes=(A, gone, before, odd))
    found = surroundings(snapshot, A.id, hops=2, include_hidden=True)
    assert [note.id for note in found.notes] == [A.id, B.id, C.id]
    assert found.merged == ((B.id, A.id), (C.id, B.id))
    assert [note.id for note in surroundings(snapshot, A.id, hops=2).notes] == [A.id]
    linked = Snapshot(notes=(replace(A, links=(make_link(B),)), gone))
    assert surroundings(linked, A.id, include_hidden=True).merged == ()


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25),
    st.integers(0, 4),
    st.integers(1, 8),
)
def test_surroundings_hold_together(pairs: list[tuple[int, int]], hops: int, limit: int) -> None:
    snapshot = _linked(*pairs, count=8)
    found = surroundings(snapshot, snapshot.notes[0].id, hops=hops, limit=limit)
    assert 1 <= len(found.notes) <= limit
    assert list(found.hops.values()) == sorted(found.hops.values())
    assert max(found.hops.values()) <= hops
    inside = {note.id for note in found.notes}
    assert all(edge.a in inside and edge.b in inside and edge.a != edge.b for edge in found.edges)
    reached = {edge.a for edge in found.edges} | {edge.b for edge in found.edges} | {snapshot.notes[0].id}
    assert inside <= reached
