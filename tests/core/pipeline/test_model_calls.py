"""Asking a model: guarded, bounded, put down, spared after failures, and replaced only where that is wanted."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kits.fake_ollama import FakeOllama, Reply
from kits.scripted_model import ScriptedModel
from kits.written_configuration import read_configuration

from core.pipeline.database.calls import LONGEST_PAUSE_MS, pause_ms
from core.pipeline.database.connection import Database
from core.pipeline.model_calls import ModelCaller
from core.pipeline.models.provider import (
    AVAILABLE,
    Answer,
    Availability,
    BreakerOpenError,
    BudgetSpentError,
    CallRefusedError,
    EmptyAnswerError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelTimeoutError,
    ModelUnavailableError,
    Schema,
    TruncatedAnswerError,
    UnreadableAnswerError,
)

NOON = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)
SECONDS = 30.0


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    moment: datetime = NOON

    def __call__(self) -> datetime:
        return self.moment

    def move(self, milliseconds: int) -> None:
        self.moment += timedelta(milliseconds=milliseconds)

    @property
    def now(self) -> int:
        return int(self.moment.timestamp() * 1000)


@dataclass
class Model(ScriptedModel):
    """A scripted model with a name, that may be away."""

    name: str = "ollama"
    model: str = "qwen3:4b"
    found: Availability = AVAILABLE
    looks: list[str] = field(default_factory=list)

    @property
    def identity(self) -> str:
        return f"{self.name} {self.model}"

    def available(self) -> Availability:
        self.looks.append(self.name)
        return self.found


@pytest.fixture(autouse=True)
def _a_slow_machine_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.pipeline.models.ollama.AVAILABLE_SECONDS", 60.0)


@pytest.fixture
def at() -> Clock:
    return Clock()


def down(told: str = "connection refused") -> ModelError:
    return ModelUnavailableError(told)


def failing(status: int | None = 500) -> ModelError:
    return ModelHttpError("it failed", status=status)


class Asked(ModelCaller):
    """Puts down how a call went at once, as a worker does at the end of a job."""

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        try:
            return super().generate(prompt, schema, deadline)
        finally:
            self.flush()


def caller(database: Database, model: Any, at: Clock, budget: int = 100, **named: Any) -> ModelCaller:
    return Asked(database, model, clock=at, budget=budget, **named).about("extract", "raw-1")


def fail(asked: ModelCaller, times: int = 1) -> list[str]:
    kinds = []
    for _ in range(times):
        with pytest.raises(ModelError) as caught:
            asked.generate("a prompt", None, SECONDS)
        kinds.append(caught.value.kind)
    return kinds


def journal(database: Database, *columns: str) -> list[tuple[Any, ...]]:
    rows = database.reading.connection.execute(f"SELECT {', '.join(columns)} FROM llm_calls ORDER BY id")
    return [tuple(row) for row in rows]


def test_a_call_is_put_down_with_what_it_was_for_what_it_cost_and_how_it_ended(
    database: Database, at: Clock
) -> None:
    def slow(prompt: str) -> Any:
        at.move(1_250)
        return Answer("{}", "qwen3:4b", "stop", 300, 20) if prompt == "first" else EmptyAnswerError("nothing")

    asked = caller(database, Model(by_prompt=slow), at)
    assert asked.generate("first", None, SECONDS).text == "{}"
    with pytest.raises(EmptyAnswerError):
        asked.about("decide", "raw-2").generate("second", None, SECONDS)
    columns = (
        "day",
        "provider",
        "model",
        "purpose",
        "raw_id",
        "latency_ms",
        "prompt_tokens",
        "answer_tokens",
    )
    assert journal(database, *columns, "outcome", "error", "fallback_for") == [
        ("2026-11-18", "ollama", "qwen3:4b", "extract", "raw-1", 1_250, 300, 20, "ok", "", ""),
        ("2026-11-18", "ollama", "qwen3:4b", "decide", "raw-2", 1_250, None, None, "empty", "nothing", ""),
    ]
    assert database.reading.calls.latency_of("raw-1", "extract") == 1_250
    assert database.reading.calls.latency_of("raw-1", "decide") is None


def test_a_call_counts_before_it_is_answered(database: Database, at: Clock) -> None:
    seen: list[Any] = []

    def looking(prompt: str) -> str:
        seen.extend(journal(database, "outcome"))
        return "{}"

    caller(database, Model(by_prompt=looking), at).generate("p", None, SECONDS)
    assert seen == [("asked",)]


def test_a_mistake_of_the_program_is_raised_as_it_is_and_put_down(database: Database, at: Clock) -> None:
    def wrong(prompt: str) -> str:
        raise KeyError("a mistake")

    with pytest.raises(KeyError):
        caller(database, Model(by_prompt=wrong), at).generate("p", None, SECONDS)
    assert journal(database, "outcome") == [("KeyError",)]


def test_the_budget_of_a_day_is_never_exceeded_by_whoever_asks(
    database: Database, at: Clock, tmp_path: Path
) -> None:
    other = Database.open(tmp_path)
    models = [Model(["{}"] * 9), Model(["{}"] * 9)]
    both = [caller(database, models[0], at, budget=5), caller(other, models[1], at, budget=5)]
    answers: list[int] = []

    def ask(asked: ModelCaller) -> None:
        for _ in range(6):
            try:
                asked.generate("p", None, SECONDS)
                answers.append(1)
            except BudgetSpentError:
                answers.append(0)

    threads = [threading.Thread(target=ask, args=(asked,)) for asked in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sum(answers), len(answers)) == (5, 12)
    assert len(models[0].prompts) + len(models[1].prompts) == 5
    other.close()


def test_a_spent_budget_says_until_when_and_the_next_day_begins_anew(
    database: Database, at: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    asked = caller(database, Model(["{}"] * 3), at, budget=1)
    asked.generate("p", None, SECONDS)
    with pytest.raises(BudgetSpentError, match="today's limit of 1 calls") as caught:
        asked.generate("p", None, SECONDS)
    midnight = datetime(2026, 11, 18, 18, 30, tzinfo=UTC)
    assert caught.value.until == midnight.timestamp() * 1000
    ready = asked.ready()
    assert (ready.ok, ready.until) == (False, caught.value.until)
    assert len(journal(database, "id")) == 1
    at.moment = midnight
    assert asked.ready().ok
    asked.generate("p", None, SECONDS)
    assert journal(database, "day") == [("2026-11-18",), ("2026-11-19",)]


def test_three_failures_in_a_row_open_the_breaker_for_every_process(
    database: Database, at: Clock, tmp_path: Path
) -> None:
    model, other = Model([failing()] * 3), Database.open(tmp_path)
    asked = caller(database, model, at)
    assert fail(asked, 3) == ["http"] * 3
    for one in (asked, caller(other, Model(["{}"]), at)):
        with pytest.raises(
            BreakerOpenError, match="ollama fails and is not asked for a while: it failed"
        ) as caught:
            one.generate("p", None, SECONDS)
        assert caught.value.until == at.now + 30_000
        assert (one.ready().ok, one.ready().until) == (False, at.now + 30_000)
    assert len(model.prompts) == 3
    assert len(journal(database, "id")) == 3
    other.close()


def test_one_answer_closes_the_breaker_and_forgets_the_failures(database: Database, at: Clock) -> None:
    asked = caller(database, Model([failing(), failing(), "{}", failing(), failing(), "{}"]), at)
    fail(asked, 2)
    assert asked.health().state == "failing"
    asked.generate("p", None, SECONDS)
    assert asked.health().state == "healthy"
    fail(asked, 2)
    asked.generate("p", None, SECONDS)


@pytest.mark.parametrize(
    "error",
    [
        failing(400),
        failing(422),
        EmptyAnswerError("nothing"),
        UnreadableAnswerError("no JSON"),
        TruncatedAnswerError("cut"),
    ],
)
def test_a_bad_answer_or_question_is_no_failure_of_the_provider(
    database: Database, at: Clock, error: ModelError
) -> None:
    asked = caller(database, Model([error] * 9), at)
    assert fail(asked, 9) == [error.kind] * 9
    assert asked.health().failures == 0


@pytest.mark.parametrize("error", [failing(None), failing(429), failing(401), ModelTimeoutError("late")])
def test_a_provider_that_is_late_or_refuses_fails(database: Database, at: Clock, error: ModelError) -> None:
    asked = caller(database, Model([error] * 9), at)
    assert fail(asked, 4) == [error.kind] * 3 + ["breaker_open"]


def test_after_the_pause_it_is_looked_at_and_one_more_failure_opens_it_for_longer(
    database: Database, at: Clock
) -> None:
    model = Model([failing()] * 4 + ["{}"])
    asked = caller(database, model, at)
    fail(asked, 3)
    at.move(30_000)
    assert asked.ready().ok
    assert model.looks == ["ollama"]
    assert fail(asked, 2) == ["http", "breaker_open"]
    assert asked.health().open_until == at.now + 60_000
    at.move(60_000)
    assert asked.ready().ok
    asked.generate("p", None, SECONDS)
    health = asked.health()
    assert (health.state, health.failures, health.last_error) == ("healthy", 0, "")


def test_pauses_grow_to_five_minutes_and_no_further() -> None:
    pauses = [pause_ms(failures) for failures in range(1, 100)]
    assert pauses[:7] == [30_000, 30_000, 30_000, 60_000, 120_000, 240_000, 300_000]
    assert max(pauses) == LONGEST_PAUSE_MS


def test_a_server_that_is_down_costs_no_call_and_no_attempt(database: Database, at: Clock) -> None:
    model = Model(found=Availability(False, "unreachable", "nobody answers; start it with `ollama serve`"))
    asked = caller(database, model, at)
    for _ in range(20):
        ready = asked.ready()
        assert not ready.ok
        assert "ollama serve" in ready.why
        at.move(ready.until - at.now)
    assert len(model.looks) == 20
    assert not model.prompts
    assert journal(database, "id") == []
    model.found, model.script = AVAILABLE, ["{}"]
    assert asked.ready().ok
    assert asked.health().state == "unknown"
    asked.generate("p", None, SECONDS)
    assert asked.health().state == "healthy"


def test_of_several_processes_one_looks_when_the_pause_is_over(
    database: Database, at: Clock, tmp_path: Path
) -> None:
    other = Database.open(tmp_path)
    beside = caller(other, Model(["{}"]), at)
    seen: list[bool] = []

    @dataclass
    class Watched(Model):
        def available(self) -> Availability:
            seen.append(beside.ready().ok)
            return AVAILABLE

    asked = caller(database, Watched([failing()] * 3), at)
    fail(asked, 3)
    at.move(30_000)
    assert asked.ready().ok
    assert seen == [False]
    assert beside.ready().ok
    other.close()


def test_a_look_that_a_crash_cut_off_does_not_last(database: Database, at: Clock) -> None:
    @dataclass
    class Killed(Model):
        def available(self) -> Availability:
            raise KeyboardInterrupt

    asked = caller(database, Killed([failing()] * 3), at)
    fail(asked, 3)
    at.move(30_000)
    with pytest.raises(KeyboardInterrupt):
        asked.ready()
    later = caller(database, Model(["{}"]), at)
    assert not later.ready().ok
    at.move(5_000)
    assert later.ready().ok


def test_who_answered_lately_is_not_looked_at_by_a_new_process(database: Database, at: Clock) -> None:
    caller(database, Model(["{}"]), at).generate("p", None, SECONDS)
    model = Model()
    assert caller(database, model, at).ready().ok
    assert not model.looks
    at.move(600_000)
    asked = caller(database, model, at)
    assert asked.ready().ok
    assert asked.about("decide").ready().ok
    assert model.looks == ["ollama"]


def test_nobody_there_is_a_refusal_and_leaves_the_provider_alone_at_once(
    database: Database, at: Clock
) -> None:
    asked = caller(database, Model([down()]), at)
    with pytest.raises(CallRefusedError, match="connection refused") as caught:
        asked.generate("p", None, SECONDS)
    assert caught.value.until == at.now + 30_000
    assert asked.health().last_error_kind == "unavailable"
    assert fail(asked) == ["breaker_open"]


def test_a_missing_model_stays_what_it_is_and_keeps_other_work_waiting(database: Database, at: Clock) -> None:
    missing = ModelMissingError("no model", todo="fetch it with `ollama pull qwen3:4b`", status=404)
    model = Model([missing], found=Availability(False, "model_missing", "no model; fetch it"))
    asked = caller(database, model, at)
    assert fail(asked, 2) == ["model_missing", "breaker_open"]
    ready = asked.ready()
    assert not ready.ok
    assert "ollama pull" in ready.why
    at.move(ready.until - at.now)
    assert "fetch it" in asked.ready().why
    at.move(300_000)
    model.found = AVAILABLE
    assert asked.ready().ok


def test_a_person_who_put_it_right_need_not_wait(database: Database, at: Clock) -> None:
    model = Model([failing()] * 3 + ["{}"])
    asked = caller(database, model, at)
    fail(asked, 3)
    asked.reset_breakers()
    assert asked.ready().ok
    assert model.looks == ["ollama"]
    assert asked.generate("p", None, SECONDS).text == "{}"


def test_another_address_or_model_is_not_spared_for_what_the_first_one_did(
    database: Database, at: Clock
) -> None:
    with FakeOllama([Reply(status=500)] * 3) as server, FakeOllama(["{}"]) as other:
        fail(Asked.of(server.configuration(), database, clock=at), 3)
        asked = Asked.of(other.configuration(), database, clock=at)
        assert asked.ready().ok
        assert asked.generate("p", None, SECONDS).text == "{}"
        assert fail(Asked.of(server.configuration(), database, clock=at)) == ["breaker_open"]
        named = Asked.of(server.configuration(model="llama3:8b"), database, clock=at)
        assert "no model llama3:8b" in named.ready().why


def test_a_clock_that_was_put_back_leaves_nobody_alone_for_ever(database: Database, at: Clock) -> None:
    asked = caller(database, Model([failing()] * 3 + ["{}"]), at)
    at.moment = NOON + timedelta(days=400)
    fail(asked, 3)
    at.moment = NOON
    assert asked.ready().ok
    assert asked.generate("p", None, SECONDS).text == "{}"


def test_without_a_model_nothing_is_ready_and_it_is_told_how_to_begin(database: Database, at: Clock) -> None:
    configuration = read_configuration({"pipeline": {"extraction": {"provider": "none"}}}).configuration
    asked = Asked.of(configuration, database, clock=at)
    assert asked.provider is None
    ready = asked.ready()
    assert (ready.ok, ready.until) == (False, 0)
    assert "extraction.provider" in ready.why
    health = asked.health()
    assert (health.name, health.state, health.budget) == ("none", "off", 2_000)
    with pytest.raises(ModelUnavailableError, match="no model is configured"):
        asked.generate("p", None, SECONDS)


@pytest.mark.parametrize("error", [failing(), failing(None), down(), ModelTimeoutError("late")])
def test_the_fallback_answers_for_a_provider_that_fails_and_that_is_put_down(
    database: Database, at: Clock, error: ModelError
) -> None:
    first, second = Model([error]), Model([Answer("{}", "haiku")], name="claude-code", model="haiku")
    asked = caller(database, first, at, fallback=second)
    assert asked.generate("p", None, SECONDS).model == "haiku"
    assert journal(database, "provider", "model", "outcome", "fallback_for") == [
        ("ollama", "qwen3:4b", error.kind, ""),
        ("claude-code", "haiku", "ok", "ollama"),
    ]
    health = asked.health()
    assert (health.name, health.fallbacks_today, health.calls_today) == ("ollama", 1, 2)
    assert health.state in ("failing", "open")
    assert health.last_error


def test_without_a_fallback_in_the_configuration_no_other_provider_is_asked(
    at: Clock, database: Database
) -> None:
    assert Asked.of(read_configuration().configuration, database, clock=at).fallback is None
    table = {"extraction": {"fallbackProvider": "claude-code"}}
    asked = Asked.of(read_configuration({"pipeline": table}).configuration, database, clock=at)
    assert asked.fallback is not None
    assert (asked.fallback.name, asked.fallback.model) == ("claude-code", "haiku")
    same = {"extraction": {"fallbackProvider": "ollama"}}
    assert Asked.of(read_configuration({"pipeline": same}).configuration, database, clock=at).fallback is None


@pytest.mark.parametrize(
    "error", [EmptyAnswerError("nothing"), UnreadableAnswerError("no JSON"), failing(400)]
)
def test_a_bad_answer_is_not_taken_to_the_fallback(database: Database, at: Clock, error: ModelError) -> None:
    second = Model(["{}"], name="claude-code")
    assert fail(caller(database, Model([error]), at, fallback=second)) == [error.kind]
    assert not second.prompts


def test_while_the_breaker_is_open_the_fallback_is_asked_and_work_goes_on(
    database: Database, at: Clock
) -> None:
    first, second = Model([failing()] * 3), Model(["{}"] * 9, name="claude-code")
    asked = caller(database, first, at, fallback=second)
    for _ in range(5):
        asked.generate("p", None, SECONDS)
    assert (len(first.prompts), len(second.prompts)) == (3, 5)
    assert asked.ready().ok


def test_two_providers_that_fail_are_both_told(database: Database, at: Clock) -> None:
    second = Model([ModelTimeoutError("claude-code timeout after 20ms")], name="claude-code")
    with pytest.raises(
        ModelTimeoutError, match=r"it failed; then the fallback: claude-code timeout after 20ms"
    ):
        caller(database, Model([failing()]), at, fallback=second).generate("p", None, SECONDS)


def test_two_providers_that_are_left_alone_wait_for_the_first_to_return(
    database: Database, at: Clock
) -> None:
    first, second = Model([failing()] * 3), Model([down(), down()], name="claude-code")
    asked = caller(database, first, at, fallback=second)
    fail(asked, 2)
    at.move(10_000)
    fail(asked)
    with pytest.raises(CallRefusedError) as caught:
        asked.generate("p", None, SECONDS)
    assert caught.value.until == at.now + 20_000
    ready = asked.ready()
    assert (ready.ok, ready.until) == (False, at.now + 20_000)


def test_a_spent_budget_is_not_got_round_by_the_fallback(database: Database, at: Clock) -> None:
    second = Model(["{}"], name="claude-code")
    asked = caller(database, Model(["{}", failing()]), at, budget=2, fallback=second)
    asked.generate("p", None, SECONDS)
    assert fail(asked) == ["http"]
    assert fail(asked) == ["budget_spent"]
    assert not second.prompts


def test_health_tells_the_day_of_one_provider(database: Database, at: Clock) -> None:
    def slow(prompt: str) -> Answer:
        at.move(int(prompt))
        return Answer("{}", "qwen3:4b", "stop", 100, 10)

    asked = caller(database, Model(by_prompt=slow), at, budget=50)
    assert asked.health().state == "unknown"
    assert asked.health().median_latency_ms is None
    for milliseconds in (900, 100, 300):
        asked.generate(str(milliseconds), None, SECONDS)
    caller(database, Model(["{}"], name="claude-code"), at).generate("p", None, SECONDS)
    health = asked.health()
    assert (health.name, health.model, health.state) == ("ollama", "qwen3:4b", "healthy")
    assert (health.calls_today, health.budget, health.median_latency_ms) == (4, 50, 300)
    assert (health.tokens_today, health.last_ok_at) == (330, at.now)
