"""Rows of note_edits: which notes changed by what was accepted, and in which entry of the history."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from core.pipeline.database.tables import Rows
from core.pipeline.records import Origin

Op = Literal["add", "update", "hide"]


@dataclass(frozen=True, slots=True)
class NoteEdit:
    """One thing that is to be done to one note. raw_id: the memory that it came from, "" when that is not known."""

    id: int
    op: Op
    proposal_id: str
    fact_id: str
    note_id: str
    payload: Mapping[str, Any]
    created_at: int

    @property
    def same(self) -> tuple[object, ...]:
        """What two rows have in common that do the same."""
        return self.op, self.proposal_id, self.fact_id, self.note_id, self.payload

    def text(self, name: str) -> str:
        """A text of the payload, "" where there is none."""
        found = self.payload.get(name)
        return found if isinstance(found, str) else ""


def _as_row(row: sqlite3.Row) -> NoteEdit:
    try:
        payload = json.loads(row["payload"])
    except ValueError:
        payload = None
    columns = {name: row[name] for name in NoteEdit.__slots__}
    return NoteEdit(**columns | {"payload": payload if isinstance(payload, dict) else {}})


# The newest words win: an update, else the addition.
_ORIGIN: Final = """
SELECT box.note_id, raw.id AS raw_id, raw.content, raw.source_type, raw.source_id, raw.author, proposals.span_start,
    proposals.span_end, proposals.model, proposals.prompt_version, proposals.told, proposals.confidence,
    proposals.created_at, raw.project, proposals.id AS proposal_id, box.fact_id, proposals.content AS fact,
    proposals.decided_by, raw.removed_at, raw.gone_at AS deleted_at, NULL AS span
FROM note_edits AS box
JOIN proposals ON proposals.id = box.proposal_id
JOIN raw_memories AS raw ON raw.id = proposals.raw_id
WHERE box.note_id = ? AND (box.op = 'add' OR (box.op = 'update' AND box.status = 'done'))
ORDER BY box.id DESC LIMIT 1
"""


class NoteEdits(Rows):
    """What was done to notes, and within a transaction what is to be done."""

    def put(
        self,
        *,
        op: Op,
        proposal_id: str,
        fact_id: str,
        note_id: str,
        payload: Mapping[str, object],
        now: int,
    ) -> None:
        """Puts down what is to be done to a note, in the transaction that does it. now: epoch ms.

        One row a proposal and kind: what is there already stays.
        """
        text = json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        self.run(
            "INSERT INTO note_edits (op, proposal_id, fact_id, note_id, payload, status, created_at)"
            " VALUES (?, ?, ?, ?, ?, 'pending', ?) ON CONFLICT (proposal_id, op) DO NOTHING",
            op, proposal_id, fact_id, note_id, text, now,
        )  # fmt: skip

    def note_id_known(self, note_id: str, *, but_fact: str = "") -> bool:
        """Whether a fact has this note, or is to have it. but_fact: the one that may."""
        return self.has(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM facts WHERE note_id = ?1 AND id <> ?2)"
            " OR EXISTS (SELECT 1 FROM note_edits WHERE note_id = ?1 AND op = 'add' AND fact_id <> ?2)",
            note_id, but_fact,
        )  # fmt: skip

    def pending(self) -> tuple[NoteEdit, ...]:
        """What the present transaction has still to do to notes, in order."""
        return tuple(map(_as_row, self.ask("SELECT * FROM note_edits WHERE status = 'pending' ORDER BY id")))

    def coming(self, note_id: str) -> NoteEdit | None:
        """The newest row that waits to change what a note says, or to hide it; None for none."""
        row = self.row(
            "SELECT * FROM note_edits WHERE note_id = ? AND status = 'pending'"
            " AND op IN ('hide', 'update') ORDER BY id DESC LIMIT 1",
            note_id,
        )
        return None if row is None else _as_row(row)

    def wrote(self, note_id: str, content: str) -> bool:
        """Whether these are the words of a note before or after what the pipeline did to it, undone since or not."""
        return self.has(
            "SELECT 1 FROM note_edits WHERE note_id = ? AND status = 'done'"
            " AND ? IN (json_extract(payload, '$.expected'), json_extract(payload, '$.content')) LIMIT 1",
            note_id, content,
        )  # fmt: skip

    def end(self, row: NoteEdit, status: Literal["done", "conflict"], *, now: int, entry_id: str) -> None:
        """Keeps what became of a row. entry_id: of the history, "" for none."""
        self.run(
            "UPDATE note_edits SET status = ?, entry_id = ?, done_at = ? WHERE id = ?",
            status,
            entry_id,
            now,
            row.id,
        )

    def move_note(self, row: NoteEdit, note_id: str) -> None:
        """Gives the note of a fact another id everywhere, since the one that was chosen turned out to be taken."""
        self.run("UPDATE facts SET note_id = ? WHERE id = ?", note_id, row.fact_id)
        self.run(
            "UPDATE proposals SET note_id = ?1 WHERE id = ?2 OR (note_id = ?3 AND id IN"
            " (SELECT proposal_id FROM note_edits WHERE note_id = ?3 AND id > ?4))",
            note_id, row.proposal_id, row.note_id, row.id,
        )  # fmt: skip
        # What was accepted since for the note of that id meant the note of this fact.
        self.run(
            "UPDATE note_edits SET note_id = ? WHERE note_id = ? AND id >= ?", note_id, row.note_id, row.id
        )

    def reopen_proposal(self, row: NoteEdit, reason: str, says: str) -> None:
        """Lets an accepted proposal wait again whose note had moved on; what it would have denied stands on.

        says: what the note says by now.
        """
        self.run(
            "UPDATE proposals SET status = 'review', reason = ?, resolved_at = NULL, resolved_by = '',"
            " target_content = CASE WHEN ?2 <> '' AND target_note = ?3 THEN ?2 ELSE target_content END WHERE id = ?4",
            reason, says, row.note_id, row.proposal_id,
        )  # fmt: skip
        # Room for a second decision.
        self.run("DELETE FROM note_edits WHERE proposal_id = ?", row.proposal_id)
        if row.op == "add":
            self.run("DELETE FROM facts WHERE id = ?", row.fact_id)
        self.run(
            "UPDATE facts SET status = 'active' WHERE ? IN (note_id, proposal_id) AND status = 'denied'"
            " AND NOT EXISTS (SELECT 1 FROM facts AS same WHERE same.nugget = facts.nugget AND same.status <> 'denied'"
            " AND same.content_hash = facts.content_hash)",
            row.note_id if row.op == "hide" else row.proposal_id,
        )

    def origin_of(self, note_id: str) -> Origin | None:
        """Where the words of a note came from: the whole raw text, `span` the place in it; None for others' notes."""
        row = self.row(_ORIGIN, note_id)
        if row is None:
            return None
        found = Origin(**{name: row[name] for name in Origin.__slots__})
        start, end = row["span_start"], row["span_end"]
        return found if start is None or end is None else replace(found, span=(start, end))

    def forget_done(self, proposal_id: str) -> None:
        """Makes room for a second decision: what was handed over the last time is done and undone."""
        self.run(
            "DELETE FROM note_edits WHERE proposal_id = ?1 AND status = 'done'"
            " AND entry_id = (SELECT entry_id FROM note_edits WHERE proposal_id = ?1 AND status = 'done'"
            " AND entry_id <> '' ORDER BY id DESC LIMIT 1)",
            proposal_id,
        )
