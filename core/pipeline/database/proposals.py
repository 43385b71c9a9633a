"""Rows of proposals: what should become of each fact that was extracted, and what did. Of what was done to notes."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Final

from core.errors import AmbiguousError, ErrorCode, InvalidInputError, Remedy
from core.pipeline.database.tables import Rows
from core.pipeline.records import Origin, ProposalStatus, StoredProposal

_HEAD: Final = "proposal-"
OPEN: Final = "status IN ('proposed', 'review', 'blocked')"
_PLAIN: Final = tuple(name for name in StoredProposal.__slots__ if name not in ("span", "becomes"))


def _stored(row: sqlite3.Row) -> StoredProposal:
    values = {name: row[name] for name in _PLAIN}
    values |= {"grounded": bool(row["grounded"]), "review_needed": bool(row["review_needed"])}
    span = None if row["span_start"] is None else (row["span_start"], row["span_end"])
    return StoredProposal(**values, span=span)


class Proposals(Rows):
    """What was proposed, and what became of it."""

    def insert(self, proposal: StoredProposal, *, job_id: int, place: int, content_hash: str) -> None:
        """Stores a proposal. place: the index of its fact in the extraction. content_hash: of the fact."""
        start, end = proposal.span or (None, None)
        self.insert_row(
            "proposals", **{name: getattr(proposal, name) for name in _PLAIN}, span_start=start, span_end=end,
            job_id=job_id, place=place, content_hash=content_hash,
        )  # fmt: skip

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
    ) -> None:
        """Says what became of a proposal, where it is open still.

        note_id: the note it became. repeated: the note that says it already.
        """
        self.run(
            "UPDATE proposals SET status = ?1, reason = ?2, resolved_by = ?3, resolved_at = ?4,"
            " note_id = CASE WHEN ?5 <> '' THEN ?5 ELSE note_id END,"
            f" target_note = CASE WHEN ?6 <> '' THEN ?6 ELSE target_note END WHERE id = ?7 AND {OPEN}",
            status, str(reason), by, now, note_id, repeated, proposal_id,
        )  # fmt: skip

    def those(self, which: str, *values: object) -> tuple[StoredProposal, ...]:
        """Proposals, by a condition and what follows it; in it they are called `other`."""
        return tuple(map(_stored, self.ask(f"SELECT * FROM proposals AS other WHERE {which}", *values)))

    def by_id(self, proposal_id: str) -> StoredProposal | None:
        """A proposal, None for none of this id."""
        return next(iter(self.those("id = ?", proposal_id)), None)

    def stored(self, *, all: bool = False, most: int = 500) -> tuple[StoredProposal, ...]:
        """Proposals that wait for a person, newest first; of one memory in the order of its facts. all: every one."""
        return self.those(f"{'1' if all else OPEN} ORDER BY created_at DESC, raw_id, place LIMIT ?", most)

    def of_raw(self, raw_id: str) -> tuple[StoredProposal, ...]:
        """All proposals of one raw memory, in the order of its facts; where it was read twice, by time."""
        return self.those("raw_id = ? ORDER BY created_at, place", raw_id)

    def open_of(self, nugget: str, most: int) -> tuple[StoredProposal, ...]:
        """The newest proposals of a nugget that wait for a person."""
        return self.those(
            f"{OPEN} AND nugget = ? ORDER BY created_at DESC, raw_id, place LIMIT ?", nugget, most
        )

    def same(self, nugget: str, content_hash: str) -> StoredProposal | None:
        """An addition of the same fact that waits for a person, else one that a person refused; None for neither."""
        found = self.those(
            "nugget = ? AND content_hash = ? AND action = 'add'"
            " AND status IN ('proposed', 'review', 'blocked', 'rejected')"
            " ORDER BY status = 'rejected', created_at LIMIT 1",
            nugget, content_hash,
        )  # fmt: skip
        return next(iter(found), None)

    def said_of(self, raw_id: str) -> tuple[str, ...]:
        """What was taken from a raw memory and stands, or waits with nothing said against it: each text once."""
        return self.column(
            "SELECT DISTINCT content FROM proposals WHERE raw_id = ?"
            " AND (status IN ('applied', 'deduped', 'none') OR (status = 'proposed' AND review_needed = 0))",
            raw_id,
        )

    def resolve_id(self, said: str) -> str:
        """The id that an unambiguous beginning of an id means, with or without its first word, or the exact text of a
        proposal that waits; what means none comes back as it is. Raises AmbiguousError, and InvalidInputError for "".
        """
        wanted = said.strip()
        if not wanted:
            raise InvalidInputError(
                "the id is empty", code=ErrorCode.EMPTY, field="id", remedy=Remedy("list-proposals")
            )
        begins = "(substr(id, 1, length(?1)) = ?1 OR substr(id, 1, length(?2)) = ?2)"
        for where in ("id = ?1", f"content = ?1 AND {OPEN}", f"{begins} AND {OPEN}", begins):
            sql = f"SELECT id FROM proposals WHERE {where} AND ?2 <> '' LIMIT 5"
            found = self.column(sql, wanted, f"{_HEAD}{wanted}")
            if len(found) == 1:
                return str(found[0])
            if found:
                raise ambiguous("proposals", found, wanted)
        return wanted

    def above(self, confidence: float) -> tuple[str, ...]:
        """Ids of the open additions that are at least so sure, of the fact and of the decision, oldest first.

        What needs a person's look at it (an update, a deletion, a fact that is not grounded) is not among them, nor is
        what another open proposal would change.
        """
        change = "SELECT 1 FROM open_proposals AS other WHERE other.action IN ('update', 'delete')"
        return self.column(
            "SELECT id FROM open_proposals AS mine WHERE action = 'add' AND review_needed = 0"
            f" AND NOT EXISTS ({change} AND other.target_note <> '' AND other.target_note = mine.id)"
            f" AND NOT EXISTS ({change} AND other.raw_id = mine.raw_id AND other.target_content = mine.content)"
            " AND min(fact_confidence, confidence) >= ? ORDER BY created_at, raw_id, place",
            confidence,
        )

    def origin_of(self, note_id: str) -> Origin | None:
        """Where the words of a note came from: the whole raw text, `span` the place in it; None for others' notes."""
        # The newest words win: an update, else the addition.
        row = self.row("SELECT * FROM note_origins WHERE note_id = ? ORDER BY place DESC LIMIT 1", note_id)
        if row is None:
            return None
        found = Origin(**{name: row[name] for name in Origin.__slots__})
        start, end = row["span_start"], row["span_end"]
        return found if start is None or end is None else replace(found, span=(start, end))


def ambiguous(what: str, ids: tuple[str, ...], wanted: str) -> AmbiguousError:
    """The error for a beginning that several ids have."""
    few = ", ".join(ids[:4]) + (", and more" if len(ids) > 4 else "")
    remedy = Remedy("name-it", "more of the id")
    return AmbiguousError(f"matches several {what}: {few}", remedy=remedy, where=wanted)
