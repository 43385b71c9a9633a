"""Small values of the pipeline that all processes share, under names."""

from __future__ import annotations

import sqlite3
from typing import Final

# When a person paused the pipeline, epoch ms; no row while it is not.
PAUSED: Final = "paused_at"
# When all that was kept long enough was deleted last, epoch ms.
SWEPT: Final = "swept_at"
# When the clock was trusted last to say what is old, and since when it is not because it leapt ahead, epoch ms.
CLOCK_TRUSTED: Final = "clock_trusted_at"
CLOCK_LEAPT: Final = "clock_leapt_at"
# From when on no row of the audit was deleted, epoch ms.
HISTORY_KEPT_FROM: Final = "history_kept_from"
# How many scores of sessions were deleted.
SCORES_GONE: Final = "session_scores_gone"


class Meta:
    """Small values that all processes share."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def number(self, name: str) -> int | None:
        """The whole number under a name, None when there is none."""
        row = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row is not None and isinstance(row[0], int) else None

    def put(self, name: str, value: int) -> None:
        """Keeps a number under a name."""
        self._connection.execute(
            "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )

    def drop(self, name: str) -> None:
        """Forgets a name."""
        self._connection.execute("DELETE FROM meta WHERE name = ?", (name,))
