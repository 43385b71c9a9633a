"""The ranking of all notes for one query: text leg, vector leg and boost, blended, and what made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.search.highlight import matched_words
from core.search.query import Query
from core.search.results import Breakdown, Filters, Hit
from core.search.spelling import neighbours
from core.search.state import Mask, State, Values
from core.search.vectors import Keys, inner_products, noise, read_counts, readable
from core.settings import SearchSettings
from core.text.tokens import stem

Places = NDArray[np.intp]

# The text leg: what the whole query standing in a note is worth, and the raw score that counts as full marks.
_VERBATIM: Final = 0.75
_FULL_MARKS: Final = 1.5
# Notes are normalised by their length to the power 0.75: by all of it, short notes win too easily (measured).
# A cosine has been divided by the whole length; this gives the rest back.
_LENGTH_GIVEN_BACK: Final = 0.25
# A cosine below so many standard deviations of chance is no evidence.
_NOISE_FLOOR: Final = 3.0
# So many of the best are read from their phase vectors; the others keep what those are expected to give.
_FROM_VECTORS: Final = 10
# A query's vector holds at most so many stems, the heaviest; so many unknown words are read as others.
_MOST_STEMS: Final = 32
_MOST_UNKNOWN: Final = 4


@dataclass(frozen=True, slots=True)
class Ranking:
    """All scores of one query, arrays over the notes of the state. `order`: places of the hits, best first."""

    state: State
    query: Query
    settings: SearchSettings
    weights: Mapping[str, float]
    cosines: Values
    vector_scores: Values
    raw_text: Values
    phrase: Mask
    boosts: Values
    order: Places

    def hits(self, limit: int) -> tuple[Hit, ...]:
        """The best hits, at most `limit`."""
        scores = self._shown_scores(limit)
        return tuple(
            self._hit(int(place), rank, float(score))
            for rank, (place, score) in enumerate(zip(self.order[:limit], scores, strict=True), 1)
        )

    def explanation(self, place: int) -> Hit:
        """The hit at one place of the state; rank and shown score 0 when the note there is no hit."""
        found = np.flatnonzero(self.order == place)
        if not len(found):
            return self._hit(place, 0, 0.0)
        rank = int(found[0]) + 1
        return self._hit(place, rank, float(self._shown_scores(rank)[-1]))

    def _shown_scores(self, limit: int) -> Values:
        """Softmax over the best hits, for the first `limit` of all."""
        blends = _blends(self.vector_scores, self.raw_text, self.boosts, self.settings)[self.order]
        if not len(blends):
            return blends
        raised = np.exp((blends - blends[0]) / max(self.settings.temperature, 1e-6))
        return np.asarray(raised[:limit] / raised[: max(self.settings.softmax_over, 1)].sum())

    def _hit(self, place: int, rank: int, score: float) -> Hit:
        note = self.state.notes[place]
        raw_text = float(self.raw_text[place])
        text_score = _text_score(raw_text)
        vector_score = float(self.vector_scores[place])
        vector = self.settings.vector_weight * vector_score
        text = self.settings.text_weight * text_score
        boost = float(self.boosts[place])
        breakdown = Breakdown(
            vector=vector,
            text=text,
            boost=boost,
            blend=vector + text + boost,
            vector_score=vector_score,
            text_score=text_score,
            raw_vector=float(self.cosines[place]),
            raw_text=raw_text,
            score=score,
            matched=matched_words(note, self.weights.keys(), self.query, bool(self.phrase[place])),
        )
        return Hit(note=note, score=score, rank=rank, breakdown=breakdown)


def rank(
    state: State,
    query: Query,
    filters: Filters,
    settings: SearchSettings,
    keys: Keys,
    explained: int | None = None,
) -> Ranking:
    """Scores every note and puts those with evidence in order.

    A note is a hit when it holds the query as a phrase or a telling token of it, or when its cosine rises
    above the noise of the vectors; the boost alone makes none. Scores do not depend on filters, only on
    whether hidden notes take part. explained: a place that is scored as if it took part in any case.
    """
    weights = query_weights(state, query)
    cosines = state.expected_cosines(weights)
    raw_cosines = cosines.copy()
    shares, told = state.token_shares(query.tokens, query.telling)
    # A phrase of several words shares a word with every note it stands in, but where it begins inside a word.
    phrase = state.with_phrase(query.needles, told | (cosines > 0) if len(query.words) > 1 else None)
    raw_text = _VERBATIM * phrase + shares
    boosts = _boosts(state, settings)
    floor = _NOISE_FLOOR * noise(settings.dimension)
    pool = np.ones_like(state.hidden) if filters.include_hidden else ~state.hidden

    measured = pool.copy()
    if explained is not None:
        measured[explained] = True
    lifted = np.where(measured & (cosines >= floor), cosines, 0.0) * _lift(state.lengths)
    best = float(lifted.max(initial=0.0))
    vector_scores = _vector_scores(cosines, state.lengths, best, floor)
    candidates = np.flatnonzero(pool & (told | phrase | (vector_scores > 0)))
    if filters.narrow:
        admitted = [place for place in candidates if filters.admits(state.notes[place])]
        candidates = np.array(admitted, dtype=np.intp)

    chosen = _best(_blends(vector_scores, raw_text, boosts, settings), candidates, state, _FROM_VECTORS)
    if explained is not None and explained not in candidates:
        chosen = np.append(chosen, explained)
    raw_cosines[chosen], cosines[chosen] = read_cosines(state, chosen, cosines[chosen], weights, keys)
    vector_scores[chosen] = _vector_scores(cosines[chosen], state.lengths[chosen], best, floor)
    hits = candidates[(told | phrase | (vector_scores > 0))[candidates]]
    order = _best(_blends(vector_scores, raw_text, boosts, settings), hits, state, len(hits))
    return Ranking(
        state, query, settings, weights, raw_cosines, vector_scores, raw_text, phrase, boosts, order
    )  # fmt: skip


def query_weights(state: State, query: Query) -> dict[str, float]:
    """The stems of the query's vector with their weights: how often they stand in it, times their rarity.

    A word that no note holds in any form stands for those that are spelt like it, each by the square of its
    likeness; when there are none it stays, and lowers every cosine.
    """
    weights: dict[str, float] = {}
    unknown = 0
    for name, times, word in query.stems:
        meant: dict[str, float] = {}
        if not state.document_count(name):
            unknown += 1
            if unknown <= _MOST_UNKNOWN:
                for other, likeness in neighbours(word, state.words, unfinished=word == query.unfinished):
                    meant.setdefault(stem(other), likeness)
        for other, likeness in (meant or {name: 1.0}).items():
            weights[other] = weights.get(other, 0.0) + times * likeness**2 * state.rarity(other)
    heaviest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return dict(heaviest[:_MOST_STEMS])


def read_cosines(
    state: State, places: Places, expected: Values, weights: Mapping[str, float], keys: Keys
) -> tuple[Values, Values]:
    """Cosines of the query's phase vector with those of some notes: as they are, and with the noise cleaned up.

    Vectors count with the length of their weights, which is that of their expectation. A note too long for
    single words to stand out of its vector keeps the expectation for both.
    """
    raw, clean = expected.copy(), expected.copy()
    rows = [row for row, place in enumerate(places) if readable(state.lengths[place], keys.dimension)]
    if not weights or not rows:
        return raw, clean
    parts = [state.stems_of(int(places[row])) for row in rows]
    numbers = np.unique(np.concatenate([stems for stems, _ in parts]))
    products = inner_products(
        keys.rows(list(weights)),
        keys.rows([state.stem_names.names[number] for number in numbers]),
        keys.dimension,
    )
    query = np.array(list(weights.values()))
    for row, (stems, note_weights) in zip(rows, parts, strict=True):
        length = state.lengths[places[row]]
        if not length:
            continue
        held = (products[:, np.searchsorted(numbers, stems)] * note_weights).sum(axis=1)
        scale = length * np.sqrt((query * query).sum())
        raw[row] = (query * held).sum() / scale
        clean[row] = (query * read_counts(held, length * noise(keys.dimension))).sum() / scale
    return raw, clean


def _lift(lengths: Values) -> Values:
    return np.asarray(lengths**_LENGTH_GIVEN_BACK)


def _vector_scores(cosines: Values, lengths: Values, best: float, floor: float) -> Values:
    """Cosines by length to the power 0.75 over the best of them, in [0, 1]; 0 where they are no evidence."""
    lifted = np.where(cosines >= floor, cosines, 0.0) * _lift(lengths)
    return np.minimum(lifted / best, 1.0) if best > 0 else np.zeros_like(lifted)


def _text_score(raw: float) -> float:
    return min(raw, _FULL_MARKS) / _FULL_MARKS


def _boosts(state: State, settings: SearchSettings) -> Values:
    return (
        settings.durable_boost * state.durable
        + settings.own_boost * state.own
        + settings.confidence_boost * state.confidence
    )


def _blends(vector_scores: Values, raw_text: Values, boosts: Values, settings: SearchSettings) -> Values:
    text = settings.text_weight * (np.minimum(raw_text, _FULL_MARKS) / _FULL_MARKS)
    return np.asarray(settings.vector_weight * vector_scores + text + boosts)


def _best(values: Values, places: Places, state: State, count: int) -> Places:
    """Those of the places with the highest values, best first, at most `count`; equals as the state prefers."""
    if len(places) > count > 0:
        threshold = np.partition(values[places], len(places) - count)[len(places) - count]
        places = places[values[places] >= threshold]
    order = np.lexsort((state.preference[places], -values[places]))
    return np.asarray(places[order[:count]])
