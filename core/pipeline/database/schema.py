"""The tables of pipeline.db, made in one go from `schema.sql`, and the version that a database says it has."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

VERSION: Final = 1
_TABLES: Final = Path(__file__).with_name("schema.sql")


def version_of(connection: sqlite3.Connection) -> int:
    """The database's version; 0 for an empty one, whatever another program put there."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether the database has no table yet."""
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def make_tables(connection: sqlite3.Connection) -> None:
    """Makes the tables in an empty database, in the caller's transaction."""
    for statement in _statements(_TABLES.read_text("utf-8")):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; a trigger holds several semicolons."""
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""
