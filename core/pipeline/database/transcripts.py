"""Rows of transcripts: whole conversations, redacted and compressed, found again by their sessions.

A longer text that begins with one that is kept takes its place; what is no continuation is kept as a revision.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from core.errors import BrokenFileError
from core.folder import DATABASE_FILE
from core.pipeline.database.tables import Rows
from core.pipeline.intake.redaction import Redacted
from core.pipeline.intake.sentences import excerpt
from core.pipeline.records import Conversation

Outcome = Literal["new", "longer", "revision", "unchanged"]
_LEVEL: Final = 6


@dataclass(frozen=True, slots=True)
class Packed:
    """A redacted text as it is stored; made before the transaction, since packing takes time."""

    text: str
    content: bytes
    redactions: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """What is kept of a session: the first text and what came later without continuing it, in order.

    redactions: how many credentials were taken out of all of them. Times are in epoch milliseconds.
    """

    session: str
    project: str
    content: str
    revisions: tuple[str, ...]
    redactions: int
    updated_at: int


def pack(redacted: Redacted) -> Packed:
    """A redacted text, compressed."""
    return Packed(redacted.text, packed(redacted.text), redacted.count)


def packed(text: str) -> bytes:
    """A text as it is stored."""
    return zlib.compress(text.encode(), _LEVEL)


def unpacked(content: bytes) -> str:
    """A text that was stored. Raises BrokenFileError."""
    try:
        return zlib.decompress(content).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise BrokenFileError(
            f"a stored text cannot be read ({error})", where=DATABASE_FILE, kept="it is unchanged"
        ) from error


class Transcripts(Rows):
    """Whole conversations."""

    def keep(self, packed: Packed, *, session: str, project: str, now: int) -> Outcome:
        """Keeps the transcript of a session; a text that says no more than one that is kept changes nothing."""
        rows = self.ask(
            "SELECT revision, content FROM transcripts WHERE session_key = ? ORDER BY revision", session
        )
        kept = {int(revision): unpacked(content) for revision, content in rows}
        if any(text.startswith(packed.text) for text in kept.values()):
            return "unchanged"
        continued = [revision for revision, text in kept.items() if packed.text.startswith(text)]
        if continued:
            self.run(
                "UPDATE transcripts SET content = ?, length = ?, redactions = ?, updated_at = ?,"
                " project = CASE ?5 WHEN '' THEN project ELSE ?5 END WHERE session_key = ? AND revision = ?",
                packed.content, len(packed.text), packed.redactions, now, project, session,
                max(continued, key=lambda revision: len(kept[revision])),
            )  # fmt: skip
            return "longer"
        self.insert_row(
            "transcripts", session_key=session, revision=max(kept, default=-1) + 1, content=packed.content,
            length=len(packed.text), project=project, redactions=packed.redactions, created_at=now, updated_at=now,
        )  # fmt: skip
        return "revision" if kept else "new"

    def of_sessions(self, sessions: Iterable[str]) -> dict[str, Transcript]:
        """The transcripts of sessions, each session once, by one query; sessions without one are left out."""
        found: dict[str, Transcript] = {}
        wanted = list(dict.fromkeys(sessions))
        for session, content, project, redactions, updated in self.ask(
            "SELECT session_key, content, transcripts.project, redactions, updated_at FROM json_each(?) AS wanted"
            " JOIN transcripts ON session_key = wanted.value ORDER BY wanted.key, revision",
            json.dumps(wanted),
        ):
            text, before = unpacked(content), found.get(session)
            if before is None:
                found[session] = Transcript(session, project, text, (), redactions, updated)
            else:
                found[session] = Transcript(
                    session, project or before.project, before.content, (*before.revisions, text),
                    before.redactions + redactions, max(before.updated_at, updated),
                )  # fmt: skip
        return found

    def conversations(self, note_ids: Iterable[str], most: int) -> tuple[Conversation, ...]:
        """The conversations that notes come from, each once, cut to `most` characters around what the notes say."""
        rows = self.ask(
            """
            WITH wanted AS (SELECT value AS note_id, key AS turn FROM json_each(?)),
            origins AS (
                SELECT turn, wanted.note_id, raw_id, content, proposal_id FROM wanted JOIN facts USING (note_id)
                UNION
                SELECT turn, wanted.note_id, raw_id, content, id FROM wanted JOIN proposals USING (note_id)
                WHERE proposals.status = 'applied')
            SELECT origins.note_id, raw.source_id, raw.content AS raw, origins.content AS fact, span_start, span_end
            FROM origins JOIN raw_memories raw ON raw.id = origins.raw_id
            LEFT JOIN proposals ON proposals.id = origins.proposal_id
            WHERE raw.source_id <> '' ORDER BY turn, raw.created_at, raw.id, span_start
            """,
            json.dumps(list(dict.fromkeys(note_ids))),
        ).fetchall()
        transcripts = self.of_sessions(row["source_id"] for row in rows)
        return tuple(
            _conversation(transcript, [row for row in rows if row["source_id"] == session], most)
            for session, transcript in transcripts.items()
        )


def _conversation(transcript: Transcript, sources: list[sqlite3.Row], most: int) -> Conversation:
    """A part of a conversation. sources: the notes that come from it, with the wordings by which it may be found."""
    text = transcript.content
    wordings = [wording for source in sources for wording in _wordings(source)]
    for later in transcript.revisions:
        if not any(wording in text for wording in wordings) and any(wording in later for wording in wordings):
            text = later
    span = excerpt(text, wordings, most)
    return Conversation(
        session=transcript.session, project=transcript.project, text=span.of(text), start=span.start,
        length=len(text), revisions=len(transcript.revisions),
        notes=tuple(dict.fromkeys(source["note_id"] for source in sources)), updated_at=transcript.updated_at,
    )  # fmt: skip


def _wordings(row: sqlite3.Row) -> list[str]:
    raw: str = row["raw"]
    sentence = raw[row["span_start"] : row["span_end"]] if row["span_start"] is not None else ""
    return [wording for wording in (sentence.strip(), row["fact"].strip(), raw.strip()) if wording]
