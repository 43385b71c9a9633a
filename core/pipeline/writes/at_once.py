"""Writes what was decided and the notes that come of it at once: one transaction of the one database, which also holds
the history's entry for the notes. From then on they will be in the files, whatever happens.

What is to be written is rehearsed first, in a transaction that is taken back, to learn which notes change. The real one
does it again while the memory is locked, and starts over where it would change other notes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from core.errors import ErrorCode, LockTimeoutError, NuggetsError, Remedy, UnfinishedError
from core.model.change import Author, ChangeSet
from core.model.draft import Draft
from core.pipeline.database.proposals import NoteEdit
from core.pipeline.database.tables import Tables
from core.pipeline.records import ProposalReason
from core.pipeline.transaction_guard import assert_outside_transaction, holding_a_transaction
from core.pipeline.writes.execution import WRITER
from core.pipeline.writes.notes import AppliedRow, apply_row

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.database.connection import Database

PIPELINE: Final = Author("pipeline")
_TRIES: Final = 5
# By what is done to a note: the event of the audit, and what the history says of one and of several.
_OPS: Final = {
    "add": ("written", "learned a fact", "learned {} facts"),
    "update": ("updated", "updated a note", "updated {} notes"),
    "hide": ("hidden", "hid a note", "hid {} notes"),
}
_T = TypeVar("_T")


class _MovedError(NuggetsError):
    """Another process decided something meanwhile, so that other notes are to be changed."""

    code = ErrorCode.LOCKED


@dataclass(frozen=True, slots=True)
class Written(Generic[_T]):
    """What was written. result: of the work in the tables. change_set: of the notes; None where none is in the files,
    for now if `unfinished` is set: they follow when the memory is next opened. refused: ids of proposals whose note had
    moved on, with why.
    """

    result: _T
    change_set: ChangeSet | None = None
    refused: tuple[tuple[str, str], ...] = ()
    unfinished: NuggetsError | None = None


def write_at_once(
    database: Database,
    memory: Callable[[], Memory],
    work: Callable[[Tables], _T],
    *,
    now: int,
    asked: bool = False,
) -> Written[_T]:
    """Does work in the pipeline's tables, with the changes of notes that it puts down there.

    work: may be called more than once, and does the same in the same tables; what it raises leaves nothing behind.
    asked: the author of `memory` asked for it, so that their `undo` takes it back. now: epoch ms. Raises what keeps the
    memory or the database from being written; nothing is written then.
    """
    assert_outside_transaction("a change of the note graph")
    for _ in range(_TRIES):
        with suppress(_MovedError):
            return _write(database, memory, work, now, asked)
    raise LockTimeoutError(
        "other processes keep changing the notes", code=ErrorCode.LOCKED, remedy=Remedy("try-again"),
        where=str(database.path), kept="nothing was written",
    )  # fmt: skip


def _write(
    database: Database, memory: Callable[[], Memory], work: Callable[[Tables], _T], now: int, asked: bool
) -> Written[_T]:
    with database.rehearsal() as tables:
        work(tables)
        expected = tables.note_edits.pending()
    applied: list[AppliedRow] = []
    done: list[_T] = []

    def taken(note_id: str, fact_id: str) -> bool:
        return database.reading.note_edits.note_id_known(note_id, but_fact=fact_id)

    def draft_rows(draft: Draft) -> None:
        """In order; of a proposal whose note had moved on no more is done."""
        applied.clear()
        conflicts: dict[str, str] = {}
        for row in expected:
            why = conflicts.get(row.proposal_id)
            if why is None:
                one = apply_row(draft, row, taken)
            else:
                one = AppliedRow(row, "conflict", row.note_id, ProposalReason.TARGET_CHANGED, why)
            applied.append(one)
            if one.outcome == "conflict":
                conflicts[row.proposal_id] = one.error

    def in_tables(tables: Tables, entry: str) -> None:
        result, rows = work(tables), tables.note_edits.pending()
        if [row.same for row in rows] != [row.same for row in expected]:
            raise _MovedError("other notes are to be changed by now")
        for row, one in zip(rows, applied, strict=True):
            _keep(tables, row, one, entry, now)
        done.append(result)

    change_set: ChangeSet | None = None
    unfinished: NuggetsError | None = None
    if expected:
        try:
            _, change_set = memory().change(
                _reason(expected), draft_rows, author=PIPELINE, asked=asked, beside=beside(in_tables)
            )
        except UnfinishedError as error:
            if not done:
                raise
            unfinished = error
    if not done:
        # No note changes after all.
        change_set = None
        with database.write() as tables:
            in_tables(tables, "")
    refused = [(one.row.proposal_id, one.error) for one in applied if one.outcome in ("conflict", "failed")]
    return Written(done[-1], change_set, tuple(refused), unfinished)


def beside(work: Callable[[Tables, str], object]) -> Callable[[sqlite3.Connection, str], None]:
    """Work in the pipeline's tables within a transaction of the history, by its connection and the id of its entry."""

    def within(connection: sqlite3.Connection, entry: str) -> None:
        connection.row_factory = sqlite3.Row
        try:
            with holding_a_transaction():
                work(Tables(connection), entry)
        finally:
            connection.row_factory = None

    return within


def _reason(rows: Sequence[NoteEdit]) -> str:
    if len(rows) == 1:
        return _OPS[rows[0].op][1]
    counts = {op: sum(row.op == op for row in rows) for op in _OPS}
    return ", ".join(_OPS[op][2].format(f"{count:,}") for op, count in counts.items() if count)


def _keep(tables: Tables, row: NoteEdit, one: AppliedRow, entry: str, now: int) -> None:
    """Keeps what became of a change of a note, in the audit too."""
    done = one.outcome in ("written", "unchanged")
    entry = entry if one.outcome == "written" else ""
    tables.note_edits.end(row, "done" if done else "conflict", now=now, entry_id=entry)
    if one.note_id != row.note_id:
        tables.note_edits.move_note(row, one.note_id)
    if not done:
        tables.note_edits.reopen_proposal(row, one.reason, one.former)
    tables.history.append(
        at=now,
        event=_OPS[row.op][0] if done else one.outcome,
        changed_by=WRITER,
        reason=one.reason or one.error,
        raw_id=row.text("raw_id"),
        proposal_id=row.proposal_id,
        fact_id=row.fact_id,
        note_id=one.note_id,
        old_content=one.former,
        new_content=one.now,
        model=row.text("model"),
        prompt_version=row.text("prompt_version"),
        metadata={"op": row.op, "entry": entry},
    )
