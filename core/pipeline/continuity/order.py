"""How good an order was in which memories were given, by what of them helped; and whether it gets worse."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Final, NamedTuple

# Only the first so many places count.
PLACES: Final = 10
# How much the newest session counts in the average, and in the long one that it is held against.
_NEW: Final = 0.2
_NEW_IN_LONG: Final = 0.02
# An average that is lower than the long one by so much has drifted, once there are enough sessions to tell.
_DRIFT: Final = 0.1
_ENOUGH: Final = 10


class Averages(NamedTuple):
    """The exponential moving averages of a measure, the long one over about fifty sessions. drifts: whether the order
    got worse than it used to be. sessions: how many so far.
    """

    average: float
    long_average: float
    drifts: bool
    sessions: int


def ndcg(relevance: Sequence[float], places: int = PLACES) -> float | None:
    """The normalised discounted cumulative gain, 0 to 1, of memories in the order given, by how much each helped; 1 for
    the best order there is. None where none helped.
    """
    best = _gain(sorted(relevance, reverse=True), places)
    return _gain(relevance, places) / best if best > 0 else None


def averaged(value: float, before: Averages | None) -> Averages:
    """The averages after one more session."""
    if before is None:
        return Averages(value, value, False, 1)
    count = before.sessions + 1
    average = before.average + _NEW * (value - before.average)
    # A true mean until there are many: the first session alone would weigh for ever.
    long_average = before.long_average + max(_NEW_IN_LONG, 1 / count) * (value - before.long_average)
    return Averages(average, long_average, count >= _ENOUGH and average < long_average - _DRIFT, count)


def _gain(relevance: Sequence[float], places: int) -> float:
    return sum(max(0.0, value) / log2(place + 2) for place, value in enumerate(relevance[:places]))
