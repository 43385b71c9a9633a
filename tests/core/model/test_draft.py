"""A draft: edits over a snapshot that never changes, and the change set of all that differs."""

from __future__ import annotations

from kits.drafts import (
    NOW_TEXT,
    make_draft,
    make_fact_note,
    make_note,
)

from core.model.change import PERSON, Author, ChangeSet
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
        "abc", NOW_TEXT, "why", "import", "s-1",
    )  # fmt: skip
    assert not made.empty
    assert draft.change_set("why").author == PERSON
    assert str(PERSON) == "you"


def test_new_ids_are_free_also_of_removed_and_unreadable_notes() -> None:
    taken = make_note(0xA0)
    draft = make_draft(taken, set_aside=frozenset({"note-memory-000000a1"}))
    draft.remove(taken.id)
    assert draft.new_place("note", "memory", "")[0] == "note-memory-000000a2"


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
