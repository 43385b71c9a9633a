"""An outage kills no job: the provider is left alone, no attempt is spent, and what died of one waits again."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.fake_ollama import FakeOllama, Line, Reply
from kits.pipeline_rows import job_result
from kits.scripted_model import Line as Said
from kits.scripted_model import NamedModel, ScriptedModel
from kits.service_kit import (
    Clock,
    Opened,
    configure,
    drain,
    note_texts,
    only_job,
    open_pipeline,
)
from kits.writes_kit import decision, found, parrot

from core.model.change import PERSON
from core.pipeline.models.provider import (
    Answer,
    AskedToWaitError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelTimeoutError,
    Schema,
    UnreadableAnswerError,
)
from core.pipeline.records import PipelineState
from core.pipeline.service import Pipeline

TEXT = "Anna moved the billing service to PostgreSQL."
CAT = "The office cat is called Turing."
HOURS = 60


class Healing(NamedModel):
    """Fails with an error until it is healed."""

    name, model, identity = "healing", "", "healing"

    def __init__(self, error: ModelError) -> None:
        self.error: ModelError | None = error
        self.calls = 0
        self._inner = parrot()

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        self.calls += 1
        if self.error is not None:
            raise self.error
        return self._inner.generate(prompt, schema, deadline)


@pytest.fixture(autouse=True)
def _a_slow_machine_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.pipeline.models.ollama.AVAILABLE_SECONDS", 60.0)


def with_ollama(home: Path, ollama: FakeOllama, clock: Clock) -> Pipeline:
    configure(home, f'[pipeline.extraction]\nendpoint = "{ollama.url}"')
    return Pipeline.open(home, author=PERSON, clock=clock, chance=lambda: 0.0)


def answering(ollama: FakeOllama) -> None:
    ollama.by_prompt = parrot().by_prompt  # type: ignore[assignment]


@pytest.mark.slow
@pytest.mark.parametrize(
    "error",
    [
        ModelHttpError("HTTP 500", status=500),
        ModelHttpError("HTTP 529", status=529),
        ModelHttpError("HTTP 429", status=429),
        ModelHttpError("HTTP 401", status=401),
        ModelHttpError("closed the connection"),
        AskedToWaitError("usage limit reached"),
        AskedToWaitError("HTTP 429", status=429, seconds=90),
    ],
    ids=str,
)
def test_an_outage_of_days_kills_no_job_and_asks_seldom(
    opened: Opened, clock: Clock, error: ModelError
) -> None:
    model = Healing(error)
    pipeline = opened(model)
    for text in (TEXT, CAT):
        pipeline.ingest(text)
    for _ in range(48 * 4):
        pipeline.tick()
        clock.forward(minutes=15)
    assert {(job.status, job.attempts) for job in pipeline.jobs()} == {("pending", 0)}
    assert model.calls <= 48 * 4 + 3
    model.error = None
    clock.forward(minutes=5)
    drain(pipeline)
    assert sorted(note_texts(pipeline)) == [TEXT, CAT]


@pytest.mark.slow
def test_while_it_fails_it_is_left_alone_and_when_it_is_back_nobody_rests(
    opened: Opened, clock: Clock
) -> None:
    model = Healing(ModelHttpError("HTTP 500", status=500))
    pipeline = opened(model)
    for number in range(6):
        pipeline.ingest(f"Server number {number} stands in rack {number * 7 + 3}.")
    for _ in range(2 * HOURS):
        pipeline.tick()
        clock.forward(minutes=1)
    assert model.calls < 40
    model.error = None
    clock.forward(minutes=5)
    drain(pipeline)
    assert len(note_texts(pipeline)) == 6


@pytest.mark.slow
def test_a_text_at_which_a_server_always_breaks_keeps_no_other_waiting(opened: Opened, clock: Clock) -> None:
    plain, asked = parrot(), [0]

    def answer(prompt: str) -> object:
        if "Turing" in prompt:
            asked[0] += 1
            return ModelHttpError("HTTP 500", status=500)
        assert plain.by_prompt is not None
        return plain.by_prompt(prompt)

    pipeline = opened(ScriptedModel(by_prompt=answer))  # type: ignore[arg-type]
    pipeline.ingest(CAT)
    for number in range(24 * 6):
        if number == 18 * 6:
            asked[0] = 0
        if number % 6 == 0:
            pipeline.ingest(f"Server number {number} stands in rack {number * 7 + 3}.")
        drain(pipeline)
        clock.forward(minutes=10)
    assert len(note_texts(pipeline)) == 24
    (job,) = pipeline.jobs("pending")
    assert (job.attempts, job.error_class) == (0, "http")
    assert "HTTP 500" in job.error
    # In the last six hours: its rests have grown.
    assert 0 < asked[0] < 30


def test_the_last_attempt_of_a_job_is_no_outage_either(opened: Opened, clock: Clock) -> None:
    model = Healing(UnreadableAnswerError("no JSON"))
    pipeline = opened(model)
    pipeline.ingest(TEXT)
    for _ in range(2):
        drain(pipeline)
        clock.forward(minutes=5)
    model.error = ModelHttpError("HTTP 503", status=503)
    for _ in range(20):
        drain(pipeline)
        clock.forward(minutes=10)
    assert (only_job(pipeline).status, only_job(pipeline).attempts) == ("pending", 2)
    model.error = None
    drain(pipeline)
    assert note_texts(pipeline) == [TEXT]


@pytest.mark.slow
def test_a_question_about_facts_that_meets_an_outage_is_asked_again(opened: Opened, clock: Clock) -> None:
    plain, away = parrot(), [False]

    def answer(prompt: str) -> object:
        if away[0] and "Take what is worth" not in prompt:
            return ModelHttpError("HTTP 502", status=502)
        assert plain.by_prompt is not None
        return plain.by_prompt(prompt)

    pipeline = opened(ScriptedModel(by_prompt=answer))  # type: ignore[arg-type]
    pipeline.ingest(TEXT)
    drain(pipeline)
    away[0] = True
    pipeline.ingest("Anna moved the billing service to MySQL.")
    for _ in range(30):
        drain(pipeline)
        clock.forward(minutes=10)
    assert len(pipeline.jobs("pending")) == 1
    assert pipeline.proposals() == ()
    away[0] = False
    drain(pipeline)
    assert len(note_texts(pipeline)) == 2


def test_while_a_model_is_missing_its_texts_wait_and_it_is_asked_for_seldom(
    opened: Opened, clock: Clock
) -> None:
    model = Healing(ModelMissingError("no model", status=404))
    pipeline = opened(model)
    pipeline.ingest(TEXT)
    for _ in range(60):
        pipeline.tick()
        clock.forward(minutes=1)
    assert (only_job(pipeline).status, only_job(pipeline).attempts) == ("pending", 0)
    assert model.calls <= 20
    model.error = None
    clock.forward(minutes=10)
    drain(pipeline)
    assert note_texts(pipeline) == [TEXT]


@pytest.mark.slow
def test_the_time_that_a_provider_names_is_kept(opened: Opened, clock: Clock) -> None:
    model = Healing(AskedToWaitError("usage limit reached", seconds=3 * 60 * 60))
    pipeline = opened(model)
    pipeline.ingest(TEXT)
    for _ in range(3 * HOURS - 1):
        pipeline.tick()
        clock.forward(minutes=1)
    assert model.calls == 1
    status = pipeline.status()
    assert status.light is PipelineState.PAUSED
    assert "usage limit reached" in status.why
    model.error = None
    clock.forward(minutes=2)
    drain(pipeline)
    assert note_texts(pipeline) == [TEXT]


@pytest.mark.parametrize("seconds", [float("inf"), 1e300, -5.0, 0.0])
def test_no_wait_that_a_provider_names_is_endless(opened: Opened, clock: Clock, seconds: float) -> None:
    model = Healing(AskedToWaitError("wait", seconds=seconds))
    pipeline = opened(model)
    pipeline.ingest(TEXT)
    pipeline.tick()
    model.error = None
    clock.forward(hours=24)
    drain(pipeline)
    assert note_texts(pipeline) == [TEXT]


# With a server


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "90"}, 90),
        ({"Retry-After": "7200"}, 7200),
        ({"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT", "Date": "Wed, 21 Oct 2099 07:23:00 GMT"}, 300),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured(
    tmp_path: Path, clock: Clock, headers: dict[str, str], seconds: int, status: int
) -> None:
    said: list[Line] = [Reply("slowly", status=status, headers=headers)]
    with FakeOllama(said) as ollama, with_ollama(tmp_path, ollama, clock) as pipeline:
        pipeline.ingest(TEXT)
        pipeline.tick()
        answering(ollama)
        health = pipeline.health()
        # The fake sends a date of its own before the one that is given.
        assert health.open_until == pytest.approx(clock.ms + 1_000 * seconds, abs=1_000) or "Date" in headers
        clock.now = clock.now.fromtimestamp(health.open_until / 1000, clock.now.tzinfo)
        clock.forward(seconds=-1)
        drain(pipeline)
        assert len(ollama.prompts) == 1
        clock.forward(seconds=1)
        drain(pipeline)
        assert note_texts(pipeline) == [TEXT]


def test_a_retry_after_is_a_number_or_a_moment() -> None:
    from core.pipeline.models.ollama import seconds_to_wait

    date = "Wed, 21 Oct 2026 07:23:00 GMT"
    assert seconds_to_wait(" 12 ", "") == 12
    assert seconds_to_wait("Wed, 21 Oct 2026 07:28:00 GMT", date) == 300
    assert seconds_to_wait("Wed, 21 Oct 2026 07:20:00 GMT", date) == 0
    assert seconds_to_wait("9" * 5_000, "") is not None


OLD, NEW = "The shop's order database runs on PostgreSQL", "The shop's order database runs on MongoDB"
VERDICT: dict[str, object] = {
    "contradicts": True,
    "confidence": 0.9,
    "reasoning": "the database was replaced",
}


def changing(home: Path, clock: Clock, script: list[Said], settings: str) -> Pipeline:
    """A pipeline that knows the old fact and is handed the new one, with the script for what its model says then."""
    lines: list[Said] = [found(OLD)]
    pipeline = open_pipeline(
        configure(home, f"semanticContradictionEnabled = true\n{settings}"), ScriptedModel(lines), clock
    )
    pipeline.ingest(f"{OLD}.")
    drain(pipeline)
    clock.forward(minutes=1)
    lines[:] = script
    pipeline.ingest(f"{NEW}.")
    drain(pipeline)
    return pipeline


@pytest.mark.parametrize(
    "error", [ModelHttpError("HTTP 503", status=503), AskedToWaitError("usage limit")], ids=str
)
def test_whether_two_statements_go_together_waits_out_an_outage(
    tmp_path: Path, clock: Clock, error: ModelError
) -> None:
    asked = [found(NEW), decision("update", "C1")]
    with changing(tmp_path, clock, [*asked, error, *asked, VERDICT], "") as pipeline:
        assert pipeline.proposals() == ()
        assert [job.status for job in pipeline.jobs()] == ["pending", "completed"]
        assert note_texts(pipeline) == [OLD]
        clock.forward(hours=7)
        drain(pipeline)
        (waiting,) = pipeline.proposals()
        assert (waiting.action, waiting.contradiction) == (
            "update",
            "semantic (0.90): the database was replaced",
        )


@pytest.mark.parametrize(
    "settings",
    [
        "shadowMode = true",
        "shadowMode = false",
        "shadowMode = false\n[pipeline.autonomous]\nallowUpdateDelete = true",
    ],
)
@pytest.mark.parametrize(
    "said", [ModelTimeoutError("late"), Answer("no JSON at all")], ids=["late", "unreadable"]
)
def test_what_the_model_does_not_say_of_two_statements_is_never_taken_for_their_going_together(
    tmp_path: Path, clock: Clock, said: Said, settings: str
) -> None:
    asked = [found(NEW), decision("update", "C1")]
    with changing(tmp_path, clock, [*asked, said], settings) as pipeline:
        if "true" in settings.partition("\n")[0]:
            (waiting,) = [one for one in pipeline.proposals() if one.changes or one.content == NEW]
        else:
            (waiting,) = pipeline.proposals()
            assert waiting.reason == "contradiction_unchecked"
        assert (waiting.open, waiting.review_needed, waiting.contradiction) == (True, True, "")
        warnings = job_result(pipeline.database.reading, pipeline.jobs()[0].id)["warnings"]
        assert "Fact 1: not checked for a contradiction" in warnings[0]
