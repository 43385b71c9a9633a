"""Fits the rule that judges an answer, and prints the numbers for `core/search/judge.py` with what to expect of it.

    python tools/judgement/fit.py [--data FOLDER|FILE.json ...]

For every question the evidence for the best hit is read; the rule is the logistic regression of "it answers" on that,
by maximum likelihood with a small ridge, every memory counting alike. Each memory is judged by a rule that was fitted
without it and without those that share a note with it, so that both tables tell what to expect of memories that the
rule never saw: one row a memory at the line from which on an answer is claimed, and the reliability of the number
itself. Data that is named is judged by the whole rule and fits nothing.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from memories import SmallMemory, all_memories, drawn
from numpy.typing import NDArray

from core.search import SearchIndex
from core.search.judge import CLAIMED_AMONG, FOUND_FROM, MOST_TIED, Verdict, features
from core.search.query_syntax import parse_query
from core.search.ranking import rank
from core.search.results import Filters
from core.settings import SearchSettings

RIDGE = 1.0
# A little more is claimed than the fit alone would; beyond this every other claim more is wrong.
BOLD = 0.2
NAMES = ("coverage", "titled", "lone", "ahead", "more")
# What the questions of a memory count for together. What is left out may be answered by another note. Those that were
# written beside a memory ask about the same people and things, as an agent's do; of a foreign subject are few.
COUNTS = {"own": 100.0, "near": 50.0, "foreign": 15.0, "left out": 10.0}
# Foreign to memories of other data are the questions of these; of the others each memory is asked so many.
FOREIGN = ("club", "friends", "household", "climbers")
MOST_FOREIGN = 150


class Hit(NamedTuple):
    """right: whether it answers. verdict: of the judge, with the evidence."""

    right: bool
    verdict: Verdict


class Case(NamedTuple):
    """A question put to a memory, with its best hits. kind: "own", "near", "foreign" or "left out"."""

    memory: SmallMemory
    kind: str
    hits: tuple[Hit, ...]


def cases(memory: SmallMemory) -> Iterator[Case]:
    """All questions of a memory, asked."""
    index = SearchIndex()
    index.update(memory.snapshot)
    index.result("warm up")
    none: frozenset[str] = frozenset()
    foreign = [text for text in memory.foreign if text not in memory.near]
    asked = (
        *(("own", text, answers) for text, answers in memory.asked),
        *(("near", text, none) for text in memory.near),
        *(("foreign", text, none) for text in foreign[:: max(len(foreign) // MOST_FOREIGN, 1)]),
        *(("left out", text, none) for text in memory.left_out),
    )
    for kind, text, answers in asked:
        yield Case(memory, kind, tuple(_hits(index, text, answers)))


def _hits(index: SearchIndex, text: str, answers: frozenset[str]) -> Iterator[Hit]:
    state = index._state
    assert state is not None
    text = index.respelt(text)
    ranking = rank(state, parse_query(text, state.languages), Filters(), SearchSettings())
    if ranking is not None:
        for hit in ranking.result(CLAIMED_AMONG).hits:
            yield Hit(hit.note.id in answers, ranking.judge.verdict(ranking.state.rows[hit.note.id]))


def fitted(some: Sequence[Case]) -> NDArray[np.float64]:
    """Intercept and weights, by Newton's method."""
    shown = [case for case in some if case.hits and case.hits[0].verdict.least < FOUND_FROM]
    inputs = np.array([(1.0, *features(case.hits[0].verdict.evidence)) for case in shown])
    right = np.array([case.hits[0].right for case in shown], dtype=float)
    number = Counter((case.memory.name, case.kind) for case in shown)
    counts = np.array([COUNTS[case.kind] / number[case.memory.name, case.kind] for case in shown])
    ridge = RIDGE * np.diag([0.0, *[1.0] * (inputs.shape[1] - 1)])
    weights = np.zeros(inputs.shape[1])
    for _ in range(60):
        guess = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (counts * (right - guess)) - ridge @ weights
        bend = (inputs.T * (counts * guess * (1 - guess))) @ inputs + ridge
        weights += np.linalg.solve(bend, slope)
    return weights


class Judged(NamedTuple):
    """A case with how likely the answer is that would be claimed, and whether it is right."""

    case: Case
    likely: float
    right: bool


def judged(weights: NDArray[np.float64], case: Case) -> Judged:
    """What a rule makes of a case."""
    best = Judged(case, 0.0, False)
    for right, verdict in case.hits:
        odds = BOLD + float(weights @ (1.0, *features(verdict.evidence)))
        likely = 0.0 if not verdict.evidence.coverage else 1 / (1 + np.exp(-odds))
        likely = max(likely, verdict.least)
        likely = min(likely, MOST_TIED) if verdict.tied else likely
        if likely > best.likely:
            best = Judged(case, float(likely), right)
    return best


def unseen(every: Sequence[Case]) -> Iterator[Judged]:
    """All cases, each with what a rule makes of it that was fitted without its memory."""
    for members in dict.fromkeys(case.memory.members for case in every):
        rule = fitted([case for case in every if not case.memory.members & members])
        yield from (judged(rule, case) for case in every if case.memory.members == members)


def table(some: Sequence[Judged]) -> None:
    """Prints a row for each memory, and the means of the shares."""
    names = ("right", "wrong", "not sure", "near claimed", "foreign claimed", "left out claimed")
    print(f"\n{'memory':<28}{'answerable':>12}" + "".join(f"{name:>18}" for name in names))
    parts: tuple[tuple[str, Callable[[Judged], bool]], ...] = (
        ("own", lambda one: one.right and one.likely >= FOUND_FROM),
        ("own", lambda one: not one.right and one.likely >= FOUND_FROM),
        ("own", lambda one: 0.40 <= one.likely < FOUND_FROM),
        *((kind, lambda one: one.likely >= FOUND_FROM) for kind in ("near", "foreign", "left out")),
    )
    shares: list[list[float]] = []
    for name in dict.fromkeys(one.case.memory.name for one in some):
        own = [one for one in some if one.case.memory.name == name]
        counted = [([part(one) for one in own if one.case.kind == kind]) for kind, part in parts]
        shares.append([float(np.mean(column)) if column else np.nan for column in counted])
        row = [f"{sum(column)} of {len(column)}" if column else "" for column in counted]
        print(f"{name:<28}{len(counted[0]):>12}" + "".join(f"{column:>18}" for column in row))
    means = np.nanmean(np.array(shares), axis=0)
    print(f"{'mean of the shares':<40}" + "".join(f"{mean:>18.1%}" for mean in means))


def reliability(some: Sequence[Judged]) -> None:
    """Prints how often answers are right that are said to be so likely, every memory counting alike."""
    number = Counter((one.case.memory.name, one.case.kind) for one in some)
    weights = [COUNTS[one.case.kind] / number[one.case.memory.name, one.case.kind] for one in some]
    print(f"\n{'said':<12}{'answers':>10}{'right':>10}")
    for low in range(10):
        held = [
            (weight, one.right)
            for weight, one in zip(weights, some, strict=True)
            if one.likely and min(int(one.likely * 10), 9) == low
        ]
        if held:
            share = sum(weight for weight, right in held if right) / sum(weight for weight, _ in held)
            print(f"{f'.{low} to .{low}9':<12}{len(held):>10}{share:>10.0%}")


def main() -> None:
    """Prints the numbers and the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", nargs="+", type=Path, default=[], help="folders or files of outside data")
    given = parser.parse_args()
    memories = all_memories()
    every = [case for memory in memories for case in cases(memory)]
    rule = fitted(every)
    print(f"INTERCEPT: Final = {rule[0] + BOLD:.3f}")
    print("WEIGHTS: Final = (" + ", ".join(f"{value:.3f}" for value in rule[1:]) + ")  # " + ", ".join(NAMES))
    seen = list(unseen(every))
    table(seen)
    reliability(seen)
    foreign = [text for one in memories if one.name in FOREIGN for text, _ in one.asked]
    others = [case for one in drawn(given.data) for case in cases(replace(one, foreign=tuple(foreign)))]
    if others:
        table([judged(rule, case) for case in others])


if __name__ == "__main__":
    main()
