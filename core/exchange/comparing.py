"""Whether two memories say the same, thing by thing: for whoever wants to know that an export is whole."""

from __future__ import annotations

from collections.abc import Iterator

from core.exchange.records import LeftOut
from core.model.fact import Nugget
from core.model.note import FILE_NAMES, Note, replace
from core.model.snapshot import Snapshot


def differences(one: Snapshot, other: Snapshot) -> list[LeftOut]:
    """Where two memories differ, in every field, in the order of notes and facts, and in the settings of nuggets."""
    found = list(_of_notes(one, other))
    for name in sorted(one.by_name.keys() | other.by_name.keys()):
        found += _of_nugget(name, one.by_name.get(name), other.by_name.get(name))
    return found


def _of_notes(one: Snapshot, other: Snapshot) -> Iterator[LeftOut]:
    if one.notes == other.notes:
        return
    here, there = _said(one), _said(other)
    for id in dict.fromkeys((*here, *there)):
        if id not in there:
            yield LeftOut(id, "only this memory has the note")
        elif id not in here:
            yield LeftOut(id, "this memory does not have the note")
        elif here[id] != there[id]:
            yield LeftOut(id, f"the note differs in {', '.join(_fields(here[id], there[id]))}")
    if here == there:
        yield LeftOut("notes", "they stand in another order")


def _said(snapshot: Snapshot) -> dict[str, Note]:
    """The notes by id. The page that a note is in one memory, it cannot be in another."""
    return {
        id: note if note.page is None else replace(note, page=None) for id, note in snapshot.by_id.items()
    }


def _fields(one: Note, other: Note) -> list[str]:
    found = [said for name, said in FILE_NAMES.items() if getattr(one, name) != getattr(other, name)]
    return found or ["unknown fields"]


def _of_nugget(name: str, one: Nugget | None, other: Nugget | None) -> Iterator[LeftOut]:
    if one is None or other is None:
        yield LeftOut(
            name, "only this memory has the nugget" if other is None else "this memory has no such nugget"
        )
        return
    if one.meta != other.meta:
        yield LeftOut(name, "the settings of the nugget differ")
    here, there = ({fact.key: fact for fact in held.facts} for held in (one, other))
    for key in dict.fromkeys((*here, *there)):
        if here.get(key) != there.get(key):
            yield LeftOut(
                f"{name}: {key}",
                "the fact differs" if key in here and key in there else "one has no such fact",
            )
    if here == there and one.facts != other.facts:
        yield LeftOut(name, "its facts stand in another order")
