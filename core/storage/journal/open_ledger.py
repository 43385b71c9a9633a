"""The ledger of one folder as this process has it open: begun, closed, set aside when broken."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path

from core.errors import ErrorCode, Notice, NuggetsError, StorageError
from core.storage.files.sqlite import damage_in
from core.storage.format.reading import Loaded
from core.storage.journal.baseline import Baseline
from core.storage.journal.belonging import (
    ID_NAME,
    ForeignLedgerError,
    bear_id,
    check_id,
    check_what_it_saw,
    mark,
)
from core.storage.journal.ledger import Ledger
from core.storage.journal.notices import Notices
from core.storage.journal.schema import LEDGER_FILE, BrokenLedgerError, set_ledger_aside, unreadable
from core.storage.journal.seen import seen_files
from core.storage.safety.backups import BACKUPS
from core.storage.safety.quarantine import QUARANTINE


class OpenLedger:
    """The ledger's file. All but `wanted` and `in_step` is called under the memory's lock.

    notices: what a person should be told of it. baseline: what it last saw of the files.
    """

    def __init__(
        self,
        home: Path,
        *,
        clock: Callable[[], datetime],
        ids: Callable[[], str],
        notices: Notices,
        baseline: Baseline,
    ) -> None:
        self.home = home
        self.ledger: Ledger | None = None
        # Why there is no ledger though the memory has one; None when it could be opened or there is none.
        self.log_problem: NuggetsError | None = None
        # How many logs were begun in the place of one that was gone or broken.
        self.begun = 0
        # Why it could not be written, in words, until it can be; "" for nothing.
        self._not_written = ""
        # Whether the open ledger is this memory's.
        self._known = False
        # The ledger whose id the folder was seen to bear.
        self._bound: Ledger | None = None
        self._clock = clock
        self._ids = ids
        self._notices = notices
        self._baseline = baseline

    @property
    def _path(self) -> Path:
        return self.home / LEDGER_FILE

    def tell_not_written(self, error: NuggetsError) -> None:
        """Keeps that the log cannot be written, until it can be."""
        self._not_written = Notice.of(error)

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call."""
        not_written, self._not_written = self._not_written, ""
        return self._notices.take(not_written)

    def wanted(self, loaded: Loaded) -> bool:
        """Whether there is something to keep a ledger of, and a place to keep it."""
        there = bool(loaded.documents()) or self._path.exists()
        return there and os.access(self.home, os.W_OK)

    def in_step(self, loaded: Loaded) -> bool:
        """Whether the ledger has seen the files as they are and nothing waits in it. Makes no file."""
        self._close_replaced()
        try:
            if self.ledger is None:
                if self._missing:
                    return False
                self._open_file()
            assert self.ledger is not None
            return self._baseline.in_step(loaded, self.ledger)
        except BrokenLedgerError:
            return False

    def open(self, loaded: Loaded) -> None:
        """Opens the ledger or begins one. A broken one is set aside with its bytes, and a new one begun.

        Raises StorageError, ReadOnlyError.
        """
        self._close_replaced()
        if self.ledger is not None and self.ledger.read_only:
            self.close()
        try:
            if self.ledger is None:
                if self.gone(loaded):
                    self._say_gone()
                self._open_file()
            assert self.ledger is not None
            if not self._known:
                check_what_it_saw(self.ledger, self.home, loaded)
                mark(self.ledger, self.home)
                self._known = True
            if not seen_files(self.ledger):
                self._baseline.begin(self.ledger, loaded)
        except BrokenLedgerError as error:
            self.begin_anew(error, loaded)
        self._not_written = ""

    @contextmanager
    def waiting(self, seconds: float | None) -> Iterator[None]:
        """Within this, another program's writing of the ledger is waited for no longer than that; None: as usual."""
        with self.ledger.waiting(seconds) if self.ledger and seconds is not None else nullcontext():
            yield

    def _open_file(self) -> None:
        try:
            self.ledger = Ledger(self._path)
        except NuggetsError as error:
            self.log_problem = error
            raise
        self.log_problem = None
        self._check_id()

    def _check_id(self) -> None:
        assert self.ledger is not None
        try:
            check_id(self.ledger, self.home)
        except BrokenLedgerError:
            self.close()
            raise

    def bind(self) -> None:
        """Has the folder bear the id of its ledger, from the first change on that is made here."""
        if self._bound is self.ledger:
            return
        self._bound = self.ledger
        id = self.ledger.meta(ID_NAME) if self.ledger is not None else None
        if isinstance(id, str):
            bear_id(self.home, id)

    def open_to_read(self) -> None:
        """Opens the ledger where nothing may be written; `log_problem` says why when it cannot be read either."""
        self._close_replaced()
        empty = self._path.exists() and self._missing
        if self.ledger is not None or empty or not os.path.lexists(self._path):
            return
        try:
            self.ledger = Ledger(self._path, read_only=True)
            self._check_id()
            self.log_problem = None
        except NuggetsError as error:
            self.log_problem = error
        except BrokenLedgerError as error:
            self.keep_problem(error)

    def keep_problem(self, error: BrokenLedgerError) -> None:
        """Keeps why the ledger cannot be read, and closes it."""
        self.close()
        problem = unreadable(self._path, str(error))
        problem.damaged = not isinstance(error, ForeignLedgerError)
        self.log_problem = problem

    def read_in_memory(self) -> Ledger:
        """Has the ledger, which is open to be read, be a copy in memory from here on; the copy."""
        assert self.ledger is not None
        read, self.ledger = self.ledger, self.ledger.in_memory()
        read.close()
        return self.ledger

    @property
    def _missing(self) -> bool:
        """Whether there is no ledger, or only an empty file in its place."""
        try:
            return self._path.stat().st_size == 0
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def gone(self, loaded: Loaded) -> bool:
        """Whether a memory that had a log has none any more."""
        # Only who keeps a log makes backups; the lock is taken by others as well.
        return self._missing and (self.home / BACKUPS).is_dir() and bool(loaded.documents())

    def _say_gone(self) -> None:
        """Tells that a memory that had a log has none any more."""
        self.begun += 1
        self._notices.say(Notice("the log of changes is gone; a new one begins now", where=str(self._path)))

    @contextmanager
    def looked_over(self) -> Iterator[None]:
        """Within this, whatever stumbles over values that only damage puts into the ledger raises BrokenLedgerError."""
        try:
            yield
        except (NuggetsError, BrokenLedgerError):
            raise
        except Exception as error:
            # A fault of our own stays one.
            said = damage_in(self._path) if self.ledger is not None else ""
            if said:
                raise BrokenLedgerError(said) from error
            raise

    def begin_anew(self, error: BrokenLedgerError, loaded: Loaded) -> None:
        """Sets a broken ledger aside and begins a new one from the files as they are. Raises StorageError."""
        self.close()
        self.begun += 1
        stamp = f"{self._clock():%Y-%m-%dT%H%M%SZ}-{self._ids()}"
        set_ledger_aside(self._path, self.home / QUARANTINE, stamp)
        foreign = isinstance(error, ForeignLedgerError)
        what = "belongs to another memory" if foreign else f"was broken ({error})"
        self._notices.say(
            Notice(
                f"the log of changes {what}; its bytes are kept in {self.home / QUARANTINE}, no memory is lost; "
                "a new log begins now",
                where=str(self._path),
            )
        )
        self.log_problem = None
        try:
            self.ledger = Ledger(self._path)
            mark(self.ledger, self.home)
            self._known = True
            self._baseline.begin(self.ledger, loaded)
        except BrokenLedgerError as again:
            raise StorageError(
                f"the log of changes cannot be begun ({again})",
                code=ErrorCode.LOG_UNREADABLE,
                where=str(self._path),
                kept="nothing was written",
            ) from again

    def close(self) -> None:
        """Closes the ledger until it is wanted again."""
        if self.ledger is not None:
            self.ledger.close()
            self.ledger = None
            self._known = False
            self._baseline.forget()

    def _close_replaced(self) -> None:
        if self.ledger is not None and self.ledger.replaced:
            self.close()
            if not self._path.exists():
                self._say_gone()
