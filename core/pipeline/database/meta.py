"""Small values of the pipeline that all processes share, under names."""

from __future__ import annotations

import sqlite3
from typing import Final

# When a person paused the pipeline, epoch ms; no row while it is not.
PAUSED: Final = "paused_at"


def number(reader: sqlite3.Connection, name: str) -> int | None:
    """The whole number under a name, None when there is none."""
    row = reader.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return row[0] if row is not None and isinstance(row[0], int) else None


def put(writer: sqlite3.Connection, name: str, value: int) -> None:
    """Keeps a number under a name."""
    writer.execute(
        "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def drop(writer: sqlite3.Connection, name: str) -> None:
    """Forgets a name."""
    writer.execute("DELETE FROM meta WHERE name = ?", (name,))
