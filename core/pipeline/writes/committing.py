"""Commits a plan: gates, corrections within one text, proposals, facts and changes of notes, in one transaction."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Final, NamedTuple

from core.model.snapshot import Snapshot
from core.pipeline.database.tables import Tables
from core.pipeline.decide import Action, Proposal
from core.pipeline.extract import ExtractedFact, ExtractedRelation
from core.pipeline.intake.normalisation import Normalised, normalise
from core.pipeline.knowledge_graph import bring_in
from core.pipeline.modes import Mode
from core.pipeline.records import ProposalReason, ProposalStatus, RawMemory, RawStatus, StoredProposal
from core.pipeline.statements import corrects, denies_another, saying
from core.pipeline.windows import Reading
from core.pipeline.writes.execution import Execution, ExecutionResult, note_down, record
from core.pipeline.writes.notes import NoteEdit
from core.settings.pipeline_sections import PipelineConfiguration
from core.text.normalise import encodable

# In the audit: what became of a fact that a later one of the same text corrects.
REPLACED: Final = "replaced"
_DIGITS: Final = 16
_MOST_WARNINGS: Final = 100
# The statistics of a job's result, by the names of the reference.
_STATISTICS: Final = (
    "added", "updated", "deleted", "deduped", "skippedLowConfidence", "blockedDestructive", "reviewNeeded",
    "embeddingsAdded",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlannedFact:
    """An extracted fact on its way. place: its index in the extraction. span: where in the raw text it comes from.

    proposal: None where no model could be asked, or its answer cannot be used. told: why, then. contradiction: how the
    fact contradicts the text that it would change, "" when it does not. unchecked: whether a model was to say that and
    did not. pinned: whether the note it would change bears a pin. replaced: whether a later fact of the same text
    corrects it.
    """

    place: int
    fact: ExtractedFact
    said: Normalised
    proposal: Proposal | None
    told: str = ""
    contradiction: str = ""
    pinned: bool = False
    span: tuple[int, int] | None = None
    replaced: bool = False
    unchecked: bool = False


@dataclass(frozen=True, slots=True)
class ExtractPlan:
    """Everything that is to be written about one raw memory, or one window of it. Making it has written nothing.

    newest: of the facts that were known when it was made. warnings: of extraction and decision, in words. calls: to
    models.
    """

    job_id: int
    raw: RawMemory
    mode: Mode
    configuration: PipelineConfiguration
    newest: int
    facts: tuple[PlannedFact, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()
    warnings: tuple[str, ...] = ()
    model: str = ""
    prompt_version: str = ""
    calls: int = 0
    reading: Reading = field(default_factory=Reading)


# Gates


class Ruling(NamedTuple):
    """What becomes of a proposal. review_needed: a person should look at it before anything is done."""

    status: ProposalStatus
    reason: ProposalReason
    review_needed: bool = False


def ruling(
    action: Action,
    mode: Mode,
    least_confidence: float,
    *,
    confidence: float,
    normalised: str,
    grounded: bool = True,
    order: bool = False,
    contradictory: bool = False,
    unchecked: bool = False,
    pinned: bool = False,
    repeats: bool = False,
) -> Ruling:
    """What the mode allows. An addition that is "applied" may still turn out to be a duplicate.

    confidence: of the fact, in [0, 1]; no gate in shadow, where the person who accepts decides. normalised: its content
    as it is compared. grounded: a sentence of the text says it. order: it tells its reader what to do. contradictory,
    unchecked: it contradicts the text that it would change, or nobody could say. pinned: that note bears a pin.
    repeats: the very text is stored already.
    """
    if action == "none" and repeats:
        return Ruling("deduped", ProposalReason.DUPLICATE)
    if action == "none":
        return Ruling("none", ProposalReason.NOTHING_NEW)
    writing = mode.writes_notes
    if action == "add" and writing and confidence < least_confidence:
        return Ruling("skipped", ProposalReason.LOW_CONFIDENCE)
    if action != "add" and mode is Mode.CONTROLLED_WRITE:
        reason = ProposalReason.UNCHECKED if unchecked else ProposalReason.DESTRUCTIVE_DISABLED
        return Ruling("blocked", reason, contradictory or unchecked)
    if action != "delete" and not normalised:
        return Ruling("skipped", ProposalReason.EMPTY)
    if action == "add" and not writing:
        return Ruling("proposed", ProposalReason.SHADOW, order or not grounded)
    if action == "add" and grounded and not order:
        return Ruling("applied", ProposalReason.WRITTEN)
    if action == "add":
        return Ruling("review", ProposalReason.INSTRUCTION if order else ProposalReason.UNGROUNDED, True)
    if mode is not Mode.FULL:
        return Ruling("proposed", ProposalReason.SHADOW, True)
    if action == "delete" and pinned:
        return Ruling("skipped", ProposalReason.PINNED)
    reason = ProposalReason.DESTRUCTIVE_REVIEW if grounded else ProposalReason.UNGROUNDED
    if contradictory or unchecked:
        reason = ProposalReason.CONTRADICTION if contradictory else ProposalReason.UNCHECKED
    return Ruling("review", reason, True)


# Corrections within one text


def corrected(facts: Sequence[PlannedFact], least_confidence: float) -> list[PlannedFact]:
    """The facts of one text, those marked that a later one corrects; that one does what the earlier would have done,
    and nobody is asked. A fact that the text does not say, or that is not sure enough, corrects none. Pure.
    """
    done = {one.place: one for one in facts}
    # By the place of a fact that is corrected, of the one that stands for it.
    stands: dict[int, int] = {}
    for one in facts:
        proposal, target = one.proposal, one.proposal and one.proposal.target
        if proposal is None or target is None or proposal.action not in ("update", "delete"):
            continue
        if one.fact.review_needed or one.fact.confidence < least_confidence:
            continue
        if target.fact is None:
            for same in _same_target(one, done.values()):
                done[same.place] = replace(same, replaced=True)
                stands[same.place] = one.place
            continue
        place = target.fact
        while place in stands:
            place = stands[place]
        earlier = done.get(place)
        if earlier is None or earlier.proposal is None or place >= one.place:
            continue
        # A denial of something else goes together with what it seems to correct.
        if not denies_another(saying(one.fact.content), saying(earlier.fact.content)):
            done[place] = replace(earlier, replaced=True)
            stands[place] = one.place
        aimed = earlier.proposal.target
        instead = (
            replace(proposal, action="add", target=None)
            if aimed is None or aimed.fact is not None
            # What repeats a stored text is a change of that text once it is corrected.
            else replace(proposal, target=aimed)
        )
        done[one.place] = replace(
            one, proposal=instead, contradiction=earlier.contradiction, pinned=earlier.pinned
        )
    return [done[one.place] for one in facts]


def _same_target(one: PlannedFact, others: Iterable[PlannedFact]) -> list[PlannedFact]:
    """Earlier facts that would change the same stored text, and that this one corrects."""
    return [
        other
        for other in others
        if other.place < one.place
        and one.proposal is not None
        and other.proposal is not None
        and other.proposal.action in ("update", "delete")
        and other.proposal.target == one.proposal.target
        and not other.replaced
        and corrects(saying(one.fact.content), saying(other.fact.content))
    ]


# Writing


@dataclass(frozen=True, slots=True)
class Committed:
    """What came of a plan. written: facts that wait to become notes. open: proposals that wait for a person.

    result: the job's, for people and programs.
    """

    result: dict[str, Any]
    written: int
    open: int


def write_plan(
    writer: Tables, notes: Snapshot, plan: ExtractPlan, *, latency_ms: int | None, now: int
) -> tuple[Committed, list[NoteEdit]]:
    """Puts down every fact of a plan, with what became of it and why; and what is to be done to notes. now: in ms."""
    fresh = writer.facts.newest() == plan.newest
    work = _PlanWrite(writer, plan, latency_ms, now, Execution(writer, notes, now, fresh=fresh))
    return work.all(), work.execution.edits


def proposal_id(raw_id: str, job_id: int, place: int) -> str:
    """The id of the proposal for one fact of one extraction: the same plan gives the same ids."""
    return f"proposal-{hashlib.sha256(f'{raw_id}/{job_id}/{place}'.encode()).hexdigest()[:_DIGITS]}"


@dataclass(slots=True)
class _PlanWrite:
    """A plan being written. made: by the place of a fact, the note that says it now."""

    writer: Tables
    plan: ExtractPlan
    latency_ms: int | None
    now: int
    execution: Execution
    made: dict[int, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def all(self) -> Committed:
        plan, writer, id = self.plan, self.writer, self.plan.raw.id
        for planned in corrected(plan.facts, plan.configuration.extraction.min_confidence):
            self._write(planned)
        # What a model found beside the facts goes into the graph now, and whenever a person accepts one. Of another
        # part of the text it is added to what was found before.
        kept = writer.raw.found_in(id) if plan.reading.before.begun else ()
        found = [
            [encodable(part) if isinstance(part, str) else part for part in astuple(one)]
            for one in (*kept, *plan.relations)
        ]
        writer.run(
            "UPDATE raw_memories SET relations = ? WHERE id = ?", json.dumps(found, ensure_ascii=False), id
        )
        warning = bring_in(writer, id, plan.configuration, self.now).warning if plan.mode.writes_notes else ""
        result = self._result(filter(None, (warning,)))
        if plan.reading.outcome not in ("goes_on", "failed"):
            # One that says too little for a model to be asked is skipped.
            status: RawStatus = "extracted" if result["calls"] else "skipped"
            version = plan.prompt_version
            writer.raw.set_status(id, status, now=self.now, model=result["model"], prompt_version=version)
        return Committed(result, self.counts["applied"], self.counts["open"])

    @property
    def _by(self) -> str:
        return self.plan.mode.author

    def _write(self, planned: PlannedFact) -> None:
        plan, writer = self.plan, self.writer
        place = plan.reading.before.facts + planned.place
        proposal, rule = self._after_earlier_windows(planned, self._proposed(planned, place))
        outcome = ExecutionResult(rule.status, rule.reason)
        if rule.status == "applied":
            outcome = self.execution.run(proposal, plan.raw.project)
            waiting = writer.proposals.same(plan.raw.nugget, planned.said.content_hash)
            if waiting is not None and waiting.open and outcome.note_id:
                # A person was asked about it before.
                writer.proposals.resolve(
                    waiting.id, "deduped", reason=ProposalReason.DUPLICATE, by=self._by, now=self.now,
                    repeated=outcome.note_id,
                )  # fmt: skip
        elif rule.status == "deduped":
            # Without a note when it is still a proposal.
            there = writer.facts.same(proposal.nugget, planned.said.content_hash)
            outcome = outcome._replace(note_id=proposal.target_note or (there.note_id if there else ""))
        settled = outcome.status not in ("proposed", "review", "blocked")
        proposal = replace(
            proposal,
            status=outcome.status,
            reason=str(outcome.reason),
            review_needed=rule.review_needed,
            note_id=outcome.note_id if outcome.done else "",
            target_note=proposal.target_note or (outcome.note_id if outcome.status == "deduped" else ""),
            resolved_at=self.now if settled else None,
            resolved_by=self._by if settled else "",
        )
        writer.proposals.insert(
            proposal, job_id=plan.job_id, place=place, content_hash=planned.said.content_hash
        )  # fmt: skip
        record(
            writer, proposal, outcome, self.now, event="none", by=self._by, latency_ms=self.latency_ms,
            more={
                "job": plan.job_id, "shadow": not plan.mode.writes_notes, "factCount": len(plan.facts),
                "entityCount": len(plan.relations),
            },
        )  # fmt: skip
        if outcome.note_id:
            self.made[planned.place] = outcome.note_id
        self._count(proposal)

    def _proposed(self, planned: PlannedFact, place: int) -> StoredProposal:
        """The proposal as it is stored, before anything is decided about it. place: of the fact in the whole text."""
        plan, fact, proposal = self.plan, planned.fact, planned.proposal
        target = None if proposal is None else proposal.target
        target_note = ""
        if target is not None:
            target_note = target.id if target.fact is None else self.made.get(target.fact, "")
        decided = "" if proposal is None else proposal.prompt_version
        return StoredProposal(
            id=proposal_id(plan.raw.id, plan.job_id, place),
            raw_id=plan.raw.id,
            action="add" if proposal is None else proposal.action,
            content=fact.content,
            type=fact.type,
            fact_confidence=fact.confidence,
            grounded=fact.grounded,
            target_note=target_note,
            target_content="" if target is None else target.content,
            confidence=fact.confidence if proposal is None else proposal.confidence,
            told=planned.told if proposal is None else proposal.reason,
            decided_by="" if proposal is None else proposal.decided_by,
            model=plan.model,
            nugget=plan.raw.nugget,
            created_at=self.now,
            contradiction=planned.contradiction,
            span=planned.span,
            # Of the extraction, and of a decision by a model.
            prompt_version="+".join(filter(None, (plan.prompt_version, decided))),
        )

    def _after_earlier_windows(
        self, planned: PlannedFact, later: StoredProposal
    ) -> tuple[StoredProposal, Ruling]:
        """Within one text the later statement wins by itself, also over what an earlier window of it gave. A denial of
        something else goes together with the earlier statement, which stays. What a person accepted or reworded
        meanwhile is theirs.
        """
        fact, plan, writer = planned.fact, self.plan, self.writer
        is_said = not fact.review_needed and fact.confidence >= plan.configuration.extraction.min_confidence
        wins = plan.reading.before.begun and later.changes and is_said and planned.said.normalised_content
        stored = writer.facts.of_note(later.target_note) if later.target_note else None
        earlier = writer.proposals.by_id(later.target_note if stored is None else stored.proposal_id)
        if (
            not wins
            or planned.replaced
            or planned.pinned
            or earlier is None
            or not _is_earlier(earlier, later)
        ):
            return later, self._ruled(planned, later)
        apart = denies_another(saying(later.content), saying(earlier.content))
        instead = replace(later, action="add", target_note="", target_content="")
        if stored is None and earlier.open:
            if not apart:
                reason, by = ProposalReason.REPLACED, self._by
                writer.proposals.resolve(earlier.id, "skipped", reason=reason, by=by, now=self.now)
                self._record_replaced(earlier, later)
            # It does what the earlier one would have done.
            later = instead if not earlier.changes else replace(
                later, target_note=earlier.target_note, target_content=earlier.target_content,
                contradiction=earlier.contradiction,
            )  # fmt: skip
            planned = replace(planned, contradiction=later.contradiction)
        elif (
            stored is not None
            and plan.mode.writes_notes
            and (stored.status, earlier.status, earlier.action) == ("active", "applied", "add")
            and earlier.resolved_by == self._by
            and self.execution.text(later.target_note) == stored.content
        ):
            if not apart:
                self._record_replaced(earlier, later)
                return replace(later, action="update"), Ruling("applied", ProposalReason.WRITTEN)
            later = instead
        return later, self._ruled(planned, later)

    def _record_replaced(self, earlier: StoredProposal, later: StoredProposal) -> None:
        """Says in the audit by which later statement of the same text one was replaced."""
        note_down(
            self.writer, earlier, self.now, event=REPLACED, by=self._by, reason=ProposalReason.REPLACED,
            note_id=earlier.note_id, old_content=earlier.content, new_content=later.content, metadata={"by": later.id},
        )  # fmt: skip

    def _ruled(self, planned: PlannedFact, proposal: StoredProposal) -> Ruling:
        plan, said, proposals = self.plan, planned.said, self.writer.proposals
        if planned.replaced:
            return Ruling("skipped", ProposalReason.REPLACED)
        same_text = normalise(proposal.target_content).content_hash == said.content_hash
        rule = ruling(
            proposal.action, plan.mode, plan.configuration.extraction.min_confidence,
            confidence=proposal.fact_confidence, normalised=said.normalised_content, grounded=proposal.grounded,
            order=planned.fact.order, contradictory=bool(planned.contradiction), unchecked=planned.unchecked,
            pinned=planned.pinned, repeats=proposal.decided_by == "rule" and same_text,
        )  # fmt: skip
        if rule.status == "skipped" or proposal.action != "add":
            return rule
        if self.writer.facts.same(plan.raw.nugget, said.content_hash):
            return Ruling("deduped", ProposalReason.DUPLICATE)
        if planned.proposal is None:
            # Whatever was wrong with the answer about it, the fact is not.
            rule = Ruling("review", ProposalReason.UNDECIDED, True)
        earlier = proposals.same(plan.raw.nugget, said.content_hash)
        if earlier is not None and earlier.status == "rejected":
            return Ruling("skipped", ProposalReason.REFUSED)
        if earlier is not None and rule.status in ("proposed", "review"):
            return Ruling("deduped", ProposalReason.DUPLICATE)
        return rule

    def _count(self, proposal: StoredProposal) -> None:
        unsure = proposal.reason in (ProposalReason.LOW_CONFIDENCE, ProposalReason.EMPTY)
        self.counts[proposal.status] += 1
        self.counts += Counter(
            open=proposal.open, reviewNeeded=proposal.review_needed, added=proposal.status == "applied",
            blockedDestructive=proposal.status == "blocked", skippedLowConfidence=unsure,
        )  # fmt: skip

    def _result(self, warnings: Iterable[str]) -> dict[str, Any]:
        """The result of the job, this part of its text with those before."""
        plan, before = self.plan, self.plan.reading.so_far
        counts = {
            "facts": len(plan.facts),
            "entities": len(plan.relations),
            **{name: self.counts[name] for name in _STATISTICS},
            "open": self.counts["open"],
            "calls": plan.calls,
            "repeated": plan.reading.repeated,
        }
        return {
            "mode": plan.mode.of_result,
            **{name: before.get(name, 0) + number for name, number in counts.items()},
            "model": plan.model or before.get("model", ""),
            "promptVersion": plan.prompt_version,
            "warnings": [*before.get("warnings", ()), *plan.warnings, *warnings][:_MOST_WARNINGS],
            **plan.reading.result(self.now),
        }


def _is_earlier(earlier: StoredProposal, later: StoredProposal) -> bool:
    """Whether one proposal comes from a place of the same text that stands before the other's."""
    if earlier.raw_id != later.raw_id or earlier.id == later.id:
        return False
    # A window that could not be read at first is read last.
    return earlier.span is None or later.span is None or earlier.span[0] <= later.span[0]
