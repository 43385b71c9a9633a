"""The one class through which the database of a memory is opened, checked, read, written and set aside."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from core.errors import (
    ErrorCode,
    LockTimeoutError,
    Notice,
    NuggetsError,
    ReadOnlyError,
    Remedy,
    StorageError,
    remedy_for,
)
from core.folder import DATABASE_FILE, QUARANTINE
from core.storage.files.atomic import can_be_locked, fingerprint, identity, write_target, wrong_kind
from core.storage.files.side_folders import side_folder

VERSION: Final = 1
# How far SQLite goes to have a transaction on disk when it ends.
DURABLE = "FULL"
RELAXED = "NORMAL"
BUSY_SECONDS: Final = 5.0
# By this table a database is known to hold the pipeline's.
PIPELINE_SIGN: Final = "raw_memories"
# How long who only looks something up waits for who writes.
_GLANCE_SECONDS: Final = 0.05
# What follows on the name of a database in the names of its files.
SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")
# All that reading a database may raise. UnicodeDecodeError: SQLite quotes bytes of a damaged table in its own words.
# MemoryError: a damaged length asks for more than there is.
DATABASE_ERRORS: Final = (sqlite3.DatabaseError, UnicodeDecodeError, MemoryError)
_FILE_MODE: Final = 0o600
# No version of ours will ever be this high: the number itself is damaged.
_NO_VERSION: Final = 1_000
# SQLITE_IOERR_SHMOPEN, SHMSIZE, SHMLOCK and SHMMAP; SQLITE_CANTOPEN, where the locks are folders.
_NO_SHARED_MEMORY: Final = (4618, 4874, 5130, 5386, sqlite3.SQLITE_CANTOPEN)
# No transaction takes so long: whoever made the lock was killed.
_STALE_SECONDS: Final = 60.0
# What SQLite says of a database that no waiting makes whole; SHORT_READ is an extended code.
_BROKEN_CODES: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
_SHORT_READ: Final = 522
# What damage may cause, and a sound database as well: a table that is in the way, for one.
_DOUBTFUL_CODES: Final = (
    sqlite3.SQLITE_ERROR, sqlite3.SQLITE_INTERNAL, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG,
)  # fmt: skip
# What an open database goes on to answer after its cause is gone.
_TILL_OPENED_AGAIN: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR)
# Which version of the format a file says it is written in, at this place of its header: WAL's is the highest.
_WRITTEN_IN, _HIGHEST_FORMAT = 18, 2


class BrokenDatabaseError(Exception):
    """The file is no database, a damaged one, or none of this memory."""


class ForeignDatabaseError(BrokenDatabaseError):
    """The database belongs to another memory or to another program."""


class Part(NamedTuple):
    """Tables of a database. script: the file of their SQL. probes: statements that a sound one answers. sign: one of
    the tables, which tells whether they are made yet; "" for what every database of ours has.
    """

    script: Path
    probes: tuple[str, ...] = ()
    sign: str = ""


class Database:
    """The SQLite file of a memory, for several threads and processes: one writes, others read beside it.

    read_only: no transaction can be made; so it is as well where the file may not be written.
    """

    def __init__(
        self, path: Path, *parts: Part, seconds: float = BUSY_SECONDS, read_only: bool = False
    ) -> None:
        """parts: the tables that are wanted, made where they are not there yet; others may stand beside them. seconds:
        how long other writers are waited for.
        """
        self.path = path
        self.parts = parts
        self.seconds = seconds
        self.read_only = read_only or (path.is_file() and not may_write(path))
        self.turn = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._lasting = True
        self._refused = False
        # Which file it is: somebody may take it away, or put another one in its place.
        self._file: tuple[object, ...] | None = None
        self._local = threading.local()
        self._readers: list[tuple[threading.Thread, sqlite3.Connection]] = []

    # Opening

    def connect(self) -> sqlite3.Connection:
        """The connection that writes, or that reads where nothing may be written. The file and its tables are made
        where there are none.

        Raises BrokenDatabaseError, StorageError, LockTimeoutError, and ReadOnlyError for another version or a link out
        of the folder.
        """
        with self.turn, self.errors():
            if self._connection is None:
                self._open()
            assert self._connection is not None
            return self._connection

    def _open(self) -> None:
        try:
            wrong = wrong_kind(write_target(self.path.parent, self.path))
            if wrong:
                raise BrokenDatabaseError(wrong)
            if not self.read_only:
                begin_file(self.path, self.parts)
            seen = self._seen()
            connection = self._connect()
        except OSError as error:
            raise self.meaning(error) from error
        try:
            if not self.read_only:
                # A database that is not ours is recognised before anything is written to it.
                if self._missing(connection):
                    # What is written goes into a log beside the file first, so that readers need not wait.
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.close()
                    connection = self._connect()
                    self._make_tables(connection)
                connection.execute(f"PRAGMA synchronous = {DURABLE}")
        except BaseException:
            connection.close()
            raise
        self._connection, self._lasting, self._refused = connection, True, False
        self._file = seen

    def _connect(self) -> sqlite3.Connection:
        connection = _connect(self.path, self.seconds, reading=self.read_only)
        try:
            if self.read_only:
                if self._missing(connection):
                    # A full disk left it so. Others see it without rows, too.
                    connection.close()
                    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                    make_tables(connection, self.parts)
                connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _missing(self, connection: sqlite3.Connection) -> list[Part]:
        """The parts whose tables are not made yet; a database without any tables is new."""
        version = self._version(connection)
        # One statement: another process may be making the tables.
        strange = "SELECT 1 FROM sqlite_master, pragma_user_version WHERE user_version <> ?"
        if version != VERSION:
            if version or connection.execute(strange, (VERSION,)).fetchone():
                raise ForeignDatabaseError("belongs to another program")
            return list(self.parts)
        missing = [part for part in self.parts if part.sign and not _has_table(connection, part.sign)]
        for part in self.parts:
            for probe in part.probes if part not in missing else ():
                try:
                    connection.execute(probe).fetchone()
                except sqlite3.OperationalError as error:
                    names = re.findall(r"(?m)^CREATE TABLE (\w+)", part.script.read_text("utf-8"))
                    wrong = not part.sign and code_of(error) == sqlite3.SQLITE_ERROR
                    if wrong and not any(_has_table(connection, name) for name in names):
                        raise ForeignDatabaseError("belongs to another program") from error
                    raise
        return missing

    def _version(self, connection: sqlite3.Connection) -> int:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if VERSION < version < _NO_VERSION:
            raise ReadOnlyError(
                f"the database has version {version}, newer than nuggets-tui supports ({VERSION})",
                code=ErrorCode.NEWER_VERSION, remedy=Remedy("update", "write"), where=str(self.path),
                kept="nothing was written",
            )  # fmt: skip
        return version

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        with in_one_step(connection):
            # Another process may have made the tables while this one waited.
            make_tables(connection, self._missing(connection))

    def _seen(self) -> tuple[object, ...] | None:
        """What tells the file from another one; of one that is read without locks, from a later state as well."""
        if self.read_only and not may_write(self.path):
            return fingerprint(self.path), fingerprint(self.path.with_name(self.path.name + "-wal"))
        return identity(self.path)

    @property
    def replaced(self) -> bool:
        """Whether the file was deleted or exchanged since it was opened, or the system now refuses it."""
        return self._connection is not None and (self._refused or self._seen() != self._file)

    def close(self) -> None:
        """Lets go of all connections; the next use opens the file again.

        What another thread reads through is left to that thread: SQLite crashes when it is closed meanwhile.
        """
        with self.turn:
            mine = threading.current_thread()
            for thread, reader in self._readers:
                if thread is mine or not thread.is_alive():
                    reader.close()
            if self._connection is not None:
                self._connection.close()
            self._readers, self._connection, self._local = [], None, threading.local()

    def follow(self) -> None:
        """Lets the file go where another one has taken its place, or it was taken away: what was written into the
        former one would be found by nobody.
        """
        if self.replaced:
            with self.turn:
                if self._connection is not None and not self._connection.in_transaction:
                    self.close()

    def begin_anew(self, error: BrokenDatabaseError) -> str:
        """Moves a file that is damaged, or of another memory, with its side files into `QUARANTINE`, bytes intact, and
        begins a new one. Returns what a person should know; "" when another process had done so. This is the one place
        where a database is set aside: anything but damage is an error, and the file stays. Under the memory's lock.

        error: what was found when it was used; when it could not be opened, that is tried again. Raises StorageError.
        """
        try:
            if self._connection is None or self._seen() != self._file:
                self.close()
                with Database.errors(self):
                    self._open()
                return ""
        except BrokenDatabaseError as again:
            error = again
        self.close()
        self.read_only = False
        folder = side_folder(self.path.parent, QUARANTINE)
        stamp = f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}-{os.urandom(4).hex()}"
        try:
            for side in SIDE_FILES:
                found = self.path.with_name(self.path.name + side)
                if os.path.lexists(found):
                    os.replace(found, folder / f"{stamp}-{found.name}")
        except OSError as refused:
            raise self.meaning(refused) from refused
        with Database.errors(self):
            self._open()
        what = str(error) if isinstance(error, ForeignDatabaseError) else f"is damaged ({error})"
        said = (
            f"the database {what}; it is kept in {folder}; no note or fact is lost; a new history starts now"
        )
        return Notice(said, where=str(self.path))

    # Reading and writing

    def reader(self) -> sqlite3.Connection:
        """This thread's connection for reading; writing through it fails. Errors as for `connect`."""
        self.connect()
        file = self._file
        reader: sqlite3.Connection | None = getattr(self._local, "reader", None)
        if reader is None or self._local.file != file:
            self._local.file, self._local.reader = file, None
            reader = self._connect()
            reader.execute("PRAGMA query_only = ON")
            self._local.reader = reader
            with self.turn:
                ended = [each for thread, each in self._readers if not thread.is_alive()]
                self._readers = [each for each in self._readers if each[0].is_alive()]
                self._readers.append((threading.current_thread(), reader))
            for each in ended:
                each.close()
        return reader

    @contextlib.contextmanager
    def transaction(self, *, lasting: bool = True) -> Iterator[sqlite3.Connection]:
        """All or nothing, with the turn to write taken at once. Not to be nested.

        lasting: whether it must outlive a power cut; otherwise it costs no wait for the disk, and outlives a crash of
        the program only. Errors as for `connect`.
        """
        with self.turn, self.errors():
            connection = self.connect()
            if self.read_only:
                raise ReadOnlyError(
                    "the database is read-only", where=str(self.path), kept="nothing was written",
                    todo="check its permissions, and those of its folder",
                )  # fmt: skip
            if lasting is not self._lasting:
                connection.execute(f"PRAGMA synchronous = {DURABLE if lasting else RELAXED}")
                self._lasting = lasting
            with in_one_step(connection):
                # A newer version may have changed the tables since this one opened them.
                self._version(connection)
                yield connection

    def vacuum(self) -> None:
        """Writes the file anew, without the pages and parts of pages that nothing stands in any more."""
        with self.turn, self.errors():
            self.connect().execute("PRAGMA secure_delete = ON")
            self.connect().execute("VACUUM")

    def empty_log(self) -> None:
        """Brings all into the file itself, and leaves nothing in the log of writes beside it.

        Raises StorageError when another program is reading just now.
        """
        with self.turn, self.errors():
            busy = self.connect().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StorageError(
                "another program is reading the database, so a side file still holds what was taken out of it",
                where=str(self.path), kept="what is done so far stays so", todo="do it again when it is done",
            )  # fmt: skip

    # Errors

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Within this, errors of SQLite become what they mean. Values that are none of ours make any code stumble, so
        that any other error becomes BrokenDatabaseError, too, where the file is damaged.
        """
        try:
            yield
        except (NuggetsError, BrokenDatabaseError, OSError):
            raise
        except Exception as error:
            # A rule of the tables that was met is for whoever wrote the statement.
            if isinstance(error, DATABASE_ERRORS) and not isinstance(error, sqlite3.IntegrityError):
                raise self.meaning(error) from error
            if said := damage_in(self.path):
                raise BrokenDatabaseError(said) from error
            raise

    def meaning(self, error: Exception) -> Exception:
        """An error of SQLite or the system as what it means: broken for good, busy, or refused."""
        if shows_damage(self.path, error):
            return BrokenDatabaseError(one_line(error))
        self._refused = code_of(error) in _TILL_OPENED_AGAIN
        return refusal(self.path, error)


def make_tables(connection: sqlite3.Connection, parts: Iterable[Part]) -> None:
    """Makes tables that are not there yet, in the caller's transaction."""
    for part in parts:
        statement = ""
        for line in part.script.read_text("utf-8").splitlines(keepends=True):
            # A trigger holds several semicolons.
            statement += line
            if sqlite3.complete_statement(statement):
                connection.execute(statement)
                statement = ""
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
    return found.fetchone() is not None


# What was found in a database, with the state that it was in: asked at each search and each second, it need not be
# opened again, which a watched folder would tell of.
_HOLDS_PIPELINE: Final[dict[Path, tuple[object, bool]]] = {}


def has_pipeline(home: str | os.PathLike[str]) -> bool:
    """Whether a memory has a pipeline: a text was submitted there once. What cannot be read may hold one, and opening
    it tells what is wrong with it. Makes no file.
    """
    path = Path(home, DATABASE_FILE)
    if not path.is_file():
        return os.path.lexists(path)
    files = (fingerprint(path.with_name(path.name + side)) for side in ("", "-wal"))
    # Opening one as the superuser changes its last time.
    state = [made and made[:3] for made in files]
    known = _HOLDS_PIPELINE.get(path)
    if known is not None and known[0] == state:
        return known[1]
    try:
        with contextlib.closing(_connect(path, _GLANCE_SECONDS, reading=True)) as connection:
            found = _has_table(connection, PIPELINE_SIGN)
    except (*DATABASE_ERRORS, OSError):
        return True
    _HOLDS_PIPELINE[path] = state, found
    return found


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


def may_write(path: Path) -> bool:
    """Whether a database that is there, and files beside it, may be written."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def begin_file(path: Path, parts: tuple[Part, ...] = ()) -> None:
    """Makes an empty file for a database of these parts where there is none. Raises OSError."""
    if not path.exists():
        # Made here, so that its side files inherit a mode that keeps other people out.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, _FILE_MODE))


def _connect(path: Path, seconds: float, *, reading: bool = False) -> sqlite3.Connection:
    """Opens a database that is there, also in a shared folder: where its files cannot be locked, a folder beside it is
    the lock; where programs cannot share memory, it is written without.

    reading: what is in the log beside it stays there. Whoever may write, and closes it last, brings it into the file.
    """
    if not may_write(path):
        return _connect_unwritable(path, seconds)
    if reading and _has_log(path):
        return _connect_by("mode=ro", path, seconds)
    vfs = ""
    if not can_be_locked(path.parent):
        vfs, lock = "&vfs=unix-dotfile", path.with_name(f"{path.name}.lock")
        with contextlib.suppress(OSError):
            if time.time() - lock.stat().st_mtime > _STALE_SECONDS:
                lock.rmdir()
    connection = _connect_by(f"mode=rw{vfs}", path, seconds)
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except DATABASE_ERRORS as error:
        if getattr(error, "sqlite_errorcode", 0) not in _NO_SHARED_MEMORY:
            # Whoever works with it meets it.
            return connection
        connection.close()
        # Who has the file alone needs no shared memory, and can have it written without.
        with contextlib.closing(_connect_by(f"mode=rw{vfs}", path, seconds)) as alone:
            alone.execute("PRAGMA locking_mode = EXCLUSIVE")
            alone.execute("PRAGMA journal_mode = DELETE")
        return _connect_by(f"mode=rw{vfs}", path, seconds)
    return connection


def _has_log(path: Path) -> bool:
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except OSError:
        return False


def _connect_unwritable(path: Path, seconds: float) -> sqlite3.Connection:
    """Opens a database beside which nothing may be written: as it stands, through the side files of who has it open,
    or else as a copy, since reading what is only in the log beside it would make such files.
    """
    if not _has_log(path):
        return _connect_by("mode=ro&immutable=1", path, seconds)
    if path.with_name(path.name + "-shm").exists():
        return _connect_by("mode=ro", path, seconds)
    from tempfile import TemporaryDirectory

    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with TemporaryDirectory() as folder:
        for side in ("", "-wal"):
            shutil.copyfile(path.with_name(path.name + side), Path(folder, f"copy{side}"))
        with contextlib.closing(sqlite3.connect(Path(folder, "copy"))) as source:
            source.backup(copy)
    return copy


def _connect_by(how: str, path: Path, seconds: float) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(address, uri=True, timeout=seconds, isolation_level=None, check_same_thread=False)


# What errors mean


def code_of(error: BaseException) -> int:
    """SQLite's code of an error, 0 for one that the module raises by itself."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def one_line(error: BaseException) -> str:
    """What an error of a database or the system says, for a person."""
    if isinstance(error, UnicodeDecodeError):
        return "its text is damaged"
    said = error.strerror if isinstance(error, OSError) else str(error)
    return " ".join((said or "").split()) or type(error).__name__


def shows_damage(path: Path, error: BaseException) -> bool:
    """Whether an error that reading or writing a database raised says that its bytes are damaged."""
    if not isinstance(error, sqlite3.DatabaseError):
        return isinstance(error, UnicodeDecodeError)
    return _is_of_damage(path, error) or (code_of(error) in _DOUBTFUL_CODES and bool(damage_in(path)))


def _is_of_damage(path: Path, error: sqlite3.DatabaseError) -> bool:
    """Whether an error is by itself one of damaged bytes."""
    code = getattr(error, "sqlite_errorcode", 0)
    if code & 0xFF == sqlite3.SQLITE_READONLY:
        # What is written in a format of the future may be read, so SQLite says; there is none.
        with contextlib.suppress(OSError, IndexError), path.open("rb") as file:
            return file.read(_WRITTEN_IN + 1)[_WRITTEN_IN] > _HIGHEST_FORMAT
        return False
    # A column's text that is no UTF-8 has no code. Nor has a misuse by ourselves, which is of another class.
    no_text = not code and isinstance(error, sqlite3.OperationalError)
    return no_text or code == _SHORT_READ or code & 0xFF in _BROKEN_CODES


def damage_in(path: Path) -> str:
    """What is damaged in a database that something stumbled over, "" when it is sound or cannot be looked at now.

    Reads all of it: pages, rules of the tables, types of the values. For after an error only.
    """
    try:
        with contextlib.closing(_connect(path, BUSY_SECONDS, reading=True)) as connection:
            connection.execute("PRAGMA query_only = ON")
            said = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if said == "ok" and connection.execute("PRAGMA foreign_key_check").fetchone():
                return "a row refers to a missing row"
            return "" if said == "ok" else " ".join(str(said).split())
    except DATABASE_ERRORS as error:
        damaged = not isinstance(error, sqlite3.DatabaseError) or _is_of_damage(path, error)
        return one_line(error) if damaged else ""
    except OSError:
        return ""


def refusal(path: Path, error: BaseException) -> NuggetsError:
    """The error for a database that the system or another program keeps from being used now."""
    code, remedy = code_of(error), remedy_for(error, path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LockTimeoutError(
            "another process is still writing the database", remedy=Remedy("try-again"), where=str(path),
            kept="nothing was written",
        )  # fmt: skip
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return ReadOnlyError(
            "the database is read-only", remedy=remedy, where=str(path), kept="nothing was written",
            todo="" if remedy else "check its permissions",
        )  # fmt: skip
    return StorageError(
        f"the database cannot be used ({one_line(error)})", remedy=remedy or Remedy("try-again"), where=str(path),
        kept="nothing was written",
    )  # fmt: skip
