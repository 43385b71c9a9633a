"""Records when the daily pass ran, and lets one of several processes run it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, Final

import msgspec

from core.errors import StorageError
from core.folder import DATABASE_FILE
from core.model.names import parse_iso
from core.schedule import LastRun
from core.storage.files.atomic import try_lock
from core.storage.journal.journal import Journal
from core.storage.journal.schema import BrokenJournalError, unreadable

LOCK_NAME: Final = ".nuggets.pass.lock"
_RUNS: Final = "daily runs"
_REVIEW: Final = "review asked for"
_KEPT_RUNS: Final = 60
# Who only looks whether somebody runs it holds the lock for an instant.
_PATIENCE: Final = 1.0


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One daily pass: when (ISO 8601, UTC), on which day of the clock there (ISO 8601), by whom, and what it did.

    by: "person", "reflection" (the daemon) or another kind of author. counts: how many notes it looked at
    ("inspected") and did what to ("tagged", "promoted", ...). problems: what went wrong, each in one line.
    """

    at: str
    day: str
    by: str
    counts: dict[str, int] = {}
    problems: tuple[str, ...] = ()

    @property
    def last_run(self) -> LastRun | None:
        """The run as the rules of the schedule see it; None for one whose times are no times."""
        at = parse_iso(self.at)
        try:
            return LastRun(at, date.fromisoformat(self.day)) if at is not None else None
        except ValueError:
            return None


class ReviewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Says that somebody wants a person to look through a cleanup: when (ISO 8601, UTC), who, and how many changes a
    pass would have made then.
    """

    at: str
    by: str
    changes: int


@contextlib.contextmanager
def daily_turn(home: Path) -> Iterator[bool]:
    """Within this, no other process runs the daily pass of a memory; False where one does. It ends with the process.
    Raises StorageError.
    """
    lock = try_lock(home / LOCK_NAME, _PATIENCE)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            lock.release()


def is_running(home: Path) -> bool:
    """Whether a process runs the daily pass just now, as far as can be told. Makes no file."""
    path = home / LOCK_NAME
    with contextlib.suppress(OSError, StorageError):
        lock = try_lock(path, 0) if path.is_file() else None
        if lock is not None:
            lock.release()
        return lock is None and path.is_file()
    return False


def runs(home: Path) -> tuple[Run, ...]:
    """The daily passes of a memory that are known, oldest first; none, and no file made, where there is no journal.

    Of a broken journal none are known: who opens the memory begins a new one. Raises StorageError, ReadOnlyError.
    """
    with contextlib.suppress(BrokenJournalError), _journal(home, read_only=True) as journal:
        return _kept(journal, _RUNS, tuple[Run, ...]) or () if journal is not None else ()
    return ()


def review_request(home: Path) -> ReviewRequest | None:
    """The review that was asked for since the last pass, None for none. Errors as in `runs`."""
    with contextlib.suppress(BrokenJournalError), _journal(home, read_only=True) as journal:
        return _kept(journal, _REVIEW, ReviewRequest | None) if journal is not None else None
    return None


def request_review(home: Path, request: ReviewRequest) -> bool:
    """Keeps that a review is asked for, until a pass ran or a person looked through one; whether it could be kept.

    Without a journal nothing is kept. Errors as in `runs`.
    """
    return _keep(home, lambda journal: {_REVIEW: request})


def finish(home: Path, run: Run) -> None:
    """Keeps that a pass ran; a review that was asked for is done then. Without a journal nothing is kept. Errors as in
    `runs`.
    """

    def told(journal: Journal) -> dict[str, object]:
        known = _kept(journal, _RUNS, tuple[Run, ...]) or ()
        return {_RUNS: (*known, run)[-_KEPT_RUNS:], _REVIEW: None}

    _keep(home, told)


def _keep(home: Path, made: Callable[[Journal], dict[str, object]]) -> bool:
    try:
        with _journal(home) as journal:
            if journal is None:
                return False
            with journal.transaction(durable=True):
                for name, value in made(journal).items():
                    journal.keep_meta(name, msgspec.json.encode(value).decode())
            return True
    except BrokenJournalError as error:
        raise unreadable(home / DATABASE_FILE, str(error)) from error


def _kept(journal: Journal, name: str, kind: Any) -> Any:
    """What is kept under a name, None for what is no such thing."""
    try:
        return msgspec.json.decode(journal.meta(name) or "null", type=kind)
    except (msgspec.MsgspecError, TypeError, UnicodeError):
        return None


@contextlib.contextmanager
def _journal(home: Path, *, read_only: bool = False) -> Iterator[Journal | None]:
    """The journal, opened for this alone, so that asking neither makes one nor waits for a thread that has it."""
    path = home / DATABASE_FILE
    if not path.is_file() or not path.stat().st_size:
        yield None
        return
    writable = os.access(path, os.W_OK) and os.access(home, os.W_OK)
    with contextlib.closing(Journal(path, read_only=read_only or not writable)) as journal:
        yield journal
