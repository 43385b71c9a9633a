"""The process that counts recalls in the background never brings back a memory that somebody removes meanwhile."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import fact_object, write_nugget
from kits.quick_kit import cache_files, make_ahead, quick

from core import Memory
from core.facts.edits import remember
from core.quick_recall import SWITCH, take_lock
from core.storage import waiting
from core.storage.journal.belonging import ID_FILE
from nuggets_tui import made_ahead

# What opens, makes, moves or locks something. Not "os.mkdir": before it locks, the library of locks makes the folder
# that was there a moment before, and nothing can come between for sure.
_STEPS = ("open", "os.rename", "os.remove", "os.link", "sqlite3.connect", "fcntl.flock", "os.listdir")
_before: Callable[[str], None] | None = None


def _hook(event: str, given: tuple[Any, ...]) -> None:
    if _before is not None and event in _STEPS:
        _before(event)


sys.addaudithook(_hook)


@contextmanager
def before_steps(work: Callable[[str], None]) -> Iterator[None]:
    """Within this, `work` is called before each step of this process that reaches the disk, but for its own."""
    global _before

    def once(event: str) -> None:
        global _before
        _before = None
        try:
            work(event)
        finally:
            _before = once

    _before = once
    try:
        yield
    finally:
        _before = None


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory with answers made ahead, and a recall that waits to be counted."""
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setattr(made_ahead, "_PAUSE", 0.0)
    monkeypatch.setattr(made_ahead, "_TICK", 0.0)
    made = tmp_path / "memory"
    write_nugget(made, "web", [fact_object("port", "8080")], D=64)
    memory = Memory.open(made)
    memory.change("more", lambda draft: remember(draft, "web", "host", "web.local"))
    memory.close()
    assert make_ahead(made)
    asked = quick(made, "port")
    assert asked is not None
    asked.leave("one", "agent:tester")
    return made


def work(home: Path, question: tuple[str, ...] = ()) -> None:
    """What the process does, in this one. Errors end the process, which nobody sees."""
    lock = take_lock(str(cache_files(home)[0].parent))
    assert lock >= 0
    try:
        made_ahead._work(lock, str(home), question, None)
    except Exception:
        pass
    finally:
        os.close(lock)


def restored(kept: Path, home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(kept, home)
    # A copy is given an id of its own at its first change; here it is to be the memory itself.
    path = home / ID_FILE
    path.write_text(f"{path.read_text().split()[0]} {path.stat().st_ino}\n")


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_undisturbed_it_counts_what_waits(home: Path) -> None:
    work(home)
    assert waiting.paths(str(home)) == []
    memory = Memory.open(home, reconcile=False)
    assert [fact.hits for fact in memory.snapshot.by_name["web"].facts if fact.key == "port"] == [1]


@pytest.mark.slow
@pytest.mark.parametrize("files_alone", [False, True])
def test_a_memory_removed_before_any_step_stays_removed(
    home: Path, tmp_path: Path, files_alone: bool
) -> None:
    kept = tmp_path / "kept"
    shutil.copytree(home, kept)
    steps: list[str] = []
    with before_steps(steps.append):
        work(home)
    assert {"os.rename", "fcntl.flock", "sqlite3.connect"} <= set(steps)
    for number in itertools.count():
        restored(kept, home)
        left = number

        def remove(event: str) -> None:
            nonlocal left
            left -= 1
            if left != -1:
                return
            if not files_alone:
                shutil.rmtree(home)
            else:
                # Of a removal that is under way, the folders are there for a moment more.
                for path in list(home.rglob("*")):
                    if not path.is_dir():
                        path.unlink()

        with before_steps(remove):
            work(home)
        if left >= 0:
            # One try has some steps fewer than another, as the clock of the file system wants it.
            assert number > len(steps) // 2
            break
        there = names(home) if home.exists() else set()
        if not files_alone:
            assert not home.exists(), number
        # At most what the very step was about to make, which is nothing of notes and facts.
        made = there - {"ledger.db-wal", "ledger.db-shm"}
        assert len(made) <= 1, number
        assert made <= {".nuggets.lock", ".recalls/lock", "ledger.db"}, number
