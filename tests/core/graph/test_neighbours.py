"""What lies around a note: its links, notes worth linking, and its surroundings as a small graph."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.drafts import make_link, make_note

from core.errors import NotFoundError
from core.graph.neighbours import linked, neighbours, suggestions, surroundings
from core.model.note import replace
from core.model.snapshot import Snapshot

A, B, C, D = (make_note(number) for number in range(1, 5))


def _linked(*pairs: tuple[int, int], hidden: tuple[int, ...] = (), count: int = 5) -> Snapshot:
    """A snapshot of notes 0 to `count` - 1, linked one way as the pairs say."""
    notes = [make_note(number, hidden=number in hidden) for number in range(count)]
    for one, other in pairs:
        notes[one] = replace(notes[one], links=(*notes[one].links, make_link(notes[other], f"r{other}")))
    return Snapshot(notes=tuple(notes))


def _numbers(ids: Iterable[str]) -> list[int]:
    return [int(id[-8:], 16) for id in ids]


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


def test_surroundings_reach_as_far_as_asked_nearest_first() -> None:
    snapshot = _linked((0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (0, 0))
    for hops, reached in ((0, [0]), (1, [0, 1]), (2, [0, 1, 2]), (9, [0, 1, 2, 3, 4])):
        found = surroundings(snapshot, snapshot.notes[0].id, hops=hops)
        assert _numbers(found) == reached
        assert list(found.values()) == reached


def test_hidden_notes_are_passed_over_unless_asked_for() -> None:
    snapshot = _linked((0, 1), (1, 2), hidden=(1,))
    assert _numbers(surroundings(snapshot, snapshot.notes[0].id, hops=3)) == [0]
    assert _numbers(surroundings(snapshot, snapshot.notes[0].id, hops=3, include_hidden=True)) == [0, 1, 2]


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25),
    st.integers(0, 4),
    st.integers(1, 8),
)
def test_surroundings_hold_together(pairs: list[tuple[int, int]], hops: int, limit: int) -> None:
    snapshot = _linked(*pairs, count=8)
    found = surroundings(snapshot, snapshot.notes[0].id, hops=hops, limit=limit)
    assert 1 <= len(found) <= limit
    assert list(found.values()) == sorted(found.values())
    assert max(found.values()) <= hops
    for id, distance in found.items():
        assert not distance or any(found.get(other) == distance - 1 for other in linked(snapshot, id))
