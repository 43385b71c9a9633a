"""The ledger of one folder as this process has it open: begun, let go, set aside when broken; and notices of that."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path

from core.errors import NuggetsError, StorageError
from core.model.names import iso
from core.storage.backups import BACKUPS
from core.storage.belonging import (
    ID_NAME,
    ForeignLedgerError,
    bear_id,
    check_id,
    check_what_it_saw,
    mark,
)
from core.storage.documents import Document
from core.storage.ledger import Ledger
from core.storage.ledger_schema import LEDGER_FILE, BrokenLedgerError, set_ledger_aside, unreadable
from core.storage.ledger_seen import look, seen_files
from core.storage.quarantine import QUARANTINE
from core.storage.reading import Loaded
from core.storage.sqlite_files import damage_in


class OpenLedger:
    """The part of a trace that has the ledger open and keeps what a person should be told.

    All but `wanted` and `in_step` are called under the memory's lock.
    """

    def __init__(
        self,
        home: Path,
        *,
        clock: Callable[[], datetime],
        ids: Callable[[], str],
    ) -> None:
        self.home = home
        self.ids = ids
        self.ledger: Ledger | None = None
        # Why there is no ledger though the memory has one; None when it could be opened or there is none.
        self.log_problem: NuggetsError | None = None
        # Whether the open ledger is this memory's.
        self._known = False
        # How many logs were begun in the place of one that was gone or broken.
        self.begun = 0
        self._clock = clock
        self._notices: list[str] = []
        self._log_notice = ""
        # The files as the ledger last saw them, when this object was there to see it.
        self._former: dict[Path, Document] = {}
        self._last_seen: Loaded | None = None

    def at(self) -> str:
        """The time that entries made here bear."""
        return iso(self._clock())

    # Telling a person

    def say(self, notice: str) -> None:
        """Keeps a notice until somebody asks."""
        if notice not in self._notices:
            self._notices.append(notice)

    def tell(self, error: NuggetsError) -> None:
        """Keeps what went wrong aside from what was asked for. What was kept safe of that is not known here."""
        self.say(_told(error))

    def tell_of_log(self, error: NuggetsError) -> None:
        """Keeps that the log cannot be written, until it can be."""
        self._log_notice = _told(error)

    def take_notices(self) -> tuple[str, ...]:
        """The notices since the last call."""
        said = [self._log_notice] if self._log_notice else []
        taken = tuple(dict.fromkeys([*self._notices, *said]))
        self._notices, self._log_notice = [], ""
        return taken

    # The ledger itself

    @property
    def _path(self) -> Path:
        return self.home / LEDGER_FILE

    def wanted(self, loaded: Loaded) -> bool:
        """Whether there is something to keep a ledger of, and a place to keep it."""
        there = bool(loaded.documents()) or self._path.exists()
        return there and os.access(self.home, os.W_OK)

    def in_step(self, loaded: Loaded) -> bool:
        """Whether the ledger has seen the files as they are and nothing waits in it. Makes no file."""
        self._let_go_of_replaced()
        try:
            if self.ledger is None:
                if self._missing:
                    return False
                self._open_file()
            assert self.ledger is not None
            if self.ledger.pending_count():
                return False
            return self.moved(loaded, self.ledger) == set()
        except BrokenLedgerError:
            return False

    def open(self, loaded: Loaded) -> None:
        """Opens the ledger or begins one. A broken one is set aside with its bytes, and a new one begun.

        Raises StorageError, ReadOnlyError.
        """
        self._let_go_of_replaced()
        if self.ledger is not None and self.ledger.read_only:
            self.close()
        try:
            if self.ledger is None:
                # Only who keeps a log makes backups; the lock is taken by others as well.
                if self._missing and (self.home / BACKUPS).is_dir() and loaded.documents():
                    self._say_gone()
                self._open_file()
            assert self.ledger is not None
            if not self._known:
                check_what_it_saw(self.ledger, self.home, loaded)
                mark(self.ledger, self.home)
                self._known = True
            if not seen_files(self.ledger):
                self._see_first(self.ledger, loaded)
        except BrokenLedgerError as error:
            self.begin_anew(error, loaded)
        self._log_notice = ""

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
        id = self.ledger.meta(ID_NAME) if self.ledger is not None else None
        if isinstance(id, str):
            bear_id(self.home, id)

    def open_to_read(self) -> None:
        """Opens the ledger where nothing may be written; `log_problem` says why when it cannot be read either."""
        self._let_go_of_replaced()
        if self.ledger is not None or not os.path.lexists(self._path):
            return
        try:
            self.ledger = Ledger(self._path, read_only=True)
            self._check_id()
            self.log_problem = None
        except NuggetsError as error:
            self.log_problem = error
        except BrokenLedgerError as error:
            self.log_problem = unreadable(self._path, str(error))

    @property
    def _missing(self) -> bool:
        """Whether there is no ledger, or only an empty file in its place."""
        try:
            return self._path.stat().st_size == 0
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def _say_gone(self) -> None:
        """Tells that a memory that had a log has none any more."""
        self.begun += 1
        self.say(f"{self._path}: the log of changes is gone; a new one begins now")

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
        stamp = f"{self._clock():%Y-%m-%dT%H%M%SZ}-{self.ids()}"
        set_ledger_aside(self._path, self.home / QUARANTINE, stamp)
        foreign = isinstance(error, ForeignLedgerError)
        what = "belongs to another memory" if foreign else f"was broken ({error})"
        self.say(
            f"{self._path}: the log of changes {what}; its bytes are kept in "
            f"{self.home / QUARANTINE}, no memory is lost; a new log begins now"
        )
        self.log_problem = None
        try:
            self.ledger = Ledger(self._path)
            mark(self.ledger, self.home)
            self._known = True
            self._see_first(self.ledger, loaded)
        except BrokenLedgerError as again:
            raise StorageError(
                f"the log of changes cannot be begun ({again})",
                where=str(self._path),
                kept="nothing was written",
            ) from again

    def close(self) -> None:
        """Closes the ledger until it is wanted again."""
        if self.ledger is not None:
            self.ledger.close()
            self.ledger = None
            self._known = False
            self._former = {}
            self._last_seen = None

    def _let_go_of_replaced(self) -> None:
        if self.ledger is not None and self.ledger.replaced:
            self.close()
            if not self._path.exists():
                self._say_gone()

    def _see_first(self, ledger: Ledger, loaded: Loaded) -> None:
        documents = loaded.documents()
        with ledger.transaction(durable=True) as connection:
            for path, document in documents.items():
                look(connection, self.name(path), document, {}, fingerprint=document.fingerprint)
        self._former = documents

    def remember(self, loaded: Loaded) -> None:
        """Keeps the files as the ledger has seen them now, so that they need not be read from it."""
        self._former = loaded.documents()
        self._last_seen = loaded

    def name(self, path: Path) -> str:
        """How the ledger names a file."""
        return str(path.relative_to(self.home))

    def moved(self, loaded: Loaded, ledger: Ledger) -> set[str]:
        """Files that are not as they were last seen; those that cannot be read are passed over."""
        broken = {self.name(path) for path in loaded.broken()}
        seen = {file: one.fingerprint for file, one in seen_files(ledger).items() if file not in broken}
        now = {self.name(path): made for path, made in loaded.fingerprints().items()}
        known = {self.name(path): document.fingerprint for path, document in self._former.items()}

        def same(file: str) -> bool:
            was, made, own = seen[file], now.get(file), known.get(file)
            # Of a version that this process saw itself it knows more than the ledger remembers.
            written_since = own is not None and own.same_data(was) and own != made
            return was is not None and was.same_data(made) and not written_since

        return {file for file in {*seen, *now} if file not in seen or not same(file)}


def _told(error: NuggetsError) -> str:
    head = f"{error.where}: {error.what}" if error.where else error.what
    return "; ".join(part for part in (head, error.todo) if part)
