"""A worker with the queue: what it takes and what it leaves, in every mode, through every kind of trouble."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from kits.pipeline_rows import job_result
from kits.scripted_model import NamedModel, ScriptedModel
from kits.service_kit import Clock, Opened, configure, drain, note_texts, only_job
from kits.writes_kit import found, parrot

from core.errors import LockTimeoutError, NuggetsError
from core.folder import GRAPH_FILE
from core.pipeline.models.provider import (
    Answer,
    BudgetSpentError,
    ModelTimeoutError,
    Schema,
)
from core.pipeline.records import PipelineState, TickResult
from core.pipeline.transaction_guard import depth
from core.pipeline.workers.runner import run, until_idle

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "worker_jobs.json").read_text("utf-8"))
TEXT = "Anna moved the billing service to PostgreSQL."


# From a text to a note


def test_nothing_is_asked_within_a_transaction_and_others_may_write_meanwhile(
    opened: Opened, tmp_path: Path
) -> None:
    asked: list[int] = []

    class Looking(NamedModel):
        """Looks whether the database can be written while it is asked."""

        def __init__(self) -> None:
            self.inner = parrot()

        def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
            asked.append(depth())
            other = sqlite3.connect(tmp_path / "nuggets.db", timeout=0, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
            other.close()
            return self.inner.generate(prompt, schema, deadline)

    pipeline = opened(Looking())
    for text in (TEXT, "Anna moved the billing service to MySQL."):
        pipeline.ingest(text)
    drain(pipeline)
    assert len(asked) >= 3
    assert set(asked) == {0}


def test_a_job_whose_text_is_gone_is_completed_as_skipped(opened: Opened) -> None:
    (vector,) = [vector for vector in VECTORS["worker_jobs"] if vector["input"].get("memory_missing")]
    pipeline = opened()
    with pipeline.database.write() as writer:
        job_id = writer.jobs.enqueue(type="extract", target="raw-gone", max_attempts=3, now=0)
    drain(pipeline)
    job = only_job(pipeline)
    assert job.status == vector["expected"]["status"]
    assert job_id is not None
    assert job_result(pipeline.database.reading, job_id) == vector["expected"]["result"]


def test_a_text_that_was_read_already_is_not_read_again(opened: Opened) -> None:
    model = parrot()
    pipeline = opened(model)
    raw_id = pipeline.ingest(TEXT).raw_id
    drain(pipeline)
    asked = len(model.prompts)
    with pipeline.database.write() as writer:
        writer.jobs.enqueue(type="extract", target=raw_id, max_attempts=3, now=0)
    drain(pipeline)
    assert len(model.prompts) == asked
    assert job_result(pipeline.database.reading, pipeline.jobs()[0].id) == {"skipped": "already_extracted"}


# Modes


def test_switched_off_it_keeps_texts_and_does_nothing_with_them(opened: Opened) -> None:
    pipeline = opened(settings="enabled = false")
    pipeline.ingest(TEXT)
    drain(pipeline)
    assert only_job(pipeline).status == "pending"
    assert pipeline.status().light is PipelineState.OFF
    configure(pipeline.home, "enabled = true")
    drain(pipeline)
    assert note_texts(pipeline) == [TEXT]


def test_frozen_it_holds_texts_until_that_ends(opened: Opened) -> None:
    pipeline = opened(settings="mutationsFrozen = true")
    done = pipeline.ingest(TEXT)
    assert done.status == "held"
    drain(pipeline)
    assert only_job(pipeline).status == "held"
    assert pipeline.status().light is PipelineState.PAUSED
    configure(pipeline.home)
    assert drain(pipeline)[0].released == 1
    assert note_texts(pipeline) == [TEXT]


def test_frozen_it_asks_no_model_about_texts_that_were_queued_before_and_says_so(opened: Opened) -> None:
    model = ScriptedModel(by_prompt=lambda prompt: {"facts": [], "entities": []})
    pipeline = opened(model)
    pipeline.ingest(TEXT)
    configure(pipeline.home, "mutations_frozen = true")
    drain(pipeline)
    assert model.prompts == []
    assert only_job(pipeline).status == "pending"
    status = pipeline.status()
    assert status.light is PipelineState.PAUSED
    assert status.why.startswith("frozen: texts are kept, none is read")
    assert "1 text is waiting" in status.why
    configure(pipeline.home)
    drain(pipeline)
    assert len(model.prompts) == 1


def test_what_keeps_notes_from_being_written_is_told_and_asks_no_model_until_it_is_over(
    opened: Opened, clock: Clock, tmp_path: Path
) -> None:
    pipeline = opened()
    pipeline.ingest("Server 1 stands in rack 3.")
    drain(pipeline)
    graph = tmp_path / GRAPH_FILE
    good, before = graph.read_bytes(), pipeline.status().provider
    graph.write_bytes(b"{broken")
    pipeline.ingest(TEXT)
    for _ in range(60):
        pipeline.tick()
        clock.forward(seconds=2)
    (job,) = pipeline.jobs("pending")
    assert "graph.json" in job.error
    now = pipeline.status().provider
    assert now is not None
    assert before is not None
    assert now.calls_today == before.calls_today
    graph.write_bytes(good)
    clock.forward(minutes=30)
    drain(pipeline)
    assert TEXT in note_texts(pipeline)
    assert pipeline.tick().warnings == ()


def test_an_acceptance_that_cannot_be_written_is_none(opened: Opened) -> None:
    pipeline = opened(settings="shadowMode = true")
    pipeline.ingest(TEXT)
    drain(pipeline)
    graph = pipeline.home / GRAPH_FILE
    graph.mkdir(parents=True)
    (proposal,) = pipeline.proposals()
    with pytest.raises(NuggetsError):
        pipeline.accept([proposal.id])
    assert [one.id for one in pipeline.proposals()] == [proposal.id]
    graph.rmdir()
    assert pipeline.accept([proposal.id]).written == (proposal.id,)
    assert note_texts(pipeline) == [TEXT]


# Trouble with the model


def test_a_model_that_fails_three_times_leaves_a_dead_job_with_its_reason(
    opened: Opened, clock: Clock
) -> None:
    pipeline = opened(ScriptedModel(always=ModelTimeoutError("ollama timeout after 45000ms")))
    raw_id = pipeline.ingest(TEXT).raw_id
    for _ in range(10):
        drain(pipeline)
        clock.forward(minutes=10)
    job = only_job(pipeline)
    assert (job.status, job.attempts, job.error_class) == ("dead", 3, "timeout")
    assert "ollama timeout after 45000ms" in job.error
    assert pipeline.raw(raw_id).status == "failed"
    assert pipeline.status().light is PipelineState.STUCK


def test_a_burst_of_texts_that_the_model_cannot_read_keeps_no_other_waiting(opened: Opened) -> None:
    pipeline = opened(ScriptedModel(["no JSON"] * 5 + [found(TEXT)]))
    for number in range(5):
        pipeline.ingest(f"Server number {number} stands in rack {number * 7 + 3}.")
    pipeline.ingest(TEXT)
    ticks = [pipeline.tick() for _ in range(6)]
    assert [ticked.delay_ms for ticked in ticks] == [0] * 6
    drain(pipeline)
    assert note_texts(pipeline) == [TEXT]


def test_a_call_that_is_refused_in_the_midst_gives_the_job_back(opened: Opened) -> None:
    pipeline = opened(ScriptedModel(always=BudgetSpentError("spent", until=1)))
    pipeline.ingest(TEXT)
    ticked = pipeline.tick()
    assert only_job(pipeline).status == "pending"
    assert only_job(pipeline).attempts == 0
    # Not at once again, in case it is refused for ever.
    assert ticked.delay_ms >= 1_000


def test_a_mistake_of_the_program_ends_in_a_dead_job_not_in_the_loop(opened: Opened, clock: Clock) -> None:
    pipeline = opened(ScriptedModel(always=ZeroDivisionError("oh")))
    pipeline.ingest(TEXT)
    for _ in range(5):
        drain(pipeline)
        clock.forward(minutes=10)
    job = only_job(pipeline)
    assert (job.status, job.error_class) == ("dead", "bug")
    assert "ZeroDivisionError" in job.error


class Course:
    """Ticks that a list gives; the loop is ended with the last. Rests are cut short by a nudge in each tick."""

    def __init__(self, *ticks: TickResult | Exception) -> None:
        self.left = list(ticks)
        self.stop, self.nudged = threading.Event(), threading.Event()
        self.said: list[str] = []

    def tick(self) -> TickResult:
        given = self.left.pop(0)
        self.nudged.set()
        if not self.left:
            self.stop.set()
        if isinstance(given, Exception):
            raise given
        return given

    def run(self) -> list[str]:
        run(self.tick, self.stop, self.nudged, self.said.append)
        return self.said


def test_it_goes_on_through_trouble_and_says_each_once() -> None:
    busy, bug = LockTimeoutError("another process is still writing"), ValueError("odd")
    course = Course(busy, busy, TickResult(), busy, bug, TickResult(warnings=("notes wait",)))
    said = course.run()
    assert said == [
        busy.message, busy.message, "this is a bug in nuggets-tui: ValueError: odd", "notes wait",
    ]  # fmt: skip
    assert not course.left


def test_a_nudge_ends_the_longest_rest_and_so_does_the_end() -> None:
    stop, nudged = threading.Event(), threading.Event()
    ticks: list[int] = []
    ticked = threading.Semaphore(0)

    def tick() -> TickResult:
        ticks.append(1)
        ticked.release()
        return TickResult(delay_ms=3_600_000)

    thread = threading.Thread(target=run, args=(tick, stop, nudged, lambda line: None))
    thread.start()
    for _ in range(3):
        assert ticked.acquire(timeout=60)
        nudged.set()
    stop.set()
    thread.join(60)
    assert not thread.is_alive()
    assert len(ticks) >= 3


@pytest.mark.slow
def test_waiting_for_jobs_in_flight_ends_with_the_last_or_with_the_deadline() -> None:
    left: list[Callable[[], tuple[str, ...]]] = [lambda: ("job",), lambda: ("job",), lambda: ()]
    assert until_idle(lambda: left.pop(0)(), 60) == ()
    assert until_idle(lambda: ("job",), 0) == ("job",)
