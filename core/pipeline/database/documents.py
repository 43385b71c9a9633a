"""Rows of documents and of the chunks that they are found by.

A row of a document is one version of it. The version that a document is replaced by is another row: the former one is
found until that one is whole, and stays as a tombstone. Chunks that say the same stand once, whoever has them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import astuple, replace
from typing import Final, NamedTuple

from core.pipeline.database.facts import Counted, rare_words
from core.pipeline.database.tables import Rows
from core.pipeline.database.texts import unpacked
from core.pipeline.decide import match_terms, normalised_bm25
from core.pipeline.intake.normalisation import normalise
from core.pipeline.records import Document, DocumentHit, DocumentStatus
from core.text.tokens import words

_COLUMNS: Final = ", ".join(Document.__slots__)
_NEWEST_FIRST: Final = "ORDER BY created_at DESC, rowid DESC"
# Present versions of the same source beside the one of ?2.
_OTHERS: Final = (
    "id <> ?2 AND removed_at IS NULL AND source <> ''"
    " AND source = (SELECT source FROM documents WHERE id = ?2)"
)
# Chunks of documents that were removed may be among the best: so many times as many are looked at.
_LOOKED_AT: Final = 10
# Of the full-text index at a time: what ten chunks need, in a few milliseconds.
_MERGED_PAGES: Final = 32

# The columns of a hit, and which hits there are. A text that a document says twice is one hit.
_HIT: Final = (
    "documents.id AS document_id, title, source, chunks.id AS chunk_id, place, chunks.content AS text,"
    " chunks.content_hash AS content_hash, nugget, updated_at"
)
_FOUND: Final = (
    "documents.removed_at IS NULL AND documents.status = 'done' AND place = (SELECT min(place) FROM document_chunks"
    " AS same WHERE same.document_id = documents.id AND same.chunk_id = chunks.id)"
)


class Work(NamedTuple):
    """What the job of a document goes on from. raw: the bytes that came, b"" where there are none. text: what was read
    of them, None as long as that is to be done. chunk_size, chunk_overlap: in characters, by which it is cut.
    """

    document: Document
    raw: bytes
    text: str | None
    content_hash: str
    chunk_size: int
    chunk_overlap: int
    next_start: int


class NewChunk(NamedTuple):
    """A chunk that is to be stored. end: where it ends in the text."""

    content: str
    content_hash: str
    terms: str
    end: int


def new_chunk(content: str, end: int) -> NewChunk:
    """A chunk with what is derived from its text; made before the transaction, since it takes time."""
    return NewChunk(content, normalise(content).content_hash, terms_of(content), end)


def terms_of(content: str) -> str:
    """The words of a chunk as a search spells them: scripts without spaces are cut, accents are folded."""
    return " ".join(words(content.lower()))


class Documents(Rows):
    """Documents and their chunks."""

    # Documents

    def insert(self, document: Document, *, raw: bytes | None, source_hash: str) -> None:
        """Stores a new version with the bytes that came; None where they are still to be fetched."""
        values = dict(zip(Document.__slots__, astuple(document), strict=True))
        self.insert_row("documents", **values, raw=raw, source_hash=source_hash)

    def _those(self, which: str, *values: object) -> tuple[Document, ...]:
        """Versions, by a condition and what follows it."""
        return self.records(Document, f"SELECT {_COLUMNS} FROM documents WHERE {which}", *values)

    def document(self, document_id: str) -> Document | None:
        """A version, present or not; None for none of this id."""
        return next(iter(self._those("id = ?", document_id)), None)

    def documents(self, *, removed: bool = False, most: int = 200) -> tuple[Document, ...]:
        """Documents, the one that was added last first. removed: former versions and removed ones too."""
        return self._those(f"(? OR removed_at IS NULL) {_NEWEST_FIRST} LIMIT ?", removed, most)

    def named(self, said: str, most: int = 3) -> tuple[Document, ...]:
        """What somebody may mean: the document of an id, else those whose id begins so, or that have this source or
        title. Present ones go before others.
        """
        begins = "length(?1) >= 4 AND substr(id, 1, length(?1)) = ?1"
        present = f"removed_at IS NULL AND (source = ?1 OR title = ?1 OR ({begins})) {_NEWEST_FIRST} LIMIT ?2"
        return (
            self._those("id = ?", said)
            or self._those(present, said, most)
            or self._those(f"{begins} {_NEWEST_FIRST} LIMIT ?2", said, most)
        )

    def of_source(self, source: str) -> tuple[Document, ...]:
        """The present versions of a path or address, the newest first: one that is found, and one on its way to it."""
        return self._those(f"source = ? AND source <> '' AND removed_at IS NULL {_NEWEST_FIRST}", source)

    def same_bytes(self, source_hash: str, *, removed: bool = False) -> Document | None:
        """A document of which the same bytes came, and that did not fail; removed: one that a person removed."""
        which = "removed_at IS NOT NULL AND replaced_by = ''" if removed else "removed_at IS NULL"
        found = self._those(
            f"source_hash = ? AND source_hash <> '' AND {which} AND status NOT IN ('failed', 'unchanged')"
            f" {_NEWEST_FIRST} LIMIT 1",
            source_hash,
        )
        return next(iter(found), None)

    def source_hash_of(self, document_id: str) -> str:
        """The hash of the bytes that a version came as; "" for one that is to be fetched, or was masked."""
        return self.text("SELECT source_hash FROM documents WHERE id = ?", document_id)

    def work_of(self, document_id: str) -> Work | None:
        """What the job of a version goes on from; None where there is no such version, or nobody wants it any more."""
        row = self.row("SELECT * FROM documents WHERE id = ? AND removed_at IS NULL", document_id)
        document = self.document(document_id)
        if row is None or document is None:
            return None
        text = None if row["content"] is None else unpacked(row["content"])
        cut = row["content_hash"], row["chunk_size"], row["chunk_overlap"], row["next_start"]
        return Work(document, row["raw"] or b"", text, *cut)

    def text_of(self, document_id: str) -> str:
        """The whole text of a version; "" as long as it was not read."""
        content = self.value("SELECT content FROM documents WHERE id = ?", document_id)
        return "" if content is None else unpacked(content)

    def set_status(self, document_id: str, status: DocumentStatus, now: int, error: str = "") -> None:
        """How far a version is."""
        self.run(
            "UPDATE documents SET status = ?, error = ?, updated_at = ? WHERE id = ?",
            status,
            error,
            now,
            document_id,
        )

    def store_text(
        self,
        document_id: str,
        content: bytes,
        *,
        length: int,
        content_hash: str,
        source_hash: str,
        title: str,
        media_type: str,
        chunk_size: int,
        chunk_overlap: int,
        chunks: int,
        now: int,
    ) -> None:
        """Stores the text that was read of a version, and how it is cut; its bytes are needed no more.

        content: as `packed` gives it.
        """
        self.run(
            "UPDATE documents SET content = ?, raw = NULL, length = ?, content_hash = ?, source_hash = ?, title = ?,"
            " media_type = ?, chunk_size = ?, chunk_overlap = ?, chunks = ?, chunks_written = 0, next_start = 0,"
            " status = 'chunking', error = '', updated_at = ? WHERE id = ?",
            content, length, content_hash, source_hash, title, media_type, chunk_size, chunk_overlap, chunks, now,
            document_id,
        )  # fmt: skip
        self.run("DELETE FROM document_chunks WHERE document_id = ?", document_id)

    def finish(self, document_id: str, raw_id: str, now: int) -> None:
        """Marks a version as whole: it takes the place of all others of its source. raw_id: the text that facts are
        extracted from, "" for none.
        """
        self.run(
            "UPDATE documents SET status = 'done', error = '', done_at = ?1, updated_at = ?1, raw_id = ?2,"
            " chunks = chunks_written WHERE id = ?3",
            now, raw_id, document_id,
        )  # fmt: skip
        earlier = "rowid < (SELECT rowid FROM documents WHERE id = ?2)"
        self.run(
            f"UPDATE documents SET removed_at = ?1, replaced_by = ?2 WHERE {_OTHERS} AND {earlier}",
            now,
            document_id,
        )

    def drop_unchanged(self, document_id: str, same: str, now: int) -> None:
        """Ends a version that says what another one says already, which was looked at just now."""
        self.run(
            "UPDATE documents SET status = 'unchanged', error = '', raw = NULL, removed_at = ?1, replaced_by = ?2,"
            " updated_at = ?1 WHERE id = ?3",
            now, same, document_id,
        )  # fmt: skip
        self.run("UPDATE documents SET updated_at = ? WHERE id = ?", now, same)

    def found_text(self, document: Document, content_hash: str) -> Document | None:
        """The version that is found and says the same: of the same source, or of any for a text without one."""
        found = self._those(
            f"content_hash = ? AND status = 'done' AND removed_at IS NULL AND source = ? AND id <> ? {_NEWEST_FIRST}",
            content_hash, document.source, document.id,
        )  # fmt: skip
        return next(iter(found), None)

    def remove(self, document_id: str, now: int) -> bool:
        """Makes a version one that is found no more; False where it is that already."""
        return self.run(
            "UPDATE documents SET removed_at = ?1, updated_at = ?1 WHERE id = ?2 AND removed_at IS NULL",
            now, document_id,
        ) == 1  # fmt: skip

    def restore(self, document_id: str, now: int) -> bool:
        """Lets a version be found again that was removed or replaced; False where it is found. What took its place is
        replaced by it.
        """
        restored = self.run(
            "UPDATE documents SET removed_at = NULL, replaced_by = '', updated_at = ?1"
            " WHERE id = ?2 AND removed_at IS NOT NULL AND status <> 'unchanged'",
            now, document_id,
        )  # fmt: skip
        if restored:
            self.run(
                f"UPDATE documents SET removed_at = ?1, replaced_by = ?2, updated_at = ?1 WHERE {_OTHERS}",
                now, document_id,
            )  # fmt: skip
        return bool(restored)

    # Chunks

    def write_chunks(
        self, document_id: str, content_hash: str, start: int, chunks: Sequence[NewChunk], now: int
    ) -> bool:
        """Stores the next chunks of a version, which begin where those before have ended. A text that is there already
        is linked.

        content_hash, start: of the text that was cut and where; False, and nothing is stored, where they are others by
        now: it was masked, or another worker went on.
        """
        first = self.value(
            "SELECT chunks_written FROM documents WHERE id = ? AND content_hash = ? AND next_start = ?"
            " AND removed_at IS NULL",
            document_id, content_hash, start,
        )  # fmt: skip
        if first is None:
            return False
        if not first:
            # Of a former cut, where the text was masked since.
            self.run("DELETE FROM document_chunks WHERE document_id = ?", document_id)
        for place, chunk in enumerate(chunks, first):
            self.run(
                "INSERT INTO chunks (content, terms, content_hash, created_at) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (content_hash) DO NOTHING",
                chunk.content, chunk.terms, chunk.content_hash, now,
            )  # fmt: skip
            self.run(
                "INSERT OR REPLACE INTO document_chunks (document_id, place, chunk_id)"
                " SELECT ?, ?, id FROM chunks WHERE content_hash = ?",
                document_id, place, chunk.content_hash,
            )  # fmt: skip
        self.run(
            "UPDATE documents SET chunks_written = ?, next_start = ?, status = 'indexing', updated_at = ?"
            " WHERE id = ?",
            first + len(chunks), chunks[-1].end if chunks else start, now, document_id,
        )  # fmt: skip
        self.merge_index()
        return True

    def merge_index(self) -> None:
        """Merges a few pages of the full-text index, in the transaction that adds or removes chunks: left to SQLite,
        it would be many at once now and then.
        """
        self.run("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('merge', ?)", _MERGED_PAGES)

    def search(self, query: str, limit: int, counted: Counted | None = None) -> tuple[DocumentHit, ...]:
        """The chunks of present documents that share words with a query, best first, each once for each document.

        Only documents are found that are indexed whole. counted: of this database, to be handed in again by whoever
        searches often.
        """
        newest = self.count("SELECT max(id) FROM chunks")
        asked = rare_words(
            self, "chunks_terms", match_terms(query), newest, {} if counted is None else counted
        )
        if not asked or limit < 1:
            return ()
        found = self.records(
            DocumentHit,
            f"SELECT {_HIT}, found.score AS score FROM"
            " (SELECT rowid, rank AS score FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rank LIMIT ?) AS found"
            " CROSS JOIN chunks ON chunks.id = found.rowid"
            " CROSS JOIN document_chunks ON document_chunks.chunk_id = chunks.id"
            f" CROSS JOIN documents ON documents.id = document_id WHERE {_FOUND}"
            " ORDER BY found.score, documents.rowid DESC, place LIMIT ?",
            asked, _LOOKED_AT * limit, limit,
        )  # fmt: skip
        best = max((abs(hit.score) for hit in found), default=0.0)
        return tuple(replace(hit, score=normalised_bm25(hit.score, best)) for hit in found)

    def hits_of(self, chunk_ids: Collection[int]) -> tuple[DocumentHit, ...]:
        """Chunks of present documents as hits without a score, each once for each document."""
        return self.records(
            DocumentHit,
            f"SELECT {_HIT}, 0.0 AS score FROM chunks"
            " CROSS JOIN document_chunks ON document_chunks.chunk_id = chunks.id"
            f" CROSS JOIN documents ON documents.id = document_id WHERE {_FOUND}"
            " AND chunks.id IN (SELECT value FROM json_each(?)) ORDER BY documents.rowid DESC, place",
            json.dumps(list(chunk_ids)),
        )
