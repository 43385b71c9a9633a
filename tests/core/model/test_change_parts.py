"""What of a change can be taken back alone."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from kits.drafts import make_draft, make_fact_note, make_note

from core.facts.edits import forget, remember
from core.graph.edits import create_note, edit_note, hide_note, link_notes
from core.model.change import ChangeSet, NoteChange
from core.model.change_parts import change_parts
from core.model.draft import Draft
from core.model.note import Note, replace

ONE, TWO, THREE = make_note(1), make_note(2), make_note(3)


def _drafted(draft: Draft) -> ChangeSet:
    return draft.change_set("a reason")


def test_a_note_that_was_edited_and_linked_keeps_its_edit_when_the_other_end_is_taken_back() -> None:
    draft = make_draft(ONE, TWO)
    link_notes(draft, ONE.id, TWO.id, "kin")
    edit_note(draft, ONE.id, content="Other one.")
    edit_note(draft, TWO.id, content="Other two.")
    for part in change_parts(_drafted(draft)):
        changed = {change.id: change for change in part.notes}
        assert set(changed) == {ONE.id, TWO.id}
        edited = [
            id for id, c in changed.items() if c.before and c.after and c.before.content != c.after.content
        ]
        assert len(edited) == 1
        assert all(change.after is not None and change.after.links for change in part.notes)


EDITS = {
    "content": lambda draft, one, two: edit_note(draft, one, content="Other."),
    "tags": lambda draft, one, two: edit_note(draft, one, add_tags=["x"]),
    "link": lambda draft, one, two: link_notes(draft, one, two, "kin") if one != two else None,
    "hide": lambda draft, one, two: hide_note(draft, one),
    "create": lambda draft, one, two: create_note(draft, "memory", "New", "Text."),
    "remember": lambda draft, one, two: remember(draft, "memory", "user:new", "value"),
    "forget": lambda draft, one, two: forget(draft, "memory", "user:a"),
}
FACT = make_fact_note(0x10, "user:a", "a value")
STEPS = st.lists(st.tuples(st.sampled_from(sorted(EDITS)), st.integers(0, 3), st.integers(0, 3)), max_size=8)


@given(steps=STEPS)
def test_the_parts_together_touch_what_the_whole_touches_and_each_thing_but_links_once(
    steps: list[tuple[str, int, int]],
) -> None:
    notes = (ONE, TWO, THREE, FACT)
    draft = make_draft(*notes, facts={"user:a": "a value"})
    for kind, one, two in steps:
        EDITS[kind](draft, notes[one].id, notes[two].id)
    whole = _drafted(draft)
    found = change_parts(whole)
    assert [fact for part in found for fact in part.facts] == sorted(
        whole.facts, key=lambda fact: [f for part in found for f in part.facts].index(fact)
    )
    assert {change.id for part in found for change in part.notes} == {change.id for change in whole.notes}
    for change in whole.notes:
        touching = [c for part in found for c in part.notes if c.id == change.id]
        more_than_links = [c for c in touching if not _only_links(c)]
        assert len(more_than_links) <= 1
        assert more_than_links in ([], [change])
    assert all(msgspec.structs.replace(part, id="") != part for part in found)


def _only_links(change: NoteChange) -> bool:
    before, after = change.before, change.after
    if before is None or after is None:
        return False
    return _without_links(before) == _without_links(after)


def _without_links(note: Note) -> Note:
    return replace(note, links=(), vector=note.vector.__class__(seed=0, basis=()), updated_at="")
