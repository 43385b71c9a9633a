"""One note's change brought onto the newest version of the note, field by field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from core.model.basis import settled, sound_links, unique_links
from core.model.change import NoteChange
from core.model.note import FILE_NAMES, Note, replace
from core.model.snapshot import Snapshot
from core.storage.merging import alike, conflict, merge_extra, merge_hits, same_fact

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


def rebase_note(
    change: NoteChange,
    snapshot: Snapshot,
    exists: Callable[[str], bool],
    quiet: bool,
    undoing: bool,
) -> NoteChange | None:
    """A note's change on top of the note as it is now; None when it has already happened.

    exists: whether a note of this id will stand in the file afterwards. quiet: a recall, which never conflicts.
    undoing: what is taken back becomes what it was. Raises ConflictError.
    """
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
        raise conflict("a note of this id was made meanwhile", change.id, "", after.content, current.content)
    if current is None:
        if quiet:
            return None
        raise conflict("the note was deleted meanwhile", change.id, before.content, after.content, "")
    if _mirrors_another_fact(before, after, current):
        raise conflict(
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
        raise conflict(
            "the note was changed meanwhile", change.id, change.before.content, "", current.content
        )
    place = next(i for i, note in enumerate(snapshot.notes) if note is current)
    return NoteChange(id=change.id, before=current, after=None, index=place)


def _same_meaning(one: Note, other: Note) -> bool:
    return all(alike(getattr(one, name), getattr(other, name)) for name in FILE_NAMES if name not in _QUIET)


def _merge(before: Note, after: Note, current: Note) -> Note:
    changes: dict[str, Any] = {}
    for name in FILE_NAMES:
        base, ours, theirs = getattr(before, name), getattr(after, name), getattr(current, name)
        if ours != base:
            changes[name] = _merge_field(before.id, name, base, ours, theirs)
    if "hits" in changes:
        changes["hits"] = merge_hits(before, after, current)
    if "last_hit_session" in changes and after.hits < before.hits != current.hits:
        # Taking a recall back leaves the session of a later one.
        changes["last_hit_session"] = current.last_hit_session
    changes["extra"] = merge_extra(before.extra, after.extra, current.extra)
    return replace(current, **changes)


def _merge_field(id: str, name: str, base: Any, ours: Any, theirs: Any) -> Any:
    if alike(theirs, base) or alike(theirs, ours):
        return ours
    if name == "tags":
        gone = set(base) - set(ours)
        return (*(tag for tag in theirs if tag not in gone), *(tag for tag in ours if tag not in base))
    if name == "links":
        known = {(link.to, link.reason) for link in base}
        gone = known - {(link.to, link.reason) for link in ours}
        kept = [link for link in theirs if (link.to, link.reason) not in gone]
        return unique_links([*kept, *(link for link in ours if (link.to, link.reason) not in known)])
    if name == "hidden_fact" and same_fact(ours, theirs):
        return theirs
    if name == "hits":
        return ours
    if name in _LATEST:
        return max(ours, theirs) if ours and theirs else ours
    if name in _OURS:
        return ours
    raise conflict(f"its {name.replace('_', ' ')} was changed in two ways", id, base, ours, theirs)
