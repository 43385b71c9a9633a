"""The merge of two versions of a memory: what theirs changed since a base, brought onto ours field by field. Pure.

Whoever merges chooses the base alone, and who decides what was changed in two ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import msgspec

from core.errors import ConflictError, ErrorCode, InvalidInputError
from core.model.build import as_hidden_fact, as_visible_fact
from core.model.change import ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.compare import Differences, alike, differences, laid_over
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.names import check_nugget_name
from core.model.note import SCOPES, Link, Note, normalised_note, replace
from core.model.snapshot import Snapshot
from core.storage.merge.deciding import Decide, conflict_of
from core.storage.merge.rebase import FactName, facts_of_note, one_note_a_fact, rebase
from core.text.normalise import squeeze


def merge(base: Snapshot, ours: Snapshot, theirs: Snapshot, decide: Decide, entry: ChangeSet) -> ChangeSet:
    """The changes of ours that make it say what both say, as `entry` with them in it.

    Raises ConflictError when `decide` does, whose `ours` is what is brought in and whose `theirs` is what stands.
    """
    return rebase(changes(base, ours, theirs, entry), ours, decide)


def changes(base: Snapshot, ours: Snapshot, theirs: Snapshot, entry: ChangeSet) -> ChangeSet:
    """What theirs changed since base and ours does not say yet, as `entry` with it in it."""
    found = _with_hidden_edits(differences(base, theirs), ours)
    facts = tuple(
        one
        for one in _with_renames(found)
        if one.after is None or ours.facts_by_key.get(one.nugget, {}).get(one.after.key) != one.after
    )
    # A nugget may be gone here by now.
    gone = {one.nugget for one in facts} - ours.by_name.keys() - {one.name for one in found.nuggets}
    again = (theirs.by_name[name].meta for name in sorted(gone) if name in theirs.by_name)
    made = msgspec.structs.replace(
        entry,
        notes=tuple(one for one in found.notes if one.after is None or one.after != ours.by_id.get(one.id)),
        facts=facts,
        nuggets=(*found.nuggets, *(NuggetChange(name=meta.name, before=meta, after=meta) for meta in again)),
    )
    return one_note_a_fact(made, ours)


def _with_hidden_edits(found: Differences, ours: Snapshot) -> Differences:
    """A fact that theirs changed and then hid counts as changed alone where ours changed it otherwise: an edit stands
    against hiding, but not unasked against another edit.
    """
    notes, facts = {one.id: one for one in found.notes}, list(found.facts)
    for place, fact in enumerate(facts):
        here = ours.fact_notes.get((fact.nugget, fact.key))
        note = notes.get(here.id) if here is not None and not here.hidden else None
        if here is None or note is None or not (fact.before and note.before and note.after):
            continue
        waits = note.after.hidden_fact
        if fact.after is not None or waits is None or note.before.hidden:
            continue
        values = (fact.before.value, here.content, waits.value)
        if not any(alike(*two) for two in combinations(values, 2)):
            after = replace(note.after, content=waits.value, hidden=False, hidden_fact=None, archived_at=None)
            notes[here.id] = msgspec.structs.replace(note, after=after)
            facts[place] = msgspec.structs.replace(fact, after=as_visible_fact(waits))
    return Differences(tuple(notes.values()), tuple(facts), found.nuggets)


def _with_renames(found: Differences) -> Iterator[FactChange]:
    """The changes of facts; one that goes and comes under another key, as its note or a scope before it tells, is one
    change.
    """
    sides = ((one.before, one.after) for one in found.notes)
    noted = {
        (before.nugget_name, before.key): after.key
        for before, after in sides
        if before is not None and after is not None and before.is_fact
    }
    coming = {(one.nugget, one.key): one.after for one in found.facts if one.before is None}
    for one in found.facts:
        if one.before is None:
            continue
        told = noted.get((one.nugget, one.key), "")
        for key in (told, *(f"{scope}:{one.key}" for scope in SCOPES)) if one.after is None else ():
            after = coming.get((one.nugget, key))
            if after is not None and (key == told or alike(one.before.value, after.value)):
                one = msgspec.structs.replace(one, after=after)
                del coming[one.nugget, key]
                break
        yield one
    yield from (one for one in found.facts if one.before is None and (one.nugget, one.key) in coming)


def in_step(made: ChangeSet, ours: Snapshot) -> ChangeSet:
    """The change set in which a fact takes its note along, and a note its fact, where it was thought out without."""
    notes, facts = list(made.notes), list(made.facts)
    touched = {change.id for change in notes}
    placed = {
        (name, fact.key): (place, fact)
        for name in {note.nugget_name for note in (change.note for change in made.notes)}
        & ours.by_name.keys()
        for place, fact in enumerate(ours.by_name[name].facts)
    }
    noted = {name for change in made.notes for name in facts_of_note(change)}
    stored = {(one.nugget, fact.key) for one in facts for fact in (one.before, one.after) if fact is not None}
    for one in made.facts:
        note = ours.fact_notes.get((one.nugget, one.key))
        if note is None or note.hidden or note.id in touched or (one.nugget, one.key) in noted:
            continue
        said, says = (
            replace(note, title=fact.key, source_key=fact.key, content=fact.value) if fact else None
            for fact in (one.before, one.after)
        )
        if says is None and one.before is not None:
            kept = as_hidden_fact(one.before, one.index or 0)
            says = replace(note, hidden=True, archived_at=made.at, hidden_fact=kept)
        if said != says:
            notes.append(NoteChange(id=note.id, before=said, after=says))
    for change in made.notes:
        sides = [_as_fact(note, placed) for note in (change.before, change.after)]
        named = [(change.note.nugget_name, fact.key) for fact in sides if fact is not None]
        if named and stored.isdisjoint(named) and sides[0] != sides[1]:
            place = next((placed[name][0] for name in named if name in placed), None)
            (nugget, key), (before, after) = named[0], sides
            facts.append(FactChange(nugget=nugget, key=key, before=before, after=after, index=place))
    return msgspec.structs.replace(made, notes=tuple(notes), facts=tuple(facts))


def _as_fact(note: Note | None, placed: Mapping[FactName, tuple[int, Fact]]) -> Fact | None:
    """The fact for which a visible note stands, with all else that is known of it."""
    if note is None or not note.is_fact or note.hidden:
        return None
    held = placed.get((note.nugget_name, note.key))
    fact = held[1] if held is not None else Fact(key=note.key, value="", hits=note.hits)
    return msgspec.structs.replace(fact, key=note.key, value=note.content)


def linked_both_ways(change_set: ChangeSet, ours: Snapshot) -> ChangeSet:
    """A merged change set after which each link of a note that it touches has its other end, also where the other
    note's own change gave way.
    """
    after = laid_over(ours, change_set)
    gained: dict[str, list[Link]] = {}

    def give(holder: Note, to: Note, link: Link) -> None:
        held = {(one.to, squeeze(one.reason)) for one in (*holder.links, *gained.get(holder.id, ()))}
        if (to.id, squeeze(link.reason)) not in held and holder.id != to.id:
            given = Link(to=to.id, reason=link.reason, created_at=link.created_at)
            gained.setdefault(holder.id, []).append(given)

    for id in [change.id for change in change_set.notes if change.id in after.by_id]:
        note = after.by_id[id]
        for link in note.links:
            if link.to in after.by_id:
                give(after.by_id[link.to], note, link)
        for holder, link in after.links_in.get(id, ()):
            give(note, after.by_id[holder], link)
    changed = {change.id: change for change in change_set.notes}
    for id, links in gained.items():
        note = after.by_id[id]
        whole = normalised_note(replace(note, links=(*note.links, *links)), after.by_id.__contains__)
        known = changed.get(id) or NoteChange(id=id, before=ours.by_id.get(id), after=note)
        changed[id] = msgspec.structs.replace(known, after=whole)
    return msgspec.structs.replace(change_set, notes=tuple(changed.values()))


# Deciding


@dataclass
class EditsWin:
    """Decides conflicts of what comes from elsewhere: an edit stands against deleting or hiding, the memory's own
    version against another.

    conflicts: what is left to a person. kept_here: ids of notes, or names of facts, that were deleted there and
    changed here; brought_back: the other way round.
    """

    conflicts: list[Conflict] = field(default_factory=list)
    kept_here: list[str] = field(default_factory=list)
    brought_back: list[str] = field(default_factory=list)

    def __call__(self, found: ConflictError, ours: Any, theirs: Any, /) -> Any:
        """See `deciding.Decide`: ours is what arrives, theirs what stands here."""
        match found.code:
            case ErrorCode.DELETED_MEANWHILE:
                self.brought_back.append(found.where)
                return ours
            case ErrorCode.RENAMED_MEANWHILE if theirs.hidden and not ours.hidden:
                return ours
            case ErrorCode.CHANGED_MEANWHILE | ErrorCode.FACT_CHANGED_MEANWHILE if ours is None:
                self.kept_here.append(found.where)
                return theirs
            case _:
                self.conflicts.append(conflict_of(found))
                return theirs


# Parts of a change set


def told_once(
    conflicts: Iterable[Conflict], made: ChangeSet, known: set[tuple[str, ...]]
) -> Iterator[tuple[Conflict, ChangeSet]]:
    """Each conflict with the part of the change set that it is about: what a note and its fact both tell, once.

    known: what was told before, and afterwards these.
    """
    of_the_note = {"value": "content", "key": "title"}
    for one in conflicts:
        part = concerning(made, one)
        ids = sorted(change.id for change in part.notes) or [one.where]
        about = (*ids, of_the_note.get(one.field, one.field), one.base, one.ours, one.theirs)
        if about not in known:
            known.add(about)
            yield one, part


def concerning(made: ChangeSet, found: Conflict) -> ChangeSet:
    """The part of a change set that one conflict is about: a note with its fact, or a fact with its note."""
    keys = {(one.nugget, one.key) for one in made.facts if f"{one.nugget}: {one.key}" == found.where}
    notes = []
    for change in made.notes:
        own = facts_of_note(change)
        if (
            change.id == found.where
            or own & keys
            or found.where in {f"{nugget}: {key}" for nugget, key in own}
        ):
            notes.append(change)
            keys |= own
    facts = tuple(one for one in made.facts if (one.nugget, one.key) in keys)
    return msgspec.structs.replace(made, notes=tuple(notes), facts=facts, nuggets=())


def without_odd_nuggets(made: ChangeSet, ours: Snapshot) -> tuple[ChangeSet, tuple[str, ...]]:
    """The change set without new nuggets whose names no file can have; those."""
    odd: set[str] = set()
    named = {one.name for one in made.nuggets if one.after is not None}
    named |= {
        note.nugget_name
        for note in (one.after for one in made.notes)
        if note and note.is_fact and not note.hidden
    }
    for name in named - ours.by_name.keys():
        try:
            check_nugget_name(name)
        except InvalidInputError:
            odd.add(name)
    kept = msgspec.structs.replace(
        made,
        notes=tuple(one for one in made.notes if one.note.nugget_name not in odd),
        facts=tuple(one for one in made.facts if one.nugget not in odd),
        nuggets=tuple(one for one in made.nuggets if one.name not in odd),
    )
    return kept, tuple(sorted(odd))
