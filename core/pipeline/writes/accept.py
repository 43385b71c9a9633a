"""Applies a person's decisions: accepted proposals are carried out as if the mode allowed it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from core.pipeline.intake.normalisation import normalise
from core.pipeline.records import Accepted, ProposalReason
from core.pipeline.writes import audit
from core.pipeline.writes.execution import ExecutionRequest, ExecutionResult, Graph, carry_out, hide_refused

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.database.connection import Database
    from core.pipeline.database.tables import Tables
    from core.pipeline.records import StoredProposal

TOLD: Final = {
    ProposalReason.EMPTY: "the text is empty",
    ProposalReason.TARGET_GONE: "the note is hidden or deleted",
    ProposalReason.TARGET_CHANGED: "the note has changed since this was proposed; look at both again",
}


def accept(database: Database, memory: Memory, ids: Iterable[str], *, by: str, now: int) -> Accepted:
    """Carries open proposals out, in the order given, in one transaction.

    Confidence, grounding, contradictions and the mode are no gates here, since a person decided; a fact that is there
    already and a note that is gone or was changed are. The notes themselves follow with the outbox: `change_set` is
    None. by: who. now: epoch ms.
    """
    with suppress(NuggetsError):
        memory.refresh(patient=False)
    graph = Graph(memory.snapshot)
    written: list[str] = []
    deduped: list[str] = []
    skipped: list[tuple[str, str]] = []
    learned: dict[str, None] = {}
    with database.write() as writer:
        for proposal_id in dict.fromkeys(ids):
            proposal = writer.proposals.by_id(proposal_id)
            if proposal is None:
                skipped.append((proposal_id, "no such proposal"))
                continue
            if not proposal.open:
                skipped.append((proposal_id, f"already decided ({proposal.status})"))
                continue
            outcome = _accept_one(writer, proposal, graph, by, now)
            if outcome.reason == ProposalReason.TARGET_CHANGED:
                # It waits on, held against what the note says by now.
                writer.proposals.retarget(proposal_id, outcome.former)
            if outcome.status == "applied":
                written.append(proposal_id)
                learned[proposal.raw_id] = None
            elif outcome.status == "deduped":
                deduped.append(proposal_id)
            else:
                skipped.append((proposal_id, TOLD[outcome.reason]))
        writer.found_relations.want_knowledge(learned)
    return Accepted(tuple(written), tuple(deduped), tuple(skipped))


def _accept_one(writer: Tables, proposal: StoredProposal, graph: Graph, by: str, now: int) -> ExecutionResult:
    version = writer.proposals.prompt_version(proposal.id)
    if proposal.reason == ProposalReason.UNDONE:
        writer.outbox.forget_done(proposal.id)
    memory = writer.raw.raw_of(proposal.raw_id)
    order = ExecutionRequest(proposal, version, memory.project if memory else "", by)
    if proposal.action != "delete" and not normalise(proposal.content).normalised_content:
        outcome = ExecutionResult("skipped", ProposalReason.EMPTY)
    else:
        outcome = carry_out(writer, order, graph, now)
    if outcome.reason == ProposalReason.TARGET_CHANGED:
        return outcome
    writer.proposals.resolve(
        proposal.id,
        outcome.status,
        reason=outcome.reason,
        by=by,
        now=now,
        note_id=outcome.note_id if outcome.status == "applied" else "",
        repeated=outcome.note_id if outcome.status == "deduped" else "",
    )
    audit.record_resolution(writer, proposal, outcome, accepted=True, by=by, prompt_version=version, now=now)
    return outcome


def refuse(database: Database, ids: Iterable[str], *, by: str, now: int) -> int:
    """Settles open proposals without doing what they say; how many. Their facts are not proposed again, and a note that
    a change of them had meanwhile is hidden with the outbox.
    """
    outcome = ExecutionResult("rejected", ProposalReason.REFUSED)
    refused = 0
    with database.write() as writer:
        for proposal_id in dict.fromkeys(ids):
            proposal = writer.proposals.by_id(proposal_id)
            if proposal is None or not proposal.open:
                continue
            hide_refused(writer, proposal, by, now)
            writer.proposals.resolve(proposal_id, outcome.status, reason=outcome.reason, by=by, now=now)
            version = writer.proposals.prompt_version(proposal_id)
            audit.record_resolution(
                writer, proposal, outcome, accepted=False, by=by, prompt_version=version, now=now
            )
            refused += 1
    return refused
