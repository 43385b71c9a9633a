"""Passages: parts of documents beside the notes, scored as a note with their text would be.

A search asks a source for them and never learns where they come from. They take no place from a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

from core.model.note import Note
from core.search.conditions import DOCUMENT
from core.search.documents import is_content_word, weight
from core.search.judge import judged
from core.search.ranking import Ranking
from core.search.results import FoundPassage, Passage
from core.search.scorers import BM25_SHARE, COVERAGE_SHARE, PHRASE_BONUS, TITLE_BONUS
from core.search.signals import after
from core.search.state import scale_of
from core.text.languages import language_of, serves_grammar, stem_in
from core.text.tokens import fold, words

# Of a document so many passages are shown at most, so that a long one does not fill the answer.
MOST_OF_DOCUMENT: Final = 2
# So many are looked at for each that is shown.
_LOOKED_AT: Final = 6
_MOST_AGAINST: Final = 1.5
_TINY: Final = 1e-12


class PassageSource(Protocol):
    """Who knows of documents. Safe to ask from several threads."""

    def passages(self, text: str, most: int) -> Sequence[FoundPassage]:
        """Parts of documents that share words with a query, the best first, and such as signals find. Never raises."""
        ...

    def document_text(self, document_id: str) -> str:
        """The whole text of a document; "" where it cannot be read. Never raises."""
        ...


class _Raw(NamedTuple):
    found: FoundPassage
    text: float
    vector: float
    coverage: float
    likelihood: float
    matched: tuple[str, ...]


def rank_passages(ranking: Ranking, source: PassageSource, most: int) -> tuple[Passage, ...]:
    """The best passages for the query of a ranking, at most so many, and two of one document."""
    if most < 1 or ranking.query.empty:
        return ()
    found = source.passages(ranking.query.phrase, most * _LOOKED_AT)
    raw = [_scored(ranking, one) for one in found if ranking.filters.admits(_as_note(one))]
    raw = [one for one in raw if one.coverage or any(signal.at_least for signal in one.found.signals)]
    if not raw:
        return ()
    settings, rows = ranking.settings, ranking.candidates
    # Against the best note as notes are; among documents alone, against the best of these.
    best_text = float(ranking.text.raw[rows].max(initial=0.0)) or max(one.text for one in raw)
    best_vector = (ranking.best_vector if len(rows) else 0.0) or max(one.vector for one in raw)
    made = [
        _with_signals(
            Passage(
                one.found, settings.text_weight * _against(one.text, best_text),
                settings.vector_weight * _against(one.vector, best_vector),
                one.coverage, one.likelihood, judged(one.likelihood) == "found", one.matched,
            )
        )
        for one in raw
    ]  # fmt: skip
    made.sort(key=lambda one: -one.blend)
    return tuple(_few_of_each(made)[:most])


def _with_signals(one: Passage) -> Passage:
    """A passage with what is known of it beside its words, as `_likelihood` and `after` have it of notes."""
    signals = one.found.signals
    if not signals:
        return one
    likelihood = max(one.likelihood, *(signal.likelihood for signal in signals))
    return replace(
        one,
        vector=one.vector + after(signals, one.blend) - one.blend,
        likelihood=likelihood,
        sure=judged(likelihood) == "found",
    )


def _against(score: float, best: float) -> float:
    """A score against the best one. What holds more of a query than any note has more than it, within reason."""
    return min(score / max(best, _TINY), _MOST_AGAINST)


def _few_of_each(ranked: Sequence[Passage]) -> list[Passage]:
    seen: Counter[str] = Counter()
    few = []
    for one in ranked:
        seen[one.found.document_id] += 1
        if seen[one.found.document_id] <= MOST_OF_DOCUMENT:
            few.append(one)
    return few


def _as_note(one: FoundPassage) -> Note:
    """A passage as conditions of a query see it."""
    return Note(
        id=f"{DOCUMENT}{one.document_id} {one.place}",
        title=one.title,
        content=one.text,
        nugget_name=one.nugget,
    )


def _scored(ranking: Ranking, one: FoundPassage) -> _Raw:
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
    for term in ranking.terms:
        likes = {reading.stem: reading.text for reading in term.readings if reading.text}
        # What no note says may stand in a document.
        likes[term.stem] = max(likes.get(term.stem, 0.0), term.times * term.rarity)
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
    best = ranking.text.best_bm25 or bm25 or _TINY
    raw = BM25_SHARE * bm25 / best + COVERAGE_SHARE * coverage + PHRASE_BONUS * phrase + TITLE_BONUS * title
    weights = {stem: weight(count) for stem, count in counts.items()}
    unknown = {term.stem: term.times * term.rarity for term in ranking.terms}
    asked_for = unknown | dict(ranking.vector.weights)
    dot = sum(value * weights[stem] for stem, value in asked_for.items() if stem in weights)
    likelihood = ranking.judge.likelihood_of_text(
        counts.keys(),
        {stem for stem, _ in stems_of(words(one.title, compounds=True))},
        len(read),
        verbatim=phrase,
    )
    matched = tuple(dict.fromkeys(word for stem, word in read if stem in held))
    return _Raw(one, raw, dot * scale_of(len(read)), coverage, likelihood, matched)
