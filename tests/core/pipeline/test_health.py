"""Scores of each domain and of all, as documented; which repairs are recommended, and whether one may run."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.pipeline.health import (
    DAY_MS,
    HEALTHY,
    WEIGHTS,
    Asked,
    Figures,
    Gate,
    HealthDomain,
    Limits,
    MaintenanceAction,
    Recent,
    composite,
    domains_of,
    gate,
    overall,
    recommended,
)
from core.settings.pipeline_sections import PipelineConfiguration, RepairPart

VECTORS = json.loads((Path(__file__).parent / "vectors" / "maintenance.json").read_text(encoding="utf-8"))
BY_ID = {one["id"]: one for one in VECTORS["maintenance"]}
LIMITS = Limits(60_000, 50)
NEVER = Recent()
counts = st.integers(0, 10**6)
shares = st.floats(0, 1)


def domain_of(given: dict[str, Any]) -> HealthDomain:
    """The domain that a vector's input describes; its rows of an index beyond the active ones are entries of no row."""
    match given:
        case {"queue": queue}:
            figures = Figures(
                queue["depth"], 0, queue["dead_rate"], queue["oldest_age_s"], queue["lease_anomalies"]
            )
            return health_of_domain("queue", figures)
        case {"storage": storage}:
            return health_of_domain(
                "storage", Figures(stored=storage["total"], tombstones=storage["tombstones"])
            )
        case {"index": index}:
            difference = index["fts_rows"] - index["active"]
            figures = Figures(
                active=index["active"], missing=max(0, -difference), extra=max(0, difference),
                embeddable=index["active"], embedded=index["embedded"],
            )  # fmt: skip
            return health_of_domain("index", figures)
        case {"provider_ring": {}}:
            return health_of_domain("provider", Figures())
        case {"recoveries_last_7d": undone}:
            return health_of_domain("mutation", Figures(undone=undone))
    raise AssertionError(given)


def health_of_domain(name: str, figures: Figures) -> HealthDomain:
    return next(one for one in domains_of(figures) if one.name == name)


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
    assert dict(WEIGHTS) == vector["input"]["weights"]
    assert composite(vector["input"]["composite_domain_scores"]) == vector["expected"]["composite"]


def test_rows_that_cannot_be_found_are_a_mismatch_though_the_counts_agree() -> None:
    assert Figures(active=10, missing=1, extra=1).mismatch
    assert Figures(active=5, missing=0, extra=6).mismatch
    assert not Figures(active=10, missing=0, extra=1).mismatch


def test_what_nothing_is_known_of_does_not_count() -> None:
    assert composite({"queue": 0.5, "provider": None}) == 0.5
    assert composite({}) == 1.0
    score, status = overall(domains_of(Figures()))
    assert (score, status) == (1.0, "healthy")


def test_all_is_not_healthy_while_one_domain_is_unhealthy_however_little_it_weighs() -> None:
    figures = Figures(51, 3, 0.5, calls=100, successes=100)
    score, status = overall(domains_of(figures))
    assert score >= HEALTHY
    assert status == "degraded"


def test_all_is_not_healthy_while_something_is_to_be_repaired() -> None:
    domains = domains_of(Figures(dead=1, dead_rate=0.1, calls=9, successes=9))
    assert overall(domains)[1] == "healthy"
    assert overall(domains, [MaintenanceAction.REQUEUE])[1] == "degraded"


@given(
    st.builds(
        Figures,
        depth=counts,
        dead=counts,
        dead_rate=shares,
        oldest_age_s=st.floats(0, 10**7),
        stale_leases=counts,
        retryable=st.none() | counts,
        stored=counts,
        tombstones=counts,
        active=counts,
        missing=counts,
        extra=counts,
        embeddable=counts,
        embedded=st.none() | counts,
        calls=st.integers(100, 200),
        successes=st.integers(0, 100),
        undone=counts,
        facts=counts,
        duplicates=counts,
        undecided=counts,
    )
)
def test_any_figures_give_a_score_from_0_to_1_and_a_sentence(figures: Figures) -> None:
    for one in domains_of(figures):
        assert one.score is not None
        assert 0 <= one.score <= 1
        assert one.said.endswith(".")
        assert one.said[0] == one.said[0].upper()
        # A deduction is named, and nothing is named that took nothing.
        if one.name != "provider":
            assert bool(one.problems) is (one.score != 1.0)
    score, _ = overall(domains_of(figures), recommended(figures))
    assert 0 <= score <= 1


# What may run


def may(asked: Asked, recent: Recent = NEVER, now: int = 0, **switches: bool) -> bool:
    known = {"frozen": False, "enabled": True} | switches
    return gate(asked, LIMITS, recent, now, frozen=known["frozen"], enabled=known["enabled"])[0] is Gate.OPEN


@pytest.mark.parametrize(
    "vector",
    [one for one in VECTORS["maintenance"] if "report" in one["input"]],
    ids=lambda vector: vector["id"],
)
def test_what_is_recommended_is_documented(vector: dict[str, Any]) -> None:
    report = vector["input"]["report"]
    figures = Figures(
        dead_rate=report.get("dead_rate", 0), stale_leases=report.get("lease_anomalies", 0), stored=100,
        tombstones=round(100 * report.get("tombstone_ratio", 0)), active=10,
        missing=int(report.get("fts_mismatch", False)),
    )  # fmt: skip
    assert [str(one) for one in recommended(figures)] == vector["expected"]["actions"]


def test_between_two_runs_lies_the_cooldown() -> None:
    vector = BY_ID["maintenance.15"]
    limits, last, allowed = Limits(vector["input"]["cooldown_ms"], 50), None, []
    for at in vector["input"]["calls_at_ms"]:
        found, _ = gate(Asked(), limits, Recent(last_at=last), at, frozen=False, enabled=True)
        allowed.append(found is Gate.OPEN)
        last = at if allowed[-1] else last
    assert allowed == vector["expected"]["allowed"]


def test_a_freeze_holds_for_everyone_and_the_switch_for_what_runs_unattended() -> None:
    person, worker, forced = Asked(), Asked(unattended=True), Asked(forced=True)
    assert may(person, frozen=True) is BY_ID["maintenance.17"]["expected"]["allowed"]
    assert not may(worker, frozen=True)
    assert not may(forced, frozen=True)
    assert may(person, enabled=False) is BY_ID["maintenance.19"]["expected"]["allowed"]
    assert not may(worker, enabled=False)


def test_nobody_passes_the_limits_but_a_person_who_forces_it() -> None:
    recent = Recent(last_at=0, in_hour=(0,), no_help_at=0)
    assert may(Asked(forced=True), recent, 1)
    assert not may(Asked(), recent, 1)
    assert not may(Asked(unattended=True), recent, 1)
    assert not may(Asked(unattended=True, forced=True), recent, 1)


def test_what_bettered_nothing_is_not_tried_again_for_a_day() -> None:
    assert BY_ID["maintenance.11"]["expected"]["fourth_run"] == "halted"
    ran = Recent(last_at=0, no_help_at=0)
    for at, found in ((LIMITS.cooldown_ms, Gate.TRIED), (DAY_MS - 1, Gate.TRIED), (DAY_MS, Gate.OPEN)):
        assert gate(Asked(), LIMITS, ran, at, frozen=False, enabled=True)[0] is found


@given(
    st.lists(st.integers(0, 7_200_000), max_size=40).map(sorted), st.integers(1, 5), st.integers(0, 600_000)
)
def test_no_hour_has_more_runs_than_its_budget_and_no_two_are_nearer_than_the_cooldown(
    asked_at: list[int], budget: int, cooldown: int
) -> None:
    ran: list[int] = []
    for now in asked_at:
        recent = Recent(ran[-1] if ran else None, tuple(at for at in ran if now - at < 3_600_000))
        found, until = gate(Asked(), Limits(cooldown, budget), recent, now, frozen=False, enabled=True)
        if found is Gate.OPEN:
            ran.append(now)
        else:
            assert until > now
    assert all(later - earlier >= cooldown for earlier, later in pairwise(ran))
    assert all(sum(at - 3_600_000 < one <= at for one in ran) <= budget for at in ran)


def test_a_clock_that_was_set_back_holds_nothing_up() -> None:
    assert may(Asked(), Recent(last_at=10**9, in_hour=(10**9,) * 99, no_help_at=10**9), 5)


def test_each_repair_goes_by_its_own_limits() -> None:
    part = RepairPart(
        requeue_cooldown_ms=5_000, requeue_hourly_budget=1, dedup_cooldown_ms=10_000, dedup_hourly_budget=2,
        reembed_cooldown_ms=20_000, reembed_hourly_budget=3,
    )  # fmt: skip
    configuration = PipelineConfiguration(repair=part)
    found = {action: Limits.of(action, configuration) for action in MaintenanceAction}
    assert found[MaintenanceAction.REQUEUE] == (5_000, 1)
    assert found[MaintenanceAction.MERGES] == (10_000, 2)
    assert found[MaintenanceAction.REEMBED] == (20_000, 3)


def test_what_another_process_took_from_its_clock_meanwhile_counts() -> None:
    # This process read its clock, then waited for the other one to write.
    assert not may(Asked(), Recent(last_at=1_003), 1_000)
    assert not may(Asked(), Recent(no_help_at=1_003), 1_000)
    found, _ = gate(Asked(), Limits(0, 1), Recent(in_hour=(1_003,)), 1_000, frozen=False, enabled=True)
    assert found is Gate.BUDGET
