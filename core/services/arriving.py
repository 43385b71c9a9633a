"""What another version of a memory changed, as a change set on the memory as it is now. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from core.errors import ConflictError, ErrorCode
from core.model.build import as_hidden_fact, as_visible_fact
from core.model.change import Author, ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.compare import alike, differences, laid_over
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import Link, Note, normalised_note, replace
from core.model.snapshot import Snapshot
from core.storage.merge.deciding import conflict_of, other_way_round
from core.storage.merge.three_way import merge_facts, merge_notes, same_meaning
from core.text.normalise import squeeze

# What says where a fact's note stands for it.
_OF_ITS_FACT: Final = ("title", "content", "source_key")


@dataclass
class EditsWin:
    """Decides conflicts of what arrives: an edit stands against a deletion, the memory's own version against another.

    conflicts: what is left to a person. kept_here: ids of notes, or names of facts, that were deleted there and
    changed here; brought_back: the other way round.
    """

    change_set: ChangeSet
    present: Snapshot
    conflicts: list[Conflict] = field(default_factory=list)
    kept_here: list[str] = field(default_factory=list)
    brought_back: list[str] = field(default_factory=list)

    def __call__(self, found: ConflictError, ours: Any, theirs: Any, /) -> Any:
        """See `deciding.Decide`: ours is what arrives, theirs what stands here."""
        match found.code:
            case ErrorCode.DELETED_MEANWHILE:
                return self._back(found.where, ours) if self._note_was_edited(found.where) else theirs
            case ErrorCode.FORGOTTEN_MEANWHILE if not self._waits_hidden(found.where):
                edited = not alike(found.base, found.ours)
                return self._back(found.where, ours) if edited else theirs
            case ErrorCode.FORGOTTEN_MEANWHILE if alike(found.base, found.ours):
                return theirs
            case ErrorCode.CHANGED_MEANWHILE if ours is None:
                self.kept_here.append(found.where)
                return theirs
            case ErrorCode.FACT_CHANGED_MEANWHILE if ours is None:
                self.kept_here.append(found.where)
                return theirs
            case ErrorCode.FACT_CHANGED_MEANWHILE if not found.theirs:
                # A note comes back whose fact is in no file any more.
                return ours
            case _:
                self.conflicts.append(conflict_of(found))
                return theirs

    def _back(self, where: str, ours: Any) -> Any:
        self.brought_back.append(where)
        return ours

    def _note_was_edited(self, id: str) -> bool:
        change = next((one for one in self.change_set.notes if one.id == id), None)
        if change is None or change.before is None or change.after is None:
            return True
        return not same_meaning(change.before, change.after)

    def _waits_hidden(self, where: str) -> bool:
        return any(
            note.hidden and note.is_fact and f"{note.nugget_name}: {note.key}" == where
            for note in self.present.notes
        )


def arriving(base: Snapshot, theirs: Snapshot, *, id: str, at: str, author: Author, reason: str) -> ChangeSet:
    """What theirs changed since base, as it was thought out there."""
    found = differences(base, theirs)
    named = {change.name for change in found.nuggets}
    concerned = {one.nugget for one in found.facts if one.after is not None}
    concerned |= {one.note.nugget_name for one in found.notes if one.after is not None and one.note.is_fact}
    # A nugget may be gone here by now.
    again = tuple(
        NuggetChange(name=name, before=None, after=theirs.by_name[name].meta)
        for name in sorted(concerned - named)
        if name in theirs.by_name
    )
    return ChangeSet(
        id=id, at=at, author=author, reason=reason, kind="import",
        notes=found.notes, facts=found.facts, nuggets=(*found.nuggets, *again),
    )  # fmt: skip


def met(change_set: ChangeSet, present: Snapshot, decide: EditsWin) -> ChangeSet:
    """The change set where it meets what is here: what both have made is merged without a base, and hiding a fact on
    one side goes together with any change of it on the other.
    """
    change_set = _without_new_holders(change_set, present, decide)
    facts = {(change.nugget, change.key): change for change in change_set.facts}
    notes: list[NoteChange] = []
    taken: dict[tuple[str, str], FactChange | None] = {}
    for change in change_set.notes:
        current = present.by_id.get(change.id)
        if current is None or change.after is None:
            notes.append(change)
        elif change.before is None:
            notes.append(_merged_twice_made(change, current, decide))
        elif change.before.is_fact and current.is_fact:
            made, fact = _hidden_on_one_side(change, change.before, change.after, current, facts, present)
            notes.append(made)
            taken |= fact
        else:
            notes.append(change)
    stored = [taken.get((one.nugget, one.key), one) for one in change_set.facts]
    both = {
        (one.note.nugget_name, one.note.key): _waiting_in(one.before)
        for one in notes
        if one.after is not None and not one.after.hidden and one.id in present.by_id
    }
    merged = [
        _merged_fact(one, both[one.nugget, one.key], present, decide)
        if (one.nugget, one.key) in both
        else one
        for one in stored
        if one is not None
    ]
    return msgspec.structs.replace(change_set, notes=tuple(notes), facts=tuple(merged))


def _without_new_holders(change_set: ChangeSet, present: Snapshot, decide: EditsWin) -> ChangeSet:
    """The change set without facts that were given another note there and another value here: those wait as a whole."""
    made = {
        (one.after.nugget_name, one.after.key)
        for one in change_set.notes
        if one.before is None and one.after is not None and one.after.is_fact and not one.after.hidden
    }
    for change in change_set.facts:
        nugget = present.by_name.get(change.nugget)
        held = nugget.find(change.key) if nugget is not None else None
        if change.before is None or change.after is None or held is None:
            continue
        values = held[1].value, change.before.value, change.after.value
        if (
            (change.nugget, change.after.key) not in made
            or alike(values[0], values[1])
            or alike(values[0], values[2])
        ):
            continue
        found = Conflict(
            code=ErrorCode.CHANGED_IN_TWO_WAYS, what="its value was changed in two ways", field="value",
            where=f"{change.nugget}: {change.key}", base=values[1], ours=values[2], theirs=values[0],
        )  # fmt: skip
        decide.conflicts.append(found)
        waits = concerning(change_set, found)
        change_set = msgspec.structs.replace(
            change_set,
            notes=tuple(one for one in change_set.notes if one not in waits.notes),
            facts=tuple(one for one in change_set.facts if one not in waits.facts),
        )
    return change_set


def _merged_twice_made(change: NoteChange, current: Note, decide: EditsWin) -> NoteChange:
    assert change.after is not None
    if same_meaning(current, change.after) and current.links == change.after.links:
        after = merge_notes(None, current, change.after, other_way_round(decide))
    elif current.is_fact != change.after.is_fact or current.hidden != change.after.hidden:
        return change
    else:
        after = merge_notes(None, current, change.after, other_way_round(decide))
    return msgspec.structs.replace(change, before=current, after=after)


def _waiting_in(note: Note | None) -> Fact | None:
    """The fact that waited in a note while this was hidden: what both sides began with when both show it again."""
    return None if note is None or note.hidden_fact is None else as_visible_fact(note.hidden_fact)


def _merged_fact(change: FactChange, base: Fact | None, present: Snapshot, decide: EditsWin) -> FactChange:
    """A fact that both sides made goes together from what both had, as its note does. Without such a common past it
    keeps the value that it has here, and all recalls.
    """
    nugget = present.by_name.get(change.nugget)
    held = nugget.find(change.key) if nugget is not None and change.before is None else None
    if change.after is None or held is None:
        return change
    place, fact = held
    after = merge_facts(f"{change.nugget}: {change.key}", base, fact, change.after, other_way_round(decide))
    return msgspec.structs.replace(change, before=fact, after=after, index=place)


def _hidden_on_one_side(
    change: NoteChange,
    before: Note,
    after: Note,
    current: Note,
    facts: dict[tuple[str, str], FactChange],
    present: Snapshot,
) -> tuple[NoteChange, dict[tuple[str, str], FactChange | None]]:
    """A fact's note that was hidden on one side only; what becomes of its fact's change, None for none."""
    name = (before.nugget_name, before.key)
    moved_here = any(getattr(current, one) != getattr(before, one) for one in _OF_ITS_FACT)
    moved_there = any(getattr(after, one) != getattr(before, one) for one in _OF_ITS_FACT)
    if after.hidden and not before.hidden and not current.hidden and moved_here and not moved_there:
        nugget = present.by_name.get(current.nugget_name)
        held = nugget.find(current.key) if nugget is not None else None
        if held is None or facts.get(name) is None:
            return change, {}
        place, fact = held
        words = {one: getattr(current, one) for one in _OF_ITS_FACT}
        made = NoteChange(
            id=change.id,
            before=replace(before, **words),
            after=replace(after, **words, hidden_fact=as_hidden_fact(fact, place)),
        )
        leaves = FactChange(nugget=current.nugget_name, key=fact.key, before=fact, after=None, index=place)
        return made, {name: leaves}
    if current.hidden and not before.hidden and not after.hidden and not moved_here:
        kept = current.hidden_fact
        if kept is None:
            return change, {}
        stored = facts.get(name)
        if stored is not None and stored.before is not None and stored.after is not None:
            kept = msgspec.structs.replace(
                kept,
                key=stored.after.key,
                value=stored.after.value,
                hits=max(0, kept.hits + stored.after.hits - stored.before.hits),
                last_hit_session=stored.after.last_hit_session or kept.last_hit_session,
            )
        state = {"hidden": True, "archived_at": current.archived_at}
        made = NoteChange(
            id=change.id,
            before=replace(before, **state, hidden_fact=current.hidden_fact),
            after=replace(after, **state, hidden_fact=kept),
        )
        return made, ({name: None} if stored is not None else {})
    return change, {}


def completed(change_set: ChangeSet, present: Snapshot, made: Container[str]) -> ChangeSet:
    """A rebased change set after which each link of a note that it touches has its other end, also where the other
    note's own change gave way; with the nuggets that were made there, and those that its facts need.
    """
    stored = {one.nugget for one in change_set.facts}
    due = (one for one in change_set.nuggets if one.after is None or one.name in stored or one.name in made)
    change_set = msgspec.structs.replace(change_set, nuggets=tuple(due))
    after = laid_over(present, change_set)
    gained: dict[str, list[Link]] = {}

    def give(holder: Note, to: Note, link: Link) -> None:
        held = {(one.to, squeeze(one.reason)) for one in (*holder.links, *gained.get(holder.id, ()))}
        if (to.id, squeeze(link.reason)) not in held:
            gained.setdefault(holder.id, []).append(
                Link(to=to.id, reason=link.reason, created_at=link.created_at)
            )

    for change in change_set.notes:
        note = after.by_id.get(change.id) if change.after is not None else None
        for link in note.links if note is not None else ():
            other = after.by_id.get(link.to)
            if note is not None and other is not None and other.id != note.id:
                give(other, note, link)
        for holder, _ in after.links_in.get(change.id, ()) if note is not None else ():
            for link in after.by_id[holder].links:
                if note is not None and link.to == note.id != holder:
                    give(note, after.by_id[holder], link)
    if not gained:
        return change_set
    changes = {change.id: change for change in change_set.notes}
    for id, links in gained.items():
        note = after.by_id[id]
        whole = normalised_note(replace(note, links=(*note.links, *links)), after.by_id.__contains__)
        known = changes.get(id) or NoteChange(id=id, before=present.by_id.get(id), after=note)
        changes[id] = msgspec.structs.replace(known, after=whole)
    return msgspec.structs.replace(change_set, notes=tuple(changes.values()))


def concerning(change_set: ChangeSet, conflict: Conflict) -> ChangeSet:
    """The part of a change set that one conflict is about: a note with its fact, or a fact with its note."""
    ids = {change.id for change in change_set.notes if change.id == conflict.where}
    keys = {(one.nugget, one.key) for one in change_set.facts if f"{one.nugget}: {one.key}" == conflict.where}
    for change in change_set.notes:
        own = {
            (note.nugget_name, note.key)
            for note in (change.before, change.after)
            if note is not None and note.is_fact
        }
        if change.id in ids or own & keys or conflict.where in {f"{a}: {b}" for a, b in own}:
            ids.add(change.id)
            keys |= own
    return msgspec.structs.replace(
        change_set,
        notes=tuple(change for change in change_set.notes if change.id in ids),
        facts=tuple(one for one in change_set.facts if (one.nugget, one.key) in keys),
        nuggets=(),
    )


def same_notes(one: Iterable[Note | None], other: Iterable[Note | None]) -> bool:
    """Whether two files hold the same notes, in whatever order."""
    return {note.id: note for note in one if note} == {note.id: note for note in other if note}


def same_facts(one: Iterable[Fact | None], other: Iterable[Fact | None]) -> bool:
    """Whether two files hold the same facts, in whatever order."""
    sides = (sorted((fact for fact in side if fact), key=lambda fact: fact.key) for side in (one, other))
    mine, theirs = sides
    return mine == theirs
