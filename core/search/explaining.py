"""Explains each part of one note's score: words, pairs and what is known of it, in numbers that add up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from core.search.documents import PAIR_SHARE
from core.search.results import ScoreReason
from core.search.scorers import (
    BM25_SHARE,
    COVERAGE_SHARE,
    PHRASE_BONUS,
    TITLE_BONUS,
)
from core.search.state import Counts, pair_weights, stem_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.search.ranking import Ranking
    from core.search.terms import Expansion, Term

_TINY: Final = 1e-12


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
    made: list[ScoreReason] = []
    for found, total in (
        (_vector(ranking, row), parts.vector),
        (_text(ranking, row), parts.text),
        (_boost(ranking, row), parts.boost),
        (_exact(ranking, row), parts.exact),
        (_signals(ranking, row), parts.signals),
    ):
        some = [reason for reason in found if reason.value] if total else []
        summed = sum(reason.value for reason in some)
        scale = total / summed if summed else 1.0
        made += sorted(
            (reason._replace(value=reason.value * scale) for reason in some),
            key=lambda reason: (-reason.value, reason.found),
        )
    return tuple(made)


def _vector(ranking: Ranking, row: int) -> Iterator[ScoreReason]:
    """What each stem and pair that query and note share gives."""
    state, vector = ranking.state, ranking.vector
    held = {state.stems.names[number]: share for number, share in stem_weights(state.document(row)).items()}
    for stem, weighed in vector.weights.items():
        if stem not in held:
            continue
        term, reading = _origin(ranking, stem)
        yield ScoreReason("vector", reading.kind, term.word, reading.word, weighed * held[stem])
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
    asked = sum(term.rarity for term in ranking.terms)
    best = text.best_bm25
    counts = Counter(state.stems.names[number] for number in state.document(row).stems)
    for term in ranking.terms:
        # What means the same counts where the word itself does not stand.
        for readings in (term.readings, term.meanings):
            held = [reading for reading in readings if reading.text and reading.stem in counts]
            if held:
                break
        else:
            continue
        gains = {reading: reading.text * _saturated(ranking, row, counts[reading.stem]) for reading in held}
        chosen = max(held, key=lambda reading: (gains[reading], reading.likeness))
        means = chosen.kind == "meaning"
        covered = 0.0 if means else max(reading.text for reading in held) / term.times
        value = BM25_SHARE * gains[chosen] / max(best, _TINY) + COVERAGE_SHARE * covered / max(asked, _TINY)
        likeness = chosen.likeness if means else 1.0
        yield ScoreReason("text", chosen.kind, term.word, chosen.word, value, likeness)
    if text.phrase[row]:
        yield ScoreReason("text", "phrase", ranking.query.phrase, ranking.query.phrase, PHRASE_BONUS)
    if text.title[row]:
        yield ScoreReason("text", "title", ranking.query.phrase, state.notes[row].title, TITLE_BONUS)


def _saturated(ranking: Ranking, row: int, count: int) -> float:
    """BM25 of one stem without its rarity."""
    counts = Counts(np.array([row]), np.array([float(count)]))
    return float(ranking.state.bm25(counts)[0])


def _boost(ranking: Ranking, row: int) -> Iterator[ScoreReason]:
    state, settings = ranking.state, ranking.settings
    note = state.notes[row]
    if state.durable[row]:
        yield ScoreReason("boost", "durable", "", note.stability, settings.durable_boost)
    if state.own[row]:
        yield ScoreReason("boost", "scope", "", note.scope, settings.own_boost)
    share = float(state.confidence[row])
    yield ScoreReason("boost", "confidence", "", f"{share:.2f}", settings.confidence_boost * share)


def _exact(ranking: Ranking, row: int) -> Iterator[ScoreReason]:
    for text, one in ranking.exact.items():
        if row in one.rows:
            yield ScoreReason("exact", "exact", text, text, one.worth)


def _signals(ranking: Ranking, row: int) -> Iterator[ScoreReason]:
    score = ranking.before_signals(row)
    for signal in ranking.signals.get(row, ()):
        changed = signal.applied(score)
        yield ScoreReason("signals", signal.kind, "", signal.found, changed - score)
        score = changed
