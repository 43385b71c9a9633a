"""The one object that fronts use: opening, settings that change, reading, and files that are not well."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.scripted_model import ScriptedModel
from kits.service_kit import Clock, configure, drain, open_pipeline

from core.errors import InvalidInputError, NotFoundError, NuggetsError, ReadOnlyError
from core.pipeline.models.provider import ModelTimeoutError
from core.pipeline.modes import Mode
from core.pipeline.records import PipelineState
from core.pipeline.service import Pipeline, status_before

TEXT = "Anna moved the billing service to PostgreSQL."


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pipeline(tmp_path: Path, clock: Clock) -> Iterator[Pipeline]:
    with open_pipeline(tmp_path / "memory", clock=clock) as opened:
        yield opened


def test_looking_whether_there_is_one_makes_none(tmp_path: Path) -> None:
    assert not Pipeline.exists(tmp_path)
    before = status_before(tmp_path)
    assert before.light is PipelineState.IDLE
    assert "nuggets ingest" in before.why
    assert list(tmp_path.iterdir()) == []
    open_pipeline(tmp_path).close()
    assert Pipeline.exists(tmp_path)


@pytest.mark.parametrize(
    ("settings", "light"),
    [("enabled = false", PipelineState.OFF), ('[pipeline.extraction]\nprovider = "none"', PipelineState.OFF)],
)
def test_before_anything_is_handed_in_the_light_says_how_to_start(
    tmp_path: Path, settings: str, light: PipelineState
) -> None:
    assert status_before(configure(tmp_path, settings)).light is light


def test_what_was_handed_in_is_there_to_the_letter_and_outlives_the_object(tmp_path: Path) -> None:
    text = "  Anna\r\n\tmoved — here. \x00 \n"
    with open_pipeline(tmp_path) as pipeline:
        raw_id = pipeline.ingest(text, session="s").raw_id
    with open_pipeline(tmp_path) as again:
        assert again.raw(raw_id).content == text
        assert again.status().jobs == {"pending": 1}


def test_settings_count_from_the_moment_they_are_written(pipeline: Pipeline) -> None:
    assert pipeline.mode is Mode.CONTROLLED_WRITE
    configure(pipeline.home, "shadowMode = true\n[pipeline.worker]\nmaxRetries = 9\npollMs = 1")
    assert pipeline.mode is Mode.SHADOW
    assert pipeline.configuration.worker.max_retries == 9
    assert [warning.name for warning in pipeline.warnings] == ["pipeline.worker.poll_ms"]
    assert pipeline.status().warnings == pipeline.warnings
    configure(pipeline.home, "this is = = no TOML")
    assert pipeline.mode is Mode.OFF
    assert pipeline.warnings


def test_what_is_not_there_is_not_found(pipeline: Pipeline) -> None:
    for asked in (
        lambda: pipeline.raw("raw-none"),
        lambda: pipeline.retry(7),
        lambda: pipeline.entity(7),
        lambda: pipeline.pin(7, True),
    ):
        with pytest.raises(NotFoundError):
            asked()
    assert pipeline.origin("note-none") is None
    assert pipeline.history("note-none") == ()
    assert pipeline.proposals() == ()
    assert pipeline.entities() == ()


def test_a_blank_text_is_refused_and_leaves_nothing(pipeline: Pipeline) -> None:
    with pytest.raises(InvalidInputError):
        pipeline.ingest(" \n ")
    assert pipeline.status().raw == 0


def test_a_retry_asks_the_model_again_at_once(tmp_path: Path, clock: Clock) -> None:
    with open_pipeline(tmp_path, ScriptedModel(always=ModelTimeoutError("late")), clock) as pipeline:
        pipeline.ingest(TEXT)
        for _ in range(10):
            drain(pipeline)
            clock.forward(minutes=30)
        (job,) = pipeline.jobs("dead")
        assert pipeline.retry(job.id).status == "pending"
        assert pipeline.health().state in ("unknown", "healthy")
        assert pipeline.tick().job is not None


def test_counts_are_those_of_the_tables(pipeline: Pipeline) -> None:
    pipeline.ingest(TEXT)
    pipeline.ingest(TEXT)
    before = pipeline.status()
    assert (before.raw, before.facts, before.jobs, before.light) == (
        2,
        0,
        {"pending": 1},
        PipelineState.WORKING,
    )
    drain(pipeline)
    after = pipeline.status()
    assert (after.raw, after.facts, after.light) == (2, 1, PipelineState.IDLE)
    assert after.last_written_at is not None
    assert after.entities == len(pipeline.entities())


def test_a_nudge_of_an_ingest_ends_the_rest_of_the_loop_in_the_same_process(pipeline: Pipeline) -> None:
    stop = threading.Event()
    configure(pipeline.home, "[pipeline.worker]\npollMs = 60000")
    thread = threading.Thread(target=pipeline.run, args=(stop,))
    thread.start()
    try:
        raw_id = pipeline.ingest(TEXT).raw_id
        waited = threading.Event()
        for _ in range(2_000):
            if pipeline.raw(raw_id).status == "extracted":
                break
            waited.wait(0.01)
        assert pipeline.raw(raw_id).status == "extracted"
    finally:
        stop.set()
        thread.join(60)
    assert not thread.is_alive()


def test_a_database_of_a_newer_version_is_left_alone(pipeline: Pipeline) -> None:
    with pipeline.database.write() as writer:
        writer.connection.execute("PRAGMA user_version = 99")
    pipeline.close()
    with pytest.raises(ReadOnlyError):
        open_pipeline(pipeline.home)


def test_a_table_that_is_gone_is_an_error_of_ours_not_of_the_library(pipeline: Pipeline) -> None:
    with pipeline.database.write() as writer:
        writer.connection.execute("DROP TABLE jobs")
    for asked in (pipeline.status, pipeline.tick):
        with pytest.raises(NuggetsError, match=r"nuggets\.db"):
            asked()


def test_closing_twice_is_no_harm_and_a_closed_one_is_opened_by_the_next_question(
    pipeline: Pipeline,
) -> None:
    pipeline.ingest(TEXT)
    pipeline.close()
    pipeline.close()
    assert pipeline.status().raw == 1
