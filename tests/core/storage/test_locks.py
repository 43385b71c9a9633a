"""One writer at a time, also where the file system knows no locks."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from core.errors import LockTimeoutError
from core.graph.edits import create_note
from core.memory import Memory
from core.storage.files.atomic import HELD_SUFFIX, LOCK_NAME, NEXT_SUFFIX, Lock, locked
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
    assert not (tmp_path / (LOCK_NAME + HELD_SUFFIX)).exists()


def test_who_waits_in_vain_is_told_at_once_what_stands_there_and_what_to_do(
    tmp_path: Path, no_locks: None
) -> None:
    with locked(tmp_path, seconds=1.0):
        with pytest.raises(LockTimeoutError, match=HELD_SUFFIX) as refused, locked(tmp_path, seconds=0.0):
            pass
        assert "delete" in refused.value.todo
    with locked(tmp_path, seconds=0.0):
        pass


@pytest.mark.slow
def test_the_lock_of_a_process_that_was_killed_is_nobodys(tmp_path: Path, no_locks: None) -> None:
    killed = (
        "import fcntl, os, sys; from pathlib import Path; from core.storage.files.atomic import Lock\n"
        f"def refuse(*_): raise OSError({errno.ENOSYS}, 'no locks')\n"
        "fcntl.flock = refuse; held = Lock(Path(sys.argv[1])); held.acquire(1.0); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", killed, str(tmp_path / LOCK_NAME)], check=False, timeout=60)
    assert (tmp_path / (LOCK_NAME + HELD_SUFFIX)).exists()
    with locked(tmp_path, seconds=10.0):
        pass


def test_a_lock_that_was_released_is_taken_by_another(tmp_path: Path, no_locks: None) -> None:
    one, other = Lock(tmp_path / "x.lock"), Lock(tmp_path / "x.lock")
    one.acquire(1.0)
    with pytest.raises(LockTimeoutError):
        other.acquire(0.0)
    one.release()
    other.acquire(1.0)
    other.release()


def test_a_daemon_and_unsaved_texts_are_told_from_those_of_the_dead(tmp_path: Path, no_locks: None) -> None:
    with Presence(tmp_path) as presence:
        assert presence.hold("2026-01-01T00:00:00Z")
        assert daemon_on(tmp_path) is not None
    assert daemon_on(tmp_path) is None
    mine, others = UnsavedFiles(tmp_path / "state"), UnsavedFiles(tmp_path / "state")
    mine.write(mine.new_name(), b"{}")
    assert others.found() == []
    mine.close()
    assert len(others.found()) == 1


def test_who_waits_for_the_lock_gets_it_before_who_wants_it_again_at_once(tmp_path: Path) -> None:
    queue = tmp_path / (LOCK_NAME + NEXT_SUFFIX)
    got, pushed_in = threading.Event(), 0

    def wait() -> None:
        with locked(tmp_path):
            got.set()

    waiting = threading.Thread(target=wait)
    with locked(tmp_path):
        waiting.start()
        while not queue.exists():
            pass
    while not got.is_set():
        queued = queue.exists()
        with locked(tmp_path):
            pushed_in += queued and not got.is_set()
    waiting.join()
    assert pushed_in == 0
    assert not queue.exists()


@pytest.mark.parametrize("what", ["folder", "link", "file"])
def test_what_stands_where_the_queue_belongs_keeps_nobody_from_the_lock(tmp_path: Path, what: str) -> None:
    queue = tmp_path / (LOCK_NAME + NEXT_SUFFIX)
    if what == "folder":
        queue.mkdir()
    elif what == "link":
        queue.symlink_to(tmp_path / "nowhere" / "else")
    else:
        queue.write_text("left behind")
    with locked(tmp_path, seconds=1), pytest.raises(LockTimeoutError), locked(tmp_path, seconds=0):
        pass
    with locked(tmp_path, seconds=0):
        pass
