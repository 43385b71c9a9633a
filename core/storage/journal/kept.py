"""What the memory's database keeps under a name: when the daily pass ran, with the lock by which one of several
processes runs it; what promotion remembers of each MEMORY.md.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, Final

import msgspec

from core.errors import NuggetsError, StorageError
from core.folder import DATABASE_FILE
from core.model.names import parse_iso
from core.model.promoted import Target
from core.schedule import LastRun
from core.storage.files.atomic import try_lock
from core.storage.journal.journal import Journal
from core.storage.journal.schema import BrokenJournalError, unreadable

LOCK_NAME: Final = ".nuggets.pass.lock"
_RUNS: Final = "daily runs"
_REVIEW: Final = "review asked for"
_KEPT_RUNS: Final = 60
_PREFIX: Final = "promotion "
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
            with journal.transaction():
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
    """The history, opened for this alone, so that asking neither makes one nor waits for a thread that has it."""
    path = home / DATABASE_FILE
    if not path.is_file() or not path.stat().st_size:
        yield None
        return
    with contextlib.closing(Journal(home, read_only=read_only)) as journal:
        yield journal


# Promotion: losing this loses nobody's text


def kept_target(journal: Journal | None, path: str) -> Target:
    """What is remembered of the file at a path; nothing but the path where there is no memory of it."""
    if journal is None:
        return Target(path=path)
    try:
        found = _read(journal.meta(_name(path)))
    except (NuggetsError, BrokenJournalError):
        found = None
    return found if found is not None and found.path == path else Target(path=path)


def kept_targets(journal: Journal | None) -> tuple[Target, ...]:
    """All files that were written to, the one written last first."""
    if journal is None:
        return ()
    try:
        rows = journal.rows("SELECT value FROM meta WHERE substr(name, 1, ?) = ?", (len(_PREFIX), _PREFIX))
    except (NuggetsError, BrokenJournalError):
        return ()
    found = [target for (value,) in rows if (target := _read(value)) is not None and target.at]
    return tuple(sorted(found, key=lambda target: (target.at, target.path), reverse=True))


def keep_target(journal: Journal | None, target: Target) -> bool:
    """Remembers a file; False where that is not possible. It is never an error: promotion does without."""
    if journal is None or journal.read_only:
        return False
    value = json.dumps(msgspec.to_builtins(target), separators=(",", ":"))
    try:
        with journal.transaction(lasting=False):
            journal.keep_meta(_name(target.path), value)
    except (NuggetsError, BrokenJournalError):
        return False
    return True


def _name(path: str) -> str:
    # Names of files may hold bytes that are no UTF-8; escaped, SQLite takes them.
    return _PREFIX + json.dumps(path)


def _read(value: object) -> Target | None:
    if not isinstance(value, str):
        return None
    try:
        return msgspec.convert(json.loads(value), Target)
    except (ValueError, RecursionError):
        return None
