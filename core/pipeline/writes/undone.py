"""What a person accepted and undid since: its proposals wait again, until it is redone."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Final

from core.pipeline.database.history import append
from core.pipeline.records import ProposalReason

if TYPE_CHECKING:
    from collections.abc import Collection

    from core.memory import Memory
    from core.pipeline.database.connection import Database

# What was brought over by itself is not asked about: undone, it is kept as taken back, so that nothing learns it again.
_ACCEPTED: Final = "resolved_by <> '' AND resolved_by NOT LIKE 'pipeline%'"
_ROWS: Final = f"""
SELECT proposals.id, proposals.status, proposals.reason, proposals.raw_id, proposals.content, proposals.model,
    proposals.prompt_version, op, fact_id, box.note_id, entry_id
FROM proposals JOIN graph_outbox AS box ON box.proposal_id = proposals.id
WHERE box.status = 'done' AND entry_id <> '' AND (
    (proposals.status = 'applied' AND {_ACCEPTED} AND entry_id IN (SELECT value FROM json_each(:undone)))
    OR (proposals.status = 'review' AND reason = '{ProposalReason.UNDONE}'))
"""
_ANOTHER_SAYS_IT: Final = """
EXISTS (SELECT 1 FROM facts AS same WHERE same.nugget = facts.nugget AND same.status <> 'denied'
    AND same.content_hash = facts.content_hash AND same.id <> facts.id)
"""


def follow_undo(database: Database, memory: Memory, *, now: int) -> int:
    """Reopens the proposals whose entry of the log is undone, and settles those whose entry was redone; how many.

    An entry of many proposals may be undone in part: of additions those are reopened whose notes are gone. now: epoch
    ms. Raises what keeps the database or the memory from being read or written.
    """
    taken_back = memory.taken_back()
    undone = sorted({id.partition(".")[0] for id in taken_back})
    asked = {"undone": json.dumps(undone)}
    if not database.reading.execute(f"SELECT EXISTS ({_ROWS})", asked).fetchone()[0]:
        return 0
    snapshot = memory.snapshot
    gone = {row["note_id"] for row in database.reading.execute(_ROWS, asked)} - snapshot.by_id.keys()
    with database.write() as writer:
        return sum(
            _follow(writer, row, _is_undone(row, taken_back, gone), now)
            for row in writer.execute(_ROWS, asked).fetchall()
        )


def _is_undone(row: sqlite3.Row, taken_back: Collection[str], gone: Collection[str]) -> bool:
    if row["entry_id"] in taken_back:
        return True
    in_part = any(id.startswith(f"{row['entry_id']}.") for id in taken_back)
    return in_part and row["op"] == "add" and row["note_id"] in gone


def _follow(writer: sqlite3.Connection, row: sqlite3.Row, undone: bool, now: int) -> bool:
    """Takes one proposal over; False where it stands so already."""
    if undone == (row["status"] == "review"):
        return False
    if undone:
        status, reason, event = "review", ProposalReason.UNDONE, "reopened"
    else:
        status, reason, event = "applied", ProposalReason.WRITTEN, "written"
    writer.execute(
        "UPDATE proposals SET status = ?, reason = ? WHERE id = ?", (status, str(reason), row["id"])
    )
    if row["op"] != "update":
        # A fact that was added is not so while its proposal waits, one that was denied is so again.
        stands = undone == (row["op"] == "hide")
        writer.execute(
            f"UPDATE facts SET status = ? WHERE note_id = ? AND (? = 'denied' OR NOT {_ANOTHER_SAYS_IT})",
            ("active" if stands else "denied", row["note_id"], "active" if stands else "denied"),
        )
    append(
        writer,
        at=now,
        event=event,
        changed_by="person",
        reason=reason,
        raw_id=row["raw_id"],
        proposal_id=row["id"],
        fact_id=row["fact_id"],
        note_id=row["note_id"],
        old_content="",
        new_content=row["content"],
        model=row["model"],
        prompt_version=row["prompt_version"],
        metadata={"entry": row["entry_id"]},
    )
    return True


def accept_again(writer: sqlite3.Connection, proposal_id: str) -> None:
    """Makes room for a second acceptance: what was handed over the first time is done and undone."""
    writer.execute("DELETE FROM graph_outbox WHERE proposal_id = ? AND status = 'done'", (proposal_id,))
