"""What a save of another program leaves to be put right, whatever it had read.

The original renames keys when it loads, keeps its facts in memory and saves the whole list, so that facts disagree with
their notes, drops recalls with that, and squeezes white space. Each has a function of its own here or beside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from core.errors import ConflictError
from core.model.basis import normalised_note, unique_links
from core.model.change import Author, ChangeKind, ChangeSet, FactChange, NoteChange
from core.model.compare import Differences, alike, differences, laid_over
from core.model.draft_facts import DraftFacts
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import Link, Note, replace
from core.model.snapshot import Snapshot
from core.storage.merge.compare import HIT_FIELDS, UNSAID_FIELDS
from core.storage.merge.deciding import conflict_of, take_ours
from core.storage.merge.rebase import rebase
from core.storage.reconcile.fact_notes import being_forgotten, facts_against_their_notes, hidden_facts_shown
from core.storage.reconcile.item_repairs import (
    FactStep,
    Finding,
    ItemKey,
    ItemRepair,
    OutsideSave,
    OwnChange,
    facts_of,
)
from core.storage.reconcile.renamed_keys import hidden_renamed, kept_notes, renamed_facts, swapped_notes

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
    renamed = list(renamed_facts(save))
    keys = {place for one in renamed for place in one.keys}
    item_repairs = [*kept_notes(save, renamed), *swapped_notes(save), *hidden_renamed(save, keys)]
    keys |= _places(item_repairs)
    touched = _touched(item_repairs)
    item_repairs += [repair for repair in hidden_facts_shown(save) if repair.item[1] not in touched]
    keys |= _places(item_repairs)
    item_repairs += facts_against_their_notes(save, keys)
    return [*item_repairs, *being_forgotten(save, _touched(item_repairs))]


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
