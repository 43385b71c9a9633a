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
# Decisions of people that touch no note, under the entry of the log by which they are undone. noted: whether the log
# has it. undone: whether it is undone at present. Hints go when their note changes; removed ones stay so.
_DECISIONS: Final = """
CREATE TABLE decisions (
    entry_id TEXT PRIMARY KEY, reason TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL,
    noted INTEGER NOT NULL DEFAULT 0, undone INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE refused_proposals (
    entry_id TEXT NOT NULL, proposal_id TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (entry_id, proposal_id)) WITHOUT ROWID;
CREATE TABLE removed_hints (
    note_id TEXT NOT NULL, folded TEXT NOT NULL, hint TEXT NOT NULL, entry_id TEXT NOT NULL,
    PRIMARY KEY (note_id, folded)) WITHOUT ROWID;
CREATE INDEX removed_hints_entry ON removed_hints (entry_id);
"""
# A fact that nobody decided on waits for a person; a former version left it out. Not one that says what is known, waits
# or was refused already, nor one that is too unsure to be asked about where notes are written by themselves.
_UNDECIDED: Final = """
CREATE TEMP TABLE undecided AS SELECT id, nugget, content_hash FROM (
    SELECT *, row_number() OVER (PARTITION BY nugget, content_hash ORDER BY created_at DESC, id DESC) AS number
    FROM proposals WHERE status = 'skipped' AND reason = 'undecided' AND action = 'add' AND trim(content) <> ''
        AND (resolved_by = 'pipeline-shadow' OR fact_confidence >= 0.7)) WHERE number = 1;
DELETE FROM undecided WHERE EXISTS (SELECT 1 FROM facts WHERE facts.nugget = undecided.nugget
        AND facts.content_hash = undecided.content_hash AND facts.status <> 'denied')
    OR EXISTS (SELECT 1 FROM proposals WHERE proposals.nugget = undecided.nugget
        AND proposals.content_hash = undecided.content_hash
        AND proposals.status IN ('proposed', 'review', 'blocked', 'rejected'));
INSERT INTO history (at, event, changed_by, reason, raw_id, proposal_id, fact_id, note_id, old_content, new_content,
    model, prompt_version, metadata)
SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000, 'reopened', 'pipeline-v2', reason, raw_id, id, '', '', '',
    content, model, prompt_version, '{}'
FROM proposals WHERE id IN (SELECT id FROM undecided) ORDER BY created_at, raw_id, place;
UPDATE proposals SET status = 'review', review_needed = 1, resolved_at = NULL, resolved_by = ''
WHERE id IN (SELECT id FROM undecided);
DROP TABLE temp.undecided;
"""
# What was removed, and is deleted once its time is over. id: of a text or document. purged_at: since when it can be
# brought back no more; gone_at: since when it is deleted. A row of a text that was brought back is taken out.
# The indexes let single rows of texts go without a look at all others.
_RETENTION: Final = """
CREATE TABLE tombstones (
    id TEXT PRIMARY KEY, removed_at INTEGER NOT NULL, removed_by TEXT NOT NULL, purged_at INTEGER, gone_at INTEGER
    ) WITHOUT ROWID;
CREATE INDEX tombstones_waiting ON tombstones (id, removed_at) WHERE purged_at IS NULL;
CREATE INDEX tombstones_going ON tombstones (id) WHERE purged_at IS NOT NULL AND gone_at IS NULL;
CREATE INDEX raw_duplicates ON raw_memories (duplicate_of) WHERE duplicate_of IS NOT NULL;
CREATE INDEX evidence_raw ON relation_evidence (raw_id);
CREATE INDEX attributes_entity ON attributes (entity_id);
CREATE INDEX attributes_of_aspect ON attributes (aspect_id);
CREATE INDEX attributes_superseding ON attributes (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX documents_removed ON documents (removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX history_at ON history (at);
CREATE INDEX jobs_completed ON jobs (completed_at) WHERE status = 'completed';
CREATE INDEX jobs_dead ON jobs (failed_at) WHERE status = 'dead';
CREATE INDEX transcripts_updated ON transcripts (updated_at);
CREATE INDEX checkpoints_created ON checkpoints (created_at);
DROP TRIGGER history_stays;
CREATE TRIGGER history_stays BEFORE DELETE ON history
WHEN old.at >= coalesce((SELECT value FROM meta WHERE name = 'history_kept_from'), old.at)
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
"""
# The runs of repairs, which all processes share: by them cooldowns, hourly budgets and halts go. left: how many things
# there were to put right. before, after: scores of its domain.
_MAINTENANCE: Final = """
CREATE TABLE maintenance_runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, action TEXT NOT NULL, by TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed', 'interrupted', 'recommended')),
    did INTEGER NOT NULL DEFAULT 0, left INTEGER NOT NULL DEFAULT 0, before REAL, after REAL, improved INTEGER,
    error TEXT NOT NULL DEFAULT '', finished_at INTEGER);
CREATE INDEX maintenance_runs_action ON maintenance_runs (action, id);
"""
# Vectors of what notes and chunks of documents say, each made once for each model and text. A row of `embeddings` is
# one note or chunk for one model: which text was embedded, "" for none yet, how often that failed, and until when it
# is left alone. kind, target: a note and its id, or a chunk and its number. vector: float32 in the machine's byte
# order. It goes with what it was made of.
_EMBEDDINGS: Final = """
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY, text_hash TEXT NOT NULL, model TEXT NOT NULL, dimensions INTEGER NOT NULL,
    vector BLOB NOT NULL, created_at INTEGER NOT NULL, UNIQUE (text_hash, model));
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL CHECK (kind IN ('note', 'chunk')), target TEXT NOT NULL,
    model TEXT NOT NULL, text_hash TEXT NOT NULL DEFAULT '', failures INTEGER NOT NULL DEFAULT 0,
    run_after INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', updated_at INTEGER NOT NULL,
    UNIQUE (model, kind, target));
CREATE INDEX embeddings_target ON embeddings (kind, target);
CREATE INDEX embeddings_text ON embeddings (text_hash, model);
CREATE INDEX embeddings_standing ON embeddings (model, kind) WHERE text_hash <> '';
CREATE INDEX embeddings_failed ON embeddings (model, run_after) WHERE failures > 0;
CREATE INDEX vectors_dimensions ON vectors (model, dimensions);
CREATE TRIGGER embedding_of_note_goes AFTER DELETE ON note_links BEGIN
    DELETE FROM embeddings WHERE kind = 'note' AND target = old.note_id;
END;
CREATE TRIGGER embedding_of_chunk_goes AFTER DELETE ON chunks BEGIN
    DELETE FROM embeddings WHERE kind = 'chunk' AND target = CAST(old.id AS TEXT);
END;
"""
# What a model said of a session beside what its words tell, and how the order of what was given ahead did. ahead: how
# often a note was given before anybody asked; baseline: where it would have stood without a predictor, from 1; lexical:
# the share of its words that the conversation holds; relevance: what a model said; confirmed: whether its aspects have
# gained by it. rounds: how often the session was scored to the end; characters: of the conversation then.
CONTINUITY: Final = """
ALTER TABLE session_memories ADD COLUMN ahead INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session_memories ADD COLUMN baseline INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session_memories ADD COLUMN lexical REAL;
ALTER TABLE session_memories ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;
UPDATE session_memories SET lexical = relevance, relevance = NULL, confirmed = 1 WHERE relevance IS NOT NULL;
CREATE TABLE scores (session_key TEXT PRIMARY KEY, scored_at INTEGER NOT NULL, lexical REAL, \
recalled INTEGER NOT NULL, used INTEGER NOT NULL, status TEXT NOT NULL, score REAL, confidence REAL, \
said_used INTEGER NOT NULL, novel INTEGER NOT NULL, reasoning TEXT NOT NULL, model TEXT NOT NULL, \
characters INTEGER NOT NULL, rounds INTEGER NOT NULL);
INSERT INTO scores SELECT session_key, scored_at, score, recalled, used, \
CASE WHEN score IS NULL THEN 'no_conversation' ELSE 'by_words' END, NULL, NULL, 0, 0, '', '', 0, 1 FROM session_scores;
DROP TABLE session_scores;
ALTER TABLE scores RENAME TO session_scores;
CREATE TABLE predictor_comparisons (session_key TEXT PRIMARY KEY, compared_at INTEGER NOT NULL, \
predictor TEXT NOT NULL, ndcg REAL NOT NULL, baseline_ndcg REAL NOT NULL, average REAL NOT NULL, \
long_average REAL NOT NULL, drifts INTEGER NOT NULL, notes TEXT NOT NULL);
CREATE INDEX predictor_comparisons_at ON predictor_comparisons (compared_at);
CREATE TRIGGER comparison_goes AFTER DELETE ON session_scores BEGIN
    DELETE FROM predictor_comparisons WHERE session_key = old.session_key;
END;
"""
# What is said of an entity goes the way of its fact, found by its index: that holds only those that come from a fact,
# and is looked into only where a statement says that it wants no others.
_ATTRIBUTES_OF_FACTS: Final = """
DROP TRIGGER attribute_goes;
CREATE TRIGGER attribute_goes AFTER UPDATE OF status ON facts WHEN new.status <> old.status BEGIN
    UPDATE OR IGNORE attributes SET status = iif(new.status = 'active', 'active', 'retracted'), review_needed = 0
    WHERE fact_id = new.id AND fact_id <> ''
        AND (status = 'active' OR status = 'retracted' AND superseded_why <> 'says the same');
    UPDATE attributes SET superseded_by = NULL, superseded_why = '', review_needed = 0
    WHERE new.status <> 'active' AND review_needed = 1
        AND superseded_by IN (SELECT id FROM attributes WHERE fact_id = new.id AND fact_id <> '');
END;
DROP TRIGGER attribute_says;
CREATE TRIGGER attribute_says AFTER UPDATE OF content ON facts BEGIN
    UPDATE OR IGNORE attributes SET content = new.content, normalised_content = new.normalised_content,
        raw_id = new.raw_id WHERE fact_id = new.id AND fact_id <> '';
END;
"""
# SQLite would merge many pages of the index of chunks whenever it saw fit, with everybody waiting; who writes chunks
# merges a few pages each time, see `Documents.merge_index`. Never so many segments that SQLite would merge them all.
_SMALL_MERGES: Final = """
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('automerge', 0);
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('crisismerge', 64);
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
    _DECISIONS + _UNDECIDED,
    _RETENTION,
    _MAINTENANCE,
    _EMBEDDINGS,
    CONTINUITY,
    _ATTRIBUTES_OF_FACTS,
    _SMALL_MERGES,
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
