"""Rows of comparisons: how good the order was in which a session was given memories ahead."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from core.pipeline.continuity.order import Averages


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


class Comparisons:
    """How good orders were."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def averages(self, predictor: str, but: str = "") -> Averages | None:
        """The averages of a predictor after its last session; None for none. but: another session than this."""
        row = self._connection.execute(
            "SELECT average, long_average, drifts, (SELECT count(*) FROM predictor_comparisons "
            "WHERE predictor = ?1 AND session_key <> ?2) FROM predictor_comparisons "
            "WHERE predictor = ?1 AND session_key <> ?2 ORDER BY compared_at DESC, rowid DESC LIMIT 1",
            (predictor, but),
        ).fetchone()
        return None if row is None else Averages(row[0], row[1], bool(row[2]), row[3])

    def put(self, comparison: Comparison) -> None:
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

    def of(self, session: str) -> Comparison | None:
        """The comparison of a session; None for one without."""
        found = self._rows("WHERE session_key = ?", (session,))
        return found[0] if found else None

    def newest(self, most: int) -> tuple[Comparison, ...]:
        """The comparisons made last, the newest first."""
        return self._rows("ORDER BY compared_at DESC, rowid DESC LIMIT ?", (most,))

    def _rows(self, which: str, values: tuple[object, ...]) -> tuple[Comparison, ...]:
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
