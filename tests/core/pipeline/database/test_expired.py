"""Old rows are deleted by their keys, however many others are as old."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.pipeline.database.connection import Database
from core.pipeline.database.expired import PLAIN
from core.pipeline.retention import Kind


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(tmp_path)
    yield opened
    opened.close()


@pytest.mark.parametrize("kind", PLAIN)
def test_rows_of_each_kind_are_looked_up_by_their_keys_to_be_deleted(database: Database, kind: Kind) -> None:
    said: list[str] = []
    with database.write() as writer:
        writer.connection.set_trace_callback(said.append)
        writer.expired.drop(kind, [1, 2, 3], 1_000)
        writer.connection.set_trace_callback(None)
        (delete,) = (one for one in said if one.startswith(f"DELETE FROM {PLAIN[kind].table} "))
        plan = [row["detail"] for row in writer.connection.execute(f"EXPLAIN QUERY PLAN {delete}")]
    assert plan[0].startswith(f"SEARCH {PLAIN[kind].table} USING"), plan
    assert "rowid=?" in plan[0] or f"({PLAIN[kind].key}=?" in plan[0], plan


def test_deleting_some_finished_jobs_is_no_more_work_among_many(database: Database) -> None:
    def steps(jobs: int) -> int:
        """Steps of SQLite's machine for deleting five of so many, in tens."""
        made = 0

        def step() -> int:
            nonlocal made
            made += 1
            return 0

        with database.write() as writer:
            writer.connection.execute("DELETE FROM jobs")
            writer.connection.executemany(
                "INSERT INTO jobs (id, type, target, status, max_attempts, attempts, run_after, created_at,"
                " updated_at, completed_at) VALUES (?, 'extract', ?, 'completed', 3, 1, 1, 1, 1, 1)",
                ((number, f"raw-{number}") for number in range(jobs)),
            )
            writer.connection.set_progress_handler(step, 10)
            done = writer.expired.drop(Kind.COMPLETED_JOBS, list(range(5)), 1_000)
            writer.connection.set_progress_handler(None, 0)
        assert done == {Kind.COMPLETED_JOBS: 5}
        return made

    assert steps(2_000) < steps(20) + 20
