"""Where a note came from, as the database knows it."""

from __future__ import annotations

import sqlite3
from typing import Final

from core.pipeline.records import Origin

# The newest words win: an update that was brought over, else the addition.
_ORIGIN: Final = """
SELECT box.note_id, raw.id AS raw_id, raw.content, raw.source_type, raw.source_id, raw.author, proposals.span_start,
    proposals.span_end, proposals.model, proposals.prompt_version, proposals.told, proposals.confidence,
    proposals.created_at
FROM graph_outbox AS box
JOIN proposals ON proposals.id = box.proposal_id
JOIN raw_memories AS raw ON raw.id = proposals.raw_id
WHERE box.note_id = ? AND (box.op = 'add' OR (box.op = 'update' AND box.status = 'done'))
ORDER BY box.id DESC LIMIT 1
"""


def origin_of(reader: sqlite3.Connection, note_id: str) -> Origin | None:
    """Where the words of a note came from: the raw text whole, `span` the place in it; None for a note of others."""
    row = reader.execute(_ORIGIN, (note_id,)).fetchone()
    if row is None:
        return None
    whole = row["span_start"] is not None and row["span_end"] is not None
    return Origin(
        note_id=row["note_id"],
        raw_id=row["raw_id"],
        content=row["content"],
        span=(row["span_start"], row["span_end"]) if whole else None,
        source_type=row["source_type"],
        source_id=row["source_id"],
        author=row["author"],
        model=row["model"],
        prompt_version=row["prompt_version"],
        told=row["told"],
        confidence=row["confidence"],
        created_at=row["created_at"],
    )
