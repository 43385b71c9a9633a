"""What the pipeline's workers leave behind for the outbox: a raw memory, its proposal, fact and row, in one go."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Collection
from typing import Literal, NamedTuple

from core.pipeline.database import facts
from core.pipeline.database.connection import Database
from core.pipeline.intake.normalisation import normalise
from core.pipeline.records import RawMemory, StoredProposal
from core.pipeline.writes.note_of import note_id_of

NOW = 1_790_000_000_000


class Handed(NamedTuple):
    """Ids of what was put into the database for one accepted proposal."""

    raw: str
    proposal: str
    fact: str
    note: str


def sixteen(*parts: object) -> str:
    """16 hexadecimal digits that follow from the parts."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


def raw_memory(
    database: Database, text: str, *, nugget: str = "memory", session: str = "", now: int = NOW
) -> str:
    """A raw memory of this text, extracted; its id."""
    id = f"raw-{sixteen(nugget, text)}"
    forms = normalise(text)
    row = RawMemory(
        id=id, content=text, content_hash=forms.content_hash, source_type="text", source_id=session, project="",
        nugget=nugget, author="agent:claude", status="extracted", duplicate_of="", protected=False, created_at=now,
        extracted_at=now, model="qwen3:4b",
    )  # fmt: skip
    with database.write() as writer:
        if writer.raw.raw_of(id) is None:
            writer.raw.insert(row, forms.hash_version)
    return id


def learned(
    database: Database,
    text: str,
    *,
    nugget: str = "memory",
    type: str = "fact",
    confidence: float = 0.9,
    project: str = "",
    by: str = "",
    taken: Collection[str] = (),
    said: str = "",
    now: int = NOW,
) -> Handed:
    """A fact that was accepted: proposal, fact and row of the outbox in one transaction. said: the raw text."""
    raw_id = raw_memory(database, said or text, nugget=nugget, now=now)
    forms = normalise(text)
    key = sixteen(nugget, text, "add")
    proposal_id, fact_id = f"proposal-{key}", f"fact-{key}"
    with database.write() as writer:
        note_id = note_id_of(
            nugget, forms.content_hash, lambda id: id in taken or writer.outbox.note_id_known(id)
        )
        _propose(writer, proposal_id, raw_id, "add", text, note_id, nugget, said or text, now, type=type)
        writer.facts.insert(facts.StoredFact(
                id=fact_id, raw_id=raw_id, proposal_id=proposal_id, nugget=nugget, content=forms.storage_content,
                normalised_content=forms.normalised_content, content_hash=forms.content_hash,
                hash_version=forms.hash_version, type=type, confidence=confidence, note_id=note_id, status="active",
                model="qwen3:4b", prompt_version="extract-1", created_at=now,
            ),
        )  # fmt: skip
        payload = {
            "nugget": nugget, "content": forms.storage_content, "type": type, "confidence": confidence,
            "project": project, "raw_id": raw_id, "fact_id": fact_id, "model": "qwen3:4b",
            "prompt_version": "extract-1", "accepted_by": by,
        }  # fmt: skip
        writer.outbox.enqueue(
            op="add",
            proposal_id=proposal_id,
            fact_id=fact_id,
            note_id=note_id,
            payload=payload,
            now=now,
        )
    return Handed(raw_id, proposal_id, fact_id, note_id)


def decided(
    database: Database,
    op: Literal["update", "hide"],
    note_id: str,
    expected: str,
    text: str = "",
    *,
    said: str = "",
    now: int = NOW,
) -> Handed:
    """A change of a note, or the hiding of one, that was accepted."""
    said = said or text or f"{note_id} is no longer so."
    raw_id = raw_memory(database, said, now=now)
    proposal_id = f"proposal-{sixteen(note_id, expected, text, op)}"
    with database.write() as writer:
        action: Literal["update", "delete"] = "update" if op == "update" else "delete"
        _propose(writer, proposal_id, raw_id, action, text, note_id, "memory", said, now, target=expected)
        found = writer.facts.of_note(note_id)
        if op == "hide" and found is not None:
            writer.facts.deny(found.id)
        payload = {
            "expected": expected,
            "content": text,
            "raw_id": raw_id,
            "model": "qwen3:4b",
            "accepted_by": "person",
        }
        fact_id = found.id if found is not None else ""
        writer.outbox.enqueue(
            op=op, proposal_id=proposal_id, fact_id=fact_id, note_id=note_id, payload=payload, now=now
        )
    return Handed(raw_id, proposal_id, fact_id, note_id)


def _propose(
    writer: sqlite3.Connection,
    id: str,
    raw_id: str,
    action: Literal["add", "update", "delete"],
    text: str,
    note_id: str,
    nugget: str,
    said: str,
    now: int,
    *,
    type: str = "fact",
    target: str = "",
) -> None:
    start = said.find(text) if text else -1
    proposal = StoredProposal(
        id=id, raw_id=raw_id, action=action, content=text, type=type, fact_confidence=0.9, grounded=True,
        target_note=note_id if target else "", target_content=target, confidence=0.8, told="It is new.",
        decided_by="model", model="qwen3:4b", status="applied", reason="", review_needed=False, contradiction="",
        span=(start, start + len(text)) if start >= 0 else None, note_id=note_id, nugget=nugget, created_at=now,
        resolved_at=now, resolved_by="pipeline-v2",
    )  # fmt: skip
    writer.proposals.insert(proposal, job_id=int(sixteen(id), 16) % 2**40, place=0, prompt_version="extract-1",
        content_hash=normalise(text).content_hash,
    )  # fmt: skip


def outbox_rows(database: Database) -> list[tuple[str, str, str]]:
    """Operation, note and status of every row, in order."""
    found = database.reading.connection.execute("SELECT op, note_id, status FROM graph_outbox ORDER BY id")
    return [tuple(row) for row in found]


def events(database: Database, note_id: str) -> list[tuple[str, str]]:
    """What the audit tells of a note: event and reason, oldest first."""
    rows = database.reading.connection.execute(
        "SELECT event, reason FROM history WHERE note_id = ? ORDER BY id", (note_id,)
    )
    return [tuple(row) for row in rows]


def status_of(database: Database, fact_id: str) -> str:
    """The status of a fact."""
    return str(
        database.reading.connection.execute("SELECT status FROM facts WHERE id = ?", (fact_id,)).fetchone()[0]
    )
