"""Calls that change what is on disk, counted: one is refused as a system would refuse it, or the process ends there."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, Final

from core.storage.files import exchange
from core.storage.journal.journal import Journal

# What a disk that is full, failing, mounted for reading or over its quota says.
ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT)
_SQLITE: Final = {
    errno.ENOSPC: (sqlite3.SQLITE_FULL, "database or disk is full"),
    errno.EDQUOT: (sqlite3.SQLITE_FULL, "database or disk is full"),
    errno.EIO: (sqlite3.SQLITE_IOERR, "disk I/O error"),
    errno.EROFS: (sqlite3.SQLITE_READONLY, "attempt to write a readonly database"),
}
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES: Final = re.compile(
    r"\s*(BEGIN IMMEDIATE|COMMIT|INSERT|REPLACE|UPDATE|DELETE|CREATE|DROP|VACUUM|PRAGMA \w+ ?= ?|"
    r"PRAGMA wal_checkpoint)",
    re.IGNORECASE,
)
_HARMLESS: Final = re.compile(r"\s*PRAGMA (synchronous|busy_timeout|foreign_keys|query_only)", re.IGNORECASE)
# A full disk still lets go of what is on it: these calls need no room.
_FREEING: Final = ("unlink", "remove", "rmdir")
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_PATCHED: Final = (
    "write", "fsync", "replace", "rename", "link", "unlink", "remove", "mkdir", "rmdir", "truncate", "ftruncate",
    "chmod", "fchmod", "utime",
)  # fmt: skip


class Faults:
    """Counts changing calls; the one of `number` (from 0) fails with `code`, and so do `more` after it; on a disk that
    stays full, removing works all the same.

    count: how many there were. failed: what was refused, "" for nothing.
    """

    def __init__(self, number: int | None, code: int, more: int = 0) -> None:
        self.count = 0
        self.failed = ""
        self._refused = range(0) if number is None else range(number, number + 1 + more)
        self._code = code
        self._spared = _FREEING if more and code in _FULL else ()

    def step(self, name: str) -> bool:
        """Counts one call; whether it is to fail."""
        number, self.count = self.count, self.count + 1
        if number in self._refused and name not in self._spared:
            self.failed = self.failed or name
            return True
        return False

    def system_error(self, path: object = None) -> OSError:
        """As the system refuses a call."""
        named = os.fspath(path) if isinstance(path, (str, bytes, os.PathLike)) else None
        return OSError(self._code, os.strerror(self._code), *([named] if named else []))

    def database_error(self) -> sqlite3.OperationalError:
        """As SQLite tells that the system refused a call of its own."""
        code, words = _SQLITE[self._code]
        error = sqlite3.OperationalError(words)
        error.sqlite_errorcode = code
        return error


class _File:
    """A file open for writing whose writing is counted; what the buffer holds reaches the disk by `flush`."""

    def __init__(self, file: Any, faults: Faults) -> None:
        self._file = file
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _counted(self, name: str, *given: Any) -> Any:
        if self._faults.step(f"file.{name}"):
            raise self._faults.system_error()
        return getattr(self._file, name)(*given)

    def write(self, data: Any) -> Any:
        return self._counted("write", data)

    def writelines(self, parts: Any) -> Any:
        return self._counted("writelines", parts)


def _connection(faults: Faults) -> type[sqlite3.Connection]:
    class Connection(sqlite3.Connection):
        def execute(self, statement: str, *given: Any) -> sqlite3.Cursor:
            self._step(statement)
            return super().execute(statement, *given)

        def executemany(self, statement: str, *given: Any) -> sqlite3.Cursor:
            self._step(statement)
            return super().executemany(statement, *given)

        def _step(self, statement: str) -> None:
            if not _CHANGES.match(statement) or _HARMLESS.match(statement):
                return
            if faults.step(f"sqlite {' '.join(statement.split())[:60]}"):
                # A full or failing disk has SQLite roll back by itself.
                if self.in_transaction and statement == "COMMIT":
                    super().execute("ROLLBACK")
                raise faults.database_error()

    return Connection


@contextlib.contextmanager
def failing(number: int | None, code: int = errno.EIO, more: int = 0) -> Iterator[Faults]:
    """Within this, changing calls of this process are counted, and the one of `number` fails; None: none does.

    Changing calls: opening for writing, writing, syncing, renaming, exchanging, linking, removing, making folders, and
    each statement that writes to a database, the beginning and the end of a transaction among them.
    """
    faults = Faults(number, code, more)
    former: list[tuple[Any, str, Any]] = []

    def put(holder: Any, name: str, instead: Callable[..., Any]) -> None:
        former.append((holder, name, getattr(holder, name)))
        setattr(holder, name, instead)

    def counted(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def carried_out(*given: Any, **named: Any) -> Any:
            if faults.step(name):
                raise faults.system_error(given[0] if given else None)
            return plain(*given, **named)

        return carried_out

    plain_open, plain_fdopen, plain_io = os.open, os.fdopen, io.open

    def opened(path: Any, flags: int, *given: Any, **named: Any) -> int:
        if flags & _WRITING and faults.step(f"open {os.path.basename(os.fspath(path))}"):
            raise faults.system_error(path)
        return plain_open(path, flags, *given, **named)

    def fdopened(handle: int, mode: str = "r", *given: Any, **named: Any) -> Any:
        file = plain_fdopen(handle, mode, *given, **named)
        return _File(file, faults) if set(mode) & set("wax+") else file

    def io_opened(path: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
        writes = bool(set(mode) & set("wax+")) and isinstance(path, (str, os.PathLike))
        if writes and faults.step(f"open {os.path.basename(os.fspath(path))}"):
            raise faults.system_error(path)
        return plain_io(path, mode, *given, **named)

    plain_call = exchange._system_call

    def system_call() -> Callable[[bytes, bytes], int] | None:
        swap = plain_call()
        return None if swap is None else lambda a, b: -1 if faults.step("exchange") else swap(a, b)

    plain_connect = sqlite3.connect
    kind = _connection(faults)
    for name in _PATCHED:
        put(os, name, counted(name, getattr(os, name)))
    put(os, "open", opened)
    put(os, "fdopen", fdopened)
    put(io, "open", io_opened)
    put(exchange, "_system_call", system_call)
    put(sqlite3, "connect", lambda *given, **named: plain_connect(*given, factory=kind, **named))
    try:
        yield faults
    finally:
        for holder, name, plain in reversed(former):
            setattr(holder, name, plain)


# Ends as of kill -9


def end_before_step(number: int, *transactions: tuple[type, str]) -> None:
    """Ends this process before the step of this number, counted from 0 and from now on.

    Steps are what files and journal are written by, and the beginning and the end of each transaction. transactions:
    classes and the names of their methods that open one, besides the journal's.
    """
    left = number

    def step() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os._exit(9)

    def stepping(work: Callable[..., Any]) -> Callable[..., Any]:
        def carried_out(*given: Any, **named: Any) -> Any:
            step()
            return work(*given, **named)

        return carried_out

    def around(plain: Callable[..., Any]) -> Callable[..., Any]:
        @contextlib.contextmanager
        def transaction(self: object, **named: Any) -> Iterator[Any]:
            step()
            with plain(self, **named) as opened:
                yield opened
                step()

        return transaction

    functions = ((exchange, "_swap"), (os, "fsync"), (os, "replace"), (os, "link"), (os, "unlink"))
    for holder, name in (*functions, (Journal, "begin"), (Journal, "mark_written")):
        setattr(holder, name, stepping(getattr(holder, name)))
    for kind, name in ((Journal, "transaction"), *transactions):
        setattr(kind, name, around(getattr(kind, name)))
