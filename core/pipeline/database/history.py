"""The audit: one row for each thing that was decided or done, appended and never changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

from core.pipeline.database.tables import Rows
from core.pipeline.records import HistoryRow


def _row(row: sqlite3.Row) -> HistoryRow:
    try:
        said = json.loads(row["metadata"])
    except (ValueError, RecursionError):
        # Somebody else wrote what is none of ours.
        said = None
    columns = {name: row[name] for name in HistoryRow.__slots__}
    return HistoryRow(**columns | {"metadata": said if isinstance(said, dict) else {}})


class History(Rows):
    """The audit."""

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
        return self.insert_row(
            "history", at=at, event=event, changed_by=changed_by, reason=str(reason), raw_id=raw_id,
            proposal_id=proposal_id, fact_id=fact_id, note_id=note_id, old_content=old_content,
            new_content=new_content, model=model, prompt_version=prompt_version, latency_ms=latency_ms,
            metadata=json.dumps(metadata or {}, ensure_ascii=False),
        )  # fmt: skip

    def last_at(self) -> int | None:
        """The latest moment that a row was put down at, epoch ms; None where there is none."""
        found: int | None = self.value("SELECT max(at) FROM history")
        return found

    def events(self, events: Sequence[str], most: int) -> tuple[HistoryRow, ...]:
        """The newest rows of some events, newest first."""
        marks = ", ".join("?" * len(events))
        rows = self.ask(
            f"SELECT * FROM history WHERE event IN ({marks}) ORDER BY id DESC LIMIT ?", *events, most
        )
        return tuple(map(_row, rows))

    def history_of(self, about: str, most: int = 500) -> tuple[HistoryRow, ...]:
        """What was decided and done about a raw memory, document, note or proposal: the newest rows, oldest first."""
        columns = {"raw-": "raw_id", "doc-": "raw_id", "prop": "proposal_id"}
        column = columns.get(about[:4], "note_id")
        rows = self.ask(f"SELECT * FROM history WHERE {column} = ? ORDER BY id DESC LIMIT ?", about, most)
        return tuple(_row(row) for row in reversed(rows.fetchall()))
