"""Counts over all tables, for the status and for deciding what to do next; each costs what its index costs."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

from core.pipeline.database.documents import Documents
from core.pipeline.database.jobs import Jobs
from core.pipeline.records import JobStatus

# Who settled a proposal when nobody was asked.
_PIPELINE: Final = "pipeline"
# Jobs that every session leaves and that nobody waits for.
_UNSEEN: Final = "session_end"


class DatabaseCounts(NamedTuple):
    """Everything in counts. jobs: by status. Moments are epoch ms, None for never.

    since: from when on the oldest open work has waited. progress: when a job was last completed, a part of a long text
    read or a note written. unread: texts of which a part was not read. documents: those that are found,
    documents_waiting: those that wait for
    their job. sessions_waiting: those that ended and wait to be scored, for which nothing is ever stuck.
    """

    jobs: dict[JobStatus, int]
    proposals_open: int
    raw: int
    read: int
    facts: int
    outcomes: int
    entities: int
    outbox_pending: int
    outbox_conflicts: int
    last_written_at: int | None
    since: int | None
    progress: int | None
    died: int | None
    died_of: str
    unread: int = 0
    documents: int = 0
    documents_waiting: int = 0
    sessions_waiting: int = 0


def _since(one: _One) -> int | None:
    """A job that failed waits from its making on, one that was let go again from then on."""
    waiting = one(
        "SELECT min(CASE WHEN failed_at = updated_at THEN created_at ELSE updated_at END)"
        f" FROM jobs WHERE status = 'pending' AND type <> '{_UNSEEN}'"
    )
    running = one("SELECT min(leased_at) FROM jobs WHERE status = 'leased'")
    notes = one("SELECT min(created_at) FROM graph_outbox WHERE status = 'pending'")
    return min((moment for moment in (waiting, running, notes) if moment is not None), default=None)


class _One:
    """Asks for one number."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._reader = reader

    def __call__(self, statement: str) -> int | None:
        found: int | None = self._reader.execute(statement).fetchone()[0]
        return found

    def count(self, table: str) -> int:
        return self(f"SELECT count(*) FROM {table}") or 0


class Counts:
    """Counts over all tables."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def count_all(self) -> DatabaseCounts:
        """All counts as they are now."""
        one = _One(self._connection)
        completed = one("SELECT max(completed_at) FROM jobs WHERE status = 'completed'")
        written = one("SELECT max(done_at) FROM graph_outbox WHERE status = 'done'")
        dead = self._connection.execute(
            "SELECT failed_at, error FROM jobs WHERE status = 'dead' ORDER BY failed_at DESC, id DESC LIMIT 1"
        ).fetchone()
        part = one(
            "SELECT max(json_extract(result, '$.readAt')) FROM jobs WHERE status IN ('pending', 'leased')"
        )
        moments = [moment for moment in (completed, written, part) if moment is not None]
        return DatabaseCounts(
            jobs=Jobs(self._connection).counts(),
            proposals_open=one.count("proposals WHERE status IN ('proposed', 'review', 'blocked')"),
            raw=one.count("raw_memories"),
            read=one.count("raw_memories WHERE status = 'extracted'"),
            facts=one.count("facts WHERE status = 'active'"),
            # A fact that was known already is an outcome too.
            outcomes=one.count("proposals WHERE status IN ('applied', 'deduped', 'none', 'rejected')"),
            entities=one.count("entities"),
            outbox_pending=one.count("graph_outbox WHERE status = 'pending'"),
            outbox_conflicts=one.count("graph_outbox WHERE status IN ('conflict', 'failed')"),
            last_written_at=written,
            since=_since(one),
            progress=max(moments) if moments else None,
            died=dead["failed_at"] if dead else None,
            died_of=dead["error"] if dead else "",
            unread=Jobs(self._connection).unread(),
            documents=Documents(self._connection).count_present(),
            documents_waiting=Jobs(self._connection).documents_waiting(),
            sessions_waiting=one.count(f"jobs WHERE status = 'pending' AND type = '{_UNSEEN}'"),
        )

    def any_fact(self) -> bool:
        """Whether anything was ever learned, taken back since or not."""
        return bool(_One(self._connection)("SELECT EXISTS (SELECT 1 FROM facts)"))

    def accepted_waiting(self, most: int = 1_000) -> tuple[str, ...]:
        """Proposals that a person accepted and whose note is still to come, first those accepted first."""
        rows = self._connection.execute(
            "SELECT proposals.id FROM graph_outbox JOIN proposals ON proposals.id = graph_outbox.proposal_id"
            " WHERE graph_outbox.status = 'pending' AND resolved_by <> '' AND resolved_by NOT LIKE ?"
            " ORDER BY graph_outbox.id LIMIT ?",
            (f"{_PIPELINE}%", most),
        )
        return tuple(row[0] for row in rows)
