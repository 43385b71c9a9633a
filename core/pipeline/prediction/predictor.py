"""Predictor: code that says how much each memory will help a session which begins, and what it is told of them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final, NamedTuple, Protocol

# A session begins meanwhile; whoever takes longer is not waited for.
SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that a session would be given. nugget: the name of its nugget."""

    note_id: str
    nugget: str
    scope: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of a candidate. place: where it stands without a predictor, counted from 1. hits: recalls counted,
    once for each session. days: since it was touched, None where nobody knows. confidence: 0 to 1. of_project: whether
    it is of the project that the session is about. sessions: how many were given it and ended; helped: how much it
    helped in them on average, 0 to 1, None for none.
    """

    place: int
    hits: int
    days: float | None
    confidence: float
    pinned: bool
    durable: bool
    of_project: bool
    sessions: int
    helped: float | None


class Predictor(Protocol):
    """What a predictor has to be."""

    def score(self, candidates: Sequence[Candidate], features: Sequence[Features]) -> Sequence[float] | None:
        """How much each candidate will help, in their order; the higher, the earlier it is given. None while it does
        not know enough to say. Whatever it raises, and whatever else it returns, changes nothing.
        """
        ...


class NullPredictor:
    """Says nothing, so that everything stays in the order that it has."""

    def score(self, candidates: Sequence[Candidate], features: Sequence[Features]) -> Sequence[float] | None:
        """None."""
        return None


class Ordered(NamedTuple):
    """The ids of candidates in the order in which to give them. active: whether a predictor made it. fault: what was
    wrong with one, without any text that it was given; "" for nothing.
    """

    note_ids: tuple[str, ...]
    active: bool = False
    fault: str = ""


def run_predictor_scoring(
    predictor: Predictor,
    candidates: Sequence[Candidate],
    features: Sequence[Features],
    seconds: float = SECONDS,
) -> Ordered:
    """The candidates in the order that a predictor gives them; in the one that they have where it says nothing, raises,
    takes longer than `seconds`, or does not give each a finite number. Those it finds equal stay in their order.
    """
    unchanged = tuple(one.note_id for one in candidates)
    if not candidates:
        return Ordered(unchanged)
    scores, fault = _asked(predictor, candidates, features, seconds)
    if scores is None:
        return Ordered(unchanged, fault=fault)
    ranked = sorted(range(len(unchanged)), key=lambda place: -scores[place])
    return Ordered(tuple(unchanged[place] for place in ranked), active=True)


def _asked(
    predictor: Predictor, candidates: Sequence[Candidate], features: Sequence[Features], seconds: float
) -> tuple[list[float] | None, str]:
    """What it says, and what is wrong with it."""
    said: list[list[float] | None] = []
    wrong: list[str] = []

    def ask() -> None:
        try:
            given = predictor.score(tuple(candidates), tuple(features))
            said.append(None if given is None else [float(each) for each in given])
        except BaseException as error:
            # Somebody else's code, which may even ask to exit.
            wrong.append(type(error).__name__)

    thread = threading.Thread(target=ask, name="nuggets-predictor", daemon=True)
    thread.start()
    thread.join(seconds)
    if wrong:
        return None, wrong[0]
    if not said:
        return None, f"no answer within {seconds:g} s"
    scores = said[0]
    if scores is None:
        return None, ""
    if len(scores) != len(candidates):
        return None, f"{len(scores)} scores for {len(candidates)} candidates"
    if not all(map(isfinite, scores)):
        return None, "a score is no finite number"
    return scores, ""
