"""What differs between two snapshots, as plain changes and as the change sets of another program; changes laid over a
snapshot again.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from core.model.change import Author, ChangeSet, FactChange, NoteChange, NuggetChange, drops_recall
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note, replace
from core.model.progress import Progress, counted
from core.model.snapshot import ProblemKind, Snapshot
from core.text.normalise import squeeze


class Differences(NamedTuple):
    """Everything that differs between two snapshots."""

    notes: tuple[NoteChange, ...]
    facts: tuple[FactChange, ...]
    nuggets: tuple[NuggetChange, ...]


def alike(one: Any, other: Any) -> bool:
    """Whether two values are equal, texts also when they differ by white space alone."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other or squeeze(one) == squeeze(other)
    return bool(one == other)


def differences(before: Snapshot, after: Snapshot, progress: Progress | None = None) -> Differences:
    """What is to be changed in `before` so that it says what `after` says, times and vector recipes as well.

    `index` is the place in `before` of what goes or is a changed fact, and the place in `after` of what is new (None:
    at the end). What cannot be read in `after` is not gone: notes set aside, and facts of a file that is broken as a
    whole or in part. A nugget's settings and the mere order of notes and facts are not compared. progress: told how
    many of the notes that may differ are compared.
    """
    facts: list[FactChange] = []
    nuggets: list[NuggetChange] = []
    for name in sorted(before.by_name.keys() | after.by_name.keys()):
        old, new = before.by_name.get(name), after.by_name.get(name)
        if old is new or (old is not None and old.problem) or (new is not None and new.problem):
            continue
        if old is None or new is None:
            metas = (old.meta if old else None), (new.meta if new else None)
            nuggets.append(NuggetChange(name=name, before=metas[0], after=metas[1]))
        changes = _fact_changes(name, old.facts if old else (), new.facts if new else ())
        whole = facts_are_whole(after, name)
        facts += (change for change in changes if whole or change.after is not None)
    return Differences(tuple(_note_changes(before, after, progress)), tuple(facts), tuple(nuggets))


def facts_are_whole(snapshot: Snapshot, nugget: str) -> bool:
    """Whether every fact of a nugget could be read, so that one which is not there is gone."""
    return not any(
        problem.nugget == nugget and problem.kind is ProblemKind.UNREADABLE_FACT
        for problem in snapshot.problems
    )


def _note_changes(before: Snapshot, after: Snapshot, progress: Progress | None) -> Iterator[NoteChange]:
    old, new = before.by_id, after.by_id
    # Notes whose bytes did not change are the same objects in both, so this costs little more than those that did.
    changed = [note for note in new.values() if old.get(note.id) is not note]
    last_kept = -1
    if any(note.id not in old for note in changed):
        last_kept = max((place for place, note in enumerate(after.notes) if note.id in old), default=-1)
    for note in changed if progress is None else counted(changed, progress):
        former = old.get(note.id)
        if former is None:
            place = after.places[note.id]
            yield NoteChange(id=note.id, before=None, after=note, index=place if place < last_kept else None)
        elif former != note:
            yield NoteChange(id=note.id, before=former, after=note)
    for place, note in enumerate(before.notes):
        if note.id not in new and note.id not in after.set_aside:
            yield NoteChange(id=note.id, before=note, after=None, index=place)


def _fact_changes(nugget: str, old: tuple[Fact, ...], new: tuple[Fact, ...]) -> Iterator[FactChange]:
    before, after = ({fact.key: fact for fact in facts} for facts in (old, new))
    for place, fact in enumerate(old):
        found = after.get(fact.key)
        if found != fact:
            yield FactChange(nugget=nugget, key=fact.key, before=fact, after=found, index=place)
    last_kept = max((place for place, fact in enumerate(new) if fact.key in before), default=-1)
    for place, fact in enumerate(new):
        if fact.key not in before:
            index = place if place < last_kept else None
            yield FactChange(nugget=nugget, key=fact.key, before=None, after=fact, index=index)


def laid_over(snapshot: Snapshot, change_set: ChangeSet | Differences) -> Snapshot:
    """The snapshot with changes carried out that were thought out, or rebased, on it; nothing is checked."""
    return _all_laid_over(snapshot, (change_set,))


def at_moment(current: Snapshot, entries: Iterable[ChangeSet]) -> Snapshot:
    """The memory as it was before these change sets, newest first, were made on it.

    Each note and fact is set to what it was before; what does not fit, since it is gone or another by now, is put
    where it stood or passed over. A nugget whose file cannot be read stays as it is.
    """
    found = _all_laid_over(
        current, (one.inverse(id="", at="", author=one.author, reason="") for one in entries)
    )
    ids = {note.id for note in found.notes}
    aside = frozenset(id for id in current.set_aside if id not in ids)
    return dataclasses.replace(found, problems=(), set_aside=aside, revision=0)


def _all_laid_over(snapshot: Snapshot, change_sets: Iterable[ChangeSet | Differences]) -> Snapshot:
    notes = _Notes(snapshot.notes)
    nuggets = {nugget.name: nugget for nugget in snapshot.nuggets}
    for change_set in change_sets:
        notes.lay(change_set.notes)
        for made in change_set.nuggets:
            if made.after is not None:
                nuggets.setdefault(made.name, Nugget(meta=made.after))
        for name in dict.fromkeys(change.nugget for change in change_set.facts):
            held = nuggets.get(name) or Nugget(meta=NuggetMeta(name=name))
            if not held.problem:
                changes = [change for change in change_set.facts if change.nugget == name]
                nuggets[name] = msgspec.structs.replace(held, facts=_facts_after(held.facts, changes))
        for gone in change_set.nuggets:
            left = nuggets.get(gone.name)
            if gone.after is None and left is not None and not (left.facts or left.problem):
                del nuggets[gone.name]
    return dataclasses.replace(
        snapshot, notes=notes.present(), nuggets=tuple(nuggets[name] for name in sorted(nuggets))
    )


def _place(change: NoteChange | FactChange) -> int:
    """Where what comes is put among the others; behind all of them where nobody says."""
    return sys.maxsize if change.index is None else change.index


class _Slot:
    """A place in the order of notes; None when its note is not there yet, or any more."""

    __slots__ = ("note",)

    def __init__(self, note: Note | None) -> None:
        self.note = note


class _Notes:
    """Notes in order, each found by its id without a search."""

    def __init__(self, notes: Iterable[Note]) -> None:
        self._slots = [_Slot(note) for note in notes]
        self._by_id: dict[str, _Slot] = {}
        self._gaps = False
        for slot in self._slots:
            assert slot.note is not None
            self._by_id.setdefault(slot.note.id, slot)

    def present(self) -> tuple[Note, ...]:
        """The notes as they are by now."""
        return tuple(slot.note for slot in self._slots if slot.note is not None)

    def lay(self, changes: Iterable[NoteChange]) -> None:
        """Carries out the changes of one change set; a note that was to go, or to change, and is gone, comes back."""
        coming: list[tuple[int, Note]] = []
        for change in changes:
            former = change.before or change.after
            slot = self._by_id.get(former.id) if former is not None else None
            if slot is None:
                if change.after is not None:
                    coming.append((_place(change), change.after))
                continue
            if change.before is not None and self._by_id.get(change.before.id) is slot:
                del self._by_id[change.before.id]
            slot.note = change.after
            self._gaps = self._gaps or change.after is None
            if change.after is not None:
                self._by_id.setdefault(change.after.id, slot)
        if coming and self._gaps:
            self._slots = [slot for slot in self._slots if slot.note is not None]
            self._gaps = False
        for place, note in sorted(coming, key=lambda item: item[0]):
            slot = _Slot(note)
            self._slots.insert(place, slot)
            self._by_id.setdefault(note.id, slot)


def _facts_after(facts: tuple[Fact, ...], changes: list[FactChange]) -> tuple[Fact, ...]:
    """A nugget's facts with one change set's changes of them carried out."""
    kept: list[Fact | None] = list(facts)
    claimed: set[int] = set()
    coming: list[tuple[int, Fact]] = []
    for change in changes:
        place = _place_of(facts, change, claimed)
        if place is not None:
            claimed.add(place)
            kept[place] = change.after
        elif change.after is not None:
            coming.append((_place(change), change.after))
    # What stands behind another of its key counts once that one goes, and counts no more when it is back.
    back = {fact.key for _, fact in coming}
    found = [
        fact
        for place, fact in enumerate(kept)
        if fact is not None and (place in claimed or fact.key not in back)
    ]
    for at, fact in sorted(coming, key=lambda item: item[0]):
        found.insert(at, fact)
    return tuple(found)


def _place_of(facts: tuple[Fact, ...], change: FactChange, claimed: set[int]) -> int | None:
    """Where a fact stands as it was before its change: the very same if it is there, else one of its key."""
    before, index = change.before, change.index
    if before is None:
        return None
    if index is not None and index < len(facts) and facts[index] == before and index not in claimed:
        return index
    places = [place for place, fact in enumerate(facts) if fact.key == before.key and place not in claimed]
    same = [place for place in places if facts[place] == before]
    return next(iter([*same, *places]), None)


# What another program did

# What a recall moves, and when a reflection last looked at a note: nothing of what is remembered.
HIT_FIELDS: Final = frozenset({"hits", "last_hit_session", "last_accessed_at", "last_rewritten_at"})
# What the original moves in every fact note when it merely loads.
UNSAID_FIELDS: Final = frozenset({"updated_at", "vector"})
_TEXTS: Final = ("content", "value")
_Change = TypeVar("_Change", NoteChange, FactChange)


def outside_changes(
    before: Snapshot,
    after: Snapshot,
    *,
    ids: Callable[[], str],
    at: str,
    author: Author,
    found: Differences | None = None,
) -> tuple[ChangeSet, ...]:
    """What another program did between two snapshots: recalls as a change set of kind "hit", recalls that it dropped as
    another one, the times at which a reflection looked at notes as a third, the rest as "outside".

    None of them is empty. White space of a text, times and vector recipes alone are no change: the original moves
    them whenever it loads or saves. `ids` gives the id of each change set. found: the differences, where known already.
    """
    found = found or differences(before, after)
    notes = [_split(change) for change in found.notes]
    facts = [_split(change) for change in found.facts]
    hits = [hit for hit, _ in notes if hit is not None]
    recalls = [hit for hit in hits if is_recall(hit)]
    counted_facts = [hit for hit, _ in facts if hit is not None]
    recalled = ChangeSet(
        id="",
        at=at,
        author=author,
        reason="",
        kind="hit",
        notes=tuple(hit for hit in recalls if not drops_recall(hit)),
        facts=tuple(hit for hit in counted_facts if not drops_recall(hit)),
    )
    dropped = msgspec.structs.replace(
        recalled,
        notes=tuple(filter(drops_recall, recalls)),
        facts=tuple(filter(drops_recall, counted_facts)),
    )
    looked_at = msgspec.structs.replace(
        recalled, notes=tuple(hit for hit in hits if not is_recall(hit)), facts=()
    )
    changed = ChangeSet(
        id="",
        at=at,
        author=author,
        reason="",
        kind="outside",
        notes=tuple(rest for _, rest in notes if rest is not None),
        facts=tuple(rest for _, rest in facts if rest is not None),
        nuggets=found.nuggets,
    )
    return tuple(
        msgspec.structs.replace(change_set, id=ids(), reason=say(change_set))
        for change_set, say in (
            (recalled, _recalls),
            (dropped, _dropped_recalls),
            (looked_at, _looks),
            (changed, _summary),
        )
        if not change_set.empty
    )


def _split(change: _Change) -> tuple[_Change | None, _Change | None]:
    """A change as the recalls in it and the rest of it."""
    before, after = change.before, change.after
    if before is None or after is None:
        return None, change
    spaced: Any = {name: getattr(before, name) for name in _TEXTS if _spaced_otherwise(name, before, after)}
    if spaced:
        after = msgspec.structs.replace(after, **spaced)
        change = msgspec.structs.replace(change, after=after)
    moved = {name for name in after.__struct_fields__ if getattr(before, name) != getattr(after, name)}
    hits, rest = moved & HIT_FIELDS, moved - HIT_FIELDS - UNSAID_FIELDS
    if not hits or not rest:
        return (change if hits else None), (change if rest else None)
    between = msgspec.structs.replace(before, **{name: getattr(after, name) for name in hits})
    return msgspec.structs.replace(change, after=between), msgspec.structs.replace(change, before=between)


def _spaced_otherwise(name: str, before: Note | Fact, after: Note | Fact) -> bool:
    old, new = getattr(before, name, ""), getattr(after, name, "")
    return old != new and alike(old, new)


def _recalls(change_set: ChangeSet) -> str:
    return f"recalled {_named(change_set)}"


def _dropped_recalls(change_set: ChangeSet) -> str:
    return f"dropped {'a recall' if change_set.size == 1 else 'recalls'} of {_named(change_set)}"


def _named(change_set: ChangeSet) -> str:
    names = [change.note.key for change in change_set.notes] or [change.key for change in change_set.facts]
    return names[0] if change_set.size == 1 else f"{change_set.size} notes"


def is_recall(change: NoteChange) -> bool:
    """Whether a change of kind "hit" counts a recall; a reflection that looks at a note moves a time alone."""
    before, after = change.before, change.after
    return any(getattr(before, name) != getattr(after, name) for name in HIT_FIELDS - {"last_rewritten_at"})


def _looks(change_set: ChangeSet) -> str:
    size = len(change_set.notes)
    return f"reflection checked {size} {'note' if size == 1 else 'notes'}"


def _summary(change_set: ChangeSet) -> str:
    for one, several, changes in (
        ("note", "notes", change_set.notes),
        ("fact", "facts", change_set.facts),
        ("nugget", "nuggets", change_set.nuggets),
    ):
        if changes:
            return _counted(changes, one, several)
    return "no changes"


def _counted(changes: tuple[NoteChange | FactChange | NuggetChange, ...], one: str, several: str) -> str:
    added = sum(change.before is None for change in changes)
    removed = sum(change.after is None for change in changes)
    counts = (("+", added), ("-", removed), ("~", len(changes) - added - removed))
    return ", ".join(f"{sign}{count} {one if count == 1 else several}" for sign, count in counts if count)


def without_hollow(change_set: ChangeSet) -> ChangeSet:
    """The change set without changes of notes in which nothing is left but the time of the change."""
    notes = tuple(
        change
        for change in change_set.notes
        if change.before is None
        or change.after is None
        or replace(change.before, **{name: getattr(change.after, name) for name in UNSAID_FIELDS})
        != change.after
    )
    return msgspec.structs.replace(change_set, notes=notes)
