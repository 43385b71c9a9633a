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
# Documents, and the texts that they are cut into. A row of `documents` is one version of a document: it is replaced by
# another row, never written over. raw: the bytes as they came, until their text is there; content: that text,
# compressed; next_start: where the chunks written so far end. A text that several chunks have stands once; terms: its
# words, as a search spells them. place: counted from 0.
_DOCUMENTS: Final = """
CREATE TABLE documents (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('text', 'file', 'url')), source TEXT NOT NULL,
    title TEXT NOT NULL, media_type TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN (
        'queued', 'extracting', 'chunking', 'embedding', 'indexing', 'done', 'failed', 'unchanged')),
    error TEXT NOT NULL DEFAULT '', raw BLOB, source_hash TEXT NOT NULL, content BLOB,
    length INTEGER NOT NULL DEFAULT 0, content_hash TEXT NOT NULL DEFAULT '', hash_version INTEGER NOT NULL,
    chunk_size INTEGER NOT NULL DEFAULT 0, chunk_overlap INTEGER NOT NULL DEFAULT 0, chunks INTEGER NOT NULL DEFAULT 0,
    chunks_written INTEGER NOT NULL DEFAULT 0, next_start INTEGER NOT NULL DEFAULT 0, nugget TEXT NOT NULL,
    project TEXT NOT NULL, author TEXT NOT NULL, raw_id TEXT NOT NULL DEFAULT '', replaced_by TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, done_at INTEGER, removed_at INTEGER);
CREATE INDEX documents_source ON documents (source) WHERE source <> '' AND removed_at IS NULL;
CREATE INDEX documents_bytes ON documents (source_hash) WHERE source_hash <> '' AND removed_at IS NULL;
CREATE INDEX documents_present ON documents (created_at) WHERE removed_at IS NULL;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, content TEXT NOT NULL, terms TEXT NOT NULL, content_hash TEXT NOT NULL,
    hash_version INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE UNIQUE INDEX chunks_hash ON chunks (content_hash);
CREATE TABLE document_chunks (
    document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE, place INTEGER NOT NULL,
    chunk_id INTEGER NOT NULL REFERENCES chunks (id), PRIMARY KEY (document_id, place)) WITHOUT ROWID;
CREATE INDEX document_chunks_chunk ON document_chunks (chunk_id);
CREATE VIRTUAL TABLE chunks_fts USING fts5 (terms, content='chunks', content_rowid='id');
CREATE VIRTUAL TABLE chunks_terms USING fts5vocab (chunks_fts, row);
CREATE TRIGGER chunk_inserted AFTER INSERT ON chunks BEGIN
    INSERT INTO chunks_fts (rowid, terms) VALUES (new.id, new.terms);
END;
CREATE TRIGGER chunk_deleted AFTER DELETE ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, terms) VALUES ('delete', old.id, old.terms);
END;
CREATE TRIGGER chunk_updated AFTER UPDATE OF terms ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, terms) VALUES ('delete', old.id, old.terms);
    INSERT INTO chunks_fts (rowid, terms) VALUES (new.id, new.terms);
END;
"""
# What the notes name, by whomever they were written, and which hold a decision. It is made of the notes, and again
# where it is missing. text_hash: of the note as it was read. notes: how many notes bear a name.
_NOTE_NAMES: Final = """
CREATE TABLE note_links (note_id TEXT PRIMARY KEY, text_hash TEXT NOT NULL, protected INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE names (id INTEGER PRIMARY KEY, canonical_name TEXT NOT NULL UNIQUE, notes INTEGER NOT NULL DEFAULT 0);
CREATE INDEX names_notes ON names (notes);
CREATE TABLE note_names (
    note_id TEXT NOT NULL REFERENCES note_links (note_id) ON DELETE CASCADE,
    name_id INTEGER NOT NULL REFERENCES names (id) ON DELETE CASCADE, PRIMARY KEY (note_id, name_id)) WITHOUT ROWID;
CREATE INDEX note_names_name ON note_names (name_id);
CREATE TRIGGER name_borne AFTER INSERT ON note_names BEGIN
    UPDATE names SET notes = notes + 1 WHERE id = new.name_id;
END;
CREATE TRIGGER name_left AFTER DELETE ON note_names BEGIN
    UPDATE names SET notes = notes - 1 WHERE id = old.name_id;
    DELETE FROM names WHERE id = old.name_id AND notes = 0;
END;
CREATE VIRTUAL TABLE names_fts USING fts5 (canonical_name, content='names', content_rowid='id');
CREATE TRIGGER names_inserted AFTER INSERT ON names BEGIN
    INSERT INTO names_fts (rowid, canonical_name) VALUES (new.id, new.canonical_name);
END;
CREATE TRIGGER names_deleted AFTER DELETE ON names BEGIN
    INSERT INTO names_fts (names_fts, rowid, canonical_name) VALUES ('delete', old.id, old.canonical_name);
END;
"""
# Sessions of agents, and of each what happened since its last checkpoint: as JSON, without credentials.
_SESSIONS: Final = """
CREATE TABLE sessions (session_key TEXT PRIMARY KEY, project TEXT NOT NULL, author TEXT NOT NULL, \
started_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ended_at INTEGER, prompts INTEGER NOT NULL, \
marked INTEGER NOT NULL, since INTEGER NOT NULL);
CREATE INDEX sessions_updated ON sessions (updated_at);
CREATE TABLE pending_checkpoints (session_key TEXT PRIMARY KEY, activity TEXT NOT NULL, due_at INTEGER);
CREATE INDEX pending_checkpoints_due ON pending_checkpoints (due_at);
"""
# Which notes were recalled in which session, and whether they helped.
_SESSION_MEMORIES: Final = """
CREATE TABLE session_memories (session_key TEXT NOT NULL, note_id TEXT NOT NULL, times INTEGER NOT NULL, \
recalled_at INTEGER NOT NULL, relevance REAL, PRIMARY KEY (session_key, note_id));
CREATE TABLE session_scores (session_key TEXT PRIMARY KEY, scored_at INTEGER NOT NULL, score REAL, \
recalled INTEGER NOT NULL, used INTEGER NOT NULL);
"""
# Questions that a note answers, as a model made them of what it says; they go when it is read anew. hinted: which notes
# have been asked about, also where nothing came of it.
_HINTS: Final = """
CREATE TABLE hints (
    id INTEGER PRIMARY KEY, note_id TEXT NOT NULL, hint TEXT NOT NULL, folded TEXT NOT NULL, UNIQUE (note_id, folded));
CREATE TABLE hinted (note_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE hints_fts USING fts5 (hint, content='hints', content_rowid='id');
CREATE TRIGGER hints_inserted AFTER INSERT ON hints BEGIN
    INSERT INTO hints_fts (rowid, hint) VALUES (new.id, new.hint);
END;
CREATE TRIGGER hints_deleted AFTER DELETE ON hints BEGIN
    INSERT INTO hints_fts (hints_fts, rowid, hint) VALUES ('delete', old.id, old.hint);
END;
CREATE TRIGGER hints_go AFTER DELETE ON note_links BEGIN
    DELETE FROM hints WHERE note_id = old.note_id;
    DELETE FROM hinted WHERE note_id = old.note_id;
END;
"""
# Scripts in SQL, the first of which makes a new database; each brings the version before it to its own, counted from 1.
# To change the tables, add one at the end. One that was released stays as it is: databases of that version are about.
MIGRATIONS: Final = (
    FIRST_TABLES,
    _CHECKPOINTS,
    _OPEN_CHANGES,
    _DOCUMENTS,
    _NOTE_NAMES,
    _SESSIONS,
    _SESSION_MEMORIES,
    _HINTS,
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
