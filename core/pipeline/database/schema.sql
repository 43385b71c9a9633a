-- The pipeline's tables. Times are epoch milliseconds, confidences lie in 0 to 1, JSON columns hold objects.
-- What was submitted, to the letter. duplicate_of: an earlier raw memory that says the same; it has the job.
-- relations: what a model found in it, kept in every mode. removed_at:
-- since when a person removed it; hidden_notes: which notes that hid; gone_at: since when it is deleted and can be brought back no more, its content empty.
CREATE TABLE raw_memories (
    id TEXT PRIMARY KEY, content TEXT NOT NULL, content_hash TEXT NOT NULL,
    source_type TEXT NOT NULL, source_id TEXT NOT NULL, project TEXT NOT NULL, nugget TEXT NOT NULL,
    author TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'held', 'extracted', 'skipped', 'duplicate', 'failed')),
    duplicate_of TEXT REFERENCES raw_memories (id) ON DELETE SET NULL, protected INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL, extracted_at INTEGER, model TEXT NOT NULL DEFAULT '',
    prompt_version TEXT NOT NULL DEFAULT '', relations TEXT NOT NULL DEFAULT '[]',
    removed_at INTEGER, removed_by TEXT NOT NULL DEFAULT '', hidden_notes TEXT NOT NULL DEFAULT '[]', gone_at INTEGER) STRICT;
CREATE INDEX raw_held ON raw_memories (created_at) WHERE status = 'held';
CREATE INDEX raw_removed ON raw_memories (id, removed_at) WHERE removed_at IS NOT NULL AND gone_at IS NULL;
CREATE INDEX raw_hash ON raw_memories (nugget, content_hash);
CREATE INDEX raw_source ON raw_memories (source_id) WHERE source_id <> '';
CREATE INDEX raw_created ON raw_memories (created_at);
CREATE INDEX raw_duplicates ON raw_memories (duplicate_of) WHERE duplicate_of IS NOT NULL;
-- What was accepted. retracted: a person hid or removed its note, it is not made again. denied: a later memory said
-- that it is no longer so and a person accepted that; it may be said again. words_hash: see `words_hash` in short_cuts.
CREATE TABLE facts (
    id TEXT PRIMARY KEY, raw_id TEXT NOT NULL REFERENCES raw_memories (id), proposal_id TEXT NOT NULL,
    nugget TEXT NOT NULL, content TEXT NOT NULL, normalised_content TEXT NOT NULL, content_hash TEXT NOT NULL,
    type TEXT NOT NULL, confidence REAL NOT NULL, note_id TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'retracted', 'denied')), model TEXT NOT NULL,
    prompt_version TEXT NOT NULL, created_at INTEGER NOT NULL, words_hash TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX facts_same ON facts (nugget, words_hash) WHERE status = 'active' AND note_id <> '' AND words_hash <> '';
CREATE UNIQUE INDEX facts_hash ON facts (nugget, content_hash) WHERE status <> 'denied';
CREATE UNIQUE INDEX facts_note ON facts (note_id);
CREATE INDEX facts_raw ON facts (raw_id);
CREATE INDEX facts_proposal ON facts (proposal_id);
CREATE VIRTUAL TABLE facts_fts USING fts5 (content, content='facts', content_rowid='rowid');
-- In how many facts each word stands.
CREATE VIRTUAL TABLE facts_terms USING fts5vocab (facts_fts, row);
CREATE TRIGGER facts_inserted AFTER INSERT ON facts BEGIN
    INSERT INTO facts_fts (rowid, content) VALUES (new.rowid, new.content);
END;
CREATE TRIGGER facts_deleted AFTER DELETE ON facts BEGIN
    INSERT INTO facts_fts (facts_fts, rowid, content) VALUES ('delete', old.rowid, old.content);
END;
CREATE TRIGGER facts_updated AFTER UPDATE OF content ON facts BEGIN
    INSERT INTO facts_fts (facts_fts, rowid, content) VALUES ('delete', old.rowid, old.content);
    INSERT INTO facts_fts (rowid, content) VALUES (new.rowid, new.content);
END;
-- One row a fact that a model extracted. status: what became of it; reason: why, one of a closed list ('' where it was
-- written); told: the model's or the rule's own words. span: where in the raw text the fact comes from.
CREATE TABLE proposals (
    id TEXT PRIMARY KEY, raw_id TEXT NOT NULL REFERENCES raw_memories (id), job_id INTEGER,
    place INTEGER NOT NULL, action TEXT NOT NULL CHECK (action IN ('add', 'update', 'delete', 'none')),
    content TEXT NOT NULL, type TEXT NOT NULL, fact_confidence REAL NOT NULL, grounded INTEGER NOT NULL,
    target_note TEXT NOT NULL, target_content TEXT NOT NULL, confidence REAL NOT NULL,
    told TEXT NOT NULL, decided_by TEXT NOT NULL, model TEXT NOT NULL, prompt_version TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN (
        'proposed', 'review', 'applied', 'deduped', 'none', 'rejected', 'blocked', 'skipped')),
    reason TEXT NOT NULL, review_needed INTEGER NOT NULL, contradiction TEXT NOT NULL,
    span_start INTEGER, span_end INTEGER, note_id TEXT NOT NULL DEFAULT '',
    nugget TEXT NOT NULL DEFAULT '', content_hash TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL, resolved_at INTEGER, resolved_by TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX proposals_hash ON proposals (nugget, content_hash)
    WHERE status IN ('proposed', 'review', 'blocked', 'rejected');
CREATE UNIQUE INDEX proposals_place ON proposals (raw_id, place, job_id);
CREATE INDEX proposals_open ON proposals (created_at) WHERE status IN ('proposed', 'review', 'blocked');
CREATE INDEX proposals_target ON proposals (target_note) WHERE target_note <> '';
CREATE INDEX proposals_replaced ON proposals (resolved_at)
    WHERE reason IN ('replaced_by_later', 'undone_by_person');
CREATE INDEX proposals_note ON proposals (note_id) WHERE note_id <> '';
-- The audit. Never changed, and deleted only once its time is over; it holds ids, no foreign keys.
CREATE TABLE history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, event TEXT NOT NULL, changed_by TEXT NOT NULL,
    reason TEXT NOT NULL, raw_id TEXT NOT NULL, proposal_id TEXT NOT NULL, fact_id TEXT NOT NULL,
    note_id TEXT NOT NULL, old_content TEXT NOT NULL, new_content TEXT NOT NULL, model TEXT NOT NULL,
    prompt_version TEXT NOT NULL, latency_ms INTEGER, metadata TEXT NOT NULL) STRICT;
CREATE INDEX history_raw ON history (raw_id);
CREATE INDEX history_at ON history (at);
CREATE INDEX history_proposal ON history (proposal_id) WHERE proposal_id <> '';
CREATE INDEX history_note ON history (note_id) WHERE note_id <> '';
CREATE TRIGGER history_stays BEFORE DELETE ON history
WHEN old.at >= coalesce((SELECT value FROM meta WHERE name = 'history_kept_from'), old.at)
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER history_is_so BEFORE UPDATE ON history BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
-- What was done to notes. expected, content: what the note said before and says since. entry_id: of the history.
CREATE TABLE note_edits (
    id INTEGER PRIMARY KEY AUTOINCREMENT, op TEXT NOT NULL CHECK (op IN ('add', 'update', 'hide')),
    proposal_id TEXT NOT NULL, fact_id TEXT NOT NULL, note_id TEXT NOT NULL, expected TEXT NOT NULL,
    content TEXT NOT NULL, entry_id TEXT NOT NULL, done_at INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX note_edits_once ON note_edits (proposal_id, op);
CREATE INDEX note_edits_note ON note_edits (note_id);
-- What texts and notes name. root: the entity that it is shown as, itself where a person made it one with no other. No
-- row moves, so that a merge is undone by one column; whoever reads asks for all that have one root. notes: how many
-- notes mention it.
CREATE TABLE entities (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, canonical_name TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0, root INTEGER REFERENCES entities (id) ON DELETE SET NULL,
    notes INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE INDEX entities_root ON entities (root);
CREATE INDEX entities_notes ON entities (notes) WHERE notes > 0;
CREATE TRIGGER entity_made AFTER INSERT ON entities BEGIN UPDATE entities SET root = id WHERE id = new.id; END;
CREATE VIRTUAL TABLE entities_fts USING fts5 (canonical_name, content='entities', content_rowid='id');
CREATE TRIGGER entities_inserted AFTER INSERT ON entities BEGIN
    INSERT INTO entities_fts (rowid, canonical_name) VALUES (new.id, new.canonical_name);
END;
CREATE TRIGGER entities_deleted AFTER DELETE ON entities BEGIN
    INSERT INTO entities_fts (entities_fts, rowid, canonical_name) VALUES ('delete', old.id, old.canonical_name);
END;
-- target: a text or a note, by its id. source: who found it in a text; 'note' for what a note names.
CREATE TABLE mentions (
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE, target TEXT NOT NULL,
    mention_text TEXT NOT NULL, confidence REAL NOT NULL, source TEXT NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (entity_id, target)) WITHOUT ROWID, STRICT;
CREATE INDEX mentions_target ON mentions (target);
CREATE TRIGGER mention_made AFTER INSERT ON mentions WHEN new.source = 'note' BEGIN
    UPDATE entities SET notes = notes + 1 WHERE id = new.entity_id;
END;
CREATE TRIGGER mention_gone AFTER DELETE ON mentions WHEN old.source = 'note' BEGIN
    UPDATE entities SET notes = notes - 1 WHERE id = old.entity_id;
END;
CREATE TABLE aspects (
    id INTEGER PRIMARY KEY, entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    name TEXT NOT NULL, canonical_name TEXT NOT NULL, weight REAL NOT NULL, created_at INTEGER NOT NULL,
    last_confirmed_at INTEGER, last_decayed_at INTEGER, UNIQUE (entity_id, canonical_name)) STRICT;
-- aspect_id is NULL until the attribute was classified. superseded_by is a flag for a person, nothing is deleted.
CREATE TABLE attributes (
    id INTEGER PRIMARY KEY, entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    aspect_id INTEGER REFERENCES aspects (id) ON DELETE SET NULL, raw_id TEXT NOT NULL, fact_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('attribute', 'constraint')), content TEXT NOT NULL,
    normalised_content TEXT NOT NULL, confidence REAL NOT NULL, importance REAL NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'superseded', 'retracted')),
    superseded_by INTEGER REFERENCES attributes (id) ON DELETE SET NULL, superseded_why TEXT NOT NULL DEFAULT '',
    review_needed INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX attributes_same ON attributes (entity_id, coalesce(aspect_id, 0), normalised_content)
    WHERE status = 'active';
CREATE INDEX attributes_raw ON attributes (raw_id);
CREATE INDEX attributes_entity ON attributes (entity_id);
CREATE INDEX attributes_of_aspect ON attributes (aspect_id);
CREATE INDEX attributes_superseding ON attributes (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX attributes_fact ON attributes (fact_id) WHERE fact_id <> '';
CREATE INDEX attributes_aspect ON attributes (aspect_id, id) WHERE status = 'active';
CREATE INDEX attributes_waiting ON attributes (entity_id) WHERE aspect_id IS NULL AND status = 'active';
CREATE INDEX attributes_review ON attributes (entity_id) WHERE review_needed = 1;
-- What is said of an entity goes the way of its fact, found by its index: that holds only those that come from a fact,
-- and is looked into only where a statement says that it wants no others.
CREATE TRIGGER attribute_goes AFTER UPDATE OF status ON facts WHEN new.status <> old.status BEGIN
    UPDATE OR IGNORE attributes SET status = iif(new.status = 'active', 'active', 'retracted'), review_needed = 0
    WHERE fact_id = new.id AND fact_id <> ''
        AND (status = 'active' OR status = 'retracted' AND superseded_why <> 'says the same');
    UPDATE attributes SET superseded_by = NULL, superseded_why = '', review_needed = 0
    WHERE new.status <> 'active' AND review_needed = 1
        AND superseded_by IN (SELECT id FROM attributes WHERE fact_id = new.id AND fact_id <> '');
END;
CREATE TRIGGER attribute_says AFTER UPDATE OF content ON facts BEGIN
    UPDATE OR IGNORE attributes SET content = new.content, normalised_content = new.normalised_content,
        raw_id = new.raw_id WHERE fact_id = new.id AND fact_id <> '';
END;
CREATE TABLE relations (
    id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE, type TEXT NOT NULL,
    strength REAL NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    UNIQUE (source_id, target_id, type), CHECK (source_id <> target_id)) STRICT;
CREATE INDEX relations_target ON relations (target_id);
-- Each relation as seen from either end; a pair has no direction. Relations within one entity are none.
CREATE VIEW relation_ends AS
SELECT relations.id, relations.type, strength, near.root AS entity_id, far.root AS other_id, 1 AS outgoing,
    relations.type <> 'related_to' AS direction
FROM relations JOIN entities AS near ON near.id = source_id JOIN entities AS far ON far.id = target_id
WHERE near.root <> far.root
UNION ALL
SELECT relations.id, relations.type, strength, near.root, far.root, 0, 0
FROM relations JOIN entities AS near ON near.id = target_id JOIN entities AS far ON far.id = source_id
WHERE near.root <> far.root;
-- A relation's confidence is the average of its evidence.
CREATE TABLE relation_evidence (
    relation_id INTEGER NOT NULL REFERENCES relations (id) ON DELETE CASCADE,
    raw_id TEXT NOT NULL REFERENCES raw_memories (id) ON DELETE CASCADE, confidence REAL NOT NULL,
    created_at INTEGER NOT NULL, PRIMARY KEY (relation_id, raw_id)) WITHOUT ROWID, STRICT;
CREATE INDEX evidence_raw ON relation_evidence (raw_id);
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, target TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('held', 'pending', 'leased', 'completed', 'dead')),
    payload TEXT NOT NULL DEFAULT '{}', result TEXT NOT NULL DEFAULT '{}',
    attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER NOT NULL, run_after INTEGER NOT NULL,
    lease_token TEXT, leased_by TEXT NOT NULL DEFAULT '', leased_at INTEGER, lease_expires_at INTEGER,
    error TEXT NOT NULL DEFAULT '', error_class TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, completed_at INTEGER, failed_at INTEGER) STRICT;
CREATE UNIQUE INDEX jobs_once ON jobs (type, target) WHERE status IN ('held', 'pending', 'leased');
CREATE INDEX jobs_next ON jobs (status, type, run_after, id);
CREATE INDEX jobs_target ON jobs (target);
CREATE INDEX jobs_completed ON jobs (completed_at) WHERE status = 'completed';
CREATE INDEX jobs_dead ON jobs (failed_at) WHERE status = 'dead';
-- The text or document of a job that is dead has failed, and waits again with it.
CREATE TRIGGER job_died AFTER UPDATE OF status ON jobs WHEN new.status = 'dead' AND old.status <> 'dead' BEGIN
    UPDATE raw_memories SET status = 'failed'
    WHERE id = new.target AND new.type = 'extract' AND status IN ('queued', 'held');
    UPDATE documents SET status = 'failed', error = new.error, updated_at = new.updated_at
    WHERE id = new.target AND new.type = 'document_ingest' AND status <> 'done' AND removed_at IS NULL;
END;
CREATE TRIGGER job_revived AFTER UPDATE OF status ON jobs WHEN new.status = 'pending' AND old.status = 'dead' BEGIN
    UPDATE raw_memories SET status = 'queued' WHERE id = new.target AND new.type = 'extract' AND status = 'failed';
    UPDATE documents SET status = 'queued', error = '', updated_at = new.updated_at
    WHERE id = new.target AND new.type = 'document_ingest' AND status = 'failed';
END;
-- outcome: 'asked' while the answer is waited for, 'ok', or the kind of the error. day: of the local calendar.
-- fallback_for: the provider that had failed before, '' for a first choice.
CREATE TABLE llm_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, day TEXT NOT NULL, provider TEXT NOT NULL,
    model TEXT NOT NULL, purpose TEXT NOT NULL, raw_id TEXT NOT NULL, latency_ms INTEGER NOT NULL,
    prompt_tokens INTEGER, answer_tokens INTEGER, outcome TEXT NOT NULL, error TEXT NOT NULL,
    fallback_for TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX calls_day ON llm_calls (day);
CREATE INDEX calls_raw ON llm_calls (raw_id, purpose) WHERE raw_id <> '';
-- The circuit breaker of each provider, shared by all processes. name: with its address and model.
CREATE TABLE providers (
    name TEXT PRIMARY KEY, failures INTEGER NOT NULL DEFAULT 0, open_until INTEGER NOT NULL DEFAULT 0,
    last_ok_at INTEGER, last_failed_at INTEGER, last_error TEXT NOT NULL DEFAULT '',
    error_class TEXT NOT NULL DEFAULT '') WITHOUT ROWID, STRICT;
-- Whole conversations, compressed; a longer text that begins with the kept one takes its place, another is a revision.
CREATE TABLE transcripts (
    session_key TEXT NOT NULL, revision INTEGER NOT NULL, content BLOB NOT NULL, length INTEGER NOT NULL,
    project TEXT NOT NULL, redactions INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    PRIMARY KEY (session_key, revision)) WITHOUT ROWID, STRICT;
CREATE INDEX transcripts_updated ON transcripts (updated_at);
-- What an agent said of a session before its context went, without credentials; the oldest of a session go first.
CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_key TEXT NOT NULL, project TEXT NOT NULL, author TEXT NOT NULL,
    cause TEXT NOT NULL, digest TEXT NOT NULL, redactions INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT;
CREATE INDEX checkpoints_session ON checkpoints (session_key, id);
CREATE INDEX checkpoints_project ON checkpoints (project, id);
CREATE INDEX checkpoints_created ON checkpoints (created_at);
-- Documents, and the texts that they are cut into. A row of `documents` is one version of a document: it is replaced by
-- another row, never written over. raw: the bytes as they came, until their text is there; content: that text,
-- compressed; next_start: where the chunks written so far end. A text that several chunks have stands once; terms: its
-- words, as a search spells them. place: counted from 0.
CREATE TABLE documents (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('text', 'file', 'url')), source TEXT NOT NULL,
    title TEXT NOT NULL, media_type TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN (
        'queued', 'extracting', 'chunking', 'embedding', 'indexing', 'done', 'failed', 'unchanged')),
    error TEXT NOT NULL DEFAULT '', raw BLOB, source_hash TEXT NOT NULL, content BLOB,
    length INTEGER NOT NULL DEFAULT 0, content_hash TEXT NOT NULL DEFAULT '',
    chunk_size INTEGER NOT NULL DEFAULT 0, chunk_overlap INTEGER NOT NULL DEFAULT 0, chunks INTEGER NOT NULL DEFAULT 0,
    chunks_written INTEGER NOT NULL DEFAULT 0, next_start INTEGER NOT NULL DEFAULT 0, nugget TEXT NOT NULL,
    project TEXT NOT NULL, author TEXT NOT NULL, raw_id TEXT NOT NULL DEFAULT '', replaced_by TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, done_at INTEGER, removed_at INTEGER) STRICT;
CREATE INDEX documents_source ON documents (source) WHERE source <> '' AND removed_at IS NULL;
CREATE INDEX documents_bytes ON documents (source_hash) WHERE source_hash <> '' AND removed_at IS NULL;
CREATE INDEX documents_removed ON documents (removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX documents_present ON documents (created_at) WHERE removed_at IS NULL;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, content TEXT NOT NULL, terms TEXT NOT NULL, content_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX chunks_hash ON chunks (content_hash);
CREATE TABLE document_chunks (
    document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE, place INTEGER NOT NULL,
    chunk_id INTEGER NOT NULL REFERENCES chunks (id), PRIMARY KEY (document_id, place)) WITHOUT ROWID, STRICT;
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
-- SQLite would merge many pages of the index of chunks whenever it saw fit, with everybody waiting; who writes chunks
-- merges a few pages each time, see `Documents.merge_index`. Never so many segments that SQLite would merge them all.
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('automerge', 0);
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('crisismerge', 64);
-- The notes, by whomever they were written, as they were read for what they name. It is made of the notes, and again
-- where it is missing. text_hash: of the note as it was read. protected: whether it holds a decision. hinted: whether a
-- model was asked what it answers.
CREATE TABLE note_links (
    note_id TEXT PRIMARY KEY, text_hash TEXT NOT NULL, protected INTEGER NOT NULL, hinted INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID, STRICT;
CREATE INDEX notes_unhinted ON note_links (note_id) WHERE hinted = 0;
CREATE TRIGGER note_gone AFTER DELETE ON note_links BEGIN
    DELETE FROM mentions WHERE target = old.note_id AND source = 'note';
END;
-- Sessions of agents. activity: what happened since the last checkpoint, as JSON, without credentials; '' for nothing.
CREATE TABLE sessions (
    session_key TEXT PRIMARY KEY, project TEXT NOT NULL, author TEXT NOT NULL, started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, ended_at INTEGER, prompts INTEGER NOT NULL, marked INTEGER NOT NULL,
    since INTEGER NOT NULL, activity TEXT NOT NULL DEFAULT '', due_at INTEGER) STRICT;
CREATE INDEX sessions_updated ON sessions (updated_at);
CREATE INDEX sessions_due ON sessions (due_at) WHERE due_at IS NOT NULL;
-- Which notes were recalled in which session, and whether they helped. ahead: how often a note was given before anybody
-- asked; baseline: where it would have stood without a predictor, from 1; lexical: the share of its words that the
-- conversation holds; relevance: what a model said; confirmed: whether its aspects have gained by it.
CREATE TABLE session_memories (
    session_key TEXT NOT NULL, note_id TEXT NOT NULL, times INTEGER NOT NULL, recalled_at INTEGER NOT NULL,
    relevance REAL, ahead INTEGER NOT NULL DEFAULT 0, baseline INTEGER NOT NULL DEFAULT 0, lexical REAL,
    confirmed INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (session_key, note_id)) STRICT;
-- rounds: how often the session was scored to the end; characters: of the conversation then. predictor and what follows:
-- how the order of what was given ahead did, NULL where that was not to be told.
CREATE TABLE session_scores (
    session_key TEXT PRIMARY KEY, scored_at INTEGER NOT NULL, lexical REAL, recalled INTEGER NOT NULL,
    used INTEGER NOT NULL, status TEXT NOT NULL, score REAL, confidence REAL, said_used INTEGER NOT NULL,
    novel INTEGER NOT NULL, reasoning TEXT NOT NULL, model TEXT NOT NULL, characters INTEGER NOT NULL,
    rounds INTEGER NOT NULL, predictor TEXT NOT NULL DEFAULT '', ndcg REAL, baseline_ndcg REAL,
    notes TEXT NOT NULL DEFAULT '[]') STRICT;
CREATE INDEX session_scores_compared ON session_scores (scored_at) WHERE ndcg IS NOT NULL;
-- Questions that a note answers, as a model made them of what it says; they go when it is read anew.
CREATE TABLE hints (
    id INTEGER PRIMARY KEY, note_id TEXT NOT NULL, hint TEXT NOT NULL, folded TEXT NOT NULL, UNIQUE (note_id, folded)) STRICT;
CREATE VIRTUAL TABLE hints_fts USING fts5 (hint, content='hints', content_rowid='id');
CREATE TRIGGER hints_inserted AFTER INSERT ON hints BEGIN
    INSERT INTO hints_fts (rowid, hint) VALUES (new.id, new.hint);
END;
CREATE TRIGGER hints_deleted AFTER DELETE ON hints BEGIN
    INSERT INTO hints_fts (hints_fts, rowid, hint) VALUES ('delete', old.id, old.hint);
END;
CREATE TRIGGER hints_go AFTER DELETE ON note_links BEGIN
    DELETE FROM hints WHERE note_id = old.note_id;
END;
-- Decisions of people that touch no note, under the entry of the log by which they are undone. undone: whether it is
-- undone at present. items: JSON, of refused proposals with how each stood before, or where a note is named, of its hints
-- that were removed: these stay so when hints are made again.
CREATE TABLE decisions (
    entry_id TEXT PRIMARY KEY, author TEXT NOT NULL, at INTEGER NOT NULL, undone INTEGER NOT NULL DEFAULT 0,
    note_id TEXT NOT NULL, items TEXT NOT NULL) WITHOUT ROWID, STRICT;
CREATE INDEX decisions_note ON decisions (note_id) WHERE note_id <> '';
-- The runs of repairs, which all processes share: by them cooldowns and hourly budgets go. left: how many things there
-- were to put right. improved: 0 for one that did not help and is not tried again for a day.
CREATE TABLE maintenance_runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, action TEXT NOT NULL, by TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed', 'interrupted', 'recommended')),
    did INTEGER NOT NULL DEFAULT 0, left INTEGER NOT NULL DEFAULT 0, improved INTEGER,
    error TEXT NOT NULL DEFAULT '', finished_at INTEGER) STRICT;
CREATE INDEX maintenance_runs_action ON maintenance_runs (action, id);
-- Vectors of what notes and chunks of documents say. A row is one note or chunk for one model: which text was embedded,
-- "" for none yet, how often that failed, and until when it is left alone. kind, target: a note and its id, or a chunk
-- and its number. vector: float32 in the machine's byte order. It goes with what it was made of.
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL CHECK (kind IN ('note', 'chunk')), target TEXT NOT NULL,
    model TEXT NOT NULL, text_hash TEXT NOT NULL DEFAULT '', dimensions INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0, run_after INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
    updated_at INTEGER NOT NULL, vector BLOB, UNIQUE (model, kind, target)) STRICT;
CREATE INDEX embeddings_target ON embeddings (kind, target);
CREATE INDEX embeddings_standing ON embeddings (model, kind) WHERE text_hash <> '';
CREATE INDEX embeddings_failed ON embeddings (model, run_after) WHERE failures > 0;
CREATE TRIGGER embedding_of_note_goes AFTER DELETE ON note_links BEGIN
    DELETE FROM embeddings WHERE kind = 'note' AND target = old.note_id;
END;
CREATE TRIGGER embedding_of_chunk_goes AFTER DELETE ON chunks BEGIN
    DELETE FROM embeddings WHERE kind = 'chunk' AND target = CAST(old.id AS TEXT);
END;
-- What people and jobs are shown.
CREATE VIEW job_list AS
SELECT jobs.*, substr(coalesce(raw.content, entities.name, nullif(documents.title, ''), documents.source,
    CASE jobs.type WHEN 'session_end' THEN jobs.target ELSE '' END), 1, 161) AS preview,
    coalesce(json_extract(jobs.result, '$.windows'), 0) AS windows,
    coalesce(json_extract(jobs.result, '$.windowsRead'), 0) AS windows_read,
    coalesce(json_extract(jobs.result, '$.unread'), 0) AS unread
FROM jobs
LEFT JOIN raw_memories AS raw ON raw.id = jobs.target AND jobs.type = 'extract'
LEFT JOIN entities ON jobs.type = 'structural_classify' AND entities.id = CAST(jobs.target AS INTEGER)
LEFT JOIN documents ON jobs.type = 'document_ingest' AND documents.id = jobs.target;
-- What is said of entities and stands. submitted_at: when the text was submitted that says it.
CREATE VIEW standing_attributes AS
SELECT attributes.*, coalesce(raw.created_at, attributes.created_at) AS submitted_at
FROM attributes LEFT JOIN raw_memories AS raw ON raw.id = attributes.raw_id WHERE attributes.status = 'active';
-- The name and kind of each entity that a person made one with no other, by what is known of those that are part of it.
CREATE VIEW entity_kinds AS
SELECT id, name, canonical_name, coalesce((SELECT known.type FROM entities AS known WHERE known.root = entities.root
    AND known.type NOT IN ('extracted', 'unknown') ORDER BY known.id = known.root DESC, known.id LIMIT 1), type) AS type
FROM entities WHERE id = root;
CREATE VIEW counted_entities AS
SELECT chosen.*, (SELECT max(pinned) FROM entities AS part WHERE part.root = chosen.id) AS pinned,
    (SELECT count(DISTINCT target) FROM entities AS part JOIN mentions ON entity_id = part.id
        WHERE part.root = chosen.id AND source <> 'note') AS mentions,
    (SELECT count(DISTINCT coalesce(aspects.canonical_name, '') || char(0) || normalised_content)
        FROM entities AS part JOIN attributes ON attributes.entity_id = part.id
        LEFT JOIN aspects ON aspects.id = aspect_id
        WHERE part.root = chosen.id AND status = 'active') AS attributes,
    (SELECT count(DISTINCT type || char(0) || other_id || char(0) || direction) FROM relation_ends
        WHERE entity_id = chosen.id) AS relations,
    (SELECT count(*) FROM entities AS part JOIN attributes ON attributes.entity_id = part.id
        WHERE part.root = chosen.id AND review_needed = 1) AS review,
    (SELECT json_group_array(name) FROM (SELECT DISTINCT name FROM entities AS part WHERE part.root = chosen.id
        AND part.id <> chosen.id ORDER BY name)) AS aliases
FROM entity_kinds AS chosen;
-- Where the words of notes came from. place: the greatest is of the newest words.
CREATE VIEW note_origins AS
SELECT done.note_id, raw.id AS raw_id, raw.content, raw.source_type, raw.source_id, raw.author, span_start, span_end,
    proposals.model, proposals.prompt_version, proposals.told, proposals.confidence, proposals.created_at, raw.project,
    proposals.id AS proposal_id, done.fact_id, proposals.content AS fact, proposals.decided_by, raw.removed_at,
    raw.gone_at AS deleted_at, NULL AS span, done.id AS place
FROM note_edits AS done JOIN proposals ON proposals.id = done.proposal_id
JOIN raw_memories AS raw ON raw.id = proposals.raw_id WHERE done.op IN ('add', 'update');
-- Each session that happened or has checkpoints: what is told of it.
CREATE VIEW session_overviews AS
WITH kept AS (SELECT session_key, max(id) AS newest, count(*) AS number, min(created_at) AS first,
    max(created_at) AS last FROM checkpoints GROUP BY session_key)
SELECT names.session_key, coalesce(nullif(one.project, ''), newest.project, '') AS project,
    coalesce(one.author, newest.author, '') AS author, coalesce(one.started_at, kept.first, 0) AS started,
    max(coalesce(one.updated_at, 0), coalesce(kept.last, 0)) AS updated, one.ended_at, coalesce(one.prompts, 0),
    coalesce(kept.number, 0), coalesce(one.activity, '') <> '',
    (SELECT count(*) FROM session_memories AS given WHERE given.session_key = names.session_key)
FROM (SELECT session_key FROM sessions UNION SELECT session_key FROM checkpoints) AS names
LEFT JOIN sessions AS one USING (session_key) LEFT JOIN kept USING (session_key)
LEFT JOIN checkpoints AS newest ON newest.id = kept.newest;
-- What there is to embed, with the hash of what it says.
CREATE VIEW embeddable AS
SELECT 'note' AS kind, note_id AS target, text_hash FROM note_links UNION ALL
SELECT 'chunk', CAST(id AS TEXT), content_hash FROM chunks WHERE EXISTS (SELECT 1 FROM document_chunks
    JOIN documents ON documents.id = document_id WHERE chunk_id = chunks.id AND documents.removed_at IS NULL
    AND documents.status = 'done');
-- What retention goes by.
CREATE VIEW open_proposals AS SELECT * FROM proposals WHERE status IN ('proposed', 'review', 'blocked');
CREATE VIEW open_jobs AS SELECT * FROM jobs WHERE status IN ('held', 'pending', 'leased');
-- Sessions whose conversation leads to something that stands or waits.
CREATE VIEW needed_sessions AS
SELECT source_id FROM raw_memories AS raw WHERE source_id <> '' AND gone_at IS NULL AND (status IN ('queued', 'held')
    OR EXISTS (SELECT 1 FROM facts WHERE facts.raw_id = raw.id AND facts.status = 'active')
    OR EXISTS (SELECT 1 FROM open_proposals WHERE open_proposals.raw_id = raw.id));
-- Entities that nothing mentions, but for those that are pinned or that a person gave a name or made one with another.
CREATE VIEW removable_entities AS
SELECT id FROM entities WHERE pinned = 0 AND root = id
AND NOT EXISTS (SELECT 1 FROM entities AS part WHERE part.root = entities.id AND part.id <> entities.id)
AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = entities.id)
AND NOT EXISTS (SELECT 1 FROM attributes WHERE entity_id = entities.id)
AND NOT EXISTS (SELECT 1 FROM relations WHERE source_id = entities.id)
AND NOT EXISTS (SELECT 1 FROM relations WHERE target_id = entities.id);
-- Removed texts but those that wait to be read or hold a decision, that an open proposal needs, that a present text
-- repeats or whose facts still stand.
CREATE VIEW removable_texts AS
SELECT raw.id, raw.removed_at FROM raw_memories AS raw
WHERE raw.removed_at IS NOT NULL AND raw.gone_at IS NULL AND raw.protected = 0
AND raw.status NOT IN ('queued', 'held')
AND NOT EXISTS (SELECT 1 FROM facts WHERE raw_id = raw.id AND status = 'active')
AND NOT EXISTS (SELECT 1 FROM open_proposals WHERE raw_id = raw.id)
AND NOT EXISTS (SELECT 1 FROM proposals AS mine JOIN open_proposals AS other ON other.target_note = mine.id
    AND other.target_note <> '' WHERE mine.raw_id = raw.id)
AND NOT EXISTS (SELECT 1 FROM facts JOIN open_proposals AS other ON other.target_note = facts.note_id
    AND other.target_note <> '' WHERE facts.raw_id = raw.id)
AND NOT EXISTS (SELECT 1 FROM open_jobs WHERE target = raw.id)
AND NOT EXISTS (SELECT 1 FROM raw_memories AS again WHERE again.duplicate_of = raw.id AND again.gone_at IS NULL);
-- The audit but that of what stands or waits, and what says that something was deleted.
CREATE VIEW removable_history AS SELECT id FROM history
WHERE event NOT IN ('text_purged', 'document_purged')
AND NOT EXISTS (SELECT 1 FROM open_proposals WHERE open_proposals.id = history.proposal_id)
AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.note_id = history.note_id AND history.note_id <> ''
    AND facts.status = 'active')
AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.id = history.fact_id AND facts.status = 'active')
AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.raw_id = history.raw_id AND facts.status = 'active')
AND NOT EXISTS (SELECT 1 FROM raw_memories AS raw WHERE raw.id = history.raw_id AND raw.gone_at IS NULL
    AND (raw.removed_at IS NOT NULL OR raw.protected = 1 OR raw.status IN ('queued', 'held')));
-- Facts that say in the same words what an earlier fact of the nugget says. asked: what became of the proposal to hide
-- the later one, NULL where nobody was asked.
CREATE VIEW same_facts AS
SELECT twice.first, facts.rowid AS row, facts.note_id, (SELECT proposals.status FROM proposals
    WHERE target_note = facts.note_id AND target_note <> '' AND decided_by = 'maintenance'
    ORDER BY proposals.created_at DESC LIMIT 1) AS asked
FROM (SELECT nugget, words_hash, min(rowid) AS first FROM facts WHERE status = 'active' AND note_id <> ''
    AND words_hash <> '' GROUP BY nugget, words_hash HAVING count(*) > 1) AS twice
JOIN facts ON facts.nugget = twice.nugget AND facts.words_hash = twice.words_hash AND facts.status = 'active'
    AND facts.note_id <> '' AND facts.words_hash <> '' AND facts.rowid <> twice.first;
