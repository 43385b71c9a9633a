"""When a worker looks again, and when a failed job may run again."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.pipeline.queue import (
    longest_jitter_ms,
    outage_rest_ms,
    poll_delay_ms,
    retry_window_seconds,
    run_after_ms,
)

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "backoff.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTORS["worker_backoff"], ids=lambda vector: vector["id"])
def test_the_delay_is_the_documented_one(vector: dict[str, Any]) -> None:
    # The vectors also give the delay of a later version with a cap of 15 s; the documented 30 s stand.
    failures, poll = vector["input"]["consecutive_failures"], vector["input"]["pollMs"]
    expected = vector["expected"]
    assert poll_delay_ms(failures, poll_ms=poll) == expected["delay_ms_seed"]
    assert longest_jitter_ms(failures) == expected["jitter_max_ms"]
    longest = expected["delay_ms_seed"] + expected["jitter_max_ms"]
    assert poll_delay_ms(failures, poll_ms=poll, chance=1.0) == longest


@pytest.mark.parametrize("vector", VECTORS["worker_retry_window"], ids=lambda vector: vector["id"])
def test_a_job_rests_for_the_documented_window(vector: dict[str, Any]) -> None:
    attempts, seconds = vector["input"]["attempts"], vector["expected"]["eligible_after_seconds_gt"]
    assert retry_window_seconds(attempts) == seconds


@pytest.mark.parametrize(("attempts", "seconds"), [(0, 0), (2, 20), (3, 40), (6, 120), (10**9, 120)])
def test_the_window_grows_up_to_two_minutes(attempts: int, seconds: int) -> None:
    assert retry_window_seconds(attempts) == seconds
    assert run_after_ms(5, attempts) == 5 + 1000 * seconds


@pytest.mark.parametrize("chance", [-1.0, math.nan])
def test_a_chance_outside_its_range_adds_nothing_that_is_not_there(chance: float) -> None:
    assert poll_delay_ms(1, poll_ms=2000, chance=chance) == 2000
    assert poll_delay_ms(1, poll_ms=2000, chance=2.0) == 2500


@given(st.integers(min_value=-5, max_value=10**12), st.integers(100, 60_000), st.floats(0, 1))
def test_a_delay_never_passes_its_cap_and_never_shrinks_with_failures(
    failures: int, poll: int, chance: float
) -> None:
    delay = poll_delay_ms(failures, poll_ms=poll, chance=chance)
    assert 0 < delay <= max(poll, 30_500)
    if failures > 0:
        assert poll_delay_ms(failures + 1, poll_ms=poll, chance=chance) >= delay


def test_a_job_rests_after_an_outage_and_longer_only_where_others_are_answered() -> None:
    assert outage_rest_ms(0, answered=False) == outage_rest_ms(0, answered=True) == 10_000
    assert outage_rest_ms(10_000, answered=False) == 10_000
    rests = [10_000]
    for _ in range(20):
        rests.append(outage_rest_ms(rests[-1], answered=True))
    assert rests[:4] == [10_000, 20_000, 40_000, 80_000]
    assert max(rests) == rests[-1] == 3_600_000
