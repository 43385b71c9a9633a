"""What is written together instead of one by one: how calls ended, what became known."""

from __future__ import annotations

from pathlib import Path

from kits.service_kit import Clock, configure, open_pipeline
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


def test_what_several_memories_say_is_brought_in_at_once_but_does_not_wait_for_long(tmp_path: Path) -> None:
    configure(tmp_path)
    clock = Clock()
    with open_pipeline(tmp_path, parrot(), clock) as pipeline:
        for number in range(4):
            pipeline.ingest(f"Anna Berger moved service number {number} to another region.")
        known = [pipeline.tick().known for _ in range(2)]
        assert known == [0, 0]
        assert pipeline.database.reading.count("SELECT count(*) FROM raw_memories WHERE knowledge_due") == 2
        clock.forward(seconds=2)
        assert pipeline.tick().known == 3
        assert pipeline.tick().known == 0
        assert pipeline.tick().known == 1
