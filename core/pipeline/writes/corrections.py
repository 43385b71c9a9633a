"""Corrections within one text: a later fact that changes an earlier one takes its place, and nobody is asked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.pipeline.decide import Proposal, corrects, denies_another, saying
from core.pipeline.writes.planned import PlannedFact


def corrected(facts: Sequence[PlannedFact], least_confidence: float) -> list[PlannedFact]:
    """The facts of one text, those marked that a later one corrects; that one does what the earlier would have done.

    A fact that the text does not say, or that is not sure enough, corrects none.
    """
    done = {one.place: one for one in facts}
    # By the place of a fact that is corrected, of the one that stands for it.
    stands: dict[int, int] = {}
    for one in facts:
        proposal = one.proposal
        if proposal is None or proposal.target is None or proposal.action not in ("update", "delete"):
            continue
        if not (not one.fact.review_needed and one.fact.confidence >= least_confidence):
            continue
        if proposal.target.fact is None:
            for same in _same_target(one, done.values()):
                done[same.place] = replace(same, replaced=True)
                stands[same.place] = one.place
            continue
        place = proposal.target.fact
        while place in stands:
            place = stands[place]
        earlier = done.get(place)
        if earlier is None or earlier.proposal is None or place >= one.place:
            continue
        # A denial of something else goes together with what it seems to correct.
        if not denies_another(saying(one.fact.content), saying(earlier.fact.content)):
            done[place] = replace(earlier, replaced=True)
            stands[place] = one.place
        done[one.place] = replace(
            one,
            proposal=_in_place(proposal, earlier.proposal),
            contradiction=earlier.contradiction,
            pinned=earlier.pinned,
        )
    return [done[one.place] for one in facts]


def _in_place(later: Proposal, earlier: Proposal) -> Proposal:
    """What the earlier fact would have done to what is stored, done by the later one."""
    if earlier.target is None or earlier.target.fact is not None:
        return replace(later, action="add", target=None)
    # What repeats a stored text is a change of that text once it is corrected.
    return replace(later, target=earlier.target)


def _same_target(one: PlannedFact, others: Iterable[PlannedFact]) -> list[PlannedFact]:
    """Earlier facts that would change the same stored text, and that this one corrects."""
    assert one.proposal is not None
    assert one.proposal.target is not None
    return [
        other
        for other in others
        if other.place < one.place
        and other.proposal is not None
        and other.proposal.action in ("update", "delete")
        and other.proposal.target == one.proposal.target
        and not other.replaced
        and corrects(saying(one.fact.content), saying(other.fact.content))
    ]
