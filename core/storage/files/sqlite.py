"""What the SQLite files of a memory share: creating, writing in one step, checking, moving away when broken."""

from __future__ import annotations

import contextlib
import functools
import mmap
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from core.storage.files.atomic import can_be_locked

BUSY_SECONDS: Final = 5.0
# What follows on the name of a database in the names of its files.
SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")
_FILE_MODE: Final = 0o600
# SQLITE_IOERR_SHMOPEN, SHMSIZE, SHMLOCK and SHMMAP; SQLITE_CANTOPEN, where the locks are folders.
_NO_SHARED_MEMORY: Final = (4618, 4874, 5130, 5386, 14)
# No transaction takes so long: whoever made the lock was killed.
_STALE_SECONDS: Final = 60.0
# No version of ours will ever be this high: the number itself is damaged.
NO_VERSION: Final = 1_000
# What SQLite says of a database that no waiting makes whole.
_BROKEN_CODES: Final = (
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_INTERNAL, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG,
)  # fmt: skip
_SHORT_READ: Final = 522
# All that reading a database may raise. UnicodeDecodeError: SQLite quotes bytes of a damaged table in its own words.
# MemoryError: a damaged length asks for more than there is.
DATABASE_ERRORS: Final = (sqlite3.DatabaseError, UnicodeDecodeError, MemoryError)
# Which version of the format a file says it is written in, at this place of its header: WAL's is the highest.
_WRITTEN_IN, _HIGHEST_FORMAT = 18, 2
_STORED_AS: Final = {"TEXT": "text", "INTEGER": "integer", "REAL": "real", "BLOB": "blob"}
_HIGHEST_NUMBER: Final = 2**62


def code_of(error: BaseException) -> int:
    """SQLite's code of an error, 0 for one that the module raises by itself."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def shows_damage(path: Path, error: BaseException) -> bool:
    """Whether an error that reading or writing a database raised says that its bytes are damaged."""
    if isinstance(error, sqlite3.DatabaseError):
        code = getattr(error, "sqlite_errorcode", 0)
        if code & 0xFF == sqlite3.SQLITE_READONLY:
            # What is written in a format of the future may be read, so SQLite says; there is none.
            return _format_of(path) > _HIGHEST_FORMAT
        # A column's text that is no UTF-8 has no code. Nor has a misuse by ourselves, which is of another class.
        no_text = not code and isinstance(error, sqlite3.OperationalError)
        return no_text or code == _SHORT_READ or code & 0xFF in _BROKEN_CODES
    return isinstance(error, UnicodeDecodeError)


def _format_of(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return file.read(_WRITTEN_IN + 1)[_WRITTEN_IN]
    except (OSError, IndexError):
        return 0


def address_to_read(path: Path) -> tuple[str, bool]:
    """The address by which SQLite only reads a database, and whether it takes the file to stay as it is.

    Reading one whose changes are written beside it makes side files and leaves them there; whole as it is, it needs
    none. Then nobody else is waited for, and who reads sees to it that the file is the same afterwards.
    """
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        whole = path.with_name(path.name + "-wal").stat().st_size == 0
    except OSError:
        whole = True
    return (f"{address}&immutable=1", True) if whole else (address, False)


def connect_to_look(path: Path, *, seconds: float = BUSY_SECONDS, fixed: bool = False) -> sqlite3.Connection:
    """A connection that only reads a database, for any thread, also where nothing may be written beside it: then of a
    copy, if some of its changes are only in the log beside it.

    fixed: takes a whole file to stay as it is, and waits for nobody. Raises OSError, sqlite3.Error.
    """
    address, whole = address_to_read(path)
    writable = may_write(path)
    if not (whole or writable or path.with_name(path.name + "-shm").exists()):
        return _copy_with_log(path)
    if writable and not fixed:
        address = address.partition("&")[0]
    return sqlite3.connect(address, uri=True, timeout=seconds, isolation_level=None, check_same_thread=False)


def _copy_with_log(path: Path) -> sqlite3.Connection:
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        for side in ("", "-wal"):
            shutil.copyfile(path.with_name(path.name + side), Path(folder, f"copy{side}"))
        with contextlib.closing(sqlite3.connect(Path(folder, "copy"))) as source:
            source.backup(copy)
    return copy


def may_write(path: Path) -> bool:
    """Whether a database that is there, and files beside it, may be written."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def damage_in(path: Path) -> str:
    """What is damaged in a database that something stumbled over, "" when it is sound or cannot be looked at now.

    Reads all of it: pages, rules of the tables, the kind of every value and its text. For after an error only.
    """
    try:
        address, _ = address_to_read(path)
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection:
            return _damage(connection)
    except DATABASE_ERRORS as error:
        return one_line(error) if shows_damage(path, error) else ""
    except OSError:
        return ""


def _damage(connection: sqlite3.Connection) -> str:
    said = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if said != "ok":
        return " ".join(str(said).split())
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        return "a row refers to a missing row"
    # Made by tables of words for searching, these follow rules of their own.
    tables = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite~_%' "
        "ESCAPE '~'"
    ).fetchall()
    for (table,) in tables:
        for _, column, declared, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall():
            stored = _STORED_AS.get(declared)
            query = f"SELECT 1 FROM {table} WHERE typeof({column}) NOT IN (?, 'null') LIMIT 1"
            if stored and connection.execute(query, (stored,)).fetchone():
                return f"a value of {table}.{column} has the wrong type"
            if stored == "text":
                # Decoding it is the test.
                for _ in connection.execute(f"SELECT {column} FROM {table}"):
                    pass
    query = "SELECT name FROM sqlite_master WHERE name = 'sqlite_sequence'"
    if connection.execute(query).fetchone():
        numbers = connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        if not all(isinstance(seq, int) and seq < _HIGHEST_NUMBER for _, seq in numbers):
            return "the last row number is damaged"
    return ""


def one_line(error: BaseException) -> str:
    """What an error of a database says, for a person."""
    if isinstance(error, UnicodeDecodeError):
        return "its text is damaged"
    return " ".join(str(error).split()) or type(error).__name__


def begin_file(path: Path) -> None:
    """Makes an empty file for a database where there is none. Raises OSError."""
    if not path.exists():
        # Made here, so that its side files inherit a mode that keeps other people out.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, _FILE_MODE))


def connect_to_write(path: Path, seconds: float) -> sqlite3.Connection:
    """Opens a database, also one in a shared folder whose files cannot be locked, where a folder beside it is the lock,
    or where programs cannot share memory. seconds: how long others are waited for. Raises sqlite3.DatabaseError.
    """
    address = path.absolute().as_uri()
    if not can_be_locked(path.parent):
        lock = path.with_name(f"{path.name}.lock")
        with contextlib.suppress(OSError):
            if time.time() - lock.stat().st_mtime > _STALE_SECONDS:
                lock.rmdir()
        address += "?vfs=unix-dotfile"
    connect = functools.partial(
        sqlite3.connect, address, uri=True, timeout=seconds, isolation_level=None, check_same_thread=False
    )
    connection: sqlite3.Connection = connect()
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except DATABASE_ERRORS as error:
        if getattr(error, "sqlite_errorcode", 0) not in _NO_SHARED_MEMORY:
            # Whoever works with it meets it.
            return connection
        connection.close()
        # Who has the file alone needs no shared memory, and can have it written without.
        with contextlib.closing(connect()) as alone:
            alone.execute("PRAGMA locking_mode = EXCLUSIVE")
            alone.execute("PRAGMA journal_mode = TRUNCATE")
        return connect()
    return connection


def log_beside(connection: sqlite3.Connection, path: Path) -> None:
    """Has what is written go into a log beside the file first, so that readers need not wait. Where programs cannot
    share memory, as in some shared folders, the older journal does.
    """
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    if mode != "wal" and _shares_memory(path):
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        connection.execute("PRAGMA journal_mode = TRUNCATE")


def _shares_memory(path: Path) -> bool:
    """Whether programs can share memory through files beside a database. Asked of SQLite, it would be too late."""
    from tempfile import NamedTemporaryFile

    try:
        with NamedTemporaryFile(prefix=f".{path.name}", suffix="-shm", dir=path.parent) as file:
            file.truncate(mmap.PAGESIZE)
            mmap.mmap(file.fileno(), mmap.PAGESIZE).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def in_one_step(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All or nothing, with the turn to write taken at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    finally:
        # A full disk, for one, has rolled back by itself.
        if connection.in_transaction:
            with contextlib.suppress(*DATABASE_ERRORS):
                connection.execute("ROLLBACK")


def move_away(path: Path, folder: Path, stamp: str) -> None:
    """Moves a database with its side files into a folder, bytes intact; stamp begins their names. Raises OSError."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for side in SIDE_FILES:
        found = path.with_name(path.name + side)
        if found.exists():
            os.replace(found, folder / f"{stamp}-{found.name}")
