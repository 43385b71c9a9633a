"""Recall among 512 facts, first and later, beside a matrix product of the same size measured in the same run.

Run from the root of the repository: python tests/benchmarks/facts.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.facts.recall import Recaller
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.snapshot import Snapshot

FACTS, NUGGETS, ROUNDS, OVERFULL = 512, 6, 5, 20_000
TOPICS = ("port", "owner", "deadline", "region", "budget", "contact", "color", "version")


def milliseconds(work: Callable[[], object], rounds: int = 1) -> float:
    """Median time of `work` over a number of rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return median(times)


def make_nugget(name: str, count: int = FACTS) -> Nugget:
    facts = tuple(
        Fact(key=f"user:{TOPICS[i % len(TOPICS)]} of {name} service{i}", value=f"value {i} of {name}")
        for i in range(count)
    )
    return Nugget(meta=NuggetMeta(name=name), facts=facts)


def reference() -> float:
    """One complex64 product keys x keys^H of 512 keys of 16,384 elements: what decorrelation cannot do without."""
    import numpy as np

    keys = np.ones((FACTS, NuggetMeta(name="any").D), dtype=np.complex64)
    keys @ keys.conj().T
    return milliseconds(lambda: keys @ keys.conj().T, ROUNDS)


def main() -> None:
    nuggets = tuple(make_nugget(f"nugget{number}") for number in range(NUGGETS))
    one, all_of_them = Snapshot(nuggets=nuggets[:1]), Snapshot(nuggets=nuggets)
    facts = nuggets[0].facts
    fresh = milliseconds(lambda: Recaller().recall(one, facts[0].key))
    product = reference()
    first = milliseconds(lambda: Recaller().recall(one, facts[0].key), ROUNDS)

    recaller = Recaller()
    answers = [recaller.recall(one, fact.key) for fact in facts]
    right = sum(answer.answer == fact.value for answer, fact in zip(answers, facts, strict=True))
    sure = sum(answer.certainty >= 0.9 for answer in answers)
    later = milliseconds(lambda: [recaller.recall(one, fact.key) for fact in facts], ROUNDS) / FACTS
    recaller.recall(all_of_them, facts[0].key)
    worded = "what is the port of nugget0 service16?"
    found = recaller.recall(all_of_them, worded)
    wide = milliseconds(lambda: recaller.recall(all_of_them, worded), ROUNDS)
    nonsense = milliseconds(lambda: recaller.recall(all_of_them, "quantum chromodynamics for poets"), ROUNDS)

    big = make_nugget("big", OVERFULL)
    overfull = Snapshot(nuggets=(big,))
    read = milliseconds(lambda: Recaller().recall(overfull, big.facts[-1].key), ROUNDS)

    print(f"{FACTS} facts, D {nuggets[0].meta.D}, {nuggets[0].meta.banks} banks")
    print(f"  right {right} of {FACTS}; certain (0.9 or more) {sure}")
    print(f"  first recall of the process    {fresh:8.1f} ms  (loads numpy)")
    print(f"  first recall of a nugget       {first:8.1f} ms  {first / product:6.2f} x reference")
    print(f"  later recall, exact key        {later:8.3f} ms  {later / product:6.4f} x reference")
    print(
        f"  later recall, {NUGGETS} nuggets, worded {wide:6.2f} ms  {wide / product:6.4f} x reference ({found.key!r})"
    )
    print(
        f"  a miss over {NUGGETS} nuggets         {nonsense:8.2f} ms  {nonsense / product:6.4f} x reference"
    )
    print(
        f"  first recall among {OVERFULL} facts {read:7.1f} ms  {read / product:6.2f} x reference  (from the file)"
    )
    print(f"  reference: one complex64 product of {FACTS} keys with themselves {product:.1f} ms")


if __name__ == "__main__":
    main()
