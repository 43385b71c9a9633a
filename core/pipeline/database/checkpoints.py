"""Rows of checkpoints: what an agent said of its session, so that it can be picked up after a crash or a compaction."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple


class Checkpoint(NamedTuple):
    """A checkpoint as it is stored. cause: what called for it. created_at: epoch ms."""

    id: int
    session: str
    project: str
    author: str
    cause: str
    digest: str
    redactions: int
    created_at: int


class OfSession(NamedTuple):
    """The checkpoints of a session in short: of the newest one whose and where, how many, and the first and last."""

    session: str
    project: str
    author: str
    number: int
    first: int
    last: int


_COLUMNS = "id, session_key, project, author, cause, digest, redactions, created_at"


class Checkpoints:
    """What agents said of their sessions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def insert(self, checkpoint: Checkpoint) -> int:
        """Adds a checkpoint, whose own id counts for nothing; the id that it gets."""
        row = self._connection.execute(
            f"INSERT INTO checkpoints ({_COLUMNS.removeprefix('id, ')}) VALUES (?, ?, ?, ?, ?, ?, ?)",
            checkpoint[1:],
        )
        assert row.lastrowid is not None
        return row.lastrowid

    def count_of(self, session: str) -> int:
        """How many checkpoints a session has."""
        found = self._connection.execute(
            "SELECT count(*) FROM checkpoints WHERE session_key = ?", (session,)
        ).fetchone()
        return int(found[0])

    def drop_oldest(self, session: str, most: int) -> int:
        """Deletes the oldest checkpoints of a session beyond so many; how many."""
        return self._connection.execute(
            "DELETE FROM checkpoints WHERE session_key = ? AND id NOT IN "
            "(SELECT id FROM checkpoints WHERE session_key = ? ORDER BY id DESC LIMIT ?)",
            (session, session, most),
        ).rowcount

    def by_session(self, most: int) -> tuple[OfSession, ...]:
        """The sessions that have checkpoints, that with the newest one first."""
        rows = self._connection.execute(
            "SELECT session_key, project, author, number, first, last FROM checkpoints JOIN "
            "(SELECT max(id) AS id, count(*) AS number, min(created_at) AS first, max(created_at) AS last "
            "FROM checkpoints GROUP BY session_key) USING (id) ORDER BY id DESC LIMIT ?",
            (most,),
        )
        return tuple(OfSession(*row) for row in rows)

    def newest_session(self, project: str) -> str | None:
        """The session with the newest checkpoint, of a project or ("") of all; None for none."""
        where, values = ("WHERE project = ?", (project,)) if project else ("", ())
        row = self._connection.execute(
            f"SELECT session_key FROM checkpoints {where} ORDER BY id DESC LIMIT 1", values
        ).fetchone()
        return None if row is None else str(row[0])

    def newest(self, session: str, most: int) -> tuple[Checkpoint, ...]:
        """The newest checkpoints of a session, at most so many, the newest first."""
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM checkpoints WHERE session_key = ? ORDER BY id DESC LIMIT ?",
            (session, most),
        )
        return tuple(Checkpoint(*row) for row in rows)
