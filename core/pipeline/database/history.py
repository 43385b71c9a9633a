"""The audit: one row for each thing that was decided or done, appended and never changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

from core.pipeline.records import HistoryRow


def _row(row: sqlite3.Row) -> HistoryRow:
    columns = {name: row[name] for name in HistoryRow.__slots__}
    return HistoryRow(**columns | {"metadata": _object(row["metadata"])})


def _object(text: str) -> Mapping[str, object]:
    """What a row says of itself beside its columns; nothing where somebody else wrote what is none of it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class History:
    """The audit."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def append(
        self,
        *,
        at: int,
        event: str,
        changed_by: str,
        reason: str = "",
        raw_id: str = "",
        proposal_id: str = "",
        fact_id: str = "",
        note_id: str = "",
        old_content: str = "",
        new_content: str = "",
        model: str = "",
        prompt_version: str = "",
        latency_ms: int | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> int:
        """Puts a row down and returns its id; see `HistoryRow`. at: epoch ms. metadata: anything that JSON can hold."""
        row = self._connection.execute(
            "INSERT INTO history (at, event, changed_by, reason, raw_id, proposal_id, fact_id, note_id, old_content,"
            " new_content, model, prompt_version, latency_ms, metadata)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (
                at, event, changed_by, str(reason), raw_id, proposal_id, fact_id, note_id, old_content, new_content,
                model, prompt_version, latency_ms, json.dumps(metadata or {}, ensure_ascii=False),
            ),
        ).fetchone()  # fmt: skip
        return int(row[0])

    def last_at(self) -> int | None:
        """The latest moment that a row was put down at, epoch ms; None where there is none."""
        found: int | None = self._connection.execute("SELECT max(at) FROM history").fetchone()[0]
        return found

    def events(self, events: Sequence[str], most: int) -> tuple[HistoryRow, ...]:
        """The newest rows of some events, newest first."""
        rows = self._connection.execute(
            f"SELECT * FROM history WHERE event IN ({', '.join('?' * len(events))}) ORDER BY id DESC LIMIT ?",
            (*events, most),
        )
        return tuple(map(_row, rows))

    def history_of(self, about: str, most: int = 500) -> tuple[HistoryRow, ...]:
        """What was decided and done about a raw memory, document, note or proposal: the newest rows, oldest first."""
        column = (
            "raw_id"
            if about.startswith(("raw-", "doc-"))
            else "proposal_id"
            if about.startswith("proposal-")
            else "note_id"
        )
        rows = self._connection.execute(
            f"SELECT * FROM history WHERE {column} = ? ORDER BY id DESC LIMIT ?", (about, most)
        )
        return tuple(_row(row) for row in reversed(rows.fetchall()))
