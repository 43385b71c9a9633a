"""The pipeline's database: its tables for reading and within one transaction, its errors in the tree of ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Self

from core.errors import BrokenFileError
from core.folder import DATABASE_FILE
from core.pipeline.database.tables import Tables
from core.pipeline.transaction_guard import holding_a_transaction
from core.storage import database
from core.storage.database import (
    BUSY_SECONDS,
    PIPELINE_SIGN,
    BrokenDatabaseError,
    ForeignDatabaseError,
    Part,
    has_pipeline,
)
from core.storage.files.atomic import locked, make_folder
from core.storage.journal.schema import HISTORY

PIPELINE: Final = Part(
    Path(__file__).with_name("schema.sql"), ("SELECT id FROM jobs ORDER BY id DESC LIMIT 1",), PIPELINE_SIGN
)
# How long who only looks something up waits for who writes.
GLANCE_SECONDS: Final = 0.05
_SET_ASIDE_SECONDS: Final = 15.0


class Database(database.Database):
    """The pipeline's tables in the database of one memory.

    `notice` says what happened to a broken file when it was opened, "" otherwise. A file that may not be written is
    looked at. Errors of all that reads and writes: StorageError, BrokenFileError, ReadOnlyError for another version,
    and LockTimeoutError where another process writes for too long.
    """

    def __init__(self, home: Path, *, seconds: float = BUSY_SECONDS, read_only: bool = False) -> None:
        super().__init__(home / DATABASE_FILE, HISTORY, PIPELINE, seconds=seconds, read_only=read_only)
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
        except BrokenFileError as error:
            cause = error.__cause__
            if made.read_only or not isinstance(cause, BrokenDatabaseError):
                raise
            with locked(home, seconds=_SET_ASIDE_SECONDS):
                made.notice = made.begin_anew(cause)
        return made

    @staticmethod
    def exists(home: Path) -> bool:
        """Whether a memory folder has them, or something that cannot be read in their place; looking makes none."""
        return has_pipeline(home)

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

    @contextmanager
    def rehearsal(self) -> Iterator[Tables]:
        """As `write`, but whatever is written is taken back."""
        self.follow()
        with self.turn, self.errors(), holding_a_transaction():
            connection = self.connect()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield Tables(connection)
            finally:
                connection.execute("ROLLBACK")

    def clear(self) -> None:
        """Empties all tables of the pipeline in one step, and leaves no byte of their rows. What is in the
        notes and the history stays, and so does what a person said: that it is paused, and what is no secret.
        """
        with self.write() as writer:
            writer.masking.clear()
        self.leave_no_byte()

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


@contextmanager
def open_read_only(home: Path, *, seconds: float = BUSY_SECONDS) -> Iterator[Tables]:
    """The tables of a memory that has them, opened to look: nothing is made, repaired or written. Errors as in
    `Database`.
    """
    with closing(Database(home, seconds=seconds, read_only=True)) as looked_at, looked_at.errors():
        yield Tables(looked_at.connect())


def refuse_damaged(home: Path) -> None:
    """Raises BrokenFileError when something in the database is damaged, also what nobody reads just now."""
    if said := database.damage_in(home / DATABASE_FILE):
        raise unreadable(home / DATABASE_FILE, BrokenDatabaseError(said))


def unreadable(path: Path, error: BrokenDatabaseError) -> BrokenFileError:
    """The error for a database that is damaged, or that is not ours."""
    foreign = isinstance(error, ForeignDatabaseError)
    return BrokenFileError(
        f"the database {error}" if foreign else f"the database cannot be read ({error})",
        where=str(path), kept="the file is unchanged, and your notes are not in it",
        todo="restore a copy of it, or move it and its -wal and -shm files away to start a new one",
    )  # fmt: skip
