"""The migrations of pipeline.db: what brings the tables of each version to those of the next one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from core.pipeline.database.schema import FIRST_TABLES

# What an agent said of a session before its context went, without credentials; the oldest of a session go first.
# Version 1 made the table with the first checkpoint, so that it may be there already.
_CHECKPOINTS: Final = """
CREATE TABLE IF NOT EXISTS checkpoints (id INTEGER PRIMARY KEY AUTOINCREMENT, session_key TEXT NOT NULL, \
project TEXT NOT NULL, author TEXT NOT NULL, cause TEXT NOT NULL, digest TEXT NOT NULL, \
redactions INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS checkpoints_session ON checkpoints (session_key, id);
CREATE INDEX IF NOT EXISTS checkpoints_project ON checkpoints (project, id);
"""
# A change that waits for a person is open although the mode blocks it, and what it says is a note of its own meanwhile.
_OPEN_CHANGES: Final = """
DROP INDEX proposals_hash;
CREATE INDEX proposals_hash ON proposals (nugget, content_hash)
    WHERE status IN ('proposed', 'review', 'blocked', 'rejected');
DROP INDEX proposals_open;
CREATE INDEX proposals_open ON proposals (created_at) WHERE status IN ('proposed', 'review', 'blocked');
CREATE INDEX proposals_target ON proposals (target_note) WHERE target_note <> '';
CREATE INDEX proposals_replaced ON proposals (resolved_at)
    WHERE reason IN ('replaced_by_later', 'undone_by_person');
CREATE INDEX facts_proposal ON facts (proposal_id);
DROP INDEX outbox_once;
CREATE UNIQUE INDEX outbox_once ON graph_outbox (proposal_id, op);
INSERT INTO history (at, event, changed_by, reason, raw_id, proposal_id, fact_id, note_id, old_content, new_content,
    model, prompt_version, metadata)
SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000, 'reopened', 'pipeline-v2', reason, raw_id, id, '', target_note,
    target_content, content, model, prompt_version, '{}'
FROM proposals WHERE status = 'blocked' ORDER BY created_at, raw_id, place;
UPDATE proposals SET resolved_at = NULL, resolved_by = '' WHERE status = 'blocked';
"""
# Scripts in SQL, the first of which makes a new database; each brings the version before it to its own, counted from 1.
# To change the tables, add one at the end. One that was released stays as it is: databases of that version are about.
MIGRATIONS: Final = (
    FIRST_TABLES,
    _CHECKPOINTS,
    _OPEN_CHANGES,
)
VERSION: Final = len(MIGRATIONS)


class Migrations:
    """The version of a database, and the way to the present one. A version is the number of scripts it has seen."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def version(self) -> int:
        """The database's version; 0 for an empty one, whatever another program put there."""
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def is_empty(self) -> bool:
        """Whether the database has no table yet."""
        return self._connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None

    def take_step(self) -> None:
        """Brings the tables to the next version, in the caller's transaction."""
        version = self.version()
        for statement in _statements(MIGRATIONS[version]):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA user_version = {version + 1}")

    def take_all(self) -> None:
        """Brings the tables to the present version, in the caller's transaction."""
        while self.version() < VERSION:
            self.take_step()


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; a trigger holds several semicolons."""
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""
