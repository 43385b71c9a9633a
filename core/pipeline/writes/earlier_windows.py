"""Corrections across the windows of one long text: a later one takes the place of what an earlier one said."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from core.pipeline.database.tables import Tables
from core.pipeline.decide import denies_another, saying
from core.pipeline.records import ProposalReason, StoredProposal
from core.pipeline.writes.execution import Graph

# In the audit: what became of the earlier one.
REPLACED: Final = "replaced"


def corrected_proposal(writer: Tables, later: StoredProposal) -> StoredProposal | None:
    """The open proposal of an earlier window of the same text that a change corrects; None for none."""
    earlier = writer.proposals.by_id(later.target_note) if later.changes else None
    return earlier if earlier is not None and earlier.open and _is_earlier(earlier, later) else None


def take_place(
    writer: Tables, earlier: StoredProposal, later: StoredProposal, by: str, now: int
) -> StoredProposal:
    """Settles the earlier proposal, and lets the later one do what the earlier would have done; as it is to be stored.
    A denial of something else goes together with the earlier one, which stays.

    by: who decides, for the audit. now: epoch ms.
    """
    if not denies_another(saying(later.content), saying(earlier.content)):
        writer.proposals.resolve(earlier.id, "skipped", reason=ProposalReason.REPLACED, by=by, now=now)
        record_replaced(writer, earlier, later, by, now)
    if not earlier.changes:
        return replace(later, action="add", target_note="", target_content="")
    return replace(
        later,
        target_note=earlier.target_note,
        target_content=earlier.target_content,
        contradiction=earlier.contradiction,
    )


def corrected_note(writer: Tables, later: StoredProposal, graph: Graph, by: str) -> StoredProposal | None:
    """The proposal of an earlier window of the same text whose note a change corrects; None for none.

    by: who wrote it. What a person accepted or reworded meanwhile is theirs.
    """
    fact = writer.facts.of_note(later.target_note) if later.changes and later.target_note else None
    if fact is None or fact.status != "active" or fact.raw_id != later.raw_id:
        return None
    earlier = writer.proposals.by_id(fact.proposal_id)
    if earlier is None or (earlier.status, earlier.action, earlier.resolved_by) != ("applied", "add", by):
        return None
    untouched = graph.text(writer, later.target_note) == fact.content
    return earlier if untouched and _is_earlier(earlier, later) else None


def _is_earlier(earlier: StoredProposal, later: StoredProposal) -> bool:
    """Whether one proposal comes from a place of the same text that stands before the other's."""
    if earlier.raw_id != later.raw_id or earlier.id == later.id:
        return False
    # A window that could not be read at first is read last.
    return earlier.span is None or later.span is None or earlier.span[0] <= later.span[0]


def record_replaced(
    writer: Tables, earlier: StoredProposal, later: StoredProposal, by: str, now: int
) -> None:
    """Says in the audit by which later statement of the same text one was replaced."""
    writer.history.append(
        at=now,
        event=REPLACED,
        changed_by=by,
        reason=ProposalReason.REPLACED,
        raw_id=earlier.raw_id,
        proposal_id=earlier.id,
        note_id=earlier.note_id,
        old_content=earlier.content,
        new_content=later.content,
        model=later.model,
        prompt_version=writer.proposals.prompt_version(earlier.id),
        metadata={"by": later.id},
    )
