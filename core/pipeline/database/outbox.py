"""Rows of graph_outbox: what was accepted and must still be brought into graph.json, and what became of it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from core.pipeline.records import Origin, OutboxStatus

Op = Literal["add", "update", "hide"]
_ERROR_LENGTH: Final = 2_000
# Of one note the oldest row alone, with those that are joined to it: what a batch finds in a note is then never the
# work of that same batch.
_READY: Final = """
FROM graph_outbox AS row WHERE status = 'pending' AND (
    SELECT count(*) FROM graph_outbox AS earlier WHERE earlier.note_id = row.note_id
    AND earlier.status = 'pending' AND earlier.id < row.id AND NOT instr(earlier.payload, '"joined":true')
) <= (instr(row.payload, '"joined":true') > 0)
"""
# With what must be brought over before it: earlier rows of the same notes.
_NAMED: Final = """
note_id IN (SELECT note_id FROM graph_outbox WHERE status = 'pending'
    AND proposal_id IN (SELECT value FROM json_each(:proposals)))
"""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One thing that is to be done to one note. raw_id: the memory that it came from, "" when that is not known."""

    id: int
    op: Op
    proposal_id: str
    fact_id: str
    note_id: str
    payload: Mapping[str, Any]
    attempts: int
    created_at: int

    def text(self, name: str) -> str:
        """A text of the payload, "" where there is none."""
        found = self.payload.get(name)
        return found if isinstance(found, str) else ""


def _as_row(row: sqlite3.Row) -> OutboxRow:
    try:
        payload = json.loads(row["payload"])
    except ValueError:
        payload = None
    return OutboxRow(
        id=row["id"],
        op=row["op"],
        proposal_id=row["proposal_id"],
        fact_id=row["fact_id"],
        note_id=row["note_id"],
        payload=payload if isinstance(payload, dict) else {},
        attempts=row["attempts"],
        created_at=row["created_at"],
    )


# The newest words win: an update that was brought over, else the addition.
_ORIGIN: Final = """
SELECT box.note_id, raw.id AS raw_id, raw.content, raw.source_type, raw.source_id, raw.author, proposals.span_start,
    proposals.span_end, proposals.model, proposals.prompt_version, proposals.told, proposals.confidence,
    proposals.created_at, raw.project, proposals.id AS proposal_id, box.fact_id, proposals.content AS fact,
    proposals.decided_by, tombstones.removed_at, tombstones.gone_at
FROM graph_outbox AS box
JOIN proposals ON proposals.id = box.proposal_id
JOIN raw_memories AS raw ON raw.id = proposals.raw_id
LEFT JOIN tombstones ON tombstones.id = raw.id
WHERE box.note_id = ? AND (box.op = 'add' OR (box.op = 'update' AND box.status = 'done'))
ORDER BY box.id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """A row of the outbox that could not be brought over. error: why."""

    note_id: str
    op: str
    error: str


class Outbox:
    """What has still to be written into the notes, and what was."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def failed_deliveries(self) -> tuple[FailedDelivery, ...]:
        """What could not be brought over, oldest first."""
        rows = self._connection.execute(
            "SELECT note_id, op, error FROM graph_outbox WHERE status = 'failed' ORDER BY id"
        )
        return tuple(FailedDelivery(*row) for row in rows)

    def enqueue(
        self,
        *,
        op: Op,
        proposal_id: str,
        fact_id: str,
        note_id: str,
        payload: Mapping[str, object],
        now: int,
    ) -> int:
        """Puts down what is to be done to a note, in the transaction that accepts it; the row's id.

        One row a proposal and kind: what is there already stays, and its id is given. now: epoch ms.
        """
        text = json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        made = self._connection.execute(
            "INSERT INTO graph_outbox (op, proposal_id, fact_id, note_id, payload, payload_hash, status, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, 'pending', ?) ON CONFLICT (proposal_id, op) DO NOTHING RETURNING id",
            (op, proposal_id, fact_id, note_id, text, digest, now),
        ).fetchone()
        row = (
            made
            or self._connection.execute(
                "SELECT id FROM graph_outbox WHERE proposal_id = ? AND op = ?", (proposal_id, op)
            ).fetchone()
        )
        return int(row[0])

    def note_id_known(self, note_id: str, *, but_fact: str = "") -> bool:
        """Whether a fact has this note, or is to have it. but_fact: the one that may."""
        found = self._connection.execute(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM facts WHERE note_id = ?1 AND id <> ?2)"
            " OR EXISTS (SELECT 1 FROM graph_outbox WHERE note_id = ?1 AND op = 'add' AND fact_id <> ?2)",
            (note_id, but_fact),
        ).fetchone()
        return found is not None

    def ready(self, *, most: int, proposals: Collection[str] | None = None) -> tuple[OutboxRow, ...]:
        """What can be brought over next, oldest first. proposals: of these alone; None: of all."""
        which = "" if proposals is None else f" AND {_NAMED}"
        rows = self._connection.execute(
            f"SELECT row.* {_READY}{which} ORDER BY id LIMIT :most",
            {"most": most, "proposals": json.dumps(list(proposals or ()))},
        )
        return tuple(map(_as_row, rows))

    def coming(self, note_id: str) -> OutboxRow | None:
        """The newest row that waits to change what a note says, or to hide it; None for none."""
        row = self._connection.execute(
            "SELECT * FROM graph_outbox WHERE note_id = ? AND status = 'pending'"
            " AND op IN ('hide', 'update') ORDER BY id DESC LIMIT 1",
            (note_id,),
        ).fetchone()
        return None if row is None else _as_row(row)

    def carry_along(self, note_id: str, content: str) -> bool:
        """Lets what waits to change a note give it these words at once, so that both are one change that can be done
        twice; False where nothing waits.
        """
        return (
            self._connection.execute(
                "UPDATE graph_outbox SET payload = json_set(payload, '$.content', ?)"
                " WHERE note_id = ? AND status = 'pending' AND op = 'update'",
                (content, note_id),
            ).rowcount
            > 0
        )

    def wrote(self, note_id: str, content: str) -> bool:
        """Whether these are the words of a note before or after what the pipeline did to it, undone since or not."""
        row = self._connection.execute(
            "SELECT 1 FROM graph_outbox WHERE note_id = ? AND status = 'done'"
            " AND ? IN (json_extract(payload, '$.expected'), json_extract(payload, '$.content')) LIMIT 1",
            (note_id, content),
        ).fetchone()
        return row is not None

    def count_waiting(self, proposals: Collection[str] | None = None) -> int:
        """How many rows still wait. proposals: for these alone; None: for all."""
        which = "" if proposals is None else f" AND {_NAMED}"
        found = self._connection.execute(
            f"SELECT count(*) FROM graph_outbox WHERE status = 'pending'{which}",
            {"proposals": json.dumps(list(proposals or ()))},
        ).fetchone()
        return int(found[0])

    def counts(self) -> dict[OutboxStatus, int]:
        """How many rows there are of each status."""
        found: dict[OutboxStatus, int] = dict.fromkeys(get_args(OutboxStatus), 0)
        for status, number in self._connection.execute(
            "SELECT status, count(*) FROM graph_outbox GROUP BY status"
        ):
            found[status] = number
        return found

    def oldest_pending(self) -> int | None:
        """Since when the oldest row waits, in epoch ms; None when none does."""
        row = self._connection.execute(
            "SELECT created_at FROM graph_outbox WHERE status = 'pending' ORDER BY id LIMIT 1"
        ).fetchone()
        return None if row is None else int(row[0])

    def end(
        self,
        row: OutboxRow,
        status: Literal["done", "conflict", "failed"],
        *,
        now: int,
        entry_id: str = "",
        error: str = "",
    ) -> bool:
        """Keeps what became of a row; False when it waits no more. entry_id: of the audit log, "" for none."""
        ended = self._connection.execute(
            "UPDATE graph_outbox SET status = ?, error = ?, entry_id = ?, done_at = ?, attempts = attempts + 1"
            " WHERE id = ? AND status = 'pending'",
            (status, error[:_ERROR_LENGTH], entry_id, now, row.id),
        )
        return ended.rowcount == 1

    def put_off(self, rows: Collection[OutboxRow], error: str) -> None:
        """Keeps that rows could not be brought over this time; they wait on."""
        self._connection.executemany(
            "UPDATE graph_outbox SET attempts = attempts + 1, error = ? WHERE id = ? AND status = 'pending'",
            [(error[:_ERROR_LENGTH], row.id) for row in rows],
        )

    def retry_failed(self) -> int:
        """Lets the rows that failed wait once more; how many."""
        return self._connection.execute(
            "UPDATE graph_outbox SET status = 'pending' WHERE status = 'failed'"
        ).rowcount

    def move_note(self, row: OutboxRow, note_id: str) -> None:
        """Gives the note of a fact another id everywhere, since the one that was chosen turned out to be taken."""
        self._connection.execute("UPDATE facts SET note_id = ? WHERE id = ?", (note_id, row.fact_id))
        self._connection.execute(
            "UPDATE proposals SET note_id = ?1 WHERE id = ?2 OR (note_id = ?3 AND id IN"
            " (SELECT proposal_id FROM graph_outbox WHERE note_id = ?3 AND id > ?4))",
            (note_id, row.proposal_id, row.note_id, row.id),
        )
        # What was accepted since for the note of that id meant the note of this fact.
        self._connection.execute(
            "UPDATE graph_outbox SET note_id = ? WHERE note_id = ? AND id >= ?",
            (note_id, row.note_id, row.id),
        )

    def reopen_proposal(self, row: OutboxRow, reason: str, says: str) -> None:
        """Lets an accepted proposal wait again whose note had moved on; what it would have denied stands on.

        says: what the note says by now.
        """
        self._connection.execute(
            "UPDATE proposals SET status = 'review', reason = ?, resolved_at = NULL, resolved_by = '',"
            " target_content = CASE WHEN ?2 <> '' AND target_note = ?3 THEN ?2 ELSE target_content END WHERE id = ?4",
            (reason, says, row.note_id, row.proposal_id),
        )
        # Room for a second decision.
        self._connection.execute(
            "DELETE FROM graph_outbox WHERE proposal_id = ? AND op <> 'add'", (row.proposal_id,)
        )
        self._connection.execute(
            "UPDATE facts SET status = 'active' WHERE ? IN (note_id, proposal_id) AND status = 'denied'"
            " AND NOT EXISTS (SELECT 1 FROM facts AS same WHERE same.nugget = facts.nugget AND same.status <> 'denied'"
            " AND same.content_hash = facts.content_hash)",
            (row.note_id if row.op == "hide" else row.proposal_id,),
        )

    def origin_of(self, note_id: str) -> Origin | None:
        """Where the words of a note came from: the whole raw text, `span` the place in it; None for others' notes."""
        row = self._connection.execute(_ORIGIN, (note_id,)).fetchone()
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
            project=row["project"],
            proposal_id=row["proposal_id"],
            fact_id=row["fact_id"],
            fact=row["fact"],
            decided_by=row["decided_by"],
            removed_at=row["removed_at"],
            deleted_at=row["gone_at"],
        )

    def forget_done(self, proposal_id: str) -> None:
        """Makes room for a second decision: what was handed over the last time is done and undone."""
        self._connection.execute(
            "DELETE FROM graph_outbox WHERE proposal_id = ?1 AND status = 'done'"
            " AND entry_id = (SELECT entry_id FROM graph_outbox WHERE proposal_id = ?1 AND status = 'done'"
            " AND entry_id <> '' ORDER BY id DESC LIMIT 1)",
            (proposal_id,),
        )
