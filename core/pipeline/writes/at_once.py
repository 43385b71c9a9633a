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
from core.pipeline.database.tables import Tables
from core.pipeline.records import ProposalReason
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
    work: Callable[[Tables], tuple[_T, Sequence[NoteEdit]]],
    *,
    now: int,
    asked: bool = False,
) -> Written[_T]:
    """Does work in the pipeline's tables, with the changes of notes that it asks for.

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
    database: Database,
    memory: Callable[[], Memory],
    work: Callable[[Tables], tuple[_T, Sequence[NoteEdit]]],
    now: int,
    asked: bool,
) -> Written[_T]:
    with database.rehearsal() as tables:
        expected = work(tables)[1]
    applied: list[AppliedEdit] = []
    done: list[_T] = []

    def draft_edits(draft: Draft) -> None:
        """In order; of a proposal whose note had moved on no more is done."""
        applied.clear()
        conflicts: dict[str, str] = {}
        for edit in expected:
            why = conflicts.get(edit.proposal.id)
            if why is None:
                one = apply_edit(
                    draft, edit, lambda id, fact_id: database.reading.facts.bears(id, but=fact_id)
                )
            else:
                one = AppliedEdit("conflict", edit.note_id, ProposalReason.TARGET_CHANGED, why)
            applied.append(one)
            if one.outcome == "conflict":
                conflicts[edit.proposal.id] = one.error

    def in_tables(tables: Tables, entry: str = "") -> None:
        result, edits = work(tables)
        if edits != expected:
            raise _MovedError("other notes are to be changed by now")
        for edit, one in zip(edits, applied, strict=True):
            _keep(tables, edit, one, entry, now)
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
    told = zip(expected, applied, strict=True)
    refused = [(edit.proposal.id, one.error) for edit, one in told if not one.done]
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


def _keep(tables: Tables, edit: NoteEdit, one: AppliedEdit, entry: str, now: int) -> None:
    """Keeps what became of a change of a note, in the audit too. A proposal whose note had moved on waits again."""
    proposal = edit.proposal
    if one.done:
        tables.insert_row(
            "note_edits", clash="IGNORE", op=edit.op, proposal_id=proposal.id, fact_id=edit.fact_id,
            note_id=one.note_id, expected=edit.expected, content=edit.content, done_at=now,
            entry_id=entry if one.outcome == "written" else "",
        )  # fmt: skip
        if one.note_id != edit.note_id:
            # The id that was chosen turned out to be taken.
            tables.run("UPDATE facts SET note_id = ? WHERE id = ?", one.note_id, edit.fact_id)
            tables.run("UPDATE proposals SET note_id = ? WHERE id = ?", one.note_id, proposal.id)
    else:
        _reopen(tables, edit, one)
    note_down(
        tables, proposal, now, event=_OPS[edit.op][0] if one.done else one.outcome, by=WRITER,
        reason=one.reason or one.error, fact_id=edit.fact_id, note_id=one.note_id, old_content=one.former,
        new_content=one.now, metadata={"op": edit.op, "entry": entry if one.outcome == "written" else ""},
    )  # fmt: skip


def _reopen(tables: Tables, edit: NoteEdit, one: AppliedEdit) -> None:
    """Lets an accepted proposal wait again whose note had moved on; what it would have denied stands on."""
    tables.run(
        "UPDATE proposals SET status = 'review', reason = ?, resolved_at = NULL, resolved_by = '',"
        " target_content = CASE WHEN ?2 <> '' AND target_note = ?3 THEN ?2 ELSE target_content END WHERE id = ?4",
        str(one.reason), one.former, edit.note_id, edit.proposal.id,
    )  # fmt: skip
    if edit.op == "add":
        tables.run("DELETE FROM facts WHERE id = ?", edit.fact_id)
    # Room for a second decision.
    tables.run("DELETE FROM note_edits WHERE proposal_id = ?", edit.proposal.id)
    if edit.op == "hide":
        tables.facts.let_stand(edit.note_id, True)
