"""Restoring: the changes that bring a memory, or one note, back to an earlier time."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from core.errors import BrokenFileError, ConflictError, InvalidInputError, NotFoundError, Remedy
from core.model.change import Author, ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.compare import Differences, differences
from core.model.fact import Fact, Nugget
from core.model.names import check_nugget_name
from core.model.note import Link, Note, normalised_note, replace, sound_links
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
        found = differences(current, _with_note_back(current, wanted, note))
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


def _with_note_back(current: Snapshot, wanted: Snapshot, id: str) -> Snapshot:
    """The present memory with one note as it was then. Raises as `restoration` does."""
    former, present = _former(current, wanted, id), current.by_id.get(id)
    there = {*current.by_id, *current.set_aside, id}
    counted = _with_recalls_of(former, present)
    after = _sound(counted, there)
    changed = {id: after} | {
        end.id: end for end in _other_ends(current, present.links if present else (), after) if end.id != id
    }
    notes = [changed.get(note.id, note) for note in current.notes]
    if present is None:
        place = _place(id, [note.id for note in wanted.notes], [note.id for note in notes])
        notes.insert(place, after)
    nuggets = _with_fact_back(current, wanted, present, former, keeps_recalls=counted is not former)
    return dataclasses.replace(current, notes=tuple(notes), nuggets=nuggets, problems=())


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


def _other_ends(current: Snapshot, before: Iterable[Link], after: Note) -> Iterable[Note]:
    """The notes at the other ends of the links that come and go, with their own ends put right."""
    old, new = ({(link.to, link.reason): link for link in links} for links in (before, after.links))
    there = {*current.by_id, *current.set_aside, after.id}
    for target in dict.fromkeys(to for to, _ in (*new, *old)):
        end = current.by_id.get(target)
        if end is None:
            continue
        kept = [
            link
            for link in end.links
            if link.to != after.id or (target, link.reason) not in old.keys() - new.keys()
        ]
        held = {link.reason for link in kept if link.to == after.id}
        gained = [
            Link(to=after.id, reason=reason, created_at=link.created_at)
            for (to, reason), link in new.items()
            if to == target and (to, reason) not in old and reason not in held
        ]
        if (*kept, *gained) != end.links:
            yield normalised_note(replace(end, links=(*kept, *gained)), there.__contains__)


def _with_fact_back(
    current: Snapshot, wanted: Snapshot, present: Note | None, former: Note, *, keeps_recalls: bool
) -> tuple[Nugget, ...]:
    """The nuggets with the fact of the note as it was. Raises ConflictError, InvalidInputError."""
    was, has = _fact_of(wanted, former), _fact_of(current, present)
    nugget = current.by_name.get(former.nugget_name)
    if was is None:
        # A visible note whose fact was missing does not take it out of the file again.
        if nugget is None or has is None or not former.hidden or _is_shared(current, former, has.key):
            return current.nuggets
        kept = tuple(fact for fact in nugget.facts if fact is not has)
        return _with(current, msgspec.structs.replace(nugget, facts=kept))
    if keeps_recalls and has is not None:
        was = msgspec.structs.replace(was, hits=has.hits, last_hit_session=has.last_hit_session)
    if nugget is None:
        check_nugget_name(former.nugget_name, current.by_name)
        return _with(current, Nugget(meta=wanted.nugget(former.nugget_name).meta, facts=(was,)))
    _, there = nugget.find(was.key) or (0, None)
    if there is not None and there is not has:
        # The key may be in the file only if it says the same and stands for no other note.
        if has is not None or there.value != was.value or _is_shared(current, former, there.key):
            what = f"the nugget {nugget.name} has a new fact with the key {there.key!r}"
            raise _conflict(what, former.id, was, there)
        has = there
    if has is None:
        facts = list(nugget.facts)
        order = [fact.key for fact in wanted.nugget(nugget.name).facts]
        facts.insert(_place(was.key, order, [fact.key for fact in facts]), was)
    else:
        if has != was and _is_shared(current, former, has.key):
            raise _conflict("another note holds the same fact", former.id, was, has)
        facts = [was if fact is has else fact for fact in nugget.facts]
    return _with(current, msgspec.structs.replace(nugget, facts=tuple(facts)))


def _with(snapshot: Snapshot, nugget: Nugget) -> tuple[Nugget, ...]:
    nuggets = dict(snapshot.by_name) | {nugget.name: nugget}
    return tuple(nuggets[name] for name in sorted(nuggets))


def _fact_of(snapshot: Snapshot, note: Note | None) -> Fact | None:
    """The fact that a visible note mirrors."""
    if note is None or note.hidden or not note.is_fact or note.nugget_name not in snapshot.by_name:
        return None
    return (snapshot.by_name[note.nugget_name].find(note.key) or (0, None))[1]


def _is_shared(current: Snapshot, former: Note, key: str) -> bool:
    """Whether another visible note mirrors the same fact."""
    name = (former.nugget_name, key)
    return any(
        note.is_fact and not note.hidden and note.id != former.id and (note.nugget_name, note.key) == name
        for note in current.notes
    )


def _conflict(what: str, where: str, was: Fact, there: Fact) -> ConflictError:
    return ConflictError(
        what, where=where, kept=_KEPT, todo="edit or forget the new fact first", ours=was.value,
        theirs=there.value, field="value",
    )  # fmt: skip


def _place(wanted: str, order: list[str], present: list[str]) -> int:
    """Where something comes back: behind the nearest that stood before it and is still there, else at the beginning."""
    places = {name: place for place, name in reversed(list(enumerate(present)))}
    before = order[: order.index(wanted)]
    return next((places[name] + 1 for name in reversed(before) if name in places), 0)
