"""Hints: questions that notes answer, by note, until the note says something else."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import NamedTuple


class Hint(NamedTuple):
    """A question that a note answers."""

    note_id: str
    text: str


class Hints:
    """Questions that notes answer."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def due(self, most: int) -> tuple[str, ...]:
        """Notes that have none for what they say now, and no job for it that waits, runs or has failed for good."""
        rows = self._connection.execute(
            "SELECT note_id FROM note_links WHERE NOT EXISTS (SELECT 1 FROM hinted WHERE hinted.note_id = "
            "note_links.note_id) AND NOT EXISTS (SELECT 1 FROM jobs WHERE type = 'hints' AND target = "
            "note_links.note_id AND status IN ('held', 'pending', 'leased', 'dead')) ORDER BY note_id LIMIT ?",
            (most,),
        )
        return tuple(row[0] for row in rows)

    def text_hash(self, note_id: str) -> str:
        """Of the note as it was read last; "" for none."""
        row = self._connection.execute(
            "SELECT text_hash FROM note_links WHERE note_id = ?", (note_id,)
        ).fetchone()
        return "" if row is None else str(row[0])

    def put(self, note_id: str, hints: Iterable[str]) -> None:
        """Keeps the hints of a note, which may be none, but for those that a person removed. They go when the note is
        read anew.
        """
        self._connection.execute("DELETE FROM hints WHERE note_id = ?", (note_id,))
        self._connection.execute("INSERT OR REPLACE INTO hinted (note_id) VALUES (?)", (note_id,))
        for text in hints:
            removed = self._connection.execute(
                "SELECT 1 FROM removed_hints JOIN decisions USING (entry_id) WHERE note_id = ? AND folded = ? AND NOT"
                " undone",
                (note_id, text.casefold()),
            ).fetchone()
            if removed is None:
                self._insert(note_id, text)

    def _insert(self, note_id: str, hint: str) -> bool:
        return bool(
            self._connection.execute(
                "INSERT OR IGNORE INTO hints (note_id, hint, folded) VALUES (?, ?, ?)",
                (note_id, hint, hint.casefold()),
            ).rowcount
        )

    def remove(self, note_id: str, hint: str) -> bool:
        """Lets a hint find its note no more; False where it has none such."""
        return bool(
            self._connection.execute(
                "DELETE FROM hints WHERE note_id = ? AND folded = ?", (note_id, hint.casefold())
            ).rowcount
        )

    def restore(self, note_id: str, hint: str) -> bool:
        """Puts a removed hint back; False where it is there, or no hints were made of what the note says now."""
        hinted = self._connection.execute("SELECT 1 FROM hinted WHERE note_id = ?", (note_id,)).fetchone()
        return hinted is not None and self._insert(note_id, hint)

    def made_for(self, note_id: str) -> bool:
        """Whether a model was asked about what the note says now."""
        return (
            self._connection.execute("SELECT 1 FROM hinted WHERE note_id = ?", (note_id,)).fetchone()
            is not None
        )

    def of_note(self, note_id: str) -> tuple[str, ...]:
        """The hints of a note, in the order of the model."""
        rows = self._connection.execute("SELECT hint FROM hints WHERE note_id = ? ORDER BY id", (note_id,))
        return tuple(row[0] for row in rows)

    def matching(self, words: Collection[str], most: int) -> tuple[Hint, ...]:
        """Hints that hold any of some words of letters and digits, the best first."""
        if not words:
            return ()
        rows = self._connection.execute(
            "SELECT note_id, hints.hint FROM hints_fts JOIN hints ON hints.id = hints_fts.rowid "
            "WHERE hints_fts MATCH ? ORDER BY bm25(hints_fts), hints.id LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), most),
        )
        return tuple(Hint(*row) for row in rows)
