"""Vectors of notes and of chunks of documents: which are due, which stand, and how far they are made.

What notes say is known by `note_links`, which follows them; a note that is hidden or gone is not in it. Of chunks only
those count that a present document has.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from core.pipeline.records import EmbeddingCoverage

Kind = Literal["note", "chunk"]

# After a failure a text rests, twice as long after each further one.
FIRST_REST_MS: Final = 30_000
LONGEST_REST_MS: Final = 3_600_000
_MOST_DOUBLINGS: Final = 10
# By so many vectors it is known how many dimensions a model gives.
_LATELY: Final = 50

# What there is to embed, with the hash of what it says.
_TEXTS: Final = (
    "SELECT 'note' AS kind, note_id AS target, text_hash FROM note_links UNION ALL "
    "SELECT 'chunk', CAST(id AS TEXT), content_hash FROM chunks WHERE EXISTS (SELECT 1 FROM document_chunks "
    "JOIN documents ON documents.id = document_id WHERE chunk_id = chunks.id AND documents.removed_at IS NULL "
    "AND documents.status = 'done')"
)
# Of each the row of a model, and the vector that this has. ?1: the model; ?2: its dimensions, 0 for any.
_STANDING: Final = (
    f"FROM ({_TEXTS}) AS texts LEFT JOIN embeddings AS made ON made.model = ?1 AND made.kind = texts.kind"
    " AND made.target = texts.target"
    " LEFT JOIN vectors ON vectors.text_hash = texts.text_hash AND vectors.model = ?1"
    " AND (?2 = 0 OR vectors.dimensions = ?2)"
)
_STANDS: Final = "(made.text_hash = texts.text_hash AND vectors.id IS NOT NULL)"


class DueText(NamedTuple):
    """Something whose vector is missing or of another text. failures: of this text with this model so far."""

    kind: Kind
    target: str
    text_hash: str
    failures: int


class MadeVector(NamedTuple):
    """A vector that is to be stored for a text."""

    kind: Kind
    target: str
    text_hash: str
    vector: array[float]


class StoredVector(NamedTuple):
    """A vector of a note or chunk. embedding: a number that another vector of it does not have."""

    embedding: int
    target: str
    text_hash: str
    vector: bytes


class Embeddings:
    """Vectors of notes and chunks."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    # What is due

    def due(self, model: str, dimensions: int, now: int) -> tuple[DueText, ...]:
        """All that has no vector of what it says now, but for what rests after a failure; what never failed first.

        dimensions: 0 for those that the model mostly gives.
        """
        dimensions = dimensions or self.dimensions(model)
        rows = self._connection.execute(
            "SELECT texts.kind, texts.target, texts.text_hash,"
            " CASE WHEN made.failures > 0 THEN made.failures ELSE 0 END AS failures"
            f" {_STANDING} WHERE NOT coalesce({_STANDS}, 0) AND coalesce(made.run_after, 0) <= ?3"
            " ORDER BY failures, texts.kind DESC",
            (model, dimensions, now),
        )
        return tuple(DueText(*row) for row in rows)

    def rests_until(self, model: str, now: int) -> int | None:
        """When the first text is tried again that rests, epoch ms; None for none."""
        row = self._connection.execute(
            "SELECT min(run_after) FROM embeddings WHERE model = ? AND run_after > ?", (model, now)
        ).fetchone()
        return None if row[0] is None else int(row[0])

    def coverage(self, model: str, dimensions: int) -> EmbeddingCoverage:
        """How far vectors are made. dimensions: 0 for those that the model mostly gives."""
        dimensions = dimensions or self.dimensions(model)
        notes = self._one("SELECT count(*) FROM note_links")
        # The row of a note goes when the note is read anew, so that each that stands is of what it says now.
        embedded = self._one(
            "SELECT count(*) FROM embeddings WHERE model = ? AND kind = 'note' AND text_hash <> ''", model
        )
        if self._one("SELECT count(DISTINCT dimensions) FROM vectors WHERE model = ?", model) > 1 or (
            dimensions != self.dimensions(model)
        ):
            embedded = self._standing("note", model, dimensions)[1]
        chunks, embedded_chunks = self._standing("chunk", model, dimensions)
        failing = self._one("SELECT count(*) FROM embeddings WHERE model = ? AND failures > 0", model)
        error = self._connection.execute(
            "SELECT error FROM embeddings WHERE model = ? AND failures > 0 ORDER BY updated_at DESC LIMIT 1",
            (model,),
        ).fetchone()
        return EmbeddingCoverage(
            model, notes, embedded, chunks, embedded_chunks, failing,
            str(error[0]) if error is not None else "", dimensions,
        )  # fmt: skip

    def _standing(self, kind: Kind, model: str, dimensions: int) -> tuple[int, int]:
        """How many texts of a kind there are, and how many of them have the vector of what they say now."""
        total, standing = self._connection.execute(
            f"SELECT count(*), coalesce(sum(coalesce({_STANDS}, 0)), 0) {_STANDING} WHERE texts.kind = ?3",
            (model, dimensions, kind),
        ).fetchone()
        return int(total), int(standing)

    def _one(self, query: str, *values: object) -> int:
        return int(self._connection.execute(query, values).fetchone()[0])

    def dimensions(self, model: str) -> int:
        """How many dimensions the vectors of a model mostly have; 0 where there is none."""
        return max(self.lately(model).items(), key=lambda one: one[1], default=(0, 0))[0]

    def lately(self, model: str) -> dict[int, int]:
        """How many of the last vectors of a model have how many dimensions."""
        rows = self._connection.execute(
            "SELECT dimensions, count(*) FROM (SELECT dimensions FROM vectors WHERE model = ? ORDER BY id DESC LIMIT ?)"
            " GROUP BY dimensions",
            (model, _LATELY),
        )
        return {row[0]: row[1] for row in rows}

    def text_hash(self, kind: Kind, target: str) -> str:
        """Of what a note or chunk says now; "" where it is gone."""
        query = (
            "SELECT text_hash FROM note_links WHERE note_id = ?"
            if kind == "note"
            else "SELECT content_hash FROM chunks WHERE id = CAST(? AS INTEGER)"
        )
        row = self._connection.execute(query, (target,)).fetchone()
        return "" if row is None else str(row[0])

    def chunk_text(self, target: str) -> str:
        """What a chunk says; "" where it is gone."""
        row = self._connection.execute(
            "SELECT content FROM chunks WHERE id = CAST(? AS INTEGER)", (target,)
        ).fetchone()
        return "" if row is None else str(row[0])

    def has_vector(self, text_hash: str, model: str, dimensions: int) -> bool:
        """Whether a text has its vector already. dimensions: 0 for any."""
        row = self._connection.execute(
            "SELECT 1 FROM vectors WHERE text_hash = ? AND model = ? AND (?3 = 0 OR dimensions = ?3)",
            (text_hash, model, dimensions),
        ).fetchone()
        return row is not None

    # Writing

    def store(self, model: str, made: MadeVector, now: int) -> bool:
        """Stores the vector of a text, and forgets that of any other text or model; False where the note or chunk says
        something else by now, and nothing is stored.
        """
        if self.text_hash(made.kind, made.target) != made.text_hash:
            return False
        self._connection.execute(
            "INSERT INTO vectors (text_hash, model, dimensions, vector, created_at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (text_hash, model) DO UPDATE SET dimensions = excluded.dimensions,"
            " vector = excluded.vector, created_at = excluded.created_at",
            (made.text_hash, model, len(made.vector), made.vector.tobytes(), now),
        )
        return self.refer(model, made.kind, made.target, made.text_hash, now)

    def refer(self, model: str, kind: Kind, target: str, text_hash: str, now: int) -> bool:
        """Gives a note or chunk the vector that its text has already; False where it says something else by now."""
        if self.text_hash(kind, target) != text_hash:
            return False
        self._connection.execute("DELETE FROM embeddings WHERE kind = ? AND target = ?", (kind, target))
        self._connection.execute(
            "INSERT INTO embeddings (kind, target, model, text_hash, updated_at) VALUES (?, ?, ?, ?, ?)",
            (kind, target, model, text_hash, now),
        )
        return True

    def failed(self, model: str, text: DueText, error: str, now: int) -> None:
        """Lets a text rest that could not be embedded."""
        failures = text.failures + 1
        rest = min(FIRST_REST_MS << min(text.failures, _MOST_DOUBLINGS), LONGEST_REST_MS)
        self._connection.execute(
            "INSERT INTO embeddings (kind, target, model, failures, run_after, error, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (model, kind, target)"
            " DO UPDATE SET failures = excluded.failures, run_after = excluded.run_after,"
            " error = excluded.error, updated_at = excluded.updated_at",
            (text.kind, text.target, model, failures, now + rest, error, now),
        )

    def retry_now(self) -> int:
        """Ends the rest of all texts that failed; how many rested."""
        return self._connection.execute("UPDATE embeddings SET run_after = 0 WHERE run_after > 0").rowcount

    def drop_unused(self, most: int) -> int:
        """Deletes vectors that no note or chunk has any more, at most so many; how many."""
        return self._connection.execute(
            "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors WHERE NOT EXISTS (SELECT 1 FROM embeddings"
            " WHERE embeddings.text_hash = vectors.text_hash AND embeddings.model = vectors.model) LIMIT ?)",
            (most,),
        ).rowcount

    # Searching

    def mark(self, model: str, kind: Kind) -> tuple[int, int]:
        """What differs once the vectors of a kind are others than they were."""
        row = self._connection.execute(
            "SELECT count(*), coalesce(max(id), 0) FROM embeddings WHERE model = ? AND kind = ? AND text_hash <> ''",
            (model, kind),
        ).fetchone()
        return int(row[0]), int(row[1])

    def numbers(self, model: str, kind: Kind) -> Iterable[int]:
        """The number of each vector of a kind."""
        rows = self._connection.execute(
            "SELECT id FROM embeddings WHERE model = ? AND kind = ? AND text_hash <> ''", (model, kind)
        )
        return (row[0] for row in rows)

    def vectors(self, model: str, kind: Kind, dimensions: int, after: int = 0) -> Iterator[StoredVector]:
        """The vectors of a kind with so many dimensions whose numbers are greater than `after`."""
        rows = self._connection.execute(
            "SELECT embeddings.id, target, embeddings.text_hash, vector FROM embeddings JOIN vectors"
            " ON vectors.text_hash = embeddings.text_hash AND vectors.model = embeddings.model"
            " WHERE embeddings.model = ? AND kind = ? AND embeddings.text_hash <> '' AND dimensions = ?"
            " AND embeddings.id > ? ORDER BY embeddings.id",
            (model, kind, dimensions, after),
        )
        return (StoredVector(*row) for row in rows)
