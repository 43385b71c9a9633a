"""When a worker looks again and a failed job may run again, how errors count, and the status in words."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BrokenFileError, InvalidInputError, LockTimeoutError, NuggetsError, StorageError
from core.pipeline.models.provider import (
    AskedToWaitError,
    BreakerOpenError,
    BudgetSpentError,
    CommandFailedError,
    EmptyAnswerError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelTimeoutError,
    ModelUnavailableError,
    TruncatedAnswerError,
    UnreadableAnswerError,
)
from core.pipeline.modes import Mode
from core.pipeline.queue import (
    failure_of,
    outage_rest_ms,
    poll_delay_ms,
    retry_window_seconds,
    run_after_ms,
)
from core.pipeline.records import PipelineState, ProviderHealth
from core.pipeline.workers.status import STUCK_AFTER_MS, StateInputs, pipeline_state

VECTORS = json.loads((Path(__file__).parent / "vectors" / "backoff.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTORS["worker_backoff"], ids=lambda vector: vector["id"])
def test_the_delay_is_the_documented_one(vector: dict[str, Any]) -> None:
    # The vectors also give the delay of a later version with a cap of 15 s; the documented 30 s stand.
    failures, poll = vector["input"]["consecutive_failures"], vector["input"]["pollMs"]
    expected = vector["expected"]
    assert poll_delay_ms(failures, poll_ms=poll) == expected["delay_ms_seed"]
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


# What becomes of the job: "again" by its own attempts, "dead" at once, "outage" waited out, "refused" as if not taken,
# "doubtful" the job or the provider, "machine" nobody's fault; and whether the next job would meet the same.
@pytest.mark.parametrize(
    ("error", "name", "becomes", "spreads"),
    [
        (ModelTimeoutError("late"), "timeout", "doubtful", True),
        (CommandFailedError("exit 1"), "command_failed", "doubtful", True),
        (ModelHttpError("closed the connection"), "http", "outage", True),
        *((ModelHttpError("no", status=one), "http", "outage", True) for one in (401, 429, 500, 529)),
        (ModelUnavailableError("no command `claude`"), "unavailable", "outage", True),
        (AskedToWaitError("usage limit reached"), "asked_to_wait", "outage", True),
        (ModelMissingError("no such model", status=404), "model_missing", "outage", True),
        (ModelHttpError("what?", status=400), "bad_request", "dead", False),
        (EmptyAnswerError("nothing"), "empty", "again", False),
        (UnreadableAnswerError("no JSON"), "parse", "again", False),
        (TruncatedAnswerError("cut off"), "truncated", "again", False),
        (BreakerOpenError("spared", until=5), "breaker_open", "refused", True),
        (BudgetSpentError("spent", until=5), "budget_spent", "refused", True),
        (LockTimeoutError("busy"), "busy", "machine", True),
        (StorageError("disk full"), "storage", "machine", True),
        (BrokenFileError("graph.json"), "broken_file", "machine", True),
        (InvalidInputError("empty"), "invalid", "dead", False),
        (KeyError("x"), "bug", "again", False),
    ],
)
def test_each_error_says_what_becomes_of_its_job(
    error: Exception, name: str, becomes: str, spreads: bool
) -> None:
    said = error.during("LLM extraction failed") if isinstance(error, ModelError) else error
    failure = failure_of(said)
    assert (failure.error_class, failure.spreads) == (name, spreads)
    assert failure.permanent is (becomes == "dead")
    assert failure.counts is (becomes in ("again", "dead", "doubtful"))
    assert (failure.outage, failure.refused, failure.doubtful) == tuple(
        becomes == one for one in ("outage", "refused", "doubtful")
    )
    assert "LLM extraction failed" in failure.message or not isinstance(error, ModelError)


def test_a_mistake_of_the_program_is_told_as_one_and_bounded_by_the_attempts() -> None:
    failure = failure_of(KeyError("x"))
    assert (failure.error_class, failure.counts, failure.permanent) == ("bug", True, False)
    assert "bug in nuggets" in failure.message


def test_an_error_may_name_its_own_class() -> None:
    class DroppedError(NuggetsError):
        error_class = "dropped_from_llm_output"

    assert failure_of(DroppedError("2 of 3")).error_class == "dropped_from_llm_output"


NOW = 1_700_000_000_000
HEALTHY = ProviderHealth("ollama", "qwen3:4b", "healthy", 0, 0, NOW, "", 0, 2_000, None, 0)
QUIET = StateInputs(Mode.CONTROLLED_WRITE, False, False, HEALTHY, NOW)


def state(**given: Any) -> PipelineState:
    return pipeline_state(replace(QUIET, **given))[0]


def why(**given: Any) -> str:
    return pipeline_state(replace(QUIET, **given))[1]


def provider(**given: Any) -> ProviderHealth:
    return replace(HEALTHY, **given)


def test_without_a_model_it_is_grey_and_says_how_to_start() -> None:
    off = provider(name="none", model="", state="off")
    assert state(provider=off, waiting=3, since=0) is PipelineState.OFF
    assert "ollama serve" in why(provider=off)
    assert "settings.toml" in why(provider=off)


@pytest.mark.parametrize("kind", ["unavailable", "model_missing"])
def test_where_nobody_named_a_model_and_there_never_was_one_it_is_grey_and_says_how_to_start(
    kind: str,
) -> None:
    away = provider(
        state="open", failures=9, last_error="run `ollama serve`", last_error_kind=kind, last_ok_at=None
    )
    waits = {"waiting": 2, "since": NOW - 2 * STUCK_AFTER_MS, "provider": away}
    assert state(model_named=False, **waits) is PipelineState.OFF
    told = why(model_named=False, **waits)
    assert all(one in told for one in ("ollama serve", "nuggets pipeline setup", "2 texts are waiting"))
    # One that a person named, and one that has answered before, are missed.
    assert state(**waits) is PipelineState.STUCK
    assert (
        state(model_named=False, **waits | {"provider": replace(away, last_ok_at=NOW)}) is PipelineState.STUCK
    )


def test_switched_off_it_is_grey_and_says_how_to_switch_it_on() -> None:
    assert state(mode=Mode.OFF, waiting=3, since=0) is PipelineState.OFF
    assert "enabled = true" in why(mode=Mode.OFF)


def test_a_file_that_cannot_be_read_is_what_keeps_it_off() -> None:
    wrong = "agent.yaml: the pipeline's configuration cannot be read (PyYAML is not installed)"
    assert state(mode=Mode.OFF, unreadable=wrong) is PipelineState.OFF
    assert why(mode=Mode.OFF, unreadable=wrong, waiting=1) == f"{wrong}; 1 text is waiting"
    assert why(unreadable=wrong) == why()


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"mode": Mode.SHADOW, "frozen": True, "held": 2}, "mutations_frozen"),
        ({"paused": True}, "paused by hand"),
        ({"waiting": 1, "since": NOW, "provider": provider(calls_today=2_000)}, "tomorrow"),
        ({"waiting": 1, "since": NOW, "provider": provider(state="open", last_error="refused")}, "refused"),
    ],
)
def test_what_waits_on_purpose_is_paused_and_says_why(given: dict[str, Any], word: str) -> None:
    assert state(**given) is PipelineState.PAUSED
    assert word in why(**given)


def test_what_is_frozen_says_that_texts_are_kept_and_what_a_person_can_decide_meanwhile() -> None:
    said = why(mode=Mode.SHADOW, frozen=True, held=2, proposals_open=3)
    assert said.startswith("frozen: texts are kept, none is read")
    assert said.endswith("; 2 texts are waiting; 3 proposals wait for your decision")


@pytest.mark.parametrize("given", [{"waiting": 1}, {"running": 1}])
def test_work_that_something_comes_of_is_working(given: dict[str, int]) -> None:
    assert state(**given, since=NOW - 2 * STUCK_AFTER_MS, progress=NOW - 1_000) is PipelineState.WORKING


def test_proposals_wait_for_a_person_also_without_a_model() -> None:
    off = provider(name="none", model="", state="off")
    assert state(provider=off, proposals_open=2) is PipelineState.REVIEW
    assert "2 proposals wait for your decision" in why(provider=off, proposals_open=2, waiting=1)
    assert "1 job is waiting" in why(provider=off, proposals_open=2, waiting=1)


@pytest.mark.parametrize("given", [{"waiting": 1}, {"running": 1}])
def test_work_that_nothing_comes_of_turns_red_after_five_minutes(given: dict[str, int]) -> None:
    assert state(**given, since=NOW - STUCK_AFTER_MS) is PipelineState.WORKING
    assert state(**given, since=NOW - STUCK_AFTER_MS - 1) is PipelineState.STUCK


def test_red_names_what_keeps_it() -> None:
    since = NOW - 2 * STUCK_AFTER_MS
    away = provider(state="open", failures=4, last_error="connection refused")
    assert "connection refused" in why(waiting=1, since=since, provider=away)
    assert "ollama serve" in why(waiting=1, since=since, provider=away)
    assert "nuggets daemon" in why(waiting=1, since=since)


def test_a_dead_job_is_red_until_something_is_written_and_never_hidden() -> None:
    assert state(dead=1, died=NOW, died_of="timeout") is PipelineState.STUCK
    assert "timeout" in why(dead=1, died=NOW, died_of="timeout")
    assert state(dead=1, died=NOW, progress=NOW + 1) is PipelineState.IDLE
    assert "1 job failed for good" in why(dead=1, died=NOW, progress=NOW + 1)


def test_many_texts_without_a_single_fact_are_red() -> None:
    assert state(read=9) is PipelineState.IDLE
    assert state(read=10) is PipelineState.STUCK
    assert state(read=10, facts=1) is PipelineState.IDLE
    assert state(read=10, mode=Mode.SHADOW) is PipelineState.IDLE


counts = st.integers(min_value=0, max_value=10**7)
moments = st.none() | st.integers(min_value=0, max_value=2 * NOW)


@given(
    st.builds(
        StateInputs,
        mode=st.sampled_from(Mode),
        frozen=st.booleans(),
        paused=st.booleans(),
        provider=st.sampled_from(["off", "unknown", "healthy", "failing", "open"]).map(
            lambda state: provider(state=state)
        ),
        now=st.just(NOW),
        waiting=counts,
        held=counts,
        running=counts,
        dead=counts,
        proposals_open=counts,
        read=counts,
        facts=counts,
        since=moments,
        progress=moments,
        died=moments,
    )
)
def test_every_standing_has_a_light_and_one_line_of_words_and_dead_jobs_are_named(
    inputs: StateInputs,
) -> None:
    shown, words = pipeline_state(inputs)
    assert isinstance(shown, PipelineState)
    assert words
    assert "\n" not in words
    assert not inputs.dead or "failed" in words
    assert shown is not PipelineState.IDLE or not (inputs.waiting or inputs.running)


def test_dead_jobs_are_told_whatever_a_model_said_last() -> None:
    failing = provider(state="open", last_error="the deadline of this call is over, the connection is dead")
    said = why(provider=failing, waiting=2, since=NOW, dead=3, progress=NOW)
    assert "3 jobs failed for good" in said
