"""Restoring: the changes that bring a memory, or one note, back to an earlier time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from core.errors import (
    BrokenFileError,
    ConflictError,
    ErrorCode,
    InvalidInputError,
    NotFoundError,
    Repair,
    Verify,
)
from core.model.change import Author, ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.compare import Differences, differences
from core.model.fact import Fact
from core.model.names import check_nugget_name
from core.model.note import Link, Note, normalised_note, replace, sound_links
from core.model.progress import Progress, watched
from core.model.snapshot import Snapshot

_KEPT: Final = "nothing was changed"


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
        found = _OneNote(current, wanted, note).differences()
    else:
        found, nameless = _everything(current, wanted, progress)
        reason += f", except {', '.join(map(repr, nameless))}: no file can have this name" if nameless else ""
    return ChangeSet(
        id=id,
        at=at,
        author=author,
        reason=reason,
        kind="restore",
        notes=found.notes,
        facts=found.facts,
        nuggets=found.nuggets,
    )


def reason_of(words: str, note: str | None) -> str:
    """What the log says of going back. words: what the state is called; note: as in `restoration`."""
    return f"restored the memory from {words}" if note is None else f"restored a note from {words}"


# All of it


def _everything(
    current: Snapshot, wanted: Snapshot, progress: Progress | None
) -> tuple[Differences, list[str]]:
    """The changes, and the names of nuggets that cannot come back."""
    found = differences(current, wanted, progress)
    nameless = _nameless(current, found.nuggets)
    closed = _closed(current, wanted) | set(nameless)
    unreadable = current.set_aside | wanted.set_aside
    keeps_newcomers = _holds_illegible(wanted)
    notes = [
        change
        for change in watched(found.notes, progress)
        if change.id not in unreadable
        and not any(note.is_fact and note.nugget_name in closed for note in _sides(change))
        and not (change.after is None and keeps_newcomers)
    ]
    facts = [change for change in found.facts if change.nugget not in closed]
    facts += _facts_as_they_are(notes, facts, current)
    leaving = {change.id for change in notes if change.after is None}
    arriving = {change.id for change in notes}

    def exists(id: str) -> bool:
        return id not in leaving and (id in arriving or id in current.by_id or id in current.set_aside)

    return (
        Differences(
            notes=tuple(_with_sound_links(change, exists) for change in watched(notes, progress)),
            facts=tuple(facts),
            nuggets=tuple(c for c in found.nuggets if c.after is not None and c.name not in closed),
        ),
        nameless,
    )


def _sides(change: NoteChange) -> list[Note]:
    return [note for note in (change.before, change.after) if note is not None]


def _closed(current: Snapshot, wanted: Snapshot) -> set[str]:
    """Nuggets whose file cannot be read in one of the two; there it is known by the file's name alone."""
    nuggets = [*current.nuggets, *wanted.nuggets]
    files = {nugget.file for nugget in nuggets if nugget.problem}
    return {nugget.name for nugget in nuggets if nugget.problem or nugget.file in files}


def _nameless(current: Snapshot, changes: Iterable[NuggetChange]) -> list[str]:
    """Nuggets that are to come back although no file can have their name."""
    known = set(current.by_name)
    found: list[str] = []
    for change in changes:
        if change.after is None:
            continue
        try:
            known.add(check_nugget_name(change.name, known))
        except InvalidInputError:
            found.append(change.name)
    return found


def _holds_illegible(snapshot: Snapshot) -> bool:
    """Whether it holds notes that cannot be read and whose ids are not known: any newcomer may be one of them."""
    unread = sum(problem.kind.unreadable and not problem.nugget for problem in snapshot.problems)
    return unread > len(snapshot.set_aside)


def _facts_as_they_are(
    notes: list[NoteChange], facts: list[FactChange], current: Snapshot
) -> list[FactChange]:
    """Facts that stay although their note comes back with another text: it is known that the two disagreed."""
    changed = {(change.nugget, change.key) for change in facts}
    found: list[FactChange] = []
    for change in notes:
        note = change.after
        appears = change.before is None or change.before.hidden
        if note is None or note.hidden or not note.is_fact or not appears:
            continue
        nugget = current.by_name.get(note.nugget_name)
        there = nugget.find(note.key) if nugget else None
        if there is None or (note.nugget_name, there[1].key) in changed or there[1].value == note.content:
            continue
        place, fact = there
        found.append(FactChange(nugget=note.nugget_name, key=fact.key, before=fact, after=fact, index=place))
    return found


def _with_sound_links(change: NoteChange, exists: Callable[[str], bool]) -> NoteChange:
    after = change.after
    if after is None or sound_links(after, exists) == after.links:
        return change
    return msgspec.structs.replace(change, after=normalised_note(after, exists))


# One note

# What a recall moves, and what every change moves: neither is anything that somebody wrote.
_RECALL: Final = ("hits", "last_hit_session", "last_accessed_at")
_MOVES: Final = (*_RECALL, "last_rewritten_at", "updated_at", "vector")


def _with_recalls_of(former: Note, present: Note | None) -> tuple[Note, bool]:
    """A former note with the recalls that it has now, and whether it took them over.

    Where nothing but recalls differs, they are what is to come back; a hidden note has none of its own to keep.
    """
    if present is None or present.hidden:
        return former, False
    written = [name for name in former.__struct_fields__ if name not in _MOVES]
    if all(getattr(former, name) == getattr(present, name) for name in written):
        return former, False
    return replace(former, **{name: getattr(present, name) for name in _RECALL}), True


@dataclass
class _OneNote:
    """The changes that bring one note back, with what belongs to it."""

    current: Snapshot
    wanted: Snapshot
    id: str
    _closed: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self._closed = _closed(self.current, self.wanted)

    def differences(self) -> Differences:
        """The changes. Raises as `restoration` does."""
        then, present = self._former(), self.current.by_id.get(self.id)
        former, moved = _with_recalls_of(then, present)
        exists = {*self.current.by_id, *self.current.set_aside, self.id}.__contains__
        after = former if sound_links(former, exists) == former.links else normalised_note(former, exists)
        facts, nuggets = self._facts(present, former, keeps_recalls=moved)
        if present == after:
            return Differences((), facts, nuggets)
        index = None
        if present is None:
            order = [note.id for note in self.wanted.notes]
            index = _place_after_the_same(order, self.id, [note.id for note in self.current.notes])
        own = NoteChange(id=self.id, before=present, after=after, index=index)
        ends = self._other_ends(present.links if present is not None else (), after.links, exists)
        return Differences((own, *ends), facts, nuggets)

    def _former(self) -> Note:
        former, present = self.wanted.by_id.get(self.id), self.current.by_id.get(self.id)
        for snapshot, when, remedy, todo in (
            (self.current, "is now", Verify(repairable=True), ""),
            (self.wanted, "was then", None, "choose another time"),
        ):
            if self.id in snapshot.set_aside:
                raise BrokenFileError(
                    f"the note cannot be read as it {when}",
                    where=self.id,
                    kept="it is unchanged",
                    remedy=remedy,
                    todo=todo,
                )
        if former is None:
            raise NotFoundError(
                "the note did not exist at that time", code=ErrorCode.NO_SUCH_NOTE, where=self.id, kept=_KEPT
            )
        for note in (former, present):
            if note is not None and note.is_fact and note.nugget_name in self._closed:
                raise BrokenFileError(
                    "its fact file cannot be read", remedy=Repair(), where=f"{self.id}: {note.nugget_name}",
                    kept="it is unchanged",
                )  # fmt: skip
        return former

    def _facts(
        self, present: Note | None, former: Note, *, keeps_recalls: bool
    ) -> tuple[tuple[FactChange, ...], tuple[NuggetChange, ...]]:
        was, has = self._fact_of(self.wanted, former), self._fact_of(self.current, present)
        if keeps_recalls and was is not None and has is not None:
            counted = {"hits": has[1].hits, "last_hit_session": has[1].last_hit_session}
            was = was[0], msgspec.structs.replace(was[1], **counted)
        name = former.nugget_name
        if was is None:
            # A visible note whose fact was missing does not take it out of the file again.
            leaves = former.hidden and has is not None and not self._is_shared(name, has[1].key)
            return (self._fact_change(name, has, None),) if leaves else (), ()
        nugget = self.current.by_name.get(name)
        there = nugget.find(was[1].key) if nugget is not None else None
        if there is not None and there != has:
            # The key may be in the file only if it says the same and stands for no other note.
            if has is not None or there[1].value != was[1].value or self._is_shared(name, there[1].key):
                raise self._conflict(
                    f"the nugget {name} has a new fact with the key {there[1].key!r}", was[1], there[1]
                )
            has = there
        if has is not None and has[1] != was[1] and self._is_shared(name, has[1].key):
            raise self._conflict("another note holds the same fact", was[1], has[1])
        changes = (self._fact_change(name, has, was),) if has is None or has[1] != was[1] else ()
        if nugget is not None:
            return changes, ()
        check_nugget_name(name, self.current.by_name)
        return changes, (NuggetChange(name=name, before=None, after=self.wanted.nugget(name).meta),)

    def _fact_of(self, snapshot: Snapshot, note: Note | None) -> tuple[int, Fact] | None:
        """Place and fact of the fact that a visible note mirrors."""
        if note is None or note.hidden or not note.is_fact:
            return None
        nugget = snapshot.by_name.get(note.nugget_name)
        return nugget.find(note.key) if nugget is not None else None

    def _is_shared(self, nugget: str, key: str) -> bool:
        """Whether another visible note mirrors the same fact."""
        return any(
            note.is_fact
            and not note.hidden
            and note.id != self.id
            and (note.nugget_name, note.key) == (nugget, key)
            for note in self.current.notes
        )

    def _conflict(self, what: str, was: Fact, there: Fact) -> ConflictError:
        return ConflictError(
            what,
            where=self.id,
            kept=_KEPT,
            todo="edit or forget the new fact first",
            ours=was.value,
            theirs=there.value,
            field="value",
        )

    def _fact_change(
        self, nugget: str, has: tuple[int, Fact] | None, was: tuple[int, Fact] | None
    ) -> FactChange:
        if has is not None:
            return FactChange(
                nugget=nugget, key=has[1].key, before=has[1], after=was[1] if was else None, index=has[0]
            )
        assert was is not None
        present = self.current.by_name.get(nugget)
        order = [fact.key for fact in self.wanted.nugget(nugget).facts]
        index = _place_after_the_same(
            order, was[1].key, [fact.key for fact in present.facts] if present is not None else []
        )
        return FactChange(nugget=nugget, key=was[1].key, before=None, after=was[1], index=index)

    def _other_ends(
        self, before: tuple[Link, ...], after: tuple[Link, ...], exists: Callable[[str], bool]
    ) -> list[NoteChange]:
        """The notes at the other ends of the links that come and go, with their own ends put right."""
        old, new = ({(link.to, link.reason): link for link in links} for links in (before, after))
        changes: list[NoteChange] = []
        for target in dict.fromkeys(to for to, _ in (*new, *old)):
            end = self.current.by_id.get(target)
            if end is None or target == self.id or (end.is_fact and end.nugget_name in self._closed):
                continue
            lost = {reason for to, reason in old.keys() - new.keys() if to == target}
            kept = [link for link in end.links if link.to != self.id or link.reason not in lost]
            held = {link.reason for link in kept if link.to == self.id}
            gained = [new[key] for key in new if key not in old and key[0] == target and key[1] not in held]
            links = (*kept, *(self._end_of(link) for link in gained))
            if links != end.links:
                changes.append(
                    NoteChange(
                        id=target, before=end, after=normalised_note(replace(end, links=links), exists)
                    )
                )
        return changes

    def _end_of(self, link: Link) -> Link:
        """The other end of a link, as it was if it was there."""
        end = self.wanted.by_id.get(link.to)
        held = end.links if end is not None else ()
        return next(
            (other for other in held if (other.to, other.reason) == (self.id, link.reason)),
            Link(to=self.id, reason=link.reason, created_at=link.created_at),
        )


def _place_after_the_same(order: list[str], wanted: str, present: list[str]) -> int:
    """Where something comes back: behind the nearest that stood before it and is still there, else at the beginning."""
    places = {name: place for place, name in reversed(list(enumerate(present)))}
    before = order[: order.index(wanted)]
    return next((places[name] + 1 for name in reversed(before) if name in places), 0)
