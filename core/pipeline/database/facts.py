"""Rows of facts: what was accepted, under which hash and as which note; and how each stands, held against its note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final, Literal, NamedTuple

from core.pipeline.database.tables import Rows
from core.pipeline.decide import distinctive_terms
from core.pipeline.statements import words_hash

# Facts of other nuggets may stand among the best: so many times as many are looked at.
_LOOKED_AT: Final = 10
_READ_AT_MOST: Final = 100
_COUNTED: Final = 8
# Words of so many rows or more are remembered with their number, until there are a quarter more rows.
_SELDOM: Final = 8
_COUNTED_AGAIN: Final = 1.25
_MOST_COUNTED: Final = 4_096
# For a word how many rows held it, and of how many.
Counted = dict[str, tuple[int, int]]


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


_COLUMNS: Final = ", ".join(StoredFact.__slots__)


class Facts(Rows):
    """What was learned and stands, or was denied."""

    def same(self, nugget: str, content_hash: str) -> StoredFact | None:
        """The fact of a nugget that says the same, also when a person took it back since; None for none.

        Looks at exactly what the unique index holds.
        """
        which = "nugget = ? AND content_hash = ? AND status <> 'denied'"
        return self.record(StoredFact, f"SELECT * FROM facts WHERE {which}", nugget, content_hash)

    def insert(self, fact: StoredFact) -> None:
        """Stores a fact. Whoever calls has looked for the same one in this very transaction: two cannot be stored."""
        marks = ", ".join("?" * (len(StoredFact.__slots__) + 1))
        self.run(
            f"INSERT INTO facts ({_COLUMNS}, words_hash) VALUES ({marks})",
            *astuple(fact), words_hash(fact.normalised_content),
        )  # fmt: skip

    def reword(self, fact: StoredFact) -> None:
        """Gives the row of this id other words, with the proposal that they come from."""
        self.run(
            "UPDATE facts SET raw_id = ?, proposal_id = ?, content = ?, normalised_content = ?, content_hash = ?,"
            " type = ?, confidence = ?, model = ?, prompt_version = ?, words_hash = ? WHERE id = ?",
            fact.raw_id, fact.proposal_id, fact.content, fact.normalised_content, fact.content_hash, fact.type,
            fact.confidence, fact.model, fact.prompt_version, words_hash(fact.normalised_content), fact.id,
        )  # fmt: skip

    def bears(self, note_id: str) -> bool:
        """Whether a fact has this note, or had it once."""
        return self.has(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM facts WHERE note_id = ?1)"
            " OR EXISTS (SELECT 1 FROM note_edits WHERE note_id = ?1 AND op = 'add')",
            note_id,
        )

    def of_note(self, note_id: str) -> StoredFact | None:
        """The fact that became a note, None when the note is no fact's."""
        return self.record(StoredFact, "SELECT * FROM facts WHERE note_id = ?", note_id)

    def matching(
        self, nugget: str, words: Sequence[str], most: int, counted: Counted | None = None
    ) -> list[FactMatch]:
        """Facts of a nugget that share words, best first by bm25(); those that are denied are left out.

        The rarest words decide: once these lead to some hundred facts, no commoner one is asked for; where one alone
        leads to more, only facts that hold others of them too are found. counted: of this database, to be handed
        in again.
        """
        query = rare_words(self, "facts_terms", words, self.newest(), {} if counted is None else counted)
        if not query:
            return []
        rows = self.ask(
            f"SELECT found.score, {_COLUMNS} FROM"
            " (SELECT rowid, rank AS score FROM facts_fts WHERE facts_fts MATCH ? ORDER BY rank LIMIT ?) AS found"
            " CROSS JOIN facts ON facts.rowid = found.rowid"
            " WHERE nugget = ? AND facts.status <> 'denied' LIMIT ?",
            query, _LOOKED_AT * most, nugget, most,
        )  # fmt: skip
        found = [FactMatch(StoredFact(*fact), float(score)) for score, *fact in rows]
        return sorted(found, key=lambda match: (match.score, match.fact.id))

    def newest(self) -> int:
        """A number that grows with each fact that is stored."""
        return self.count("SELECT max(rowid) FROM facts")

    def fact_statuses(self) -> tuple[StoredFact, ...]:
        """The facts of whose notes the history has nothing that is to be finished."""
        # Denied ones are out of the graph by what the pipeline itself did; of others it is a person who decides. What
        # a crash cut off is in the history, and comes into the files yet.
        return self.records(
            StoredFact,
            "SELECT * FROM facts WHERE status <> 'denied' AND note_id <> '' AND NOT EXISTS ("
            " SELECT 1 FROM entry JOIN touched USING (seq)"
            " WHERE state = 'pending' AND state <> 'done' AND item = 'n ' || facts.note_id) ORDER BY rowid",
        )

    def let_stand(self, note_id: str, stands: bool) -> None:
        """Lets the fact of a note stand again, unless another says the same, or denies it."""
        self.run(
            "UPDATE facts SET status = ?1 WHERE note_id = ?2 AND (?1 = 'denied' OR NOT EXISTS ("
            " SELECT 1 FROM facts AS same WHERE same.nugget = facts.nugget AND same.status <> 'denied'"
            " AND same.content_hash = facts.content_hash AND same.id <> facts.id))",
            "active" if stands else "denied", note_id,
        )  # fmt: skip


def rare_words(tables: Rows, terms: str, words: Sequence[str], total: int, counted: Counted) -> str:
    """What to ask a full-text index for: the words in fewest rows, which lead to about a hundred rows in all; "" for no
    row. Asking for a common word costs as much as it is common.

    terms: the index's table of words (fts5vocab, by row). total: how many rows there are. counted: of this index, to be
    handed in again.
    """

    def held_by(word: str) -> int:
        """How many rows hold a word, or did when there were a fifth fewer."""
        known, among = counted.get(word, (0, 0))
        if known and among <= total <= among * _COUNTED_AGAIN:
            return known
        held = tables.count(f"SELECT doc FROM {terms} WHERE term = ?", word)
        if held >= _SELDOM:
            if len(counted) >= _MOST_COUNTED:
                counted.clear()
            counted[word] = held, total
        return held

    rarest = sorted((held, word) for word in distinctive_terms(words, _COUNTED) if (held := held_by(word)))
    if not rarest:
        return ""
    together = rarest[0][0] > _READ_AT_MOST
    expected = float(rarest[0][0])
    found = [rarest[0][1]]
    for held, word in rarest[1:]:
        # Words that are common stand together as often as chance has it, or somewhat more.
        expected = expected * held / total if together else expected + held
        if not together and expected > _READ_AT_MOST:
            break
        found.append(word)
        if together and expected <= _READ_AT_MOST:
            break
    return (" AND " if together else " OR ").join(f'"{word}"' for word in found)
