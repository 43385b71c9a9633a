"""Which repairs are recommended, and whether one may run."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.pipeline.health.records import Gate, MaintenanceAction
from core.pipeline.health.rules import DAY_MS, Asked, Limits, Recent, gate, limits_of, recommended
from core.pipeline.health.scoring import DuplicateFigures, Figures, IndexFigures, QueueFigures, StorageFigures
from core.settings.pipeline_sections import PipelineConfiguration, RepairPart

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "maintenance.json").read_text(encoding="utf-8"))
BY_ID = {one["id"]: one for one in VECTORS["maintenance"]}
LIMITS = Limits(60_000, 50)
NEVER = Recent()


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
        queue=QueueFigures(
            dead_rate=report.get("dead_rate", 0), stale_leases=report.get("lease_anomalies", 0)
        ),
        storage=StorageFigures(100, round(100 * report.get("tombstone_ratio", 0))),
        index=IndexFigures(10, missing=int(report.get("fts_mismatch", False))),
    )
    assert [str(one) for one in recommended(figures)] == vector["expected"]["actions"]


def test_merges_are_proposed_only_for_duplicates_of_which_nobody_was_asked() -> None:
    asked = Figures(duplicate=DuplicateFigures(100, 20, 0))
    assert recommended(asked) == ()
    unasked = Figures(duplicate=DuplicateFigures(100, 20, 6))
    assert recommended(unasked) == (MaintenanceAction.MERGES,)


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
    found = {action: limits_of(action, configuration) for action in MaintenanceAction}
    assert found[MaintenanceAction.REQUEUE] == (5_000, 1)
    assert found[MaintenanceAction.MERGES] == (10_000, 2)
    assert found[MaintenanceAction.REEMBED] == (20_000, 3)


def test_what_another_process_took_from_its_clock_meanwhile_counts() -> None:
    # This process read its clock, then waited for the other one to write.
    assert not may(Asked(), Recent(last_at=1_003), 1_000)
    assert not may(Asked(), Recent(no_help_at=1_003), 1_000)
    found, _ = gate(Asked(), Limits(0, 1), Recent(in_hour=(1_003,)), 1_000, frozen=False, enabled=True)
    assert found is Gate.BUDGET
