"""Rows of raw memories: what was submitted, to the letter, and what became of it."""

from __future__ import annotations

import json
import sqlite3
from typing import Final, NamedTuple

from core.errors import AmbiguousError, ErrorCode, InvalidInputError, Remedy
from core.pipeline.records import RawMemory, RawStatus

_HEAD: Final = "raw-"

_COLUMNS: Final = (
    "id, content, content_hash, source_type, source_id, project, nugget, author, status, duplicate_of, protected, "
    "created_at, extracted_at, model"
)


def as_raw(row: sqlite3.Row) -> RawMemory:
    """A row of `raw_memories` with all its columns."""
    return RawMemory(
        id=row["id"],
        content=row["content"],
        content_hash=row["content_hash"],
        source_type=row["source_type"],
        source_id=row["source_id"],
        project=row["project"],
        nugget=row["nugget"],
        author=row["author"],
        status=row["status"],
        duplicate_of=row["duplicate_of"] or "",
        protected=bool(row["protected"]),
        created_at=row["created_at"],
        extracted_at=row["extracted_at"],
        model=row["model"],
        prompt_version=row["prompt_version"],
    )


class RemovedRaw(NamedTuple):
    """A removed text. notes: of its facts."""

    id: str
    notes: tuple[str, ...]


class Tombstone(NamedTuple):
    """What was removed. gone: since when it is deleted and can be brought back no more; both epoch ms."""

    id: str
    removed: int
    removed_by: str
    gone: int | None


class RawMemories:
    """Submitted texts, and the tombstones of those that were removed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def insert(self, raw: RawMemory, hash_version: int) -> None:
        """Stores a new raw memory. hash_version: the rules that its hash was made by."""
        self._connection.execute(
            f"INSERT INTO raw_memories ({_COLUMNS}, hash_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                raw.id,
                raw.content,
                raw.content_hash,
                raw.source_type,
                raw.source_id,
                raw.project,
                raw.nugget,
                raw.author,
                raw.status,
                raw.duplicate_of or None,
                raw.protected,
                raw.created_at,
                raw.extracted_at,
                raw.model,
                hash_version,
            ),
        )

    def raw_of(self, raw_id: str) -> RawMemory | None:
        """The raw memory of an id, None when there is none."""
        row = self._connection.execute(
            f"SELECT {_COLUMNS}, prompt_version FROM raw_memories WHERE id = ?", (raw_id,)
        ).fetchone()
        return as_raw(row) if row else None

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
        found = self._connection.execute(
            "SELECT id FROM raw_memories WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, 1, length(?2)) = ?2"
            " ORDER BY id <> ?1, id LIMIT 5",
            (wanted, f"{_HEAD}{wanted}"),
        ).fetchall()
        ids = [str(row["id"]) for row in found]
        if len(ids) > 1 and ids[0] != wanted:
            few = ", ".join(ids[:4]) + (", and more" if len(ids) > 4 else "")
            raise AmbiguousError(
                f"matches several texts: {few}", remedy=Remedy("name-it", "more of the id"), where=wanted
            )
        return ids[0] if ids else wanted

    def earlier_same(self, nugget: str, content_hash: str, hash_version: int) -> str:
        """The id of the first raw memory of a nugget that says the same, "" when there is none.

        One that failed does not count, so that its text can be handed in again; nor does one that was removed, or a
        repetition of another.
        """
        row = self._connection.execute(
            "SELECT id FROM raw_memories WHERE nugget = ? AND content_hash = ? AND hash_version = ? "
            "AND status NOT IN ('failed', 'duplicate') "
            "AND NOT EXISTS (SELECT 1 FROM tombstones WHERE tombstones.id = raw_memories.id) "
            "ORDER BY created_at, rowid LIMIT 1",
            (nugget, content_hash, hash_version),
        ).fetchone()
        return str(row["id"]) if row else ""

    def repeat(self, raw_id: str, earlier: str) -> None:
        """Makes a raw memory the repetition of another one, of which everything comes."""
        self._connection.execute(
            "UPDATE raw_memories SET status = 'duplicate', duplicate_of = ? WHERE id = ?", (earlier, raw_id)
        )

    def project_of_session(self, session: str) -> str:
        """The project that the newest raw memory of a session names, "" when none does."""
        row = self._connection.execute(
            "SELECT project FROM raw_memories WHERE source_id = ? AND source_id <> '' AND project <> '' "
            "ORDER BY created_at DESC, rowid DESC LIMIT 1",
            (session,),
        ).fetchone()
        return str(row["project"]) if row else ""

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
        if now is None:
            self._connection.execute("UPDATE raw_memories SET status = ? WHERE id = ?", (status, raw_id))
        else:
            self._connection.execute(
                "UPDATE raw_memories SET status = ?, extracted_at = ?, model = ?, prompt_version = ? WHERE id = ?",
                (status, now, model, prompt_version, raw_id),
            )

    def protect(self, raw_id: str) -> None:
        """Marks a raw memory as one that holds a decision."""
        self._connection.execute("UPDATE raw_memories SET protected = 1 WHERE id = ?", (raw_id,))

    # Those that were removed

    def tombstone(self, id: str) -> Tombstone | None:
        """The tombstone of a text or document; None for none."""
        row = self._connection.execute("SELECT * FROM tombstones WHERE id = ?", (id,)).fetchone()
        return None if row is None else Tombstone(*row)

    def bury(self, id: str, now: int, by: str) -> None:
        """Marks a text as removed; nothing where it is that already. now: epoch ms."""
        self._connection.execute(
            "INSERT OR IGNORE INTO tombstones (id, removed_at, removed_by) VALUES (?, ?, ?)", (id, now, by)
        )

    def unbury(self, id: str) -> bool:
        """Takes a tombstone back; False where there is none, or what was removed is deleted."""
        statement = "DELETE FROM tombstones WHERE id = ? AND gone_at IS NULL"
        return self._connection.execute(statement, (id,)).rowcount == 1

    def removable(self, before: int, after: str, most: int) -> tuple[RemovedRaw, ...]:
        """Texts that were removed before a moment and that nothing in the database needs, by their ids. after: the last
        id that was looked at.
        """
        return self._removed(
            "removable_texts WHERE removed_at < ? AND id > ? ORDER BY id LIMIT ?", before, after, most
        )

    def removed(self) -> tuple[RemovedRaw, ...]:
        """All texts that were removed and can be brought back, needed or not."""
        return self._removed("tombstones WHERE gone_at IS NULL AND id IN (SELECT id FROM raw_memories)")

    def _removed(self, which: str, *values: object) -> tuple[RemovedRaw, ...]:
        rows = self._connection.execute(
            "SELECT id, (SELECT json_group_array(note_id) FROM facts WHERE raw_id = found.id AND note_id <> '')"
            f" FROM (SELECT id FROM {which}) AS found",
            values,
        )
        return tuple(RemovedRaw(row[0], tuple(json.loads(row[1]))) for row in rows)
