"""What a save of another program leaves to be put right, whatever it had read.

The original renames keys when it loads, keeps its facts in memory and saves the whole list, so that facts disagree with
their notes, drops recalls with that, and squeezes white space. Each has a section of its own here.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

import msgspec

from core.errors import ConflictError, ErrorCode
from core.model.build import as_hidden_fact
from core.model.change import Author, ChangeKind, ChangeSet, FactChange, NoteChange
from core.model.compare import (
    HIT_FIELDS,
    UNSAID_FIELDS,
    Differences,
    alike,
    differences,
    facts_are_whole,
    laid_over,
)
from core.model.draft_facts import DraftFacts, index_among_all
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import (
    SCOPES,
    HiddenFact,
    Link,
    Note,
    custom_tags,
    normalised_note,
    replace,
    unique_links,
)
from core.model.snapshot import Snapshot
from core.storage.merge.deciding import conflict_of, take_ours
from core.storage.merge.rebase import rebase

# ("note", id) or ("fact", nugget, key).
ItemKey = tuple[str, ...]
# back: our change was taken back. out: a fact that we took out was brought back. renamed: keys were. anew: a hidden
# fact was remembered with another value. forgotten: a fact was restored while somebody was forgetting it.
Finding = Literal["back", "out", "renamed", "anew", "forgotten"]

# A file saved so soon after ours may have been read before it. In seconds.
SOON_SECONDS: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class OwnChange:
    """Our last change of a note or fact, recalls left out, with no change of another program after it.

    entry: the id of its log entry. note: set when a note was asked for. fact: set when a fact was asked for; of a
    renamed fact this change belongs to both keys. When several changes of ours followed each other, `fact` may reach
    from before the first to after the last of them. seconds: how long after it the file on disk was written.
    restored: how often the thing was restored since somebody last changed it on purpose.
    """

    entry: str
    note: NoteChange | None = None
    fact: FactChange | None = None
    seconds: float
    restored: int = 0

    @property
    def just_before(self) -> bool:
        """Whether the file was written so soon after our change that it may have been read before it."""
        return abs(self.seconds) <= SOON_SECONDS


@dataclass(frozen=True, kw_only=True)
class FactStep:
    """What is to be done to the fact with a key: stored (also under another key), or taken out when `after` is None."""

    nugget: str
    key: str
    after: Fact | None


@dataclass(kw_only=True)
class ItemRepair:
    """Something to be put right: a note or fact with what belongs to it, and how it looks to a person as a conflict.

    instead: notes whose place another one takes; links to them are turned to it. own: the change of ours that was
    taken back, if there is one.
    """

    item: ItemKey
    finding: Finding
    own: OwnChange | None
    conflict: Conflict
    notes: list[NoteChange] = field(default_factory=list)
    facts: list[FactStep] = field(default_factory=list)
    instead: dict[str, str] = field(default_factory=dict)

    @property
    def items(self) -> set[ItemKey]:
        """All notes and facts that are put right."""
        facts = {("fact", step.nugget, key) for step in self.facts for key in _keys(step)}
        return {self.item, *facts, *(("note", change.id) for change in self.notes)}

    @property
    def concerns(self) -> set[ItemKey]:
        """All that is put right, and the facts that its notes mirror."""
        notes = (note for change in self.notes for note in (change.before, change.after) if note is not None)
        return self.items | {("fact", note.nugget_name, note.key) for note in notes if note.is_fact}


def _keys(step: FactStep) -> tuple[str, ...]:
    return (step.key,) if step.after is None else (step.key, step.after.key)


@dataclass(frozen=True)
class OutsideSave:
    """A save from outside. `found`: what differs between baseline and now."""

    baseline: Snapshot
    now: Snapshot
    own: Callable[[ItemKey], OwnChange | None]
    at: str
    found: Differences

    @cached_property
    def notes(self) -> Mapping[str, NoteChange]:
        """The notes that differ, by id."""
        return {change.id: change for change in self.found.notes}

    @cached_property
    def nuggets(self) -> tuple[str, ...]:
        """Nuggets with facts that differ, whose files were and are there and could be read whole."""
        names = dict.fromkeys(change.nugget for change in self.found.facts)
        return tuple(name for name in names if self.readable(name))

    def readable(self, nugget: str) -> bool:
        """Whether a nugget's file was and is there and could be read whole."""
        both = self.baseline.by_name.get(nugget), self.now.by_name.get(nugget)
        return all(found is not None and not found.problem for found in both) and facts_are_whole(
            self.now, nugget
        )

    def visible(self, nugget: str, key: str) -> Note | None:
        """The visible note that mirrors a fact now."""
        note = self.now.fact_notes.get((nugget, key))
        return note if note is not None and not note.hidden else None


def facts_of(snapshot: Snapshot, nugget: str) -> Mapping[str, Fact]:
    """A nugget's facts by key."""
    return snapshot.facts_by_key.get(nugget, {})


def fact_change_in(change_set: ChangeSet, nugget: str, key: str) -> FactChange | None:
    """What a change set did to the fact with a key; None when it did not touch it.

    A renamed fact is found under both its keys. When one fact gave the key up and another took it, in the same
    change set, that is one change from the former to the latter.
    """
    touching = [c for c in change_set.facts if c.nugget == nugget and key in fact_keys(c)]
    left = next((c for c in touching if c.before is not None and c.before.key == key), None)
    came = next((c for c in touching if c.after is not None and c.after.key == key), None)
    if left is None or came is None or left is came:
        return touching[0] if touching else None
    return FactChange(nugget=nugget, key=key, before=left.before, after=came.after, index=left.index)


def fact_keys(change: FactChange) -> tuple[str, ...]:
    """The key of the fact that a change is about, before it and after it."""
    return tuple(dict.fromkeys((change.key, change.after.key if change.after is not None else change.key)))


# What is counted, then the sentence; "" counts notes and facts, each by its name.
_REASONS: Final[dict[Finding, tuple[str, str]]] = {
    "back": ("", "restored {} that another program reverted"),
    "out": ("fact", "forgot {} again that another program restored"),
    "renamed": ("fact", "kept the notes of {} after another program renamed keys"),
    "anew": ("hidden fact", "dropped {} that another program stored again"),
    "forgotten": ("fact", "forgot {} as another program did"),
}


@dataclass(frozen=True)
class Repairs:
    """What is to be put right after a save from outside; each change set fits the files as those before it leave them.

    restorations: of kind "restore" (`about`: the entry that was taken back, if it was one alone), then lost recalls,
    of kind "hit". conflicts: what a person decides. pending_restores: what the restorations of kind
    "restore" put right. white_space: puts back the white space that the original squeezes in every note that it saves;
    neither an edit nor a restoration, so it needs no entry of its own. tried: whether something of it was restored
    before and taken back again.
    """

    restorations: tuple[ChangeSet, ...] = ()
    conflicts: tuple[tuple[ChangeSet, Conflict], ...] = ()
    pending_restores: frozenset[ItemKey] = frozenset()
    white_space: ChangeSet | None = None
    tried: bool = False


def find_repairs(
    baseline: Snapshot,
    now: Snapshot,
    own: Callable[[ItemKey], OwnChange | None],
    *,
    ids: Callable[[], str],
    at: str,
    author: Author,
    wanted: Callable[[Collection[ItemKey]], bool] | None = None,
    found: Differences | None = None,
) -> Repairs:
    """Tells what a save left to be put right, and drafts it.

    baseline: the memory as we last saw it; now: as it is in the files. own: our last change of a note or fact, if no
    other program changed it after that; asked only for what differs. ids gives the id of each change set. wanted:
    whether what concerns these things is to be put right now; None: all is. found: the differences of the two where
    they are known already.
    """
    save = OutsideSave(baseline, now, own, at, found or differences(baseline, now))
    if not (save.found.notes or save.found.facts):
        return Repairs()
    item_repairs = _item_repairs(save)
    if wanted is not None:
        item_repairs = [repair for repair in item_repairs if wanted(repair.concerns)]
    return Drafting(save, ids, author).repairs(item_repairs)


def _item_repairs(save: OutsideSave) -> list[ItemRepair]:
    renamed = list(_renamed_facts(save))
    keys = {place for one in renamed for place in one.keys}
    item_repairs = [*_kept_notes(save, renamed), *_swapped_notes(save), *_hidden_renamed(save, keys)]
    keys |= _places(item_repairs)
    touched = _touched(item_repairs)
    item_repairs += [repair for repair in _hidden_facts_shown(save) if repair.item[1] not in touched]
    keys |= _places(item_repairs)
    item_repairs += _facts_against_their_notes(save, keys)
    return [*item_repairs, *_being_forgotten(save, _touched(item_repairs))]


def _places(item_repairs: Iterable[ItemRepair]) -> set[tuple[str, str]]:
    return {(item[1], item[2]) for repair in item_repairs for item in repair.items if item[0] == "fact"}


def _touched(item_repairs: Iterable[ItemRepair]) -> set[str]:
    return {change.id for repair in item_repairs for change in repair.notes}


class Drafting:
    """Makes change sets of claims, each on top of those before it."""

    def __init__(self, save: OutsideSave, ids: Callable[[], str], author: Author) -> None:
        self._case = save
        self._ids = ids
        self._author = author
        self._base = save.now

    def repairs(self, item_repairs: Sequence[ItemRepair]) -> Repairs:
        """All that is to be done."""
        restorations: list[ChangeSet] = []
        conflicts: list[tuple[ChangeSet, Conflict]] = []
        try:
            restorations += self._carried_out(item_repairs)
        except ConflictError:
            for repair in item_repairs:
                try:
                    restorations += self._carried_out([repair])
                except ConflictError as error:
                    conflicts.append((self._draft([repair], repair.conflict.what), conflict_of(error)))
        recalls = self._lost_recalls()
        return Repairs(
            restorations=(*restorations, *([] if recalls.empty else [recalls])),
            conflicts=tuple(conflicts),
            pending_restores=frozenset(item for repair in item_repairs for item in repair.items),
            white_space=self._white_space(),
            tried=any(repair.own is not None and repair.own.restored > 0 for repair in item_repairs),
        )

    def restoring(self, item_repairs: Sequence[ItemRepair]) -> ChangeSet:
        """What puts right all that is claimed, whatever stands in its way; it fits the files as they are."""
        draft = self._draft(item_repairs, _reason(item_repairs))
        return rebase(draft, self._base, take_ours)

    def _carried_out(self, item_repairs: Sequence[ItemRepair]) -> list[ChangeSet]:
        """The change set of the claims, rebased; none when there is nothing to do. Raises ConflictError."""
        if not item_repairs:
            return []
        effective = rebase(self._draft(item_repairs, _reason(item_repairs)), self._base)
        self._base = laid_over(self._base, effective)
        return [] if effective.empty else [effective]

    def _draft(self, item_repairs: Sequence[ItemRepair], reason: str) -> ChangeSet:
        entries = {repair.own.entry if repair.own is not None else "" for repair in item_repairs}
        return self._change_set(
            reason,
            "restore",
            _NotesDraft(self._case.baseline, self._base, item_repairs).changes(),
            _fact_changes(
                self._case.baseline, self._base, [step for repair in item_repairs for step in repair.facts]
            ),
            about=entries.pop() if len(entries) == 1 else "",
        )

    def _change_set(
        self,
        reason: str,
        kind: ChangeKind,
        notes: Iterable[NoteChange],
        facts: Iterable[FactChange] = (),
        about: str = "",
    ) -> ChangeSet:
        return ChangeSet(
            id=self._ids(),
            at=self._case.at,
            author=self._author,
            reason=reason,
            kind=kind,
            about=about,
            notes=tuple(notes),
            facts=tuple(facts),
        )

    def _lost_recalls(self) -> ChangeSet:
        """Recalls that are gone although nothing else of their notes and facts moved."""
        notes = list(self._recalls_of_notes())
        facts = list(self._recalls_of_facts({change.id for change in notes}))
        changed = _fact_changes(self._case.baseline, self._base, facts)
        count = max(len(notes), len(facts))
        what = "a recall" if count == 1 else f"recalls of {count} notes"
        return self._change_set(f"counted {what} that another program had dropped", "hit", notes, changed)

    def _recalls_of_notes(self) -> Iterator[NoteChange]:
        for change in self._case.found.notes:
            baseline, now = change.before, self._base.by_id.get(change.id)
            if (
                baseline is None
                or now is None
                or now.hits >= baseline.hits
                or now.updated_at > baseline.updated_at
            ):
                continue
            if _same_but_for_recalls(baseline, now):
                latest = max(now.last_accessed_at, baseline.last_accessed_at)
                after = replace(now, last_accessed_at=latest, **_recalls(baseline))
                yield NoteChange(id=now.id, before=now, after=after)

    def _recalls_of_facts(self, restored: Collection[str]) -> Iterator[FactStep]:
        """Of facts whose notes have lost none, or have them back (`restored`)."""
        for change in self._case.found.facts:
            baseline, now = change.before, facts_of(self._base, change.nugget).get(change.key)
            if (
                baseline is None
                or now is None
                or now.hits >= baseline.hits
                or not alike(now.value, baseline.value)
            ):
                continue
            note = self._base.fact_notes.get((change.nugget, change.key))
            former = self._case.baseline.by_id.get(note.id) if note is not None else None
            if note is None or former is None or note.hidden:
                continue
            if note.hits >= former.hits or note.id in restored:
                after = msgspec.structs.replace(now, **_recalls(baseline))
                yield FactStep(nugget=change.nugget, key=change.key, after=after)

    def _spaced_by_us(self, id: str, content: str) -> bool:
        """Whether our last change of a note was of nothing in its text but white space, and may be unseen."""
        own = self._case.own(("note", id))
        if own is None or own.note is None or own.note.before is None or own.note.after is None:
            return False
        before, after = own.note.before.content, own.note.after.content
        return own.just_before and before != after and alike(before, after) and alike(before, content)

    def _white_space(self) -> ChangeSet | None:
        changes = [
            NoteChange(id=now.id, before=now, after=replace(now, content=change.before.content))
            for change in self._case.found.notes
            if (now := self._base.by_id.get(change.id)) is not None
            and change.before is not None
            and now.content != change.before.content
            and alike(now.content, change.before.content)
            and (len(now.content) < len(change.before.content) or self._spaced_by_us(change.id, now.content))
        ]
        if not changes:
            return None
        what = "1 note" if len(changes) == 1 else f"{len(changes)} notes"
        return self._change_set(f"restored the white space of {what}", "restore", changes)


class _NotesDraft:
    """The changes of notes that several claims ask for, with the other ends of their links."""

    def __init__(self, baseline: Snapshot, base: Snapshot, item_repairs: Sequence[ItemRepair]) -> None:
        self._baseline = baseline
        self._base = base
        self._instead = {made: kept for repair in item_repairs for made, kept in repair.instead.items()}
        self._changes: dict[str, NoteChange] = {}
        for repair in item_repairs:
            for change in repair.notes:
                self._changes.setdefault(change.id, change)

    def changes(self) -> list[NoteChange]:
        """Each note's change from how it is in the files."""
        coming = [id for id, c in self._changes.items() if c.after is not None and id not in self._base.by_id]
        self._place(coming)
        for id in coming:
            self._link_back(id)
        for made in self._instead:
            for holder, _ in self._base.links_in.get(made, ()):
                self._put_links(holder, ())
        for id in self._instead.values():
            self._put_links(id, ())
        return list(self._changes.values())

    def _place(self, coming: Sequence[str]) -> None:
        """Notes that come back go where they were."""
        if not coming:
            return
        former = [note.id for note in self._baseline.notes]
        order = {id: place for place, id in enumerate(former)}
        present = [note.id for note in self._base.notes if self._after(note.id) is not None]
        for id in sorted(coming, key=lambda id: order.get(id, len(order))):
            place = _place(id, former, present)
            present.insert(len(present) if place is None else place, id)
        for id in coming:
            change = self._changes[id]
            self._changes[id] = msgspec.structs.replace(change, index=present.index(id))

    def _link_back(self, id: str) -> None:
        for holder, link in self._baseline.links_in.get(id, ()):
            self._put_links(holder, (link,))

    def _put_links(self, id: str, more: tuple[Link, ...]) -> None:
        """Gives a note further links, and turns those to notes that give way to the notes that take their place."""
        note = self._after(id)
        if note is None:
            return
        turned = (
            msgspec.structs.replace(link, to=self._instead[link.to]) if link.to in self._instead else link
            for link in (*note.links, *more)
        )
        links = unique_links(turned)
        if links == note.links:
            return
        after = normalised_note(replace(note, links=links), self._exists)
        known = self._changes.get(id)
        before = known.before if known is not None else self._base.by_id.get(id)
        index = known.index if known is not None else None
        self._changes[id] = NoteChange(id=id, before=before, after=after, index=index)

    def _after(self, id: str) -> Note | None:
        return self._changes[id].after if id in self._changes else self._base.by_id.get(id)

    def _exists(self, id: str) -> bool:
        return self._after(id) is not None or id in self._base.set_aside


def _fact_changes(baseline: Snapshot, base: Snapshot, steps: Sequence[FactStep]) -> list[FactChange]:
    """The changes of facts that claims ask for; what comes back goes to its place among the others."""
    changes: list[FactChange] = []
    for nugget in dict.fromkeys(step.nugget for step in steps):
        held, former = base.by_name.get(nugget), baseline.by_name.get(nugget)
        keys = [fact.key for fact in former.facts] if former is not None else []
        drafted = DraftFacts(held.facts if held is not None else ())
        present = facts_of(base, nugget)
        own = [step for step in steps if step.nugget == nugget]
        for step in own:
            if step.key in present and step.after is None:
                drafted.take(step.key)
            elif step.key in present and step.after is not None:
                drafted.rename(step.key, step.after)
        coming = {step.key: step.after for step in own if step.key not in present and step.after is not None}
        for key in sorted(coming, key=lambda key: keys.index(key) if key in keys else len(keys)):
            drafted.put(coming[key], _place(key, keys, [fact.key for fact in drafted.facts]))
        changes += drafted.changes(nugget)
    return changes


def _place(name: str, former: Sequence[str], present: Sequence[str]) -> int | None:
    """Where something comes back: after what stood before it, as far as that is there; None at the end."""
    places = {one: place for place, one in enumerate(present)}
    before = former[: former.index(name)] if name in former else former
    place = next((places[one] + 1 for one in reversed(before) if one in places), 0)
    return place if place < len(present) else None


def _recalls(item: Note | Fact) -> dict[str, Any]:
    return {"hits": item.hits, "last_hit_session": item.last_hit_session}


def _same_but_for_recalls(one: Note, other: Note) -> bool:
    return all(
        alike(getattr(one, name), getattr(other, name))
        for name in one.__struct_fields__
        if name not in HIT_FIELDS and name not in UNSAID_FIELDS
    )


def _reason(item_repairs: Sequence[ItemRepair]) -> str:
    """What happened, in plain words."""
    parts: list[str] = []
    for finding, (thing, sentence) in _REASONS.items():
        items = [repair.item for repair in item_repairs if repair.finding == finding]
        if items:
            notes = sum(item[0] == "note" for item in items)
            split = (_counted(notes, "note"), _counted(len(items) - notes, "fact"))
            counted = _counted(len(items), thing) if thing else " and ".join(filter(None, split))
            parts.append(sentence.format(counted))
    return "; ".join(parts)


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}" if count else ""


# Keys that another program renamed when it loaded: what it made a new note of keeps its id, links and the rest

_SCOPED: Final = re.compile(rf"\s*(?:{'|'.join(SCOPES)}):", re.IGNORECASE)


@dataclass(frozen=True)
class _Renamed:
    """A fact that was renamed. `value`: the one it is to have."""

    nugget: str
    former: str
    key: str
    value: str

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Both keys, each with the nugget."""
        return (self.nugget, self.former), (self.nugget, self.key)


def _scoped(key: str) -> tuple[str, ...]:
    """The keys that the original may give to this one when it loads; none for one that names its scope."""
    return () if _SCOPED.match(key) else tuple(f"{scope}:{key}" for scope in SCOPES)


def _renamed_facts(save: OutsideSave) -> Iterator[_Renamed]:
    """Facts that stand in their files under a scoped key now, with the value that they had, or had before us."""
    for nugget in save.nuggets:
        baseline, now = facts_of(save.baseline, nugget), facts_of(save.now, nugget)
        for change in save.found.facts:
            if change.nugget != nugget or change.key in now or change.key not in baseline:
                continue
            values = _values(save, nugget, baseline[change.key])
            for key in _scoped(change.key):
                if key in now and key not in baseline and any(alike(now[key].value, one) for one in values):
                    yield _Renamed(nugget, change.key, key, values[0])
                    break


def _values(save: OutsideSave, nugget: str, fact: Fact) -> tuple[str, ...]:
    """The fact's value, and the one that it had before a change of ours which the other program had not seen."""
    own = save.own(("fact", nugget, fact.key))
    change = own.fact if own is not None else None
    if change is None or change.before is None or change.after is None or change.after.value != fact.value:
        return (fact.value,)
    return fact.value, change.before.value


def _kept_notes(save: OutsideSave, renamed: list[_Renamed]) -> Iterator[ItemRepair]:
    """For each renamed fact its old note under the new key, instead of the one that the other program made."""
    for one in renamed:
        old = save.baseline.fact_notes.get((one.nugget, one.former))
        if old is None or old.hidden:
            continue
        made = save.visible(one.nugget, one.key)
        stands = save.now.by_id.get(old.id)
        if made is not None and made.id == old.id:
            continue
        repair = _repair(save, old, one.former, one.key)
        _replace_note(repair, stands, _as(old, one.key, one.former, made, save), made)
        _carry_fact(save, repair, one)
        yield repair


def _swapped_notes(save: OutsideSave) -> Iterator[ItemRepair]:
    """Notes that we had just brought under a scoped key, and that the other program, not knowing, made again.

    It had read the graph before us; the fact is the same, so its note keeps its id.
    """
    for change in save.found.notes:
        old = change.before
        if change.after is not None or old is None or not old.is_fact or old.hidden:
            continue
        own = save.own(("note", old.id))
        made = save.visible(old.nugget_name, old.key)
        if own is None or not own.restored or made is None or made.id in save.baseline.by_id:
            continue
        facts = [facts_of(snapshot, old.nugget_name).get(old.key) for snapshot in (save.baseline, save.now)]
        if any(fact is None or not alike(fact.value, made.content) for fact in facts):
            continue
        repair = _repair(save, old, old.key, old.key)
        _replace_note(repair, None, _as(old, old.key, old.key, made, save), made)
        yield repair


def _hidden_renamed(save: OutsideSave, passed_over: Collection[tuple[str, str]]) -> Iterator[ItemRepair]:
    """Hidden facts that another program brought back under a scoped key: hidden again, now under that key.

    It is the one by which the other program knows them. passed_over: nuggets and keys that were judged otherwise.
    """
    for nugget in save.nuggets:
        baseline, now = facts_of(save.baseline, nugget), facts_of(save.now, nugget)
        new = {k: fact for k, fact in now.items() if k not in baseline and (nugget, k) not in passed_over}
        if not new:
            continue
        ids = dict.fromkeys(
            (*save.now.hidden_facts.get(nugget, ()), *save.baseline.hidden_facts.get(nugget, ()))
        )
        for id in ids:
            stands = save.now.by_id.get(id)
            holder = stands if stands is not None else save.baseline.by_id[id]
            kept = holder.hidden_fact
            if kept is None or not holder.hidden or kept.key in now:
                continue
            key = next((k for k in _scoped(kept.key) if k in new and alike(new[k].value, kept.value)), None)
            if key is None:
                continue
            fact, made = new.pop(key), save.visible(nugget, key)
            hits = max((kept.hits, kept.last_hit_session), (fact.hits, fact.last_hit_session))
            hidden = msgspec.structs.replace(kept, key=key, hits=hits[0], last_hit_session=hits[1])
            repair = _repair(save, holder, kept.key, key)
            repair.finding = "out"
            after = replace(_as(holder, key, kept.key, made, save), hidden_fact=hidden)
            _replace_note(repair, stands, after, made)
            repair.facts.append(FactStep(nugget=nugget, key=key, after=None))
            yield repair


def renamed_things(save: OutsideSave) -> bool:
    """Whether another program renamed keys, or made the notes of such facts anew."""
    renamed = list(_renamed_facts(save))
    found = (*_kept_notes(save, renamed), *_swapped_notes(save), *_hidden_renamed(save, ()))
    return bool(renamed or found)


def _repair(save: OutsideSave, note: Note, former: str, key: str) -> ItemRepair:
    conflict = Conflict(
        what="another program keeps renaming this fact",
        code=ErrorCode.TAKEN_BACK,
        where=note.id,
        field="source_key",
        base=former,
        ours=key,
        theirs=key,
    )
    own = save.own(("note", note.id))
    return ItemRepair(item=("note", note.id), finding="renamed", own=own, conflict=conflict)


def _replace_note(repair: ItemRepair, stands: Note | None, after: Note, made: Note | None) -> None:
    # Whether its links still hold is seen to when it is written.
    after = normalised_note(after, lambda _: True)
    repair.notes.append(NoteChange(id=after.id, before=stands, after=after))
    if made is not None:
        repair.notes.append(NoteChange(id=made.id, before=made, after=None))
        repair.instead[made.id] = after.id


def _as(old: Note, key: str, former: str, made: Note | None, save: OutsideSave) -> Note:
    """The old note under its new key, with what came to the newly made one since."""
    now = save.now.by_id.get(old.id)
    links = (*old.links, *(now.links if now is not None else ()))
    note = replace(
        old, source_key=key, title=key if old.title == former else old.title, links=unique_links(links)
    )
    if made is None:
        return note
    recalls = max(old, made, key=lambda one: one.hits)
    own_links = (link for link in made.links if link.to != old.id)
    return replace(
        note,
        tags=tuple(dict.fromkeys((*old.tags, *custom_tags(made)))),
        links=unique_links((*note.links, *own_links)),
        hits=recalls.hits,
        last_hit_session=recalls.last_hit_session,
        updated_at=max(old.updated_at, made.updated_at),
        last_accessed_at=max(old.last_accessed_at, made.last_accessed_at),
        extra=made.extra | old.extra,
    )


def _carry_fact(save: OutsideSave, repair: ItemRepair, one: _Renamed) -> None:
    """What the other program dropped of the fact itself: recalls, unknown fields, a value that it had not seen."""
    old, new = facts_of(save.baseline, one.nugget)[one.former], facts_of(save.now, one.nugget)[one.key]
    recalls = max(old, new, key=lambda fact: fact.hits)
    after = msgspec.structs.replace(
        new,
        value=new.value if alike(new.value, one.value) else one.value,
        hits=recalls.hits,
        last_hit_session=recalls.last_hit_session,
        extra=old.extra | new.extra,
    )
    if after != new:
        repair.facts.append(FactStep(nugget=one.nugget, key=one.key, after=after))


# Facts that disagree with their notes: a program that holds them in memory took them back, or is forgetting one


def _facts_against_their_notes(
    save: OutsideSave, passed_over: Collection[tuple[str, str]]
) -> Iterator[ItemRepair]:
    """Facts that a list from memory took back while their notes still tell them, however late it was saved.

    passed_over: nuggets and keys that are seen to otherwise.
    """
    for nugget in save.nuggets:
        done = {key for name, key in passed_over if name == nugget}
        yield from _OneNugget(save, nugget, done).item_repairs()


class _OneNugget:
    """The facts of one nugget. `done`: keys that are seen to."""

    def __init__(self, save: OutsideSave, nugget: str, done: set[str]) -> None:
        self._case = save
        self._nugget = nugget
        self._done = done
        self._baseline = facts_of(save.baseline, nugget)
        self._now = facts_of(save.now, nugget)

    def item_repairs(self) -> Iterator[ItemRepair]:
        """What is to be put right."""
        differing = dict.fromkeys(c.key for c in self._case.found.facts if c.nugget == self._nugget)
        # Lost ones first: of a fact that we renamed, both its keys are seen to by one claim.
        for key in sorted(differing, key=lambda key: key in self._now):
            if key in self._done:
                continue
            if key not in self._now:
                found = self._lost(key)
            elif key not in self._baseline:
                found = self._brought_back(key)
            else:
                found = self._changed(key)
            if found is not None:
                yield found

    def _lost(self, key: str) -> ItemRepair | None:
        """A fact that is gone while its note stands."""
        fact, own = self._baseline[key], self._own(key)
        if self._case.visible(self._nugget, key) is None:
            return None
        former = self._former_key(key, own)
        if former is not None:
            self._done.add(former)
            fact = _with_most_recalls(fact, self._now[former])
        before = own.fact.before if own is not None and own.fact is not None else None
        step = FactStep(nugget=self._nugget, key=former or key, after=fact)
        return self._repair(key, step, own, base=before.value if before else "", ours=fact.value)

    def _former_key(self, key: str, own: OwnChange | None) -> str | None:
        """The key from which we renamed a fact, when it is back under that key."""
        change = own.fact if own is not None else None
        if change is None or change.before is None or change.after is None or change.after.key != key:
            return None
        former = change.before.key
        back = former != key and former in self._now and former not in self._baseline
        return former if back and alike(self._now[former].value, change.before.value) else None

    def _brought_back(self, key: str) -> ItemRepair | None:
        """A fact that we hid, deleted or renamed and that is in the file again as it was, without its note."""
        fact, own = self._now[key], self._own(key)
        if self._case.visible(self._nugget, key) is not None:
            return None
        holder = self._holder(key, fact)
        if holder is None and not self._was_taken_out_by_us(key, fact, own):
            return None
        step = FactStep(nugget=self._nugget, key=key, after=self._renamed_away(own))
        found = self._repair(key, step, own, base=fact.value, theirs=fact.value)
        if holder is not None:
            found.notes += _kept_recalls(holder, fact)
        return found

    def _renamed_away(self, own: OwnChange | None) -> Fact | None:
        """The fact under the key that we gave it, when something else has taken that key: they meet in a conflict."""
        after = own.fact.after if own is not None and own.fact is not None else None
        there = self._now.get(after.key) if after is not None else None
        return (
            after if after is not None and there is not None and not alike(there.value, after.value) else None
        )

    def _holder(self, key: str, fact: Fact) -> Note | None:
        """The hidden note in which this very fact waits."""
        for id in self._case.now.hidden_facts.get(self._nugget, {}):
            note = self._case.now.by_id[id]
            kept = note.hidden_fact
            if kept is not None and kept.key == key and alike(kept.value, fact.value):
                return note
        return None

    def _was_taken_out_by_us(self, key: str, fact: Fact, own: OwnChange | None) -> bool:
        change = own.fact if own is not None else None
        if change is None or change.before is None or change.before.key != key:
            return False
        before, after = change.before, change.after
        # A fact that somebody remembers anew has no recalls yet.
        if not alike(fact.value, before.value) or fact.hits == 0 < before.hits:
            return False
        return after is None or (after.key != key and self._case.visible(self._nugget, after.key) is not None)

    def _changed(self, key: str) -> ItemRepair | None:
        """A fact that is back at the value before our change while its note says ours."""
        baseline, now, own = self._baseline[key], self._now[key], self._own(key)
        change = own.fact if own is not None else None
        if own is None or change is None or change.before is None or change.after is None:
            return None
        before, after = change.before.value, change.after.value
        # A change of nothing but white space is told by its every character.
        same = operator.eq if alike(before, after) else alike
        if before == after or not same(baseline.value, after) or not same(now.value, before):
            return None
        note = self._case.visible(self._nugget, key)
        if not own.just_before if note is None else not alike(note.content, after):
            return None
        step = FactStep(nugget=self._nugget, key=key, after=_with_most_recalls(baseline, now))
        return self._repair(key, step, own, base=before, ours=baseline.value, theirs=now.value)

    def _own(self, key: str) -> OwnChange | None:
        return self._case.own(("fact", self._nugget, key))

    def _repair(
        self,
        key: str,
        step: FactStep,
        own: OwnChange | None,
        *,
        base: str = "",
        ours: str = "",
        theirs: str = "",
    ) -> ItemRepair:
        finding: Finding = "out" if step.after is None else "back"
        conflict = Conflict(
            what=f"another program keeps {'restoring' if finding == 'out' else 'removing'} this fact",
            code=ErrorCode.TAKEN_BACK,
            where=f"{self._nugget}: {key}",
            field="value" if key in self._now and key in self._baseline else "",
            base=base,
            ours=ours,
            theirs=theirs,
        )
        item = ("fact", self._nugget, key)
        return ItemRepair(item=item, finding=finding, own=own, conflict=conflict, facts=[step])


def _with_most_recalls(ours: Fact, now: Fact) -> Fact:
    if now.hits <= ours.hits:
        return ours
    return msgspec.structs.replace(ours, hits=now.hits, last_hit_session=now.last_hit_session)


def _kept_recalls(holder: Note, fact: Fact) -> list[NoteChange]:
    """Recalls of a hidden fact by a program that still knew it are kept with it."""
    kept = holder.hidden_fact
    if kept is None or fact.hits <= kept.hits:
        return []
    after = _with_recalls_of(kept, fact)
    return [NoteChange(id=holder.id, before=holder, after=replace(holder, hidden_fact=after))]


def _with_recalls_of(kept: HiddenFact, fact: Fact) -> HiddenFact:
    if fact.hits <= kept.hits:
        return kept
    return msgspec.structs.replace(kept, hits=fact.hits, last_hit_session=fact.last_hit_session)


def _hidden_facts_shown(save: OutsideSave) -> Iterator[ItemRepair]:
    """Visible notes that still hold a hidden fact: hidden again, or, where it was remembered anew, let go of it."""
    moved = {(change.nugget, change.key) for change in save.found.facts}
    for note in save.now.notes:
        kept = note.hidden_fact
        if kept is None or note.hidden or not save.readable(note.nugget_name):
            continue
        if note.id not in save.notes and (note.nugget_name, kept.key) not in moved:
            continue
        fact = facts_of(save.now, note.nugget_name).get(kept.key)
        if fact is not None:
            yield _hidden_again(save, note, kept, fact)


def _hidden_again(save: OutsideSave, note: Note, kept: HiddenFact, fact: Fact) -> ItemRepair:
    own = save.own(("note", note.id))
    twins = [
        other
        for other in save.now.notes
        if other.is_fact
        and not other.hidden
        and other.id != note.id
        and (other.nugget_name, other.key) == (note.nugget_name, kept.key)
    ]
    conflict = Conflict(
        what="another program keeps showing this hidden fact",
        code=ErrorCode.TAKEN_BACK,
        where=note.id,
        field="hidden",
        base=kept.value,
        ours="hidden",
        theirs=fact.value,
    )
    repair = ItemRepair(item=("note", note.id), finding="out", own=own, conflict=conflict)
    baseline = save.baseline.by_id.get(note.id)
    former = baseline if baseline is not None and baseline.hidden else note
    after = replace(note, hidden=True, archived_at=former.archived_at or save.at)
    if twins:
        # The fact in the file has a note of its own; this one was taken for it.
        repair.finding = "back"
        after = replace(after, title=former.title, content=former.content)
    elif alike(fact.value, kept.value):
        repair.facts.append(FactStep(nugget=note.nugget_name, key=fact.key, after=None))
        after = replace(after, hidden_fact=_with_recalls_of(kept, fact))
    else:
        repair.finding = "anew"
        after = replace(note, hidden_fact=None)
    repair.notes.append(
        NoteChange(id=note.id, before=note, after=normalised_note(after, save.now.by_id.__contains__))
    )
    return repair


def _being_forgotten(save: OutsideSave, passed_over: Collection[str]) -> Iterator[ItemRepair]:
    """Facts that were restored between the two steps in which another program forgets or hides one.

    First the fact leaves its file, and we bring it back; then its note goes. So the fact goes too.
    """
    for change in save.found.notes:
        note, after = change.before, change.after
        if note is None or not note.is_fact or note.hidden or change.id in passed_over:
            continue
        if not save.readable(note.nugget_name) or save.visible(note.nugget_name, note.key) is not None:
            continue
        fact = facts_of(save.now, note.nugget_name).get(note.key)
        own = save.own(("fact", note.nugget_name, note.key))
        ours = own.fact if own is not None and own.restored else None
        if fact is None or ours is None or ours.before is not None or ours.after is None:
            continue
        item = ("fact", note.nugget_name, note.key)
        repair = ItemRepair(item=item, finding="forgotten", own=None, conflict=Conflict(what=""))
        repair.facts.append(FactStep(nugget=note.nugget_name, key=note.key, after=None))
        if after is not None and after.hidden and after.hidden_fact is None and after.key == note.key:
            keeping = replace(after, hidden_fact=as_hidden_fact(fact, _index(save, note.nugget_name, fact)))
            repair.notes.append(NoteChange(id=note.id, before=after, after=keeping))
        yield repair


def _index(save: OutsideSave, nugget: str, fact: Fact) -> int:
    place = next(place for place, one in enumerate(save.now.by_name[nugget].facts) if one is fact)
    return index_among_all(place, save.now.hidden_facts.get(nugget, {}).values())
