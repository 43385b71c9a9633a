"""Writes what was decided and the notes that come of it at once: one transaction of the one database, which also holds
the history's entry for the notes. From then on they will be in the files, whatever happens.

What is to be written is rehearsed first, in a transaction that is taken back, to learn which notes change. The real one
does it again while the memory is locked, and all starts over where it would change other notes, or a note has moved on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from core.errors import ErrorCode, LockTimeoutError, NuggetsError, Remedy, UnfinishedError
from core.model.change import Author, ChangeSet
from core.model.draft import Draft
from core.model.snapshot import Snapshot
from core.pipeline.database.tables import Tables
from core.pipeline.transaction_guard import assert_outside_transaction, holding_a_transaction
from core.pipeline.writes.execution import WRITER, note_down
from core.pipeline.writes.notes import AppliedEdit, NoteEdit, apply_edit

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
    """Other notes are to be changed, or a note has moved on, since somebody else decided or wrote meanwhile."""

    code = ErrorCode.LOCKED


class Written(NamedTuple, Generic[_T]):
    """What was written. result: of the work in the tables. change_set: of the notes; None where none is in the files,
    for now if `unfinished` is set: they follow when the memory is next opened.
    """

    result: _T
    change_set: ChangeSet | None = None
    unfinished: NuggetsError | None = None


# Work in the tables with the notes as they are, which gives the changes of notes that it asks for.
Work = Callable[[Tables, Snapshot], tuple[_T, Sequence[NoteEdit]]]


def write_at_once(
    database: Database, memory: Callable[[], Memory], work: Work[_T], *, now: int, asked: bool = False
) -> Written[_T]:
    """Does work in the pipeline's tables, with the changes of notes that it asks for.

    work: may be called more than once, and does the same in the same tables with the same notes; what it raises leaves
    nothing behind. asked: the author of `memory` asked for it, so that their `undo` takes it back. now: epoch ms.
    Raises what keeps the memory or the database from being written; nothing is written then.
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
    database: Database, memory: Callable[[], Memory], work: Work[_T], now: int, asked: bool
) -> Written[_T]:
    snapshot = memory().snapshot
    with database.rehearsal() as tables:
        expected = work(tables, snapshot)[1]
    applied: list[AppliedEdit] = []
    done: list[_T] = []

    def draft_edits(draft: Draft) -> None:
        applied.clear()
        for edit in expected:
            one = apply_edit(draft, edit)
            if one is None:
                raise _MovedError("a note has changed since")
            applied.append(one)

    def in_tables(tables: Tables, entry: str = "") -> None:
        result, edits = work(tables, snapshot)
        if edits != expected:
            raise _MovedError("other notes are to be changed by now")
        for edit, one in zip(edits, applied, strict=True):
            # What is as it is to be was not written by this entry.
            by = entry if one.written else ""
            tables.insert_row(
                "note_edits", clash="IGNORE", op=edit.op, proposal_id=edit.proposal.id, fact_id=edit.fact_id,
                note_id=edit.note_id, expected=edit.expected, content=edit.content, entry_id=by, done_at=now,
            )  # fmt: skip
            note_down(
                tables, edit.proposal, now, event=_OPS[edit.op][0], by=WRITER, reason="", fact_id=edit.fact_id,
                note_id=edit.note_id, old_content=one.former, new_content=one.now,
                metadata={"op": edit.op, "entry": by},
            )  # fmt: skip
        done.append(result)

    change_set: ChangeSet | None = None
    unfinished: NuggetsError | None = None
    if expected:
        reason = _OPS[expected[0].op][1]
        if len(expected) > 1:
            counts = {op: sum(edit.op == op for edit in expected) for op in _OPS}
            reason = ", ".join(_OPS[op][2].format(f"{count:,}") for op, count in counts.items() if count)
        try:
            _, change_set = memory().change(
                reason, draft_edits, author=PIPELINE, asked=asked, beside=beside(in_tables)
            )
        except UnfinishedError as error:
            if not done:
                raise
            unfinished = error
    if not done:
        # No note changes after all.
        change_set = None
        with database.write() as tables:
            in_tables(tables)
    return Written(done[-1], change_set, unfinished)


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
