"""Joins conflict copies into a memory: the merge of what they say, over the versions that the log knows as base."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from core.model.build import as_visible_fact, new_note
from core.model.change import ChangeSet, NoteChange
from core.model.compare import alike, differences, laid_over
from core.model.draft import Draft
from core.model.entry import Conflict
from core.model.fact import Fact, Nugget
from core.model.note import Note, custom_tags, normalised_note, replace
from core.model.snapshot import Snapshot
from core.storage.format.documents import Document, GraphDocument, NuggetDocument, id_of
from core.storage.merge.merge import (
    EditsWin,
    changes,
    in_step,
    linked_both_ways,
    told_once,
    without_odd_nuggets,
)
from core.storage.merge.rebase import rebase
from core.storage.merge.three_way import same_meaning

T = TypeVar("T", Note, Fact)
# Asked with a note's id, or a fact's nugget, and the note or fact: the versions of it that the memory is known to have
# held, oldest first.
Versions = Callable[[str, Any], Sequence[Any]]


@dataclass
class Joined:
    """What joining comes to. waiting: where both were changed, and the memory's own version stands, each with what the
    copy says. left_out: nuggets whose names no file can have.
    """

    change_set: ChangeSet
    waiting: list[tuple[Conflict, ChangeSet]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The conflicts alone; `ours` is the copy's version."""
        return tuple(found for found, _ in self.waiting)


def join(
    copies: Sequence[Document],
    current: Snapshot,
    versions: Versions,
    draft: Callable[[Snapshot], Draft],
    entry: ChangeSet,
    gone: Collection[Path] = (),
) -> Joined:
    """What the copies of one memory's files, all of them at once, add to it, as `entry` with it in it.

    The base of a note or fact is the known version of it that comes closest; one that is known itself says nothing new,
    and one of which nothing is known has no base. Nothing is deleted because a copy lacks it. Facts and their notes
    stay in step.

    gone: the copies whose original does not exist. Such a copy is the file under another name, and nothing of it was
    deleted on purpose: all of it comes back, whatever the memory once held.
    """
    joined, present, known = Joined(entry), current, set[tuple[str, ...]]()
    of: dict[str | None, list[Document]] = {}
    for copy in copies:
        of.setdefault(copy.meta.name if isinstance(copy, NuggetDocument) else None, []).append(copy)
    # The first copy of each file, then the second of each, and so on.
    for row in zip_longest(*of.values()):
        one = [copy for copy in row if copy is not None]
        theirs = _snapshot(one, lambda _, item: item)
        kept = [copy for copy in one if copy.path not in gone]
        base = _snapshot(kept, partial(_base, versions, present, theirs))
        made, odd = without_odd_nuggets(changes(base, present, theirs, entry), present)
        made = in_step(made, present)
        decide = EditsWin()
        present = laid_over(present, linked_both_ways(rebase(made, present, decide), present))
        present = laid_over(present, _noted(draft(present), made))
        joined.waiting += told_once(decide.conflicts, made, known)
        joined.left_out += odd
    found = differences(current, present)
    notes = tuple(_set_right(change, present, entry.at) for change in found.notes)
    joined.change_set = msgspec.structs.replace(entry, notes=notes, facts=found.facts, nuggets=found.nuggets)
    return joined


def _snapshot(documents: Iterable[Document], version: Callable[[str, Any], Note | Fact | None]) -> Snapshot:
    """What files say, in one version of each of their notes and facts."""
    notes: list[Note] = []
    nuggets: list[Nugget] = []
    for document in documents:
        place = document.meta.name if isinstance(document, NuggetDocument) else ""
        first = {id_of(item): item for item in reversed(document.items) if item is not None}
        items = [version(place, item) for item in reversed(first.values())]
        if isinstance(document, GraphDocument):
            notes += (item for item in items if isinstance(item, Note))
        else:
            facts = tuple(item for item in items if isinstance(item, Fact))
            nuggets.append(Nugget(meta=document.meta, facts=facts))
    return Snapshot(notes=tuple(notes), nuggets=tuple(nuggets))


def _base(
    versions: Versions, present: Snapshot, theirs: Snapshot, place: str, item: Note | Fact
) -> Note | Fact | None:
    """The version that a note or fact of a copy was made from, None for none.

    A fact that is not known bears no id: its note tells whether it is a known one that was changed.
    """
    known = versions(place if isinstance(item, Fact) else item.id, item)
    if isinstance(item, Note):
        return _closest(item, known)
    if item in known:
        return item
    mine, note = (one.fact_notes.get((place, item.key)) for one in (present, theirs))
    if mine is not None and mine.hidden_fact is not None:
        # It was forgotten here, and waits in its note.
        return as_visible_fact(mine.hidden_fact)
    base = _closest(note, versions(note.id, note)) if note is not None else None
    if base is None or base.hidden:
        return None
    named = msgspec.structs.replace(item, key=base.key, value=base.content)
    return _closest(item, [one for one in known if alike(one.value, base.content)]) or named


# What of a note or fact moves without anybody writing it.
_UNWRITTEN: Final = frozenset(
    {
        "hits",
        "last_hit_session",
        "last_accessed_at",
        "last_rewritten_at",
        "created_at",
        "updated_at",
        "vector",
    }
    | {"archived_at", "hidden_fact", "tags", "page", "extra"}
)


def _closest(item: T, known: Sequence[T]) -> T | None:
    """The version from which an item differs in the fewest things that somebody writes. Of several the one of its time,
    which a program that moves no time has changed; else the first, since a later one may be this memory's own edit.
    """

    def distance(one: T) -> tuple[int, bool, int]:
        differing = {n for n in item.__struct_fields__ if getattr(one, n) != getattr(item, n)}
        written = len(differing - _UNWRITTEN)
        if isinstance(one, Note) and isinstance(item, Note):
            written += set(custom_tags(one)) != set(custom_tags(item))
        return written, "updated_at" in differing, 0 if written else len(differing)

    return min(known, key=distance, default=None)


def _noted(draft: Draft, made: ChangeSet) -> ChangeSet:
    """What gives each fact that came a note, and has a note that came say what its fact says."""
    for nugget, key in {(one.nugget, one.after.key): None for one in made.facts if one.after is not None}:
        held, note = draft.find_fact(nugget, key), draft.fact_note(nugget, key, hidden=False)
        if held is None:
            continue
        fact = held[1]
        if note is None:
            made_note = new_note(draft, "fact", nugget, fact.key, fact.value)
            draft.put(replace(made_note, hits=fact.hits, last_hit_session=fact.last_hit_session))
        elif not alike(note.content, fact.value):
            draft.put(replace(note, content=fact.value))
    return draft.change_set("", kind="import")


def _set_right(change: NoteChange, present: Snapshot, at: str) -> NoteChange:
    """A note as it is to stand; one that was changed by a program that moves no time bears the present one."""
    before, after = change.before, change.after
    if after is None:
        return change
    moved = before is None or after.updated_at > before.updated_at or same_meaning(before, after)
    after = after if moved else replace(after, updated_at=at)
    return msgspec.structs.replace(change, after=normalised_note(after, present.by_id.__contains__))
