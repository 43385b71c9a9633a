"""Finds what a person accepted and undid since: its proposals wait again until it is redone."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from core.pipeline.database.tables import Tables
from core.pipeline.records import ProposalReason

if TYPE_CHECKING:
    from collections.abc import Collection

    from core.memory import Memory
    from core.pipeline.database.connection import Database


def follow_undo(database: Database, memory: Memory, *, now: int) -> int:
    """Reopens the proposals whose entry of the log is undone, and settles those whose entry was redone; how many.

    An entry of many proposals may be undone in part: of additions those are reopened whose notes are gone. now: epoch
    ms. Raises what keeps the database or the memory from being read or written.
    """
    taken_back = memory.taken_back()
    undone = sorted({id.partition(".")[0] for id in taken_back})
    found = database.reading.proposals.undone(undone)
    if not found:
        return 0
    gone = {row["note_id"] for row in found} - memory.snapshot.by_id.keys()
    with database.write() as writer:
        return sum(
            _follow(writer, row, _is_undone(row, taken_back, gone), now)
            for row in writer.proposals.undone(undone)
        )


def _is_undone(row: sqlite3.Row, taken_back: Collection[str], gone: Collection[str]) -> bool:
    if row["entry_id"] in taken_back:
        return True
    in_part = any(id.startswith(f"{row['entry_id']}.") for id in taken_back)
    return in_part and row["op"] == "add" and row["note_id"] in gone


def _follow(writer: Tables, row: sqlite3.Row, undone: bool, now: int) -> bool:
    """Takes one proposal over; False where it stands so already."""
    if undone == (row["status"] == "review"):
        return False
    if undone:
        status, reason, event = "review", ProposalReason.UNDONE, "reopened"
    else:
        status, reason, event = "applied", ProposalReason.WRITTEN, "written"
    writer.proposals.set_status(row["id"], status, reason)
    if row["op"] != "update":
        # A fact that was added is not so while its proposal waits, one that was denied is so again.
        writer.facts.let_stand(row["note_id"], undone == (row["op"] == "hide"))
    writer.history.append(
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
