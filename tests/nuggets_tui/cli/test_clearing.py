"""Emptying one part of the database leaves the other, the notes and no byte of what went."""

from __future__ import annotations

from typing import Any

import pytest
from kits.memory_files import tree
from kits.service_kit import configure, drain, open_pipeline

TEXT = "Caroline chose PostgreSQL over MongoDB."


@pytest.fixture
def told(nuggets: Any) -> Any:
    """A memory with a history, a text and a document."""
    nuggets.ok("remember", "ops", "db port", "5432")
    nuggets.ok("note", "add", "Alpha", "alpha text")
    configure(nuggets.home)
    with open_pipeline(nuggets.home) as pipeline:
        pipeline.ingest(TEXT)
        drain(pipeline)
    nuggets.ok("ingest", "-", input="A secret wish.")
    nuggets.ok("document", "add", "-", input="All about keels.")
    return nuggets


def _bytes(home: Any) -> bytes:
    return b"".join(path.read_bytes() for path in home.glob("nuggets.db*") if path.suffix != ".db-shm")


def test_a_cleared_history_is_empty_and_all_else_is_as_before(told: Any) -> None:
    files, jobs = tree(told.home), told.json("pipeline", "jobs")
    assert told.json("log")
    told.fails("history", "clear", code=2)
    assert told.json("history", "clear", "--yes")["deleted"] > 0
    assert told.json("log") == []
    assert tree(told.home) == files
    assert told.json("pipeline", "jobs") == jobs
    told.ok("note", "add", "Beta", "beta text")
    assert [entry["kind"] for entry in told.json("log")] == ["edit"]
    told.ok("undo")
    assert tree(told.home) == files


def test_a_cleared_pipeline_is_empty_and_all_else_is_as_before(told: Any) -> None:
    files, log = tree(told.home), told.json("log")
    told.fails("pipeline", "clear", code=2)
    told.ok("pipeline", "clear", "--yes")
    assert told.json("pipeline", "jobs") == told.json("pipeline", "proposals") == told.json("document") == []
    assert (tree(told.home), told.json("log")) == (files, log)
    for secret in (b"secret wish", b"PostgreSQL over", b"about keels"):
        assert secret not in _bytes(told.home) or any(secret in data for data in files.values())
    told.ok("ingest", "-", input="Another text.")
    assert len(told.json("pipeline", "jobs")) == 1
