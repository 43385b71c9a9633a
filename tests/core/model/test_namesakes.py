"""Notes that bear one id, and facts that bear one key: how a draft tells them apart."""

from __future__ import annotations

from kits.drafts import draft_over, make_draft, make_note

from core.model.change import PERSON
from core.model.draft_facts import DraftFacts
from core.model.fact import Fact
from core.model.note import replace

FIRST, SECOND = make_note(1), make_note(1, title="Other")


def test_a_snapshot_knows_the_places_of_notes_that_bear_an_earlier_ones_id() -> None:
    assert make_draft(FIRST, make_note(2)).snapshot.namesakes == ()
    assert make_draft(FIRST, make_note(2), SECOND, FIRST).snapshot.namesakes == (2, 3)


def test_a_draft_shows_every_note_once_also_when_two_bear_one_id() -> None:
    draft = make_draft(FIRST, SECOND, FIRST)
    assert [note.title for note in draft.notes()] == ["Title 1", "Other", "Title 1"]
    draft.put(replace(FIRST, content="new"))
    draft.give_own_id(1)
    draft.drop_namesake(2)
    draft.put(make_note(5))
    assert [note.content for note in draft.notes()] == ["new", SECOND.content, make_note(5).content]


def test_a_note_that_got_its_own_id_can_be_changed_further_in_the_same_draft() -> None:
    draft = make_draft(FIRST, SECOND)
    given = draft.give_own_id(1)
    draft.put(replace(given, content="new"))
    [change] = draft.change_set("told apart").notes
    assert (change.id, change.before, change.index, change.namesake) == (FIRST.id, SECOND, 1, True)
    assert (change.note.id, change.note.content) == (given.id, "new")
    draft.remove(given.id)
    assert draft.change_set("told apart").notes[0].after is None
    assert list(draft.notes()) == [FIRST]


def test_taking_it_back_gives_the_note_its_former_id() -> None:
    draft = make_draft(FIRST, SECOND)
    given = draft.give_own_id(1)
    made = draft.change_set("told apart").inverse(id="x", at="t", author=PERSON, reason="back")
    [change] = made.notes
    assert (change.before, change.after, change.index, change.namesake) == (given, SECOND, 1, True)


def test_the_present_of_a_draft_is_a_memory_of_its_own() -> None:
    draft = make_draft(FIRST, facts={"k": "v"})
    assert draft.present() is draft.snapshot
    draft.put(replace(FIRST, content="new"))
    draft.put_fact("other", Fact(key="j", value="w"))
    present = draft.present()
    assert [note.content for note in present.notes] == ["new"]
    assert {nugget.name: len(nugget.facts) for nugget in present.nuggets} == {"memory": 1, "other": 1}
    assert draft_over(present).change_set("nothing").empty


def test_changes_of_facts_say_which_of_two_with_one_key_they_are_about() -> None:
    facts = tuple(Fact(key="k", value=value) for value in ("v", "w"))
    working = DraftFacts(facts)
    first = working.take("k")
    assert working.take("k") == (0, facts[1])
    assert first is not None
    working.put(first[1])
    changes = [(change.before, change.namesake, change.index) for change in working.changes("memory")]
    assert changes == [(facts[1], True, 1)]
