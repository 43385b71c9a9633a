"""Explains each part of one note's score: words, pairs and what is known of it, in numbers that add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.search.documents import PAIR_SHARE
from core.search.results import ScoreReason
from core.search.scorers import BM25_SHARE, COVERAGE_SHARE, PHRASE_BONUS, TITLE_BONUS
from core.search.state import Counts, pair_weights, stem_weights

if TYPE_CHECKING:
    from core.search.ranking import Ranking
    from core.search.terms import Expansion, Term


class Parts(NamedTuple):
    """The parts of a note's score after their weights."""

    vector: float
    text: float
    boost: float
    exact: float
    signals: float


def reasons(ranking: Ranking, row: int, parts: Parts) -> tuple[ScoreReason, ...]:
    """What made each part, part by part in the order of `Parts`, in each part the greatest first.

    Numbers are scaled so that those of a part add up to it.
    """
    found = [*_vector(ranking, row), *_text(ranking, row), *_beside_words(ranking, row, parts)]
    made: list[ScoreReason] = []
    for line, total in parts._asdict().items():
        some = [one for one in found if one.line == line and one.value and total]
        scale = total / (sum(one.value for one in some) or total or 1.0)
        scaled = (one._replace(value=one.value * scale) for one in some)
        made += sorted(scaled, key=lambda one: (-one.value, one.found))
    return tuple(made)


def _vector(ranking: Ranking, row: int) -> Iterator[ScoreReason]:
    """What each stem and pair that query and note share gives."""
    state, vector = ranking.state, ranking.vector
    held = {state.stems.names[number]: share for number, share in stem_weights(state.document(row)).items()}
    for stem, weight in vector.weights.items():
        if stem in held:
            term, reading = _origin(ranking, stem)
            yield ScoreReason("vector", reading.kind, term.word, reading.word, weight * held[stem])
    pairs = pair_weights(state.document(row))
    for pair in vector.pairs:
        numbers = state.stems.number(pair.first), state.stems.number(pair.second)
        if numbers in pairs:
            value = PAIR_SHARE * pair.weight * pairs[numbers]
            asked = f"{_origin(ranking, pair.first)[0].word} {_origin(ranking, pair.second)[0].word}"
            yield ScoreReason("vector", "pair", asked, asked, value)


def _origin(ranking: Ranking, stem: str) -> tuple[Term, Expansion]:
    """The typed word that a stem of the query's vector weighs most for, with its reading."""
    found = [(term, reading) for term in ranking.terms for reading in term.readings if reading.stem == stem]
    return max(found, key=lambda pair: pair[1].vector)


def _text(ranking: Ranking, row: int) -> Iterator[ScoreReason]:
    """What each typed word gives by its best reading, and the query standing there word for word."""
    state, text = ranking.state, ranking.text
    asked = sum(term.rarity for term in ranking.terms) or 1.0
    counts = Counter(state.stems.names[number] for number in state.document(row).stems)

    def gain(reading: Expansion) -> float:
        once = Counts(np.array([row]), np.array([float(counts[reading.stem])]))
        return reading.text * float(state.bm25(once)[0])

    for term in ranking.terms:
        own, same = (
            [reading for reading in readings if reading.text and reading.stem in counts]
            for readings in (term.readings, term.meanings)
        )
        if not (own or same):
            continue
        # What means the same counts where the word itself does not stand.
        chosen = max(own or same, key=lambda reading: (gain(reading), reading.likeness))
        means = chosen.kind == "meaning"
        covered = 0.0 if means else max(reading.text for reading in own) / term.times
        value = BM25_SHARE * gain(chosen) / (text.best_bm25 or 1.0) + COVERAGE_SHARE * covered / asked
        likeness = chosen.likeness if means else 1.0
        yield ScoreReason("text", chosen.kind, term.word, chosen.word, value, likeness)
    phrase = ranking.query.phrase
    if text.phrase[row]:
        yield ScoreReason("text", "phrase", phrase, phrase, PHRASE_BONUS)
    if text.title[row]:
        yield ScoreReason("text", "title", phrase, state.notes[row].title, TITLE_BONUS)


def _beside_words(ranking: Ranking, row: int, parts: Parts) -> Iterator[ScoreReason]:
    """What the note is, which exact words it holds, and what each signal changes, one after the other."""
    state, settings, note = ranking.state, ranking.settings, ranking.state.notes[row]
    if state.durable[row]:
        yield ScoreReason("boost", "durable", "", note.stability, settings.durable_boost)
    if state.own[row]:
        yield ScoreReason("boost", "scope", "", note.scope, settings.own_boost)
    share = float(state.confidence[row])
    yield ScoreReason("boost", "confidence", "", f"{share:.2f}", settings.confidence_boost * share)
    for text, one in ranking.exact.items():
        if row in one.rows:
            yield ScoreReason("exact", "exact", text, text, one.worth)
    score = sum(parts[:-1])
    for signal in ranking.signals.get(row, ()):
        changed = signal.applied(score)
        yield ScoreReason("signals", signal.kind, "", signal.found, changed - score)
        score = changed
