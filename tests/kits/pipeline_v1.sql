-- pipeline.db as version 1 made it. Frozen: a change of the tables is a migration, never a change of this file.
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- What was submitted, to the letter. duplicate_of: an earlier raw memory that says the same; it has the job.
CREATE TABLE raw_memories (
    id TEXT PRIMARY KEY, content TEXT NOT NULL, content_hash TEXT NOT NULL, hash_version INTEGER NOT NULL,
    source_type TEXT NOT NULL, source_id TEXT NOT NULL, project TEXT NOT NULL, nugget TEXT NOT NULL,
    author TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'held', 'extracted', 'skipped', 'duplicate', 'failed')),
    duplicate_of TEXT REFERENCES raw_memories (id), protected INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL, extracted_at INTEGER, model TEXT NOT NULL DEFAULT '',
    prompt_version TEXT NOT NULL DEFAULT '', knowledge_due INTEGER NOT NULL DEFAULT 0);
CREATE INDEX raw_held ON raw_memories (created_at) WHERE status = 'held';
CREATE INDEX raw_knowledge_due ON raw_memories (created_at) WHERE knowledge_due = 1;
CREATE INDEX raw_hash ON raw_memories (nugget, content_hash);
CREATE INDEX raw_source ON raw_memories (source_id) WHERE source_id <> '';
CREATE INDEX raw_created ON raw_memories (created_at);
-- What was accepted. retracted: a person hid or removed its note, it is not made again. denied: a later memory said
-- that it is no longer so and a person accepted that; it may be said again.
CREATE TABLE facts (
    id TEXT PRIMARY KEY, raw_id TEXT NOT NULL REFERENCES raw_memories (id), proposal_id TEXT NOT NULL,
    nugget TEXT NOT NULL, content TEXT NOT NULL, normalised_content TEXT NOT NULL, content_hash TEXT NOT NULL,
    hash_version INTEGER NOT NULL, type TEXT NOT NULL, confidence REAL NOT NULL, note_id TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'retracted', 'denied')), model TEXT NOT NULL,
    prompt_version TEXT NOT NULL, created_at INTEGER NOT NULL);
CREATE UNIQUE INDEX facts_hash ON facts (nugget, content_hash) WHERE status <> 'denied';
CREATE UNIQUE INDEX facts_note ON facts (note_id);
CREATE INDEX facts_raw ON facts (raw_id);
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
    created_at INTEGER NOT NULL, resolved_at INTEGER, resolved_by TEXT NOT NULL DEFAULT '');
CREATE INDEX proposals_hash ON proposals (nugget, content_hash) WHERE status IN ('proposed', 'review', 'rejected');
CREATE UNIQUE INDEX proposals_place ON proposals (raw_id, place, job_id);
CREATE INDEX proposals_open ON proposals (created_at) WHERE status IN ('proposed', 'review');
CREATE INDEX proposals_note ON proposals (note_id) WHERE note_id <> '';
-- The audit. Never changed and never deleted; it holds ids, no foreign keys.
CREATE TABLE history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, event TEXT NOT NULL, changed_by TEXT NOT NULL,
    reason TEXT NOT NULL, raw_id TEXT NOT NULL, proposal_id TEXT NOT NULL, fact_id TEXT NOT NULL,
    note_id TEXT NOT NULL, old_content TEXT NOT NULL, new_content TEXT NOT NULL, model TEXT NOT NULL,
    prompt_version TEXT NOT NULL, latency_ms INTEGER, metadata TEXT NOT NULL);
CREATE INDEX history_raw ON history (raw_id);
CREATE INDEX history_proposal ON history (proposal_id) WHERE proposal_id <> '';
CREATE INDEX history_note ON history (note_id) WHERE note_id <> '';
CREATE TRIGGER history_stays BEFORE DELETE ON history BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER history_is_so BEFORE UPDATE ON history BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
-- What must still be brought into graph.json. payload: the note's fields, or what is to change in it.
CREATE TABLE graph_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, op TEXT NOT NULL CHECK (op IN ('add', 'update', 'hide')),
    proposal_id TEXT NOT NULL, fact_id TEXT NOT NULL, note_id TEXT NOT NULL, payload TEXT NOT NULL,
    payload_hash TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'conflict', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', entry_id TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL, done_at INTEGER);
CREATE INDEX outbox_open ON graph_outbox (id) WHERE status = 'pending';
CREATE UNIQUE INDEX outbox_once ON graph_outbox (proposal_id);
CREATE INDEX outbox_note ON graph_outbox (note_id);
-- mentions is no column: it is the number of rows in `mentions`.
CREATE TABLE entities (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, canonical_name TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE TABLE entity_aliases (
    canonical_name TEXT PRIMARY KEY, entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    name TEXT NOT NULL, created_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX aliases_entity ON entity_aliases (entity_id);
CREATE TABLE mentions (
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    raw_id TEXT NOT NULL REFERENCES raw_memories (id) ON DELETE CASCADE,
    mention_text TEXT NOT NULL, confidence REAL NOT NULL, source TEXT NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (entity_id, raw_id)) WITHOUT ROWID;
CREATE INDEX mentions_raw ON mentions (raw_id);
CREATE TABLE aspects (
    id INTEGER PRIMARY KEY, entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    name TEXT NOT NULL, canonical_name TEXT NOT NULL, weight REAL NOT NULL, created_at INTEGER NOT NULL,
    last_confirmed_at INTEGER, last_decayed_at INTEGER, UNIQUE (entity_id, canonical_name));
-- aspect_id is NULL until the attribute was classified. superseded_by is a flag for a person, nothing is deleted.
CREATE TABLE attributes (
    id INTEGER PRIMARY KEY, entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    aspect_id INTEGER REFERENCES aspects (id) ON DELETE SET NULL, raw_id TEXT NOT NULL, fact_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('attribute', 'constraint')), content TEXT NOT NULL,
    normalised_content TEXT NOT NULL, confidence REAL NOT NULL, importance REAL NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'superseded', 'retracted')),
    superseded_by INTEGER REFERENCES attributes (id) ON DELETE SET NULL, superseded_why TEXT NOT NULL DEFAULT '',
    review_needed INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE UNIQUE INDEX attributes_same ON attributes (entity_id, coalesce(aspect_id, 0), normalised_content)
    WHERE status = 'active';
CREATE INDEX attributes_raw ON attributes (raw_id);
CREATE INDEX attributes_fact ON attributes (fact_id) WHERE fact_id <> '';
CREATE INDEX attributes_aspect ON attributes (aspect_id, id) WHERE status = 'active';
CREATE INDEX attributes_waiting ON attributes (entity_id) WHERE aspect_id IS NULL AND status = 'active';
CREATE INDEX attributes_review ON attributes (entity_id) WHERE review_needed = 1;
-- What is said of an entity goes the way of the fact that it comes from.
CREATE TRIGGER attribute_goes AFTER UPDATE OF status ON facts WHEN new.status <> old.status BEGIN
    UPDATE OR IGNORE attributes SET status = iif(new.status = 'active', 'active', 'retracted'), review_needed = 0
    WHERE fact_id = new.id AND (status = 'active' OR status = 'retracted' AND superseded_why <> 'says the same');
    UPDATE attributes SET superseded_by = NULL, superseded_why = '', review_needed = 0
    WHERE new.status <> 'active' AND review_needed = 1
        AND superseded_by IN (SELECT id FROM attributes WHERE fact_id = new.id);
END;
CREATE TRIGGER attribute_says AFTER UPDATE OF content ON facts BEGIN
    UPDATE OR IGNORE attributes SET content = new.content, normalised_content = new.normalised_content,
        raw_id = new.raw_id WHERE fact_id = new.id;
END;
CREATE TABLE relations (
    id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE, type TEXT NOT NULL,
    strength REAL NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    UNIQUE (source_id, target_id, type), CHECK (source_id <> target_id));
CREATE INDEX relations_target ON relations (target_id);
-- A relation's confidence is the average of its evidence.
CREATE TABLE relation_evidence (
    relation_id INTEGER NOT NULL REFERENCES relations (id) ON DELETE CASCADE,
    raw_id TEXT NOT NULL REFERENCES raw_memories (id) ON DELETE CASCADE, confidence REAL NOT NULL,
    created_at INTEGER NOT NULL, PRIMARY KEY (relation_id, raw_id)) WITHOUT ROWID;
-- What a model found in a raw memory, kept in every mode; brought into the graph while raw_memories.knowledge_due is 1.
CREATE TABLE found_relations (
    raw_id TEXT NOT NULL REFERENCES raw_memories (id) ON DELETE CASCADE, place INTEGER NOT NULL,
    source TEXT NOT NULL, relationship TEXT NOT NULL, target TEXT NOT NULL, confidence REAL NOT NULL,
    source_type TEXT NOT NULL, target_type TEXT NOT NULL, PRIMARY KEY (raw_id, place)) WITHOUT ROWID;
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, target TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('held', 'pending', 'leased', 'completed', 'dead')),
    payload TEXT NOT NULL DEFAULT '{}', result TEXT NOT NULL DEFAULT '{}',
    attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER NOT NULL, run_after INTEGER NOT NULL,
    lease_token TEXT, leased_by TEXT NOT NULL DEFAULT '', leased_at INTEGER, lease_expires_at INTEGER,
    error TEXT NOT NULL DEFAULT '', error_class TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, completed_at INTEGER, failed_at INTEGER);
CREATE UNIQUE INDEX jobs_once ON jobs (type, target) WHERE status IN ('held', 'pending', 'leased');
CREATE INDEX jobs_next ON jobs (status, type, run_after, id);
CREATE INDEX jobs_target ON jobs (target);
-- outcome: 'asked' while the answer is waited for, 'ok', or the kind of the error. day: of the local calendar.
-- fallback_for: the provider that had failed before, '' for a first choice.
CREATE TABLE llm_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, day TEXT NOT NULL, provider TEXT NOT NULL,
    model TEXT NOT NULL, purpose TEXT NOT NULL, raw_id TEXT NOT NULL, latency_ms INTEGER NOT NULL,
    prompt_tokens INTEGER, answer_tokens INTEGER, outcome TEXT NOT NULL, error TEXT NOT NULL,
    fallback_for TEXT NOT NULL DEFAULT '');
CREATE INDEX calls_day ON llm_calls (day);
CREATE INDEX calls_raw ON llm_calls (raw_id, purpose) WHERE raw_id <> '';
-- The circuit breaker of each provider, shared by all processes. name: with its address and model.
CREATE TABLE providers (
    name TEXT PRIMARY KEY, failures INTEGER NOT NULL DEFAULT 0, open_until INTEGER NOT NULL DEFAULT 0,
    last_ok_at INTEGER, last_failed_at INTEGER, last_error TEXT NOT NULL DEFAULT '',
    error_class TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
-- Whole conversations, compressed; a longer text that begins with the kept one takes its place, another is a revision.
CREATE TABLE transcripts (
    session_key TEXT NOT NULL, revision INTEGER NOT NULL, content BLOB NOT NULL, length INTEGER NOT NULL,
    project TEXT NOT NULL, redactions INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    PRIMARY KEY (session_key, revision)) WITHOUT ROWID;
