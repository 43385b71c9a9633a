"""The vector leg: likeness of weighted words and pairs, whatever the size of a note."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest

from core.model.note import Note
from core.search import SearchIndex
from core.settings import SearchSettings
from core.text.tokens import stems

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]

TEXTS = (
    "kettle boils water for green tea",
    "tea tea tea and the kettle again",
    "release plan: gateway before kettle",
    "plan the release of the gateway",
)


def test_the_cosine_is_that_of_weighted_words_and_pairs(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(*(make_note("", text) for text in TEXTS))
    query = "release plan kettle"
    hits = index.result(query, 10, settings=SearchSettings(relevance_floor=0)).hits
    assert len(hits) == 4
    asked = stems(query)

    def rarity(count: int) -> float:
        return math.log(1 + (len(TEXTS) - count + 0.5) / (count + 0.5))

    held = {text: Counter(stems(text)) for text in TEXTS}
    paired = {text: Counter(pairwise(stems(text))) for text in TEXTS}
    weights = {stem: rarity(sum(stem in counts for counts in held.values())) for stem in asked}
    pair_weights = {
        pair: rarity(count)
        for pair in pairwise(asked)
        if (count := sum(pair in counts for counts in paired.values()))
    }
    length = math.hypot(*weights.values(), *pair_weights.values())
    for hit in hits:
        words = {stem: 1 + math.log(count) for stem, count in held[hit.note.content].items()}
        pairs = {pair: 0.3 * (1 + math.log(count)) for pair, count in paired[hit.note.content].items()}
        product = sum(weight * words.get(stem, 0) for stem, weight in weights.items())
        product += sum(weight * pairs.get(pair, 0) for pair, weight in pair_weights.items())
        cosine = product / length / math.hypot(*words.values(), *pairs.values())
        assert hit.breakdown.raw_vector() == pytest.approx(cosine, abs=1e-6)


def test_sharing_more_stems_scores_more_and_unrelated_notes_nothing(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    query = "deploying the staging gateway"
    both = make_note("x", "we deploy a gateway to staging nightly")
    one = make_note("y", "the gateway was replaced on Friday evening")
    none = make_note("z", "tea is best at eighty degrees, boiled slowly")
    index = make_index(both, one, none)
    found = {}
    for note in (both, one, none):
        explanation = index.explain(query, note.id)
        assert explanation is not None
        found[note.id] = explanation.hit.breakdown
    assert found[both.id].vector_score == 1.0
    assert 0.1 < found[one.id].vector_score < 0.7
    assert found[none.id].vector_score == 0.0
    assert found[none.id].raw_vector() == 0.0
    assert index.result(query).hits[0].note is both


@pytest.mark.slow
def test_a_huge_note_is_indexed_and_does_not_slow_the_rest(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    huge = make_note("log", " ".join(f"line{number}" for number in range(100_000)))
    index = make_index(huge, make_note("kettle", "line7 boil"))
    assert index.result("line7 boil").hits[0].note.title == "kettle"
    assert [hit.note.title for hit in index.result("line99999").hits] == ["log"]


@pytest.mark.slow
def test_importing_search_loads_no_numpy() -> None:
    code = "import sys, core.search; sys.exit('numpy' in sys.modules or 'rapidfuzz' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
