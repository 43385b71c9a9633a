-- What each note names of a project, as it was when the note was written or first read; on this machine alone. text: the
-- mark of the note's text. bound: as JSON, what that text names and what a former one named, without a line of the
-- project's own text.
CREATE TABLE binding (
    project TEXT NOT NULL, note TEXT NOT NULL, text TEXT NOT NULL, bound TEXT NOT NULL, PRIMARY KEY (project, note)
) WITHOUT ROWID, STRICT;
