"""Drafts over small memories that stand in no file: for tests of what edits do."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

from core.model.draft import Draft
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Link, Note, normalised_note, replace
from core.model.snapshot import Snapshot

LONG_AGO = "2026-01-02T03:04:05.678Z"
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
NOW_TEXT = "2026-11-18T12:00:00.000Z"


def make_note(number: int, **fields: Any) -> Note:
    """A sound plain note of the nugget "memory"; `fields` replace those of the model."""
    made = Note(
        id=f"note-memory-{number:08x}",
        nugget_name="memory",
        title=f"Title {number}",
        content=f"Content of note {number}.",
        created_at=LONG_AGO,
        updated_at=LONG_AGO,
        last_accessed_at=LONG_AGO,
        subject="user:primary",
        scope="user",
        type="note",
        source="explicit_user",
        confidence=0.9,
        stability="durable",
    )
    return normalised_note(replace(made, **fields), lambda _: True)


def make_fact_note(number: int, key: str, value: str, **fields: Any) -> Note:
    """A sound note that mirrors a fact."""
    own: dict[str, Any] = {
        "id": f"fact-memory-{number:08x}",
        "kind": "fact",
        "type": "fact",
        "source_key": key,
    }
    return make_note(number, **({"title": key, "content": value} | own | fields))


def make_link(to: Note, reason: str = "kin") -> Link:
    """A link to a note."""
    return Link(to=to.id, reason=reason, created_at=LONG_AGO)


def make_draft(*notes: Note, facts: dict[str, str] | None = None, **named: Any) -> Draft:
    """A draft over these notes and, if given, a nugget "memory" with these facts. `named`: more of the snapshot."""
    nuggets = []
    if facts is not None:
        stored = tuple(Fact(key=key, value=value) for key, value in facts.items())
        nuggets.append(Nugget(meta=NuggetMeta(name="memory"), facts=stored, file="memory.nugget.json"))
    snapshot = Snapshot(**({"notes": notes, "nuggets": tuple(nuggets)} | named))
    return draft_over(snapshot)


def draft_over(snapshot: Snapshot) -> Draft:
    """A draft at a fixed time, with ids that count upwards."""
    numbers = itertools.count(0xA0)
    return Draft(snapshot, now=NOW, ids=lambda: f"{next(numbers):08x}")


def found(draft: Draft, note: Note) -> Note:
    """The note as the draft has it."""
    present = draft.note(note.id)
    assert present is not None
    return present


def facts_in(draft: Draft, nugget: str = "memory") -> dict[str, str]:
    """Keys and values of a nugget as the draft has it, in order."""
    held = draft.nugget(nugget)
    return {fact.key: fact.value for fact in held.facts} if held else {}


def changed_fields(before: Note, after: Note) -> set[str]:
    """Names of the fields in which two versions of a note differ."""
    return {name for name in before.__struct_fields__ if getattr(before, name) != getattr(after, name)}
