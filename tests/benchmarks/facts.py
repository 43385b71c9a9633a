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

from core.facts.recall import Decoder, Keys, Recall
from core.model.fact import Fact, Nugget, NuggetMeta

FACTS, ROUNDS, OVERFULL = 512, 5, 20_000
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
    one, big = make_nugget("nugget"), make_nugget("big", OVERFULL)
    keys = [fact.key for fact in one.facts]

    def answer(reader: Keys, decoder: Decoder, nugget: Nugget, key: str) -> Recall:
        (named,) = reader.named([nugget], key)
        return decoder.with_decoding(
            Recall(answer=named.fact.value, certainty=1.0, found=True), nugget, named.place
        )

    fresh = milliseconds(lambda: answer(Keys(), Decoder(), one, keys[0]))
    product = reference()
    first = milliseconds(lambda: answer(Keys(), Decoder(), one, keys[0]), ROUNDS)
    reader, decoder = Keys(), Decoder()
    right = sum(not answer(reader, decoder, one, key).undecoded for key in keys)
    later = milliseconds(lambda: [answer(reader, decoder, one, key) for key in keys], ROUNDS) / FACTS
    read = milliseconds(lambda: answer(Keys(), Decoder(), big, big.facts[-1].key), ROUNDS)
    print(f"one product of the keys with themselves {product:8.1f} ms")
    print(f"first recall of this process            {fresh:8.1f} ms")
    print(
        f"first recall among {FACTS} facts          {first:8.1f} ms {first / product:6.2f} x; {right} decoded"
    )
    print(f"later recalls                           {later:8.3f} ms")
    print(f"an exact key among {OVERFULL} facts, read  {read:8.1f} ms {read / product:6.2f} x")


if __name__ == "__main__":
    main()
