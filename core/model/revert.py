"""Reverts change sets, newest first, to get the memory as it was before them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import msgspec

from core.model.change import ChangeSet, FactChange, NoteChange
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note
from core.model.snapshot import Snapshot


def at_moment(current: Snapshot, entries: Iterable[ChangeSet]) -> Snapshot:
    """The memory as it was before these change sets, newest first, were made on it.

    Each note and fact is set to what it was before; what does not fit, since it is gone or another by now, is put
    where it stood or passed over. A nugget whose file cannot be read stays as it is.
    """
    notes = _Notes(current.notes)
    nuggets = {nugget.name: nugget for nugget in current.nuggets}
    for change_set in entries:
        notes.revert(change_set.notes)
        for gone in change_set.nuggets:
            if gone.before is not None:
                nuggets.setdefault(gone.name, Nugget(meta=gone.before))
        for name in dict.fromkeys(change.nugget for change in change_set.facts):
            held = nuggets.get(name) or Nugget(meta=NuggetMeta(name=name))
            if not held.problem:
                changes = [change for change in change_set.facts if change.nugget == name]
                nuggets[name] = msgspec.structs.replace(held, facts=_facts_before(held.facts, changes))
        for made in change_set.nuggets:
            held_now = nuggets.get(made.name)
            if made.before is None and held_now is not None and not (held_now.facts or held_now.problem):
                del nuggets[made.name]
    found = notes.present()
    ids = {note.id for note in found}
    return dataclasses.replace(
        current,
        notes=found,
        nuggets=tuple(nuggets[name] for name in sorted(nuggets)),
        problems=(),
        set_aside=frozenset(id for id in current.set_aside if id not in ids),
        revision=0,
    )


class _Slot:
    """A place in the order of notes; None when its note had not been made yet."""

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

    def revert(self, changes: Iterable[NoteChange]) -> None:
        """Takes the changes of one change set back."""
        coming: list[tuple[int, Note]] = []
        for change in reversed(list(changes)):
            slot = self._slot_of(change)
            if slot is None:
                if change.before is not None:
                    coming.append((self._end if change.index is None else change.index, change.before))
                continue
            if change.after is not None and self._by_id.get(change.after.id) is slot:
                del self._by_id[change.after.id]
            slot.note = change.before
            self._gaps = self._gaps or change.before is None
            if change.before is not None:
                self._by_id.setdefault(change.before.id, slot)
        if coming:
            self._close_gaps()
        for index, note in sorted(coming, key=lambda item: item[0]):
            slot = _Slot(note)
            self._slots.insert(index, slot)
            self._by_id.setdefault(note.id, slot)

    @property
    def _end(self) -> int:
        return len(self._slots)

    def _slot_of(self, change: NoteChange) -> _Slot | None:
        """Where the note stands as it was after the change, or still stands although it went; None for nowhere."""
        return self._by_id.get(change.note.id)

    def _close_gaps(self) -> None:
        if self._gaps:
            self._slots = [slot for slot in self._slots if slot.note is not None]
            self._gaps = False


def _facts_before(facts: tuple[Fact, ...], changes: list[FactChange]) -> tuple[Fact, ...]:
    """A nugget's facts with one change set's changes of them taken back."""
    kept: list[Fact | None] = list(facts)
    claimed: set[int] = set()
    coming: list[tuple[int, Fact]] = []
    for change in changes:
        place = _place_of(facts, change, claimed)
        if place is not None:
            claimed.add(place)
            kept[place] = change.before
        elif change.before is not None:
            coming.append((len(facts) if change.index is None else change.index, change.before))
    # What stood behind another of its key counts once that one goes, and counts no more when it is back.
    back = {fact.key for _, fact in coming}
    found = [
        fact
        for place, fact in enumerate(kept)
        if fact is not None and (place in claimed or fact.key not in back)
    ]
    for index, fact in sorted(coming, key=lambda item: item[0]):
        found.insert(index, fact)
    return tuple(found)


def _place_of(facts: tuple[Fact, ...], change: FactChange, claimed: set[int]) -> int | None:
    """Where a fact stands as it was after its change: the very same if it is there, else one of its key."""
    after, index = change.after, change.index
    if after is None:
        return None
    if index is not None and index < len(facts) and facts[index] == after and index not in claimed:
        return index
    places = [place for place, fact in enumerate(facts) if fact.key == after.key and place not in claimed]
    same = [place for place in places if facts[place] == after]
    return next(iter([*same, *places]), None)
