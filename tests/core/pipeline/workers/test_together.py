"""What is written together instead of one by one: what became known, notes of many facts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kits.service_kit import Clock, configure, open_pipeline
from kits.writes_kit import parrot

from core.memory import Memory
from core.pipeline.database.connection import Database
from core.pipeline.workers import outbox_flush
from core.pipeline.workers.outbox_flush import OutboxFlusher

NOON = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


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
        assert len(pipeline.database.reading.found_relations.due(10)) == 2
        clock.forward(seconds=2)
        assert pipeline.tick().known == 3
        assert pipeline.tick().known == 0
        assert pipeline.tick().known == 1


@pytest.mark.slow
def test_writing_the_notes_takes_no_more_than_a_tenth_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path)
    clock = Clock()
    with open_pipeline(tmp_path, parrot(), clock) as pipeline:
        memory = pipeline.memory
        monkeypatch.setattr(outbox_flush, "MANY", 1)

        def slow(*given: Any, **named: Any) -> Any:
            clock.forward(seconds=1)
            return brings(*given, **named)

        brings: Any = Memory.bring_in
        monkeypatch.setattr(Memory, "bring_in", slow)
        bringer = OutboxFlusher(pipeline.database, lambda: memory, lambda: clock.ms)

        def learn(number: int) -> int:
            pipeline.ingest(f"Anna Berger moved service number {number} to another region.")
            pipeline.tick()
            return bringer.when_due(everything=True, idle=False).flushed

        pipeline._working().notes = _Idle()
        assert learn(1) == 1
        assert learn(2) == 0
        clock.forward(seconds=9)
        assert learn(3) == 0
        clock.forward(seconds=1)
        assert learn(4) == 3
        pipeline.ingest("Ben Okafor moved the archive to another region.")
        pipeline.tick()
        assert bringer.when_due(everything=True, idle=True).flushed == 1


class _Idle:
    """Brings nothing."""

    def when_due(self, *, everything: bool, idle: bool) -> outbox_flush.Flushed:
        return outbox_flush.Flushed()
