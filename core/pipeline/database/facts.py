"""Rows of facts: what was accepted, under which hash and as which note; and how each stands, held against its note."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final, Literal, NamedTuple

from core.pipeline.database.rare_words import Counted, RareWords
from core.pipeline.decide import words_hash

_COLUMNS: Final = (
    "id, raw_id, proposal_id, nugget, content, normalised_content, content_hash, hash_version, type, confidence, "
    "note_id, status, model, prompt_version, created_at"
)
# Facts of other nuggets may stand among the best: so many times as many are looked at.
_LOOKED_AT: Final = 10
_ANOTHER_SAYS_IT: Final = """
EXISTS (SELECT 1 FROM facts AS same WHERE same.nugget = facts.nugget AND same.status <> 'denied'
    AND same.content_hash = facts.content_hash AND same.id <> facts.id)
"""


@dataclass(frozen=True, slots=True)
class StoredFact:
    """An accepted fact. content: as it was stored in its note; it may be reworded there by a person.

    status: retracted when a person hid or removed its note, denied when a later memory said that it is no longer so.
    """

    id: str
    raw_id: str
    proposal_id: str
    nugget: str
    content: str
    normalised_content: str
    content_hash: str
    hash_version: int
    type: str
    confidence: float
    note_id: str
    status: Literal["active", "retracted", "denied"]
    model: str
    prompt_version: str
    created_at: int


class FactMatch(NamedTuple):
    """A fact that a text finds. score: of bm25(), negative, less is better."""

    fact: StoredFact
    score: float


def _fact(row: sqlite3.Row | None) -> StoredFact | None:
    return None if row is None else _whole(row)


def _whole(row: sqlite3.Row) -> StoredFact:
    return StoredFact(**{name: row[name] for name in StoredFact.__slots__})


# Denied ones are out of the graph by what the pipeline itself did; of others it is a person who decides. What a crash
# cut off is in the history, and comes into the files yet.
_STATUSES: Final = """
SELECT id, raw_id, proposal_id, note_id, content, status FROM facts
WHERE status <> 'denied' AND note_id <> '' AND NOT EXISTS (
    SELECT 1 FROM entry JOIN touched USING (seq)
    WHERE state = 'pending' AND state <> 'done' AND item = 'n ' || facts.note_id)
ORDER BY rowid
"""


@dataclass(frozen=True, slots=True)
class FactStatus:
    """A fact as the database has it."""

    id: str
    raw_id: str
    proposal_id: str
    note_id: str
    content: str
    status: Literal["active", "retracted"]


class Facts:
    """What was learned and stands, or was denied."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def same(self, nugget: str, content_hash: str) -> StoredFact | None:
        """The fact of a nugget that says the same, also when a person took it back since; None for none.

        Looks at exactly what the unique index holds.
        """
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM facts WHERE nugget = ? AND content_hash = ? AND status <> 'denied'",
            (nugget, content_hash),
        ).fetchone()
        return _fact(row)

    def insert(self, fact: StoredFact) -> None:
        """Stores a fact. Whoever calls has looked for the same one in this very transaction: two cannot be stored."""
        self._connection.execute(
            f"INSERT INTO facts ({_COLUMNS}, words_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*astuple(fact), words_hash(fact.normalised_content)),
        )

    def reword(self, fact: StoredFact) -> None:
        """Gives the row of this id other words, with the proposal that they come from."""
        self._connection.execute(
            "UPDATE facts SET raw_id = ?, proposal_id = ?, content = ?, normalised_content = ?, content_hash = ?,"
            " hash_version = ?, type = ?, confidence = ?, model = ?, prompt_version = ?, words_hash = ? WHERE id = ?",
            (
                fact.raw_id,
                fact.proposal_id,
                fact.content,
                fact.normalised_content,
                fact.content_hash,
                fact.hash_version,
                fact.type,
                fact.confidence,
                fact.model,
                fact.prompt_version,
                words_hash(fact.normalised_content),
                fact.id,
            ),
        )

    def exists(self, fact_id: str) -> bool:
        """Whether there is a fact of this id, denied or not."""
        return self._connection.execute("SELECT 1 FROM facts WHERE id = ?", (fact_id,)).fetchone() is not None

    def deny(self, fact_id: str) -> None:
        """Marks a fact as no longer so."""
        self._connection.execute("UPDATE facts SET status = 'denied' WHERE id = ?", (fact_id,))

    def of_note(self, note_id: str) -> StoredFact | None:
        """The fact that became a note, None when the note is no fact's."""
        return _fact(
            self._connection.execute(f"SELECT {_COLUMNS} FROM facts WHERE note_id = ?", (note_id,)).fetchone()
        )

    def of_raw(self, raw_id: str) -> tuple[StoredFact, ...]:
        """The facts of a raw memory, whatever became of them."""
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM facts WHERE raw_id = ? ORDER BY rowid", (raw_id,)
        )
        return tuple(map(_whole, rows))

    def text_on_its_way(self, note_id: str) -> str | None:
        """What the note of a fact will say that this transaction makes; None for any other."""
        row = self._connection.execute(
            "SELECT content FROM facts WHERE note_id = ? AND status = 'active' AND EXISTS (SELECT 1 FROM note_edits"
            " WHERE note_edits.note_id = facts.note_id AND op = 'add' AND note_edits.status = 'pending')",
            (note_id,),
        ).fetchone()
        return None if row is None else str(row[0])

    def matching(
        self,
        nugget: str,
        words: Sequence[str],
        most: int,
        counted: Counted | None = None,
    ) -> list[FactMatch]:
        """Facts of a nugget that share words, best first by bm25(); those that are denied are left out.

        The rarest words decide: once these lead to some hundred facts, no commoner one is asked for; where one alone
        leads to more, only facts that hold others of them too are found. counted: of this database, to be handed
        in again.
        """
        known = {} if counted is None else counted
        query = RareWords(self._connection, "facts_terms").query(words, self.newest(), known)
        if not query:
            return []
        rows = self._connection.execute(
            "SELECT facts.*, found.score FROM"
            " (SELECT rowid, rank AS score FROM facts_fts WHERE facts_fts MATCH ? ORDER BY rank LIMIT ?) AS found"
            " CROSS JOIN facts ON facts.rowid = found.rowid"
            " WHERE nugget = ? AND facts.status <> 'denied' LIMIT ?",
            (query, _LOOKED_AT * most, nugget, most),
        )
        found = [FactMatch(_whole(row), float(row["score"])) for row in rows]
        return sorted(found, key=lambda match: (match.score, match.fact.id))

    def at(self, row: int) -> StoredFact | None:
        """The fact of a row, None for one that is not there or does not stand."""
        return _fact(
            self._connection.execute(
                f"SELECT {_COLUMNS} FROM facts WHERE rowid = ? AND status = 'active'", (row,)
            ).fetchone()
        )

    def active_after(self, row: int, most: int) -> tuple[tuple[int, StoredFact], ...]:
        """The next facts that stand after a row, at most so many, each with its row."""
        rows = self._connection.execute(
            f"SELECT rowid, {_COLUMNS} FROM facts WHERE rowid > ? AND status = 'active' AND note_id <> ''"
            " ORDER BY rowid LIMIT ?",
            (row, most),
        )
        return tuple((int(found["rowid"]), _whole(found)) for found in rows)

    def any(self) -> bool:
        """Whether anything was ever learned, taken back since or not."""
        return bool(self._connection.execute("SELECT EXISTS (SELECT 1 FROM facts)").fetchone()[0])

    def newest(self) -> int:
        """A number that grows with each fact that is stored."""
        return int(self._connection.execute("SELECT coalesce(max(rowid), 0) FROM facts").fetchone()[0])

    def fact_statuses(self) -> tuple[FactStatus, ...]:
        """The facts of whose notes the history has nothing that is to be finished."""
        return tuple(FactStatus(*row) for row in self._connection.execute(_STATUSES))

    def known_facts(self) -> frozenset[str]:
        """The ids of all facts, those that were denied as well."""
        return frozenset(row[0] for row in self._connection.execute("SELECT id FROM facts"))

    def set_status(self, fact: FactStatus, status: Literal["active", "retracted"]) -> bool:
        """Marks a fact as standing, or as taken back by a person; False when it has changed since it was read."""
        done = self._connection.execute(
            "UPDATE facts SET status = ? WHERE id = ? AND status = ? AND note_id = ?",
            (status, fact.id, fact.status, fact.note_id),
        )
        return done.rowcount == 1

    def set_content(self, fact: FactStatus, content: str, normalised_content: str) -> bool:
        """Gives a fact the words of its note; its hash stays, so that the former words are not learned again.

        False when it has changed since it was read.
        """
        done = self._connection.execute(
            "UPDATE facts SET content = ?, normalised_content = ?, words_hash = ?"
            " WHERE id = ? AND content = ? AND note_id = ?",
            (
                content,
                normalised_content,
                words_hash(normalised_content),
                fact.id,
                fact.content,
                fact.note_id,
            ),
        )
        return done.rowcount == 1

    def let_stand(self, note_id: str, stands: bool) -> None:
        """Lets the fact of a note stand again, unless another says the same, or denies it."""
        status = "active" if stands else "denied"
        self._connection.execute(
            f"UPDATE facts SET status = ?1 WHERE note_id = ?2 AND (?1 = 'denied' OR NOT {_ANOTHER_SAYS_IT})",
            (status, note_id),
        )
