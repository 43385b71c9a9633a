"""What a proposal may do: the gates that stand before every write, in their order, as pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from core.pipeline.config import Mode
from core.pipeline.config.modes import Destructive, destructive, writes_notes
from core.pipeline.decision.result import Action
from core.pipeline.intake.bearing import Bearing
from core.pipeline.records import ProposalStatus, Reason


class Ruling(NamedTuple):
    """What becomes of a proposal. review_needed: a person should look at it before anything is done."""

    status: ProposalStatus
    reason: Reason
    review_needed: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A proposal as the gates see it.

    fact_confidence: the extraction's, in [0, 1]. normalised: the fact's content as it is compared. contradictory:
    whether the fact contradicts the text that it would change. pinned: whether that note bears a pin. repeats: whether
    the very text is stored already. bearing: what the text has to say to the fact.
    """

    action: Action
    fact_confidence: float
    normalised: str
    grounded: bool = True
    contradictory: bool = False
    pinned: bool = False
    repeats: bool = False
    bearing: Bearing = "said"

    @property
    def borne_out(self) -> bool:
        """Whether a sentence of the text says the fact."""
        return self.grounded and self.bearing == "said"


def ruling(case: Case, mode: Mode, least_confidence: float) -> Ruling:
    """What the mode allows. An addition that is "applied" may still turn out to be a duplicate.

    In shadow confidence is no gate: the proposal is kept, and the person who accepts it decides. Raises nothing.
    """
    if case.action == "none":
        return Ruling("deduped", Reason.DUPLICATE) if case.repeats else Ruling("none", Reason.NOTHING_NEW)
    if case.action == "add":
        return _addition(case, mode, least_confidence)
    return _destruction(case, mode)


def _addition(case: Case, mode: Mode, least_confidence: float) -> Ruling:
    writing = writes_notes(mode)
    if writing and case.fact_confidence < least_confidence:
        return Ruling("skipped", Reason.LOW_CONFIDENCE)
    if not case.normalised:
        return Ruling("skipped", Reason.EMPTY)
    if not writing:
        return Ruling("proposed", Reason.SHADOW, not case.borne_out)
    if case.borne_out:
        return Ruling("applied", Reason.WRITTEN)
    return Ruling("review", Reason.INSTRUCTION if case.bearing == "order" else Reason.UNGROUNDED, True)


def _destruction(case: Case, mode: Mode) -> Ruling:
    what = destructive(mode)
    if what is Destructive.BLOCKED:
        return Ruling("blocked", Reason.DESTRUCTIVE_DISABLED, case.contradictory)
    if case.action == "update" and not case.normalised:
        return Ruling("skipped", Reason.EMPTY)
    if what is not Destructive.REVIEWED:
        return Ruling("proposed", Reason.SHADOW, True)
    if case.action == "delete" and case.pinned:
        return Ruling("skipped", Reason.PINNED)
    if case.contradictory:
        return Ruling("review", Reason.CONTRADICTION, True)
    return Ruling("review", Reason.DESTRUCTIVE_REVIEW if case.grounded else Reason.UNGROUNDED, True)
