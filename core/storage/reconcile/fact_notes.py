"""Facts that disagree with their notes: a program that holds them in memory took them back, or is forgetting one."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator

import msgspec

from core.errors import ErrorCode
from core.model.basis import normalised_note
from core.model.build import as_hidden_fact
from core.model.change import NoteChange
from core.model.compare import alike
from core.model.draft_facts import index_among_all
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import HiddenFact, Note, replace
from core.storage.reconcile.item_repairs import (
    FactStep,
    Finding,
    ItemRepair,
    OutsideSave,
    OwnChange,
    facts_of,
)


def facts_against_their_notes(
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
            code=ErrorCode.FACT_BROUGHT_BACK if finding == "out" else ErrorCode.FACT_TAKEN_BACK,
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


def hidden_facts_shown(save: OutsideSave) -> Iterator[ItemRepair]:
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
        code=ErrorCode.HIDDEN_FACT_SHOWN,
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


def being_forgotten(save: OutsideSave, passed_over: Collection[str]) -> Iterator[ItemRepair]:
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
