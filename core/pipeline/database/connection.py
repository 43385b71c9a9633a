"""The pipeline's database: its tables for reading and within one transaction, its errors in the tree of ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from core.errors import BrokenFileError, LockTimeoutError, TryAgain
from core.folder import PIPELINE_FILE as PIPELINE_FILE
from core.pipeline.database.outbox_lock import outbox_lock
from core.pipeline.database.tables import Tables
from core.pipeline.transaction_guard import holding_a_transaction
from core.storage import database
from core.storage.database import BUSY_SECONDS, BrokenDatabaseError, ForeignDatabaseError, Schema, in_one_step
from core.storage.files.atomic import make_folder
from core.storage.journal.belonging import ID_NAME, folder_id, may_belong
from core.storage.safety.quarantine import QUARANTINE

SCHEMA: Final = Schema(
    "the pipeline's database",
    Path(__file__).with_name("schema.sql"),
    ("SELECT id FROM jobs ORDER BY id DESC LIMIT 1",),
)
# How long who only looks something up waits for who writes.
GLANCE_SECONDS: Final = 0.05
_SET_ASIDE_SECONDS: Final = 15.0


class Database(database.Database):
    """The pipeline's database in the folder of one memory.

    `notice` says what happened to a broken file when it was opened, "" otherwise. A file that may not be written is
    looked at. Errors of all that reads and writes: StorageError, BrokenFileError, ReadOnlyError for another version,
    and LockTimeoutError where another process writes for too long.
    """

    def __init__(self, home: Path, *, seconds: float = BUSY_SECONDS, read_only: bool = False) -> None:
        super().__init__(home / PIPELINE_FILE, SCHEMA, seconds=seconds, read_only=read_only)
        self.notice = ""
        # Of `facts.matching`, for all who use it.
        self.counted_words: dict[str, tuple[int, int]] = {}
        # Of `documents.search`.
        self.counted_chunk_words: dict[str, tuple[int, int]] = {}

    @classmethod
    def open(cls, home: Path, *, seconds: float = BUSY_SECONDS) -> Self:
        """The database of a memory folder, made when there is none; a broken one is set aside in quarantine/ with its
        bytes intact, and a new one begun. seconds: how long other writers are waited for.
        """
        made = cls(home, seconds=seconds)
        make_folder(home)
        try:
            made.connect()
        except BrokenFileError:
            if made.read_only:
                raise
            made._begin_anew(home)
        return made

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

    @property
    def reading(self) -> Tables:
        """The tables through this thread's connection for reading; writing through it fails. Rows are `sqlite3.Row`."""
        self.follow()
        return Tables(self.reader())

    @contextmanager
    def checked_reading(self) -> Iterator[Tables]:
        """The tables for reading, for whom errors of the database are to be errors of ours."""
        with self.errors():
            yield self.reading

    @contextmanager
    def write(self, *, lasting: bool = True) -> Iterator[Tables]:
        """The tables in one transaction, see `transaction`. Within it no model may be called and nothing fetched:
        `transaction_guard.assert_outside_transaction` raises.
        """
        self.follow()
        with self.transaction(lasting=lasting) as connection, holding_a_transaction():
            yield Tables(connection)

    def leave_no_byte(self) -> None:
        """Makes the file anew after rows were masked, so that nothing of the former ones is left in it or beside it.

        Raises StorageError or LockTimeoutError when another program is in the way; doing it again then finishes it.
        """
        self.vacuum()
        with self.write() as writer:
            # The numbers of rows, by which the index knows them, may differ in the new file.
            writer.masking.index_anew()
        self.empty_log()
        with self.write() as writer:
            writer.masking.finish()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Errors of the database as errors of ours."""
        try:
            with super().errors():
                yield
        except BrokenDatabaseError as error:
            raise unreadable(self.path, error) from error

    def _connect(self) -> sqlite3.Connection:
        connection = super()._connect()
        connection.row_factory = sqlite3.Row
        return connection

    def _open(self) -> None:
        super()._open()
        if self.read_only:
            return
        try:
            self._check_id(self.connect())
        except BaseException:
            self.close()
            raise

    def _check_id(self, writer: sqlite3.Connection) -> None:
        """Refuses the database of another memory; one that bears no id yet gets this folder's."""
        row = writer.execute("SELECT value FROM meta WHERE name = ?", (ID_NAME,)).fetchone()
        if row is not None and not may_belong(row[0], self.path.parent):
            raise ForeignDatabaseError("belongs to another memory")
        folder = folder_id(self.path.parent) if row is None else None
        if folder is not None and folder.sure:
            with in_one_step(writer):
                writer.execute("INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)", (ID_NAME, folder.id))

    def _begin_anew(self, home: Path) -> None:
        """Sets what cannot be read aside; one process at a time, since another one may have begun anew already."""
        with outbox_lock(home, _SET_ASIDE_SECONDS) as mine:
            if not mine:
                raise LockTimeoutError(
                    "another process is using the pipeline's database, which cannot be read", remedy=TryAgain(),
                    where=str(self.path), kept="the file is unchanged",
                )  # fmt: skip
            try:
                self.connect()
            except BrokenFileError as error:
                self.set_aside(home / QUARANTINE, datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ"))
                self.connect()
                self.notice = (
                    f"{error.message}; the file is now in {home / QUARANTINE}, and a new one is started"
                )


@contextmanager
def open_read_only(home: Path, *, seconds: float = BUSY_SECONDS) -> Iterator[Tables]:
    """The database of a memory that has one, opened to look: nothing is made, repaired or written. Errors as in
    `Database`.
    """
    with closing(Database(home, seconds=seconds, read_only=True)) as looked_at, looked_at.errors():
        yield Tables(looked_at.connect())


def refuse_damaged(home: Path) -> None:
    """Raises BrokenFileError when something in the database is damaged, also what nobody reads just now."""
    if said := database.damage_in(home / PIPELINE_FILE):
        raise unreadable(home / PIPELINE_FILE, BrokenDatabaseError(said))


def unreadable(path: Path, error: BrokenDatabaseError) -> BrokenFileError:
    """The error for a database that is damaged, or that is not this memory's."""
    foreign = isinstance(error, ForeignDatabaseError)
    return BrokenFileError(
        f"the pipeline's database {error}" if foreign else f"the pipeline's database cannot be read ({error})",
        where=str(path), kept="the file is unchanged, and your notes are not in it",
        todo="restore a copy of it, or move it and its -wal and -shm files away to start a new one",
    )  # fmt: skip
