"""Fits the rule that judges a search as a whole, and prints the numbers for `core/search/judging.py`.

    python tools/judgement/fit.py

For every question the evidence for the best note is read; the rule is the logistic regression of "the best note
answers" on it, with a small ridge. A memory is judged by a rule fitted without it, so that the table below the numbers
tells what to expect of memories that the rule never saw. From FOUND_FROM on an answer is found: the least likelihood
that lets at most 2.5 % of foreign questions through in that table. OFFERED_FROM leaves out as few right ones as 2 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from memories import SmallMemory, of_the_tests, written
from numpy.typing import NDArray

from core.search import SearchIndex
from core.search.judging import evidence, features
from core.search.query import read_query
from core.search.ranking import rank
from core.search.results import Filters
from core.settings import SearchSettings

RIDGE, MOST_FOREIGN, LEFT_OUT = 0.3, 0.025, 0.02
# Questions of the other memories are many and much alike: each counts half.
FOREIGN_WEIGHT = 0.5


class Case(NamedTuple):
    """A question put to a memory. right: whether the best note answers. features: () when nothing was found."""

    memory: str
    foreign: bool
    right: bool
    features: tuple[float, ...]


def cases(memory: SmallMemory) -> list[Case]:
    """All questions of a memory, asked."""
    index = SearchIndex()
    index.update(memory.snapshot)
    index.search("warm up")
    return [
        *(_case(memory.name, index, text, answers) for text, answers in memory.asked),
        *(_case(memory.name, index, text, None) for text in memory.foreign),
    ]


def _case(name: str, index: SearchIndex, text: str, answers: frozenset[str] | None) -> Case:
    state = index._state
    assert state is not None
    ranking = rank(state, read_query(text, state.languages), Filters(), SearchSettings(), index.vectors())
    hits = () if ranking is None else ranking.result(1).hits
    if ranking is None or not hits:
        return Case(name, answers is None, False, ())
    found = evidence(ranking, state.rows[hits[0].note.id])
    return Case(name, answers is None, hits[0].note.id in (answers or ()), features(found))


def fitted(some: Sequence[Case]) -> NDArray[np.float64]:
    """Intercept and weights, by Newton's method."""
    shown = [case for case in some if case.features]
    inputs = np.array([(1.0, *case.features) for case in shown])
    right = np.array([case.right for case in shown], dtype=float)
    counts = np.array([FOREIGN_WEIGHT if case.foreign else 1.0 for case in shown])
    ridge = RIDGE * np.diag([0.0, *[1.0] * (inputs.shape[1] - 1)])
    weights = np.zeros(inputs.shape[1])
    for _ in range(60):
        guess = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (counts * (right - guess)) - ridge @ weights
        bend = (inputs.T * (counts * guess * (1 - guess))) @ inputs + ridge
        weights += np.linalg.solve(bend, slope)
    return weights


def likely(weights: NDArray[np.float64], case: Case) -> float:
    """What a rule makes of a case."""
    return float(1 / (1 + np.exp(-weights @ (1.0, *case.features)))) if case.features else 0.0


def main() -> None:
    """Prints the numbers and the table."""
    memories = (*written(), *of_the_tests())
    every = [case for memory in memories for case in cases(memory)]
    unseen: list[tuple[Case, float]] = []
    for memory in memories:
        rule = fitted([case for case in every if case.memory != memory.name])
        unseen += [(case, likely(rule, case)) for case in every if case.memory == memory.name]
    foreign = sorted((value for case, value in unseen if case.foreign), reverse=True)
    found_from = foreign[int(MOST_FOREIGN * len(foreign))] + 1e-3
    rights = sorted(value for case, value in unseen if case.right)
    names = ("INTERCEPT", "COVERAGE", "MORE_THAN_ONE", "TITLED")
    for name, value in zip(names, fitted(every), strict=True):
        print(f"{name}: Final = {value:.3f}")
    print(
        f"FOUND_FROM: Final = {found_from:.3f}\nOFFERED_FROM: Final = {rights[int(LEFT_OUT * len(rights))]:.3f}"
    )
    print("\nmemory        right first   of them found   wrong found   foreign answered")
    for memory in (*(one.name for one in memories), ""):
        some = [(case, value >= found_from) for case, value in unseen if memory in ("", case.memory)]
        first = [found for case, found in some if case.right]
        wrong = [found for case, found in some if not case.right and not case.foreign]
        others = [found for case, found in some if case.foreign]
        print(
            f"{memory or 'all':<12} {len(first):>5} of {len(first) + len(wrong):<4} {sum(first):>8} = "
            f"{np.mean(first):.0%} {sum(wrong):>9} of {len(wrong):<3} {sum(others):>6} of {len(others)} = "
            f"{np.mean(others):.1%}"
        )


if __name__ == "__main__":
    main()
