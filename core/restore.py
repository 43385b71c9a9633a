"""Restoring: the changes that bring a memory, or one note, back to an earlier time."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from core.errors import BrokenFileError, ConflictError, InvalidInputError, NotFoundError, Remedy
from core.model.change import Author, ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.compare import Differences, differences
from core.model.fact import Fact
from core.model.names import check_nugget_name
from core.model.note import Note, normalised_note, replace, sound_links
from core.model.progress import Progress, watched
from core.model.snapshot import Snapshot

_KEPT: Final = "nothing was changed"
# What a recall moves, and what every change moves: neither is anything that somebody wrote.
_RECALL: Final = ("hits", "last_hit_session", "last_accessed_at")
_MOVES: Final = (*_RECALL, "last_rewritten_at", "updated_at", "vector")


def restoration(
    current: Snapshot,
    wanted: Snapshot,
    *,
    note: str | None = None,
    id: str,
    at: str,
    author: Author,
    reason: str,
    progress: Progress | None = None,
) -> ChangeSet:
    """The change set of kind "restore" that makes the memory as `wanted` was: what differs is set back, what is missing
    comes back to its place, and what came since goes.

    Left alone are notes that cannot be read in either, and nuggets whose file cannot be read in either or can bear no
    file's name (the reason then says so), with their notes. A nugget's settings stay, and a nugget that came since
    keeps its file, without facts.

    progress: told how many notes are compared.

    note: the id of the one note that is brought back, with its fact and the other ends of its links. Raises
    NotFoundError when it was not there, BrokenFileError when it or its nugget cannot be read, ConflictError when its
    key has been stored anew since, InvalidInputError when its nugget can have no file.
    """
    if note is not None:
        found = _of_one_note(current, wanted, note)
    else:
        found = differences(current, wanted, progress)
        nameless = _nameless(current, found.nuggets)
        found = _what_can_be_restored(found, current, wanted, nameless, progress)
        reason += f", except {', '.join(map(repr, nameless))}: no file can have this name" if nameless else ""
    return ChangeSet(id=id, at=at, author=author, reason=reason, kind="restore", **found._asdict())


# All of it


def _what_can_be_restored(
    found: Differences,
    current: Snapshot,
    wanted: Snapshot,
    nameless: Collection[str],
    progress: Progress | None,
) -> Differences:
    """What differs, without what cannot be read in one of the two."""
    closed = _closed(current, wanted) | set(nameless)
    unreadable = current.set_aside | wanted.set_aside
    # Of a note whose id cannot be read any newcomer may be the newer state.
    unread = sum(problem.kind.unreadable and not problem.nugget for problem in wanted.problems)
    newcomers_stay = unread > len(wanted.set_aside)
    notes = [
        change
        for change in found.notes
        if change.id not in unreadable
        and not (change.after is None and newcomers_stay)
        and not any(side and side.is_fact and side.nugget_name in closed for side in (change.before, change.after))
    ]  # fmt: skip
    going = {change.id for change in notes if change.after is None}
    there = {change.id for change in notes} | current.by_id.keys() | current.set_aside
    facts = [change for change in found.facts if change.nugget not in closed]
    return Differences(
        notes=tuple(
            msgspec.structs.replace(change, after=change.after and _sound(change.after, there - going))
            for change in watched(notes, progress)
        ),
        facts=(*facts, *_facts_as_they_are(notes, facts, current)),
        nuggets=tuple(c for c in found.nuggets if c.after is not None and c.name not in closed),
    )


def _closed(current: Snapshot, wanted: Snapshot) -> set[str]:
    """Nuggets whose file cannot be read in one of the two; there it is known by the file's name alone."""
    nuggets = [*current.nuggets, *wanted.nuggets]
    files = {nugget.file for nugget in nuggets if nugget.problem}
    return {nugget.name for nugget in nuggets if nugget.problem or nugget.file in files}


def _nameless(current: Snapshot, changes: Iterable[NuggetChange]) -> list[str]:
    """Nuggets that are to come back although no file can have their name."""
    known, found = set(current.by_name), []
    for change in changes:
        try:
            known |= {check_nugget_name(change.name, known)} if change.after is not None else set()
        except InvalidInputError:
            found.append(change.name)
    return found


def _facts_as_they_are(
    notes: Iterable[NoteChange], facts: Iterable[FactChange], current: Snapshot
) -> Iterable[FactChange]:
    """Facts that stay although their note comes back with another text: it is known that the two disagreed."""
    changed = {(change.nugget, change.key) for change in facts}
    for change in notes:
        note, appears = change.after, change.before is None or change.before.hidden
        nugget = current.by_name.get(note.nugget_name) if note is not None else None
        if note is None or nugget is None or note.hidden or not note.is_fact or not appears:
            continue
        place, fact = nugget.find(note.key) or (0, None)
        if fact is not None and (nugget.name, fact.key) not in changed and fact.value != note.content:
            yield FactChange(nugget=nugget.name, key=fact.key, before=fact, after=fact, index=place)


def _sound(note: Note, there: Collection[str]) -> Note:
    """The note without links to what is not there; its very self where it has none."""
    exists = there.__contains__
    return note if sound_links(note, exists) == note.links else normalised_note(note, exists)


# One note


def _of_one_note(current: Snapshot, wanted: Snapshot, id: str) -> Differences:
    """What brings one note back with its fact and the other ends of its links. Raises as `restoration` does."""
    former, present = _former(current, wanted, id), current.by_id.get(id)
    found = differences(current, wanted)
    there = {*current.by_id, *current.set_aside, id}
    after = _sound(_with_recalls_of(former, present), there)
    index = next((change.index for change in found.notes if change.id == id), None)
    notes = [NoteChange(id=id, before=present, after=after, index=index)] if after != present else []
    for other in found.notes:
        if other.id != id and other.before is not None:
            links = [link for link in (other.after.links if other.after else ()) if link.to == id]
            kept = [link for link in other.before.links if link.to != id]
            if {link.reason for link in links} != {
                link.reason for link in other.before.links if link.to == id
            }:
                end = normalised_note(replace(other.before, links=(*kept, *links)), there.__contains__)
                notes.append(NoteChange(id=other.id, before=other.before, after=end))
    fact = _fact_back(current, wanted, present, former, found)
    names = {fact.nugget} - current.by_name.keys() if fact is not None and fact.after is not None else set()
    for name in names:
        check_nugget_name(name, current.by_name)
    nuggets = tuple(one for one in found.nuggets if one.name in names)
    return Differences(tuple(notes), () if fact is None else (fact,), nuggets)


def _fact_back(
    current: Snapshot, wanted: Snapshot, present: Note | None, former: Note, found: Differences
) -> FactChange | None:
    """What becomes of the fact of a note; None for nothing. Raises ConflictError."""
    was, has = _fact_of(wanted, former), _fact_of(current, present)
    name = former.nugget_name
    if was is None:
        # A visible note whose fact was missing does not take it out of the file again.
        gone = has if former.hidden else None
        return gone and FactChange(nugget=name, key=gone[1].key, before=gone[1], after=None, index=gone[0])
    fact = was[1]
    if has is not None and present is not None and _with_recalls_of(former, present) is not former:
        fact = msgspec.structs.replace(fact, hits=has[1].hits, last_hit_session=has[1].last_hit_session)
    stands = current.by_name[name].find(fact.key) if name in current.by_name else None
    if stands is not None and (has is None or stands[1] is not has[1]):
        # The key may be in the file only if it says the same and stands for no other note.
        mirror = current.fact_notes.get((name, stands[1].key))
        shared = mirror is not None and not mirror.hidden and mirror.id != former.id
        if shared or has is not None or stands[1].value != fact.value:
            what = f"the nugget {name} has a new fact with the key {fact.key!r}"
            raise ConflictError(
                what, where=former.id, kept=_KEPT, todo="edit or forget the new fact first", field="value",
                ours=fact.value, theirs=stands[1].value,
            )  # fmt: skip
        has = stands
    if has is not None:
        same = fact == has[1]
        return (
            None if same else FactChange(nugget=name, key=has[1].key, before=has[1], after=fact, index=has[0])
        )
    index = next((one.index for one in found.facts if (one.nugget, one.key) == (name, fact.key)), None)
    return FactChange(nugget=name, key=fact.key, before=None, after=fact, index=index)


def _fact_of(snapshot: Snapshot, note: Note | None) -> tuple[int, Fact] | None:
    """The fact that a visible note mirrors, with its place."""
    if note is None or note.hidden or not note.is_fact or note.nugget_name not in snapshot.by_name:
        return None
    return snapshot.by_name[note.nugget_name].find(note.key)


def _former(current: Snapshot, wanted: Snapshot, id: str) -> Note:
    """The note as it was. Raises NotFoundError, BrokenFileError."""
    for snapshot, when, remedy, todo in (
        (current, "is now", Remedy("verify-repairable"), ""),
        (wanted, "was then", None, "choose another time"),
    ):
        if id in snapshot.set_aside:
            what = f"the note cannot be read as it {when}"
            raise BrokenFileError(what, where=id, kept="it is unchanged", remedy=remedy, todo=todo)
    former, present = wanted.by_id.get(id), current.by_id.get(id)
    if former is None:
        what = "the note did not exist at that time"
        raise NotFoundError(what, field="note", where=id, kept=_KEPT)
    closed = _closed(current, wanted)
    for note in (former, present):
        if note is not None and note.is_fact and note.nugget_name in closed:
            where = f"{id}: {note.nugget_name}"
            raise BrokenFileError(
                "its fact file cannot be read", remedy=Remedy("repair"), where=where, kept="it is unchanged"
            )
    return former


def _with_recalls_of(former: Note, present: Note | None) -> Note:
    """A former note with the recalls that it has now. Where nothing but recalls differs, they are what is to come back;
    a hidden note has none of its own to keep.
    """
    if present is None or present.hidden:
        return former
    written = [name for name in former.__struct_fields__ if name not in _MOVES]
    if all(getattr(former, name) == getattr(present, name) for name in written):
        return former
    return replace(former, **{name: getattr(present, name) for name in _RECALL})
