"""What a snapshot takes over from the one before it is what it would have found out itself."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.drafts import make_fact_note, make_link, make_note

from core.model import compare
from core.model.compare import differences
from core.model.note import HiddenFact, Note, replace
from core.model.snapshot import Snapshot, inherit_indexes

LOOK_UPS = ("by_id", "places", "visible", "links_in", "fact_notes", "hidden_facts", "disputing")
POOL = tuple(
    make_note(number) if number % 3 else make_fact_note(number, f"key {number}", "a value")
    for number in range(1, 13)
)


def edited(note: Note, way: str) -> Note:
    """The note changed in one of several ways."""
    return {
        "same": note,
        "text": replace(note, content=note.content + "!"),
        "equal": replace(note),
        "hidden": replace(note, hidden=not note.hidden),
        "linked": replace(note, links=(*note.links, make_link(POOL[0]))),
        "with a fact": replace(note, hidden=True, hidden_fact=HiddenFact(key="k", value="v", index=1)),
        "disputing": replace(note, extra={"origin": {"disputes": POOL[0].id}}),
        "renamed": replace(note, id=note.id + "0"),
    }[way]


WAYS = st.sampled_from(
    ["same", "same", "same", "text", "equal", "hidden", "linked", "with a fact", "disputing", "renamed"]
)


@st.composite
def two_snapshots(draw: st.DrawFn) -> tuple[Snapshot, Snapshot]:
    """A memory and what became of it: edited, added to, cut, doubled."""
    count = draw(st.integers(0, 9))
    before = [edited(note, draw(WAYS)) for note in POOL[:count]]
    after = [edited(note, draw(WAYS)) for note in before]
    after += [edited(note, draw(WAYS)) for note in POOL[count : count + draw(st.integers(0, 3))]]
    if after and draw(st.booleans()):
        place = draw(st.integers(0, len(after) - 1))
        instead = [], [after[place], after[place]], [after[0]]
        after[place : place + 1] = instead[draw(st.integers(0, 2))]
    return Snapshot(notes=tuple(before)), Snapshot(notes=tuple(after))


@given(two_snapshots(), st.sets(st.sampled_from(LOOK_UPS)))
def test_look_ups_taken_over_are_those_made_anew(two: tuple[Snapshot, Snapshot], made: set[str]) -> None:
    before, after = two
    for name in made:
        getattr(before, name)
    anew = with_fields(after)
    inherit_indexes(before, after)
    for name in LOOK_UPS:
        found, expected = getattr(after, name), getattr(anew, name)
        assert found == expected
        # Nobody goes through the places in their order.
        assert name == "places" or list(found) == list(expected)


@given(two_snapshots())
def test_a_few_changes_are_told_as_many_are(two: tuple[Snapshot, Snapshot]) -> None:
    quick = differences(*two)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare, "few_changes", lambda *_: None)
        thorough: Any = differences(*two)
    assert quick == thorough


def test_the_former_snapshot_keeps_its_own() -> None:
    before, after = Snapshot(notes=POOL[:3]), Snapshot(notes=POOL[:5])
    assert len(before.by_id) == 3
    inherit_indexes(before, after)
    assert len(before.by_id) == 3
    assert len(after.by_id) == 5
