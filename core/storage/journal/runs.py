"""When the daily pass ran, and who runs it now: kept in the ledger, so that of several processes one runs it."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from core.errors import StorageError
from core.model.names import iso, parse_iso
from core.schedule import LastRun
from core.storage.files.processes import Process, life_of, this_process
from core.storage.journal.belonging import check_id
from core.storage.journal.ledger import Ledger
from core.storage.journal.schema import LEDGER_FILE, BrokenLedgerError, unreadable

_RUNS: Final = "daily runs"
_CLAIM: Final = "daily claim"
_KEPT_RUNS: Final = 60
# For so long a claim holds where nobody can tell whether who made it still runs.
_LEASE: Final = timedelta(minutes=30)
# For so long at most where it does run: a claim that could not be given up ends some time.
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


class Claim(msgspec.Struct, frozen=True, kw_only=True):
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
    """The daily passes of a memory that are known, oldest first; none, and no file made, where there is no ledger.

    Of a broken ledger none are known either: who opens the memory begins a new one. Raises StorageError, ReadOnlyError.
    """
    with contextlib.suppress(BrokenLedgerError), _ledger(home, read_only=True) as ledger:
        return _runs(ledger) if ledger is not None else ()
    return ()


def claim_of(home: Path, now: datetime) -> Claim | None:
    """Who runs the daily pass just now, if anybody does. Errors as in `runs`."""
    with contextlib.suppress(BrokenLedgerError), _ledger(home, read_only=True) as ledger:
        found = _claim(ledger) if ledger is not None else None
        return found if found is not None and found.holds(now) else None
    return None


# Tokens of claims that this process gave up, for those that the ledger could not be told of.
_given_up: Final[set[str]] = set()


def claim(
    home: Path, now: datetime, by: str, wanted: Callable[[tuple[Run, ...]], bool]
) -> Claim | tuple[Run, ...]:
    """Takes the daily pass for this process; of several that ask at once exactly one gets it.

    wanted: whether it is to run, in view of the runs known. Returns the claim, for `finish` or `let_go`; the runs
    known when it is not wanted any more, or when another process has it. What a process that died had begun and put
    into the log counts as run. Errors as in `runs`; StorageError when there is no ledger.
    """
    mine = Claim(at=iso(now), token=secrets.token_hex(8), process=this_process(), by=by)
    with _opened(home) as ledger:
        if ledger is None:
            raise StorageError("there is no history yet", where=str(home), kept="nothing was written")
        with ledger.transaction(durable=True):
            held = _claim(ledger)
            if held is not None and held.token not in _given_up and held.holds(now):
                return _runs(ledger)
            if held is not None and _left_its_mark(ledger, held):
                _add(ledger, Run(at=held.at, day=_day_of(held, now), by=held.by))
            known = _runs(ledger)
            granted = wanted(known)
            _put(ledger, _CLAIM, mine if granted else None)
        return mine if granted else known


def finish(home: Path, claim: Claim | None, run: Run) -> None:
    """Keeps that a pass ran, and gives up the claim to it, if there was one. Errors as in `runs`.

    Without a ledger nothing is kept.
    """
    with _opened(home) as ledger:
        if ledger is not None:
            with ledger.transaction(durable=True):
                _add(ledger, run)
                _give_up(ledger, claim)


def let_go(home: Path, claim: Claim) -> None:
    """Gives up a claim to a pass that did not come about. Errors as in `runs`; here it is given up then too."""
    _given_up.add(claim.token)
    with _opened(home) as ledger:
        if ledger is not None:
            with ledger.transaction():
                _give_up(ledger, claim)


@contextlib.contextmanager
def _opened(home: Path) -> Iterator[Ledger | None]:
    """As `_ledger`, and a broken one is a StorageError."""
    try:
        with _ledger(home) as ledger:
            yield ledger
    except BrokenLedgerError as error:
        raise unreadable(home / LEDGER_FILE, str(error)) from error


@contextlib.contextmanager
def _ledger(home: Path, *, read_only: bool = False) -> Iterator[Ledger | None]:
    """The ledger, opened for this alone, so that asking neither makes one nor waits for a thread that has it."""
    path = home / LEDGER_FILE
    try:
        there = path.stat().st_size > 0
    except OSError:
        there = False
    if not there:
        yield None
        return
    writable = os.access(path, os.W_OK) and os.access(home, os.W_OK)
    with contextlib.closing(Ledger(path, read_only=read_only or not writable)) as ledger:
        check_id(ledger, home)
        yield ledger


def _runs(ledger: Ledger) -> tuple[Run, ...]:
    try:
        return msgspec.json.decode(ledger.meta(_RUNS) or "[]", type=tuple[Run, ...])
    except (msgspec.MsgspecError, TypeError, UnicodeError):
        return ()


def _add(ledger: Ledger, run: Run) -> None:
    _put(ledger, _RUNS, (*_runs(ledger), run)[-_KEPT_RUNS:])


def _claim(ledger: Ledger) -> Claim | None:
    try:
        return msgspec.json.decode(ledger.meta(_CLAIM) or "null", type=Claim | None)
    except (msgspec.MsgspecError, TypeError, UnicodeError):
        return None


def _give_up(ledger: Ledger, claim: Claim | None) -> None:
    held = _claim(ledger)
    if claim is not None and held is not None and held.token == claim.token:
        _put(ledger, _CLAIM, None)


def _left_its_mark(ledger: Ledger, held: Claim) -> bool:
    rows = ledger.rows(
        "SELECT 1 FROM entry WHERE kind = 'reflection' AND state = 'done' AND at >= ? LIMIT 1", (held.at,)
    )
    return bool(rows)


def _day_of(held: Claim, now: datetime) -> str:
    since = parse_iso(held.at)
    return (since or now).astimezone(now.tzinfo).date().isoformat()


def _put(ledger: Ledger, name: str, value: object) -> None:
    """Within a transaction."""
    ledger.keep_meta(name, msgspec.json.encode(value).decode())
