"""One note's change brought onto the newest version of the note, field by field."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from core.errors import ErrorCode
from core.model.basis import settled, sound_links, unique_links
from core.model.change import NoteChange
from core.model.compare import alike
from core.model.note import FILE_NAMES, Note, replace
from core.model.snapshot import Snapshot
from core.storage.merge.deciding import OF_ITS_FACT, Deciding, conflict, merge_extra, merge_hits, same_fact

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
    deciding: Deciding,
) -> NoteChange | None:
    """A note's change on top of the note as it is now; None when it has already happened, or gives way.

    exists: whether a note of this id will stand in the file afterwards. quiet: a recall, which never conflicts.
    undoing: what is taken back becomes what it was. Raises ConflictError.
    """
    if change.namesake:
        return _rebase_namesake(change, snapshot, exists, undoing, deciding)
    current = snapshot.by_id.get(change.id)
    before, after = change.before, change.after
    if after is None:
        return _rebase_removal(change, current, snapshot, deciding)
    if before is None:
        if current is not None and _same_meaning(current, after):
            return None
        made = conflict(
            ErrorCode.MADE_MEANWHILE,
            "a note of this id was made meanwhile",
            change.id,
            "",
            after.content,
            _text(current),
        )
        if current is not None and not deciding.ours_stand(made, after, current, "note", change.id):
            return None
        index = change.index if current is None else None
        return NoteChange(id=change.id, before=current, after=_set_right(after, exists, undoing), index=index)
    if current is None:
        deleted = conflict(
            ErrorCode.DELETED_MEANWHILE,
            "the note was deleted meanwhile",
            change.id,
            before.content,
            after.content,
            "",
        )
        if quiet or not deciding.ours_stand(deleted, after, None, "note", change.id):
            return None
        return NoteChange(id=change.id, before=None, after=_set_right(after, exists, undoing))
    newest = current
    if _mirrors_another_fact(before, after, current):
        what = "its fact was renamed or hidden meanwhile"
        moved = conflict(ErrorCode.RENAMED_MEANWHILE, what, change.id, before.key, after.key, current.key)
        if not deciding.ours_stand(moved, after, current, "note", change.id):
            return None
        newest = replace(current, **{name: getattr(after, name) for name in OF_ITS_FACT})
    if newest == before:
        merged = _set_right(after, exists, undoing)
    else:
        merged = settled(_merge(before, after, newest, deciding), exists)
    return None if merged == current else NoteChange(id=change.id, before=current, after=merged)


def _rebase_namesake(
    change: NoteChange, snapshot: Snapshot, exists: Callable[[str], bool], undoing: bool, deciding: Deciding
) -> NoteChange | None:
    """A change of a note that bears an earlier note's id, before or after it; None when there is no such note now."""
    before, after = change.before, change.after
    if before is None:
        later = snapshot.places_of_namesakes.get(after.id, ()) if after is not None else ()
        return None if any(snapshot.notes[place] == after for place in later) else change
    place = _place_of_namesake(before, change, snapshot)
    if place is None:
        return None
    current = snapshot.notes[place]
    if after is not None and current == before:
        after = _set_right(after, exists, undoing)
    elif after is not None:
        after = settled(_merge(before, after, current, deciding), exists)
    elif not _same_meaning(current, before):
        return None
    return msgspec.structs.replace(change, before=current, after=after, index=place)


def _place_of_namesake(before: Note, change: NoteChange, snapshot: Snapshot) -> int | None:
    """Where the note stands which is changed: one that has its own id by now, or a later bearer.

    Of several the very same note counts most, then the one in the same place.
    """
    places = snapshot.places_of_namesakes.get(before.id, ())
    if before.id != change.id and before.id in snapshot.places:
        places = (snapshot.places[before.id], *places)
    at = change.index
    if at is not None and at < len(snapshot.notes) and snapshot.notes[at] == before and _stands(places, at):
        return at
    return min(places, key=lambda place: (snapshot.notes[place] != before, place != at), default=None)


def _stands(places: Sequence[int], place: int) -> bool:
    """Whether a place is among some that are in rising order."""
    at = bisect_left(places, place)
    return at < len(places) and places[at] == place


def _text(note: Note | None) -> str:
    return note.content if note is not None else ""


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


def _rebase_removal(
    change: NoteChange, current: Note | None, snapshot: Snapshot, deciding: Deciding
) -> NoteChange | None:
    if current is None:
        return None
    assert change.before is not None
    if not _same_meaning(current, change.before):
        what = "the note was changed meanwhile"
        found = conflict(
            ErrorCode.CHANGED_MEANWHILE, what, change.id, change.before.content, "", current.content
        )
        if not deciding.ours_stand(found, None, current, "note", change.id):
            return None
    return NoteChange(id=change.id, before=current, after=None, index=snapshot.places[current.id])


def _same_meaning(one: Note, other: Note) -> bool:
    return all(alike(getattr(one, name), getattr(other, name)) for name in FILE_NAMES if name not in _QUIET)


def _merge(before: Note, after: Note, current: Note, deciding: Deciding) -> Note:
    changes: dict[str, Any] = {}
    for name in FILE_NAMES:
        base, ours, theirs = getattr(before, name), getattr(after, name), getattr(current, name)
        if ours != base:
            changes[name] = _merge_field(before.id, name, base, ours, theirs, deciding)
    if "hits" in changes:
        changes["hits"] = merge_hits(before, after, current)
    if "last_hit_session" in changes and after.hits < before.hits != current.hits:
        # Taking a recall back leaves the session of a later one.
        changes["last_hit_session"] = current.last_hit_session
    changes["extra"] = merge_extra(before.extra, after.extra, current.extra)
    return replace(current, **changes)


def _merge_field(id: str, name: str, base: Any, ours: Any, theirs: Any, deciding: Deciding) -> Any:
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
    what = f"its {name.replace('_', ' ')} was changed in two ways"
    return deciding.value(
        conflict(ErrorCode.CHANGED_IN_TWO_WAYS, what, id, base, ours, theirs, name), ours, theirs
    )
