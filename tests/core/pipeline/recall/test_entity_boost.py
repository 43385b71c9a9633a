"""The entity boost helps where a note says a name in other words, and moves little where words have counted already."""

from __future__ import annotations

from statistics import fmean

import pytest
from benchmarks.retrieval_sets import named_set
from benchmarks.signals import VARIANTS, linked, measured

from core.pipeline.signals import NO_NAME, NameInQuery, NamingHit, factors, gains
from core.search.signals import Signal

SPELT = NameInQuery(1.0, "redis", 0.5, spelt=True)
ALIAS = NameInQuery(1.0, "pg", 0.5, spelt=False)
NEIGHBOUR = NameInQuery(0.5, "Invoicer - uses - Stripe", 0.5, spelt=False)


def raised(*hits: tuple[float, float, NameInQuery]) -> list[float]:
    named = [NamingHit(*hit) for hit in hits]
    return [hit.score + gain for hit, gain in zip(named, gains(0.15, named), strict=True)]


@pytest.mark.slow
def test_questions_by_other_names_find_more_with_the_boost_than_without() -> None:
    data = named_set()
    with linked(data) as parts:
        plain, _ = measured(data, parts, None)
        found, _ = measured(data, parts, dict(VARIANTS)["all signals"])
    assert fmean(found.gains) > fmean(plain.gains) + 0.1
    assert all(after >= before for before, after in zip(plain.gains, found.gains, strict=True))


def test_an_alias_gains_the_whole_boost_a_neighbour_half_and_a_name_in_the_own_words_a_part() -> None:
    assert raised((0.5, 0.2, ALIAS)) == [pytest.approx(0.65)]
    assert raised((0.5, 0.2, NEIGHBOUR)) == [pytest.approx(0.575)]
    assert raised((0.5, 0.2, SPELT)) == [pytest.approx(0.5 + 0.15 / 8)]
    assert raised((0.5, 0.2, NO_NAME)) == [0.5]


def test_a_name_takes_no_note_past_one_that_holds_more_of_the_query() -> None:
    best, named = raised((0.9, 0.8, NO_NAME), (0.85, 0.5, NEIGHBOUR))
    assert named == pytest.approx(0.9)
    assert named < best
    # What an alias stands for counts as held.
    best, named = raised((0.9, 0.6, NO_NAME), (0.85, 0.5, ALIAS))
    assert named > best
    # Words of the query have counted: by them no note passes one that holds as much.
    best, named = raised((0.51, 0.5, NO_NAME), (0.5, 0.5, SPELT))
    assert named < best


def test_notes_with_the_same_name_keep_their_order_at_the_top() -> None:
    found = raised((1.1, 0.3, NO_NAME), (1.05, 0.3, ALIAS), (1.0, 0.3, ALIAS), (0.99, 0.3, ALIAS))
    assert found[1] > found[0]
    assert found[1] > found[2] > found[3]
    assert found[1] == pytest.approx(1.1)


def test_a_decision_passes_none_that_holds_more_of_the_query() -> None:
    hits = [NamingHit(0.9, 0.8, SPELT), NamingHit(0.85, 0.5, SPELT)]
    assert factors(hits, [1.0, 1.2]) == [1.0, pytest.approx(0.9 / 0.85)]
    hits = [NamingHit(0.9, 0.5, SPELT), NamingHit(0.85, 0.5, SPELT)]
    assert factors(hits, [1.0, 1.2])[1] == pytest.approx(1 / 0.85)


def test_a_score_above_one_is_raised_just_past_the_best_hit() -> None:
    assert Signal("entity", added=0.15, ceiling=1.2).applied(1.1) == pytest.approx(1.2)
    assert Signal("entity", added=0.15).applied(1.1) == 1.1
