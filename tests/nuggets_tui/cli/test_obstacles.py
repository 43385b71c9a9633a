"""What stands in the way of reading or writing is named in one line, with its cause, and takes nothing along."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

import core.storage.format.documents as reading
import core.storage.store as store
from core.errors import StorageError


@pytest.fixture
def written(nuggets: Any) -> Any:
    """A memory with two facts and their notes."""
    nuggets.ok("remember", "ops", "db port", "5432")
    nuggets.ok("remember", "ops", "test command", "pytest -q")
    nuggets.ok("status")
    return nuggets


@pytest.mark.slow
def test_a_recall_is_answered_while_another_program_holds_the_lock(written: Any, monkeypatch: Any) -> None:
    waited: list[float | None] = []
    usual = store.locked

    @contextmanager
    def noted(home: Path, *, seconds: float | None = None) -> Any:
        waited.append(seconds)
        with usual(home, seconds=seconds):
            yield

    monkeypatch.setattr(store, "locked", noted)
    with FileLock(written.home / ".nuggets.lock"):
        result = written("recall", "db port")
    assert result.exit_code == 0
    assert result.stdout.startswith("db port = 5432 ")
    assert "could not be counted" in result.stderr
    assert waited == [0.3]


@pytest.mark.slow
def test_a_recall_is_answered_while_another_program_writes_the_log(written: Any) -> None:
    with closing(sqlite3.connect(written.home / "nuggets.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        result = written("recall", "db port")
    assert result.stdout.startswith("db port = 5432 ")
    assert "could not be counted" in result.stderr
    assert written.json("notes", "--facts", "--nugget", "ops")[0]["hits"] == 0


def test_facts_are_there_when_the_note_graph_may_not_be_read(written: Any, monkeypatch: Any) -> None:
    usual = reading.read_file

    def refuse(path: Path) -> Any:
        if path.name == "graph.json":
            raise StorageError("cannot be read (Permission denied)", where=str(path))
        return usual(path)

    monkeypatch.setattr(reading, "read_file", refuse)
    assert "5432" in written.ok("notes", "--facts", "--nugget", "ops")
    assert "5432" in written.ok("recall", "db port")
    assert "Permission denied" in written.fails("notes")


@pytest.mark.parametrize("as_link", [True, False])
def test_what_stands_in_place_of_the_graph_folder_is_named(written: Any, as_link: bool) -> None:
    written.graph.unlink()
    written.graph.parent.rmdir()
    if as_link:
        written.graph.parent.symlink_to("/nowhere/at/all")
    else:
        written.graph.parent.write_text("")
    cause = "a link to a folder that is not there" if as_link else "a file, not a folder"
    for args in (("notes",), ("notes", "--json"), ("note", "add", "T", "c")):
        assert f"graph is {cause}" in written.fails(*args)
    found = written.json("verify", code=1)["findings"]
    assert [finding["kind"] for finding in found] == ["unreadable-file"]
    assert cause in found[0]["detail"]
    assert not found[0]["repair"]
    assert "5432" in written.ok("notes", "--facts", "--nugget", "ops")
    assert len(written.json("log")) == 2


def test_a_change_without_its_backup_says_that_it_was_written(nuggets: Any) -> None:
    nuggets.ok("remember", "ops", "a", "1")
    (nuggets.home / "backups").write_text("")
    said = nuggets("remember", "ops", "b", "2").stderr
    assert "no backup could be made" in said
    assert "the change itself is written" in said
    assert "nothing was written" not in said
    assert [fact["key"] for fact in nuggets.json("notes", "--facts", "--nugget", "ops")] == ["a", "b"]


def test_an_error_is_one_line_although_parts_of_the_memory_cannot_be_read(written: Any) -> None:
    (written.home / "other.nugget.json").write_text("{")
    assert "warning: " in written("status").stderr
    written.fails("undo", "no-such-entry", code=1)
    written.fails("remember", "", "a", "b")
    written.fails("remember", "other", "a", "b")


def test_facts_of_a_nugget_whose_file_is_gone_with_the_history_are_said_to_be_missing(written: Any) -> None:
    for path in (written.home / "ops.nugget.json", *written.home.glob("nuggets.db*")):
        path.unlink()
    line = written.fails("notes", "--facts", "--nugget", "ops", code=1)
    assert "its fact file is missing" in line
    assert "verify --repair" in line
    written.ok("verify", "--repair", "--yes")
    assert len(written.json("notes", "--facts", "--nugget", "ops")) == 2


@pytest.mark.slow
def test_endless_titles_and_keys_are_cut_for_people_and_whole_in_json(written: Any) -> None:
    endless = "x" * 100_000
    written.ok("remember", "ops", endless, "1")
    for args in (("notes",), ("notes", "--facts", "--nugget", "ops"), ("log",), ("undo",)):
        assert max(map(len, written.ok(*args).splitlines())) < 400, args
    written.ok("redo")
    assert endless in {fact["key"] for fact in written.json("notes", "--facts", "--nugget", "ops")}
