"""The audit of proposals: the decision and its reason, a person's answer, and the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.pipeline.database.tables import Tables
from core.pipeline.records import ProposalStatus, StoredProposal
from core.pipeline.writes.execution import ExecutionResult

# Who makes facts, and why, as the reference names it.
WRITER: Final = "pipeline-v2"
CREATED: Final = "extracted-fact"
_SKIPPED: Final[tuple[ProposalStatus, ...]] = ("skipped", "proposed", "review")
_DONE: Final = {"add": "createdMemoryId", "update": "updatedMemoryId", "hide": "deletedMemoryId"}


@dataclass(frozen=True, slots=True)
class AuditContext:
    """What all rows of one extraction share. latency_ms: of the model's calls, None when nobody measured."""

    job_id: int
    changed_by: str
    shadow: bool
    fact_count: int
    entity_count: int
    latency_ms: int | None = None


def record_decision(
    writer: Tables,
    proposal: StoredProposal,
    outcome: ExecutionResult,
    context: AuditContext,
    prompt_version: str,
    now: int,
) -> None:
    """One row for the decision whatever came of it, and one more where a fact was made."""
    common = {
        "job": context.job_id,
        "shadow": context.shadow,
        "factCount": context.fact_count,
        "entityCount": context.entity_count,
    }
    _append(
        writer, proposal, outcome, prompt_version, now, event="none", changed_by=context.changed_by,
        reason=outcome.reason, old_content=proposal.target_content, latency_ms=context.latency_ms,
        metadata=_metadata(proposal, outcome) | common,
    )  # fmt: skip
    if outcome.done == "add":
        record_created(writer, proposal, outcome, prompt_version, now)


def record_created(
    writer: Tables,
    proposal: StoredProposal,
    outcome: ExecutionResult,
    prompt_version: str,
    now: int,
) -> None:
    """The row of a fact that was made."""
    _append(
        writer, proposal, outcome, prompt_version, now, event="created", changed_by=WRITER, reason=CREATED,
        metadata={"type": proposal.type, "confidence": proposal.fact_confidence},
    )  # fmt: skip


def record_resolution(
    writer: Tables,
    proposal: StoredProposal,
    outcome: ExecutionResult,
    *,
    accepted: bool,
    by: str,
    prompt_version: str,
    now: int,
) -> None:
    """The row of what a person said, and one more where a fact was made by that."""
    _append(
        writer, proposal, outcome, prompt_version, now, event="accepted" if accepted else "refused", changed_by=by,
        reason=outcome.reason, old_content=outcome.former or proposal.target_content,
        metadata=_metadata(proposal, outcome),
    )  # fmt: skip
    if outcome.done == "add":
        record_created(writer, proposal, outcome, prompt_version, now)


def _append(
    writer: Tables,
    proposal: StoredProposal,
    outcome: ExecutionResult,
    prompt_version: str,
    now: int,
    *,
    event: str,
    changed_by: str,
    reason: str,
    metadata: dict[str, object],
    old_content: str = "",
    latency_ms: int | None = None,
) -> None:
    """A row about a proposal and what became of it."""
    writer.history.append(
        at=now,
        event=event,
        changed_by=changed_by,
        reason=reason,
        raw_id=proposal.raw_id,
        proposal_id=proposal.id,
        fact_id=outcome.fact_id,
        note_id=outcome.note_id,
        old_content=old_content,
        new_content=proposal.content,
        model=proposal.model,
        prompt_version=prompt_version,
        latency_ms=latency_ms,
        metadata=metadata,
    )


def _metadata(proposal: StoredProposal, outcome: ExecutionResult) -> dict[str, object]:
    """The context of a decision under the names of the reference; those that do not apply are left out."""
    found: dict[str, object] = {
        "proposedAction": proposal.action,
        "confidence": proposal.confidence,
        "fact": {
            "content": proposal.content,
            "type": proposal.type,
            "confidence": proposal.fact_confidence,
            "grounded": proposal.grounded,
        },
        "extractionModel": proposal.model,
        "reason": proposal.told,
        "decidedBy": proposal.decided_by,
        "outcome": outcome.status,
        "reviewNeeded": proposal.review_needed,
        "contradictionRisk": bool(proposal.contradiction),
    }
    if proposal.contradiction:
        found["contradiction"] = proposal.contradiction
    if proposal.target_note or proposal.target_content:
        found |= {"targetMemoryId": proposal.target_note, "targetContent": proposal.target_content}
    if outcome.done:
        found[_DONE[outcome.done]] = outcome.note_id
    if outcome.status == "deduped":
        found["dedupedExistingId"] = outcome.note_id
    if proposal.status == "blocked" and outcome.status == "blocked":
        found["blockedReason"] = str(outcome.reason)
    if outcome.status in _SKIPPED:
        found["skippedReason"] = str(outcome.reason)
    return found
