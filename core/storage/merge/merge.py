"""The merge of two versions of a memory: what theirs changed since a base, brought onto ours field by field. Pure.

Whoever merges chooses the base alone, and who decides what was changed in two ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from core.errors import ConflictError, ErrorCode, InvalidInputError
from core.model.build import as_hidden_fact, as_visible_fact
from core.model.change import ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.compare import Differences, alike, differences, laid_over
from core.model.entry import Conflict
from core.model.fact import Fact, NuggetMeta
from core.model.names import check_nugget_name
from core.model.note import SCOPES, Link, Note, normalised_note, replace
from core.model.snapshot import Snapshot
from core.storage.merge.deciding import Decide, conflict, conflict_of, other_way_round
from core.storage.merge.rebase import rebase
from core.storage.merge.three_way import merge_facts, merge_notes, same_meaning
from core.text.normalise import squeeze

# What says where a fact's note stands for it.
_OF_ITS_FACT: Final = ("title", "content", "source_key")
_FactName = tuple[str, str]


def merge(base: Snapshot, ours: Snapshot, theirs: Snapshot, decide: Decide, entry: ChangeSet) -> ChangeSet:
    """The changes of ours that make it say what both say, as `entry` with them in it.

    Raises ConflictError when `decide` does, whose `ours` is what is brought in and whose `theirs` is what stands.
    """
    return brought(changes(base, ours, theirs, entry), ours, theirs, decide)


def changes(base: Snapshot, ours: Snapshot, theirs: Snapshot, entry: ChangeSet) -> ChangeSet:
    """What theirs changed since base, as `entry` with it in it. What is one thing in ours has its name there."""
    found = differences(base, theirs)
    here = _placed(ours)
    made = msgspec.structs.replace(
        entry,
        notes=tuple(one for one in found.notes if one.after is None or one.after != ours.by_id.get(one.id)),
        facts=tuple(
            one
            for one in _with_renames(found)
            if one.after is None
            or (one.nugget, one.after.key) not in here
            or here[one.nugget, one.after.key][1] != one.after
        ),
        nuggets=found.nuggets,
    )
    return _one_note_a_fact(made, ours)


def _with_renames(found: Differences) -> Iterator[FactChange]:
    """The changes of facts; one that goes and comes under another key, as its note or a scope before it tells, is one
    change.
    """
    keys = {
        (before.nugget_name, before.key): after.key
        for before, after in ((change.before, change.after) for change in found.notes)
        if before is not None and after is not None and before.is_fact and before.key != after.key
    }
    added = {(one.nugget, one.key): one for one in found.facts if one.before is None}
    renamed: list[FactChange] = []
    for one in found.facts:
        before = one.before
        wanted = [(one.nugget, keys.get((one.nugget, one.key), ""))]
        wanted += [(one.nugget, f"{scope}:{one.key}") for scope in SCOPES]
        name = next((name for name in wanted if name in added), None) if one.after is None else None
        after = added[name].after if name is not None else None
        if name is None or before is None or after is None:
            continue
        if name == wanted[0] or alike(before.value, after.value):
            del added[name]
            renamed.append(msgspec.structs.replace(one, after=after))
    known = {(one.nugget, one.key): one for one in renamed}
    for one in found.facts:
        if one.before is not None:
            yield known.get((one.nugget, one.key), one)
        elif (one.nugget, one.key) in added:
            yield one


def brought(made: ChangeSet, ours: Snapshot, theirs: Snapshot, decide: Decide) -> ChangeSet:
    """Such changes on ours: what both have made is merged without a base, and hiding a fact on one side goes together
    with an edit of it on the other.
    """
    made = _without_new_holders(made, ours, decide)
    made = _hidden_with_its_edit(made, ours)
    merged = rebase(_met(made, ours, decide), ours, decide)
    # A nugget may be gone here by now.
    needed = {one.nugget for one in merged.facts if one.after is not None} - ours.by_name.keys()
    needed -= {one.name for one in merged.nuggets}
    metas = (
        theirs.by_name[name].meta if name in theirs.by_name else NuggetMeta(name=name)
        for name in sorted(needed)
    )
    again = (NuggetChange(name=meta.name, before=None, after=meta) for meta in metas)
    return msgspec.structs.replace(merged, nuggets=(*merged.nuggets, *again))


def _one_note_a_fact(made: ChangeSet, ours: Snapshot) -> ChangeSet:
    """Both sides may have made a note of one fact: theirs goes into ours, which has another id, with its links."""
    touched = {change.id for change in made.notes}
    stands_for: dict[str, str] = {}
    for change in made.notes:
        note = change.after
        if note is None or change.before is not None or not note.is_fact or note.hidden:
            continue
        twin = ours.fact_notes.get((note.nugget_name, note.key))
        if twin is not None and not twin.hidden and twin.id not in touched and note.id not in ours.by_id:
            stands_for[note.id] = twin.id
    if not stands_for:
        return made

    def known_here(change: NoteChange) -> NoteChange:
        note = change.after
        if note is None:
            return change
        links = tuple(msgspec.structs.replace(one, to=stands_for.get(one.to, one.to)) for one in note.links)
        id = stands_for.get(change.id, change.id)
        return msgspec.structs.replace(change, id=id, after=replace(note, id=id, links=links))

    return msgspec.structs.replace(made, notes=tuple(map(known_here, made.notes)))


def _without_new_holders(made: ChangeSet, ours: Snapshot, decide: Decide) -> ChangeSet:
    """The change set without facts that were given another note there and another value here: those wait as a whole."""
    renoted = {
        (note.nugget_name, note.key)
        for note in (change.after for change in made.notes if change.before is None)
        if note is not None and note.is_fact and not note.hidden
    }
    placed = _placed(ours)
    for change in made.facts:
        held = placed.get((change.nugget, change.key))
        if change.before is None or change.after is None or held is None:
            continue
        now, before, after = held[1].value, change.before.value, change.after.value
        if (change.nugget, change.after.key) not in renoted or alike(now, before) or alike(now, after):
            continue
        where = f"{change.nugget}: {change.key}"
        found = conflict(ErrorCode.CHANGED_IN_TWO_WAYS, where, before, after, now, "value")
        if decide(found, change.after, held[1]) is not change.after:
            waits = concerning(made, conflict_of(found))
            made = msgspec.structs.replace(
                made,
                notes=tuple(one for one in made.notes if one not in waits.notes),
                facts=tuple(one for one in made.facts if one not in waits.facts),
            )
    return made


def _placed(ours: Snapshot) -> dict[_FactName, tuple[int, Fact]]:
    """The first fact of each key, with its place."""
    return {
        (nugget.name, fact.key): (place, fact)
        for nugget in ours.by_name.values()
        for place, fact in reversed(list(enumerate(nugget.facts)))
    }


def _hidden_with_its_edit(made: ChangeSet, ours: Snapshot) -> ChangeSet:
    """The change set in which a fact that one side hid and the other edited is hidden, with the edit."""
    facts, placed = {(change.nugget, change.key): change for change in made.facts}, _placed(ours)
    notes: list[NoteChange] = []
    for change in made.notes:
        before, after, now = change.before, change.after, ours.by_id.get(change.id)
        if (
            before is None
            or after is None
            or now is None
            or not before.is_fact
            or not now.is_fact
            or before.hidden
        ):
            notes.append(change)
            continue
        name = (before.nugget_name, before.key)
        stored = facts.get(name)
        edited_here, edited_there = (
            any(getattr(side, one) != getattr(before, one) for one in _OF_ITS_FACT) for side in (now, after)
        )
        if after.hidden and not now.hidden and edited_here and not edited_there and stored is not None:
            held = placed.get((now.nugget_name, now.key))
            if held is not None:
                place, fact = held
                words = {one: getattr(now, one) for one in _OF_ITS_FACT}
                kept = as_hidden_fact(fact, place)
                before, after = replace(before, **words), replace(after, **words, hidden_fact=kept)
                facts[name] = FactChange(
                    nugget=now.nugget_name, key=fact.key, before=fact, after=None, index=place
                )
        elif now.hidden and not after.hidden and not edited_here and stored is not None:
            waits, was, becomes = now.hidden_fact, stored.before, stored.after
            if waits is not None and was is not None and becomes is not None:
                waits = msgspec.structs.replace(
                    waits,
                    key=becomes.key,
                    value=becomes.value,
                    hits=max(0, waits.hits + becomes.hits - was.hits),
                    last_hit_session=becomes.last_hit_session or waits.last_hit_session,
                )
                state = {"hidden": True, "archived_at": now.archived_at}
                before = replace(before, **state, hidden_fact=now.hidden_fact)
                after = replace(after, **state, hidden_fact=waits)
                del facts[name]
        notes.append(msgspec.structs.replace(change, before=before, after=after))
    return msgspec.structs.replace(made, notes=tuple(notes), facts=tuple(facts.values()))


def _met(made: ChangeSet, ours: Snapshot, decide: Decide) -> ChangeSet:
    """The change set in which what both made is merged already, without a base, or with the fact that waited in its
    note while it was hidden on both sides. What is gone here and was only counted there stays gone.
    """
    turned = other_way_round(decide)
    notes: list[NoteChange] = []
    for change in made.notes:
        before, after, now = change.before, change.after, ours.by_id.get(change.id)
        if before is None and after is not None and now is None and change.id in ours.set_aside:
            decide(conflict(ErrorCode.UNREADABLE_SIDE, change.id, "", after.content, ""), after, None)
            continue
        if before is not None and after is not None and now is None and same_meaning(before, after):
            continue
        if before is None and after is not None and now is not None and _may_merge(now, after):
            both = merge_notes(None, now, after, turned)
            if replace(both, vector=now.vector) == now:
                continue
            change = msgspec.structs.replace(change, before=now, after=both)
        notes.append(change)
    waited = {
        (change.note.nugget_name, change.note.key): change.before.hidden_fact
        for change in made.notes
        if change.before is not None and change.id in ours.by_id
    }
    facts: list[FactChange] = []
    placed = _placed(ours)
    for stored in made.facts:
        was, becomes, held = stored.before, stored.after, placed.get((stored.nugget, stored.key))
        if was is not None and becomes is not None and held is None and alike(was.value, becomes.value):
            continue
        if was is None and becomes is not None and held is not None:
            waits = waited.get((stored.nugget, stored.key))
            base = as_visible_fact(waits) if waits is not None else None
            stands = merge_facts(f"{stored.nugget}: {stored.key}", base, held[1], becomes, turned)
            stored = msgspec.structs.replace(stored, before=held[1], after=stands, index=held[0])
        facts.append(stored)
    return msgspec.structs.replace(made, notes=tuple(notes), facts=tuple(facts))


def _may_merge(ours: Note, theirs: Note) -> bool:
    """Whether two notes of one id that both sides made are two versions of one."""
    return (ours.is_fact, ours.hidden) == (theirs.is_fact, theirs.hidden)


def in_step(made: ChangeSet, ours: Snapshot) -> ChangeSet:
    """The change set in which a fact takes its note along, and a note its fact, where it was thought out without."""
    notes, facts = list(made.notes), list(made.facts)
    touched, placed = {change.id for change in notes}, _placed(ours)
    noted = {
        (note.nugget_name, note.key)
        for change in made.notes
        for note in (change.before, change.after)
        if note is not None and note.is_fact
    }
    stored = {(one.nugget, fact.key) for one in facts for fact in (one.before, one.after) if fact is not None}
    for one in made.facts:
        note = ours.fact_notes.get((one.nugget, one.key))
        if note is None or note.hidden or note.id in touched or (one.nugget, one.key) in noted:
            continue
        said, says = (_as_its_note(note, fact) for fact in (one.before, one.after))
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


def _as_its_note(note: Note, fact: Fact | None) -> Note | None:
    """The note of a fact as it says what the fact says."""
    return (
        replace(note, title=fact.key, source_key=fact.key, content=fact.value) if fact is not None else None
    )


def _as_fact(note: Note | None, placed: Mapping[_FactName, tuple[int, Fact]]) -> Fact | None:
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
    """Decides conflicts of what comes from elsewhere: an edit stands against a deletion, the memory's own version
    against another.

    conflicts: what is left to a person. kept_here: ids of notes, or names of facts, that were deleted there and
    changed here; brought_back: the other way round.
    """

    ours: Snapshot
    conflicts: list[Conflict] = field(default_factory=list)
    kept_here: list[str] = field(default_factory=list)
    brought_back: list[str] = field(default_factory=list)

    def __call__(self, found: ConflictError, ours: Any, theirs: Any, /) -> Any:
        """See `deciding.Decide`: ours is what arrives, theirs what stands here."""
        match found.code:
            case ErrorCode.DELETED_MEANWHILE if not self._waits_hidden(found.where):
                self.brought_back.append(found.where)
                return ours
            case ErrorCode.CHANGED_MEANWHILE | ErrorCode.FACT_CHANGED_MEANWHILE if ours is None:
                self.kept_here.append(found.where)
                return theirs
            case ErrorCode.FACT_CHANGED_MEANWHILE if not found.theirs:
                # A note comes back whose fact is in no file any more.
                return ours
            case _:
                self.conflicts.append(conflict_of(found))
                return theirs

    def _waits_hidden(self, where: str) -> bool:
        return any(
            note.hidden and note.is_fact and f"{note.nugget_name}: {note.key}" == where
            for note in self.ours.notes
        )


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
    ids = {change.id for change in made.notes if change.id == found.where}
    keys = {(one.nugget, one.key) for one in made.facts if f"{one.nugget}: {one.key}" == found.where}
    for change in made.notes:
        sides = (change.before, change.after)
        own = {(note.nugget_name, note.key) for note in sides if note is not None and note.is_fact}
        if change.id in ids or own & keys or found.where in {f"{a}: {b}" for a, b in own}:
            ids.add(change.id)
            keys |= own
    return msgspec.structs.replace(
        made,
        notes=tuple(change for change in made.notes if change.id in ids),
        facts=tuple(one for one in made.facts if (one.nugget, one.key) in keys),
        nuggets=(),
    )


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
