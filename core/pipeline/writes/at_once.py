"""Writes what was decided and the notes that come of it at once: one transaction of the one database, which also holds
the history's entry for the notes. From then on they will be in the files, whatever happens.

What is to be written is rehearsed first, in a transaction that is taken back, to learn which notes change. The real one
does it again while the memory is locked, and starts over where it would change other notes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from core.errors import ErrorCode, LockTimeoutError, NuggetsError, Remedy, UnfinishedError
from core.model.change import Author, ChangeSet
from core.model.draft import Draft
from core.pipeline.database.note_edits import NoteEdit
from core.pipeline.database.tables import Tables
from core.pipeline.records import ProposalReason
from core.pipeline.transaction_guard import assert_outside_transaction, holding_a_transaction
from core.pipeline.writes.applying import AppliedRow, apply_row

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.database.connection import Database

PIPELINE: Final = Author("pipeline")
CHANGED_BY: Final = "pipeline-v2"
_TRIES: Final = 5
_EVENTS: Final = {"add": "written", "update": "updated", "hide": "hidden"}
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
        try:
            return _Turn(database, work, now).run(memory, asked)
        except _MovedError:
            continue
    raise LockTimeoutError(
        "other processes keep changing the notes", code=ErrorCode.LOCKED, remedy=Remedy("try-again"),
        where=str(database.path), kept="nothing was written",
    )  # fmt: skip


class _Turn(Generic[_T]):
    """One try."""

    def __init__(self, database: Database, work: Callable[[Tables], _T], now: int) -> None:
        self._database = database
        self._work = work
        self._now = now
        self._rows: tuple[NoteEdit, ...] = ()
        self._applied: list[AppliedRow] = []
        self._done: list[_T] = []

    def run(self, memory: Callable[[], Memory], asked: bool) -> Written[_T]:
        with self._database.rehearsal() as tables:
            self._work(tables)
            self._rows = tables.note_edits.pending()
        change_set: ChangeSet | None = None
        unfinished: NuggetsError | None = None
        if self._rows:
            try:
                _, change_set = memory().change(
                    _reason(self._rows), self._draft, author=PIPELINE, asked=asked, beside=self._beside
                )
            except UnfinishedError as error:
                if not self._done:
                    raise
                unfinished = error
        if not self._done:
            # No note changes after all.
            change_set = None
            with self._database.write() as tables:
                self._write(tables, "")
        refused = tuple(
            (one.row.proposal_id, one.error) for one in self._applied if one.outcome in ("conflict", "failed")
        )
        return Written(self._done[-1], change_set, refused, unfinished)

    def _draft(self, draft: Draft) -> None:
        """Lays the rows over the draft, in order; of a proposal whose note had moved on no more is done."""
        self._applied = []
        for row in self._rows:
            before = [one for one in self._applied if one.row.proposal_id == row.proposal_id]
            if any(one.outcome == "conflict" for one in before):
                self._applied.append(
                    AppliedRow(row, "conflict", row.note_id, ProposalReason.TARGET_CHANGED, before[-1].error)
                )
                continue
            self._applied.append(apply_row(draft, row, self._is_taken))

    def _is_taken(self, note_id: str, fact_id: str) -> bool:
        return self._database.reading.note_edits.note_id_known(note_id, but_fact=fact_id)

    def _beside(self, connection: sqlite3.Connection, entry: str) -> None:
        with _tables(connection) as tables:
            self._write(tables, entry)

    def _write(self, tables: Tables, entry: str) -> None:
        result = self._work(tables)
        rows = tables.note_edits.pending()
        if [row.same for row in rows] != [row.same for row in self._rows]:
            raise _MovedError("other notes are to be changed by now")
        for row, one in zip(rows, self._applied, strict=True):
            _keep(tables, row, one, entry, self._now)
        self._done.append(result)


@contextmanager
def _tables(connection: sqlite3.Connection) -> Iterator[Tables]:
    """The pipeline's tables through the history's connection, in its transaction."""
    connection.row_factory = sqlite3.Row
    try:
        with holding_a_transaction():
            yield Tables(connection)
    finally:
        connection.row_factory = None


def _reason(rows: Sequence[NoteEdit]) -> str:
    if len(rows) == 1:
        return {"add": "learned a fact", "update": "updated a note", "hide": "hid a note"}[rows[0].op]
    counts = {op: sum(row.op == op for row in rows) for op in ("add", "update", "hide")}
    said = {"add": "learned {} facts", "update": "updated {} notes", "hide": "hid {} notes"}
    return ", ".join(said[op].format(f"{count:,}") for op, count in counts.items() if count)


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
        event=_EVENTS[row.op] if done else one.outcome,
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
        metadata={"op": row.op, "entry": entry},
    )
