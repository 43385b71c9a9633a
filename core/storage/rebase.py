"""Rebase: a change set thought out on one snapshot, brought onto the newest one field by field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from core.errors import ConflictError
from core.model.basis import settled, sound_links, unique_links
from core.model.change import ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.draft_facts import index_among_all
from core.model.fact import Fact
from core.model.note import FILE_NAMES, HiddenFact, Note, replace
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
    facts = _rebase_facts(change_set, snapshot, quiet)
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
    moved = [_rebase_note(change, snapshot, exists, quiet, undoing) for change in wanted]
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
            raise _conflict("the fact was stored anew meanwhile", twin.id, fact.key, "", twin.content)


def _refuse_strangers(notes: list[NoteChange], change_set: ChangeSet, snapshot: Snapshot) -> None:
    """A note does not appear for a fact that another program gave another value or took out."""
    keys = {(c.nugget, c.after.key if c.after is not None else c.key) for c in change_set.facts}
    for change in notes:
        note = change.after
        if (
            note is None
            or note.hidden
            or not note.is_fact
            or not (change.before is None or change.before.hidden)
        ):
            continue
        if (note.nugget_name, note.key) in keys:
            continue
        nugget = snapshot.by_name.get(note.nugget_name)
        found = nugget.find(note.key) if nugget else None
        value = found[1].value if found is not None else ""
        if not _alike(value, note.content) and (found is not None or change_set.kind != "undo"):
            raise _conflict("its fact was changed meanwhile", note.id, note.key, note.content, value)


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
        alike = _alike(twin.content, note.content) and not (twin.hidden or note.hidden)
        if alike or (twin.hidden and note.hidden and _same_fact(twin.hidden_fact, note.hidden_fact)):
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


def _rebase_note(
    change: NoteChange,
    snapshot: Snapshot,
    exists: Callable[[str], bool],
    quiet: bool,
    undoing: bool,
) -> NoteChange | None:
    current = snapshot.by_id.get(change.id)
    before, after = change.before, change.after
    if after is None:
        return _rebase_removal(change, current, snapshot)
    if before is None:
        if current is None:
            after = _set_right(after, exists, undoing)
            return NoteChange(id=change.id, before=None, after=after, index=change.index)
        if _same_meaning(current, after):
            return None
        raise _conflict("a note of this id was made meanwhile", change.id, "", after.content, current.content)
    if current is None:
        if quiet:
            return None
        raise _conflict("the note was deleted meanwhile", change.id, before.content, after.content, "")
    if _mirrors_another_fact(before, after, current):
        raise _conflict(
            "its fact was renamed or hidden meanwhile", change.id, before.key, after.key, current.key
        )
    if current == before:
        merged = _set_right(after, exists, undoing)
    else:
        merged = settled(_merge(before, after, current), exists)
    return None if merged == current else NoteChange(id=change.id, before=current, after=merged)


def _mirrors_another_fact(before: Note, after: Note, current: Note) -> bool:
    """Whether a fact note stands for another fact by now, or for none, than the one this change touches through it."""
    carried = (after.content, after.key, after.hidden) != (before.content, before.key, before.hidden)
    moved = current.key not in (before.key, after.key) or current.hidden not in (before.hidden, after.hidden)
    return before.is_fact and carried and moved


def _set_right(note: Note, exists: Callable[[str], bool], undoing: bool) -> Note:
    """What is taken back becomes what it was, also where the file was not quite right, if its links still hold."""
    if undoing and sound_links(note, exists) == note.links:
        return note
    return settled(note, exists)


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
    if "hits" in changes:
        changes["hits"] = _merge_hits(before, after, current)
    if "last_hit_session" in changes and after.hits < before.hits != current.hits:
        # Taking a recall back leaves the session of a later one.
        changes["last_hit_session"] = current.last_hit_session
    changes["extra"] = _merge_extra(before.extra, after.extra, current.extra)
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
    if name == "hidden_fact" and _same_fact(ours, theirs):
        return theirs
    if name == "hits":
        return ours
    if name in _LATEST:
        return max(ours, theirs) if ours and theirs else ours
    if name in _OURS:
        return ours
    raise _conflict(f"its {name.replace('_', ' ')} was changed in two ways", id, base, ours, theirs)


def _same_fact(one: HiddenFact | None, other: HiddenFact | None) -> bool:
    return one is not None and other is not None and (one.key, one.value) == (other.key, other.value)


def _merge_hits(before: Note | Fact, after: Note | Fact, current: Note | Fact) -> int:
    """Recalls that both sides counted add up; one that both counted for the same session counts once."""
    moved = after.last_hit_session != before.last_hit_session
    if after.last_hit_session == current.last_hit_session and (moved or after.hits == current.hits):
        return current.hits
    return max(0, current.hits + after.hits - before.hits)


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


def _rebase_facts(change_set: ChangeSet, snapshot: Snapshot, quiet: bool) -> list[FactChange]:
    places: dict[str, dict[str, list[int]]] = {}
    for name in {change.nugget for change in change_set.facts}:
        found = places.setdefault(name, {})
        nugget = snapshot.by_name.get(name)
        for number, fact in enumerate(nugget.facts if nugget else ()):
            found.setdefault(fact.key, []).append(number)
    freed, arriving = _freed_keys(change_set), _arriving_values(change_set)
    rebased: list[FactChange | None] = []
    # New facts last: by then it is known which keys the others have given up.
    for change in sorted(change_set.facts, key=lambda change: change.before is None):
        facts = snapshot.by_name[change.nugget].facts if change.nugget in snapshot.by_name else ()
        of_key = places[change.nugget].get(change.key, [])
        place = of_key[0] if of_key else None
        current = facts[place] if place is not None else None
        target = change.after.key if change.after is not None else change.key
        bearers = places[change.nugget].get(target, []) if target != change.key else []
        bearer = facts[bearers[0]] if bearers else None
        if _was_renamed(change, current, bearer, arriving.get((change.nugget, change.key))):
            continue
        if change.before is not None and of_key:
            # A file may hold a key twice; each change is for one of them, the first for the first.
            of_key.pop(0)
        other = None if (change.nugget, target) in freed else bearer
        rebased.append(_rebase_fact(change, current, place, other, quiet))
    return [change for change in rebased if change is not None]


def _freed_keys(change_set: ChangeSet) -> set[tuple[str, str]]:
    """Keys that facts give up in this change set."""
    leaving = (
        c for c in change_set.facts if c.before is not None and (c.after is None or c.after.key != c.key)
    )
    return {(change.nugget, change.key) for change in leaving}


def _arriving_values(change_set: ChangeSet) -> dict[tuple[str, str], str]:
    """Values of the facts that come to bear a key in this change set."""
    return {
        (change.nugget, change.after.key): change.after.value
        for change in change_set.facts
        if change.after is not None and (change.before is None or change.after.key != change.key)
    }


def _was_renamed(change: FactChange, current: Fact | None, bearer: Fact | None, newcomer: str | None) -> bool:
    """Whether a fact already bears its new key, its old one being free or taken by a newcomer of the same set."""
    if change.before is None or change.after is None or bearer is None:
        return False
    free = current is None or (newcomer is not None and _alike(current.value, newcomer))
    return free and _alike(bearer.value, change.after.value)


def _rebase_fact(
    change: FactChange, current: Fact | None, place: int | None, other: Fact | None, quiet: bool
) -> FactChange | None:
    """current, place: the fact as it is now, and where. other: another fact with the key after the change."""
    where = f"{change.nugget}: {change.key}"
    before, after = change.before, change.after
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
    if other is not None:
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
        hits=_merge_hits(before, after, current),
        last_hit_session=(
            current.last_hit_session
            if after.last_hit_session == before.last_hit_session or after.hits < before.hits != current.hits
            else after.last_hit_session
        ),
        extra=_merge_extra(before.extra, after.extra, current.extra),
    )


def _merge_extra(base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """Unknown fields: what we changed, added or dropped, on top of what the file has now."""
    dropped = base.keys() - ours.keys()
    changed = {name: value for name, value in ours.items() if name not in base or base[name] != value}
    return {name: value for name, value in theirs.items() if name not in dropped} | changed


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
