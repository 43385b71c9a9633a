"""The parts of a change set that can be undone alone: a note with its fact, a fact, or a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from core.model.change import ChangeSet, FactChange, NoteChange
from core.model.note import Link, Note, replace


def change_parts(change_set: ChangeSet) -> tuple[ChangeSet, ...]:
    """The change set in parts that stand for themselves, in its order, each under the id "<id>.<number>".

    A fact goes with the note that mirrors it, and a link with its other end. A nugget that comes or goes does so
    with whichever of its facts and notes leaves it empty.
    """
    pointing: dict[str, list[NoteChange]] = {}
    for change in change_set.notes:
        for target in _turned(change):
            pointing.setdefault(target, []).append(change)
    groups: list[ChangeSet] = []
    noted, alone = _apart(change_set)
    for change, facts in noted:
        others = pointing.get(change.id, ())
        ends = [end for other in others if (end := _end_of_links(other, change)) is not None]
        groups.append(msgspec.structs.replace(change_set, notes=(change, *ends), facts=tuple(facts)))
    groups += [msgspec.structs.replace(change_set, notes=(), facts=(fact,)) for fact in alone]
    groups += [msgspec.structs.replace(change_set, notes=(), facts=(), files=(f,)) for f in change_set.files]
    return tuple(_named(group, change_set, number) for number, group in enumerate(groups, 1))


def count_parts(change_set: ChangeSet) -> int:
    """How many parts a change set has; making them costs more where many notes lead to one."""
    noted, alone = _apart(change_set)
    return len(noted) + len(alone) + len(change_set.files)


def _apart(
    change_set: ChangeSet,
) -> tuple[list[tuple[NoteChange, list[FactChange]]], list[FactChange]]:
    """The changes of notes that are no mere ends of links, each with those of its facts, and the other facts."""
    places = {change.id: place for place, change in enumerate(change_set.notes)}
    # Facts by nugget, key, and whether it is the key after the change.
    mirrored: dict[tuple[str, str, bool], list[FactChange]] = {}
    for fact in change_set.facts:
        for held, later in ((fact.before, False), (fact.after, True)):
            if held is not None:
                mirrored.setdefault((fact.nugget, held.key, later), []).append(fact)
    taken: set[int] = set()
    noted = []
    for change in change_set.notes:
        if not _is_other_end(change, _turned(change), places):
            mine = [fact for fact in _facts_of(change, mirrored) if id(fact) not in taken]
            taken |= {id(fact) for fact in mine}
            noted.append((change, mine))
    return noted, [fact for fact in change_set.facts if id(fact) not in taken]


def _named(group: ChangeSet, whole: ChangeSet, number: int) -> ChangeSet:
    names = {change.nugget for change in group.facts} | {
        note.nugget_name for change in group.notes[:1] for note in (change.before, change.after) if note
    }
    return msgspec.structs.replace(
        group,
        id=f"{whole.id}.{number}",
        nuggets=tuple(nugget for nugget in whole.nuggets if nugget.name in names),
        files=group.files if not (group.notes or group.facts) else (),
        mends=(),
    )


def _facts_of(
    change: NoteChange, mirrored: Mapping[tuple[str, str, bool], list[FactChange]]
) -> Iterable[FactChange]:
    """The facts that a note mirrors before the change and after it; each once.

    A key that one fact gives up and another takes belongs to both their notes, at different times.
    """
    sides = ((note, later) for note, later in ((change.before, False), (change.after, True)) if note)
    keys = ((note.nugget_name, note.key, later) for note, later in sides if note.is_fact)
    return {id(fact): fact for key in keys for fact in mirrored.get(key, ())}.values()


def _turned(change: NoteChange) -> set[str]:
    """Ids of the notes with which this one came to have other links."""
    before, after = (_ends(note.links if note is not None else ()) for note in (change.before, change.after))
    return {to for to, _ in before ^ after}


def _is_other_end(change: NoteChange, turned: set[str], places: Mapping[str, int]) -> bool:
    """Whether a note changed only in links with notes that stand earlier in the set."""
    before, after = change.before, change.after
    if before is None or after is None or not _only_links(before, after):
        return False
    own = places[change.id]
    return bool(turned) and all(target in places and places[target] < own for target in turned)


def without_ends_of_links(change_set: ChangeSet) -> ChangeSet:
    """The change set without the notes that it only unlinks from, or links with, notes to which it does more."""
    more = {
        change.id
        for change in change_set.notes
        if change.before is None or change.after is None or not _only_links(change.before, change.after)
    }
    kept = (change for change in change_set.notes if change.id in more or not _turned(change) <= more)
    return msgspec.structs.replace(change_set, notes=tuple(kept))


def _only_links(before: Note, after: Note) -> bool:
    quiet = {"links": after.links, "vector": after.vector, "updated_at": after.updated_at}
    return replace(before, **quiet) == after


def _ends(links: Iterable[Link]) -> set[tuple[str, str]]:
    """Where links lead, each with its reason."""
    return {(link.to, link.reason) for link in links}


def _end_of_links(other: NoteChange, change: NoteChange) -> NoteChange | None:
    """What changed at another note in its links with this one; None for nothing."""
    if other.id == change.id or other.before is None or other.after is None:
        return None
    before, after = other.before, other.after
    kept = tuple(link for link in before.links if link.to != change.id)
    links: tuple[Link, ...] = (*kept, *(link for link in after.links if link.to == change.id))
    if _ends(before.links) == _ends(links):
        return None
    return NoteChange(id=other.id, before=before, after=replace(before, links=links))


def select_parts(change_set: ChangeSet, numbers: Collection[int]) -> ChangeSet:
    """Some of the parts of a change set, by their numbers, as one; all of them are the change set itself."""
    if len(numbers) == count_parts(change_set):
        return change_set
    picked = [part for number, part in enumerate(change_parts(change_set), 1) if number in numbers]
    whole = {part.notes[0].id: part.notes[0] for part in picked if part.notes}
    # A note that is a part of its own is not the mere end of another's link.
    notes = whole | {end.id: end for part in picked for end in part.notes[1:] if end.id not in whole}
    return msgspec.structs.replace(
        change_set, notes=tuple(notes.values()), facts=tuple(fact for part in picked for fact in part.facts),
        nuggets=tuple({one.name: one for part in picked for one in part.nuggets}.values()),
        files=tuple(file for part in picked for file in part.files), mends=(),
    )  # fmt: skip


def part_reference(id: str, numbers: Collection[int], count: int) -> str:
    """How an entry, or some of its `count` parts, is named: "<id>" or "<id>.<number>,<number>"."""
    return id if len(numbers) == count else f"{id}.{','.join(map(str, sorted(numbers)))}"


def referenced_parts(about: str) -> frozenset[int] | None:
    """The parts that a scope names; None for all of them."""
    _, dot, numbers = about.partition(".")
    return frozenset(int(one) for one in numbers.split(",") if one.isdigit()) if dot else None
