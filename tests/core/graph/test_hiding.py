"""Hiding and bringing back: a hidden fact leaves its file whole and returns whole, to its own place."""

from __future__ import annotations

import itertools

import pytest
from kits.drafts import (
    NOW_TEXT,
    changed_fields,
    draft_over,
    facts_in,
    found,
    make_draft,
    make_fact_note,
    make_note,
)

from core.errors import ConflictError, InvalidInputError
from core.facts.edits import remember
from core.graph.edits import hide_note, unhide_note
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import HiddenFact
from core.model.snapshot import Snapshot

KEYS = "abcdef"
NOTES = tuple(make_fact_note(number, key, key.upper()) for number, key in enumerate(KEYS))
FACTS = {key: key.upper() for key in KEYS}


def test_hiding_a_plain_note_sets_archived_at_alone() -> None:
    note = make_note(1)
    draft = make_draft(note)
    after = hide_note(draft, note.id)
    assert changed_fields(note, after) == {"hidden", "archived_at"}
    assert (after.hidden, after.archived_at) == (True, NOW_TEXT)
    back = unhide_note(draft, note.id)
    assert back == note
    assert draft.change_set("both").empty


def test_a_hidden_fact_waits_in_its_note_with_all_that_belongs_to_it() -> None:
    fact = Fact(key="k", value="v", hits=4, last_hit_session="s-1", extra={"later": [1]})
    nugget = Nugget(meta=NuggetMeta(name="memory"), facts=(Fact(key="j", value="w"), fact))
    note = make_fact_note(9, "k", "v")
    draft = draft_over(Snapshot(notes=(note,), nuggets=(nugget,)))
    after = hide_note(draft, note.id)
    assert after.hidden_fact == HiddenFact(
        key="k", value="v", hits=4, last_hit_session="s-1", index=1, extra={"later": [1]}
    )
    assert facts_in(draft) == {"j": "w"}
    unhide_note(draft, note.id)
    held = draft.nugget("memory")
    assert held is not None
    assert held.facts == nugget.facts
    assert found(draft, note) == note


@pytest.mark.parametrize("way_out", list(itertools.permutations("bce")))
@pytest.mark.parametrize("way_back", list(itertools.permutations("bce")))
def test_facts_return_to_their_places_whatever_the_order(
    way_out: tuple[str, ...], way_back: tuple[str, ...]
) -> None:
    draft = make_draft(*NOTES, facts=FACTS)
    for key in way_out:
        hide_note(draft, NOTES[KEYS.index(key)].id)
    assert "".join(facts_in(draft)) == "adf"
    for key in way_back:
        unhide_note(draft, NOTES[KEYS.index(key)].id)
        in_order = "".join(facts_in(draft))
        assert in_order == "".join(sorted(in_order))
    assert facts_in(draft) == FACTS
    assert draft.change_set("both").empty


def test_a_fact_remembered_meanwhile_stays_behind_those_that_return() -> None:
    draft = make_draft(*NOTES, facts=FACTS)
    hide_note(draft, NOTES[5].id)
    hide_note(draft, NOTES[0].id)
    remember(draft, "memory", "new", "x")
    unhide_note(draft, NOTES[5].id)
    unhide_note(draft, NOTES[0].id)
    assert list(facts_in(draft)) == ["a", "b", "c", "d", "e", "f", "new"]


@pytest.mark.parametrize(("index", "place"), [(0, 0), (1, 1), (99, 2), (-5, 0)])
def test_an_index_from_another_time_never_fails(index: int, place: int) -> None:
    waiting = HiddenFact(key="k", value="v", index=index)
    note = make_fact_note(9, "k", "v", hidden=True, hidden_fact=waiting)
    draft = make_draft(note, facts={"j": "w", "l": "x"})
    unhide_note(draft, note.id)
    assert list(facts_in(draft)).index("k") == place


def test_a_key_that_was_remembered_anew_is_a_conflict_and_neither_is_lost() -> None:
    draft = make_draft(*NOTES, facts=FACTS)
    hide_note(draft, NOTES[0].id)
    hidden = found(draft, NOTES[0])
    fresh = remember(draft, "memory", "a", "anew")
    with pytest.raises(ConflictError, match="has a new fact") as caught:
        unhide_note(draft, NOTES[0].id)
    assert (caught.value.ours, caught.value.theirs) == ("A", "anew")
    assert caught.value.exit_code == 3
    assert found(draft, NOTES[0]) == hidden
    assert facts_in(draft)["a"] == "anew"
    assert fresh.id != NOTES[0].id


def test_a_fact_that_two_notes_mirror_leaves_with_the_last_of_them() -> None:
    twins = make_fact_note(1, "k", "v"), make_fact_note(2, "k", "v")
    draft = make_draft(*twins, facts={"k": "v"})
    assert hide_note(draft, twins[0].id).hidden_fact is None
    assert facts_in(draft) == {"k": "v"}
    assert hide_note(draft, twins[1].id).hidden_fact is not None
    assert facts_in(draft) == {}


def test_a_note_whose_fact_is_missing_is_hidden_all_the_same() -> None:
    note = make_fact_note(9, "k", "v")
    draft = make_draft(note, facts={})
    assert hide_note(draft, note.id).hidden_fact is None
    unhide_note(draft, note.id)
    assert facts_in(draft) == {"k": "v"}


def test_a_note_that_the_original_hid_without_its_fact_comes_back_to_it() -> None:
    note = make_fact_note(1, "k", "v", hidden=True)
    draft = make_draft(note, facts={"k": "v"})
    assert not unhide_note(draft, note.id).hidden
    assert facts_in(draft) == {"k": "v"}


def test_a_fact_note_of_a_nugget_that_no_file_can_hold_is_hidden_and_comes_back_without_a_fact() -> None:
    note = make_fact_note(1, "k", "v", nugget_name="../evil")
    draft = make_draft(note)
    assert hide_note(draft, note.id).hidden_fact is None
    assert unhide_note(draft, note.id) == note
    assert draft.change_set("both").empty


def test_a_fact_that_waits_for_a_nugget_no_file_can_hold_is_kept_where_it_is() -> None:
    waiting = HiddenFact(key="k", value="v", index=0)
    note = make_fact_note(1, "k", "v", nugget_name="../evil", hidden=True, hidden_fact=waiting)
    draft = make_draft(note)
    with pytest.raises(InvalidInputError, match="cannot be restored"):
        unhide_note(draft, note.id)
    assert draft.change_set("nothing").empty
