"""One note's change brought onto the newest version of the note, field by field."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import msgspec

from core.errors import ErrorCode
from core.model.basis import normalised_note, sound_links
from core.model.change import NoteChange
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.storage.merge.deciding import OF_ITS_FACT, Deciding, conflict, other_way_round
from core.storage.merge.three_way import merge_note_fields, merge_notes, same_meaning


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
        if current is not None and same_meaning(current, after):
            return None
        made = conflict(
            ErrorCode.MADE_MEANWHILE,
            "a note with this id has been created since",
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
            "the note has been deleted since",
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
        what = "its fact has been renamed or hidden since"
        moved = conflict(ErrorCode.RENAMED_MEANWHILE, what, change.id, before.key, after.key, current.key)
        if not deciding.ours_stand(moved, after, current, "note", change.id):
            return None
        newest = replace(current, **{name: getattr(after, name) for name in OF_ITS_FACT})
    if newest == before:
        merged = _set_right(after, exists, undoing)
    else:
        merged = normalised_note(merge_notes(before, newest, after, other_way_round(deciding.value)), exists)
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
        after = normalised_note(
            merge_note_fields(before, current, after, other_way_round(deciding.value)), exists
        )
    elif not same_meaning(current, before):
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
    return normalised_note(note, exists)


def _rebase_removal(
    change: NoteChange, current: Note | None, snapshot: Snapshot, deciding: Deciding
) -> NoteChange | None:
    if current is None:
        return None
    assert change.before is not None
    if not same_meaning(current, change.before):
        what = "the note has changed since"
        found = conflict(
            ErrorCode.CHANGED_MEANWHILE, what, change.id, change.before.content, "", current.content
        )
        if not deciding.ours_stand(found, None, current, "note", change.id):
            return None
    return NoteChange(id=change.id, before=current, after=None, index=snapshot.places[current.id])
