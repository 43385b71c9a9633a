"""Rows of raw memories: what was submitted, to the letter, what a model found in it, and what became of it. Rows of
transcripts: whole conversations, redacted and compressed, found again by their sessions.

A longer conversation that begins with one that is kept takes its place; what is no continuation is kept as a revision.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Final, Literal

from core.errors import BrokenFileError, ErrorCode, InvalidInputError
from core.folder import DATABASE_FILE
from core.pipeline.database.proposals import ambiguous
from core.pipeline.database.tables import Rows
from core.pipeline.extract import ExtractedRelation
from core.pipeline.intake.redaction import Redacted
from core.pipeline.intake.sentences import excerpt
from core.pipeline.records import Conversation, RawMemory, RawStatus

_HEAD: Final = "raw-"
_COLUMNS: Final = ", ".join(
    "coalesce(duplicate_of, '') AS duplicate_of" if name == "duplicate_of" else name
    for name in RawMemory.__slots__
)


class RawMemories(Rows):
    """Submitted texts, removed ones among them until these are deleted."""

    def insert(self, raw: RawMemory) -> None:
        """Stores a new raw memory."""
        values = dict(zip(RawMemory.__slots__, astuple(raw), strict=True))
        self.insert_row("raw_memories", **values | {"duplicate_of": raw.duplicate_of or None})

    def raw_of(self, raw_id: str) -> RawMemory | None:
        """The raw memory of an id, None when there is none."""
        return self.record(RawMemory, f"SELECT {_COLUMNS} FROM raw_memories WHERE id = ?", raw_id)

    def resolve_id(self, said: str) -> str:
        """The id that an unambiguous beginning of an id means, with or without its first word; what means none comes
        back as it is. Raises AmbiguousError, and InvalidInputError for "".
        """
        wanted = said.strip()
        if not wanted:
            raise InvalidInputError(
                "the id is empty",
                code=ErrorCode.EMPTY,
                field="id",
                todo="name the id of a text or of its job",
            )
        found = self.ask(
            "SELECT id FROM raw_memories WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, 1, length(?2)) = ?2"
            " ORDER BY id <> ?1, id LIMIT 5",
            wanted, f"{_HEAD}{wanted}",
        )  # fmt: skip
        ids = [str(row[0]) for row in found]
        if len(ids) > 1 and ids[0] != wanted:
            raise ambiguous("texts", tuple(ids), wanted)
        return ids[0] if ids else wanted

    def earlier_same(self, nugget: str, content_hash: str) -> str:
        """The id of the first raw memory of a nugget that says the same, "" when there is none.

        One that failed does not count, so that its text can be handed in again; nor does one that was removed, or a
        repetition of another.
        """
        return self.text(
            "SELECT id FROM raw_memories WHERE nugget = ? AND content_hash = ? AND removed_at IS NULL"
            " AND status NOT IN ('failed', 'duplicate') ORDER BY created_at, rowid LIMIT 1",
            nugget, content_hash,
        )  # fmt: skip

    def set_status(
        self,
        raw_id: str,
        status: RawStatus,
        *,
        now: int | None = None,
        model: str = "",
        prompt_version: str = "",
    ) -> None:
        """What became of a raw memory. now: when a model was done with it, epoch ms; None leaves that, and by which."""
        self.run("UPDATE raw_memories SET status = ? WHERE id = ?", status, raw_id)
        if now is not None:
            self.run(
                "UPDATE raw_memories SET extracted_at = ?, model = ?, prompt_version = ? WHERE id = ?",
                now, model, prompt_version, raw_id,
            )  # fmt: skip

    # What a model found there, until it is brought into the graph

    def found_in(self, raw_id: str) -> tuple[ExtractedRelation, ...]:
        """What a model found in a raw memory, in the order of its answer."""
        held = self.text("SELECT relations FROM raw_memories WHERE id = ?", raw_id)
        return tuple(ExtractedRelation(*one) for one in json.loads(held or "[]"))


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
