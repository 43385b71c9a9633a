"""Vectors of notes and of chunks of documents: which are due, which stand, and how far they are made.

What notes say is known by `note_links`, which follows them; a note that is hidden or gone is not in it. Of chunks only
those count that a present document has.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from core.pipeline.database.tables import Rows
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
# Of each the row of a model. ?1: the model; ?2: the dimensions of its vectors, 0 for any.
_STANDING: Final = (
    f"FROM ({_TEXTS}) AS texts LEFT JOIN embeddings AS made ON made.model = ?1 AND made.kind = texts.kind"
    " AND made.target = texts.target"
)
_STANDS: Final = "(made.text_hash = texts.text_hash AND (?2 = 0 OR made.dimensions = ?2))"
_MADE: Final = "model = ? AND kind = ? AND text_hash <> ''"


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


class Embeddings(Rows):
    """Vectors of notes and chunks."""

    # What is due

    def due(self, model: str, dimensions: int, now: int) -> tuple[DueText, ...]:
        """All that has no vector of what it says now, but for what rests after a failure; what never failed first.

        dimensions: 0 for those that the model mostly gives.
        """
        return self.records(
            DueText,
            f"SELECT texts.kind, texts.target, texts.text_hash, coalesce(made.failures, 0) AS failures {_STANDING}"
            f" WHERE NOT coalesce({_STANDS}, 0) AND coalesce(made.run_after, 0) <= ?3"
            " ORDER BY failures, texts.kind DESC",
            model, dimensions or self.dimensions(model), now,
        )  # fmt: skip

    def coverage(self, model: str, dimensions: int) -> EmbeddingCoverage:
        """How far vectors are made. dimensions: 0 for those that the model mostly gives."""
        dimensions = dimensions or self.dimensions(model)
        stands = {"note": (0, 0), "chunk": (0, 0)}
        stands |= {
            row[0]: (row[1], row[2])
            for row in self.ask(
                f"SELECT texts.kind, count(*), sum(coalesce({_STANDS}, 0)) {_STANDING} GROUP BY texts.kind",
                model, dimensions,
            )
        }  # fmt: skip
        failing = "FROM embeddings WHERE model = ? AND failures > 0"
        error = self.text(f"SELECT error {failing} ORDER BY updated_at DESC LIMIT 1", model)
        failed = self.count(f"SELECT count(*) {failing}", model)
        return EmbeddingCoverage(model, *stands["note"], *stands["chunk"], failed, error, dimensions)

    def dimensions(self, model: str) -> int:
        """How many dimensions the vectors of a model mostly have; 0 where there is none."""
        return max(self.lately(model).items(), key=lambda one: one[1], default=(0, 0))[0]

    def lately(self, model: str) -> dict[int, int]:
        """How many of the last vectors of a model have how many dimensions."""
        rows = self.ask(
            "SELECT dimensions, count(*) FROM (SELECT dimensions FROM embeddings WHERE model = ? AND text_hash <> ''"
            " ORDER BY id DESC LIMIT ?) GROUP BY dimensions",
            model, _LATELY,
        )  # fmt: skip
        return {row[0]: row[1] for row in rows}

    def chunk_text(self, target: str) -> str:
        """What a chunk says; "" where it is gone."""
        return self.text("SELECT content FROM chunks WHERE id = CAST(? AS INTEGER)", target)

    # Writing

    def store(self, model: str, made: MadeVector, now: int) -> bool:
        """Stores the vector of a text, and forgets that of any other text or model; False where the note or chunk says
        something else by now, and nothing is stored.
        """
        says = "SELECT 1 FROM note_links WHERE note_id = ? AND text_hash = ?"
        if made.kind == "chunk":
            says = "SELECT 1 FROM chunks WHERE id = CAST(? AS INTEGER) AND content_hash = ?"
        if not self.has(says, made.target, made.text_hash):
            return False
        self.run("DELETE FROM embeddings WHERE kind = ? AND target = ?", made.kind, made.target)
        self.insert_row(
            "embeddings", kind=made.kind, target=made.target, model=model, text_hash=made.text_hash,
            dimensions=len(made.vector), updated_at=now, vector=made.vector.tobytes(),
        )  # fmt: skip
        return True

    def failed(self, model: str, text: DueText, error: str, now: int) -> None:
        """Lets a text rest that could not be embedded."""
        rest = min(FIRST_REST_MS << min(text.failures, _MOST_DOUBLINGS), LONGEST_REST_MS)
        self.run(
            "INSERT INTO embeddings (kind, target, model, failures, run_after, error, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (model, kind, target)"
            " DO UPDATE SET failures = excluded.failures, run_after = excluded.run_after,"
            " error = excluded.error, updated_at = excluded.updated_at",
            text.kind, text.target, model, text.failures + 1, now + rest, error, now,
        )  # fmt: skip

    def retry_now(self) -> int:
        """Ends the rest of all texts that failed; how many rested."""
        return self.run("UPDATE embeddings SET run_after = 0 WHERE run_after > 0")

    # Searching

    def mark(self, model: str, kind: Kind) -> tuple[int, int]:
        """What differs once the vectors of a kind are others than they were."""
        count, newest = self.row(
            f"SELECT count(*), coalesce(max(id), 0) FROM embeddings WHERE {_MADE}", model, kind
        )
        return count, newest

    def numbers(self, model: str, kind: Kind) -> Iterable[int]:
        """The number of each vector of a kind."""
        return (row[0] for row in self.ask(f"SELECT id FROM embeddings WHERE {_MADE}", model, kind))

    def vectors(self, model: str, kind: Kind, dimensions: int, after: int = 0) -> Iterator[StoredVector]:
        """The vectors of a kind with so many dimensions whose numbers are greater than `after`."""
        rows = self.ask(
            f"SELECT id, target, text_hash, vector FROM embeddings WHERE {_MADE} AND dimensions = ? AND id > ?"
            " ORDER BY id",
            model, kind, dimensions, after,
        )  # fmt: skip
        return (StoredVector(*row) for row in rows)
