"""Records when the daily pass ran and who runs it now, so that only one of several processes runs it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from core.errors import StorageError
from core.folder import DATABASE_FILE
from core.model.names import iso, parse_iso
from core.schedule import LastRun
from core.storage.files.processes import Process, life_of, this_process
from core.storage.journal.journal import Journal
from core.storage.journal.schema import BrokenJournalError, unreadable

_RUNS: Final = "daily runs"
_LEASE_NAME: Final = "daily claim"
_REVIEW: Final = "review asked for"
_KEPT_RUNS: Final = 60
# For so long a lease holds where nobody can tell whether who made it still runs.
_LEASE: Final = timedelta(minutes=30)
# For so long at most where it does run: a lease that could not be given up ends some time.
_LONGEST: Final = timedelta(hours=6)


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


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """Says that a process runs the daily pass now, since `at`."""

    at: str
    token: str
    process: Process
    by: str

    def holds(self, now: datetime) -> bool:
        """Whether that process is still to be reckoned with."""
        life, since = life_of(self.process), parse_iso(self.at)
        lease = _LEASE if life == "unknown" else _LONGEST
        return life != "dead" and since is not None and abs(now - since) < lease


def runs(home: Path) -> tuple[Run, ...]:
    """The daily passes of a memory that are known, oldest first; none, and no file made, where there is no journal.

    Of a broken journal none are known: who opens the memory begins a new one. Raises StorageError, ReadOnlyError.
    """
    with contextlib.suppress(BrokenJournalError), _journal(home, read_only=True) as journal:
        return _runs(journal) if journal is not None else ()
    return ()


def lease_of(home: Path, now: datetime) -> Lease | None:
    """Who runs the daily pass just now, if anybody does. Errors as in `runs`."""
    with contextlib.suppress(BrokenJournalError), _journal(home, read_only=True) as journal:
        found = _lease(journal) if journal is not None else None
        return found if found is not None and found.holds(now) else None
    return None


def review_request(home: Path) -> ReviewRequest | None:
    """The review that was asked for since the last pass, None for none. Errors as in `runs`."""
    with contextlib.suppress(BrokenJournalError), _journal(home, read_only=True) as journal:
        return _request(journal) if journal is not None else None
    return None


def request_review(home: Path, request: ReviewRequest) -> bool:
    """Keeps that a review is asked for, until a pass ran or a person looked through one; whether it could be kept.

    Without a journal nothing is kept. Errors as in `runs`.
    """
    with _opened(home) as journal:
        if journal is None:
            return False
        with journal.transaction(durable=True):
            _put(journal, _REVIEW, request)
    return True


# Tokens of leases that this process gave up, for those that the journal could not be told of.
_given_up: Final[set[str]] = set()


def acquire_lease(
    home: Path, now: datetime, by: str, wanted: Callable[[tuple[Run, ...]], bool]
) -> Lease | tuple[Run, ...]:
    """Takes the daily pass for this process; of several that ask at once exactly one gets it.

    wanted: whether it is to run, given the runs known. Returns the lease, for `finish` or `release_lease`; the runs
    known when it is not wanted any more, or when another process has it. What a process that died had begun and put
    into the log counts as run. Errors as in `runs`; StorageError when there is no journal.
    """
    mine = Lease(at=iso(now), token=os.urandom(8).hex(), process=this_process(), by=by)
    with _opened(home) as journal:
        if journal is None:
            raise StorageError("there is no history yet", where=str(home), kept="nothing was written")
        with journal.transaction(durable=True):
            held = _lease(journal)
            if held is not None and held.token not in _given_up and held.holds(now):
                return _runs(journal)
            if held is not None and _left_its_mark(journal, held):
                _add(journal, Run(at=held.at, day=_day_of(held, now), by=held.by))
            known = _runs(journal)
            granted = wanted(known)
            _put(journal, _LEASE_NAME, mine if granted else None)
        return mine if granted else known


def finish(home: Path, lease: Lease | None, run: Run) -> None:
    """Keeps that a pass ran, and gives up the lease to it, if there was one; a review that was asked for is done then.
    Errors as in `runs`.

    Without a journal nothing is kept.
    """
    with _opened(home) as journal:
        if journal is not None:
            with journal.transaction(durable=True):
                _add(journal, run)
                _give_up(journal, lease)
                if _request(journal) is not None:
                    _put(journal, _REVIEW, None)


def release_lease(home: Path, lease: Lease) -> None:
    """Gives up a lease to a pass that did not come about. Errors as in `runs`; here it is given up then too."""
    _given_up.add(lease.token)
    with _opened(home) as journal:
        if journal is not None:
            with journal.transaction():
                _give_up(journal, lease)


@contextlib.contextmanager
def _opened(home: Path) -> Iterator[Journal | None]:
    """As `_journal`, and a broken one is a StorageError."""
    try:
        with _journal(home) as journal:
            yield journal
    except BrokenJournalError as error:
        raise unreadable(home / DATABASE_FILE, str(error)) from error


@contextlib.contextmanager
def _journal(home: Path, *, read_only: bool = False) -> Iterator[Journal | None]:
    """The journal, opened for this alone, so that asking neither makes one nor waits for a thread that has it."""
    path = home / DATABASE_FILE
    try:
        there = path.stat().st_size > 0
    except OSError:
        there = False
    if not there:
        yield None
        return
    writable = os.access(path, os.W_OK) and os.access(home, os.W_OK)
    with contextlib.closing(Journal(path, read_only=read_only or not writable)) as journal:
        yield journal


def _runs(journal: Journal) -> tuple[Run, ...]:
    try:
        return msgspec.json.decode(journal.meta(_RUNS) or "[]", type=tuple[Run, ...])
    except (msgspec.MsgspecError, TypeError, UnicodeError):
        return ()


def _add(journal: Journal, run: Run) -> None:
    _put(journal, _RUNS, (*_runs(journal), run)[-_KEPT_RUNS:])


def _lease(journal: Journal) -> Lease | None:
    try:
        return msgspec.json.decode(journal.meta(_LEASE_NAME) or "null", type=Lease | None)
    except (msgspec.MsgspecError, TypeError, UnicodeError):
        return None


def _request(journal: Journal) -> ReviewRequest | None:
    try:
        return msgspec.json.decode(journal.meta(_REVIEW) or "null", type=ReviewRequest | None)
    except (msgspec.MsgspecError, TypeError, UnicodeError):
        return None


def _give_up(journal: Journal, lease: Lease | None) -> None:
    held = _lease(journal)
    if lease is not None and held is not None and held.token == lease.token:
        _put(journal, _LEASE_NAME, None)


def _left_its_mark(journal: Journal, held: Lease) -> bool:
    rows = journal.rows(
        "SELECT 1 FROM entry WHERE kind = 'reflection' AND state = 'done' AND at >= ? LIMIT 1", (held.at,)
    )
    return bool(rows)


def _day_of(held: Lease, now: datetime) -> str:
    since = parse_iso(held.at)
    return (since or now).astimezone(now.tzinfo).date().isoformat()


def _put(journal: Journal, name: str, value: object) -> None:
    """Within a transaction."""
    journal.keep_meta(name, msgspec.json.encode(value).decode())
