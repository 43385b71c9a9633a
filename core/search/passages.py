"""Passages: parts of documents beside the notes, scored as a note with their text would be.

A search asks a source for them and never learns where they come from. They take no place from a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

from core.model.note import Note
from core.search.conditions import DOCUMENT
from core.search.documents import is_content_word, weight
from core.search.judge import judged
from core.search.ranking import Ranking
from core.search.results import FoundPassage, Passage
from core.search.scorers import BM25_SHARE, COVERAGE_SHARE, PHRASE_BONUS, TINY, TITLE_BONUS
from core.search.signals import after
from core.search.state import scale_of
from core.text.languages import language_of, serves_grammar, stem_in
from core.text.tokens import fold, words

# Of a document so many passages are shown at most, so that a long one does not fill the answer.
MOST_OF_DOCUMENT: Final = 2
# So many are looked at for each that is shown.
_LOOKED_AT: Final = 6
# What holds more of a query than any note has more than it, within reason.
_MOST_AGAINST: Final = 1.5


class PassageSource(Protocol):
    """Who knows of documents. Safe to ask from several threads."""

    def passages(self, text: str, most: int) -> Sequence[FoundPassage]:
        """Parts of documents that share words with a query, the best first, and such as signals find. Never raises."""
        ...

    def document_text(self, document_id: str) -> str:
        """The whole text of a document; "" where it cannot be read. Never raises."""
        ...


def rank_passages(ranking: Ranking, source: PassageSource, most: int) -> tuple[Passage, ...]:
    """The best passages for the query of a ranking, at most so many, and two of one document."""
    if most < 1 or ranking.query.empty:
        return ()
    found = source.passages(ranking.query.phrase, most * _LOOKED_AT)
    raw = [_scored(ranking, one) for one in found if ranking.filters.admits(_as_note(one))]
    raw = [one for one in raw if one.coverage or any(signal.at_least for signal in one.found.signals)]
    settings, rows = ranking.settings, ranking.candidates
    # Against the best note as notes are; among documents alone, against the best of these.
    best_text = float(ranking.text.raw[rows].max(initial=0.0)) or max((one.words for one in raw), default=0.0)
    best_vector = ranking.best_vector if len(rows) else 0.0
    best_vector = best_vector or max((one.vector for one in raw), default=0.0)
    made = []
    for one in raw:
        text = settings.text_weight * min(one.words / max(best_text, TINY), _MOST_AGAINST)
        vector = settings.vector_weight * min(one.vector / max(best_vector, TINY), _MOST_AGAINST)
        signals = one.found.signals
        likelihood = max((one.likelihood, *(signal.likelihood for signal in signals)))
        vector += after(signals, text + vector) - (text + vector)
        sure = judged(likelihood) == "found"
        made.append(replace(one, words=text, vector=vector, likelihood=likelihood, sure=sure))
    made.sort(key=lambda one: -one.blend)
    seen, few = Counter[str](), []
    for one in made:
        seen[one.found.document_id] += 1
        if seen[one.found.document_id] <= MOST_OF_DOCUMENT:
            few.append(one)
    return tuple(few[:most])


def _as_note(one: FoundPassage) -> Note:
    """A passage as conditions of a query see it."""
    id = f"{DOCUMENT}{one.document_id} {one.place}"
    return Note(id=id, title=one.title, content=one.text, nugget_name=one.nugget)


def _scored(ranking: Ranking, one: FoundPassage) -> Passage:
    """The scores as those of a note, not yet against the best."""
    state = ranking.state
    typed = words(f"{one.title}\n{one.text}", compounds=True)
    language = language_of(typed, one.text)

    def stems_of(of: Sequence[str]) -> list[tuple[str, str]]:
        kept = (word for word in of if is_content_word(word) and not serves_grammar(word, (language,)))
        return [(stem_in(word, language), word) for word in kept]

    read = stems_of(typed)
    counts = Counter(stem for stem, _ in read)
    bm25, covered, held = 0.0, 0.0, set[str]()
    asked = sum(term.rarity for term in ranking.terms)
    # What no note says may stand in a document.
    unknown = {term.stem: term.times * term.rarity for term in ranking.terms}
    for term in ranking.terms:
        likes = {reading.stem: reading.text for reading in term.readings if reading.text}
        likes[term.stem] = max(likes.get(term.stem, 0.0), unknown[term.stem])
        gains = {
            stem: text * state.bm25_of(counts[stem], len(read))
            for stem, text in likes.items()
            if counts[stem]
        }
        if gains:
            bm25 += max(gains.values())
            covered += max(likes[stem] for stem in gains) / term.times
            held.update(gains)
    phrase = ranking.query.is_phrase and ranking.query.stands_in(" ".join(fold(one.text).split()))
    title = " ".join(fold(one.title).split()) == ranking.query.phrase
    coverage = min(covered / asked, 1.0) if asked else 0.0
    raw = BM25_SHARE * bm25 / (ranking.text.best_bm25 or bm25 or TINY) + COVERAGE_SHARE * coverage
    weights = unknown | dict(ranking.vector.weights)
    dot = sum(value * weight(counts[stem]) for stem, value in weights.items() if counts[stem])
    return Passage(
        one,
        words=raw + PHRASE_BONUS * phrase + TITLE_BONUS * title,
        vector=dot * scale_of(len(read)),
        coverage=coverage,
        likelihood=ranking.judge.likelihood_of_text(
            counts.keys(), {stem for stem, _ in stems_of(words(one.title, compounds=True))}, phrase
        ),
        sure=False,
        matched=tuple(dict.fromkeys(word for stem, word in read if stem in held)),
    )
