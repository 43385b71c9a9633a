"""Rows of sessions: that each was there, what happened in it since its last checkpoint, and the checkpoints."""

from __future__ import annotations

import json
import sqlite3
from typing import Final, NamedTuple

from core.pipeline.database.session_memories import SCORE, SessionScore
from core.pipeline.records import SessionOverview

MOST_QUERIES: Final = 20
MOST_REMEMBERS: Final = 10
MOST_SNIPPETS: Final = 10
MOST_FILES: Final = 20
LONGEST_SNIPPET: Final = 200
LONGEST_STORED: Final = 120
_LONGEST_CONTEXT: Final = 2_000


class Activity(NamedTuple):
    """What happened, the latest last. prompts: how many; snippets: the beginnings of the latest ones. context: what the
    agent said that it works on.
    """

    prompts: int = 0
    queries: tuple[str, ...] = ()
    remembers: tuple[str, ...] = ()
    snippets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    context: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing happened."""
        return self == Activity()

    def merged(self, later: Activity) -> Activity:
        """Both, within bounds: what was said before is not said again, and the newest context stands."""
        return Activity(
            self.prompts + later.prompts,
            _newest((*self.queries, *later.queries), LONGEST_SNIPPET, MOST_QUERIES),
            _newest((*self.remembers, *later.remembers), LONGEST_STORED, MOST_REMEMBERS),
            tuple(_lines((*self.snippets, *later.snippets), LONGEST_SNIPPET))[-MOST_SNIPPETS:],
            _newest((*self.files, *later.files), 4 * LONGEST_SNIPPET, MOST_FILES),
            (later.context.strip() or self.context)[:_LONGEST_CONTEXT],
        )

    def as_json(self) -> str:
        """As the database holds it."""
        return json.dumps(self._asdict(), ensure_ascii=False)


def activity_of(text: str) -> Activity:
    """What `as_json` said; nothing for a text that it never said."""
    try:
        held = json.loads(text)
        queries, remembers, snippets, files = (
            tuple(map(str, held[name])) for name in ("queries", "remembers", "snippets", "files")
        )
        return Activity(int(held["prompts"]), queries, remembers, snippets, files, str(held["context"]))
    except (ValueError, KeyError, TypeError):
        return Activity()


def is_due(elapsed: int, prompts: int, *, interval: int, prompt_interval: int) -> bool:
    """Whether a periodic checkpoint is due. elapsed, interval: milliseconds since the last one, and at most."""
    return prompts > 0 and (elapsed >= interval or prompts >= prompt_interval)


def _newest(said: tuple[str, ...], longest: int, most: int) -> tuple[str, ...]:
    """Each once, the newest of them."""
    return tuple(dict.fromkeys(_lines(said, longest)))[-most:]


def _lines(said: tuple[str, ...], longest: int) -> list[str]:
    lines = (" ".join(one.split())[:longest] for one in said)
    return [line for line in lines if line]


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


_COLUMNS = "id, session_key, project, author, cause, digest, redactions, created_at"

_SELECT = (
    "SELECT session_key, project, author, started_at, updated_at, ended_at, prompts, marked, since, activity, due_at "
    "FROM sessions LEFT JOIN pending_checkpoints USING (session_key)"
)


_SCORE = ", ".join(f"score.{name.strip()}" for name in SCORE.split(","))
# Each session that happened or has checkpoints: what is told of it, and its score.
_OVERVIEWS = f"""
WITH kept AS (SELECT session_key, max(id) AS newest, count(*) AS number, min(created_at) AS first,
    max(created_at) AS last FROM checkpoints GROUP BY session_key)
SELECT names.session_key, coalesce(nullif(one.project, ''), newest.project, '') AS project,
    coalesce(one.author, newest.author, '') AS author, coalesce(one.started_at, kept.first, 0) AS started,
    max(coalesce(one.updated_at, 0), coalesce(kept.last, 0)) AS updated, one.ended_at, coalesce(one.prompts, 0),
    coalesce(kept.number, 0), due.activity IS NOT NULL,
    (SELECT count(*) FROM session_memories AS given WHERE given.session_key = names.session_key),
    {_SCORE}
FROM (SELECT session_key FROM sessions UNION SELECT session_key FROM checkpoints) AS names
LEFT JOIN sessions AS one USING (session_key) LEFT JOIN kept USING (session_key)
LEFT JOIN checkpoints AS newest ON newest.id = kept.newest
LEFT JOIN pending_checkpoints AS due USING (session_key) LEFT JOIN session_scores AS score USING (session_key)
"""


class Sessions:
    """Sessions of agents."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def session(self, key: str) -> Session | None:
        """A session; None for one that is not known."""
        row = self._connection.execute(f"{_SELECT} WHERE session_key = ?", (key,)).fetchone()
        return None if row is None else _session(row)

    def overviews(self, most: int, key: str = "") -> tuple[SessionOverview, ...]:
        """The sessions in short, those that something happened in last first, those that only have checkpoints among
        them. key: of one session alone.
        """
        which = "WHERE names.session_key = ?" if key else ""
        rows = self._connection.execute(
            f"{_OVERVIEWS} {which} ORDER BY updated DESC, names.session_key LIMIT ?",
            (key, most) if key else (most,),
        ).fetchall()
        scores = [SessionScore(*row[10:]) if row["scored_at"] is not None else None for row in rows]
        return tuple(
            SessionOverview(*(*row[:8], bool(row[8]), row[9], score))
            for row, score in zip(rows, scores, strict=True)
        )

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

    # Checkpoints

    def insert_checkpoint(self, checkpoint: Checkpoint) -> int:
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


def _session(row: sqlite3.Row) -> Session:
    *values, activity, due = row
    return Session._make((*values, activity_of(activity or ""), due))
