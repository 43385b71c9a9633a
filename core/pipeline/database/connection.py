"""How pipeline.db is opened, read and written: one writer at a time, readers beside it, errors in one tree."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from core.errors import (
    BrokenFileError,
    ErrorCode,
    LockTimeoutError,
    NuggetsError,
    ReadOnlyError,
    StorageError,
    TryAgain,
    Update,
    remedy_for,
)
from core.folder import PIPELINE_FILE as PIPELINE_FILE
from core.pipeline.database.outbox_lock import outbox_lock
from core.pipeline.database.schema import VERSION, is_empty, make_tables, version_of
from core.pipeline.database.tables import Tables
from core.pipeline.transaction_guard import holding_a_transaction
from core.storage.files.atomic import identity, make_folder, write_target, wrong_kind
from core.storage.files.sqlite import (
    BUSY_SECONDS,
    DATABASE_ERRORS,
    NO_VERSION,
    address_to_read,
    begin_file,
    code_of,
    connect_to_look,
    connect_to_write,
    damage_in,
    in_one_step,
    log_beside,
    may_write,
    move_away,
    one_line,
    shows_damage,
)
from core.storage.journal.belonging import ID_NAME, folder_id, may_belong
from core.storage.safety.quarantine import QUARANTINE

_SET_ASIDE_SECONDS: Final = 15.0
_BUSY_CODES: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_READ_ONLY_CODES: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)


class ForeignDatabaseError(BrokenFileError):
    """The database belongs to another memory."""


class Database:
    """The pipeline's database in the folder of one memory. Safe to use from several threads and processes.

    `notice` says what happened to a broken file when it was opened, "" otherwise.
    """

    def __init__(self, home: Path, *, seconds: float = BUSY_SECONDS) -> None:
        self.path = home / PIPELINE_FILE
        self.notice = ""
        # Of `facts.matching`, for all who use it.
        self.counted_words: dict[str, tuple[int, int]] = {}
        # Of `documents.search`.
        self.counted_chunk_words: dict[str, tuple[int, int]] = {}
        self._seconds = seconds
        # Where it may not be written, it is looked at all the same.
        self._looks = self.path.is_file() and not may_write(self.path)
        self._writer: sqlite3.Connection | None = None
        # What the writer's next transaction is, unless it is told otherwise.
        self._lasting = True
        # Which file it is: somebody may take it away, or put another one in its place.
        self._file: tuple[int, int] | None = None
        self._turn = threading.RLock()
        self._local = threading.local()
        self._readers: list[tuple[threading.Thread, sqlite3.Connection]] = []

    @classmethod
    def open(cls, home: Path, *, seconds: float = BUSY_SECONDS) -> Self:
        """Opens the database of a memory folder, making it when there is none.

        A broken one is set aside in quarantine/ with its bytes intact, and a new one begun; one that may not be written
        is looked at. seconds: how long other
        writers are waited for. Raises StorageError, and ReadOnlyError for one that a newer version made.
        """
        database = cls(home, seconds=seconds)
        make_folder(home)
        check_kind(home)
        if database._looks:
            with open_read_only(home):
                return database
        try:
            database._connect()
        except BrokenFileError:
            database._begin_anew(home)
        return database

    @staticmethod
    def exists(home: Path) -> bool:
        """Whether a memory folder has one; looking makes none."""
        return (home / PIPELINE_FILE).is_file()

    @staticmethod
    def stands(home: Path) -> bool:
        """Whether anything stands where it belongs, be it a database or not; opening tells what is wrong with it."""
        try:
            (home / PIPELINE_FILE).lstat()
        except FileNotFoundError:
            return False
        except (OSError, ValueError):
            pass  # it cannot be seen whether there is one
        return True

    def close(self) -> None:
        """Lets go of all connections. May be called twice.

        What another thread reads through is left to that thread: SQLite crashes when it is closed meanwhile.
        """
        with self._turn:
            mine = threading.current_thread()
            for thread, reader in self._readers:
                if thread is mine or not thread.is_alive():
                    reader.close()
            if self._writer is not None:
                self._writer.close()
            self._readers, self._writer, self._local = [], None, threading.local()
            self._file = None

    @property
    def reading(self) -> Tables:
        """The tables through this thread's connection for reading; writing through it fails. Rows are `sqlite3.Row`."""
        self._follow_file()
        tables: Tables | None = getattr(self._local, "tables", None)
        if tables is None or self._local.file != self._file:
            self._local.file = self._file
            connection = self._new_connection()
            connection.execute("PRAGMA query_only = ON")
            tables = self._local.tables = Tables(connection)
            self._keep_reader(connection)
        return tables

    @contextmanager
    def reading_apart(self) -> Iterator[Tables]:
        """The tables for one long look, through a connection of its own, which may make temporary tables."""
        self._follow_file()
        with self._all_errors(), closing(self._new_connection()) as connection:
            yield Tables(connection)

    def _keep_reader(self, connection: sqlite3.Connection) -> None:
        """Keeps it for closing, and closes those of threads that have ended."""
        with self._turn:
            ended = [reader for thread, reader in self._readers if not thread.is_alive()]
            self._readers = [each for each in self._readers if each[0].is_alive()]
            self._readers.append((threading.current_thread(), connection))
        for reader in ended:
            reader.close()

    @contextmanager
    def checked_reading(self) -> Iterator[Tables]:
        """The tables for reading, for whom errors of the database are to be errors of ours."""
        with self._all_errors():
            yield self.reading

    @contextmanager
    def write(self, *, lasting: bool = True) -> Iterator[Tables]:
        """One transaction: committed at the end, rolled back when anything is raised. Not to be nested.

        lasting: whether it must outlive a power cut; otherwise it costs no wait for the disk, and outlives a crash of
        the program only. Within it no model may be called and nothing fetched: `guard.assert_outside_transaction`
        raises. Raises LockTimeoutError when another process writes for too long, StorageError when the system
        refuses.
        """
        with self._turn, self._all_errors():
            self._follow_file()
            writer = self._opened_to_write()
            if lasting is not self._lasting:
                writer.execute(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
                self._lasting = lasting
            with in_one_step(writer), holding_a_transaction():
                # A newer version may have changed the tables since this one opened them.
                _refuse_newer(self.path, version_of(writer))
                yield Tables(writer)

    def _opened_to_write(self) -> sqlite3.Connection:
        if self._writer is None:
            self._connect()
        assert self._writer is not None
        return self._writer

    def _follow_file(self) -> None:
        """Opens the database again where another file has taken its place, or it was taken away: what was written
        into the former one would be found by nobody.
        """
        if self._file is None or self._file == identity(self.path):
            return
        with self._turn:
            if self._writer is not None and not self._writer.in_transaction:
                self._writer.close()
                self._writer, self._file = None, None
                self._connect()

    def leave_no_byte(self) -> None:
        """Makes the file anew after rows were masked, so that nothing of the former ones is left in it or beside it.

        Raises StorageError or LockTimeoutError when another program is in the way; doing it again then finishes it.
        """
        self.make_anew()
        with self.write() as writer:
            writer.connection.execute("PRAGMA secure_delete = ON")
            # The numbers of rows, by which the index knows them, may differ in the new file.
            writer.masking.index_anew()
        self.empty_log()
        with self.write() as writer:
            writer.masking.finish()

    def make_anew(self) -> None:
        """Writes the file anew, without the pages and parts of pages that nothing stands in any more."""
        with self._turn, self._all_errors():
            self._opened_to_write().execute("VACUUM")

    def empty_log(self) -> None:
        """Brings all into the file itself, and leaves nothing in the log of writes beside it.

        Raises StorageError when another program is reading just now.
        """
        with self._turn, self._all_errors():
            busy = self._opened_to_write().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StorageError(
                "another program is reading the pipeline's database, so a side file still holds what you masked",
                where=str(self.path), kept="all else is masked", todo="mask again when it is done",
            )  # fmt: skip

    def _new_connection(self) -> sqlite3.Connection:
        if self._looks:
            return _look(self.path, self._seconds)
        connection = connect_to_write(self.path, self._seconds)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def _connect(self) -> None:
        if self._looks:
            raise ReadOnlyError(
                "the pipeline's database is read-only", where=str(self.path), kept="nothing was written",
                todo="check its permissions, and those of its folder",
            )  # fmt: skip
        with self._all_errors():
            begin_file(self.path)
            _refuse_newer(self.path, _version_seen(self.path))
            writer = self._new_connection()
            try:
                self._prepare(writer)
            except BaseException:
                writer.close()
                raise
            self._writer, self._lasting = writer, True
            self._file = identity(self.path)

    def _prepare(self, writer: sqlite3.Connection) -> None:
        version = version_of(writer)
        if version >= NO_VERSION:
            raise BrokenFileError("its version number is damaged", where=str(self.path))
        _refuse_newer(self.path, version)
        if version > 0:
            # Ours, or set aside before anything in it changes.
            writer.execute("SELECT id FROM jobs ORDER BY id DESC LIMIT 1").fetchone()
        log_beside(writer, self.path)
        # What was submitted must be there after a power cut as well.
        writer.execute("PRAGMA synchronous = FULL")
        if version <= 0:
            self._make_tables(writer)
        self._check_id(writer)

    def _make_tables(self, writer: sqlite3.Connection) -> None:
        with in_one_step(writer):
            # Another process may have made the tables while this one waited.
            version = version_of(writer)
            if version < 0 or (version == 0 and not is_empty(writer)):
                raise BrokenFileError(
                    "it is another program's database", code=ErrorCode.FOREIGN_DATABASE, where=str(self.path)
                )
            if version == 0:
                make_tables(writer)

    def _check_id(self, writer: sqlite3.Connection) -> None:
        """Raises BrokenFileError for the database of another memory; one that bears no id yet gets this folder's."""
        row = writer.execute("SELECT value FROM meta WHERE name = ?", (ID_NAME,)).fetchone()
        if row is not None and not may_belong(row[0], self.path.parent):
            raise ForeignDatabaseError(
                "it belongs to another memory", code=ErrorCode.FOREIGN_DATABASE, where=str(self.path)
            )
        folder = folder_id(self.path.parent) if row is None else None
        if folder is not None and folder.sure:
            with in_one_step(writer):
                writer.execute("INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)", (ID_NAME, folder.id))

    def database_errors(self) -> AbstractContextManager[None]:
        """Errors of the database as errors of ours."""
        return database_errors(self.path)

    @contextmanager
    def _all_errors(self) -> Iterator[None]:
        """Errors of the database and the system as errors of ours."""
        try:
            with self.database_errors():
                yield
        except OSError as error:
            raise as_nuggets_error(self.path, error) from error

    def _begin_anew(self, home: Path) -> None:
        """Sets what cannot be read aside; one process at a time, since another one may have begun anew already."""
        with outbox_lock(home, _SET_ASIDE_SECONDS) as mine:
            if not mine:
                raise LockTimeoutError(
                    "another process is using the pipeline's database, which cannot be read", remedy=TryAgain(),
                    where=str(self.path), kept="the file is unchanged",
                )  # fmt: skip
            try:
                self._connect()
            except BrokenFileError as error:
                foreign = isinstance(error, ForeignDatabaseError)
                self._set_aside(
                    home, "it belongs to another memory" if foreign else "it was not a readable database"
                )
                self._connect()

    def _set_aside(self, home: Path, why: str) -> None:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        folder = home / QUARANTINE
        try:
            move_away(self.path, folder, stamp)
        except OSError as error:
            raise as_nuggets_error(self.path, error) from error
        self.notice = f"{self.path}: {why}; the file is now in {folder}, and a new one is started"


@contextmanager
def open_read_only(home: Path) -> Iterator[Tables]:
    """The database of a memory that has one, opened to look: nothing is made, repaired or written.

    Raises StorageError, BrokenFileError, LockTimeoutError, and ReadOnlyError for one that a newer version made.
    """
    path = home / PIPELINE_FILE
    check_kind(home)
    try:
        with database_errors(path), closing(_look(path, BUSY_SECONDS)) as readable:
            readable.execute("PRAGMA query_only = ON")
            yield Tables(readable)
    except OSError as error:
        raise as_nuggets_error(path, error) from error


def _look(path: Path, seconds: float) -> sqlite3.Connection:
    """The database itself; for one that a full disk left without tables, an empty one in memory."""
    connection = connect_to_look(path, seconds=seconds)
    try:
        version = version_of(connection)
        _refuse_newer(path, version)
        empty = version == 0 and is_empty(connection)
    except BaseException:
        connection.close()
        raise
    if empty:
        connection.close()
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        make_tables(connection)
    connection.row_factory = sqlite3.Row
    return connection


def _version_seen(path: Path) -> int:
    """The version of a database, 0 where it cannot be told; opened to look, so closing it writes nothing either."""
    try:
        address, _ = address_to_read(path)
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as reader:
            return version_of(reader)
    except DATABASE_ERRORS:
        return 0


def _refuse_newer(path: Path, version: int) -> None:
    """Raises ReadOnlyError for a version that only a newer nuggets-tui knows."""
    if VERSION < version < NO_VERSION:
        raise ReadOnlyError(
            f"the pipeline's database has version {version}, newer than nuggets-tui supports ({VERSION})",
            code=ErrorCode.NEWER_VERSION,
            remedy=Update(),
            where=str(path),
            kept="nothing was written",
        )


def check_whole(reader: Tables, home: Path) -> None:
    """Raises BrokenFileError when some page of the database is damaged, also one that nobody reads just now."""
    wrong = reader.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if wrong != "ok":
        raise unreadable(home / PIPELINE_FILE, " ".join(str(wrong).split()))


def check_kind(home: Path) -> None:
    """Raises StorageError where no ordinary file of this folder stands in the database's place."""
    path = home / PIPELINE_FILE
    try:
        wrong = wrong_kind(write_target(home, path))
    except OSError as error:
        raise as_nuggets_error(path, error) from error
    if wrong:
        raise StorageError(
            f"{wrong}: the pipeline's database belongs there",
            code=ErrorCode.WRONG_KIND_OF_FILE,
            where=str(path),
            kept="it is unchanged",
            todo="move it away and try again",
        )


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Errors of the database at a path as errors of ours."""
    try:
        yield
    except (NuggetsError, OSError):
        raise
    except DATABASE_ERRORS as error:
        if shows_damage(path, error):
            # What a newer version renamed or took away is not found here, and nothing is damaged.
            _refuse_newer(path, _version_seen(path))
        # A rule of the tables that was met is for whoever wrote the statement.
        if not isinstance(error, sqlite3.IntegrityError):
            raise as_nuggets_error(path, error) from error
        _check_damage(path, error)
        raise
    except Exception as error:
        _check_damage(path, error)
        raise


def _check_damage(path: Path, stumbled: Exception) -> None:
    """Raises BrokenFileError when the database is damaged: values that are none of ours make any code stumble, while a
    fault of our own stays one.
    """
    said = damage_in(path)
    if said:
        raise unreadable(path, said) from stumbled


def as_nuggets_error(path: Path, error: Exception) -> NuggetsError:
    """An error of SQLite or the system as what it means: broken for good, busy, or refused."""
    code = code_of(error)
    if shows_damage(path, error):
        return unreadable(path, one_line(error))
    if code in _BUSY_CODES:
        return LockTimeoutError(
            "another process is still writing",
            remedy=TryAgain(),
            where=str(path),
            kept="nothing was written",
        )
    if code in _READ_ONLY_CODES:
        return ReadOnlyError(
            "the pipeline's database is read-only",
            remedy=remedy_for(error, path),
            where=str(path),
            kept="nothing was written",
            todo="" if remedy_for(error, path) else "check its permissions",
        )
    if code == sqlite3.SQLITE_CANTOPEN or isinstance(error, (PermissionError, FileNotFoundError)):
        return StorageError(
            "the pipeline's database cannot be opened",
            remedy=remedy_for(error, path),
            where=str(path),
            kept="nothing was written",
            todo=""
            if remedy_for(error, path)
            else "check that its folder exists, and the permissions of both",
        )
    said = error.strerror if isinstance(error, OSError) and error.strerror else one_line(error)
    return StorageError(
        f"the pipeline's database cannot be used ({said})",
        remedy=remedy_for(error, path) or TryAgain(),
        where=str(path),
        kept="nothing was written",
    )


def unreadable(path: Path, said: str) -> BrokenFileError:
    """The error for a database that is damaged."""
    return BrokenFileError(
        f"the pipeline's database cannot be read ({said})", where=str(path),
        kept="the file is unchanged, and your notes are not in it",
        todo="restore a copy of it, or move it and its -wal and -shm files away to start a new one",
    )  # fmt: skip
