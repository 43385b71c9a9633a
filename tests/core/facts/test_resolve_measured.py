"""Queries counted over seeded keys of many styles: what is found that should not be, and what is missed.

The rule of the original system stands beside ours as the baseline. python tests/benchmarks/recall.py prints the table.
"""

from __future__ import annotations

import pytest
from kits.recall_keys import STYLES, make_keys, measure, original_rule, resolved

pytestmark = pytest.mark.slow

MOST_NONSENSE = 0.02
SIZES = (50, 200, 512)
CASES = [(style, 200) for style in STYLES] + [
    (style, size) for style in ("scoped", "lone") for size in (50, 512)
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("style", STYLES)
def test_nonsense_is_a_miss_whatever_the_style_of_the_keys(style: str, size: int) -> None:
    for seed in (1, 2):
        keys = make_keys(size, style, seed)
        assert measure(keys, resolved(keys), 300, ("nonsense",), seed)["nonsense"] <= MOST_NONSENSE


@pytest.mark.parametrize(("style", "size"), CASES)
def test_paraphrases_and_typing_errors_are_found_at_least_as_often_as_by_the_original(
    style: str, size: int
) -> None:
    keys = make_keys(size, style)
    ours = measure(keys, resolved(keys), 50, ("paraphrase", "typo"))
    original = measure(keys, lambda query: original_rule(keys, query), 50, ("paraphrase", "typo"))
    assert ours["paraphrase"] >= max(original["paraphrase"], 0.9)
    # One query of fifty: camelCase leaves the original's comparison of letters no words to lose.
    assert ours["typo"] >= max(original["typo"] - 0.02, 0.85)


def test_a_key_of_one_letter_swallows_nothing() -> None:
    keys = make_keys(200, "crowded")
    assert "a" in keys
    assert measure(keys, lambda query: original_rule(keys, query), 40, ("nonsense",))["nonsense"] > 0.8
    assert measure(keys, resolved(keys), 300, ("nonsense", "half_known")) == pytest.approx(
        {"nonsense": 0, "half_known": 0}, abs=MOST_NONSENSE
    )
