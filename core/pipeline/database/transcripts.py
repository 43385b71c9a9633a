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
from core.pipeline.intake.chunks import excerpt
from core.pipeline.intake.redaction import Redacted
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


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a note comes from: a session, and wordings by which its place in the conversation may be found."""

    note_id: str
    session: str
    wordings: tuple[str, ...]


def pack(redacted: Redacted) -> Packed:
    """A redacted text, compressed."""
    return Packed(redacted.text, zlib.compress(redacted.text.encode(), _LEVEL), redacted.count)


def _wordings(row: sqlite3.Row) -> tuple[str, ...]:
    raw: str = row["raw"]
    sentence = raw[row["span_start"] : row["span_end"]] if row["span_start"] is not None else ""
    return tuple(wording for wording in (sentence.strip(), row["fact"].strip(), raw.strip()) if wording)


def _conversation(transcript: Transcript, sources: list[_Source], most: int) -> Conversation:
    text = transcript.content
    wordings = [wording for source in sources for wording in source.wordings]
    for later in transcript.revisions:
        if not any(wording in text for wording in wordings) and any(wording in later for wording in wordings):
            text = later
    span = excerpt(text, wordings, most)
    return Conversation(
        session=transcript.session,
        project=transcript.project,
        text=span.of(text),
        start=span.start,
        length=len(text),
        revisions=len(transcript.revisions),
        notes=tuple(dict.fromkeys(source.note_id for source in sources)),
        updated_at=transcript.updated_at,
    )


def _transcript(session: str, rows: list[sqlite3.Row]) -> Transcript:
    first, *later = (_unpacked(row["content"]) for row in rows)
    return Transcript(
        session=session,
        project=next((row["project"] for row in reversed(rows) if row["project"]), ""),
        content=first,
        revisions=tuple(later),
        redactions=sum(row["redactions"] for row in rows),
        updated_at=max(row["updated_at"] for row in rows),
    )


def _unpacked(content: bytes) -> str:
    try:
        return zlib.decompress(content).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise BrokenFileError(
            f"a transcript cannot be read ({error})",
            where=DATABASE_FILE,
            kept="it is unchanged",
        ) from error


class Transcripts:
    """Whole conversations."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def keep(self, packed: Packed, *, session: str, project: str, now: int) -> Outcome:
        """Keeps the transcript of a session; a text that says no more than one that is kept changes nothing."""
        rows = self._connection.execute(
            "SELECT revision, content FROM transcripts WHERE session_key = ? ORDER BY revision", (session,)
        ).fetchall()
        kept = {int(row["revision"]): _unpacked(row["content"]) for row in rows}
        if any(text.startswith(packed.text) for text in kept.values()):
            return "unchanged"
        continued = [revision for revision, text in kept.items() if packed.text.startswith(text)]
        if continued:
            longest = max(continued, key=lambda revision: len(kept[revision]))
            self._connection.execute(
                "UPDATE transcripts SET content = :content, length = :length, redactions = :redactions, "
                "updated_at = :now, project = CASE :project WHEN '' THEN project ELSE :project END "
                "WHERE session_key = :session AND revision = :revision",
                {
                    "content": packed.content,
                    "length": len(packed.text),
                    "redactions": packed.redactions,
                    "now": now,
                    "project": project,
                    "session": session,
                    "revision": longest,
                },
            )
            return "longer"
        self._connection.execute(
            "INSERT INTO transcripts (session_key, revision, content, length, project, redactions, "
            "created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                session, max(kept, default=-1) + 1, packed.content, len(packed.text), project, packed.redactions,
                now, now,
            ),
        )  # fmt: skip
        return "revision" if kept else "new"

    def of_sessions(self, sessions: Iterable[str]) -> dict[str, Transcript]:
        """The transcripts of sessions, each session once, by one query; sessions without one are left out."""
        wanted = list(dict.fromkeys(sessions))
        if not wanted:
            return {}
        rows = self._connection.execute(
            "SELECT session_key, content, project, redactions, updated_at FROM transcripts "
            "WHERE session_key IN (SELECT value FROM json_each(?)) ORDER BY session_key, revision",
            (json.dumps(wanted),),
        ).fetchall()
        found: dict[str, list[sqlite3.Row]] = {}
        for row in rows:
            found.setdefault(row["session_key"], []).append(row)
        return {session: _transcript(session, found[session]) for session in wanted if session in found}

    def conversations(self, note_ids: Iterable[str], most: int) -> tuple[Conversation, ...]:
        """The conversations that notes come from, each once, cut to `most` characters around what the notes say."""
        sources = self._sources(tuple(dict.fromkeys(note_ids)))
        transcripts = self.of_sessions(source.session for source in sources)
        return tuple(
            _conversation(transcript, [source for source in sources if source.session == session], most)
            for session, transcript in transcripts.items()
        )

    def _sources(self, note_ids: tuple[str, ...]) -> list[_Source]:
        """The sessions of the memories that notes were made or changed from, in the order of the notes."""
        if not note_ids:
            return []
        rows = self._connection.execute(
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
            (json.dumps(note_ids),),
        ).fetchall()
        return [_Source(row["note_id"], row["source_id"], _wordings(row)) for row in rows]
