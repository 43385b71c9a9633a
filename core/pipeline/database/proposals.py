"""Rows of proposals: what should become of each fact that was extracted, and what did."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Final

from core.errors import AmbiguousError, ErrorCode, InvalidInputError, Remedy
from core.pipeline.records import ProposalReason, ProposalStatus, StoredProposal

_HEAD: Final = "proposal-"
_OPEN: Final = "status IN ('proposed', 'review', 'blocked')"
_OPEN_CHANGE: Final = (
    "other.status IN ('proposed', 'review', 'blocked') AND other.action IN ('update', 'delete')"
)
_PLAIN: Final = tuple(
    name for name in StoredProposal.__slots__ if name not in ("grounded", "review_needed", "span", "becomes")
)
_INSERTED: Final = (
    *_PLAIN, "grounded", "review_needed", "span_start", "span_end", "job_id", "place", "prompt_version", "content_hash",
)  # fmt: skip
# What was added by itself is not asked about: undone, it is kept as taken back, so that nothing learns it again. What
# was changed by itself, as a correction within one text, is a person's to decide once it is undone.
_ACCEPTED: Final = "(proposals.action <> 'add' OR resolved_by <> '' AND resolved_by NOT LIKE 'pipeline%')"
# Of what was handed over for a proposal, that which settled it.
_UNDONE: Final = f"""
SELECT proposals.id, proposals.status, proposals.reason, proposals.raw_id, proposals.content, proposals.model,
    proposals.prompt_version, op, fact_id, box.note_id, entry_id
FROM proposals JOIN note_edits AS box ON box.proposal_id = proposals.id
WHERE box.status = 'done' AND entry_id = (
    SELECT entry_id FROM note_edits AS last WHERE last.proposal_id = proposals.id AND last.status = 'done'
    AND entry_id <> '' ORDER BY id DESC LIMIT 1)
AND ((proposals.status = 'applied' AND {_ACCEPTED} AND entry_id IN (SELECT value FROM json_each(:undone)))
    OR (proposals.status = 'review' AND reason = '{ProposalReason.UNDONE}'))
ORDER BY box.id
"""


def _stored(row: sqlite3.Row) -> StoredProposal:
    start = row["span_start"]
    return StoredProposal(
        **{name: row[name] for name in _PLAIN},
        grounded=bool(row["grounded"]),
        review_needed=bool(row["review_needed"]),
        span=None if start is None else (start, row["span_end"]),
    )


class Proposals:
    """What was proposed, and what became of it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def insert(
        self,
        proposal: StoredProposal,
        *,
        job_id: int,
        place: int,
        prompt_version: str,
        content_hash: str,
    ) -> None:
        """Stores a proposal. place: the index of its fact in the extraction. content_hash: of the fact."""
        span = proposal.span or (None, None)
        values = (
            *(getattr(proposal, name) for name in _PLAIN),
            proposal.grounded, proposal.review_needed, *span, job_id, place, prompt_version, content_hash,
        )  # fmt: skip
        marks = ", ".join("?" * len(values))
        self._connection.execute(f"INSERT INTO proposals ({', '.join(_INSERTED)}) VALUES ({marks})", values)

    def resolve(
        self,
        proposal_id: str,
        status: ProposalStatus,
        *,
        reason: str,
        by: str,
        now: int,
        note_id: str = "",
        repeated: str = "",
    ) -> bool:
        """Says what became of an open proposal; False when it is not open any more.

        note_id: the note it became. repeated: the note that says it already.
        """
        return (
            self._connection.execute(
                "UPDATE proposals SET status = ?1, reason = ?2, resolved_by = ?3, resolved_at = ?4,"
                " note_id = CASE WHEN ?5 <> '' THEN ?5 ELSE note_id END,"
                f" target_note = CASE WHEN ?6 <> '' THEN ?6 ELSE target_note END WHERE id = ?7 AND {_OPEN}",
                (status, str(reason), by, now, note_id, repeated, proposal_id),
            ).rowcount
            == 1
        )

    def turn_refusal(
        self, proposal_id: str, status: str, reason: str, *, undone: bool, by: str, now: int
    ) -> bool:
        """Takes over that a refusal was undone or redone; False where somebody decided otherwise since.

        status, reason: how it stood before it was refused.
        """
        standing = "status = 'rejected'" if undone else _OPEN
        values = (status, reason, None, "") if undone else ("rejected", str(ProposalReason.REFUSED), now, by)
        return (
            self._connection.execute(
                "UPDATE proposals SET status = ?, reason = ?, resolved_at = ?, resolved_by = ?"
                f" WHERE id = ? AND {standing}",
                (*values, proposal_id),
            ).rowcount
            == 1
        )

    def retarget(self, proposal_id: str, note_id: str, content: str) -> None:
        """Which note an open change would change, and what that says by now."""
        self._connection.execute(
            "UPDATE proposals SET target_note = ?, target_content = ? WHERE id = ?",
            (note_id, content, proposal_id),
        )

    def open_changes(self, target: str) -> tuple[StoredProposal, ...]:
        """What would still change a note, or a proposal."""
        rows = self._connection.execute(
            f"SELECT * FROM proposals WHERE target_note <> '' AND target_note = ? AND {_OPEN}", (target,)
        )
        return tuple(map(_stored, rows))

    def by_id(self, proposal_id: str) -> StoredProposal | None:
        """A proposal, None for none of this id."""
        row = self._connection.execute("SELECT * FROM proposals WHERE id = ?", (proposal_id,)).fetchone()
        return None if row is None else _stored(row)

    def settled_with(self, proposal_id: str) -> tuple[str, ...]:
        """The proposals that were settled as replaced when this one was accepted, undone since or not."""
        rows = self._connection.execute(
            "SELECT other.id FROM proposals AS one JOIN proposals AS other ON other.resolved_at = one.resolved_at"
            " AND other.resolved_by = one.resolved_by AND other.id <> one.id"
            f" WHERE one.id = ? AND other.reason IN ('{ProposalReason.REPLACED}', '{ProposalReason.UNDONE}')",
            (proposal_id,),
        )
        return tuple(row[0] for row in rows)

    def said_of(self, raw_id: str) -> tuple[str, ...]:
        """What was taken from a raw memory and stands, or waits with nothing said against it: each text once."""
        rows = self._connection.execute(
            "SELECT DISTINCT content FROM proposals WHERE raw_id = ?"
            " AND (status IN ('applied', 'deduped', 'none') OR (status = 'proposed' AND review_needed = 0))",
            (raw_id,),
        )
        return tuple(row[0] for row in rows)

    def resolve_id(self, said: str) -> str:
        """The id that an unambiguous beginning of an id means, with or without its first word, or the exact text of a
        proposal that waits; what means none comes back as it is. Raises AmbiguousError, and InvalidInputError for "".
        """
        wanted = said.strip()
        if not wanted:
            raise InvalidInputError(
                "the id is empty", code=ErrorCode.EMPTY, field="id", remedy=Remedy("list-proposals")
            )
        begins = (wanted, f"{_HEAD}{wanted}")
        looks: tuple[tuple[str, tuple[str, ...]], ...] = (
            ("id = ?", (wanted,)),
            (f"content = ? AND {_OPEN}", (wanted,)),
            (f"(substr(id, 1, length(?1)) = ?1 OR substr(id, 1, length(?2)) = ?2) AND {_OPEN}", begins),
            ("substr(id, 1, length(?1)) = ?1 OR substr(id, 1, length(?2)) = ?2", begins),
        )
        for where, values in looks:
            found = [
                row["id"]
                for row in self._connection.execute(f"SELECT id FROM proposals WHERE {where} LIMIT 5", values)
            ]
            if len(found) == 1:
                return str(found[0])
            if found:
                few = ", ".join(found[:4]) + (", and more" if len(found) > 4 else "")
                raise AmbiguousError(
                    f"matches several proposals: {few}",
                    remedy=Remedy("name-it", "more of the id"),
                    where=wanted,
                )
        return wanted

    def stored(self, *, all: bool = False, most: int = 500) -> tuple[StoredProposal, ...]:
        """Proposals that wait for a person, newest first; of one memory in the order of its facts. all: every one."""
        where = "" if all else f"WHERE {_OPEN}"
        rows = self._connection.execute(
            f"SELECT * FROM proposals {where} ORDER BY created_at DESC, raw_id, place LIMIT ?", (most,)
        )
        return tuple(map(_stored, rows))

    def of_raw(self, raw_id: str) -> tuple[StoredProposal, ...]:
        """All proposals of one raw memory, in the order of its facts; where it was read twice, by time."""
        rows = self._connection.execute(
            "SELECT * FROM proposals WHERE raw_id = ? ORDER BY created_at, place", (raw_id,)
        )
        return tuple(map(_stored, rows))

    def open_of(self, nugget: str, most: int) -> tuple[StoredProposal, ...]:
        """The newest proposals of a nugget that wait for a person."""
        rows = self._connection.execute(
            f"SELECT * FROM proposals WHERE {_OPEN} AND nugget = ? ORDER BY created_at DESC, raw_id, place LIMIT ?",
            (nugget, most),
        )
        return tuple(map(_stored, rows))

    def above(self, confidence: float) -> tuple[str, ...]:
        """Ids of the open additions that are at least so sure, of the fact and of the decision, oldest first.

        What needs a person's look at it (an update, a deletion, a fact that is not grounded) is not among them, nor is
        what another open proposal would change.
        """
        rows = self._connection.execute(
            f"SELECT id FROM proposals WHERE {_OPEN} AND action = 'add' AND review_needed = 0"
            f" AND NOT EXISTS (SELECT 1 FROM proposals AS other WHERE {_OPEN_CHANGE}"
            " AND other.target_note <> '' AND other.target_note = proposals.id)"
            f" AND NOT EXISTS (SELECT 1 FROM proposals AS other WHERE {_OPEN_CHANGE}"
            " AND other.raw_id = proposals.raw_id AND other.target_content = proposals.content)"
            " AND min(fact_confidence, confidence) >= ? ORDER BY created_at, raw_id, place",
            (confidence,),
        )
        return tuple(row[0] for row in rows)

    def same(self, nugget: str, content_hash: str) -> StoredProposal | None:
        """An addition of the same fact that waits for a person, else one that a person refused; None for neither."""
        row = self._connection.execute(
            "SELECT * FROM proposals WHERE nugget = ? AND content_hash = ? AND action = 'add'"
            " AND status IN ('proposed', 'review', 'blocked', 'rejected')"
            " ORDER BY status = 'rejected', created_at LIMIT 1",
            (nugget, content_hash),
        ).fetchone()
        return None if row is None else _stored(row)

    def refused_change(self, nugget: str, content_hash: str) -> StoredProposal | None:
        """A change to this very text that a person refused; None for none."""
        row = self._connection.execute(
            "SELECT * FROM proposals WHERE nugget = ? AND content_hash = ? AND status = 'rejected'"
            " AND action IN ('update', 'delete') LIMIT 1",
            (nugget, content_hash),
        ).fetchone()
        return None if row is None else _stored(row)

    def accepted_meanwhile(self, proposal: StoredProposal) -> tuple[StoredProposal, ...]:
        """The changes of the same note that were accepted since a proposal was made, whatever clocks say."""
        rows = self._connection.execute(
            "SELECT * FROM proposals AS other WHERE target_note = ?1 AND id <> ?2 AND status = 'applied'"
            " AND action <> 'add' AND EXISTS (SELECT 1 FROM history WHERE proposal_id = other.id"
            " AND proposal_id <> '' AND event = 'accepted' AND id > (SELECT coalesce(min(id), 0) FROM history"
            " WHERE proposal_id = ?2 AND proposal_id <> '')) ORDER BY resolved_at, place",
            (proposal.target_note, proposal.id),
        )
        return tuple(map(_stored, rows))

    def prompt_version(self, proposal_id: str) -> str:
        """The version of the prompt that a proposal comes from."""
        row = self._connection.execute(
            "SELECT prompt_version FROM proposals WHERE id = ?", (proposal_id,)
        ).fetchone()
        return "" if row is None else str(row[0])

    def waiting_changes(self, note_id: str = "") -> tuple[tuple[str, str, str], ...]:
        """The changes of one note that wait for a person, or of all notes, the oldest first: the note that each would
        change, its id, and what it says.
        """
        rows = self._connection.execute(
            "SELECT target_note, id, content FROM proposals"
            f" WHERE target_note <> '' AND (?1 = '' OR target_note = ?1) AND {_OPEN}"
            " AND action IN ('update', 'delete') ORDER BY created_at, raw_id, place",
            (note_id,),
        )
        return tuple(tuple(row) for row in rows)

    def note_of_sibling(self, proposal_id: str, content: str) -> str:
        """The note that an earlier fact of one extraction became or repeats, by its text; "" while there is none."""
        row = self._connection.execute(
            "SELECT coalesce(nullif(other.note_id, ''), other.target_note) FROM proposals AS one"
            " JOIN proposals AS other ON other.raw_id = one.raw_id AND other.job_id IS one.job_id"
            " AND other.place < one.place WHERE one.id = ? AND other.content = ?"
            " AND other.status IN ('applied', 'deduped')"
            " ORDER BY other.place LIMIT 1",
            (proposal_id, content),
        ).fetchone()
        return "" if row is None else str(row[0])

    # What a person accepted and undid since

    def undone(self, entries: Iterable[str]) -> tuple[sqlite3.Row, ...]:
        """The accepted proposals that one of these entries of the log is of, and those that were reopened."""
        given = {"undone": json.dumps(list(entries))}
        return tuple(self._connection.execute(_UNDONE, given).fetchall())

    def set_status(self, proposal_id: str, status: str, reason: ProposalReason) -> None:
        """How a proposal stands now, and why."""
        self._connection.execute(
            "UPDATE proposals SET status = ?, reason = ? WHERE id = ?", (status, str(reason), proposal_id)
        )
