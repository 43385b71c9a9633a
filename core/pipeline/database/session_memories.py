"""Rows of memories that a session was given, whether they helped, and how that weighs aspects."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from core.pipeline.database import meta

ScoreStatus = Literal[
    "waiting", "scored", "by_words", "unparseable", "failed", "nothing_recalled", "no_conversation"
]


class SessionScore(NamedTuple):
    """How much of what a session was given helped. status: how that was told: "scored" by a model, "by_words" without
    one, "unparseable" where its answer said no score, "failed" where it gave none, "waiting" until the job is done.

    score, confidence: of the model, 0 to 1; None where it said none. lexical: the mean share, 0 to 1, of the memories'
    words that the conversation holds; None where there were none or no conversation. recalled: memories; used: those
    that helped; said_used: as the model says; novel: what had to be found out anew. characters: of the conversation.
    rounds: how often it was scored to the end. Times are in epoch milliseconds.
    """

    session: str
    scored: int
    lexical: float | None
    recalled: int
    used: int
    status: ScoreStatus = "waiting"
    score: float | None = None
    confidence: float | None = None
    said_used: int = 0
    novel: int = 0
    reasoning: str = ""
    model: str = ""
    characters: int = 0
    rounds: int = 0


class SessionMemory(NamedTuple):
    """A memory that a session was given. times: it answered a recall; ahead: it was given before anybody asked;
    baseline: its place then without a predictor, counted from 1, 0 for none. lexical, relevance: how much it helped, 0
    to 1, by words and as a model says; None while nobody knows.
    """

    note_id: str
    times: int
    at: int
    relevance: float | None
    ahead: int
    baseline: int
    lexical: float | None
    confirmed: bool

    @property
    def helped(self) -> float | None:
        """How much it helped: as a model says, else by words."""
        return self.lexical if self.relevance is None else self.relevance


class AspectWeight(NamedTuple):
    """The weight of an aspect. touched: when it was confirmed or decayed last, or made; epoch ms."""

    id: int
    weight: float
    touched: int


_MEMORY = "note_id, times, recalled_at, relevance, ahead, baseline, lexical, confirmed"
_SCORE = (
    "session_key, scored_at, lexical, recalled, used, status, score, confidence, said_used, novel, reasoning, model, "
    "characters, rounds"
)


class SessionMemories:
    """Which memories were given in which session."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, session: str, note_id: str, now: int) -> None:
        """Counts that a note answered a recall in a session."""
        self._connection.execute(
            "INSERT INTO session_memories (session_key, note_id, times, recalled_at) VALUES (?, ?, 1, ?) "
            "ON CONFLICT (session_key, note_id) DO UPDATE SET times = times + 1, recalled_at = excluded.recalled_at",
            (session, note_id, now),
        )

    def add_counted(self, session: str, recalls: Iterable[tuple[str, int]]) -> None:
        """Adds notes whose recalls the memory counted for a session, each with when, epoch ms; known ones stay as they
        are, but for those that were only given ahead.
        """
        self._connection.executemany(
            "INSERT INTO session_memories (session_key, note_id, times, recalled_at) VALUES (?, ?, 1, ?) "
            "ON CONFLICT (session_key, note_id) DO UPDATE SET times = max(times, 1)",
            [(session, note_id, at) for note_id, at in recalls],
        )

    def add_ahead(self, session: str, given: Iterable[tuple[str, int]], now: int) -> None:
        """Adds notes that a session was given before anybody asked, in their order, each with its place without a
        predictor.
        """
        self._connection.executemany(
            "INSERT INTO session_memories (session_key, note_id, times, recalled_at, ahead, baseline) "
            "VALUES (?, ?, 0, ?, 1, ?) ON CONFLICT (session_key, note_id) DO UPDATE SET ahead = ahead + 1, "
            "baseline = CASE baseline WHEN 0 THEN excluded.baseline ELSE baseline END",
            [(session, note_id, now, place) for note_id, place in given],
        )

    def memories_of(self, session: str) -> tuple[SessionMemory, ...]:
        """What a session was given, the first first."""
        rows = self._connection.execute(
            f"SELECT {_MEMORY} FROM session_memories WHERE session_key = ? ORDER BY rowid", (session,)
        )
        return tuple(SessionMemory._make((*row[:7], bool(row[7]))) for row in rows)

    def rate(self, session: str, lexical: Mapping[str, float], relevance: Mapping[str, float]) -> None:
        """Stores how much each memory helped, 0 to 1: by words, and as a model says; None where it says nothing."""
        self._connection.executemany(
            "UPDATE session_memories SET lexical = ?, relevance = ? WHERE session_key = ? AND note_id = ?",
            [(value, relevance.get(note_id), session, note_id) for note_id, value in lexical.items()],
        )

    def confirm(self, session: str, note_ids: Iterable[str]) -> tuple[str, ...]:
        """Takes memories of a session for confirmed; those that were not yet, so that each counts once."""
        rows = self._connection.execute(
            "UPDATE session_memories SET confirmed = 1 WHERE session_key = ? AND confirmed = 0 "
            "AND note_id IN (SELECT value FROM json_each(?)) RETURNING note_id",
            (session, json.dumps(list(note_ids))),
        ).fetchall()
        return tuple(row[0] for row in rows)

    def helped_before(self, note_ids: Iterable[str], but: str = "") -> dict[str, tuple[int, float]]:
        """In how many sessions notes were given and rated, and how much they helped there on average. but: another
        session than this.
        """
        rows = self._connection.execute(
            "SELECT note_id, count(*), avg(coalesce(relevance, lexical)) FROM session_memories "
            "WHERE note_id IN (SELECT value FROM json_each(?)) AND session_key <> ? "
            "AND coalesce(relevance, lexical) IS NOT NULL GROUP BY note_id",
            (json.dumps(list(note_ids)), but),
        )
        return {row[0]: (int(row[1]), float(row[2])) for row in rows}

    def store_score(self, score: SessionScore) -> None:
        """Stores the score of a session in the place of a former one."""
        marks = ", ".join("?" for _ in score)
        self._connection.execute(f"INSERT OR REPLACE INTO session_scores ({_SCORE}) VALUES ({marks})", score)

    def score_of(self, session: str) -> SessionScore | None:
        """The score of a session; None for one that did not end."""
        row = self._connection.execute(
            f"SELECT {_SCORE} FROM session_scores WHERE session_key = ?", (session,)
        ).fetchone()
        return None if row is None else SessionScore(*row)

    def scores_of(self, sessions: Iterable[str]) -> dict[str, SessionScore]:
        """The scores of sessions; those without one are left out."""
        rows = self._connection.execute(
            f"SELECT {_SCORE} FROM session_scores WHERE session_key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(sessions)),),
        )
        return {row[0]: SessionScore(*row) for row in rows}

    def counts_of(self, sessions: Iterable[str]) -> dict[str, tuple[int, int]]:
        """How many memories sessions were given, and how many of these answered a recall."""
        rows = self._connection.execute(
            "SELECT session_key, count(*), sum(times > 0) FROM session_memories "
            "WHERE session_key IN (SELECT value FROM json_each(?)) GROUP BY session_key",
            (json.dumps(list(sessions)),),
        )
        return {row[0]: (int(row[1]), int(row[2])) for row in rows}

    def count_scored(self) -> int:
        """How many sessions were ever scored to the end, those that were deleted since among them."""
        found = self._connection.execute(
            "SELECT count(*) + coalesce((SELECT value FROM meta WHERE name = ?), 0) FROM session_scores "
            "WHERE rounds > 0",
            (meta.SCORES_GONE,),
        )
        return int(found.fetchone()[0])

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
