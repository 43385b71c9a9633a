"""Whatever notes, words and weights there are, a search divides nothing by zero and computes with no NaN."""

from __future__ import annotations

import random

import msgspec
import numpy as np
import pytest
from benchmarks.retrieval_sets import _notes

from core.model.snapshot import Snapshot
from core.search import SearchIndex
from core.settings import SearchSettings

WORDS = ["deploy", "token", "東京", "ünï", "the", "a", "redis", "pg", "note", "x", "z", "1", "22", "?"]
WEIGHTS = (0.0, 1e-300, 1e-12, 0.5, 5.0)


@pytest.mark.parametrize("seed", range(4))
def test_no_search_divides_by_zero(seed: int) -> None:
    dice = random.Random(seed)
    fields = [
        name
        for name in SearchSettings.__struct_fields__
        if name.endswith(("_weight", "_boost")) or name == "relevance_floor"
    ]
    with np.errstate(divide="raise", invalid="raise"):
        for _ in range(30):
            texts = [
                [" ".join(dice.choices(WORDS, k=dice.randint(0, most))) for most in (3, 6)] for _ in range(6)
            ]
            texts = texts[: dice.randint(0, 6)]
            entries = [
                {"id": f"n{place}", "title": title, "content": text}
                for place, (title, text) in enumerate(texts)
            ]
            index = SearchIndex()
            index.update(Snapshot(notes=_notes(entries, [("n0", "n1")] if len(entries) > 1 else ())))
            changed = {name: dice.choice(WEIGHTS) for name in dice.sample(fields, 3)}
            settings = msgspec.structs.replace(SearchSettings(), **changed)
            found = index.result(" ".join(dice.choices(WORDS, k=dice.randint(0, 4))), 5, settings=settings)
            assert all(np.isfinite(hit.breakdown.blend) for hit in found.hits)
            assert all(np.isfinite(one.value) for hit in found.hits for one in hit.breakdown.reasons)
