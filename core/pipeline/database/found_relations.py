"""Rows of relations that a model found in raw memories, kept until what it said there is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.pipeline.extract import ExtractedRelation
from core.text.normalise import encodable


@dataclass(frozen=True, slots=True)
class WrittenFact:
    """A fact that was written and hangs on no entity yet."""

    id: str
    content: str
    normalised_content: str
    confidence: float


class FoundRelations:
    """What a model found in raw memories, until it is brought into the graph."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def keep_found(
        self, raw_id: str, relations: Sequence[ExtractedRelation], *, due: bool, more: bool = False
    ) -> None:
        """Keeps the relations of one extraction, instead of those of an earlier one of the same memory.

        due: whether they may be brought into the graph now; false where only a person's word makes them wanted. more:
        they come from another part of the text, so that earlier ones which still wait stay.
        """
        if more:
            brought = "AND (SELECT knowledge_due = 0 AND ?2 FROM raw_memories WHERE id = ?1)"
        else:
            brought = "AND ?2 IS NOT NULL"
        self._connection.execute(f"DELETE FROM found_relations WHERE raw_id = ?1 {brought}", (raw_id, due))
        first = self._connection.execute(
            "SELECT coalesce(max(place) + 1, 0) FROM found_relations WHERE raw_id = ?", (raw_id,)
        ).fetchone()[0]
        self._connection.executemany(
            "INSERT INTO found_relations (raw_id, place, source, relationship, target, confidence, source_type, "
            "target_type) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    raw_id, place, encodable(one.source), encodable(one.relationship), encodable(one.target),
                    one.confidence, one.source_type, one.target_type,
                )
                for place, one in enumerate(relations, first)
            ],
        )  # fmt: skip
        self._connection.execute("UPDATE raw_memories SET knowledge_due = ? WHERE id = ?", (int(due), raw_id))

    def want_knowledge(self, raw_ids: Iterable[str]) -> None:
        """Lets what was found in raw memories be brought into the graph, since something of it was accepted."""
        self._connection.executemany(
            "UPDATE raw_memories SET knowledge_due = 1 WHERE id = ?", [(each,) for each in raw_ids]
        )

    def due(self, most: int) -> tuple[str, ...]:
        """The raw memories whose knowledge waits to be brought in, the oldest first."""
        rows = self._connection.execute(
            "SELECT id FROM raw_memories WHERE knowledge_due = 1 ORDER BY created_at, rowid LIMIT ?", (most,)
        )
        return tuple(row["id"] for row in rows)

    def done(self, raw_id: str) -> None:
        """Marks a raw memory as one of which nothing waits to be brought in."""
        self._connection.execute("UPDATE raw_memories SET knowledge_due = 0 WHERE id = ?", (raw_id,))

    def found_in(self, raw_id: str) -> tuple[ExtractedRelation, ...]:
        """What a model found in a raw memory, in the order of its answer."""
        rows = self._connection.execute(
            "SELECT source, relationship, target, confidence, source_type, target_type FROM found_relations "
            "WHERE raw_id = ? ORDER BY place",
            (raw_id,),
        )
        return tuple(ExtractedRelation(*row) for row in rows)

    def facts_to_place(self, raw_id: str) -> tuple[WrittenFact, ...]:
        """The facts of a raw memory that stand and hang on no entity yet."""
        rows = self._connection.execute(
            "SELECT id, content, normalised_content, confidence FROM facts WHERE raw_id = ? AND status = 'active' "
            "AND NOT EXISTS (SELECT 1 FROM attributes WHERE attributes.fact_id = facts.id AND fact_id <> '') "
            "ORDER BY rowid",
            (raw_id,),
        )
        return tuple(WrittenFact(*row) for row in rows)
