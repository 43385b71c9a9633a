"""Finds candidates for facts: notes from the memory's own search, and facts still on their way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from core.model.names import known_nugget
from core.pipeline.database.connection import Database
from core.pipeline.decide import (
    MOST_CANDIDATES,
    StoredCandidate,
    distinctive_terms,
    hybrid_score,
    match_terms,
    normalised_bm25,
)
from core.pipeline.extract import ExtractedFact
from core.pipeline.intake.normalisation import normalise
from core.pipeline.records import ProposalReason, StoredProposal
from core.pipeline.statements import Saying, saying, says_the_same, similarity
from core.settings.pipeline_sections import SearchPart
from core.text.tokens import STOP_WORDS, words

if TYPE_CHECKING:
    from core.memory import Memory

_MOST_PER_SCORER: Final = 10
_LONGEST_READ: Final = 2_000
_MOST_WORDS: Final = 12
# Of the proposals that wait the newest are looked at, and those that share so much (Jaccard index).
_MOST_PROPOSALS: Final = 500
_CLOSE: Final = 0.2


@dataclass(frozen=True, slots=True)
class CandidateSearch:
    """Where candidates are looked for: one nugget of a memory, its facts that are not among the notes yet, and the
    changes that wait for a person.

    among_additions: also among the additions that wait, where nothing is written without a person.
    """

    database: Database
    memory: Memory
    nugget: str
    search: SearchPart
    among_additions: bool = False

    def of(self, batch: Sequence[ExtractedFact]) -> list[tuple[StoredCandidate, ...]]:
        """For each fact its candidates, best first: at most five of a score of at least `search.min_score`."""
        reader = self.database.reading
        waiting = [
            (one, saying(one.content))
            for one in reader.proposals.open_of(self.nugget, _MOST_PROPOSALS)
            if one.reason != ProposalReason.SAME_AS and (one.changes or self.among_additions)
        ]
        return [self._of(fact.content, waiting) for fact in batch]

    def _of(
        self, content: str, waiting: Sequence[tuple[StoredProposal, Saying]]
    ) -> tuple[StoredCandidate, ...]:
        reader, digest = self.database.reading, normalise(content).content_hash
        there = reader.facts.same(self.nugget, digest)
        # The rules need no other, and a model will not be asked.
        if there is not None:
            return (StoredCandidate(there.note_id, there.content, there.type, 1.0, there.content_hash),)
        refused = "nugget = ? AND content_hash = ? AND status = 'rejected' AND action IN ('update', 'delete') LIMIT 1"
        for one in reader.proposals.those(refused, self.nugget, digest):
            return (StoredCandidate(one.id, one.content, one.type, 1.0, digest),)
        found, mine = self._among_notes(content), saying(content)
        taken_back: list[StoredCandidate] = []
        matches = reader.facts.matching(
            self.nugget, match_terms(content), _MOST_PER_SCORER, self.database.counted_words
        )
        best = max((abs(match.score) for match in matches), default=0.0)
        for fact, score in matches:
            if fact.note_id in found:
                continue
            note = self.memory.snapshot.by_id.get(fact.note_id)
            seen = note is not None and not note.hidden
            text = note.content if note is not None and seen else fact.content
            candidate = StoredCandidate(fact.note_id, text, fact.type, normalised_bm25(score, best))
            if seen:
                found[fact.note_id] = candidate
            elif says_the_same(mine, saying(text)):
                # A person took its note back: it is not made again, nor ever offered as something to change.
                taken_back.append(candidate)
        for one, said in waiting:
            # A proposal that speaks of what the fact speaks of.
            close = similarity(mine.meaning, said.meaning)
            if close >= _CLOSE:
                found[one.id] = StoredCandidate(one.id, one.content, one.type, close, said.content_hash)
        kept = [one for one in found.values() if one.score >= self.search.min_score]
        kept.sort(key=lambda one: (-one.score, one.id))
        return (*kept[:MOST_CANDIDATES], *taken_back[:1])

    def _among_notes(self, content: str) -> dict[str, StoredCandidate]:
        from core.search import Filters

        query = plain_query(content)
        if not query:
            return {}
        names = self.memory.snapshot.nugget_names
        nugget = known_nugget(self.nugget, names)
        # Looking at the nugget of each note costs as much as the search where there is but one.
        wanted = None if names == (nugget,) else Filters(nugget=nugget)
        # By what the note itself says and nothing else: of each hit only the scores of the two scorers are read.
        weights = msgspec.structs.replace(
            self.memory.settings.search, vector_weight=self.search.alpha, text_weight=1 - self.search.alpha,
            durable_boost=0.0, own_boost=0.0, confidence_boost=0.0, meaning_weight=0.0, softmax_over=1,
        )  # fmt: skip
        found = {}
        for note, parts in (
            (hit.note, hit.breakdown)
            for hit in self.memory.search(query, _MOST_PER_SCORER, wanted, settings=weights)
        ):
            # What shares next to nothing with a fact is nothing to hold it against.
            if parts.coverage >= self.memory.settings.search.relevance_floor:
                score = hybrid_score(parts.text_score, parts.vector_score, self.search.alpha)
                found[note.id] = StoredCandidate(note.id, note.content, note.type or "note", score)
        return found


def plain_query(content: str) -> str:
    """The words of a fact as a question to the search, without anything that its language reads otherwise.

    A fact may hold quotes, colons and hyphens: 'use "uv", not pip' must not ask for notes without pip.
    """
    found = dict.fromkeys(word for word in words(content[:_LONGEST_READ]) if word not in STOP_WORDS)
    return " ".join(distinctive_terms(list(found), _MOST_WORDS))
