"""Rows of proposals: what should become of each fact that was extracted, and what did. Of decisions: what people said
without touching a note, under the entry of the log by which it is undone.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

from core.errors import AmbiguousError, ErrorCode, InvalidInputError, Remedy
from core.pipeline.database.tables import Rows
from core.pipeline.records import Origin, ProposalReason, ProposalStatus, StoredProposal

_HEAD: Final = "proposal-"
_OPEN: Final = "status IN ('proposed', 'review', 'blocked')"
_OPEN_CHANGE: Final = (
    "other.status IN ('proposed', 'review', 'blocked') AND other.action IN ('update', 'delete')"
)
_PLAIN: Final = tuple(name for name in StoredProposal.__slots__ if name not in ("span", "becomes"))
# What was added by itself is not asked about: undone, it is kept as taken back, so that nothing learns it again. What
# was changed by itself, as a correction within one text, is a person's to decide once it is undone.
_ACCEPTED: Final = "(proposals.action <> 'add' OR resolved_by <> '' AND resolved_by NOT LIKE 'pipeline%')"
# Of what was handed over for a proposal, that which settled it.
_UNDONE: Final = f"""
SELECT proposals.id, proposals.status, op, fact_id, box.note_id, entry_id
FROM proposals JOIN note_edits AS box ON box.proposal_id = proposals.id
WHERE box.status = 'done' AND entry_id = (
    SELECT entry_id FROM note_edits AS last WHERE last.proposal_id = proposals.id AND last.status = 'done'
    AND entry_id <> '' ORDER BY id DESC LIMIT 1)
AND ((proposals.status = 'applied' AND {_ACCEPTED} AND entry_id IN (SELECT value FROM json_each(?)))
    OR (proposals.status = 'review' AND reason = '{ProposalReason.UNDONE}'))
ORDER BY box.id
"""


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
    ) -> bool:
        """Says what became of an open proposal; False when it is not open any more.

        note_id: the note it became. repeated: the note that says it already.
        """
        return self.run(
            "UPDATE proposals SET status = ?1, reason = ?2, resolved_by = ?3, resolved_at = ?4,"
            " note_id = CASE WHEN ?5 <> '' THEN ?5 ELSE note_id END,"
            f" target_note = CASE WHEN ?6 <> '' THEN ?6 ELSE target_note END WHERE id = ?7 AND {_OPEN}",
            status, str(reason), by, now, note_id, repeated, proposal_id,
        ) == 1  # fmt: skip

    def turn_refusal(
        self, proposal_id: str, status: str, reason: str, *, undone: bool, by: str, now: int
    ) -> bool:
        """Takes over that a refusal was undone or redone; False where somebody decided otherwise since.

        status, reason: how it stood before it was refused.
        """
        standing = "status = 'rejected'" if undone else _OPEN
        values = (status, reason, None, "") if undone else ("rejected", str(ProposalReason.REFUSED), now, by)
        return self.run(
            "UPDATE proposals SET status = ?, reason = ?, resolved_at = ?, resolved_by = ?"
            f" WHERE id = ? AND {standing}",
            *values, proposal_id,
        ) == 1  # fmt: skip

    def retarget(self, proposal_id: str, note_id: str, content: str) -> None:
        """Which note an open change would change, and what that says by now."""
        self.run(
            "UPDATE proposals SET target_note = ?, target_content = ? WHERE id = ?",
            note_id,
            content,
            proposal_id,
        )

    def set_status(self, proposal_id: str, status: str, reason: ProposalReason) -> None:
        """How a proposal stands now, and why."""
        self.run("UPDATE proposals SET status = ?, reason = ? WHERE id = ?", status, str(reason), proposal_id)

    # Looking up

    def _those(self, which: str, *values: object) -> tuple[StoredProposal, ...]:
        """Proposals, by a condition and what follows it."""
        return tuple(map(_stored, self.ask(f"SELECT * FROM proposals AS other WHERE {which}", *values)))

    def by_id(self, proposal_id: str) -> StoredProposal | None:
        """A proposal, None for none of this id."""
        return next(iter(self._those("id = ?", proposal_id)), None)

    def open_changes(self, target: str) -> tuple[StoredProposal, ...]:
        """What would still change a note, or a proposal."""
        return self._those(f"target_note <> '' AND target_note = ? AND {_OPEN}", target)

    def stored(self, *, all: bool = False, most: int = 500) -> tuple[StoredProposal, ...]:
        """Proposals that wait for a person, newest first; of one memory in the order of its facts. all: every one."""
        return self._those(f"{'1' if all else _OPEN} ORDER BY created_at DESC, raw_id, place LIMIT ?", most)

    def of_raw(self, raw_id: str) -> tuple[StoredProposal, ...]:
        """All proposals of one raw memory, in the order of its facts; where it was read twice, by time."""
        return self._those("raw_id = ? ORDER BY created_at, place", raw_id)

    def open_of(self, nugget: str, most: int) -> tuple[StoredProposal, ...]:
        """The newest proposals of a nugget that wait for a person."""
        return self._those(
            f"{_OPEN} AND nugget = ? ORDER BY created_at DESC, raw_id, place LIMIT ?", nugget, most
        )

    def same(self, nugget: str, content_hash: str) -> StoredProposal | None:
        """An addition of the same fact that waits for a person, else one that a person refused; None for neither."""
        found = self._those(
            "nugget = ? AND content_hash = ? AND action = 'add'"
            " AND status IN ('proposed', 'review', 'blocked', 'rejected')"
            " ORDER BY status = 'rejected', created_at LIMIT 1",
            nugget, content_hash,
        )  # fmt: skip
        return next(iter(found), None)

    def refused_change(self, nugget: str, content_hash: str) -> StoredProposal | None:
        """A change to this very text that a person refused; None for none."""
        found = self._those(
            "nugget = ? AND content_hash = ? AND status = 'rejected' AND action IN ('update', 'delete') LIMIT 1",
            nugget, content_hash,
        )  # fmt: skip
        return next(iter(found), None)

    def accepted_meanwhile(self, proposal: StoredProposal) -> tuple[StoredProposal, ...]:
        """The changes of the same note that were accepted since a proposal was made, whatever clocks say."""
        return self._those(
            "target_note = ?1 AND id <> ?2 AND status = 'applied' AND action <> 'add'"
            " AND EXISTS (SELECT 1 FROM history WHERE proposal_id = other.id"
            " AND proposal_id <> '' AND event = 'accepted' AND id > (SELECT coalesce(min(id), 0) FROM history"
            " WHERE proposal_id = ?2 AND proposal_id <> '')) ORDER BY resolved_at, place",
            proposal.target_note, proposal.id,
        )  # fmt: skip

    def settled_with(self, proposal_id: str) -> tuple[str, ...]:
        """The proposals that were settled as replaced when this one was accepted, undone since or not."""
        return self.column(
            "SELECT other.id FROM proposals AS one JOIN proposals AS other ON other.resolved_at = one.resolved_at"
            " AND other.resolved_by = one.resolved_by AND other.id <> one.id"
            f" WHERE one.id = ? AND other.reason IN ('{ProposalReason.REPLACED}', '{ProposalReason.UNDONE}')",
            proposal_id,
        )

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
        for where in ("id = ?1", f"content = ?1 AND {_OPEN}", f"{begins} AND {_OPEN}", begins):
            rows = self.ask(
                f"SELECT id FROM proposals WHERE {where} AND ?2 <> '' LIMIT 5", wanted, f"{_HEAD}{wanted}"
            )
            found = [str(row[0]) for row in rows]
            if len(found) == 1:
                return found[0]
            if found:
                few = ", ".join(found[:4]) + (", and more" if len(found) > 4 else "")
                remedy = Remedy("name-it", "more of the id")
                raise AmbiguousError(f"matches several proposals: {few}", remedy=remedy, where=wanted)
        return wanted

    def above(self, confidence: float) -> tuple[str, ...]:
        """Ids of the open additions that are at least so sure, of the fact and of the decision, oldest first.

        What needs a person's look at it (an update, a deletion, a fact that is not grounded) is not among them, nor is
        what another open proposal would change.
        """
        rows = self.ask(
            f"SELECT id FROM proposals WHERE {_OPEN} AND action = 'add' AND review_needed = 0"
            f" AND NOT EXISTS (SELECT 1 FROM proposals AS other WHERE {_OPEN_CHANGE}"
            " AND other.target_note <> '' AND other.target_note = proposals.id)"
            f" AND NOT EXISTS (SELECT 1 FROM proposals AS other WHERE {_OPEN_CHANGE}"
            " AND other.raw_id = proposals.raw_id AND other.target_content = proposals.content)"
            " AND min(fact_confidence, confidence) >= ? ORDER BY created_at, raw_id, place",
            confidence,
        )
        return tuple(row[0] for row in rows)

    def waiting_changes(self, note_id: str = "") -> tuple[tuple[str, str, str], ...]:
        """The changes of one note that wait for a person, or of all notes, the oldest first: the note that each would
        change, its id, and what it says.
        """
        rows = self.ask(
            "SELECT target_note, id, content FROM proposals"
            f" WHERE target_note <> '' AND (?1 = '' OR target_note = ?1) AND {_OPEN}"
            " AND action IN ('update', 'delete') ORDER BY created_at, raw_id, place",
            note_id,
        )
        return tuple(tuple(row) for row in rows)

    def note_of_sibling(self, proposal_id: str, content: str) -> str:
        """The note that an earlier fact of one extraction became or repeats, by its text; "" while there is none."""
        return self.text(
            "SELECT coalesce(nullif(other.note_id, ''), other.target_note) FROM proposals AS one"
            " JOIN proposals AS other ON other.raw_id = one.raw_id AND other.job_id IS one.job_id"
            " AND other.place < one.place WHERE one.id = ? AND other.content = ?"
            " AND other.status IN ('applied', 'deduped') ORDER BY other.place LIMIT 1",
            proposal_id, content,
        )  # fmt: skip

    def undone(self, entries: Iterable[str]) -> tuple[sqlite3.Row, ...]:
        """The accepted proposals that one of these entries of the log is of, and those that were reopened."""
        return tuple(self.ask(_UNDONE, json.dumps(list(entries))))


class Decision(NamedTuple):
    """A decision. entry_id: of the log. reason: what was done, in words. author: who did, as a signature.

    noted: whether the log has it. undone: whether it is undone at present, as far as was followed. note_id: the note
    that hints were removed of, "" for a refusal. items: JSON of these hints, or of the refused proposals, each with how
    it stood before.
    """

    entry_id: str
    reason: str
    author: str
    at: int
    noted: bool
    undone: bool
    note_id: str
    items: str

    @property
    def refused(self) -> Sequence[tuple[str, str, str]]:
        """The ids of refused proposals, each with its status and reason before."""
        return [] if self.note_id else [tuple(one) for one in json.loads(self.items)]

    @property
    def hints(self) -> Sequence[str]:
        """The removed hints."""
        return [str(one) for one in json.loads(self.items)] if self.note_id else []


class Decisions(Rows):
    """What people decided without touching a note."""

    def refused(
        self, entry_id: str, reason: str, author: str, at: int, proposals: Iterable[StoredProposal]
    ) -> None:
        """Stores that proposals were refused, as they were before. at: epoch ms."""
        before = [(one.id, one.status, one.reason) for one in proposals]
        self._insert(entry_id, reason, author, at, "", before)

    def removed(
        self, entry_id: str, reason: str, author: str, at: int, note_id: str, hints: Sequence[str]
    ) -> None:
        """Stores that hints of a note were removed. at: epoch ms."""
        self._insert(entry_id, reason, author, at, note_id, hints)

    def _insert(
        self, entry_id: str, reason: str, author: str, at: int, note_id: str, items: Sequence[object]
    ) -> None:
        self.insert_row(
            "decisions", entry_id=entry_id, reason=reason, author=author, at=at, note_id=note_id,
            items=json.dumps(items, ensure_ascii=False),
        )  # fmt: skip

    def note(self, entry_id: str) -> None:
        """The log has it."""
        self.run("UPDATE decisions SET noted = 1 WHERE entry_id = ?", entry_id)

    def set_undone(self, entry_id: str, undone: bool) -> None:
        """Whether it is undone."""
        self.run("UPDATE decisions SET undone = ? WHERE entry_id = ?", undone, entry_id)

    def any_kept(self) -> bool:
        """Whether anything was decided so."""
        return self.has("SELECT 1 FROM decisions LIMIT 1")

    def unnoted(self) -> tuple[Decision, ...]:
        """Those that the log has yet to be told of, oldest first."""
        return self.records(Decision, "SELECT * FROM decisions WHERE noted = 0 ORDER BY at, entry_id")

    def turned(self, undone: Collection[str]) -> tuple[Decision, ...]:
        """Those that were undone or redone since it was last followed. undone: entries that are undone at present."""
        known = self.records(Decision, "SELECT * FROM decisions WHERE noted = 1 ORDER BY at, entry_id")
        return tuple(one for one in known if (one.entry_id in undone) != one.undone)


# What was done to notes

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
