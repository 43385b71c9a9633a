"""The log is shown whenever it can be read, and when it cannot, that is said: it is never denied."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.storage import database


@pytest.fixture
def written(nuggets: Any) -> Any:
    """A memory with a log of three changes and a backup."""
    nuggets.ok("remember", "ops", "db port", "5432")
    nuggets.ok("note", "add", "Alpha", "alpha text")
    nuggets.ok("note", "add", "Beta", "beta text")
    return nuggets


@pytest.mark.parametrize("data", [b"", b"[]", b'{"version": 3, "notes": [', b'{"version": 99, "notes": []}'])
def test_the_log_is_shown_whatever_became_of_the_note_graph(written: Any, data: bytes) -> None:
    written.graph.write_bytes(data)
    assert len(written.json("log")) == 3
    assert "restore any moment since" in written.ok("restore")
    assert "graph.json" in written.fails("undo")


def _make_newer(home: Path) -> None:
    with closing(sqlite3.connect(home / "nuggets.db")) as connection:
        connection.execute("PRAGMA user_version = 99")


def test_a_log_of_a_newer_version_is_named_not_denied(written: Any) -> None:
    _make_newer(written.home)
    for args in (("log",), ("log", "--json"), ("undo",), ("redo",), ("restore", "1h")):
        assert "version 99" in written.fails(*args)
    listed = written.ok("restore")
    assert "version 99" in listed
    assert "daily" in listed


def test_a_log_that_the_system_does_not_give_out_is_named_not_denied(written: Any, monkeypatch: Any) -> None:
    def refuse(*_: object, **__: object) -> sqlite3.Connection:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(database, "_connect", refuse)
    assert written.fails("log").count("nuggets.db") == 1
    problems = written.json("status")["problems"]
    assert [Path(problem["where"]).name for problem in problems] == ["nuggets.db"]
    assert "5432" in written.ok("notes", "--facts", "--nugget", "ops")


def test_verify_names_a_log_that_cannot_be_read(written: Any) -> None:
    _make_newer(written.home)
    found = written.json("verify", code=1)["findings"]
    assert [finding["kind"] for finding in found] == ["unreadable-log"]


@pytest.mark.parametrize("empty", [True, False])
def test_that_a_log_is_gone_is_said_until_the_next_change_begins_one(written: Any, empty: bool) -> None:
    for path in written.home.glob("nuggets.db*"):
        path.unlink()
    if empty:
        (written.home / "nuggets.db").write_bytes(b"")
    for _ in range(2):
        assert "the history is missing; the next change starts a new one" in written("status").stderr
    assert "the history is missing; a new one starts now" in written("remember", "ops", "c", "d").stderr
    assert written("status").stderr == ""


def test_the_first_log_of_a_memory_is_no_news(nuggets: Any) -> None:
    assert nuggets("remember", "ops", "a", "b").stderr == ""
    assert nuggets("remember", "ops", "c", "d").stderr == ""
