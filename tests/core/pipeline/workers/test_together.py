"""What is written together instead of one by one: how calls ended, what became known."""

from __future__ import annotations

from pathlib import Path

from kits.service_kit import configure, open_pipeline
from kits.writes_kit import parrot

from core.pipeline.database.connection import Database


def outcomes(database: Database) -> list[str]:
    return [
        row[0] for row in database.reading.connection.execute("SELECT outcome FROM llm_calls ORDER BY id")
    ]


def test_a_job_leaves_no_call_open_whatever_becomes_of_it(tmp_path: Path) -> None:
    configure(tmp_path)
    with open_pipeline(tmp_path, parrot()) as pipeline:
        pipeline.ingest("Anna Berger moved the billing service to Kafka in March.")
        pipeline.tick()
        assert set(outcomes(pipeline.database)) == {"ok"}
