"""One writer at a time, also where the file system knows no locks."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from core.errors import LockTimeoutError
from core.graph.edits import create_note
from core.memory import Memory
from core.storage.files.atomic import LOCK_NAME, Lock, locked
from core.storage.files.presence import Presence, daemon_on
from core.storage.personal.unsaved_files import UnsavedFiles

fcntl = pytest.importorskip("fcntl", reason="locks of another kind are used on Windows")


@pytest.fixture(params=[errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def no_locks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that knows no locks."""

    def refuse(*_: Any) -> None:
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.parametrize("there", [False, True])
def test_a_memory_is_written_where_files_cannot_be_locked(
    tmp_path: Path, no_locks: None, there: bool
) -> None:
    if there:
        # As another machine left it, where they can.
        (tmp_path / LOCK_NAME).touch()
    memory = Memory.open(tmp_path)
    memory.change("a note", lambda draft: create_note(draft, "memory", "Title", "text"))
    assert [note.title for note in Memory.open(tmp_path).snapshot.notes] == ["Title"]


def test_who_waits_in_vain_for_a_lock_is_told(tmp_path: Path) -> None:
    with (
        locked(tmp_path, seconds=1.0),
        pytest.raises(LockTimeoutError, match="nothing was written"),
        locked(tmp_path, seconds=0.0),
    ):
        pass
    with locked(tmp_path, seconds=0.0):
        pass


def test_a_lock_that_was_released_is_taken_by_another(tmp_path: Path) -> None:
    one, other = Lock(tmp_path / "x.lock"), Lock(tmp_path / "x.lock")
    one.acquire(1.0)
    with pytest.raises(LockTimeoutError):
        other.acquire(0.0)
    one.release()
    other.acquire(1.0)
    other.release()


def test_a_daemon_and_unsaved_texts_are_told_from_those_of_the_dead(tmp_path: Path) -> None:
    with Presence(tmp_path) as presence:
        assert presence.hold("2026-01-01T00:00:00Z")
        assert daemon_on(tmp_path) is not None
    assert daemon_on(tmp_path) is None
    mine, others = UnsavedFiles(tmp_path / "state"), UnsavedFiles(tmp_path / "state")
    mine.write(mine.new_name(), b"{}")
    assert others.found() == []
    mine.close()
    assert len(others.found()) == 1
