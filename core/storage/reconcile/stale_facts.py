"""Facts that a program which keeps its list of them in memory took back, brought back, or was just forgetting."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Sequence

import msgspec

from core.errors import ErrorCode
from core.model.basis import settled
from core.model.build import waiting
from core.model.change import NoteChange
from core.model.compare import alike
from core.model.draft_facts import index_among_all
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import HiddenFact, Note, replace
from core.storage.reconcile.claims import Case, Claim, FactStep, Finding, OwnChange, facts_of


class FactJudge:
    """Judges the facts of one nugget. `passed_over`: keys that were judged otherwise.

    notes: the claims for notes. A fact that was taken back together with its note goes with the note's claim.
    """

    def __init__(self, case: Case, nugget: str, notes: Sequence[Claim], passed_over: Collection[str]) -> None:
        self._case = case
        self._nugget = nugget
        self._notes = notes
        self._done = set(passed_over)
        self._seen = facts_of(case.seen, nugget)
        self._now = facts_of(case.now, nugget)

    def claims(self) -> Iterator[Claim]:
        """What is to be put right; facts that go with their notes are added to the notes' claims."""
        differing = dict.fromkeys(c.key for c in self._case.found.facts if c.nugget == self._nugget)
        # Lost ones first: of a fact that we renamed, both its keys are seen to by one claim.
        for key in sorted(differing, key=lambda key: key in self._now):
            if key in self._done:
                continue
            if key not in self._now:
                found = self._lost(key)
            elif key not in self._seen:
                found = self._brought_back(key)
            else:
                found = self._changed(key)
            if found is not None:
                yield found

    # A fact that is gone

    def _lost(self, key: str) -> Claim | None:
        """A fact that is gone while its note stands, or whose note is put back with it."""
        fact, own = self._seen[key], self._own(key)
        leader = self._bringing(key)
        if leader is None and self._standing_note(key) is None:
            return None
        former = self._former_key(key, own)
        if former is not None:
            self._done.add(former)
            step = FactStep(
                nugget=self._nugget, key=former, after=_with_most_recalls(fact, self._now[former])
            )
        else:
            step = FactStep(nugget=self._nugget, key=key, after=fact)
        before = own.fact.before if own is not None and own.fact is not None else None
        return self._claim(key, step, own, leader, base=before.value if before else "", ours=fact.value)

    def _standing_note(self, key: str) -> Note | None:
        """The visible note of a fact, if it is to stay so."""
        note = self._case.visible(self._nugget, key)
        if note is None or any(c.id == note.id for claim in self._notes for c in claim.notes):
            return None
        return note

    def _bringing(self, key: str) -> Claim | None:
        """The claim that puts back a visible note of a fact."""
        return next(
            (
                claim
                for claim in self._notes
                for change in claim.notes
                if (note := claim.leaves(change.id, key)) is not None and note.nugget_name == self._nugget
            ),
            None,
        )

    def _former_key(self, key: str, own: OwnChange | None) -> str | None:
        """The key from which we renamed a fact, when it is back under that key."""
        change = own.fact if own is not None else None
        if change is None or change.before is None or change.after is None or change.after.key != key:
            return None
        former = change.before.key
        back = former != key and former in self._now and former not in self._seen
        return former if back and alike(self._now[former].value, change.before.value) else None

    # A fact that is there again

    def _brought_back(self, key: str) -> Claim | None:
        """A fact that we hid, deleted or renamed and that is in the file again as it was."""
        fact, own = self._now[key], self._own(key)
        leader = self._taking_away(key)
        if leader is None and self._case.visible(self._nugget, key) is not None:
            return None
        holder = self._holder(key, fact)
        if holder is None and not self._was_taken_out_by_us(key, fact, own):
            return None
        step = FactStep(nugget=self._nugget, key=key, after=self._renamed_away(own))
        found = self._claim(key, step, own, leader, base=fact.value, theirs=fact.value)
        if holder is not None and found is not None:
            found.notes += _kept_recalls(holder, fact)
        return found

    def _renamed_away(self, own: OwnChange | None) -> Fact | None:
        """The fact under the key that we gave it, when something else has taken that key: they meet in a conflict."""
        after = own.fact.after if own is not None and own.fact is not None else None
        there = self._now.get(after.key) if after is not None else None
        return (
            after if after is not None and there is not None and not alike(there.value, after.value) else None
        )

    def _taking_away(self, key: str) -> Claim | None:
        """The claim by which the visible note of a fact goes, is hidden or gets another key."""
        note = self._case.visible(self._nugget, key)
        if note is None:
            return None
        found = (claim for claim in self._notes if any(c.id == note.id for c in claim.notes))
        return next((claim for claim in found if claim.leaves(note.id, key) is None), None)

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
        if after is None:
            return True
        return after.key != key and (
            self._standing_note(after.key) is not None or self._bringing(after.key) is not None
        )

    # A fact with another value

    def _changed(self, key: str) -> Claim | None:
        """A fact that is back at the value before our change, unless it was changed on purpose."""
        seen, now, own = self._seen[key], self._now[key], self._own(key)
        change = own.fact if own is not None else None
        if own is None or change is None or change.before is None or change.after is None:
            return None
        before, after = change.before.value, change.after.value
        # A change of nothing but white space is told by its every character.
        same = operator.eq if alike(before, after) else alike
        if before == after or not same(seen.value, after) or not same(now.value, before):
            return None
        leader = self._bringing(key)
        note = self._case.visible(self._nugget, key)
        stands = note is not None and alike(note.content, after)
        if leader is None and not stands and not (note is None and (own.recent or self._brings_new())):
            return None
        step = FactStep(nugget=self._nugget, key=key, after=_with_most_recalls(seen, now))
        return self._claim(key, step, own, leader, base=before, ours=seen.value, theirs=now.value)

    def _brings_new(self) -> bool:
        """Whether the list came with something that was never in it."""
        changes = (change for change in self._case.found.facts if change.nugget == self._nugget)
        return any(map(self._case.is_new_fact, changes))

    # Shared

    def _own(self, key: str) -> OwnChange | None:
        return self._case.own(("fact", self._nugget, key))

    def _claim(
        self,
        key: str,
        step: FactStep,
        own: OwnChange | None,
        leader: Claim | None,
        *,
        base: str = "",
        ours: str = "",
        theirs: str = "",
    ) -> Claim | None:
        if leader is not None:
            leader.facts.append(step)
            return None
        finding: Finding = "out" if step.after is None else "back"
        conflict = Conflict(
            what=f"another program keeps {'bringing' if finding == 'out' else 'taking'} this fact back",
            code=ErrorCode.FACT_BROUGHT_BACK if finding == "out" else ErrorCode.FACT_TAKEN_BACK,
            where=f"{self._nugget}: {key}",
            field="value" if key in self._now and key in self._seen else "",
            base=base,
            ours=ours,
            theirs=theirs,
        )
        item = ("fact", self._nugget, key)
        return Claim(item=item, finding=finding, own=own, conflict=conflict, facts=[step])


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


def hidden_facts_shown(case: Case) -> Iterator[Claim]:
    """Visible notes that still hold a hidden fact: hidden again, or, where it was remembered anew, let go of it."""
    moved = {(change.nugget, change.key) for change in case.found.facts}
    for note in case.now.notes:
        kept = note.hidden_fact
        if kept is None or note.hidden or not case.readable(note.nugget_name):
            continue
        if note.id not in case.notes and (note.nugget_name, kept.key) not in moved:
            continue
        fact = facts_of(case.now, note.nugget_name).get(kept.key)
        if fact is not None:
            yield _hidden_again(case, note, kept, fact)


def _hidden_again(case: Case, note: Note, kept: HiddenFact, fact: Fact) -> Claim:
    own = case.own(("note", note.id))
    twins = [
        other
        for other in case.now.notes
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
    claim = Claim(item=("note", note.id), finding="out", own=own, conflict=conflict)
    seen = case.seen.by_id.get(note.id)
    former = seen if seen is not None and seen.hidden else note
    after = replace(note, hidden=True, archived_at=former.archived_at or case.at)
    if twins:
        # The fact in the file has a note of its own; this one was taken for it.
        claim.finding = "back"
        after = replace(after, title=former.title, content=former.content)
    elif alike(fact.value, kept.value):
        claim.facts.append(FactStep(nugget=note.nugget_name, key=fact.key, after=None))
        after = replace(after, hidden_fact=_with_recalls_of(kept, fact))
    else:
        claim.finding = "anew"
        after = replace(note, hidden_fact=None)
    claim.notes.append(NoteChange(id=note.id, before=note, after=settled(after, case.now.by_id.__contains__)))
    return claim


def being_forgotten(case: Case, passed_over: Collection[str]) -> Iterator[Claim]:
    """Facts that were restored between the two steps in which another program forgets or hides one.

    First the fact leaves its file, and we bring it back; then its note goes. So the fact goes too.
    """
    for change in case.found.notes:
        note, after = change.before, change.after
        if note is None or not note.is_fact or note.hidden or change.id in passed_over:
            continue
        if not case.readable(note.nugget_name) or case.visible(note.nugget_name, note.key) is not None:
            continue
        fact = facts_of(case.now, note.nugget_name).get(note.key)
        own = case.own(("fact", note.nugget_name, note.key))
        ours = own.fact if own is not None and own.restored else None
        if fact is None or ours is None or ours.before is not None or ours.after is None:
            continue
        item = ("fact", note.nugget_name, note.key)
        claim = Claim(item=item, finding="forgotten", own=None, conflict=Conflict(what=""))
        claim.facts.append(FactStep(nugget=note.nugget_name, key=note.key, after=None))
        if after is not None and after.hidden and after.hidden_fact is None and after.key == note.key:
            keeping = replace(after, hidden_fact=waiting(fact, _index(case, note.nugget_name, fact)))
            claim.notes.append(NoteChange(id=note.id, before=after, after=keeping))
        yield claim


def _index(case: Case, nugget: str, fact: Fact) -> int:
    place = next(place for place, one in enumerate(case.now.by_name[nugget].facts) if one is fact)
    return index_among_all(place, case.now.hidden_facts.get(nugget, {}).values())
