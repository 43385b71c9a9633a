"""Finds what a person accepted and undid since: its proposals wait again until it is redone."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from core.pipeline.database.tables import Tables
from core.pipeline.records import ProposalReason
from core.pipeline.writes.decisions import follow_decisions
from core.pipeline.writes.execution import stand_together

if TYPE_CHECKING:
    from collections.abc import Collection

    from core.memory import Memory
    from core.model.snapshot import Snapshot
    from core.pipeline.database.connection import Database


def follow_undo(database: Database, memory: Memory, *, now: int) -> int:
    """Reopens the proposals whose entry of the log is undone, and settles those whose entry was redone; how many, with
    the hints that are back or removed again.

    An entry of many proposals may be undone in part: of additions those are reopened whose notes are gone. now: epoch
    ms. Raises what keeps the database or the memory from being read or written.
    """
    taken_back = memory.history.taken_back()
    undone = sorted({id.partition(".")[0] for id in taken_back})
    found = database.reading.proposals.undone(undone)
    decided = 0
    if database.reading.decisions.turned(taken_back):
        with database.write() as writer:
            decided = follow_decisions(writer, taken_back, now)
    if not found:
        return decided
    snapshot = memory.snapshot
    shown = {row["note_id"] for row in found if _shown(snapshot, row["note_id"])}
    with database.write() as writer:
        rows = writer.proposals.undone(undone)
        # A change is several rows of one entry: what one of them tells is so of all.
        undone_ids = {row["id"] for row in rows if _is_undone(row, taken_back, shown)}
        followed = {row["id"] for row in rows if _follow(writer, row, row["id"] in undone_ids)}
        for row in {row["id"]: row for row in rows if row["id"] in followed}.values():
            _record(writer, row, row["id"] in undone_ids, now)
            for other in writer.proposals.settled_with(row["id"]):
                _follow_replaced(writer, other, row["id"] in undone_ids)
        return len(followed) + decided


def _shown(snapshot: Snapshot, note_id: str) -> bool:
    note = snapshot.by_id.get(note_id)
    return note is not None and not note.hidden


def _is_undone(row: sqlite3.Row, taken_back: Collection[str], shown: Collection[str]) -> bool:
    if row["entry_id"] in taken_back:
        return True
    in_part = any(id.startswith(f"{row['entry_id']}.") for id in taken_back)
    return in_part and (
        (row["op"] == "add" and row["note_id"] not in shown)
        or (row["op"] == "hide" and row["note_id"] in shown)
    )


def _follow(writer: Tables, row: sqlite3.Row, undone: bool) -> bool:
    """Takes over what became of one row; False where it stands so already."""
    if undone == (row["status"] == "review"):
        return False
    status, why = ("review", ProposalReason.UNDONE) if undone else ("applied", ProposalReason.WRITTEN)
    writer.proposals.set_status(row["id"], status, why)
    if row["op"] == "add":
        _move_others(writer, row["id"], row["note_id"], undone)
    if row["op"] != "update":
        # A fact that was added is not so while its proposal waits, one that was denied is so again.
        writer.facts.let_stand(row["note_id"], undone == (row["op"] == "hide"))
    return True


def _move_others(writer: Tables, proposal_id: str, note_id: str, undone: bool) -> None:
    """Open changes of the note that an acceptance made are held against the one that it replaced again, or once more
    against the new one.
    """
    accepted = writer.proposals.by_id(proposal_id)
    if accepted is None or not accepted.changes:
        return
    old, new = (accepted.target_note, accepted.target_content), (note_id, accepted.content)
    for other in writer.proposals.open_changes(note_id if undone else accepted.target_note):
        if other.id != proposal_id and (undone or not stand_together(accepted, other)):
            writer.proposals.retarget(other.id, *(old if undone else new))


def _follow_replaced(writer: Tables, proposal_id: str, undone: bool) -> None:
    """What an acceptance replaced waits again with it, or no longer."""
    status, reason = ("review", ProposalReason.UNDONE) if undone else ("skipped", ProposalReason.REPLACED)
    writer.proposals.set_status(proposal_id, status, reason)


def _record(writer: Tables, row: sqlite3.Row, undone: bool, now: int) -> None:
    writer.history.append(
        at=now,
        event="reopened" if undone else "written",
        changed_by="person",
        reason=ProposalReason.UNDONE if undone else ProposalReason.WRITTEN,
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
