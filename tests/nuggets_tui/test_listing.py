"""Orders of the list are the same however many notes there are, and are made once for each snapshot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.drafts import make_note

from core.model.note import Note
from core.model.snapshot import Snapshot
from nuggets_tui import listing as room
from nuggets_tui.listing import ORDERS, Order, filtered, listing, listing_at_hand

notes = st.lists(
    st.builds(
        lambda number, title, hits, day, hidden, tagged: make_note(
            number,
            title=title,
            hits=hits,
            hidden=hidden,
            updated_at=f"2026-05-{day:02}T00:00:00.000Z",
            tags=("memory", "own") if tagged else ("memory",),
        ),
        st.integers(0, 10**6),
        st.sampled_from(["a", "B", "ß", "é", ""]),
        st.integers(0, 2),
        st.integers(1, 3),
        st.booleans(),
        st.booleans(),
    ),
    max_size=40,
    unique_by=lambda note: note.id,
)


@given(notes, st.sampled_from(ORDERS), st.booleans())
def test_many_notes_are_ordered_as_few_are(made: list[Note], order: Order, hidden: bool) -> None:
    few = listing(Snapshot(notes=tuple(made)), order, hidden)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "MANY", 3)
        patch.setattr(room, "_PIECE", 4)
        many = listing(Snapshot(notes=tuple(made)), order, hidden)
    assert many.ids == few.ids == tuple(note.id for note in few.notes)
    assert {few.ids[place]: place for place in range(len(few.ids))} == few.places
    assert set(few.ids) == {note.id for note in made if hidden or not note.hidden}


@given(notes, st.sampled_from(ORDERS))
def test_a_filtered_list_stands_in_the_order_of_the_whole_one(made: list[Note], order: Order) -> None:
    snapshot = Snapshot(notes=tuple(made))
    newest = listing(snapshot, "newest", True).notes
    some = [note for note in newest if note.hits]
    whole = listing(Snapshot(notes=tuple(newest)), order, True)
    assert list(filtered(some, snapshot, order).ids) == [id for id in whole.ids if snapshot.by_id[id].hits]


def test_a_listing_of_many_is_at_hand_only_once_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MANY", 3)
    snapshot = Snapshot(notes=tuple(make_note(number) for number in range(5)))
    assert listing_at_hand(snapshot, "title", False) is None
    made = listing(snapshot, "title", False)
    assert listing_at_hand(snapshot, "title", False) is made
    assert listing(snapshot, "title", False) is made
    for order in ORDERS:
        listing(snapshot, order, True)
    assert listing_at_hand(snapshot, "title", False) is None
    few = Snapshot(notes=snapshot.notes[:3])
    assert listing_at_hand(few, "care", True) is not None
