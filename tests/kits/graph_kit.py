"""Small memories for tests of pure thinking: notes with few words, drafts with a fixed clock, changes applied."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Link, Note
from core.model.snapshot import Snapshot

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
_SUBJECTS = {"self": "assistant:self", "user": "user:primary", "session": "session:current"}


def make_note(number: int, content: str, title: str = "", **fields: Any) -> Note:
    """A note with the tags that its nugget, scope and type ask for; `tags` are added to them.

    The higher its number the younger it is.
    """
    kind = fields.get("kind", "note")
    nugget = fields.get("nugget_name", "memory")
    scope, type_ = fields.get("scope", "user"), fields.get("type", "fact" if kind == "fact" else "note")
    title = title or f"title{number}"
    moment = (NOW - timedelta(days=100) + timedelta(hours=number)).isoformat()
    defaults: dict[str, Any] = {
        "id": f"{kind}-{nugget}-{number:08x}",
        "nugget_name": nugget,
        "title": title,
        "content": content,
        "source_key": title if kind == "fact" else None,
        "created_at": moment,
        "updated_at": moment,
        "last_accessed_at": moment,
        "subject": _SUBJECTS.get(scope, "shared:project"),
        "scope": scope,
        "type": type_,
        "source": "explicit_user",
        "confidence": 0.9,
        "stability": "durable",
    }
    tags = (nugget, f"scope:{scope}", f"type:{type_}", *fields.pop("tags", ()))
    return Note(**(defaults | fields | {"tags": tags}))


def make_fact(number: int, key: str, value: str, **fields: Any) -> Note:
    """The note of a fact; `memory_of` makes the fact itself."""
    return make_note(number, value, key, kind="fact", **fields)


def linked(*notes: Note, reason: str = "related") -> list[Note]:
    """The notes, each linked to the next one, both ways."""
    made = list(notes)
    for place in range(len(made) - 1):
        for holder, target in ((place, place + 1), (place + 1, place)):
            links = (*made[holder].links, Link(to=made[target].id, reason=reason))
            made[holder] = msgspec.structs.replace(made[holder], links=links)
    return made


def memory_of(notes: Iterable[Note]) -> Snapshot:
    """A snapshot of these notes, with the facts that the visible fact notes mirror."""
    notes = tuple(notes)
    facts: dict[str, list[Fact]] = {note.nugget_name: [] for note in notes}
    for note in notes:
        if note.is_fact and not note.hidden:
            facts[note.nugget_name].append(Fact(key=note.key, value=note.content, hits=note.hits))
    nuggets = tuple(Nugget(meta=NuggetMeta(name=name), facts=tuple(held)) for name, held in facts.items())
    return Snapshot(notes=notes, nuggets=nuggets)


def draft_of(snapshot: Snapshot, now: datetime = NOW) -> Draft:
    """A fresh draft whose clock stands still."""
    counter = itertools.count(1)
    return Draft(snapshot, now=now, ids=lambda: f"{next(counter):08x}")


def applied(snapshot: Snapshot, changes: ChangeSet) -> Snapshot:
    """The snapshot with a change set laid over it; facts are changed or taken out, never added."""
    after = {change.id: change.after for change in changes.notes}
    notes = [after.pop(note.id, note) for note in snapshot.notes]
    notes.extend(after.values())
    facts = {(change.nugget, change.key): change.after for change in changes.facts}
    nuggets = []
    for nugget in snapshot.nuggets:
        held = [facts.get((nugget.name, fact.key), fact) for fact in nugget.facts]
        nuggets.append(
            msgspec.structs.replace(nugget, facts=tuple(fact for fact in held if fact is not None))
        )
    return Snapshot(notes=tuple(note for note in notes if note is not None), nuggets=tuple(nuggets))


def facts_of(snapshot: Snapshot) -> dict[tuple[str, str], str]:
    """All facts by nugget and key."""
    return {(nugget.name, fact.key): fact.value for nugget in snapshot.nuggets for fact in nugget.facts}
