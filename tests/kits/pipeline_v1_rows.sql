-- Rows in every table of version 1, as a memory of some weeks has them. Frozen with the tables.
INSERT INTO meta VALUES ('paused', 1763000000000);
INSERT INTO raw_memories (id, content, content_hash, hash_version, source_type, source_id, project, nugget, author, status, created_at, extracted_at, model, prompt_version)
VALUES ('raw-1', 'We use PostgreSQL for the reports.', 'h1', 1, 'text', '', 'app', 'app', 'person', 'extracted', 1763000000000, 1763000001000, 'qwen', '1'),
       ('raw-2', 'We moved the reports to CockroachDB. Zstandard is no longer used.', 'h2', 1, 'session', 's1', 'app', 'app', 'agent', 'extracted', 1763000002000, 1763000003000, 'qwen', '1'),
       ('raw-3', 'Not read yet.', 'h3', 1, 'text', '', '', 'memory', 'person', 'queued', 1763000004000, NULL, '', '');
INSERT INTO facts VALUES
    ('fact-1', 'raw-1', 'proposal-1', 'app', 'The app uses PostgreSQL for the reports.', 'the app uses postgresql for the reports', 'f1', 1, 'fact', 0.9, 'note-app-00000001', 'active', 'qwen', '1', 1763000001000),
    ('fact-2', 'raw-1', 'proposal-2', 'app', 'Exports are compressed with Zstandard.', 'exports are compressed with zstandard', 'f2', 1, 'fact', 0.9, 'note-app-00000002', 'active', 'qwen', '1', 1763000001000);
INSERT INTO proposals (id, raw_id, job_id, place, action, content, type, fact_confidence, grounded, target_note, target_content, confidence, told, decided_by, model, prompt_version, status, reason, review_needed, contradiction, span_start, span_end, note_id, nugget, content_hash, created_at, resolved_at, resolved_by)
VALUES ('proposal-1', 'raw-1', 1, 0, 'add', 'The app uses PostgreSQL for the reports.', 'fact', 0.9, 1, '', '', 0.9, 'new', 'rule', 'qwen', '1', 'applied', '', 0, '', 0, 34, 'note-app-00000001', 'app', 'f1', 1763000001000, 1763000001000, 'pipeline-v2'),
       ('proposal-2', 'raw-1', 1, 1, 'add', 'Exports are compressed with Zstandard.', 'fact', 0.9, 1, '', '', 0.9, 'new', 'rule', 'qwen', '1', 'applied', '', 0, '', NULL, NULL, 'note-app-00000002', 'app', 'f2', 1763000001000, 1763000001000, 'pipeline-v2'),
       ('proposal-3', 'raw-2', 2, 0, 'update', 'The app uses CockroachDB for the reports.', 'fact', 0.9, 1, 'note-app-00000001', 'The app uses PostgreSQL for the reports.', 0.9, 'it moved', 'model', 'qwen', '1', 'blocked', 'destructive_mutations_disabled', 1, '', 0, 36, '', 'app', 'f3', 1763000003000, 1763000003000, 'pipeline-v2'),
       ('proposal-4', 'raw-2', 2, 1, 'delete', 'Zstandard is no longer used.', 'fact', 0.9, 1, 'note-app-00000002', 'Exports are compressed with Zstandard.', 0.9, 'no longer', 'model', 'qwen', '1', 'blocked', 'destructive_mutations_disabled', 1, 'negation', 37, 65, '', 'app', 'f4', 1763000003000, 1763000003000, 'pipeline-v2'),
       ('proposal-5', 'raw-2', 2, 2, 'add', 'The reports are read every morning.', 'fact', 0.6, 1, '', '', 0.6, 'new', 'rule', 'qwen', '1', 'review', 'low_fact_confidence', 1, '', NULL, NULL, '', 'app', 'f5', 1763000003000, NULL, ''),
       ('proposal-6', 'raw-2', 2, 3, 'add', 'A thing that was refused.', 'fact', 0.6, 1, '', '', 0.6, 'new', 'rule', 'qwen', '1', 'rejected', '', 1, '', NULL, NULL, '', 'app', 'f6', 1763000003000, 1763000009000, 'person');
INSERT INTO history (at, event, changed_by, reason, raw_id, proposal_id, fact_id, note_id, old_content, new_content, model, prompt_version, latency_ms, metadata)
VALUES (1763000001000, 'created', 'pipeline-v2', '', 'raw-1', 'proposal-1', 'fact-1', 'note-app-00000001', '', 'The app uses PostgreSQL for the reports.', 'qwen', '1', 12, '{}'),
       (1763000003000, 'none', 'pipeline-v2', 'destructive_mutations_disabled', 'raw-2', 'proposal-3', '', 'note-app-00000001', '', '', 'qwen', '1', 12, '{"proposedAction": "update"}');
INSERT INTO graph_outbox (op, proposal_id, fact_id, note_id, payload, payload_hash, status, entry_id, created_at, done_at)
VALUES ('add', 'proposal-1', 'fact-1', 'note-app-00000001', '{"content":"The app uses PostgreSQL for the reports."}', 'p1', 'done', 'entry-1', 1763000001000, 1763000001500),
       ('add', 'proposal-2', 'fact-2', 'note-app-00000002', '{"content":"Exports are compressed with Zstandard."}', 'p2', 'pending', '', 1763000001000, NULL);
INSERT INTO entities VALUES (1, 'PostgreSQL', 'postgresql', 'tool', 1, 1763000000000, 1763000000000),
    (2, 'Reports', 'reports', 'concept', 0, 1763000000000, 1763000000000);
INSERT INTO entity_aliases VALUES ('postgres', 1, 'Postgres', 1763000000000);
INSERT INTO mentions VALUES (1, 'raw-1', 'PostgreSQL', 0.8, 'rule', 1763000000000);
INSERT INTO aspects VALUES (1, 1, 'usage', 'usage', 0.5, 1763000000000, NULL, NULL);
INSERT INTO attributes VALUES (1, 1, 1, 'raw-1', 'fact-1', 'attribute', 'The app uses PostgreSQL for the reports.', 'the app uses postgresql for the reports', 0.7, 0.5, 'active', NULL, '', 0, 1763000000000, 1763000000000);
INSERT INTO relations VALUES (1, 1, 2, 'serves', 1.0, 1763000000000, 1763000000000);
INSERT INTO relation_evidence VALUES (1, 'raw-1', 0.8, 1763000000000);
INSERT INTO found_relations VALUES ('raw-1', 0, 'PostgreSQL', 'serves', 'Reports', 0.8, 'tool', 'concept');
INSERT INTO jobs (id, type, target, status, max_attempts, run_after, created_at, updated_at)
VALUES (1, 'extract', 'raw-1', 'completed', 3, 1763000000000, 1763000000000, 1763000001000),
       (2, 'extract', 'raw-2', 'completed', 3, 1763000002000, 1763000002000, 1763000003000),
       (3, 'extract', 'raw-3', 'pending', 3, 1763000004000, 1763000004000, 1763000004000);
INSERT INTO llm_calls (at, day, provider, model, purpose, raw_id, latency_ms, outcome, error)
VALUES (1763000000500, '2025-11-13', 'ollama', 'qwen', 'extract', 'raw-1', 12, 'ok', '');
INSERT INTO providers (name, failures) VALUES ('ollama http://127.0.0.1:11434 qwen', 0);
INSERT INTO transcripts VALUES ('s1', 0, x'789cf348cdc9c95748cc4b51284fcd49cecf4d050037560654', 17, 'app', 0, 1763000002000, 1763000002000);
