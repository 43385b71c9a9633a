"""How the facts that were accepted stand, held against their notes: for following the graph, and for verify."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from core.pipeline.database.connection import (
    PIPELINE_FILE,
    as_nuggets_error,
    check_kind,
    database_errors,
    unreadable,
)
from core.storage.files.sqlite import BUSY_SECONDS

# Denied ones are out of the graph by what the pipeline itself did; of others it is a person who decides.
_STATUSES: Final = """
SELECT id, raw_id, proposal_id, note_id, content, status FROM facts
WHERE status <> 'denied' AND note_id <> '' AND NOT EXISTS (
    SELECT 1 FROM graph_outbox AS box WHERE box.note_id = facts.note_id AND box.status IN ('pending', 'failed'))
ORDER BY rowid
"""


@dataclass(frozen=True, slots=True)
class FactStatus:
    """A fact that was brought over, as the database has it."""

    id: str
    raw_id: str
    proposal_id: str
    note_id: str
    content: str
    status: Literal["active", "retracted"]


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """A row of the outbox that could not be brought over. error: why."""

    note_id: str
    op: str
    error: str


def fact_statuses(reader: sqlite3.Connection) -> tuple[FactStatus, ...]:
    """The facts that were brought over and for whose notes nothing waits."""
    return tuple(FactStatus(*row) for row in reader.execute(_STATUSES))


def failed_deliveries(reader: sqlite3.Connection) -> tuple[FailedDelivery, ...]:
    """What could not be brought over, oldest first."""
    rows = reader.execute("SELECT note_id, op, error FROM graph_outbox WHERE status = 'failed' ORDER BY id")
    return tuple(FailedDelivery(*row) for row in rows)


def known_facts(reader: sqlite3.Connection) -> frozenset[str]:
    """The ids of all facts, those that were denied as well."""
    return frozenset(row[0] for row in reader.execute("SELECT id FROM facts"))


def set_status(writer: sqlite3.Connection, fact: FactStatus, status: Literal["active", "retracted"]) -> bool:
    """Marks a fact as standing, or as taken back by a person; False when it has changed since it was read."""
    done = writer.execute(
        "UPDATE facts SET status = ? WHERE id = ? AND status = ? AND note_id = ?",
        (status, fact.id, fact.status, fact.note_id),
    )
    return done.rowcount == 1


def set_content(writer: sqlite3.Connection, fact: FactStatus, content: str, normalised_content: str) -> bool:
    """Gives a fact the words of its note; its hash stays, so that the former words are not learned again.

    False when it has changed since it was read.
    """
    done = writer.execute(
        "UPDATE facts SET content = ?, normalised_content = ? WHERE id = ? AND content = ? AND note_id = ?",
        (content, normalised_content, fact.id, fact.content, fact.note_id),
    )
    return done.rowcount == 1


@contextmanager
def open_read_only(home: Path) -> Iterator[sqlite3.Connection]:
    """The database of a memory that has one, opened to look: nothing is made, repaired or written.

    Raises StorageError, BrokenFileError, LockTimeoutError.
    """
    path = home / PIPELINE_FILE
    check_kind(home)
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with (
            database_errors(path),
            closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection,
        ):
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA query_only = ON")
            yield connection
    except OSError as error:
        raise as_nuggets_error(path, error) from error


def check_whole(reader: sqlite3.Connection, home: Path) -> None:
    """Raises BrokenFileError when some page of the database is damaged, also one that nobody reads just now."""
    wrong = reader.execute("PRAGMA quick_check(1)").fetchone()[0]
    if wrong != "ok":
        raise unreadable(home / PIPELINE_FILE, " ".join(str(wrong).split()))
