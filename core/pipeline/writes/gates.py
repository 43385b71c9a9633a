"""The gates that every write of a proposal must pass, in their order, as pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from core.pipeline.decide import Action
from core.pipeline.modes import Destructive, Mode, destructive, writes_notes
from core.pipeline.records import ProposalReason, ProposalStatus


class Ruling(NamedTuple):
    """What becomes of a proposal. review_needed: a person should look at it before anything is done."""

    status: ProposalStatus
    reason: ProposalReason
    review_needed: bool = False


@dataclass(frozen=True, slots=True)
class GateInput:
    """A proposal as the gates see it.

    fact_confidence: the extraction's, in [0, 1]. normalised: the fact's content as it is compared. contradictory:
    whether the fact contradicts the text that it would change; unchecked: whether nobody could say. pinned: whether
    that note bears a pin. repeats: whether the very text is stored already. order: whether the fact
    tells whoever reads it what to do.
    """

    action: Action
    fact_confidence: float
    normalised: str
    grounded: bool = True
    contradictory: bool = False
    unchecked: bool = False
    pinned: bool = False
    repeats: bool = False
    order: bool = False

    @property
    def supported(self) -> bool:
        """Whether a sentence of the text says the fact, and orders nothing."""
        return self.grounded and not self.order


def ruling(proposal: GateInput, mode: Mode, least_confidence: float) -> Ruling:
    """What the mode allows. An addition that is "applied" may still turn out to be a duplicate.

    In shadow confidence is no gate: the proposal is kept, and the person who accepts it decides. Raises nothing.
    """
    if proposal.action == "none":
        return (
            Ruling("deduped", ProposalReason.DUPLICATE)
            if proposal.repeats
            else Ruling("none", ProposalReason.NOTHING_NEW)
        )
    if proposal.action == "add":
        return _addition(proposal, mode, least_confidence)
    return _destruction(proposal, mode)


def _addition(proposal: GateInput, mode: Mode, least_confidence: float) -> Ruling:
    writing = writes_notes(mode)
    if writing and proposal.fact_confidence < least_confidence:
        return Ruling("skipped", ProposalReason.LOW_CONFIDENCE)
    if not proposal.normalised:
        return Ruling("skipped", ProposalReason.EMPTY)
    if not writing:
        return Ruling("proposed", ProposalReason.SHADOW, not proposal.supported)
    if proposal.supported:
        return Ruling("applied", ProposalReason.WRITTEN)
    return Ruling(
        "review",
        ProposalReason.INSTRUCTION if proposal.order else ProposalReason.UNGROUNDED,
        True,
    )


def _destruction(proposal: GateInput, mode: Mode) -> Ruling:
    what = destructive(mode)
    if what is Destructive.BLOCKED:
        reason = ProposalReason.UNCHECKED if proposal.unchecked else ProposalReason.DESTRUCTIVE_DISABLED
        return Ruling("blocked", reason, proposal.contradictory or proposal.unchecked)
    if proposal.action == "update" and not proposal.normalised:
        return Ruling("skipped", ProposalReason.EMPTY)
    if what is not Destructive.REVIEWED:
        return Ruling("proposed", ProposalReason.SHADOW, True)
    if proposal.action == "delete" and proposal.pinned:
        return Ruling("skipped", ProposalReason.PINNED)
    if proposal.contradictory:
        return Ruling("review", ProposalReason.CONTRADICTION, True)
    if proposal.unchecked:
        return Ruling("review", ProposalReason.UNCHECKED, True)
    return Ruling(
        "review", ProposalReason.DESTRUCTIVE_REVIEW if proposal.grounded else ProposalReason.UNGROUNDED, True
    )
