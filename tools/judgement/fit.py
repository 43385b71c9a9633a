"""Fits the rule that judges a search as a whole, and prints the numbers for `core/search/judge.py`.

    python tools/judgement/fit.py [--data FOLDER|FILE.json ...]

For every question the evidence for the best note is read; the rule is the logistic regression of "the best note
answers" on it, with a small ridge, every memory counting alike. Each memory is judged by a rule fitted without it, and
without those that share a note with it, so that the table below the numbers tells what to expect of memories that the
rule never saw. FOUND_FROM is the greatest likelihood that finds RIGHT_FOUND of the right first hits in that table,
taken as the mean over memories; OFFERED_FROM leaves out as few right ones as LEFT_OUT. Data that is named is judged by
the whole rule and fits nothing.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from memories import SmallMemory, all_memories, drawn
from numpy.typing import NDArray

from core.search import SearchIndex
from core.search.judge import by_size, features
from core.search.query_syntax import parse_query
from core.search.ranking import rank
from core.search.results import Filters
from core.settings import SearchSettings

RIDGE, RIGHT_FOUND, LEFT_OUT = 1.0, 0.905, 0.01
NAMES = ("INTERCEPT", "COVERAGE", "MORE_THAN_ONE", "TITLED", "LONG_NOTE", "HELD", "LONE")
# What the questions of a memory count for together. What is left out may be answered by another note. Those that were
# written beside a memory are few and nearer to it than the questions of other memories.
COUNTS = {"own": 100.0, "near": 60.0, "foreign": 50.0, "left out": 20.0}
# Foreign to memories of other data are the questions of these.
FOREIGN = ("club", "friends", "household", "climbers")


class Case(NamedTuple):
    """A question put to a memory. kind: "own", "near", "foreign" or "left out". right: whether the best note answers.
    verbatim: whether it holds the whole question, which leaves no doubt. features: () when nothing was found. offset:
    what the size of the memory adds to the log odds, which is not fitted.
    """

    memory: SmallMemory
    kind: str
    right: bool
    verbatim: bool
    features: tuple[float, ...]
    offset: float = 0.0


def cases(memory: SmallMemory) -> list[Case]:
    """All questions of a memory, asked."""
    index = SearchIndex()
    index.update(memory.snapshot)
    index.search("warm up")
    none: frozenset[str] = frozenset()
    return [
        *(_case(memory, index, "own", text, answers) for text, answers in memory.asked),
        *(
            _case(memory, index, "near" if text in memory.near else "foreign", text, none)
            for text in memory.foreign
        ),
        *(_case(memory, index, "left out", text, none) for text in memory.left_out),
    ]


def _case(memory: SmallMemory, index: SearchIndex, kind: str, text: str, answers: frozenset[str]) -> Case:
    state = index._state
    assert state is not None
    ranking = rank(state, parse_query(text, state.languages), Filters(), SearchSettings())
    hits = () if ranking is None else ranking.result(1).hits
    if ranking is None or not hits:
        return Case(memory, kind, False, False, ())
    row = state.rows[hits[0].note.id]
    verbatim = bool(ranking.text.title[row] or ranking.text.phrase[row])
    found = ranking.judge.evidence(row)
    right = hits[0].note.id in answers
    return Case(memory, kind, right, verbatim, features(found), by_size(found))


def fitted(some: Sequence[Case]) -> NDArray[np.float64]:
    """Intercept and weights, by Newton's method."""
    shown = [case for case in some if case.features and not case.verbatim]
    inputs = np.array([(1.0, *case.features) for case in shown])
    right = np.array([case.right for case in shown], dtype=float)
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


def likely(weights: NDArray[np.float64], case: Case) -> float:
    """What a rule makes of a case."""
    if case.verbatim:
        return 1.0
    odds = weights @ (1.0, *case.features) + case.offset if case.features else -np.inf
    return float(1 / (1 + np.exp(-odds)))


def unseen(every: Sequence[Case]) -> list[tuple[Case, float]]:
    """All cases, each with what a rule makes of it that was fitted without its memory."""
    made = []
    for members in dict.fromkeys(case.memory.members for case in every):
        rule = fitted([case for case in every if not case.memory.members & members])
        made += [(case, likely(rule, case)) for case in every if case.memory.members == members]
    return made


def threshold(judged: Sequence[tuple[Case, float]]) -> float:
    """The greatest likelihood that finds enough right first hits, as the mean over memories."""
    by_memory: dict[str, list[float]] = {}
    for case, value in judged:
        if case.right:
            by_memory.setdefault(case.memory.name, []).append(value)
    for percent in range(95, 0, -1):
        shares = [np.mean([value >= percent / 100 for value in values]) for values in by_memory.values()]
        if np.mean(shares) >= RIGHT_FOUND:
            return percent / 100
    return 0.01


def table(judged: Sequence[tuple[Case, float]], found_from: float) -> None:
    """Prints a row for each memory, and the means of the shares."""
    names = ("right first", "of them found", "wrong found", "foreign answered", "left out answered")
    print(f"\n{'memory':<22}" + "".join(f"{name:>20}" for name in names))
    shares: list[list[float]] = []
    for name in dict.fromkeys(case.memory.name for case, _ in judged):
        some = [(case, value >= found_from) for case, value in judged if case.memory.name == name]
        parts: list[Callable[[Case], bool]] = [
            lambda case: case.right,
            lambda case: case.kind == "own" and not case.right,
            lambda case: case.kind in ("near", "foreign"),
            lambda case: case.kind == "left out",
        ]
        columns = [[found for case, found in some if part(case)] for part in parts]
        shares.append([float(np.mean(column)) if column else np.nan for column in columns])
        right, wrong = columns[:2]
        row = [f"{len(right)} of {len(right) + len(wrong)}"]
        row += [
            f"{sum(column)} of {len(column)} = {share:.1%}" if column else ""
            for column, share in zip(columns, shares[-1], strict=True)
        ]
        print(f"{name:<22}" + "".join(f"{column:>20}" for column in row))
    means = np.nanmean(np.array(shares), axis=0)
    print(f"{'mean of the shares':<22}{'':>20}" + "".join(f"{mean:>20.1%}" for mean in means))


def main() -> None:
    """Prints the numbers and the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", nargs="+", type=Path, default=[], help="folders or files of outside data")
    given = parser.parse_args()
    memories = all_memories()
    every = [case for memory in memories for case in cases(memory)]
    judged = unseen(every)
    found_from = threshold(judged)
    rights = sorted(value for case, value in judged if case.right)
    rule = fitted(every)
    for name, value in zip(NAMES, rule, strict=True):
        print(f"{name}: Final = {value:.3f}")
    print(f"FOUND_FROM: Final = {found_from:.3f}")
    print(f"OFFERED_FROM: Final = {rights[int(LEFT_OUT * len(rights))]:.3f}")
    table(judged, found_from)
    foreign = [text for one in memories if one.name in FOREIGN for text, _ in one.asked]
    others = [case for one in drawn(given.data) for case in cases(replace(one, foreign=tuple(foreign)))]
    if others:
        table([(case, likely(rule, case)) for case in others], found_from)


if __name__ == "__main__":
    main()
