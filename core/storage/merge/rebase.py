"""Rebase: brings a change set planned on one snapshot onto the newest one, field by field."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from core.errors import ConflictError, ErrorCode
from core.model.change import ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.compare import alike
from core.model.draft_facts import DraftFacts, HiddenIndexes
from core.model.fact import Fact
from core.model.note import Note, normalised_note, replace, sound_links, vector_spec
from core.model.snapshot import Snapshot
from core.storage.merge.deciding import (
    OF_ITS_FACT,
    Decide,
    conflict,
    other_way_round,
    refuse,
    same_fact,
)
from core.storage.merge.three_way import merge_facts, merge_notes, same_meaning
from core.text.normalise import squeeze

_UNDOING: Final = frozenset({"undo", "redo", "restore"})


class _Deciding:
    """One rebase's decisions: each conflict is asked about once, and what gave way as a whole is remembered.

    lost: notes, as ("note", id), and facts, as ("fact", nugget, key), whose change is to be dropped.
    """

    def __init__(self, decide: Decide) -> None:
        self.lost: set[tuple[str, ...]] = set()
        self._decide = decide
        self._known: dict[tuple[ErrorCode, str, str], Any] = {}

    def value(self, found: ConflictError, ours: Any, theirs: Any) -> Any:
        """The value that is to stand. Raises ConflictError."""
        place = (found.code, found.where, found.field)
        if place not in self._known:
            self._known[place] = self._decide(found, ours, theirs)
        return self._known[place]

    def ours_stand(self, found: ConflictError, ours: Any, theirs: Any, *item: str) -> bool:
        """Whether the change of a whole thing is made; `item` is lost otherwise. Raises ConflictError."""
        stand = self.value(found, ours, theirs) is not theirs
        if not stand:
            self.lost.add(item)
        return stand


def rebase(change_set: ChangeSet, snapshot: Snapshot, decide: Decide = refuse) -> ChangeSet:
    """The same changes with the newest values as `before`; what has already happened drops out.

    Edits of different notes, or of different fields of one note, merge (tags and links as sets, recalls as
    sums). When one field was changed in two ways, or a whole thing is in the way, `decide` says what stands; what
    gives way as a whole drops out, a fact together with its note. Raises ConflictError when `decide` does;
    nothing is merged then.
    """
    if change_set.kind == "import" and not (snapshot.notes or snapshot.nuggets or snapshot.set_aside):
        # Nothing is there that it could meet: a whole memory is laid down just as it was.
        return change_set
    deciding = _Deciding(decide)
    while True:
        rebased = _rebase_once(change_set, snapshot, deciding)
        if not deciding.lost:
            return rebased
        change_set = _without(change_set, deciding.lost)
        deciding.lost.clear()


def _rebase_once(change_set: ChangeSet, snapshot: Snapshot, deciding: _Deciding) -> ChangeSet:
    quiet = change_set.kind == "hit"
    facts = _rebase_facts(change_set, snapshot, quiet, deciding)
    placed = _leaving_facts(facts)
    thought_out = _leaving_facts(change_set.facts)
    replaced = _orphans(facts, change_set, snapshot, deciding)
    needless = _needless_notes(change_set, snapshot)
    overwritten: list[NoteChange] = []
    for change, twin in _replaced_twins(facts, change_set, snapshot):
        if change.before is None:
            needless.add(change.id)
            overwritten.append(_with_text_of(change.note, twin))
        else:
            replaced.append(twin.id)
    created = {change.after.id for change in change_set.notes if change.after is not None} - needless
    removed = {*_leaving_ids(change_set.notes), *replaced}

    def exists(id: str) -> bool:
        return id not in removed and (id in created or id in snapshot.by_id or id in snapshot.set_aside)

    undoing = change_set.kind in _UNDOING
    wanted = [change for change in change_set.notes if change.id not in needless]
    moved = [_rebase_note(change, snapshot, exists, quiet, undoing, deciding) for change in wanted]
    hidden = {
        name: HiddenIndexes(snapshot.hidden_facts.get(name, {})) for name in {nugget for nugget, _ in placed}
    }
    moved = [
        _with_newest_fact(change, hidden, placed, thought_out, undoing)
        if _takes_its_fact(change, thought_out)
        else change
        for change in moved
    ]
    notes = [change for change in moved if change is not None]
    notes += [*overwritten, *(_removal(snapshot, id) for id in replaced)]
    notes += _freed_holders(notes, snapshot, exists)
    facts += _facts_of_strangers(notes, change_set, snapshot, deciding)
    nuggets = [change for change in change_set.nuggets if _is_due(change, snapshot, facts)]
    return msgspec.structs.replace(change_set, notes=tuple(notes), facts=tuple(facts), nuggets=tuple(nuggets))


def _without(change_set: ChangeSet, lost: Collection[tuple[str, ...]]) -> ChangeSet:
    """The change set without what gave way: notes, and facts with the notes that mirror them."""
    facts = [change for change in change_set.facts if ("fact", change.nugget, change.key) not in lost]
    gone = {
        ("fact", change.nugget, key)
        for change in change_set.facts
        if ("fact", change.nugget, change.key) in lost
        for key in (change.key, change.after.key if change.after is not None else change.key)
    }
    notes = [
        change
        for change in change_set.notes
        if ("note", change.id) not in lost
        and not any(
            ("fact", note.nugget_name, note.key) in gone
            for note in (change.before, change.after)
            if note is not None and note.is_fact
        )
    ]
    return msgspec.structs.replace(change_set, notes=tuple(notes), facts=tuple(facts))


def _orphans(
    facts: list[FactChange], change_set: ChangeSet, snapshot: Snapshot, deciding: _Deciding
) -> list[str]:
    """A fact does not leave its file when another program made a further note of it, which would stand for nothing.

    Gives the ids of such notes that are to go with their facts.
    """
    sides = (note for change in change_set.notes for note in (change.before, change.after))
    notes = [note for note in sides if note is not None]
    touched = {note.id for note in notes}
    stood_for = [change.before for change in change_set.notes if change.before is not None]
    noted = {(note.nugget_name, note.key) for note in stood_for if note.is_fact and not note.hidden}
    found: list[str] = []
    for fact in facts:
        # A repair stored this fact without touching its note, so undo removes it alone.
        alone = change_set.kind in _UNDOING and (fact.nugget, fact.key) not in noted
        leaves = fact.after is None and not alone
        twin = snapshot.fact_notes.get((fact.nugget, fact.key)) if leaves else None
        if twin is not None and not twin.hidden and twin.id not in touched:
            anew = conflict(ErrorCode.STORED_MEANWHILE, twin.id, fact.key, "", twin.content)
            if deciding.ours_stand(anew, None, twin, "fact", fact.nugget, fact.key):
                found.append(twin.id)
    return found


def _replaced_twins(
    facts: list[FactChange], change_set: ChangeSet, snapshot: Snapshot
) -> Iterator[tuple[NoteChange, Note]]:
    """Notes that appear for a fact which was decided to replace a newcomer, each with the newcomer's own note.

    And new notes of a fact that is given another value, whose note was out of the file when that was thought out.
    A note that is made hidden stands for no fact: it keeps a value that gave way, beside the fact's own note.
    """
    anew = {(fact.nugget, fact.key) for fact in change_set.facts if fact.before is None}
    anew -= {(fact.nugget, fact.key) for fact in change_set.facts if fact.before is not None}
    won = anew & {(fact.nugget, fact.key) for fact in facts if fact.before is not None}
    kept = {
        (fact.nugget, fact.key)
        for fact in change_set.facts
        if fact.before is not None and fact.after is not None and change_set.kind not in _UNDOING
    }
    touched = {change.id for change in change_set.notes}
    for change in change_set.notes:
        place = (change.note.nugget_name, change.note.key)
        due = place in won or (change.before is None and place in kept)
        appears = change.after is not None and not change.after.hidden
        twin = snapshot.fact_notes.get(place) if appears and due else None
        if change.note.is_fact and twin is not None and not twin.hidden and twin.id not in touched:
            yield change, twin


def _with_text_of(note: Note, twin: Note) -> NoteChange:
    after = replace(twin, content=note.content, updated_at=max(note.updated_at, twin.updated_at))
    return NoteChange(id=twin.id, before=twin, after=replace(after, vector=vector_spec(after)))


def _removal(snapshot: Snapshot, id: str) -> NoteChange:
    return NoteChange(id=id, before=snapshot.by_id[id], after=None, index=snapshot.places[id])


def _facts_of_strangers(
    notes: list[NoteChange], change_set: ChangeSet, snapshot: Snapshot, deciding: _Deciding
) -> list[FactChange]:
    """A note does not appear for a fact that another program gave another value or took out.

    Gives the changes that bring such facts back to what their notes say, where that was decided.
    """
    keys = {(c.nugget, c.after.key if c.after is not None else c.key) for c in change_set.facts}
    facts = _FactsByKey(snapshot)
    changes: list[FactChange] = []
    for change in notes:
        note = change.after
        appears = change.before is None or change.before.hidden
        if note is None or note.hidden or not note.is_fact or not appears:
            continue
        place = (note.nugget_name, note.key)
        found = facts.find(*place) if place not in keys else None
        if place in keys or (found is not None and (note.nugget_name, found[1].key) in keys):
            continue
        value = found[1].value if found is not None else ""
        if alike(value, note.content) or _came_back_without_fact(change_set, snapshot, note, found):
            continue
        strange = conflict(ErrorCode.FACT_CHANGED_MEANWHILE, note.id, note.key, note.content, value)
        if not deciding.ours_stand(strange, note, change.before, "note", note.id):
            continue
        index, fact = found if found is not None else (None, None)
        stored = fact if fact is not None else Fact(key=note.key, value="", hits=note.hits)
        after = msgspec.structs.replace(stored, value=note.content)
        changes.append(
            FactChange(nugget=note.nugget_name, key=stored.key, before=fact, after=after, index=index)
        )
    return changes


class _FactsByKey:
    """The facts of a snapshot, found by nugget and key at once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._of_nugget: dict[str, DraftFacts] = {}

    def find(self, nugget: str, key: str) -> tuple[int, Fact] | None:
        """Place and fact, as `Nugget.find`."""
        if nugget not in self._snapshot.by_name:
            return None
        if nugget not in self._of_nugget:
            self._of_nugget[nugget] = DraftFacts(self._snapshot.by_name[nugget].facts)
        return self._of_nugget[nugget].find(key)


def _came_back_without_fact(
    change_set: ChangeSet, snapshot: Snapshot, note: Note, found: tuple[int, Fact] | None
) -> bool:
    """Whether a note that is back by taking something back did not stand for the fact of its key before either."""
    if change_set.kind not in _UNDOING:
        return False
    if found is None or note.hidden_fact is not None:
        return True
    mirror = snapshot.fact_notes.get((note.nugget_name, found[1].key))
    return mirror is not None and not mirror.hidden and mirror.id != note.id


def _needless_notes(change_set: ChangeSet, snapshot: Snapshot) -> set[str]:
    """New notes of facts that another program stored or forgot just so, and made a note of: one is enough."""
    touched = {change.id for change in change_set.notes}
    keys = {(c.nugget, c.after.key if c.after is not None else c.key) for c in change_set.facts}
    found: set[str] = set()
    for change in change_set.notes:
        note = change.after
        if note is None or change.before is not None or not note.is_fact or change.id in snapshot.by_id:
            continue
        twin = snapshot.fact_notes.get((note.nugget_name, note.key))
        stands_alone = note.hidden or (note.nugget_name, note.key) not in keys
        restored = change_set.kind in _UNDOING and stands_alone
        if twin is None or twin.id in touched or restored:
            continue
        stored = alike(twin.content, note.content) and not (twin.hidden or note.hidden)
        if stored or (twin.hidden and note.hidden and same_fact(twin.hidden_fact, note.hidden_fact)):
            found.add(change.id)
    return found


def _freed_holders(
    notes: list[NoteChange], snapshot: Snapshot, exists: Callable[[str], bool]
) -> list[NoteChange]:
    """Notes that another program linked meanwhile to one that goes now: their links go with it."""
    touched = {change.id for change in notes}
    holders = {holder for id in _leaving_ids(notes) for holder, _ in snapshot.links_in.get(id, ())} - touched
    found = [snapshot.by_id[holder] for holder in sorted(holders)]
    return [NoteChange(id=note.id, before=note, after=normalised_note(note, exists)) for note in found]


def _leaving_ids(changes: Iterable[NoteChange]) -> Iterator[str]:
    """Ids that no note bears any more afterwards."""
    return (change.id for change in changes if change.after is None)


def _is_due(change: NuggetChange, snapshot: Snapshot, facts: list[FactChange]) -> bool:
    nugget = snapshot.by_name.get(change.name)
    if change.after is not None:
        return nugget is None
    leaving = sum(fact.nugget == change.name and fact.after is None for fact in facts)
    return nugget is not None and leaving == len(nugget.facts)


class _Leaving:
    """The facts of one key that leave their file, in order; those of one value are found at once."""

    def __init__(self) -> None:
        self.first: FactChange | None = None
        self._of_value: dict[str, list[FactChange]] = {}
        self._texts: set[str] = set()

    def add(self, change: FactChange) -> None:
        """One more."""
        self.first = self.first or change
        if change.before is not None:
            self._of_value.setdefault(change.before.value, []).append(change)
            self._texts.add(squeeze(change.before.value))

    def of_value(self, value: str) -> Sequence[FactChange]:
        """Those of just this value."""
        return self._of_value.get(value, ())

    def holds_text(self, value: str) -> bool:
        """Whether one says this, white space aside."""
        return value in self._of_value or squeeze(value) in self._texts


def _leaving_facts(facts: Iterable[FactChange]) -> dict[tuple[str, str], _Leaving]:
    found: dict[tuple[str, str], _Leaving] = {}
    for fact in facts:
        if fact.after is None:
            found.setdefault((fact.nugget, fact.key), _Leaving()).add(fact)
    return found


def _takes_its_fact(change: NoteChange | None, thought_out: dict[tuple[str, str], _Leaving]) -> bool:
    """Whether the fact that waits in a note is one that its change set takes out, and not an older one of its key."""
    note = change.after if change is not None else None
    if note is None or note.hidden_fact is None:
        return False
    leaving = thought_out.get((note.nugget_name, note.hidden_fact.key))
    return leaving is not None and leaving.holds_text(note.hidden_fact.value)


def _with_newest_fact(
    change: NoteChange | None,
    hidden: dict[str, HiddenIndexes],
    placed: dict[tuple[str, str], _Leaving],
    thought_out: dict[tuple[str, str], _Leaving],
    undoing: bool,
) -> NoteChange | None:
    """A note that takes its fact out of the file keeps the fact as it is there now, with its place.

    hidden: what is hidden of each nugget from which facts leave. placed, thought_out: the facts that leave, as they
    are now and as they were when that was thought out; one that did not change meanwhile is kept as that said.
    undoing: what is hidden again by taking something back keeps the place that it had before.
    """
    merged = change.after if change is not None else None
    waiting = merged.hidden_fact if merged is not None else None
    if change is None or merged is None or waiting is None:
        return change
    if change.before is not None and change.before.hidden and change.before.hidden_fact is not None:
        return change
    candidates = placed.get((merged.nugget_name, waiting.key), _Leaving())
    taken = next(iter(candidates.of_value(waiting.value)), candidates.first)
    if taken is None or taken.before is None or taken.index is None:
        return change
    known = thought_out.get((merged.nugget_name, waiting.key))
    fact, newest = taken.before, waiting
    if known is None or not any(change.before == fact for change in known.of_value(fact.value)):
        newest = msgspec.structs.replace(
            waiting,
            value=fact.value,
            hits=fact.hits,
            last_hit_session=fact.last_hit_session,
            extra=fact.extra,
        )
    if not (undoing and known is not None):
        index = hidden[merged.nugget_name].index_of(taken.index)
        newest = msgspec.structs.replace(newest, index=index)
    return msgspec.structs.replace(change, after=replace(merged, hidden_fact=newest))


# Notes


def _rebase_note(
    change: NoteChange,
    snapshot: Snapshot,
    exists: Callable[[str], bool],
    quiet: bool,
    undoing: bool,
    deciding: _Deciding,
) -> NoteChange | None:
    """A note's change on top of the note as it is now; None when it has already happened, or gives way.

    exists: whether a note of this id will stand in the file afterwards. quiet: a recall, which never conflicts.
    undoing: what is taken back becomes what it was. Raises ConflictError.
    """
    current = snapshot.by_id.get(change.id)
    before, after = change.before, change.after
    if after is None:
        return _rebase_removal(change, current, snapshot, deciding)
    if before is None:
        if current is not None and same_meaning(current, after):
            return None
        made = conflict(
            ErrorCode.MADE_MEANWHILE, change.id, "", after.content, current.content if current else ""
        )
        if current is not None and not deciding.ours_stand(made, after, current, "note", change.id):
            return None
        index = change.index if current is None else None
        return NoteChange(id=change.id, before=current, after=_set_right(after, exists, undoing), index=index)
    if current is None:
        deleted = conflict(ErrorCode.DELETED_MEANWHILE, change.id, before.content, after.content, "")
        if quiet or not deciding.ours_stand(deleted, after, None, "note", change.id):
            return None
        return NoteChange(id=change.id, before=None, after=_set_right(after, exists, undoing))
    newest = current
    if _mirrors_another_fact(before, after, current):
        moved = conflict(ErrorCode.RENAMED_MEANWHILE, change.id, before.key, after.key, current.key)
        if not deciding.ours_stand(moved, after, current, "note", change.id):
            return None
        newest = replace(current, **{name: getattr(after, name) for name in OF_ITS_FACT})
    if newest == before:
        merged = _set_right(after, exists, undoing)
    else:
        merged = merge_notes(before, newest, after, other_way_round(deciding.value))
        if replace(merged, vector=current.vector) == current:
            return None
        merged = normalised_note(merged, exists)
    return None if merged == current else NoteChange(id=change.id, before=current, after=merged)


def _mirrors_another_fact(before: Note, after: Note, current: Note) -> bool:
    """Whether a fact note stands for another fact by now, or for none, than the one this change touches through it."""
    carried = (after.content, after.key, after.hidden) != (before.content, before.key, before.hidden)
    moved = current.key not in (before.key, after.key) or current.hidden not in (before.hidden, after.hidden)
    return before.is_fact and carried and moved


def _set_right(note: Note, exists: Callable[[str], bool], undoing: bool) -> Note:
    """What is taken back becomes what it was, also where the file was not quite right, if its links still hold."""
    if undoing and sound_links(note, exists) == note.links:
        return note
    return normalised_note(note, exists)


def _rebase_removal(
    change: NoteChange, current: Note | None, snapshot: Snapshot, deciding: _Deciding
) -> NoteChange | None:
    if current is None:
        return None
    assert change.before is not None
    if not same_meaning(current, change.before):
        found = conflict(ErrorCode.CHANGED_MEANWHILE, change.id, change.before.content, "", current.content)
        if not deciding.ours_stand(found, None, current, "note", change.id):
            return None
    return NoteChange(id=change.id, before=current, after=None, index=snapshot.places[current.id])


# Facts


class _Found(NamedTuple):
    """A fact as it stands in its file now, and its place there."""

    place: int
    fact: Fact


def _rebase_facts(
    change_set: ChangeSet, snapshot: Snapshot, quiet: bool, deciding: _Deciding
) -> list[FactChange]:
    """The changes of facts on top of the facts as they are now, each with its place now. Raises ConflictError.

    quiet: a recall, which never conflicts.
    """
    found = {
        name: {fact.key: _Found(place, fact) for place, fact in enumerate(snapshot.by_name[name].facts)}
        for name in {change.nugget for change in change_set.facts} & snapshot.by_name.keys()
    }
    freed, arriving = _freed_keys(change_set), _arriving_values(change_set)
    rebased: list[FactChange] = []
    # New facts last: by then it is known which keys the others have given up.
    for change in sorted(change_set.facts, key=lambda change: change.before is None):
        of_key = found.get(change.nugget, {})
        current = of_key.get(change.key)
        target = change.after.key if change.after is not None else change.key
        bearer = of_key.get(target) if target != change.key else None
        if _was_renamed(change, current, bearer, arriving.get((change.nugget, change.key))):
            continue
        if change.before is not None:
            # What gave its key up stands in nobody's way.
            of_key.pop(change.key, None)
        other = None if (change.nugget, target) in freed else bearer
        rebased += _rebase_fact(change, current, other, quiet, deciding)
    return rebased


def _freed_keys(change_set: ChangeSet) -> set[tuple[str, str]]:
    """Keys that facts give up in this change set."""
    leaving = (
        c for c in change_set.facts if c.before is not None and (c.after is None or c.after.key != c.key)
    )
    return {(change.nugget, change.key) for change in leaving}


def _arriving_values(change_set: ChangeSet) -> dict[tuple[str, str], str]:
    """Values of the facts that come to bear a key in this change set."""
    return {
        (change.nugget, change.after.key): change.after.value
        for change in change_set.facts
        if change.after is not None and (change.before is None or change.after.key != change.key)
    }


def _was_renamed(
    change: FactChange, current: _Found | None, bearer: _Found | None, newcomer: str | None
) -> bool:
    """Whether a fact already bears its new key, its old one being free or taken by a newcomer of the same set."""
    if change.before is None or change.after is None or bearer is None:
        return False
    free = current is None or (newcomer is not None and alike(current.fact.value, newcomer))
    return free and alike(bearer.fact.value, change.after.value)


def _rebase_fact(
    change: FactChange, current: _Found | None, other: _Found | None, quiet: bool, deciding: _Deciding
) -> list[FactChange]:
    """current: the fact as it is now. other: another fact with the key after the change."""
    where = f"{change.nugget}: {change.key}"
    item = ("fact", change.nugget, change.key)
    before, after = change.before, change.after
    if before is None:
        if after is None or (current is not None and alike(current.fact.value, after.value)):
            return []
        if current is None:
            return [change]
        stored = conflict(ErrorCode.STORED_MEANWHILE, where, "", after.value, current.fact.value)
        stands = deciding.ours_stand(stored, after, current.fact, *item)
        return [_moved(change, current, after)] if stands else []
    if after is None:
        if current is None:
            return []
        changed = conflict(ErrorCode.FACT_CHANGED_MEANWHILE, where, before.value, "", current.fact.value)
        if not alike(current.fact.value, before.value) and not deciding.ours_stand(
            changed, None, current.fact, *item
        ):
            return []
        return [_moved(change, current, None)]
    if current is None:
        forgotten = conflict(ErrorCode.DELETED_MEANWHILE, where, before.value, after.value, "")
        if quiet or not deciding.ours_stand(forgotten, after, None, *item):
            return []
        if other is not None:
            return [_moved(change, other, after)]
        return [FactChange(nugget=change.nugget, key=after.key, before=None, after=after, index=None)]
    replaced: list[FactChange] = []
    if other is not None:
        taken = conflict(ErrorCode.STORED_MEANWHILE, where, before.key, after.key, after.key)
        if not deciding.ours_stand(taken, after, current.fact, *item):
            return []
        replaced = [_moved(change, other, None)]
    merged = _merge_fact(where, before, after, current.fact, deciding)
    return replaced if merged == current.fact else [*replaced, _moved(change, current, merged)]


def _moved(change: FactChange, found: _Found, after: Fact | None) -> FactChange:
    return FactChange(
        nugget=change.nugget,
        key=found.fact.key,
        before=found.fact,
        after=after,
        index=found.place,
    )


def _merge_fact(where: str, before: Fact, after: Fact, current: Fact, deciding: _Deciding) -> Fact:
    merged = merge_facts(where, before, current, after, other_way_round(deciding.value))
    if after.last_hit_session == before.last_hit_session or after.hits < before.hits:
        return merged
    # A fact bears no time of its recalls; the one that is brought in is the latest.
    return msgspec.structs.replace(merged, last_hit_session=after.last_hit_session)
