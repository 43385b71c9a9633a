"""The light: grey says how to start, red says that nothing comes of the work, and each has its words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.pipeline.modes import Mode
from core.pipeline.queue import STUCK_AFTER_MS, StateInputs, pipeline_state
from core.pipeline.records import PipelineState, ProviderHealth

NOW = 1_700_000_000_000
HEALTHY = ProviderHealth("ollama", "qwen3:4b", "healthy", 0, 0, NOW, "", 0, 2_000, None, 0)
QUIET = StateInputs(Mode.CONTROLLED_WRITE, False, False, HEALTHY, NOW)


def state(**given: Any) -> PipelineState:
    return pipeline_state(replace(QUIET, **given))[0]


def why(**given: Any) -> str:
    return pipeline_state(replace(QUIET, **given))[1]


def provider(**given: Any) -> ProviderHealth:
    return replace(HEALTHY, **given)


def test_nothing_to_do_is_idle() -> None:
    assert state() is PipelineState.IDLE


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
    assert "run `ollama serve`; 2 texts are waiting" in why(model_named=False, **waits)
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


@pytest.mark.parametrize("given", [{"waiting": 1}, {"running": 1}, {"outbox": 1}])
def test_work_that_something_comes_of_is_working(given: dict[str, int]) -> None:
    assert state(**given, since=NOW - 2 * STUCK_AFTER_MS, progress=NOW - 1_000) is PipelineState.WORKING


def test_work_is_counted_in_words() -> None:
    words = why(waiting=1_200, running=1, outbox=2, since=NOW)
    assert words == "1 job running, 1,200 jobs waiting, 2 notes to write"


def test_proposals_wait_for_a_person() -> None:
    assert state(proposals_open=2) is PipelineState.REVIEW
    assert why(proposals_open=2) == "2 proposals wait for your decision"


def test_proposals_wait_for_a_person_also_without_a_model() -> None:
    off = provider(name="none", model="", state="off")
    assert state(provider=off, proposals_open=2) is PipelineState.REVIEW
    assert "2 proposals wait for your decision" in why(provider=off, proposals_open=2, waiting=1)
    assert "1 job is waiting" in why(provider=off, proposals_open=2, waiting=1)


@pytest.mark.parametrize("given", [{"waiting": 1}, {"running": 1}, {"outbox": 1}])
def test_work_that_nothing_comes_of_turns_red_after_five_minutes(given: dict[str, int]) -> None:
    assert state(**given, since=NOW - STUCK_AFTER_MS) is PipelineState.WORKING
    assert state(**given, since=NOW - STUCK_AFTER_MS - 1) is PipelineState.STUCK


@pytest.mark.parametrize(
    ("quiet", "told"), [(6 * 60_000, "6 min"), (7 * 3_600_000, "7 h"), (540_786 * 60_000, "12 mo")]
)
def test_red_says_for_how_long_in_the_largest_unit(quiet: int, told: str) -> None:
    assert f"nothing has been written for {told};" in why(waiting=1, since=NOW - quiet)


def test_red_names_what_keeps_it() -> None:
    since = NOW - 2 * STUCK_AFTER_MS
    away = provider(state="open", failures=4, last_error="connection refused")
    assert "connection refused" in why(waiting=1, since=since, provider=away)
    assert "ollama serve" in why(waiting=1, since=since, provider=away)
    assert "nuggets daemon" in why(waiting=1, since=since)
    assert "nuggets verify" in why(outbox=1, since=since)


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
        outbox=counts,
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
    assert shown is not PipelineState.IDLE or not (inputs.waiting or inputs.outbox or inputs.running)


def test_dead_jobs_are_told_whatever_a_model_said_last() -> None:
    failing = provider(state="open", last_error="the deadline of this call is over, the connection is dead")
    said = why(provider=failing, waiting=2, since=NOW, dead=3, progress=NOW)
    assert "3 jobs failed for good" in said


def test_dead_jobs_are_told_once() -> None:
    assert why(dead=1, died=NOW, progress=0).count("failed") == 1
