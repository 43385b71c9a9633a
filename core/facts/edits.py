"""Edits of facts: remember, forget, clear and record a recall; each keeps the fact's note in step."""

from __future__ import annotations

from typing import Final

import msgspec

from core.errors import ErrorCode, InvalidInputError
from core.model.build import as_hidden_fact, new_note
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.infer import MetaInput, said_anew
from core.model.names import DEFAULT_NUGGET
from core.model.note import Note, replace
from core.text.normalise import normalise_content, normalise_line

_KEPT: Final = "nothing was written"


def remember(draft: Draft, nugget: str, key: str, value: str, meta: MetaInput | None = None) -> Note:
    """Stores a fact and its note; a key that is there gets the new value and keeps place, id and links.

    What an agent says is not taken for what the user said. Returns the fact's note. Raises InvalidInputError for an
    empty key or value, or a name no nugget can bear.
    """
    nugget = nugget or DEFAULT_NUGGET
    key, value = normalise_line(key), normalise_content(value)
    if not key:
        needs, code = "a fact needs a key", ErrorCode.EMPTY
        raise InvalidInputError(needs, code=code, field="key", kept=_KEPT, todo="give a short key")
    if not value:
        needs, code, todo = "a fact needs a value", ErrorCode.EMPTY, "to remove the fact, forget it"
        raise InvalidInputError(needs, code=code, field="value", where=key, kept=_KEPT, todo=todo)
    if not draft.has_nugget(nugget):
        draft.ensure_nugget(nugget)
    found = draft.find_fact(nugget, key)
    if found is not None:
        key = found[1].key
        if found[1].value != value:
            draft.put_fact(nugget, msgspec.structs.replace(found[1], value=value))
    else:
        draft.put_fact(nugget, Fact(key=key, value=value))
    note = draft.fact_note(nugget, key, hidden=False)
    if note is None:
        by_agent = draft.author.is_known_agent
        return new_note(draft, "fact", nugget, key, value, meta=meta, by_agent=by_agent)
    return _revised(draft, note, value, meta)


def _revised(draft: Draft, note: Note, value: str, meta: MetaInput | None) -> Note:
    given = (meta or MetaInput()).checked().given
    if value != note.content and not {"source", "confidence"} & given.keys():
        by_agent = draft.author.is_known_agent
        given["source"], given["confidence"] = said_anew(
            note.key, value, note.scope, note.source, note.confidence, by_agent=by_agent
        )
    after = replace(note, content=value, **given)
    if after == note:
        return note
    return draft.put(replace(after, updated_at=draft.at))


def forget(draft: Draft, nugget: str, key: str) -> Note | None:
    """Takes a fact out of recall and hides its note, which keeps the fact whole. None when there is no such key.

    A fact that never had a note gets a hidden one, so that it is not lost.
    """
    # Another program may have stored a key that we would write otherwise.
    found = draft.find_fact(nugget, key) or draft.find_fact(nugget, normalise_line(key))
    if found is None:
        return None
    taken = draft.take_fact(nugget, found[1].key)
    assert taken is not None
    index, fact = taken
    note = draft.fact_note(nugget, fact.key, hidden=False)
    if note is None:
        note = new_note(draft, "fact", nugget, fact.key, fact.value)
    hidden = draft.put(
        replace(note, hidden=True, archived_at=draft.at, hidden_fact=as_hidden_fact(fact, index))
    )
    for twin in draft.fact_notes(nugget, fact.key, hidden=False):
        draft.put(replace(twin, hidden=True, archived_at=draft.at))
    return hidden


def clear(draft: Draft, nugget: str) -> int:
    """Forgets every fact of a nugget, the last first so that each can come back to its place. Returns how many."""
    holder = draft.nugget(nugget)
    facts = holder.facts if holder else ()
    for fact in reversed(facts):
        forget(draft, nugget, fact.key)
    return len(facts)


def record_hit(draft: Draft, nugget: str, key: str | None, note_id: str | None, session: str) -> bool:
    """Counts one recall for a session: on the fact, if a key is given, and on its note or the note given.

    The same session counts once. Returns whether anything was counted. An empty session counts nothing.
    """
    if not session:
        return False
    counted = False
    if key is not None:
        holder = draft.nugget(nugget)
        found = holder.find(key) if holder else None
        if found is not None and found[1].last_hit_session != session:
            fact = found[1]
            draft.put_fact(
                nugget, msgspec.structs.replace(fact, hits=fact.hits + 1, last_hit_session=session)
            )
            counted = True
    note = draft.note(note_id) if note_id else None
    if note is not None and note.last_hit_session != session:
        draft.put(replace(note, hits=note.hits + 1, last_hit_session=session, last_accessed_at=draft.at))
        counted = True
    return counted
