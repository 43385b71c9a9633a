"""Whether two memories say the same, thing by thing: for whoever wants to know that an export is whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from core.exchange.records import LeftOut
from core.model.change import FactChange, NoteChange, NuggetChange
from core.model.compare import differences
from core.model.note import FILE_NAMES, replace
from core.model.snapshot import Snapshot


def differing(one: Snapshot, other: Snapshot) -> Iterator[LeftOut]:
    """Where two memories differ, in every field, in the order of notes and facts, and in the settings of nuggets."""
    one, other = _without_pages(one), _without_pages(other)
    found = differences(one, other)
    for change in found.notes:
        yield LeftOut(change.id, _how("note", change))
    if not found.notes and [note.id for note in one.notes] != [note.id for note in other.notes]:
        yield LeftOut("notes", "they stand in another order")
    for stored in found.facts:
        yield LeftOut(f"{stored.nugget}: {stored.key}", _how("fact", stored))
    for made in found.nuggets:
        yield LeftOut(made.name, _how("nugget", made))
    changed = {stored.nugget for stored in found.facts}
    for name in sorted(one.by_name.keys() & other.by_name.keys()):
        here, there = one.by_name[name], other.by_name[name]
        if here.meta != there.meta:
            yield LeftOut(name, "the settings of the nugget differ")
        if name not in changed and here.facts != there.facts:
            yield LeftOut(name, "its facts stand in another order")


def _without_pages(snapshot: Snapshot) -> Snapshot:
    """The page that a note is in one memory, it cannot be in another."""
    if not any(note.page for note in snapshot.notes):
        return snapshot
    return dataclasses.replace(snapshot, notes=tuple(replace(note, page=None) for note in snapshot.notes))


def _how(what: str, change: NoteChange | FactChange | NuggetChange) -> str:
    before, after = change.before, change.after
    if before is None or after is None:
        return f"only {'the other' if before is None else 'this'} memory has the {what}"
    names = [said for name, said in FILE_NAMES.items() if getattr(before, name, 0) != getattr(after, name, 0)]
    return f"the {what} differs in {', '.join(names)}" if names else f"the {what} differs"
