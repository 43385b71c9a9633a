"""Brings what was accepted into graph.json: the outbox's rows, many in one change set, each of them once.

Two stores cannot commit together. So the rows are kept in the transaction that accepts them, brought over afterwards,
and marked when they are in the files. A crash in between leaves rows that wait; what they do they do not do twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from core.errors import InvalidInputError, NuggetsError, partly_done
from core.model.change import Author, ChangeSet
from core.model.draft import Draft
from core.pipeline.database.outbox_lock import outbox_lock
from core.pipeline.database.tables import Tables
from core.pipeline.records import ProposalReason
from core.pipeline.transaction_guard import assert_outside_transaction
from core.pipeline.writes.applying import AppliedRow, Known, RowOutcome, apply_row
from core.pipeline.writes.note_of import fact_of
from core.storage.database import refusal

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.database.connection import Database
    from core.pipeline.database.outbox import OutboxRow

PIPELINE: Final = Author("pipeline")
CHANGED_BY: Final = "pipeline-v2"
BATCH: Final = 200
_WRITTEN: Final = "the notes are written, and the pipeline notices at its next run"
_EVENTS: Final = {"add": "written", "update": "updated", "hide": "hidden"}
_STATUS: Final[dict[RowOutcome, Literal["done", "conflict", "failed"]]] = {
    "written": "done",
    "unchanged": "done",
    "conflict": "conflict",
    "failed": "failed",
}

Refused = tuple[str, ProposalReason, str]


@dataclass(frozen=True, slots=True)
class FlushResult:
    """What became of one batch. written, unchanged: ids of proposals, the latter found done already.

    conflicts, failed: (id of the proposal, reason, in words). change_set: what was written, None for nothing.
    waiting: rows that still wait, of those that were asked for. busy: another process or thread is at it just now.
    problem: why nothing could be written; the rows wait on then.
    """

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    conflicts: tuple[Refused, ...] = ()
    failed: tuple[Refused, ...] = ()
    change_set: ChangeSet | None = None
    waiting: int = 0
    busy: bool = False
    problem: NuggetsError | None = None


def flush_outbox(
    database: Database,
    memory: Memory,
    *,
    now: int,
    proposals: Collection[str] | None = None,
    asked: bool = False,
    most: int = BATCH,
    seconds: float = 0.0,
) -> FlushResult:
    """Brings the oldest rows that wait into the graph, at most so many, as one change set.

    To be called until nothing waits any more. proposals: only what came of these. asked: the author of `memory` asked
    for it, so that their `undo` takes it back. seconds: how long another one who is at it is waited for. now: epoch
    ms. What keeps the memory or the database from being written is in the result, never raised.
    """
    assert_outside_transaction("a change of the note graph")
    try:
        with database.errors(), outbox_lock(database.path.parent, seconds) as mine:
            if not mine:
                return FlushResult(waiting=database.reading.outbox.count_waiting(proposals), busy=True)
            return _flush_outbox(database, memory, now, proposals, asked, most)
    except NuggetsError as error:
        return FlushResult(waiting=_waiting(database, proposals), problem=error)
    except sqlite3.DatabaseError as error:
        return FlushResult(problem=refusal(database.path, error))


def _flush_outbox(
    database: Database,
    memory: Memory,
    now: int,
    proposals: Collection[str] | None,
    asked: bool,
    most: int,
) -> FlushResult:
    rows = database.reading.outbox.ready(most=most, proposals=proposals)
    if not rows:
        return FlushResult(waiting=database.reading.outbox.count_waiting(proposals))
    try:
        brought, change_set = _write(database, memory, rows, asked)
    except NuggetsError as error:
        # Where the database refuses as well, the rows are merely tried again sooner: what the memory says comes first.
        with suppress(NuggetsError), database.write(lasting=False) as writer:
            writer.outbox.put_off(rows, error.message)
        raise
    written = nullcontext() if change_set.empty else partly_done(_WRITTEN)
    with written, database.write() as writer:
        kept = [one for one in brought if _keep(writer, one, change_set, now)]
    return _result(kept, change_set, database.reading.outbox.count_waiting(proposals))


def _write(
    database: Database, memory: Memory, rows: Sequence[OutboxRow], asked: bool
) -> tuple[list[AppliedRow], ChangeSet]:
    """Rows as one change set. One that the memory will not take at all is left to itself, and keeps no other."""
    known = Known(
        others=lambda id, fact: database.reading.outbox.note_id_known(id, but_fact=fact),
        stood=lambda id, fact: _stood(memory, id, fact),
    )

    def edit(draft: Draft) -> list[AppliedRow]:
        return _apply(draft, rows, known)

    try:
        return memory.bring_in(_reason(rows), edit, author=PIPELINE, asked=asked)
    except InvalidInputError as error:
        if len(rows) > 1:
            return _write(database, memory, rows[:1], asked)
        row = rows[0]
        refused = AppliedRow(row, "failed", row.note_id, error=error.message)
        return memory.bring_in("", lambda _: [refused], author=PIPELINE, asked=asked)


def _apply(draft: Draft, rows: Sequence[OutboxRow], known: Known) -> list[AppliedRow]:
    """Lays rows over the draft, in order. What joins a change of the same note is written with it; of a proposal whose
    note had moved on no more is done.
    """
    done: list[AppliedRow] = []
    for row in rows:
        if any(one.outcome == "conflict" and one.row.proposal_id == row.proposal_id for one in done):
            done.append(AppliedRow(row, "conflict", row.note_id, ProposalReason.TARGET_CHANGED))
            continue
        one = apply_row(draft, row, known)
        joins = one.outcome == "unchanged" and row.payload.get("joined")
        if joins and any(other.note_id == one.note_id and other.outcome == "written" for other in done):
            one = replace(one, outcome="written")
        done.append(one)
    return done


def _reason(rows: Sequence[OutboxRow]) -> str:
    if len(rows) == 1:
        return {"add": "learned a fact", "update": "updated a note", "hide": "hid a note"}[rows[0].op]
    counts = {op: sum(row.op == op for row in rows) for op in ("add", "update", "hide")}
    said = {"add": "learned {} facts", "update": "updated {} notes", "hide": "hid {} notes"}
    return ", ".join(said[op].format(f"{count:,}") for op, count in counts.items() if count)


def _stood(memory: Memory, note_id: str, fact_id: str) -> bool:
    """Whether the log tells of a note of this id that was made from this fact."""
    if not memory.history.makers(note_id):
        return False
    return any(
        fact_of(change.note) == fact_id
        for entry in memory.history.log(note=note_id, limit=None)
        for change in entry.change_set.notes
        if change.id == note_id and entry.state == "done"
    )


def _keep(writer: Tables, one: AppliedRow, change_set: ChangeSet, now: int) -> bool:
    """Keeps what became of a row; False when it was kept before."""
    row = one.row
    written = one.outcome == "written" and not change_set.empty
    entry = change_set.id if written else ""
    status = _STATUS[one.outcome]
    if not writer.outbox.end(row, status, now=now, entry_id=entry, error=one.error):
        return False
    if one.note_id != row.note_id:
        writer.outbox.move_note(row, one.note_id)
    if one.outcome == "conflict" and row.op != "add":
        writer.outbox.reopen_proposal(row, one.reason, one.former)
    writer.history.append(
        at=now,
        event=_EVENTS[row.op] if status == "done" else one.outcome,
        changed_by=CHANGED_BY,
        reason=one.reason or one.error,
        raw_id=row.text("raw_id"),
        proposal_id=row.proposal_id,
        fact_id=row.fact_id,
        note_id=one.note_id,
        old_content=one.former,
        new_content=one.now,
        model=row.text("model"),
        prompt_version=row.text("prompt_version"),
        metadata={"op": row.op, "outbox": row.id, "entry": entry},
    )
    return True


def _result(kept: Sequence[AppliedRow], change_set: ChangeSet, waiting: int) -> FlushResult:
    def ids(outcome: RowOutcome) -> tuple[str, ...]:
        return tuple(one.row.proposal_id for one in kept if one.outcome == outcome)

    def refused(outcome: RowOutcome) -> tuple[Refused, ...]:
        return tuple((one.row.proposal_id, one.reason, one.error) for one in kept if one.outcome == outcome)

    return FlushResult(
        written=ids("written"),
        unchanged=ids("unchanged"),
        conflicts=refused("conflict"),
        failed=refused("failed"),
        change_set=None if change_set.empty else change_set,
        waiting=waiting,
    )


def _waiting(database: Database, proposals: Collection[str] | None) -> int:
    """How many wait, as far as the database still tells."""
    try:
        with database.errors():
            return database.reading.outbox.count_waiting(proposals)
    except NuggetsError:
        return 0
