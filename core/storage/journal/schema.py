"""The tables of ledger.db, and how the database is opened, checked and set aside when it is broken."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from core.errors import ErrorCode, ReadOnlyError, StorageError, TryAgain, Update, remedy_for
from core.storage.files.atomic import write_target
from core.storage.files.sqlite import (
    BUSY_SECONDS,
    DATABASE_ERRORS,
    NO_VERSION,
    address_to_read,
    begin_file,
    connect_to_look,
    connect_to_write,
    in_one_step,
    log_beside,
    move_away,
    one_line,
    shows_damage,
)

JOURNAL_FILE: Final = "ledger.db"
VERSION: Final = 1

_TABLES: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- One row a change set. made_by: who sat at the keyboard. written_ns: when the files were, by their own clock.
CREATE TABLE entry (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at TEXT NOT NULL,
    author_kind TEXT NOT NULL, author_name TEXT NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL,
    about TEXT NOT NULL, made_by TEXT NOT NULL, state TEXT NOT NULL, body BLOB NOT NULL, size INTEGER NOT NULL,
    conflict BLOB, staged TEXT, written_ns INTEGER NOT NULL DEFAULT 0);
CREATE INDEX entry_about ON entry (about) WHERE about <> '';
CREATE INDEX entry_open ON entry (state) WHERE state <> 'done';
-- What a list of entries shows and is filtered by, so that it need not read the entries themselves.
CREATE INDEX entry_listed ON entry (seq, at, kind, author_kind, author_name, state, about, id);
CREATE TABLE touched (item TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (item, seq)) WITHOUT ROWID;
CREATE INDEX touched_seq ON touched (seq);
-- What stood in the files when they were last looked at: one row a file, one a note or fact.
CREATE TABLE seen_file (
    file TEXT PRIMARY KEY, inode INTEGER, size INTEGER, mtime_ns INTEGER, fields BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE seen (file TEXT NOT NULL, item TEXT NOT NULL, place INTEGER NOT NULL, raw BLOB NOT NULL);
CREATE UNIQUE INDEX seen_item ON seen (file, item);
-- Where the last note or fact of a file stood, without a look at all of them.
CREATE INDEX seen_placed ON seen (file, place);
-- Changes of ours that were seen taken back and wait to be restored.
CREATE TABLE owed (item TEXT PRIMARY KEY, entry TEXT NOT NULL) WITHOUT ROWID;
-- Lost updates that are not restored yet: each thing with the entry that says what the file has in its place.
CREATE TABLE pending_restore (item TEXT PRIMARY KEY, entry TEXT NOT NULL) WITHOUT ROWID;
"""


class BrokenJournalError(Exception):
    """The file is no database, or a damaged one."""


def connect(path: Path) -> sqlite3.Connection:
    """Opens the journal, making it when there is none.

    Raises BrokenJournalError, StorageError, and ReadOnlyError for one that a newer version made or that is a link
    out of the folder.
    """
    write_target(path.parent, path)
    try:
        begin_file(path)
        if not path.is_file():
            raise BrokenJournalError("not a regular file")
        connection = connect_to_write(path, BUSY_SECONDS)
    except (OSError, sqlite3.OperationalError) as error:
        raise refused(path, error) from error
    try:
        # A database that is not our journal is recognised before anything is written to it.
        made = _is_made(connection, path)
        log_beside(connection, path)
        if not made:
            _make_tables(connection)
    except DATABASE_ERRORS as error:
        connection.close()
        raise journal_error(path, error) from error
    except (ReadOnlyError, BrokenJournalError):
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Opens a journal that is there, and only reads it. Makes no file. And whether it is taken to stay as it is.

    Raises BrokenJournalError, StorageError, and ReadOnlyError for one that a newer version made.
    """
    _, fixed = address_to_read(path)
    connection: sqlite3.Connection | None = None
    try:
        connection = connect_to_look(path, fixed=True)
        if not _is_made(connection, path):
            raise BrokenJournalError("it is empty")
    except DATABASE_ERRORS as error:
        if connection is not None:
            connection.close()
        if shows_damage(path, error):
            raise BrokenJournalError(one_line(error)) from error
        raise unreadable(path, one_line(error), error) from error
    except (ReadOnlyError, BrokenJournalError):
        if connection is not None:
            connection.close()
        raise
    return connection, fixed


def copied(source: sqlite3.Connection) -> sqlite3.Connection:
    """A copy of a journal that stands nowhere but in memory. Raises sqlite3.Error."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        source.backup(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def unreadable(path: Path, said: str, error: BaseException | None = None) -> StorageError:
    """The error for a journal that cannot be read now. error: what the system or SQLite refused it with."""
    found = StorageError(
        f"the history cannot be read ({said})",
        code=ErrorCode.LOG_UNREADABLE,
        where=str(path),
        kept="the file is unchanged",
        todo="check the file, or move it away" if error is None else "",
        remedy=None if error is None else remedy_for(error, path) or TryAgain(),
    )
    found.damaged = error is None
    return found


def _is_made(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the tables are there; a database without any is new."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version >= NO_VERSION:
        raise BrokenJournalError("its version number is damaged")
    if version > VERSION:
        raise ReadOnlyError(
            f"the history has version {version}, newer than nuggets-tui supports ({VERSION})",
            code=ErrorCode.NEWER_VERSION,
            remedy=Update("write"),
            where=str(path),
            kept="nothing was written",
        )
    if version == VERSION:
        connection.execute("SELECT seq, state FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
        connection.execute("SELECT file, fields FROM seen_file").fetchall()
        return True
    # One statement: another process may be making the tables.
    strange = "SELECT 1 FROM sqlite_master, pragma_user_version WHERE user_version <> ?"
    if connection.execute(strange, (VERSION,)).fetchone():
        raise BrokenJournalError("it is another program's database")
    return False


def _make_tables(connection: sqlite3.Connection) -> None:
    with in_one_step(connection):
        # Another process may have made the tables while this one waited.
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")


def journal_error(path: Path, error: Exception) -> Exception:
    """A database error as what it means: broken for good, or refused by the system for now."""
    return BrokenJournalError(one_line(error)) if shows_damage(path, error) else refused(path, error)


def refused(path: Path, error: Exception) -> StorageError:
    """The error for a journal that cannot be written now."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else one_line(error)
    return StorageError(
        f"the history cannot be written ({said})",
        remedy=remedy_for(error, path) or TryAgain(),
        where=str(path),
        kept="nothing was written",
    )


def quarantine_journal(path: Path, folder: Path, stamp: str) -> None:
    """Moves a broken journal with its side files into `folder`, bytes intact."""
    try:
        move_away(path, folder, stamp)
    except OSError as error:
        raise refused(path, error) from error
