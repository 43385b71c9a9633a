"""What the SQLite files of a memory have in common: begun, written in one step, moved away when broken."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

BUSY_SECONDS: Final = 5.0
# What follows on the name of a database in the names of its files.
SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")
_FILE_MODE: Final = 0o600
# What SQLite says of a database that no waiting makes whole.
BROKEN_CODES: Final = (
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR,
)  # fmt: skip


def code_of(error: sqlite3.Error) -> int:
    """SQLite's code of an error, 0 for one that the module raises by itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def begin_file(path: Path) -> None:
    """Makes an empty file for a database where there is none. Raises OSError."""
    if not path.exists():
        # Made here, so that its side files inherit a mode that keeps other people out.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, _FILE_MODE))


def log_beside(connection: sqlite3.Connection) -> None:
    """Has what is written go into a log beside the file first, so that readers need not wait."""
    # Some network file systems know no shared memory; then the older journal does.
    if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
        connection.execute("PRAGMA journal_mode = TRUNCATE")


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
            with contextlib.suppress(sqlite3.DatabaseError):
                connection.execute("ROLLBACK")


def move_away(path: Path, folder: Path, stamp: str) -> None:
    """Moves a database with its side files into a folder, bytes intact; stamp begins their names. Raises OSError."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for side in SIDE_FILES:
        found = path.with_name(path.name + side)
        if found.exists():
            os.replace(found, folder / f"{stamp}-{found.name}")
