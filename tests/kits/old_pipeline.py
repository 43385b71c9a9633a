"""pipeline.db as former versions of nuggets-tui left it behind, made from SQL that is frozen with them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_HERE = Path(__file__).parent


def version_1(home: Path, *, checkpoints: bool = False) -> Path:
    """A database of version 1 with rows in every table."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / "pipeline.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for name in ("", "_rows", "_checkpoints") if checkpoints else ("", "_rows"):
            connection.executescript((_HERE / f"pipeline_v1{name}.sql").read_text(encoding="utf-8"))
        connection.execute("PRAGMA user_version = 1")
    return path


def schema_of(path: Path) -> set[tuple[str, ...]]:
    """Tables, indexes and triggers with the statements that made them, white space aside."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as reader:
        rows = reader.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master").fetchall()
    return {tuple(" ".join(part.split()) for part in row) for row in rows}


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of each table, but those of the full-text index and of SQLite."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as reader:
        names = [row[0] for row in reader.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        own = [
            name
            for name in names
            if not name.startswith(("facts_fts", "facts_terms", "chunks_fts", "chunks_terms", "sqlite_"))
        ]
        return {name: sorted(reader.execute(f"SELECT * FROM {name}"), key=repr) for name in own}
