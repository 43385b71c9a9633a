"""Commits a plan: gates, proposals, facts, changes of notes and audit, in the caller's transaction."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Final

from core.pipeline.database.tables import Tables
from core.pipeline.decide import denies_another, saying
from core.pipeline.intake.normalisation import normalise
from core.pipeline.modes import changed_by, result_mode, writes_notes
from core.pipeline.records import ProposalReason, RawStatus, StoredProposal
from core.pipeline.writes import audit
from core.pipeline.writes.corrections import corrected
from core.pipeline.writes.earlier_windows import (
    corrected_note,
    corrected_proposal,
    record_replaced,
    take_place,
)
from core.pipeline.writes.execution import ExecutionRequest, ExecutionResult, carry_out
from core.pipeline.writes.gates import GateInput, Ruling, ruling
from core.pipeline.writes.planned import ExtractPlan, PlannedFact, Reading

_DIGITS: Final = 16
_MOST_WARNINGS: Final = 100
# The statistics of a job's result, by the names of the reference.
_STATISTICS: Final = (
    "added", "updated", "deleted", "deduped", "skippedLowConfidence", "blockedDestructive", "reviewNeeded",
    "embeddingsAdded",
)  # fmt: skip


@dataclass(slots=True)
class _PlanWrite:
    """A plan being written. made: by the place of a fact, the note that says it now."""

    writer: Tables
    plan: ExtractPlan
    context: audit.AuditContext
    now: int
    fresh: bool
    made: dict[int, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Committed:
    """What came of a plan. written: facts that wait to become notes. open: proposals that wait for a person.

    result: the job's, for people and programs.
    """

    result: dict[str, Any]
    written: int
    open: int


def write_plan(writer: Tables, plan: ExtractPlan, *, latency_ms: int | None, now: int) -> Committed:
    """Puts down every fact of a plan, with what became of it and why. now: epoch ms."""
    context = audit.AuditContext(
        plan.job_id,
        changed_by(plan.mode),
        not writes_notes(plan.mode),
        len(plan.facts),
        len(plan.relations),
        latency_ms,
    )
    # Whatever the facts of this very memory repeat of one another was decided with them.
    write = _PlanWrite(writer, plan, context, now, fresh=writer.facts.newest() == plan.newest)
    for planned in corrected(plan.facts, plan.least_confidence):
        _write_fact(write, planned)
    due = plan.knowledge and writes_notes(plan.mode)
    writer.found_relations.keep_found(plan.raw.id, plan.relations, due=due, more=plan.reading.before.begun)
    result = _result(write)
    status = raw_status(plan.reading, result["calls"])
    if status is not None:
        writer.raw.set_status(
            plan.raw.id, status, now=now, model=result["model"], prompt_version=plan.prompt_version
        )
    return Committed(result, write.counts["applied"], write.counts["open"])


def raw_status(reading: Reading, calls: int) -> RawStatus | None:
    """What the raw memory is from now on, None for what it was: while it is read, and when a part could not be.

    One that says too little for a model to be asked is skipped.
    """
    if reading.outcome in ("goes_on", "failed"):
        return None
    return "extracted" if calls else "skipped"


def _write_fact(write: _PlanWrite, planned: PlannedFact) -> None:
    plan, writer = write.plan, write.writer
    proposal, rule = _after_earlier_windows(write, planned, _proposed(write, planned))
    version = _version(plan, planned)
    outcome = ExecutionResult(rule.status, rule.reason)
    if rule.status == "applied":
        order = ExecutionRequest(proposal, version, plan.raw.project, fresh=write.fresh)
        outcome = carry_out(writer, order, plan.graph, write.now)
        _settle_waiting(write, planned, proposal, outcome)
    elif rule.status == "deduped":
        outcome = outcome._replace(note_id=_same_note(write, planned, proposal))
    settled = outcome.status not in ("proposed", "review", "blocked")
    proposal = replace(
        proposal,
        status=outcome.status,
        reason=str(outcome.reason),
        review_needed=rule.review_needed,
        note_id=outcome.note_id if outcome.done else "",
        target_note=proposal.target_note or (outcome.note_id if outcome.status == "deduped" else ""),
        resolved_at=write.now if settled else None,
        resolved_by=write.context.changed_by if settled else "",
    )
    writer.proposals.insert(
        proposal,
        job_id=plan.job_id,
        place=plan.place_of(planned),
        prompt_version=version,
        content_hash=planned.said.content_hash,
    )
    audit.record_decision(writer, proposal, outcome, write.context, version, write.now)
    if outcome.note_id:
        write.made[planned.place] = outcome.note_id
    _count(write, proposal)


def _proposed(write: _PlanWrite, planned: PlannedFact) -> StoredProposal:
    """The proposal as it is stored, before anything is decided about it."""
    plan, fact, proposal = write.plan, planned.fact, planned.proposal
    target = None if proposal is None else proposal.target
    target_note = ""
    if target is not None:
        target_note = target.id if target.fact is None else write.made.get(target.fact, "")
    return StoredProposal(
        id=proposal_id(plan.raw.id, plan.job_id, plan.place_of(planned)),
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
        status="proposed",
        reason="",
        review_needed=False,
        contradiction=planned.contradiction,
        span=planned.span,
        note_id="",
        nugget=plan.raw.nugget,
        created_at=write.now,
        resolved_at=None,
        resolved_by="",
    )


def _after_earlier_windows(
    write: _PlanWrite, planned: PlannedFact, proposal: StoredProposal
) -> tuple[StoredProposal, Ruling]:
    """Within one text the later statement wins by itself, also over what an earlier window of it gave."""
    plan, writer, by = write.plan, write.writer, write.context.changed_by
    corrects = (
        plan.reading.before.begun and not planned.replaced and not planned.pinned and _is_said(write, planned)
    )
    if corrects:
        earlier = corrected_proposal(writer, proposal)
        if earlier is not None:
            proposal = take_place(writer, earlier, proposal, by, write.now)
            planned = replace(planned, contradiction=proposal.contradiction)
        elif writes_notes(plan.mode):
            earlier = corrected_note(writer, proposal, plan.graph, by)
            if earlier is not None and denies_another(saying(proposal.content), saying(earlier.content)):
                proposal = replace(proposal, action="add", target_note="", target_content="")
            elif earlier is not None:
                record_replaced(writer, earlier, proposal, by, write.now)
                return replace(proposal, action="update"), Ruling("applied", ProposalReason.WRITTEN)
    return proposal, _ruled(write, planned, proposal)


def _is_said(write: _PlanWrite, planned: PlannedFact) -> bool:
    """Whether the text says a fact, and surely enough to be written."""
    return (
        not planned.fact.review_needed
        and planned.fact.confidence >= write.plan.least_confidence
        and bool(planned.said.normalised_content)
    )


def _ruled(write: _PlanWrite, planned: PlannedFact, proposal: StoredProposal) -> Ruling:
    plan = write.plan
    if planned.replaced:
        return Ruling("skipped", ProposalReason.REPLACED)
    case = GateInput(
        action=proposal.action,
        fact_confidence=proposal.fact_confidence,
        normalised=planned.said.normalised_content,
        grounded=proposal.grounded,
        contradictory=bool(planned.contradiction),
        unchecked=planned.unchecked,
        pinned=planned.pinned,
        order=planned.fact.order,
        repeats=proposal.decided_by == "rule"
        and normalise(proposal.target_content).content_hash == planned.said.content_hash,
    )
    rule = ruling(case, plan.mode, plan.least_confidence)
    if rule.status == "skipped" or proposal.action != "add":
        return rule
    if write.writer.facts.same(plan.raw.nugget, planned.said.content_hash):
        return Ruling("deduped", ProposalReason.DUPLICATE)
    if planned.proposal is None:
        # Whatever was wrong with the answer about it, the fact is not.
        rule = Ruling("review", ProposalReason.UNDECIDED, True)
    earlier = write.writer.proposals.same(plan.raw.nugget, planned.said.content_hash)
    if earlier is not None and earlier.status == "rejected":
        return Ruling("skipped", ProposalReason.REFUSED)
    if earlier is not None and rule.status in ("proposed", "review"):
        return Ruling("deduped", ProposalReason.DUPLICATE)
    return rule


def _settle_waiting(
    write: _PlanWrite, planned: PlannedFact, proposal: StoredProposal, outcome: ExecutionResult
) -> None:
    """What was written need not wait for a person any more, who was asked about it before."""
    earlier = write.writer.proposals.same(proposal.nugget, planned.said.content_hash)
    if earlier is not None and earlier.open and outcome.note_id:
        write.writer.proposals.resolve(
            earlier.id,
            "deduped",
            reason=ProposalReason.DUPLICATE,
            by=write.context.changed_by,
            now=write.now,
            repeated=outcome.note_id,
        )


def _same_note(write: _PlanWrite, planned: PlannedFact, proposal: StoredProposal) -> str:
    """The note that says a fact already, "" when it is still a proposal."""
    if proposal.target_note:
        return proposal.target_note
    there = write.writer.facts.same(proposal.nugget, planned.said.content_hash)
    return "" if there is None else there.note_id


def _count(write: _PlanWrite, proposal: StoredProposal) -> None:
    counts = write.counts
    counts[proposal.status] += 1
    if proposal.open:
        counts["open"] += 1
    if proposal.review_needed:
        counts["reviewNeeded"] += 1
    if proposal.status == "applied":
        counts["added"] += 1
    elif proposal.status == "blocked":
        counts["blockedDestructive"] += 1
    elif proposal.reason in (ProposalReason.LOW_CONFIDENCE, ProposalReason.EMPTY):
        counts["skippedLowConfidence"] += 1


def _result(write: _PlanWrite) -> dict[str, Any]:
    """The result of the job, this part of its text with those before."""
    plan, reading = write.plan, write.plan.reading
    before = reading.so_far
    counts = {
        "facts": len(plan.facts),
        "entities": len(plan.relations),
        **{name: write.counts[name] for name in _STATISTICS},
        "open": write.counts["open"],
        "calls": plan.calls,
        "repeated": reading.repeated,
    }
    return {
        "mode": result_mode(plan.mode),
        **{name: before.get(name, 0) + number for name, number in counts.items()},
        "model": plan.model or before.get("model", ""),
        "promptVersion": plan.prompt_version,
        "warnings": [*before.get("warnings", ()), *plan.warnings][:_MOST_WARNINGS],
        **reading_result(reading, write.now),
    }


def reading_result(reading: Reading, now: int) -> dict[str, Any]:
    """What a job's result tells of how far its text is read. now: epoch ms."""
    kept = {"progress": reading.after.as_json()} if reading.unread else {}
    return {
        "windows": reading.windows, "windowsRead": reading.after.read, "unread": reading.unread, "readAt": now, **kept
    }  # fmt: skip


def _version(plan: ExtractPlan, planned: PlannedFact) -> str:
    """The versions of the prompts that a proposal comes from: of the extraction, and of a decision by a model."""
    decided = "" if planned.proposal is None else planned.proposal.prompt_version
    return "+".join(filter(None, (plan.prompt_version, decided)))


def proposal_id(raw_id: str, job_id: int, place: int) -> str:
    """The id of the proposal for one fact of one extraction: the same plan gives the same ids."""
    return f"proposal-{hashlib.sha256(f'{raw_id}/{job_id}/{place}'.encode()).hexdigest()[:_DIGITS]}"
