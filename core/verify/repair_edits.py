"""Shared by repairs: the note as the draft has it, and where a replaced value is kept."""

from __future__ import annotations

from core.model.build import new_note
from core.model.draft import Draft
from core.model.note import HiddenFact, Note, replace


def present(draft: Draft, id: str) -> Note:
    """The note that a rule found, as earlier repairs have left it."""
    note = draft.note(id)
    assert note is not None
    return note


def keep_in_hidden_note(draft: Draft, nugget: str, kept: HiddenFact) -> Note:
    """Makes the note that forgetting such a fact would leave behind, from which it can be brought back."""
    note = new_note(draft, "fact", nugget, kept.key, kept.value)
    return draft.put(
        replace(
            note,
            hits=kept.hits,
            last_hit_session=kept.last_hit_session,
            hidden=True,
            archived_at=draft.at,
            hidden_fact=kept,
        )
    )
