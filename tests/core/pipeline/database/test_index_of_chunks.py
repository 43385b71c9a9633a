"""The full-text index of chunks stays whole and small in segments, and no transaction merges much of it at once."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core.pipeline.database.connection import Database
from core.pipeline.database.tables import Tables
from core.pipeline.retention import Kind, drop

pytestmark = pytest.mark.slow

CHUNKS, SLICE = 1_500, 10
# Pages of the index that one transaction may write: what it merges, what it adds, and what each level refers to.
MOST_PAGES = 80


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database.open(tmp_path)) as opened:
        yield opened


def _add(writer: Tables, first: int, last: int) -> None:
    chance = random.Random(first)
    writer.connection.executemany(
        "INSERT INTO chunks (id, content, terms, content_hash, created_at) VALUES (?, '', ?, ?, 0)",
        (
            (place, " ".join(f"word{chance.randrange(5_000)}" for _ in range(120)), f"hash {place}")
            for place in range(first, last)
        ),
    )


def _pages_written(connection: sqlite3.Connection, written: list[int]) -> None:
    """Counts from now on, in the last number of a list, how many pages of the index are written."""

    def counted(statement: str) -> None:
        if "REPLACE INTO" in statement and "chunks_fts_data" in statement:
            written[-1] += 1

    connection.set_trace_callback(counted)


def _segments(database: Database) -> int:
    return int(
        database.reading.connection.execute("SELECT count(DISTINCT segid) FROM chunks_fts_idx").fetchone()[0]
    )


def test_dropping_and_adding_chunks_merges_few_pages_at_a_time_and_few_segments_are_left(
    database: Database,
) -> None:
    written: list[int] = []
    for first in range(0, CHUNKS, SLICE):
        written.append(0)
        with database.write(lasting=False) as writer:
            _pages_written(writer.connection, written)
            _add(writer, first, first + SLICE)
            writer.documents.merge_index()
    for first in range(0, CHUNKS, 2 * SLICE):
        written.append(0)
        with database.write(lasting=False) as writer:
            drop(writer, Kind.CHUNKS, list(range(first, first + SLICE)), 1, 2)
    assert 0 < max(written) <= MOST_PAGES
    # What SQLite merges by itself is much at once only where there is much more.
    options = dict(database.reading.connection.execute("SELECT k, v FROM chunks_fts_config"))  # type: ignore[arg-type]
    assert options["automerge"] == 0
    assert _segments(database) < 25
    with database.write(lasting=False) as writer:
        writer.connection.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)")
    left = database.reading.connection.execute("SELECT count(*) FROM chunks").fetchone()[0]
    found = database.reading.connection.execute(
        "SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH 'word*'"
    )
    assert found.fetchone()[0] == left
