"""Scores of each domain and of all, as documented; what nothing is known of is unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model.names import duration
from core.pipeline.health import scoring
from core.pipeline.health.records import HealthDomain, MaintenanceAction
from core.pipeline.health.scoring import (
    DuplicateFigures,
    Figures,
    IndexFigures,
    MutationFigures,
    ProviderFigures,
    QueueFigures,
    StorageFigures,
    all_domains,
    composite,
    overall,
)

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "maintenance.json").read_text(encoding="utf-8"))
counts = st.integers(0, 10**6)
shares = st.floats(0, 1)


def domain_of(given: dict[str, Any]) -> HealthDomain:
    """The domain that a vector's input describes; its rows of an index beyond the active ones are entries of no row."""
    match given:
        case {"queue": queue}:
            names = ("depth", "dead_rate", "oldest_age_s")
            return scoring.queue_domain(
                QueueFigures(**{name: queue[name] for name in names}, stale_leases=queue["lease_anomalies"])
            )
        case {"storage": storage}:
            return scoring.storage_domain(StorageFigures(storage["total"], storage["tombstones"]))
        case {"index": index}:
            difference = index["fts_rows"] - index["active"]
            figures = IndexFigures(
                index["active"], max(0, -difference), max(0, difference), index["embedded"]
            )
            return scoring.index_domain(figures)
        case {"provider_ring": {}}:
            return scoring.provider_domain(ProviderFigures())
        case {"recoveries_last_7d": undone}:
            return scoring.mutation_domain(MutationFigures(undone))
    raise AssertionError(given)


def test_each_domain_has_the_documented_score() -> None:
    for vector in [
        one for one in VECTORS["diagnostics"] if not {"composite_domain_scores", "note"} & set(one["input"])
    ]:
        found, expected = domain_of(vector["input"]), vector["expected"]
        assert found.status == expected["status"]
        assert found.score == expected.get("score")
        if "coverage" in expected:
            assert found.figures["coverage"] == expected["coverage"]
            assert ("index_mismatch" in found.problems) is expected["fts_mismatch"]


@pytest.mark.parametrize(
    "vector",
    [one for one in VECTORS["diagnostics"] if "composite_domain_scores" in one["input"]],
    ids=lambda vector: vector["id"],
)
def test_the_score_of_all_goes_by_the_documented_weights(vector: dict[str, Any]) -> None:
    assert dict(scoring.WEIGHTS) == vector["input"]["weights"]
    assert composite(vector["input"]["composite_domain_scores"]) == vector["expected"]["composite"]


def test_rows_that_cannot_be_found_are_a_mismatch_though_the_counts_agree() -> None:
    assert IndexFigures(active=10, missing=1, extra=1).mismatch
    assert IndexFigures(active=5, missing=0, extra=6).mismatch
    assert not IndexFigures(active=10, missing=0, extra=1).mismatch


def test_what_nothing_is_known_of_does_not_count() -> None:
    assert composite({"queue": 0.5, "provider": None}) == 0.5
    assert composite({}) == 1.0
    score, status = overall(all_domains(Figures()))
    assert (score, status) == (1.0, "healthy")


def test_how_long_a_job_has_waited_is_said_as_every_other_duration() -> None:
    for seconds, said in ((301, "5 min"), (7_200, "2 h"), (400 * 86_400, "13 mo")):
        found = scoring.queue_domain(QueueFigures(oldest_age_s=seconds))
        assert found.said == f"The oldest waiting job has waited for {said}."
        assert said == duration(seconds)


def test_all_is_not_healthy_while_one_domain_is_unhealthy_however_little_it_weighs() -> None:
    figures = Figures(queue=QueueFigures(51, 3, 0.5), provider=ProviderFigures(100, 100))
    score, status = overall(all_domains(figures))
    assert score >= scoring.HEALTHY
    assert status == "degraded"


def test_all_is_not_healthy_while_something_is_to_be_repaired() -> None:
    domains = all_domains(Figures(queue=QueueFigures(dead=1, dead_rate=0.1), provider=ProviderFigures(9, 9)))
    assert overall(domains)[1] == "healthy"
    assert overall(domains, [MaintenanceAction.REQUEUE])[1] == "degraded"


@given(
    st.builds(QueueFigures, counts, counts, shares, st.floats(0, 10**7), counts),
    st.builds(IndexFigures, counts, counts, counts, st.none() | counts),
    st.builds(DuplicateFigures, counts, counts, counts),
    st.integers(0, 100).flatmap(
        lambda calls: st.builds(ProviderFigures, st.just(calls), st.integers(0, calls))
    ),
)
def test_any_figures_give_a_score_from_0_to_1_and_a_sentence(
    queue: QueueFigures, index: IndexFigures, duplicate: DuplicateFigures, provider: ProviderFigures
) -> None:
    found = all_domains(Figures(queue, StorageFigures(), index, provider, MutationFigures(), duplicate))
    for one in found:
        assert one.score is None or 0 <= one.score <= 1
        assert (one.score is None) is (one.status == "unknown")
        assert one.said.endswith(".")
        assert one.said[0] == one.said[0].upper()
        # A deduction is named, and nothing is named that took nothing.
        if one.name != "provider":
            assert bool(one.problems) is (one.score != 1.0)
    score, _ = overall(found)
    assert 0 <= score <= 1
