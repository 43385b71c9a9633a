"""Rebase: a change set thought out on one snapshot, brought onto the newest one field by field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from core.errors import ConflictError
from core.model.basis import settled, unique_links
from core.model.change import ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.fact import Fact
from core.model.note import FILE_NAMES, Note, replace
from core.model.snapshot import Snapshot
from core.text.normalise import squeeze

_LATEST: Final = ("updated_at", "last_accessed_at", "last_rewritten_at", "archived_at")
_OURS: Final = ("last_hit_session", "vector")
# What may move without the note having been changed in meaning: recalls, and what every write sets right.
_QUIET: Final = frozenset(
    {
        "hits",
        "last_hit_session",
        "last_accessed_at",
        "last_rewritten_at",
        "updated_at",
        "vector",
        "tags",
        "links",
    }
)
_KEPT: Final = "nothing was written, both versions are safe"


def rebase(change_set: ChangeSet, snapshot: Snapshot) -> ChangeSet:
    """The same changes with the newest values as `before`; what has already happened drops out.

    Edits of different notes, or of different fields of one note, merge (tags and links as sets, recalls as
    sums). Raises ConflictError when one field was changed in two ways; nothing is merged then.
    """
    quiet = change_set.kind == "hit"
    rebased = (_rebase_fact(change, snapshot, quiet) for change in change_set.facts)
    facts = [change for change in rebased if change is not None]
    placed = {(change.nugget, change.key): change for change in facts if change.after is None}
    created = {change.id for change in change_set.notes if change.after is not None}
    removed = {change.id for change in change_set.notes if change.after is None}

    def exists(id: str) -> bool:
        return id not in removed and (id in created or id in snapshot.by_id or id in snapshot.set_aside)

    moved = (_rebase_note(change, snapshot, exists, placed, quiet) for change in change_set.notes)
    notes = [change for change in moved if change is not None]
    return msgspec.structs.replace(
        change_set,
        notes=tuple(notes),
        facts=tuple(facts),
        nuggets=tuple(change for change in change_set.nuggets if _is_new(change, snapshot)),
    )


def _is_new(change: NuggetChange, snapshot: Snapshot) -> bool:
    return (change.after is not None) != (change.name in snapshot.by_name)


def _rebase_note(
    change: NoteChange,
    snapshot: Snapshot,
    exists: Callable[[str], bool],
    placed: dict[tuple[str, str], FactChange],
    quiet: bool,
) -> NoteChange | None:
    current = snapshot.by_id.get(change.id)
    before, after = change.before, change.after
    if after is None:
        return _rebase_removal(change, current, snapshot)
    if before is None:
        if current is None:
            return NoteChange(id=change.id, before=None, after=settled(after, exists), index=change.index)
        if _same_meaning(current, after):
            return None
        raise _conflict("a note of this id was made meanwhile", change.id, "", after.content, current.content)
    if current is None:
        if quiet:
            return None
        raise _conflict("the note was deleted meanwhile", change.id, before.content, after.content, "")
    merged = after if current == before else _merge(before, after, current)
    merged = settled(_with_newest_fact(merged, current, placed), exists)
    return None if merged == current else NoteChange(id=change.id, before=current, after=merged)


def _rebase_removal(change: NoteChange, current: Note | None, snapshot: Snapshot) -> NoteChange | None:
    if current is None:
        return None
    assert change.before is not None
    if not _same_meaning(current, change.before):
        raise _conflict(
            "the note was changed meanwhile", change.id, change.before.content, "", current.content
        )
    place = next(i for i, note in enumerate(snapshot.notes) if note is current)
    return NoteChange(id=change.id, before=current, after=None, index=place)


def _same_meaning(one: Note, other: Note) -> bool:
    return all(_alike(getattr(one, name), getattr(other, name)) for name in FILE_NAMES if name not in _QUIET)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one == other or squeeze(one) == squeeze(other)
    return bool(one == other)


def _merge(before: Note, after: Note, current: Note) -> Note:
    changes: dict[str, Any] = {}
    for name in FILE_NAMES:
        base, ours, theirs = getattr(before, name), getattr(after, name), getattr(current, name)
        if ours != base:
            changes[name] = _merge_field(before.id, name, base, ours, theirs)
    extra = dict(current.extra)
    for key in before.extra.keys() | after.extra.keys():
        if before.extra.get(key) != after.extra.get(key):
            extra[key] = after.extra.get(key)
    changes["extra"] = {
        key: value for key, value in extra.items() if key in after.extra or key in current.extra
    }
    for key in before.extra.keys() - after.extra.keys():
        changes["extra"].pop(key, None)
    return replace(current, **changes)


def _merge_field(id: str, name: str, base: Any, ours: Any, theirs: Any) -> Any:
    if _alike(theirs, base) or _alike(theirs, ours):
        return ours
    if name == "tags":
        gone = set(base) - set(ours)
        return (*(tag for tag in theirs if tag not in gone), *(tag for tag in ours if tag not in base))
    if name == "links":
        known = {(link.to, link.reason) for link in base}
        gone = known - {(link.to, link.reason) for link in ours}
        kept = [link for link in theirs if (link.to, link.reason) not in gone]
        return unique_links([*kept, *(link for link in ours if (link.to, link.reason) not in known)])
    if name == "hits":
        return max(0, theirs + ours - base)
    if name in _LATEST:
        return max(ours, theirs) if ours and theirs else ours
    if name in _OURS:
        return ours
    raise _conflict(f"its {name.replace('_', ' ')} was changed in two ways", id, base, ours, theirs)


def _with_newest_fact(merged: Note, current: Note, placed: dict[tuple[str, str], FactChange]) -> Note:
    """A note that takes its fact out of the file keeps the fact as it is there now, with its place."""
    waiting = merged.hidden_fact
    if waiting is None or waiting == current.hidden_fact:
        return merged
    change = placed.get((merged.nugget_name, waiting.key))
    if change is None or change.before is None or change.index is None:
        return merged
    fact = change.before
    newest = msgspec.structs.replace(
        waiting,
        value=fact.value,
        hits=fact.hits,
        last_hit_session=fact.last_hit_session,
        index=change.index,
        extra=fact.extra,
    )
    return replace(merged, hidden_fact=newest)


def _rebase_fact(change: FactChange, snapshot: Snapshot, quiet: bool) -> FactChange | None:
    nugget = snapshot.by_name.get(change.nugget)
    places = {fact.key: place for place, fact in reversed(list(enumerate(nugget.facts)))} if nugget else {}
    where = f"{change.nugget}: {change.key}"
    before, after = change.before, change.after
    place = places.get(change.key)
    current = nugget.facts[place] if nugget and place is not None else None
    if before is None:
        if after is None or (current is not None and _alike(current.value, after.value)):
            return None
        if current is not None:
            raise _conflict("this key was stored meanwhile", where, "", after.value, current.value)
        return change
    if current is None:
        if after is None or quiet:
            return None
        raise _conflict("the fact was forgotten meanwhile", where, before.value, after.value, "")
    if after is None:
        if not _alike(current.value, before.value):
            raise _conflict("the fact was changed meanwhile", where, before.value, "", current.value)
        return msgspec.structs.replace(change, before=current, index=place)
    if after.key != before.key and after.key in places:
        raise _conflict("this key was stored meanwhile", where, before.key, after.key, after.key)
    merged = _merge_fact(where, before, after, current)
    return (
        None
        if merged == current
        else msgspec.structs.replace(change, before=current, after=merged, index=place)
    )


def _merge_fact(where: str, before: Fact, after: Fact, current: Fact) -> Fact:
    if after.value == before.value:
        value = current.value
    elif _alike(current.value, before.value) or _alike(current.value, after.value):
        value = after.value
    else:
        raise _conflict("the fact was changed in two ways", where, before.value, after.value, current.value)
    return msgspec.structs.replace(
        current,
        key=after.key,
        value=value,
        hits=max(0, current.hits + after.hits - before.hits),
        last_hit_session=(
            current.last_hit_session
            if after.last_hit_session == before.last_hit_session
            else after.last_hit_session
        ),
        extra=current.extra | after.extra,
    )


def _conflict(what: str, where: str, base: Any, ours: Any, theirs: Any) -> ConflictError:
    return ConflictError(
        what,
        where=where,
        kept=_KEPT,
        todo="look at the newest version and make the change again",
        base=str(base),
        ours=str(ours),
        theirs=str(theirs),
    )
