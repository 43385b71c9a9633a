"""The pipeline beside the daemon: it waits for a first text, works, ends in time, and tells its troubles once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kits.fake_ollama import FakeOllama, Reply
from kits.memory_files import note_object, write_graph
from kits.scripted_model import NamedModel, ScriptedModel
from kits.service_kit import Clock, configure, open_pipeline
from kits.writes_kit import parrot

from core.graph.edits import create_note
from core.memory import Memory
from core.pipeline.models.provider import (
    Answer,
    ModelError,
    ModelHttpError,
    ModelTimeoutError,
    NamedProvider,
    Schema,
    UnreadableAnswerError,
)
from core.pipeline.service import Pipeline
from nuggets_tui.daemon import Daemon, PipelineBeside

pytestmark = pytest.mark.slow

TEXT = "Anna moved the billing service to PostgreSQL."
ROOT = Path(__file__).parents[2]


class _OverError(BaseException):
    """The test has seen enough."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


Beside = Callable[..., PipelineBeside]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def beside(tmp_path: Path, clock: Clock, said: list[str]) -> Iterator[Beside]:
    made = []

    def make(model: NamedProvider | None = None) -> PipelineBeside:
        made.append(
            PipelineBeside(
                tmp_path, clock=clock, report=said.append, provider=model or parrot(), poll_seconds=0.01
            )
        )
        return made[-1]

    yield make
    for each in made:
        each.stop(60)


def ingest(home: Path, clock: Clock, text: str = TEXT) -> str:
    with open_pipeline(home, clock=clock) as pipeline:
        return pipeline.ingest(text).raw_id


def status_of(home: Path, clock: Clock, raw_id: str) -> str:
    with open_pipeline(home, clock=clock) as pipeline:
        return pipeline.raw(raw_id).status


def notes(home: Path) -> list[str]:
    memory = Memory.open(home)
    try:
        return [note.content for note in memory.snapshot.notes]
    finally:
        memory.close()


def test_once_does_all_that_waits_and_makes_nothing_where_nothing_was_handed_in(
    beside: Beside, tmp_path: Path, clock: Clock, said: list[str]
) -> None:
    beside().once()
    assert list(tmp_path.iterdir()) == []
    ingest(tmp_path, clock)
    ingest(tmp_path, clock, "The office cat is called Turing.")
    beside().once()
    assert sorted(notes(tmp_path)) == [TEXT, "The office cat is called Turing."]
    beside().once()
    assert said == ["pipeline: 2 texts read, 2 notes written"]


@pytest.mark.parametrize(
    "named", ["[pipeline.hints]\nenabled = true", '[pipeline.extraction]\nprovider = "ollama"']
)
def test_own_notes_are_worked_on_as_soon_as_a_model_is_named(
    beside: Beside, tmp_path: Path, clock: Clock, named: str
) -> None:
    with contextlib.closing(Memory.open(tmp_path)) as memory:
        acme = "Payments go to Acme, says Anna Berger. Acme handles payments."
        note, _ = memory.change("mine", lambda draft: create_note(draft, "memory", "Acme", acme))
    beside().once()
    assert not Pipeline.exists(tmp_path)
    configure(tmp_path, named)
    beside(ScriptedModel(by_prompt=lambda prompt: "Which service receives payments?")).once()
    with open_pipeline(tmp_path, clock=clock) as pipeline:
        assert pipeline.database.reading.note_names.count_notes() == 1
        assert bool(pipeline.hints(note.id).hints) is ("hints" in named)


def test_once_looks_anew_for_a_model_that_was_not_there(
    tmp_path: Path, clock: Clock, said: list[str]
) -> None:
    answer = parrot().by_prompt
    assert answer is not None
    with FakeOllama(by_prompt=answer, models=()) as ollama:  # type: ignore[arg-type]
        configure(tmp_path, f'[pipeline.extraction]\nendpoint = "{ollama.url}"')
        ingest(tmp_path, clock)
        PipelineBeside(tmp_path, clock=clock, report=said.append).once()
        assert "ollama pull qwen3:4b" in said[0]
        # The person does as they are told, and tries again at once.
        ollama.models = ("qwen3:4b",)
        PipelineBeside(tmp_path, clock=clock, report=said.append).once()
    assert said[1:] == ["pipeline: 1 text read, 1 note written"]
    assert notes(tmp_path) == [TEXT]


def test_once_says_that_proposals_wait(beside: Beside, tmp_path: Path, clock: Clock, said: list[str]) -> None:
    configure(tmp_path, "shadowMode = true")
    ingest(tmp_path, clock)
    beside().once()
    assert said == [
        "pipeline: 1 text read, 0 notes written; 1 proposal to decide: nuggets pipeline proposals"
    ]


def test_once_does_not_wait_until_what_failed_may_be_tried_again(
    beside: Beside, tmp_path: Path, clock: Clock
) -> None:
    raw_id = ingest(tmp_path, clock)
    model = ScriptedModel(always=ModelTimeoutError("late"))
    beside(model).once()
    assert model.calls == 1
    assert status_of(tmp_path, clock, raw_id) == "queued"


def test_once_says_so_when_nothing_could_be_read_and_leaves_nothing_resting(
    tmp_path: Path, clock: Clock, said: list[str]
) -> None:
    answer = parrot().by_prompt
    with FakeOllama(by_prompt=lambda _: Reply("broken", status=500)) as ollama:
        configure(tmp_path, f'[pipeline.extraction]\nendpoint = "{ollama.url}"')
        for number in range(5):
            ingest(tmp_path, clock, f"Server number {number} stands in rack {number * 7 + 3}.")
        assert not PipelineBeside(tmp_path, clock=clock, report=said.append).once()
        assert "HTTP 500" in said[-1]
        with open_pipeline(tmp_path, clock=clock) as pipeline:
            jobs = pipeline.jobs()
            assert {(job.status, job.attempts) for job in jobs} == {("pending", 0)}
            assert max(job.run_after for job in jobs) <= clock.ms
        # Put right, the next run reads all of it, in the same moment.
        ollama.by_prompt = answer  # type: ignore[assignment]
        assert PipelineBeside(tmp_path, clock=clock, report=said.append).once()
    assert said[-1] == "pipeline: 5 texts read, 5 notes written"


def test_once_is_well_where_nothing_waits_or_a_person_wants_it_to_wait(
    beside: Beside, tmp_path: Path, clock: Clock
) -> None:
    assert beside().once()
    for settings in ("enabled = false", "mutations_frozen = true"):
        configure(tmp_path, settings)
        ingest(tmp_path, clock, f"The setting is {settings} today.")
        assert beside().once()


@pytest.mark.parametrize(
    "error", [ModelHttpError("HTTP 400: no", status=400), UnreadableAnswerError("no JSON")]
)
def test_once_is_not_well_where_each_text_fails(
    beside: Beside, tmp_path: Path, clock: Clock, said: list[str], error: ModelError
) -> None:
    ingest(tmp_path, clock)
    assert not beside(ScriptedModel(always=error)).once()
    assert error.what in said[-1]


def test_once_reads_a_long_text_to_its_end(beside: Beside, tmp_path: Path, clock: Clock) -> None:
    configure(tmp_path, "[pipeline.extraction]\nwindow_chars = 1500")
    text = " ".join(f"Server number {number} stands in rack {number * 7 + 3}." for number in range(200))
    ingest(tmp_path, clock, text)
    assert beside().once()
    assert len(notes(tmp_path)) == 200


def test_once_says_what_keeps_texts_waiting(
    beside: Beside, tmp_path: Path, clock: Clock, said: list[str]
) -> None:
    configure(tmp_path, '[pipeline.extraction]\nprovider = "none"')
    raw_id = ingest(tmp_path, clock)
    PipelineBeside(tmp_path, clock=clock, report=said.append).once()
    assert status_of(tmp_path, clock, raw_id) == "queued"
    assert len(said) == 1
    assert said[0].startswith("pipeline: texts are waiting: no model is configured")


def test_a_daemon_that_was_there_first_notices_the_first_text(
    beside: Beside, tmp_path: Path, clock: Clock
) -> None:
    asked = threading.Event()
    inner = parrot()

    def answer(prompt: str) -> Any:
        asked.set()
        assert inner.by_prompt is not None
        return inner.by_prompt(prompt)

    working = beside(ScriptedModel(by_prompt=answer))
    working.start()
    raw_id = ingest(tmp_path, clock)
    assert asked.wait(60)
    working.stop(60)
    assert status_of(tmp_path, clock, raw_id) == "extracted"


def test_who_ends_it_does_not_wait_for_a_model_and_the_job_goes_to_another(
    beside: Beside, tmp_path: Path, clock: Clock
) -> None:
    asked, answer = threading.Event(), threading.Event()

    class Slow(NamedModel):
        def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
            asked.set()
            assert answer.wait(60)
            return parrot().generate(prompt, schema, deadline)

    raw_id = ingest(tmp_path, clock)
    working = beside(Slow())
    working.start()
    assert asked.wait(60)
    working.stop(0)
    beside().once()
    assert status_of(tmp_path, clock, raw_id) == "extracted"
    answer.set()
    for thread in threading.enumerate():
        if thread.name == "nuggets-pipeline-beside":
            thread.join(60)
    assert notes(tmp_path) == [TEXT]


def test_a_database_that_cannot_be_used_is_told_and_does_not_end_it(
    beside: Beside, tmp_path: Path, clock: Clock, said: list[str]
) -> None:
    ingest(tmp_path, clock)
    other = sqlite3.connect(tmp_path / "nuggets.db")
    other.execute("PRAGMA user_version = 99")
    other.close()
    working = beside()
    working.once()
    working.once()
    assert len(said) == 1
    assert said[0].startswith("pipeline: ")
    assert "newer than nuggets-tui" in said[0]


def test_settings_that_cannot_be_taken_as_given_are_told(
    beside: Beside, tmp_path: Path, clock: Clock, said: list[str]
) -> None:
    configure(tmp_path, "[pipeline.worker]\nmaxRetries = 99")
    ingest(tmp_path, clock)
    beside().once()
    assert "worker.max_retries" in said[0]
    assert said[1:] == ["pipeline: 1 text read, 1 note written"]
    assert notes(tmp_path) == [TEXT]


class _Counting:
    def __init__(self) -> None:
        self.done: list[str] = []

    def start(self) -> None:
        self.done.append("start")

    def stop(self) -> None:
        self.done.append("stop")

    def once(self) -> None:
        self.done.append("once")


def test_it_works_for_as_long_as_the_daemon_has_the_folder(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(1, content="Said.")])

    def over(seconds: float) -> None:
        raise _OverError

    def daemon(beside: _Counting) -> Daemon:
        return Daemon(
            tmp_path,
            clock=lambda: datetime(2026, 11, 22, 8, 0, tzinfo=UTC),
            wait=over,
            report=lambda line: None,
            beside=beside,
        )

    counting = _Counting()
    with pytest.raises(_OverError):
        daemon(counting).run()
    daemon(counting).run(once=True)
    assert counting.done == ["start", "stop", "once"]


def test_a_process_asks_the_configured_server_and_writes_notes(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    answer = parrot().by_prompt
    assert answer is not None
    with FakeOllama(by_prompt=lambda prompt: answer(prompt)) as ollama:  # type: ignore[arg-type, return-value]
        write_graph(home, [note_object(1, content="Said.")])
        configure(home, f'[pipeline.extraction]\nendpoint = "{ollama.url}"')
        with Pipeline.open(home) as pipeline:
            pipeline.ingest(TEXT)
        done = subprocess.run(
            [sys.executable, "-m", "nuggets_tui.cli", "daemon", "--once"],
            capture_output=True, text=True, timeout=100, check=False,
            env={**os.environ, "NUGGETS_HOME": str(home), "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        )  # fmt: skip
        assert done.returncode == 0
        assert "pipeline: 1 text read, 1 note written" in done.stderr
        assert ollama.prompts
    assert notes(home) == ["Said.", TEXT]
