"""Rows of memories that were recalled in a session, whether they helped, and how that weighs aspects."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class SessionScore(NamedTuple):
    """How much of what was recalled in a session helped. score: 0 to 1, None where nothing was recalled or no
    conversation was there to tell it by. recalled, used: memories. Times are in epoch milliseconds.
    """

    session: str
    scored: int
    score: float | None
    recalled: int
    used: int


class AspectWeight(NamedTuple):
    """The weight of an aspect. touched: when it was confirmed or decayed last, or made; epoch ms."""

    id: int
    weight: float
    touched: int


class SessionMemories:
    """Which memories were recalled in which session."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, session: str, note_id: str, now: int) -> None:
        """Counts that a note was recalled in a session."""
        self._connection.execute(
            "INSERT INTO session_memories (session_key, note_id, times, recalled_at) VALUES (?, ?, 1, ?) "
            "ON CONFLICT (session_key, note_id) DO UPDATE SET times = times + 1, recalled_at = excluded.recalled_at",
            (session, note_id, now),
        )

    def recalled_in(self, session: str) -> tuple[str, ...]:
        """The notes that were recalled in a session, the first first."""
        rows = self._connection.execute(
            "SELECT note_id FROM session_memories WHERE session_key = ? ORDER BY rowid", (session,)
        )
        return tuple(row[0] for row in rows)

    def rate(self, session: str, relevance: Mapping[str, float]) -> None:
        """Stores how much each memory helped, 0 to 1."""
        self._connection.executemany(
            "UPDATE session_memories SET relevance = ? WHERE session_key = ? AND note_id = ?",
            [(value, session, note_id) for note_id, value in relevance.items()],
        )

    def store_score(self, score: SessionScore) -> None:
        """Stores the score of a session in the place of a former one."""
        self._connection.execute("INSERT OR REPLACE INTO session_scores VALUES (?, ?, ?, ?, ?)", score)

    def score_of(self, session: str) -> SessionScore | None:
        """The score of a session; None for one that was not scored."""
        row = self._connection.execute(
            "SELECT * FROM session_scores WHERE session_key = ?", (session,)
        ).fetchone()
        return None if row is None else SessionScore(*row)

    def count_scores(self) -> int:
        """How many sessions have a score."""
        return int(self._connection.execute("SELECT count(*) FROM session_scores").fetchone()[0])

    # Aspects

    def aspects_of(self, note_ids: Iterable[str]) -> dict[int, int]:
        """The aspects that facts of these notes belong to, with how many of the notes confirm each."""
        rows = self._connection.execute(
            "SELECT aspect_id, count(DISTINCT facts.note_id) FROM attributes JOIN facts ON facts.id = fact_id "
            "WHERE facts.note_id IN (SELECT value FROM json_each(?)) AND aspect_id IS NOT NULL "
            "AND attributes.status = 'active' GROUP BY aspect_id",
            (json.dumps(list(note_ids)),),
        )
        return {int(row[0]): int(row[1]) for row in rows}

    def weights(self) -> tuple[AspectWeight, ...]:
        """The weights of all aspects."""
        rows = self._connection.execute(
            "SELECT id, weight, max(created_at, coalesce(last_confirmed_at, 0), coalesce(last_decayed_at, 0)) "
            "FROM aspects"
        )
        return tuple(AspectWeight(*row) for row in rows)

    def weigh(self, aspect_id: int, weight: float, now: int, *, confirmed: bool) -> None:
        """Gives an aspect a weight, which was confirmed, or has decayed."""
        column = "last_confirmed_at" if confirmed else "last_decayed_at"
        self._connection.execute(
            f"UPDATE aspects SET weight = ?, {column} = ? WHERE id = ?", (weight, now, aspect_id)
        )
