"""The merge of two versions of a memory: what theirs changed since a base, brought onto ours field by field. Pure.

Whoever merges chooses the base alone, and who decides what was changed in two ways. A change set bears its base in
itself, as its `before`: it is rebased. Facts are merged first, and a note goes where its fact goes: what gives way
takes the other along.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, Final, NamedTuple

import msgspec

from core.errors import ConflictError, ErrorCode, InvalidInputError
from core.model.build import as_hidden_fact, as_visible_fact
from core.model.change import ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.compare import Differences, alike, differences, laid_over
from core.model.draft_facts import HiddenIndexes
from core.model.entry import Conflict
from core.model.fact import Fact, NuggetMeta
from core.model.names import check_nugget_name
from core.model.note import SCOPES, HiddenFact, Link, Note, normalised_note, replace, sound_links
from core.model.snapshot import Snapshot
from core.storage.merge.three_way import (
    OF_ITS_FACT,
    Decide,
    conflict,
    conflict_of,
    merge_facts,
    merge_notes,
    refuse,
    same_fact,
    same_meaning,
)
from core.text.normalise import squeeze

_UNDOING: Final = frozenset({"undo", "redo", "restore"})
# A fact by nugget and key.
FactName = tuple[str, str]


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


# Rebasing


def rebase(change_set: ChangeSet, snapshot: Snapshot, decide: Decide = refuse) -> ChangeSet:
    """The same changes with the newest values as `before`; what has already happened drops out.

    Edits of different notes, or of different fields of one note, merge (tags and links as sets, recalls as
    sums). What both made is merged without a base. When one field was changed in two ways, or a whole thing is in the
    way, `decide` says what stands; what gives way as a whole drops out, a fact together with its note. Raises
    ConflictError when `decide` does; nothing is merged then.
    """
    if change_set.kind == "import" and not (snapshot.notes or snapshot.nuggets or snapshot.set_aside):
        # Nothing is there that it could meet: a whole memory is laid down just as it was.
        return change_set
    change_set, known = one_note_a_fact(change_set, snapshot), dict[tuple[str, ...], Any]()

    def decide_once(found: ConflictError, ours: Any, theirs: Any) -> Any:
        asked = (found.code, found.where, found.field)
        if asked not in known:
            known[asked] = decide(found, ours, theirs)
        return known[asked]

    while True:
        once = _Rebase(change_set, snapshot, decide_once)
        rebased = once.made()
        if not once.lost:
            return rebased
        change_set = _without(change_set, once.lost)


def one_note_a_fact(made: ChangeSet, ours: Snapshot) -> ChangeSet:
    """Both may have made a note of one fact: what is brought in goes into the one that stands, with its links."""
    touched = {change.id for change in made.notes}
    stored = {(one.nugget, (one.after or one).key) for one in made.facts}
    stands_for: dict[str, str] = {}
    for change in made.notes:
        note = change.after
        if note is None or change.before is not None or not note.is_fact or note.id in ours.by_id:
            continue
        name = (note.nugget_name, note.key)
        twin = ours.fact_notes.get(name)
        # What is taken back may have been a further note of its fact.
        alone = made.kind in _UNDOING and (note.hidden or name not in stored)
        if twin is None or twin.id in touched or twin.hidden != note.hidden or alone:
            continue
        if not note.hidden or same_fact(note.hidden_fact, twin.hidden_fact):
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


def _without(change_set: ChangeSet, lost: Collection[tuple[str, ...]]) -> ChangeSet:
    """The change set without what gave way: notes, and facts with the notes that mirror them."""
    facts = [one for one in change_set.facts if ("fact", one.nugget, one.key) not in lost]
    gone = {
        (one.nugget, key)
        for one in change_set.facts
        if ("fact", one.nugget, one.key) in lost
        for key in (one.key, (one.after or one).key)
    }
    notes = (
        change
        for change in change_set.notes
        if ("note", change.id) not in lost and gone.isdisjoint(facts_of_note(change))
    )
    return msgspec.structs.replace(change_set, notes=tuple(notes), facts=tuple(facts))


def facts_of_note(change: NoteChange) -> set[FactName]:
    """The facts that a note stands for, before and after a change."""
    sides = (change.before, change.after)
    return {(note.nugget_name, note.key) for note in sides if note is not None and note.is_fact}


class _Found(NamedTuple):
    """A fact as it stands in its file now, and its place there."""

    place: int
    fact: Fact

    def becomes(self, change: FactChange, after: Fact | None) -> FactChange:
        return FactChange(
            nugget=change.nugget, key=self.fact.key, before=self.fact, after=after, index=self.place
        )


class _Rebase:
    """One go at a rebase. lost: notes, as ("note", id), and facts, as ("fact", nugget, key), that gave way as a whole:
    whoever loses anything has to go again without it.
    """

    def __init__(self, made: ChangeSet, ours: Snapshot, decide: Decide) -> None:
        self.lost: set[tuple[str, ...]] = set()
        self._made, self._ours, self._decide = made, ours, decide
        self._undoing = made.kind in _UNDOING
        # What both made apart is merged without a base.
        self._arrives = made.kind == "import"
        self._touched = {change.id for change in made.notes}

    def _stands(self, found: ConflictError, ours: Any, theirs: Any, *item: str) -> bool:
        """Whether the change of a whole thing is made; `item` is lost otherwise. Raises ConflictError."""
        if self._decide(found, ours, theirs) is not theirs:
            return True
        self.lost.add(item)
        return False

    def _only_counted(self, before: Note | Fact, after: Note | Fact) -> bool:
        """Whether a change does nothing but what recalls do, so that what is gone stays gone."""
        if isinstance(before, Fact) and isinstance(after, Fact):
            same = before.key == after.key and alike(before.value, after.value)
        else:
            same = same_meaning(before, after)
        return self._made.kind == "hit" or (self._arrives and same)

    def made(self) -> ChangeSet:
        """The change set as far as it goes; see `lost`. Raises ConflictError."""
        made, ours = self._made, self._ours
        facts = self._facts()
        replaced = [*self._twins(facts)]
        if self.lost:
            # Nobody is asked about a note whose fact gives way.
            return made
        created = {change.id for change in made.notes if change.after is not None}
        removed = self._touched - created | {*replaced}

        def exists(id: str) -> bool:
            return id not in removed and (id in created or id in ours.by_id or id in ours.set_aside)

        notes = [found for change in made.notes if (found := self._note(change, exists)) is not None]
        notes = self._with_newest_facts(notes, facts)
        notes += [
            NoteChange(id=id, before=ours.by_id[id], after=None, index=ours.places[id]) for id in replaced
        ]
        # Notes that another program linked meanwhile to one that goes now: their links go with it.
        leaving = (change.id for change in notes if change.after is None)
        holders = {holder for id in leaving for holder, _ in ours.links_in.get(id, ())}
        for note in (ours.by_id[id] for id in sorted(holders - {change.id for change in notes})):
            notes.append(NoteChange(id=note.id, before=note, after=normalised_note(note, exists)))
        nuggets = [change for one in made.nuggets if (change := self._nugget(one, facts)) is not None]
        # One that is gone here is there again for what comes.
        gone = {one.nugget for one in facts if one.after is not None} - ours.by_name.keys()
        for name in sorted(gone - {change.name for change in nuggets}):
            nuggets.append(NuggetChange(name=name, before=None, after=NuggetMeta(name=name)))
        return msgspec.structs.replace(made, notes=tuple(notes), facts=tuple(facts), nuggets=tuple(nuggets))

    def _nugget(self, change: NuggetChange, facts: list[FactChange]) -> NuggetChange | None:
        """A nugget that comes, goes once it holds nothing, or (before and after) is there again for what comes."""
        held = self._ours.by_name.get(change.name)
        of_it = [fact for fact in facts if fact.nugget == change.name]
        if change.after is None:
            empties = held is not None and sum(fact.after is None for fact in of_it) == len(held.facts)
            return change if empties else None
        if held is not None or (change.before is not None and not of_it):
            return None
        return msgspec.structs.replace(change, before=None)

    # Facts

    def _facts(self) -> list[FactChange]:
        """The changes of facts on top of the facts as they are now, each with its place now. Raises ConflictError."""
        changes, by_name = self._made.facts, self._ours.by_name
        found = {
            name: {fact.key: _Found(place, fact) for place, fact in enumerate(by_name[name].facts)}
            for name in {change.nugget for change in changes} & by_name.keys()
        }
        moving = [one for one in changes if one.after is None or one.after.key != one.key]
        freed = {(one.nugget, one.key) for one in moving if one.before is not None}
        arriving = {
            (one.nugget, one.after.key): one.after.value
            for one in changes
            if one.after is not None and (one.before is None or one.after.key != one.key)
        }
        rebased: list[FactChange] = []
        # New facts last: by then it is known which keys the others have given up.
        for change in sorted(changes, key=lambda change: change.before is None):
            of_key = found.get(change.nugget, {})
            current, name = of_key.get(change.key), (change.nugget, change.key)
            target = (change.after or change).key
            bearer = of_key.get(target) if target != change.key else None
            if change.before is not None:
                if change.after is not None and bearer is not None:
                    # It bears its new key already, its old one being free or taken by a newcomer of the same set.
                    free = current is None or (name in arriving and alike(current.fact.value, arriving[name]))
                    if free and alike(bearer.fact.value, change.after.value):
                        continue
                # What gave its key up stands in nobody's way.
                of_key.pop(change.key, None)
            rebased += self._fact(change, current, None if (change.nugget, target) in freed else bearer)
        return rebased

    def _fact(self, change: FactChange, current: _Found | None, other: _Found | None) -> list[FactChange]:
        """current: the fact as it is now. other: another fact with the key after the change."""
        where, item = f"{change.nugget}: {change.key}", ("fact", change.nugget, change.key)
        before, after = change.before, change.after
        if before is None:
            if after is None or current is None:
                return [change] if after is not None else []
            if self._arrives or alike(current.fact.value, after.value):
                after = merge_facts(where, None, current.fact, after, self._decide)
            else:
                stored = conflict(ErrorCode.STORED_MEANWHILE, where, "", after.value, current.fact.value)
                if not self._stands(stored, after, current.fact, *item):
                    return []
            return [current.becomes(change, after)] if after != current.fact else []
        if after is None:
            if current is None:
                return []
            changed = conflict(ErrorCode.FACT_CHANGED_MEANWHILE, where, before.value, "", current.fact.value)
            same = alike(current.fact.value, before.value) or self._stands(changed, None, current.fact, *item)
            return [current.becomes(change, None)] if same else []
        if current is None:
            forgotten = conflict(ErrorCode.DELETED_MEANWHILE, where, before.value, after.value, "")
            if self._only_counted(before, after) or not self._stands(forgotten, after, None, *item):
                return []
            waits = self._hidden_here.get((change.nugget, change.key))
            if waits is not None:
                # What was made of it before it was hidden counts as well.
                stood = msgspec.structs.replace(as_visible_fact(waits), key=before.key)
                after = merge_facts(where, before, stood, after, self._decide)
            if other is not None:
                return [other.becomes(change, after)]
            return [FactChange(nugget=change.nugget, key=after.key, before=None, after=after, index=None)]
        if other is not None:
            taken = conflict(ErrorCode.STORED_MEANWHILE, where, before.key, after.key, after.key)
            if not self._stands(taken, after, current.fact, *item):
                return []
        replaced = [other.becomes(change, None)] if other is not None else []
        merged = merge_facts(where, before, current.fact, after, self._decide)
        if after.last_hit_session != before.last_hit_session and after.hits >= before.hits:
            # A fact bears no time of its recalls; the one that is brought in is the latest.
            merged = msgspec.structs.replace(merged, last_hit_session=after.last_hit_session)
        return replaced if merged == current.fact else [*replaced, current.becomes(change, merged)]

    # Notes and their facts

    @cached_property
    def _hidden_here(self) -> dict[FactName, HiddenFact]:
        """Facts that wait in hidden notes here while a change of the same note edits them, by their names before it."""
        held = ((one.before, one.after, self._ours.by_id.get(one.id)) for one in self._made.notes)
        return {
            (before.nugget_name, before.key): here.hidden_fact
            for before, after, here in held
            if before and after and here and not (before.hidden or after.hidden) and here.hidden_fact
        }

    def _twins(self, facts: list[FactChange]) -> Iterator[str]:
        """Ids of visible notes that no change is about, whose fact goes, or gives its key to one that is brought back:
        what another program made of it meanwhile goes with it.
        """
        changed = [one for one in self._made.notes if one.before is not None]
        noted = {
            name for one in changed if one.before and not one.before.hidden for name in facts_of_note(one)
        }
        back = {name for one in changed if one.after and not one.after.hidden for name in facts_of_note(one)}
        anew = back & {(one.nugget, one.key) for one in self._made.facts if one.before is None}
        for fact in facts:
            name = (fact.nugget, fact.key)
            # A repair stored a fact without touching its note, so undo removes it alone.
            goes = fact.after is None and not (self._undoing and name not in noted)
            twin = self._ours.fact_notes.get(name)
            if twin is None or twin.hidden or twin.id in self._touched:
                continue
            if goes or (name in anew and fact.before is not None):
                yield twin.id

    def _with_newest_facts(self, notes: list[NoteChange], facts: list[FactChange]) -> list[NoteChange]:
        """Notes that take their facts out of the file keep them as they are there now, with their places.

        A fact that did not change meanwhile is kept as that change said; what is hidden again by taking something back
        keeps the place that it had before.
        """
        thought_out = {(one.nugget, one.key): one.before for one in self._made.facts if one.after is None}
        leaving = {(one.nugget, one.key): one for one in facts if one.after is None}
        hidden = self._ours.hidden_facts
        indexes = {name: HiddenIndexes(hidden.get(name, {})) for name in {name for name, _ in leaving}}

        def newest(change: NoteChange) -> NoteChange:
            before, after = change.before, change.after
            waits = after.hidden_fact if after is not None else None
            # An older one of its key may wait in it.
            if waits is None or (before is not None and before.hidden and before.hidden_fact is not None):
                return change
            name = (change.note.nugget_name, waits.key)
            taken, known = leaving.get(name), thought_out.get(name)
            if taken is None or after is None or known is None or not alike(known.value, waits.value):
                return change
            fact = taken.before
            if fact is not None and fact != known:
                waits = msgspec.structs.replace(
                    waits, value=fact.value, hits=fact.hits, last_hit_session=fact.last_hit_session,
                    extra=fact.extra,
                )  # fmt: skip
            if not self._undoing:
                waits = msgspec.structs.replace(waits, index=indexes[taken.nugget].index_of(taken.index or 0))
            return msgspec.structs.replace(change, after=replace(after, hidden_fact=waits))

        return list(map(newest, notes)) if leaving else notes

    # Notes

    def _note(self, change: NoteChange, exists: Callable[[str], bool]) -> NoteChange | None:
        """A note's change on top of the note as it is now; None when it has already happened, or gives way.

        exists: whether a note of an id will stand in the file afterwards. Raises ConflictError.
        """
        id, before, after, current = change.id, change.before, change.after, self._ours.by_id.get(change.id)
        here, item = current.content if current is not None else "", ("note", id)
        if after is None:
            if current is None or before is None:
                return None
            changed = conflict(ErrorCode.CHANGED_MEANWHILE, id, before.content, "", here)
            goes = same_meaning(current, before) or self._stands(changed, None, current, *item)
            return (
                NoteChange(id=id, before=current, after=None, index=self._ours.places[id]) if goes else None
            )
        if current is None:
            if before is not None and self._only_counted(before, after):
                return None
            if before is not None or id in self._ours.set_aside:
                code = ErrorCode.DELETED_MEANWHILE if before is not None else ErrorCode.UNREADABLE_SIDE
                found = conflict(code, id, before.content if before is not None else "", after.content, "")
                if not self._stands(found, after, None, *item):
                    return None
            index = change.index if before is None else None
            return NoteChange(id=id, before=None, after=self._set_right(after, exists), index=index)
        if before is None and (current.is_fact, current.hidden) != (after.is_fact, after.hidden):
            made = conflict(ErrorCode.MADE_MEANWHILE, id, "", after.content, here)
            stands = self._stands(made, after, current, *item)
            return NoteChange(id=id, before=current, after=self._set_right(after, exists)) if stands else None
        newest = current
        if before is not None and _mirrors_another_fact(before, after, current):
            moved = conflict(ErrorCode.RENAMED_MEANWHILE, id, before.key, after.key, current.key)
            if not self._stands(moved, after, current, *item):
                return None
            state = {name: getattr(after, name) for name in OF_ITS_FACT if name != "content"}
            newest = replace(current, **state)
        if newest == before:
            merged = self._set_right(after, exists)
        else:
            merged = merge_notes(before, newest, after, self._decide)
            if replace(merged, vector=current.vector) == current:
                return None
            merged = normalised_note(merged, exists)
        return None if merged == current else NoteChange(id=id, before=current, after=merged)

    def _set_right(self, note: Note, exists: Callable[[str], bool]) -> Note:
        """What is taken back becomes what it was, also where the file was not quite right, if its links still hold."""
        if self._undoing and sound_links(note, exists) == note.links:
            return note
        return normalised_note(note, exists)


def _mirrors_another_fact(before: Note, after: Note, current: Note) -> bool:
    """Whether a fact note stands for another fact by now, or for none, than the one this change touches through it."""
    carried = (after.content, after.key, after.hidden) != (before.content, before.key, before.hidden)
    moved = current.key not in (before.key, after.key) or current.hidden not in (before.hidden, after.hidden)
    return before.is_fact and carried and moved


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
        """See `Decide`: ours is what arrives, theirs what stands here."""
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
