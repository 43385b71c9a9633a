"""Rebase: a change set thought out on one snapshot, brought onto the newest one field by field."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from core.model.basis import settled
from core.model.change import ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.draft_facts import index_among_all
from core.model.note import replace
from core.model.snapshot import Snapshot
from core.storage.merging import alike, conflict, same_fact
from core.storage.rebase_facts import rebase_facts
from core.storage.rebase_notes import rebase_note


def rebase(change_set: ChangeSet, snapshot: Snapshot) -> ChangeSet:
    """The same changes with the newest values as `before`; what has already happened drops out.

    Edits of different notes, or of different fields of one note, merge (tags and links as sets, recalls as
    sums). Raises ConflictError when one field was changed in two ways; nothing is merged then.
    """
    quiet = change_set.kind == "hit"
    facts = rebase_facts(change_set, snapshot, quiet)
    placed: dict[tuple[str, str], list[FactChange]] = {}
    for fact in facts:
        if fact.after is None:
            placed.setdefault((fact.nugget, fact.key), []).append(fact)
    _refuse_orphans(facts, change_set, snapshot)
    needless = _needless_notes(change_set, snapshot)
    created = {change.id for change in change_set.notes if change.after is not None} - needless
    removed = {change.id for change in change_set.notes if change.after is None}

    def exists(id: str) -> bool:
        return id not in removed and (id in created or id in snapshot.by_id or id in snapshot.set_aside)

    undoing = change_set.kind == "undo"
    wanted = [change for change in change_set.notes if change.id not in needless]
    moved = [rebase_note(change, snapshot, exists, quiet, undoing) for change in wanted]
    moved = [_with_newest_fact(change, snapshot, placed, undoing) for change in moved]
    notes = [change for change in moved if change is not None]
    notes += _freed_holders(notes, snapshot, exists)
    _refuse_strangers(notes, change_set, snapshot)
    return msgspec.structs.replace(
        change_set,
        notes=tuple(notes),
        facts=tuple(facts),
        nuggets=tuple(change for change in change_set.nuggets if _is_due(change, snapshot, facts)),
    )


def _refuse_orphans(facts: list[FactChange], change_set: ChangeSet, snapshot: Snapshot) -> None:
    """A fact does not leave its file when another program made a further note of it, which would stand for nothing."""
    touched = {change.id for change in change_set.notes}
    for fact in facts:
        twin = snapshot.fact_notes.get((fact.nugget, fact.key)) if fact.after is None else None
        if twin is not None and not twin.hidden and twin.id not in touched:
            raise conflict("the fact was stored anew meanwhile", twin.id, fact.key, "", twin.content)


def _refuse_strangers(notes: list[NoteChange], change_set: ChangeSet, snapshot: Snapshot) -> None:
    """A note does not appear for a fact that another program gave another value or took out."""
    keys = {(c.nugget, c.after.key if c.after is not None else c.key) for c in change_set.facts}
    for change in notes:
        note = change.after
        appears = change.before is None or change.before.hidden
        if note is None or note.hidden or not note.is_fact or not appears:
            continue
        if (note.nugget_name, note.key) in keys:
            continue
        nugget = snapshot.by_name.get(note.nugget_name)
        found = nugget.find(note.key) if nugget else None
        value = found[1].value if found is not None else ""
        if not alike(value, note.content) and (found is not None or change_set.kind != "undo"):
            raise conflict("its fact was changed meanwhile", note.id, note.key, note.content, value)


def _needless_notes(change_set: ChangeSet, snapshot: Snapshot) -> set[str]:
    """New notes of facts that another program stored or forgot just so, and made a note of: one is enough."""
    touched = {change.id for change in change_set.notes}
    keys = {(c.nugget, c.after.key if c.after is not None else c.key) for c in change_set.facts}
    found: set[str] = set()
    for change in change_set.notes:
        note = change.after
        if note is None or change.before is not None or not note.is_fact or change.id in snapshot.by_id:
            continue
        twin = snapshot.fact_notes.get((note.nugget_name, note.key))
        restored = change_set.kind == "undo" and (note.nugget_name, note.key) not in keys
        if twin is None or twin.id in touched or restored:
            continue
        stored = alike(twin.content, note.content) and not (twin.hidden or note.hidden)
        if stored or (twin.hidden and note.hidden and same_fact(twin.hidden_fact, note.hidden_fact)):
            found.add(change.id)
    return found


def _freed_holders(
    notes: list[NoteChange], snapshot: Snapshot, exists: Callable[[str], bool]
) -> list[NoteChange]:
    """Notes that another program linked meanwhile to one that goes now: their links go with it."""
    touched = {change.id for change in notes}
    gone = [change.id for change in notes if change.after is None]
    holders = {holder for id in gone for holder, _ in snapshot.links_in.get(id, ())} - touched
    found = [snapshot.by_id[holder] for holder in sorted(holders)]
    return [NoteChange(id=note.id, before=note, after=settled(note, exists)) for note in found]


def _is_due(change: NuggetChange, snapshot: Snapshot, facts: list[FactChange]) -> bool:
    nugget = snapshot.by_name.get(change.name)
    if change.after is not None:
        return nugget is None
    leaving = sum(fact.nugget == change.name and fact.after is None for fact in facts)
    return nugget is not None and leaving == len(nugget.facts)


def _with_newest_fact(
    change: NoteChange | None,
    snapshot: Snapshot,
    placed: dict[tuple[str, str], list[FactChange]],
    undoing: bool,
) -> NoteChange | None:
    """A note that takes its fact out of the file keeps the fact as it is there now, with its place.

    What is hidden again by taking something back keeps the place that it had before.
    """
    merged = change.after if change is not None else None
    waiting = merged.hidden_fact if merged is not None else None
    if change is None or merged is None or waiting is None:
        return change
    if change.before is not None and change.before.hidden and change.before.hidden_fact is not None:
        return change
    candidates = placed.get((merged.nugget_name, waiting.key), [])
    same = (item for item in candidates if item.before is not None and item.before.value == waiting.value)
    taken = next(same, candidates[0] if candidates else None)
    if taken is None or taken.before is None or taken.index is None:
        return change
    fact = taken.before
    hidden = snapshot.hidden_facts.get(merged.nugget_name, {})
    newest = msgspec.structs.replace(
        waiting,
        value=fact.value,
        hits=fact.hits,
        last_hit_session=fact.last_hit_session,
        index=waiting.index if undoing else index_among_all(taken.index, hidden.values()),
        extra=fact.extra,
    )
    return msgspec.structs.replace(change, after=replace(merged, hidden_fact=newest))
