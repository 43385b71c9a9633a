"""What a message says about a file that cannot be read is true, and what it advises helps."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest
from kits.memory_files import note_object, replace_bytes, write_graph

from core import Memory
from core.errors import StorageError
from core.storage.journal.schema import unreadable

UNREADABLE = "12345", "1e400", "[]"


@pytest.fixture(params=UNREADABLE)
def unread(nuggets: Any, request: pytest.FixtureRequest) -> Any:
    """A memory whose second note is in the file and cannot be read."""
    path = write_graph(nuggets.home, [note_object(1), note_object(2, title="Second note", content="@")])
    replace_bytes(path, path.read_bytes().replace(b'"@"', request.param.encode()))
    return nuggets


@pytest.mark.parametrize("named", ["second NOTE", "00000002"])
@pytest.mark.parametrize("command", [("show",), ("edit", "--content", "new"), ("hide",)])
def test_a_note_that_cannot_be_read_is_named_as_that(
    unread: Any, named: str, command: tuple[str, ...]
) -> None:
    said = unread.fails("note", command[0], named, *command[1:])
    assert "note 2 (note-memory-00000002)" in said
    assert "cannot be read" in said
    assert "nuggets verify" in said


def test_repair_is_advised_only_where_there_is_a_file_to_repair(nuggets: Any) -> None:
    nuggets.ok("remember", "m", "key", "value")
    (nuggets.home / "w.nugget.json").mkdir()
    assert "--repair" not in nuggets.fails("remember", "w", "a", "b")
    [finding] = nuggets.json("verify", code=1)["findings"]
    assert (finding["repair"], "Move it out" in finding["detail"]) == ("", True)
    assert "restore" not in finding["detail"]
    (nuggets.home / "w.nugget.json").rmdir()
    nuggets.ok("remember", "w", "a", "b")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT, errno.EACCES])
def test_a_log_that_the_system_refuses_is_never_to_be_moved_away(
    nuggets: Any, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    nuggets.ok("remember", "m", "key", "value")
    refusal = OSError(number, os.strerror(number))
    problem = unreadable(nuggets.home / "nuggets.db", os.strerror(number), refusal)
    assert "move" not in problem.message
    _with_log_problem(monkeypatch, problem)
    [finding] = nuggets.json("verify", code=1)["findings"]
    assert finding["kind"] == "unreadable-log"
    assert "oved" not in finding["detail"]


def test_a_log_that_is_damaged_where_nothing_may_be_written_may_be_moved_away(
    nuggets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nuggets.ok("remember", "m", "key", "value")
    _with_log_problem(monkeypatch, unreadable(nuggets.home / "nuggets.db", "file is not a database"))
    [finding] = nuggets.json("verify", code=1)["findings"]
    assert "a new history starts" in finding["detail"]


def _with_log_problem(monkeypatch: pytest.MonkeyPatch, problem: StorageError) -> None:
    from core.storage.store import Store

    monkeypatch.setattr(Store, "log_problem", problem)
    monkeypatch.setattr(Store, "journal", None)
    monkeypatch.setattr(Memory, "refresh", lambda self, **_: False)
    monkeypatch.setattr("core.pipeline.writes.following.drift", lambda *_, **__: ())
