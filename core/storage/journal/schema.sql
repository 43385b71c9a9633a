-- The history's tables. meta: single values of all that is in the database, of the pipeline too.
CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
-- One row a change set. made_by: who sat at the keyboard.
CREATE TABLE entry (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at TEXT NOT NULL,
    author_kind TEXT NOT NULL, author_name TEXT NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL,
    about TEXT NOT NULL, made_by TEXT NOT NULL, state TEXT NOT NULL, body BLOB NOT NULL, size INTEGER NOT NULL,
    conflict BLOB, staged TEXT) STRICT;
CREATE INDEX entry_about ON entry (about) WHERE about <> '';
CREATE INDEX entry_open ON entry (state) WHERE state <> 'done';
-- What a list of entries shows and is filtered by, so that it need not read the entries themselves.
CREATE INDEX entry_listed ON entry (seq, at, kind, author_kind, author_name, state, about, id);
CREATE TABLE touched (item TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (item, seq)) WITHOUT ROWID, STRICT;
CREATE INDEX touched_seq ON touched (seq);
-- What stood in the files when they were last looked at: one row a file, one a note or fact.
CREATE TABLE seen_file (
    file TEXT PRIMARY KEY, inode INTEGER, size INTEGER, mtime_ns INTEGER, fields BLOB NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE seen (file TEXT NOT NULL, item TEXT NOT NULL, place INTEGER NOT NULL, raw BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX seen_item ON seen (file, item);
-- Where the last note or fact of a file stood, without a look at all of them.
CREATE INDEX seen_placed ON seen (file, place);
