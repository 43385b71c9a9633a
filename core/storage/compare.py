"""What another program changed: the difference of two snapshots as a change set."""

from __future__ import annotations

from typing import Final

from core.model.change import Author, ChangeSet, FactChange, NoteChange
from core.model.fact import Fact, Nugget
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.text.normalise import squeeze

_TEXTS: Final = ("content", "value")


def outside_changes(before: Snapshot, after: Snapshot, *, id: str, at: str, author: Author) -> ChangeSet:
    """Everything that differs, put down to `author`. Notes whose bytes did not change are the same objects in
    both snapshots, so this costs little more than the notes that did.
    """
    notes = [
        NoteChange(id=note.id, before=before.by_id.get(note.id), after=note)
        for note in after.by_id.values()
        if before.by_id.get(note.id) is not note and not _says_the_same(before.by_id.get(note.id), note)
    ]
    notes += [
        NoteChange(id=note.id, before=note, after=None)
        for note in before.by_id.values()
        if note.id not in after.by_id
    ]
    facts: list[FactChange] = []
    for name in sorted(before.by_name.keys() | after.by_name.keys()):
        old, new = before.by_name.get(name), after.by_name.get(name)
        if old is not new and not (new is not None and new.problem):
            facts += _fact_changes(name, old, new)
    return ChangeSet(
        id=id,
        at=at,
        author=author,
        reason=_summary(notes, facts),
        kind="outside",
        notes=tuple(notes),
        facts=tuple(facts),
    )


def _fact_changes(name: str, old: Nugget | None, new: Nugget | None) -> list[FactChange]:
    before = {fact.key: (place, fact) for place, fact in enumerate(old.facts)} if old else {}
    after = {fact.key: (place, fact) for place, fact in enumerate(new.facts)} if new else {}
    changes = [
        FactChange(
            nugget=name, key=key, before=before[key][1] if key in before else None, after=fact, index=place
        )
        for key, (place, fact) in after.items()
        if key not in before or not _says_the_same(before[key][1], fact)
    ]
    changes += [
        FactChange(nugget=name, key=key, before=fact, after=None, index=place)
        for key, (place, fact) in before.items()
        if key not in after
    ]
    return changes


def _says_the_same(old: Note | Fact | None, new: Note | Fact) -> bool:
    """Whether two versions differ at most by white space of their texts: the original squeezes it at every save."""
    if old is None or old == new:
        return old is not None
    return all(
        _alike(name, getattr(old, name), getattr(new, name))
        for name in new.__struct_fields__
        if name != "vector"
    )


def _alike(name: str, old: object, new: object) -> bool:
    if name in _TEXTS and isinstance(old, str) and isinstance(new, str):
        return squeeze(old) == squeeze(new)
    return old == new


def _summary(notes: list[NoteChange], facts: list[FactChange]) -> str:
    added = sum(change.before is None for change in notes)
    removed = sum(change.after is None for change in notes)
    changed = len(notes) - added - removed
    parts = [
        f"{sign}{count} {'note' if count == 1 else 'notes'}"
        for sign, count in (("+", added), ("-", removed), ("~", changed))
        if count
    ]
    if not parts and facts:
        parts = [f"{len(facts)} {'fact' if len(facts) == 1 else 'facts'}"]
    return ", ".join(parts) or "nothing of note"
