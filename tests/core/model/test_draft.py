"""A draft: edits over a snapshot that never changes, and the change set of all that differs."""

from __future__ import annotations

from kits.drafts import (
    NOW_TEXT,
    found,
    make_draft,
    make_fact_note,
    make_note,
)

from core.model.change import PERSON, Author, ChangeSet
from core.model.draft_facts import index_among_all
from core.model.fact import Fact
from core.model.note import replace


def test_a_snapshot_never_changes_under_a_draft() -> None:
    note = make_fact_note(1, "k", "v")
    draft = make_draft(note, facts={"k": "v"})
    snapshot = draft.snapshot
    draft.put(replace(note, content="new"))
    draft.put_fact("memory", Fact(key="k", value="new"))
    draft.take_fact("memory", "k")
    draft.remove(note.id)
    assert snapshot.notes == (note,)
    assert [fact.value for fact in snapshot.nuggets[0].facts] == ["v"]


def test_what_was_put_back_as_it_was_is_no_change() -> None:
    note = make_fact_note(1, "k", "v")
    draft = make_draft(note, facts={"j": "w", "k": "v", "l": "x"})
    draft.put(replace(note, content="new"))
    draft.put(note)
    taken = draft.take_fact("memory", "k")
    assert taken is not None
    draft.put_fact("memory", taken[1], index=taken[0])
    draft.rename_fact("memory", "j", Fact(key="z", value="w"))
    draft.rename_fact("memory", "z", Fact(key="j", value="w"))
    made = draft.put(make_note(5))
    draft.remove(made.id)
    assert draft.change_set("nothing").empty


def test_a_change_set_names_author_reason_time_and_kind() -> None:
    draft = make_draft(make_note(1))
    draft.put(make_note(2))
    made = draft.change_set("why", author=Author("agent", "s-1"), kind="import", id="abc")
    assert (made.id, made.at, made.reason, made.kind, str(made.author)) == (
        "abc",
        NOW_TEXT,
        "why",
        "import",
        "s-1",
    )
    assert not made.empty
    assert draft.change_set("why").author == PERSON
    assert str(PERSON) == "you"


def test_new_ids_are_free_also_of_removed_and_unreadable_notes() -> None:
    taken = make_note(0xA0)
    draft = make_draft(taken, set_aside=frozenset({"note-memory-000000a1"}))
    draft.remove(taken.id)
    assert draft.new_id("note", "memory") == "note-memory-000000a2"


def test_the_note_of_a_fact_is_found_visible_ones_first_as_the_draft_has_it() -> None:
    hidden, shown = make_fact_note(1, "k", "v", hidden=True), make_fact_note(2, "k", "v")
    draft = make_draft(hidden, shown, make_fact_note(3, "k", "v", nugget_name="other"))
    assert draft.fact_note("memory", "k") == shown
    assert draft.fact_note("memory", "k", hidden=True) == hidden
    assert draft.fact_note("memory", "K") is None
    draft.put(replace(shown, source_key="l", title="l"))
    assert draft.fact_note("memory", "k") == hidden
    assert draft.fact_note("memory", "l") == found(draft, shown)
    draft.remove(hidden.id)
    assert draft.fact_note("memory", "k") is None


def test_taking_a_change_set_back_swaps_before_and_after() -> None:
    note = make_fact_note(1, "k", "v")
    draft = make_draft(note, facts={"j": "w", "k": "v"})
    draft.put(replace(note, title="kk", source_key="kk"))
    draft.rename_fact("memory", "k", Fact(key="kk", value="v"))
    draft.put_file("MEMORY.md", b"a", b"b")
    draft.ensure_nugget("fresh")
    made = draft.change_set("rename")
    back = made.inverse(id="back", at="later", author=PERSON, reason="took back")
    assert (back.kind, back.id, back.at) == ("undo", "back", "later")
    assert (back.notes[0].before, back.notes[0].after) == (made.notes[0].after, made.notes[0].before)
    assert (back.facts[0].key, back.facts[0].after) == ("kk", Fact(key="k", value="v"))
    assert (back.files[0].before, back.files[0].after) == (b"b", b"a")
    assert back.nuggets[0].after is None
    twice = back.inverse(id=made.id, at=made.at, author=made.author, reason=made.reason)
    assert _without_kind(twice) == _without_kind(made)


def _without_kind(change_set: ChangeSet) -> object:
    return change_set.notes, change_set.facts, change_set.nuggets, change_set.files


def test_an_index_counts_hidden_facts_in_and_a_place_does_not() -> None:
    assert [index_among_all(place, [1, 3]) for place in range(4)] == [0, 2, 4, 5]
    for hidden in ([], [0], [0, 1, 2], [2, 7]):
        for place in range(6):
            index = index_among_all(place, hidden)
            assert index not in hidden
            assert index - sum(other < index for other in hidden) == place
