"""Rows of proposals: what should become of each fact that was extracted, and what did."""

from __future__ import annotations

import sqlite3
from typing import Final

from core.errors import AmbiguousError, ErrorCode, InvalidInputError, ListThings, NameIt
from core.pipeline.records import ProposalStatus, StoredProposal

_HEAD: Final = "proposal-"
_OPEN: Final = "status IN ('proposed', 'review')"
_PLAIN: Final = tuple(
    name for name in StoredProposal.__slots__ if name not in ("grounded", "review_needed", "span")
)
_INSERTED: Final = (
    *_PLAIN, "grounded", "review_needed", "span_start", "span_end", "job_id", "place", "prompt_version", "content_hash"
)  # fmt: skip


def insert(
    writer: sqlite3.Connection,
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
    writer.execute(f"INSERT INTO proposals ({', '.join(_INSERTED)}) VALUES ({marks})", values)


def resolve(
    writer: sqlite3.Connection,
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
        writer.execute(
            "UPDATE proposals SET status = ?1, reason = ?2, resolved_by = ?3, resolved_at = ?4, note_id = ?5,"
            f" target_note = CASE WHEN ?6 <> '' THEN ?6 ELSE target_note END WHERE id = ?7 AND {_OPEN}",
            (status, str(reason), by, now, note_id, repeated, proposal_id),
        ).rowcount
        == 1
    )


def by_id(reader: sqlite3.Connection, proposal_id: str) -> StoredProposal | None:
    """A proposal, None for none of this id."""
    row = reader.execute("SELECT * FROM proposals WHERE id = ?", (proposal_id,)).fetchone()
    return None if row is None else _stored(row)


def resolve_id(reader: sqlite3.Connection, said: str) -> str:
    """The id that an unambiguous beginning of an id means, with or without its first word, or the exact text of a
    proposal that waits; what means none comes back as it is. Raises AmbiguousError, and InvalidInputError for "".
    """
    wanted = said.strip()
    if not wanted:
        raise InvalidInputError("the id is empty", code=ErrorCode.EMPTY_ID, remedy=ListThings("proposals"))
    begins = (wanted, f"{_HEAD}{wanted}")
    looks: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("id = ?", (wanted,)),
        (f"content = ? AND {_OPEN}", (wanted,)),
        (f"(substr(id, 1, length(?1)) = ?1 OR substr(id, 1, length(?2)) = ?2) AND {_OPEN}", begins),
        ("substr(id, 1, length(?1)) = ?1 OR substr(id, 1, length(?2)) = ?2", begins),
    )
    for where, values in looks:
        found = [
            row["id"] for row in reader.execute(f"SELECT id FROM proposals WHERE {where} LIMIT 5", values)
        ]
        if len(found) == 1:
            return str(found[0])
        if found:
            few = ", ".join(found[:4]) + (", and more" if len(found) > 4 else "")
            raise AmbiguousError(
                f"matches several proposals: {few}", remedy=NameIt("more of the id"), where=wanted
            )
    return wanted


def stored(reader: sqlite3.Connection, *, all: bool = False, most: int = 500) -> tuple[StoredProposal, ...]:
    """Proposals that wait for a person, newest first; those of one memory in the order of its facts. all: every one."""
    where = "" if all else f"WHERE {_OPEN}"
    rows = reader.execute(
        f"SELECT * FROM proposals {where} ORDER BY created_at DESC, raw_id, place LIMIT ?", (most,)
    )
    return tuple(map(_stored, rows))


def above(reader: sqlite3.Connection, confidence: float) -> tuple[str, ...]:
    """Ids of the open additions that are at least so sure, of the fact and of the decision, oldest first.

    What needs a person's look at it (an update, a deletion, a fact that is not grounded) is not among them.
    """
    rows = reader.execute(
        f"SELECT id FROM proposals WHERE {_OPEN} AND action = 'add' AND review_needed = 0"
        " AND min(fact_confidence, confidence) >= ? ORDER BY created_at, raw_id, place",
        (confidence,),
    )
    return tuple(row[0] for row in rows)


def same(reader: sqlite3.Connection, nugget: str, content_hash: str) -> StoredProposal | None:
    """An addition of the same fact that waits for a person, else one that a person refused; None for neither."""
    row = reader.execute(
        "SELECT * FROM proposals WHERE nugget = ? AND content_hash = ? AND action = 'add'"
        " AND status IN ('proposed', 'review', 'rejected') ORDER BY status = 'rejected', created_at LIMIT 1",
        (nugget, content_hash),
    ).fetchone()
    return None if row is None else _stored(row)


def prompt_version(reader: sqlite3.Connection, proposal_id: str) -> str:
    """The version of the prompt that a proposal comes from."""
    row = reader.execute("SELECT prompt_version FROM proposals WHERE id = ?", (proposal_id,)).fetchone()
    return "" if row is None else str(row[0])


def note_of_sibling(reader: sqlite3.Connection, proposal_id: str, content: str) -> str:
    """The note that an earlier fact of the same extraction became or repeats, by its text; "" while there is none."""
    row = reader.execute(
        "SELECT coalesce(nullif(other.note_id, ''), other.target_note) FROM proposals AS one JOIN proposals AS other"
        " ON other.raw_id = one.raw_id AND other.job_id IS one.job_id AND other.place < one.place"
        " WHERE one.id = ? AND other.content = ? AND other.status IN ('applied', 'deduped')"
        " ORDER BY other.place LIMIT 1",
        (proposal_id, content),
    ).fetchone()
    return "" if row is None else str(row[0])


def _stored(row: sqlite3.Row) -> StoredProposal:
    start = row["span_start"]
    return StoredProposal(
        **{name: row[name] for name in _PLAIN},
        grounded=bool(row["grounded"]),
        review_needed=bool(row["review_needed"]),
        span=None if start is None else (start, row["span_end"]),
    )
