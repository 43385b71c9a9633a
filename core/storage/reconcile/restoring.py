"""Plans the restoration of lost updates: what another program meant to change, and what to restore."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from core.errors import ErrorCode
from core.model.change import OURSELVES, PROGRAM, Author, ChangeKind, ChangeSet, FactChange, NoteChange
from core.model.compare import Differences, alike, laid_over, outside_changes
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.storage.format.documents import Loaded
from core.storage.journal.codec import fact_item, note_item
from core.storage.merge.deciding import Collect, take_theirs
from core.storage.merge.rebase import rebase
from core.storage.reconcile.lost_updates import (
    Version,
    find_lost_updates,
    item_name,
    known_versions,
    own_changes,
    same,
    written_at,
)
from core.storage.reconcile.repairs import (
    Drafting,
    FactStep,
    ItemKey,
    ItemRepair,
    OutsideSave,
    OwnChange,
    fact_change_in,
    fact_keys,
    facts_of,
    find_repairs,
    renamed_things,
)

if TYPE_CHECKING:
    from core.storage.journal.codec import Past
    from core.storage.journal.journal import Journal


@dataclass(frozen=True, kw_only=True)
class Restoration:
    """What is made of a file that somebody saved without having seen what it replaced.

    wishes: what the program changed in things that nobody else did. merged: what of its changes goes together with
    ours, in things that both changed. overwritten: what it took back. restoring: puts it back, on the files; empty
    where the files show it already. conflicts: its version of what both changed in two ways, to be decided on.
    left: things that are judged apart; those of them that were taken back as well are `apart`, the others differ by
    recalls or white space alone. lost: what is put back.
    """

    wishes: tuple[ChangeSet, ...] = ()
    merged: tuple[ChangeSet, ...] = ()
    overwritten: tuple[ChangeSet, ...] = ()
    restoring: ChangeSet
    conflicts: tuple[tuple[ChangeSet, Conflict], ...] = ()
    left: frozenset[ItemKey] = frozenset()

    apart: frozenset[ItemKey] = frozenset()
    lost: frozenset[ItemKey] = frozenset()

    @property
    def wanted(self) -> tuple[ChangeSet, ...]:
        """All that the program wanted, also what meets a conflict."""
        return (*self.wishes, *self.merged, *(change_set for change_set, _ in self.conflicts))


@dataclass(kw_only=True)
class _Plan:
    baseline: Snapshot
    now: Snapshot
    found: Differences
    bases: Mapping[ItemKey, Version]
    pending: Mapping[ItemKey, Version]
    own: Callable[[ItemKey], OwnChange | None]
    ids: Callable[[], str]
    at: str
    author: Author


def restoration(
    baseline: Snapshot,
    now: Snapshot,
    found: Differences,
    bases: Mapping[ItemKey, Version],
    *,
    pending: Mapping[ItemKey, Version],
    own: Callable[[ItemKey], OwnChange | None],
    apart: frozenset[ItemKey],
    ids: Callable[[], str],
    at: str,
    author: Author,
) -> Restoration:
    """What becomes of lost updates. baseline: the memory as it is to be; now: as it is in the files; found: how they
    differ. pending: what waits to be restored already, with the version of it that the log last saw in the file.
    own: our last change of a thing. apart: what is judged apart. author: who restores.
    """
    plan = _Plan(
        baseline=baseline,
        now=now,
        found=found,
        bases=bases,
        pending=pending,
        own=own,
        ids=ids,
        at=at,
        author=author,
    )
    versions = _Versions(plan)
    collected, merged = _merged(plan, versions)
    truth = baseline
    for change_set in merged:
        truth = laid_over(truth, change_set)
    wishes, left = _wishes(plan, versions, apart)
    return Restoration(
        wishes=wishes,
        merged=merged,
        overwritten=_overwritten(plan, versions),
        restoring=_restoring(plan, truth),
        conflicts=collected,
        left=left,
        apart=apart & left,
        lost=frozenset(bases),
    )


def restoration_of(
    journal: Journal, baseline: Loaded, now: Loaded, found: Differences, ids: Callable[[], str], at: str
) -> Restoration | None:
    """What becomes of the lost updates in a memory that another program saved; None when nothing is surely lost."""
    save = OutsideSave(baseline.snapshot, now.snapshot, own_changes(journal, now), at, found)
    return find_restoration(
        save,
        journal.past(),
        lambda item: written_at(now, item),
        _pending(journal, found),
        known_versions(journal),
        ids,
    )


def find_restoration(
    save: OutsideSave,
    history: Iterable[Past],
    written_ns: Callable[[ItemKey], int],
    pending: Mapping[ItemKey, Version],
    known: Callable[[ItemKey], Iterable[Note | Fact]],
    ids: Callable[[], str],
) -> Restoration | None:
    """The same where the log is told by what it is asked for; see `find_lost_updates`."""
    baseline, now, found = save.baseline, save.now, save.found
    if not (found.notes or found.facts) or renamed_things(save):
        return None
    bases = find_lost_updates(baseline, now, found, history, written_ns, pending, known)
    if not bases:
        return None
    _take_along(bases, baseline, now, found)
    return restoration(
        baseline, now, found, bases,
        pending=pending, own=save.own, apart=_repaired_besides(save, bases, ids),
        ids=ids, at=save.at, author=OURSELVES,
    )  # fmt: skip


def _repaired_besides(
    save: OutsideSave, bases: Mapping[ItemKey, Version], ids: Callable[[], str]
) -> frozenset[ItemKey]:
    """What else is to be put right though no version of its file shows it; it is no wish, and is mended by itself."""
    rest = Differences(
        tuple(change for change in save.found.notes if ("note", change.id) not in bases),
        tuple(fact for fact in save.found.facts if ("fact", fact.nugget, fact.key) not in bases),
        save.found.nuggets,
    )
    return find_repairs(
        save.baseline, save.now, save.own, ids=ids, at=save.at, author=OURSELVES, found=rest
    ).pending_restores


def _take_along(bases: dict[ItemKey, Version], baseline: Snapshot, now: Snapshot, found: Differences) -> None:
    """A fact and its note are one thing: where the one is lost and the other was taken back with it, both are."""
    for change in found.notes:
        note: ItemKey = ("note", change.id)
        sides = [one for one in (change.before, change.after) if one is not None and one.is_fact]
        for nugget, key in dict.fromkeys((one.nugget_name, one.key) for one in sides):
            held_by = baseline.by_name.get(nugget), now.by_name.get(nugget)
            if any(holder is None or holder.problem for holder in held_by):
                continue
            item: ItemKey = ("fact", nugget, key)
            then, held = (facts_of(one, nugget).get(key) for one in (baseline, now))
            if same(then, held):
                continue
            if then is not None and held is not None and _lost_its_key(change, key):
                # Something new took the key that we gave: a person decides, unless it has a note of its own already.
                stranger = now.fact_notes.get((nugget, key))
                if stranger is not None and not stranger.hidden:
                    for one in (note, *(("fact", nugget, side.key) for side in sides)):
                        bases.pop(one, None)
                    break
                if note in bases:
                    bases[item] = None
                continue
            if not _says(held, change.after, key):
                continue
            if note in bases and item not in bases:
                bases[item] = held
            elif note in bases and same(bases[item], held):
                # A program that loads an old fact writes it into the note: no wish of its own but for its recalls.
                bases[note] = _with_hits_of(change.after, bases[note])
            elif item in bases and note not in bases:
                bases[note] = change.after


def _with_hits_of(note: Note | None, base: Version) -> Note | None:
    if note is None or not isinstance(base, Note):
        return note
    return replace(note, hits=base.hits, last_hit_session=base.last_hit_session)


def _lost_its_key(change: NoteChange, key: str) -> bool:
    """Whether a note of the fact with this key has another key in the file."""
    before, after = change.before, change.after
    return before is not None and after is not None and before.key == key != after.key


def _says(fact: Fact | None, note: Note | None, key: str) -> bool:
    """Whether a fact of this key and a note tell the same."""
    if note is None or note.hidden or note.key != key:
        return fact is None
    return fact is not None and alike(fact.value, note.content)


def _pending(journal: Journal, found: Differences) -> dict[ItemKey, Version]:
    """What differs and waits to be restored already, with the version that the log last saw in the file."""
    rows = journal.pending_restores()
    entries: dict[str, ChangeSet] = {}
    known: dict[ItemKey, Version] = {}
    for item in differing(found) if rows else ():
        id = rows.get(item_name(item))
        if id is None:
            continue
        if id not in entries:
            entries[id] = journal.entry(id).change_set
        known[item] = _after(entries[id], item)
    return known


def came_back(
    journal: Journal, names: Iterable[str], now: Snapshot, ids: Callable[[], str], at: str
) -> ChangeSet:
    """What another program put back itself of what waited to be restored. names: of things, as the log names them."""
    rows = journal.pending_restores()
    notes: list[NoteChange] = []
    facts: list[FactChange] = []
    for id in dict.fromkeys(rows[name] for name in names):
        own = {name for name in names if rows[name] == id}
        was = journal.entry(id).change_set
        for change in was.notes:
            found = now.by_id.get(change.id)
            if note_item(change.id) in own and found != change.after:
                notes.append(NoteChange(id=change.id, before=change.after, after=found))
        for fact in was.facts:
            held = facts_of(now, fact.nugget).get(fact.key)
            if fact_item(fact.nugget, fact.key) in own and held != fact.after:
                facts.append(FactChange(nugget=fact.nugget, key=fact.key, before=fact.after, after=held))
    return ChangeSet(
        id=ids(), at=at, author=PROGRAM, kind="outside", notes=tuple(notes), facts=tuple(facts),
        reason=f"restored {len(notes) + len(facts)} that it had reverted",
    )  # fmt: skip


def _after(change_set: ChangeSet, item: ItemKey) -> Version:
    if item[0] == "note":
        return next((change.after for change in change_set.notes if change.id == item[1]), None)
    change = fact_change_in(change_set, item[1], item[2])
    return (
        change.after
        if change is not None and change.after is not None and change.after.key == item[2]
        else None
    )


def differing(found: Differences) -> Iterator[ItemKey]:
    """Every note and fact that differs; a renamed fact under both its keys."""
    yield from (("note", change.id) for change in found.notes)
    for change in found.facts:
        for key in fact_keys(change):
            yield "fact", change.nugget, key


class _Versions:
    """Each differing thing as it was and as it is."""

    def __init__(self, plan: _Plan) -> None:
        self.then: dict[ItemKey, Version] = {}
        self.now: dict[ItemKey, Version] = {}
        for note in plan.found.notes:
            self.then["note", note.id], self.now["note", note.id] = note.before, note.after
        for nugget in dict.fromkeys(change.nugget for change in plan.found.facts):
            then, now = facts_of(plan.baseline, nugget), facts_of(plan.now, nugget)
            for fact in plan.found.facts:
                if fact.nugget == nugget:
                    for key in (fact.key, *([fact.after.key] if fact.after else [])):
                        item = ("fact", nugget, key)
                        self.then[item], self.now[item] = then.get(key), now.get(key)


def _merged(
    plan: _Plan, versions: _Versions
) -> tuple[tuple[tuple[ChangeSet, Conflict], ...], tuple[ChangeSet, ...]]:
    """Conflicts, and the changes of things that both changed, on top of the baseline."""
    changed: dict[ItemKey, tuple[Version, Version]] = {}
    recalled: dict[ItemKey, tuple[Version, Version]] = {}
    for item, base in plan.bases.items():
        now = versions.now[item]
        if not same(base, now):
            changed[item] = base, now
        elif base is not None and now is not None and now.hits > base.hits:
            recalled[item] = base, now
    sets: list[ChangeSet] = []
    conflicts: list[tuple[ChangeSet, Conflict]] = []
    truth = plan.baseline
    for item, (base, now) in changed.items():
        # One at a time, so that each conflict is of one thing.
        wanted = _change_set(plan, "outside", {item: (base, now)})
        met = Collect(take_theirs)
        effective = rebase(wanted, truth, met)
        conflicts += [(wanted, one) for one in met.conflicts[:1]]
        if not effective.empty:
            truth = laid_over(truth, effective)
            sets.append(effective)
    if recalled:
        counted = _change_set(plan, "hit", recalled)
        effective = rebase(
            msgspec.structs.replace(counted, notes=(*counted.notes, *_of_hidden(counted, truth))), truth
        )
        sets += [effective] if not effective.empty else []
    return tuple(conflicts), tuple(sets)


def _of_hidden(counted: ChangeSet, truth: Snapshot) -> Iterator[NoteChange]:
    """Recalls of facts that are hidden, by a program that still had them: they are kept in the notes."""
    for change in counted.facts:
        for id in truth.hidden_facts.get(change.nugget, ()):
            note = truth.by_id[id]
            kept, now = note.hidden_fact, change.after
            if (
                kept is not None
                and now is not None
                and kept.key == change.key
                and alike(kept.value, now.value)
            ):
                hits = max(kept.hits, now.hits)
                kept = msgspec.structs.replace(kept, hits=hits, last_hit_session=now.last_hit_session)
                yield NoteChange(id=id, before=note, after=replace(note, hidden_fact=kept))


def _change_set(plan: _Plan, kind: ChangeKind, items: Mapping[ItemKey, tuple[Version, Version]]) -> ChangeSet:
    notes: list[NoteChange] = []
    facts: list[FactChange] = []
    for item, (base, now) in items.items():
        if item[0] == "note":
            assert not isinstance(base, Fact)
            assert not isinstance(now, Fact)
            notes.append(NoteChange(id=item[1], before=base, after=now))
        else:
            assert not isinstance(base, Note)
            assert not isinstance(now, Note)
            facts.append(FactChange(nugget=item[1], key=item[2], before=base, after=now))
    made = Differences(tuple(notes), tuple(facts), ())
    sets = outside_changes(plan.baseline, plan.now, ids=plan.ids, at=plan.at, author=PROGRAM, found=made)
    reason = "; ".join(one.reason for one in sets)
    return ChangeSet(
        id=plan.ids(),
        at=plan.at,
        author=PROGRAM,
        reason=reason,
        kind=kind,
        notes=made.notes,
        facts=made.facts,
    )


def _wishes(
    plan: _Plan, versions: _Versions, apart: frozenset[ItemKey]
) -> tuple[tuple[ChangeSet, ...], frozenset[ItemKey]]:
    """What the program changed beside what it took back, and what is judged apart."""
    left = frozenset(
        item
        for item, then in versions.then.items()
        if item not in plan.bases and (item in apart or _differs_by_little(then, versions.now[item]))
    )
    passed_over = {*plan.bases, *left}
    wanted = Differences(
        tuple(c for c in plan.found.notes if ("note", c.id) not in passed_over),
        tuple(c for c in plan.found.facts if ("fact", c.nugget, c.key) not in passed_over),
        plan.found.nuggets,
    )
    sets = outside_changes(plan.baseline, plan.now, ids=plan.ids, at=plan.at, author=PROGRAM, found=wanted)
    return sets, left


def _differs_by_little(then: Version, now: Version) -> bool:
    """Whether recalls are gone, or white space of the text alone."""
    if then is None or now is None or not same(then, now):
        return False
    texts = ("content",) if isinstance(then, Note) else ("value",)
    squeezed = any(getattr(then, name) != getattr(now, name, "") for name in texts)
    return now.hits < then.hits or squeezed


def _overwritten(plan: _Plan, versions: _Versions) -> tuple[ChangeSet, ...]:
    """What was taken back since the log last saw it."""
    notes: list[NoteChange] = []
    facts: list[FactChange] = []
    for item in plan.bases:
        before = plan.pending.get(item, versions.then[item]) if item in plan.pending else versions.then[item]
        after = versions.now[item]
        if before == after:
            continue
        if item[0] == "note":
            assert not isinstance(before, Fact)
            assert not isinstance(after, Fact)
            index = plan.baseline.places.get(item[1]) if after is None else None
            notes.append(NoteChange(id=item[1], before=before, after=after, index=index))
        else:
            assert not isinstance(before, Note)
            assert not isinstance(after, Note)
            facts.append(FactChange(nugget=item[1], key=item[2], before=before, after=after))
    return outside_changes(
        plan.baseline,
        plan.now,
        ids=plan.ids,
        at=plan.at,
        author=PROGRAM,
        found=Differences(tuple(notes), tuple(facts), ()),
    )


def _restoring(plan: _Plan, truth: Snapshot) -> ChangeSet:
    save = OutsideSave(truth, plan.now, lambda item: None, plan.at, plan.found)
    return Drafting(save, plan.ids, plan.author).restoring(list(_item_repairs(plan, truth)))


def _item_repairs(plan: _Plan, truth: Snapshot) -> Iterable[ItemRepair]:
    """One claim for each thing that is to be put back, a fact with its note."""
    item_repairs: dict[ItemKey, ItemRepair] = {}
    nothing = Conflict(what="")
    for item in plan.bases:
        if item[0] == "note":
            before, after = plan.now.by_id.get(item[1]), truth.by_id.get(item[1])
            if before == after:
                continue
            repair = ItemRepair(item=item, finding="back", own=plan.own(item), conflict=nothing)
            repair.notes.append(NoteChange(id=item[1], before=before, after=after))
            item_repairs[item] = repair
    by_fact: dict[ItemKey, ItemRepair] = {
        ("fact", note.nugget_name, note.key): repair
        for repair in item_repairs.values()
        for change in repair.notes
        for note in (change.before, change.after)
        if note is not None and note.is_fact
    }
    for item in plan.bases:
        if item[0] == "fact":
            held, wanted = facts_of(plan.now, item[1]).get(item[2]), facts_of(truth, item[1]).get(item[2])
            if held == wanted:
                continue
            leader = by_fact.get(item)
            if leader is None:
                leader = item_repairs[item] = ItemRepair(
                    item=item, finding="back", own=plan.own(item), conflict=nothing
                )
            leader.facts.append(FactStep(nugget=item[1], key=item[2], after=wanted))
    return item_repairs.values()


def fights(restoring: ChangeSet, again: Callable[[str], bool]) -> list[tuple[ChangeSet, Conflict]]:
    """A conflict for each thing that is taken back again and again, a fact with its note. again: tells that of a
    thing by its name in the log.
    """
    found: list[tuple[ChangeSet, Conflict]] = []
    noted: set[tuple[str, str]] = set()
    for change in restoring.notes:
        facts: tuple[FactChange, ...] = ()
        if change.note.is_fact:
            places = {(n.nugget_name, n.key) for n in (change.before, change.after) if n is not None}
            facts = tuple(fact for fact in restoring.facts if (fact.nugget, fact.key) in places)
            noted |= {(fact.nugget, fact.key) for fact in facts}
        names = (note_item(change.id), *(fact_item(fact.nugget, fact.key) for fact in facts))
        if any(map(again, names)):
            alone = msgspec.structs.replace(restoring, notes=(change,), facts=facts, nuggets=())
            found.append((alone, _fight_over_note(change)))
    for fact in restoring.facts:
        if (fact.nugget, fact.key) not in noted and again(fact_item(fact.nugget, fact.key)):
            alone = msgspec.structs.replace(restoring, notes=(), facts=(fact,), nuggets=())
            found.append((alone, _fight_over_fact(fact)))
    return found


def _fight_over_note(change: NoteChange) -> Conflict:
    before, after = change.before, change.after
    where = f"{change.note.nugget_name}: {change.note.key}" if change.note.is_fact else change.id
    whole = before is None or after is None
    named = "content" if whole or before.content != after.content else "hidden"  # type: ignore[union-attr]
    return Conflict(
        what="another program keeps reverting this change",
        code=ErrorCode.TAKEN_BACK,
        where=where,
        field="" if whole else named,
        base=_text(before, named),
        ours=_text(after, named),
        theirs=_text(before, named),
    )


def _text(note: Note | None, field: str) -> str:
    return "" if note is None else str(getattr(note, field))


def _fight_over_fact(fact: FactChange) -> Conflict:
    return Conflict(
        what="another program keeps reverting this change",
        code=ErrorCode.TAKEN_BACK,
        where=f"{fact.nugget}: {fact.key}",
        field="" if fact.before is None or fact.after is None else "value",
        ours=fact.after.value if fact.after is not None else "",
        theirs=fact.before.value if fact.before is not None else "",
    )
