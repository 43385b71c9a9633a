-- Version 1 made this table with the first checkpoint. Frozen.
CREATE TABLE IF NOT EXISTS checkpoints (id INTEGER PRIMARY KEY AUTOINCREMENT, session_key TEXT NOT NULL, project TEXT NOT NULL, author TEXT NOT NULL, cause TEXT NOT NULL, digest TEXT NOT NULL, redactions INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS checkpoints_session ON checkpoints (session_key, id);
CREATE INDEX IF NOT EXISTS checkpoints_project ON checkpoints (project, id);
INSERT INTO checkpoints (session_key, project, author, cause, digest, redactions, created_at)
VALUES ('s1', 'app', 'agent', 'agent', 'Half of the reports are done.', 0, 1763000002000);
