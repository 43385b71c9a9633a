"""What a person is told to do fits the reason for which the system refused a file."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.errors import as_command, remedy_for
from core.storage import database
from core.storage.files.atomic import refused
from core.storage.journal import schema as journal_schema

REASONS = {
    errno.ENOSPC: "free space",
    errno.EDQUOT: "free space",
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.EROFS: "allow writing",
    errno.EIO: "the disk is failing",
}
ALL = set(REASONS.values())


def advice(error: BaseException, path: Path) -> str:
    return as_command(remedy_for(error, path))


def refusal(code: int, extended: int = 0) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code | extended << 8
    return error


def disk(monkeypatch: pytest.MonkeyPatch, *, free: int = 100, inodes: int = 100, flags: int = 0) -> None:
    """Has every file lie on such a disk."""
    told_of = SimpleNamespace(f_bavail=free, f_favail=inodes, f_files=1000, f_flag=flags)
    monkeypatch.setattr(os, "statvfs", lambda path: told_of)


@pytest.mark.parametrize("code", REASONS)
def test_each_reason_of_the_system_has_its_own_advice_whoever_meets_it(tmp_path: Path, code: int) -> None:
    path = tmp_path / "file"
    error = OSError(code, os.strerror(code))
    for message in (
        advice(error, path),
        refused(path, "cannot be written", error).message,
        journal_schema.unreadable(path, "said", error).message,
        database.refusal(path, error).message,
    ):
        assert [one for one in ALL if one in message] == [REASONS[code]], message


def test_a_full_disk_is_told_by_sqlite_itself_or_by_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "nuggets.db"
    path.touch()
    disk(monkeypatch)
    assert "free space" in advice(refusal(sqlite3.SQLITE_FULL), path)
    for free, inodes in ((0, 100), (100, 0)):
        disk(monkeypatch, free=free, inodes=inodes)
        for code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
            assert "free space" in advice(refusal(code, 19), path)


def test_what_sqlite_keeps_to_itself_is_seen_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "nuggets.db"
    path.touch()
    disk(monkeypatch, flags=os.ST_RDONLY)
    assert "allow writing" in advice(refusal(sqlite3.SQLITE_READONLY), path)
    disk(monkeypatch)
    assert "the disk is failing" in advice(refusal(sqlite3.SQLITE_IOERR), path)
    assert "permissions" in advice(refusal(sqlite3.SQLITE_PERM), path)
    monkeypatch.setattr(os, "access", lambda *given: False)
    for code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        assert "permissions" in advice(refusal(code), path)


def test_where_the_reason_is_not_known_nothing_is_made_up(tmp_path: Path) -> None:
    for error in (OSError(errno.ENAMETOOLONG, "too long"), ValueError("x"), sqlite3.ProgrammingError("x")):
        assert advice(error, tmp_path) == ""
    assert advice(refusal(sqlite3.SQLITE_IOERR), tmp_path / "nowhere" / "at" / "all")
