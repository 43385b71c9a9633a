"""Rows of sessions: that each was there, and what happened in it since its last checkpoint."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from core.pipeline.continuity.activity import Activity, activity_of


class Session(NamedTuple):
    """A session as it is stored. prompts: all of them. marked: of the last event taken from hooks; 0 for none.

    since: of the last checkpoint, or of the beginning; pending: what happened from then on. due: when a checkpoint of
    that is to be kept, None for not yet. Times are in epoch milliseconds.
    """

    key: str
    project: str
    author: str
    started: int
    updated: int
    ended: int | None = None
    prompts: int = 0
    marked: int = 0
    since: int = 0
    pending: Activity = Activity()
    due: int | None = None


_SELECT = (
    "SELECT session_key, project, author, started_at, updated_at, ended_at, prompts, marked, since, activity, due_at "
    "FROM sessions LEFT JOIN pending_checkpoints USING (session_key)"
)


class Sessions:
    """Sessions of agents."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def session(self, key: str) -> Session | None:
        """A session; None for one that is not known."""
        row = self._connection.execute(f"{_SELECT} WHERE session_key = ?", (key,)).fetchone()
        return None if row is None else _session(row)

    def sessions(self, most: int) -> tuple[Session, ...]:
        """The sessions, those that something happened in last first."""
        rows = self._connection.execute(f"{_SELECT} ORDER BY updated_at DESC, session_key LIMIT ?", (most,))
        return tuple(map(_session, rows))

    def newest_pending(self, project: str, but: str = "") -> Session | None:
        """The session in which something happened last that no checkpoint tells of, of a project or ("") of all. but:
        another one than this.
        """
        where, values = ("AND project = ?", (but, project)) if project else ("", (but,))
        row = self._connection.execute(
            f"{_SELECT} WHERE activity IS NOT NULL AND session_key <> ? {where} "
            "ORDER BY updated_at DESC, session_key LIMIT 1",
            values,
        ).fetchone()
        return None if row is None else _session(row)

    def due(self, now: int) -> tuple[Session, ...]:
        """Sessions of which a checkpoint is to be kept by now."""
        rows = self._connection.execute(f"{_SELECT} WHERE due_at <= ? ORDER BY due_at, session_key", (now,))
        return tuple(map(_session, rows))

    def put(self, session: Session) -> None:
        """Stores a session, with what happened since its last checkpoint, in the place of what was known of it."""
        self._connection.execute(
            "INSERT OR REPLACE INTO sessions (session_key, project, author, started_at, updated_at, ended_at, prompts, "
            "marked, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            session[:9],
        )
        if session.pending.empty:
            self._connection.execute("DELETE FROM pending_checkpoints WHERE session_key = ?", (session.key,))
            return
        self._connection.execute(
            "INSERT OR REPLACE INTO pending_checkpoints (session_key, activity, due_at) VALUES (?, ?, ?)",
            (session.key, session.pending.as_json(), session.due),
        )


def _session(row: sqlite3.Row) -> Session:
    *values, activity, due = row
    return Session._make((*values, activity_of(activity or ""), due))
