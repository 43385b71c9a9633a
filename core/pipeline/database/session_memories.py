"""Rows of memories that a session was given, whether they helped, and how that weighs aspects."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from core.pipeline.database import meta
from core.settings.pipeline_sections import FeedbackPart

_DAY_MS = 86_400_000
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


class Averages(NamedTuple):
    """The exponential moving averages of a measure, the long one over about fifty sessions. drifts: whether the order
    got worse than it used to be. sessions: how many so far.
    """

    average: float
    long_average: float
    drifts: bool
    sessions: int


class ComparedNote(NamedTuple):
    """A memory that was given ahead. place, baseline: where it stood, and where without a predictor, counted from 1.
    relevance: how much it helped, 0 to 1.
    """

    note_id: str
    place: int
    baseline: int
    relevance: float


class Comparison(NamedTuple):
    """How good the order was, 0 to 1, and that without a predictor, as NDCG@10. Times are in epoch milliseconds."""

    session: str
    at: int
    predictor: str
    ndcg: float
    baseline: float
    averages: Averages
    notes: tuple[ComparedNote, ...]


_MEMORY = "note_id, times, recalled_at, relevance, ahead, baseline, lexical, confirmed"
SCORE = (
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
        self._connection.execute(f"INSERT OR REPLACE INTO session_scores ({SCORE}) VALUES ({marks})", score)

    def score_of(self, session: str) -> SessionScore | None:
        """The score of a session; None for one that did not end."""
        row = self._connection.execute(
            f"SELECT {SCORE} FROM session_scores WHERE session_key = ?", (session,)
        ).fetchone()
        return None if row is None else SessionScore(*row)

    def count_scored(self) -> int:
        """How many sessions were ever scored to the end, those that were deleted since among them."""
        found = self._connection.execute(
            "SELECT count(*) + coalesce((SELECT value FROM meta WHERE name = ?), 0) FROM session_scores "
            "WHERE rounds > 0",
            (meta.SCORES_GONE,),
        )
        return int(found.fetchone()[0])

    # Aspects

    def confirm_aspects(self, note_ids: Iterable[str], settings: FeedbackPart, now: int) -> None:
        """Lets the aspects that facts of these notes belong to weigh more, for each of the notes that confirms one;
        unchanged by none but for the bounds, of which the greater one holds. now: epoch ms.
        """
        most = settings.max_aspect_weight
        self._connection.execute(
            "UPDATE aspects SET last_confirmed_at = :now, "
            "weight = max(:least, min(:most, weight + :delta * found.notes)) "
            "FROM (SELECT aspect_id, count(DISTINCT facts.note_id) AS notes FROM attributes "
            "JOIN facts ON facts.id = fact_id WHERE facts.note_id IN (SELECT value FROM json_each(:ids)) "
            "AND aspect_id IS NOT NULL AND attributes.status = 'active' GROUP BY aspect_id) AS found "
            "WHERE aspects.id = found.aspect_id",
            {
                "ids": json.dumps(list(note_ids)), "least": min(settings.min_aspect_weight, most), "most": most,
                "delta": settings.fts_weight_delta, "now": now,
            },
        )  # fmt: skip

    def fade_aspects(self, settings: FeedbackPart, now: int) -> None:
        """Lets the aspects weigh less that nothing confirmed for long, down to a bound. now: epoch ms."""
        self._connection.execute(
            "UPDATE aspects SET weight = max(:least, weight - :rate), last_decayed_at = :now "
            "WHERE :now - max(created_at, coalesce(last_confirmed_at, 0), coalesce(last_decayed_at, 0)) > :stale "
            "AND max(:least, weight - :rate) < weight",
            {
                "least": min(settings.min_aspect_weight, settings.max_aspect_weight), "rate": settings.decay_rate,
                "stale": settings.stale_days * _DAY_MS, "now": now,
            },
        )  # fmt: skip

    # How good orders were

    def averages(self, predictor: str, but: str = "") -> Averages | None:
        """The averages of a predictor after its last session; None for none. but: another session than this."""
        row = self._connection.execute(
            "SELECT average, long_average, drifts, (SELECT count(*) FROM predictor_comparisons "
            "WHERE predictor = ?1 AND session_key <> ?2) FROM predictor_comparisons "
            "WHERE predictor = ?1 AND session_key <> ?2 ORDER BY compared_at DESC, rowid DESC LIMIT 1",
            (predictor, but),
        ).fetchone()
        return None if row is None else Averages(row[0], row[1], bool(row[2]), row[3])

    def put_comparison(self, comparison: Comparison) -> None:
        """Stores the comparison of a session in the place of a former one."""
        averages = comparison.averages
        self._connection.execute(
            "INSERT OR REPLACE INTO predictor_comparisons (session_key, compared_at, predictor, ndcg, baseline_ndcg, "
            "average, long_average, drifts, notes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                comparison.session, comparison.at, comparison.predictor, comparison.ndcg, comparison.baseline,
                averages.average, averages.long_average, averages.drifts, _text(comparison.notes),
            ),
        )  # fmt: skip

    def comparison_of(self, session: str) -> Comparison | None:
        """The comparison of a session; None for one without."""
        found = self._comparisons("WHERE session_key = ?", (session,))
        return found[0] if found else None

    def newest_comparisons(self, most: int) -> tuple[Comparison, ...]:
        """The comparisons made last, the newest first."""
        return self._comparisons("ORDER BY compared_at DESC, rowid DESC LIMIT ?", (most,))

    def _comparisons(self, which: str, values: tuple[object, ...]) -> tuple[Comparison, ...]:
        rows = self._connection.execute(
            "SELECT session_key, compared_at, predictor, ndcg, baseline_ndcg, average, long_average, drifts, notes "
            f"FROM predictor_comparisons {which}",
            values,
        )
        return tuple(
            Comparison._make((*row[:5], Averages(row[5], row[6], bool(row[7]), 0), _notes(row[8])))
            for row in rows
        )


def _text(notes: Sequence[ComparedNote]) -> str:
    return json.dumps([list(one) for one in notes], ensure_ascii=False)


def _notes(text: str) -> tuple[ComparedNote, ...]:
    try:
        return tuple(ComparedNote(*one) for one in json.loads(text))
    except (ValueError, TypeError):
        return ()
