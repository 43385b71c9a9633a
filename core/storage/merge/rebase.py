"""Rebase: the merge of a change set, whose `before` is the base, with the newest memory, field by field.

Facts are merged first. A note goes where its fact goes: what gives way takes the other along.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

import msgspec

from core.errors import ConflictError, ErrorCode
from core.model.build import as_visible_fact
from core.model.change import ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.compare import alike
from core.model.draft_facts import HiddenIndexes
from core.model.fact import Fact, NuggetMeta
from core.model.note import HiddenFact, Note, normalised_note, replace, sound_links
from core.model.snapshot import Snapshot
from core.storage.merge.deciding import OF_ITS_FACT, Decide, conflict, refuse, same_fact
from core.storage.merge.three_way import merge_facts, merge_notes, same_meaning

_UNDOING: Final = frozenset({"undo", "redo", "restore"})
# A fact by nugget and key.
FactName = tuple[str, str]


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
            code = ErrorCode.DELETED_MEANWHILE if before is not None else ErrorCode.UNREADABLE_SIDE
            found = conflict(code, id, before.content if before is not None else "", after.content, "")
            in_the_way = before is not None or id in self._ours.set_aside
            if in_the_way and not self._stands(found, after, None, *item):
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
