"""What is made of the notes: their names, which hold a decision, the questions that each answers, and vectors of what
they and chunks of documents say.

What notes say is known by `note_links`, which follows them; a note that is hidden or gone is not in it. Of chunks only
those count that a present document has.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from core.pipeline.database.entities import Entities
from core.pipeline.database.tables import Rows
from core.pipeline.intake.linker import ENTITY_TYPE, MENTION_CONFIDENCE
from core.pipeline.records import EmbeddingCoverage

# The items of a JSON list that a statement is given.
_IN: Final = "IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A note with the names in it. text_hash: of what was read. protected: it holds a decision."""

    note_id: str
    text_hash: str
    protected: bool
    names: tuple[str, ...]


class NameOfNotes(NamedTuple):
    """An entity that some notes name."""

    id: int
    canonical_name: str
    notes: int


class NotesNamed(NamedTuple):
    """Of one note: ids of the entities that it names, and whether it holds a decision."""

    names: frozenset[int]
    protected: bool


class Hint(NamedTuple):
    """A question that a note answers."""

    note_id: str
    text: str


def _list(items: Iterable[object]) -> str:
    return json.dumps(list(items))


def _any_of(words: Collection[str], ending: str = "") -> str:
    """What a full-text index is asked for any of some words of letters and digits."""
    return " OR ".join(f'"{word}"{ending}' for word in words)


class NoteNames(Rows):
    """What the notes name, and which hold a decision."""

    def hashes(self) -> dict[str, str]:
        """The hash of each note that was read, by id."""
        return dict(self.ask("SELECT note_id, text_hash FROM note_links").fetchall())

    def put(self, note: LinkedNote, now: int) -> None:
        """Puts what a note names in the place of what it named before. Where another process has read the same text,
        nothing changes: what was made of the note since would go with it.
        """
        if self.text_hash(note.note_id) == note.text_hash:
            return
        self.remove((note.note_id,))
        self.insert_row(
            "note_links", note_id=note.note_id, text_hash=note.text_hash, protected=int(note.protected)
        )
        entities = Entities(self.connection)
        for name in note.names:
            made = entities.find_or_make_entity(name, ENTITY_TYPE, now, root=False)
            entities.add_mention(made, note.note_id, name, MENTION_CONFIDENCE, "note", now)

    def remove(self, note_ids: Iterable[str]) -> None:
        """Forgets notes."""
        self.run(f"DELETE FROM note_links WHERE note_id {_IN}", _list(note_ids))

    def text_hash(self, note_id: str) -> str:
        """Of the note as it was read last; "" for none."""
        return self.text("SELECT text_hash FROM note_links WHERE note_id = ?", note_id)

    def count_notes(self) -> int:
        """How many notes were read."""
        return self.count("SELECT count(*) FROM note_links")

    def matching(self, words: Collection[str], *, begun: bool, most: int) -> tuple[NameOfNotes, ...]:
        """Names in notes that hold any of some words as a whole word, or such as begin so; those that most notes bear
        first. words: of letters and digits.
        """
        if not words:
            return ()
        return self.records(
            NameOfNotes,
            "SELECT id, entities.canonical_name, notes FROM entities_fts JOIN entities ON id = entities_fts.rowid"
            " WHERE entities_fts MATCH ? AND notes > 0 ORDER BY notes DESC, id LIMIT ?",
            _any_of(words, "*" if begun else ""), most,
        )  # fmt: skip

    def of_notes(self, note_ids: Collection[str]) -> Mapping[str, NotesNamed]:
        """What some notes name; those that were not read yet are left out."""
        asked, names = _list(note_ids), dict[str, set[int]]()
        for id, name in self.ask(f"SELECT target, entity_id FROM mentions WHERE target {_IN}", asked):
            names.setdefault(id, set()).add(name)
        read = self.ask(f"SELECT note_id, protected FROM note_links WHERE note_id {_IN}", asked)
        return {id: NotesNamed(frozenset(names.get(id, ())), bool(kept)) for id, kept in read}


class Hints(Rows):
    """Questions that notes answer, until the note says something else."""

    def due(self, most: int) -> tuple[str, ...]:
        """Notes that have none for what they say now, and no job for it that waits, runs or has failed for good."""
        return self.column(
            "SELECT note_id FROM note_links WHERE hinted = 0 AND NOT EXISTS (SELECT 1 FROM jobs WHERE type = 'hints'"
            " AND target = note_id AND status IN ('held', 'pending', 'leased', 'dead')) ORDER BY note_id LIMIT ?",
            most,
        )

    def put(self, note_id: str, hints: Iterable[str]) -> None:
        """Keeps the hints of a note, which may be none, but for those that a person removed. They go when the note is
        read anew.
        """
        self.run("DELETE FROM hints WHERE note_id = ?", note_id)
        self.run("UPDATE note_links SET hinted = 1 WHERE note_id = ?", note_id)
        removed = {hint.casefold() for hint in self.removed_of(note_id)}
        for text in hints:
            if text.casefold() not in removed:
                self._add(note_id, text)

    def _add(self, note_id: str, hint: str) -> bool:
        return (
            self.run(
                "INSERT OR IGNORE INTO hints (note_id, hint, folded) VALUES (?, ?, ?)",
                note_id,
                hint,
                hint.casefold(),
            )
            > 0
        )

    def remove(self, note_id: str, hint: str) -> bool:
        """Lets a hint find its note no more; False where it has none such."""
        return self.run("DELETE FROM hints WHERE note_id = ? AND folded = ?", note_id, hint.casefold()) > 0

    def restore(self, note_id: str, hint: str) -> bool:
        """Puts a removed hint back; False where it is there, or no hints were made of what the note says now."""
        return self.made_for(note_id) and self._add(note_id, hint)

    def removed_of(self, note_id: str) -> tuple[str, ...]:
        """The hints of a note that a person removed and that are removed at present."""
        rows = self.ask(
            "SELECT item.value FROM decisions, json_each(items) AS item WHERE note_id = ? AND note_id <> ''"
            " AND NOT undone ORDER BY at, item.value",
            note_id,
        )
        return tuple(dict.fromkeys(row[0] for row in rows))

    def made_for(self, note_id: str) -> bool:
        """Whether a model was asked about what the note says now."""
        return self.has("SELECT 1 FROM note_links WHERE note_id = ? AND hinted = 1", note_id)

    def of_note(self, note_id: str) -> tuple[str, ...]:
        """The hints of a note, in the order of the model."""
        return tuple(
            row[0] for row in self.ask("SELECT hint FROM hints WHERE note_id = ? ORDER BY id", note_id)
        )

    def matching(self, words: Collection[str], most: int) -> tuple[Hint, ...]:
        """Hints that hold any of some words of letters and digits, the best first."""
        if not words:
            return ()
        rows = self.ask(
            "SELECT note_id, hints.hint FROM hints_fts JOIN hints ON hints.id = hints_fts.rowid "
            "WHERE hints_fts MATCH ? ORDER BY bm25(hints_fts), hints.id LIMIT ?",
            _any_of(words), most,
        )  # fmt: skip
        return tuple(Hint(*row) for row in rows)


Kind = Literal["note", "chunk"]

# After a failure a text rests, twice as long after each further one.
FIRST_REST_MS: Final = 30_000
LONGEST_REST_MS: Final = 3_600_000
_MOST_DOUBLINGS: Final = 10
# By so many vectors it is known how many dimensions a model gives.
_LATELY: Final = 50

# Of all that can be embedded the row of a model. ?1: the model; ?2: the dimensions of its vectors, 0 for any.
_STANDING: Final = (
    "FROM embeddable AS texts LEFT JOIN embeddings AS made ON made.model = ?1 AND made.kind = texts.kind"
    " AND made.target = texts.target"
)
_STANDS: Final = "(made.text_hash = texts.text_hash AND (?2 = 0 OR made.dimensions = ?2))"


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
