"""Pipelines that something is wrong with, for tests of their health and maintenance."""

from __future__ import annotations

from core.pipeline.database.tables import Tables
from core.pipeline.health import Figures, measure
from core.pipeline.service import Pipeline
from kits.service_kit import Clock


def kill_jobs(pipeline: Pipeline, clock: Clock, *, count: int = 3, error_class: str = "parse") -> list[int]:
    """Jobs that are dead of an error after all their tries; their numbers."""
    found = []
    for number in range(count):
        job_id = pipeline.ingest(f"Rack {number} of {error_class} holds server {number * 7 + 3}.").job_id
        assert job_id is not None
        found.append(job_id)
    with pipeline.database.write() as writer:
        writer.connection.execute(
            "UPDATE jobs SET status = 'dead', attempts = max_attempts, error_class = ?, error = 'no use', failed_at = ?"
            f" WHERE id IN ({', '.join(map(str, found))})",
            (error_class, clock.ms),
        )
        writer.connection.execute("UPDATE raw_memories SET status = 'failed'")
    return found


def measured(pipeline: Pipeline, clock: Clock) -> Figures:
    """What the health is measured by."""
    return measure(pipeline.database.reading, pipeline.configuration, clock.ms)


def lease_job(pipeline: Pipeline, clock: Clock) -> int:
    """A job whose worker does not come back: its lease ends in five minutes."""
    pipeline.ingest("Anna moved the staging cluster to Frankfurt.")
    with pipeline.database.write() as writer:
        lease = writer.jobs.lease("extract", now=clock.ms, lease_ms=300_000, worker="gone", token="t")
    assert lease is not None
    return lease.job.id


def drop_from_index(writer: Tables, rows: int = 1) -> None:
    """Takes the first facts out of their index, so that nobody finds them."""
    found = writer.connection.execute(
        "SELECT rowid, content FROM facts ORDER BY rowid LIMIT ?", (rows,)
    ).fetchall()
    writer.connection.executemany(
        "INSERT INTO facts_fts (facts_fts, rowid, content) VALUES ('delete', ?, ?)",
        [tuple(row) for row in found],
    )


def add_to_index(writer: Tables, rows: int = 1) -> None:
    """Puts entries into the index of facts that lead to no fact."""
    writer.connection.executemany(
        "INSERT INTO facts_fts (rowid, content) VALUES (?, 'nobody knows this')",
        [(10**6 + one,) for one in range(rows)],
    )


def job_statuses(pipeline: Pipeline) -> list[str]:
    """The status of each job, by number."""
    return [job.status for job in sorted(pipeline.jobs(), key=lambda job: job.id)]
