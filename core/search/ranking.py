"""Ranks all notes for one query: blends the parts of each score and judges how likely each note answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Final

import numpy as np

from core.model.judgement import Judgement
from core.search.explaining import Parts, reasons
from core.search.highlight import matched_words
from core.search.judge import CLAIMED_AMONG, Judge, judged, nowhere, spellings
from core.search.query_syntax import Query
from core.search.results import (
    Breakdown,
    Explanation,
    Filters,
    Hit,
    Obstacle,
    QueryWords,
    SearchResult,
)
from core.search.scorers import (
    TINY,
    Exact,
    TextScores,
    VectorScores,
    exact_rows,
    greatest,
    score_text,
    score_vectors,
)
from core.search.signals import MOST_RANKED, NO_SIGNALS, Ranked, Signal, Signals, SignalSource, after
from core.search.state import Mask, Numbers, State, Values
from core.search.terms import Expansion, Term, by_stem, terms
from core.settings import SearchSettings, Synonyms

# For each word that a query has less than so many, the line rises by a step (measured).
_MANY_WORDS: Final = 5
_FLOOR_STEP: Final = 0.05


@dataclass(frozen=True)
class Ranking:
    """All scores of one query, arrays over the rows of the state.

    best_vector: what the vector score is measured against. exact: of exact words that were asked for, the rows that
    hold them. signals: by row, what is known beside the words; told: all that a source said. candidates: rows of the
    hits, in no order.
    """

    state: State
    query: Query
    settings: SearchSettings
    filters: Filters
    terms: Sequence[Term]
    text: TextScores
    vector: VectorScores
    best_vector: float
    text_scores: Values
    vector_scores: Values
    boosts: Values
    blends: Values
    candidates: Numbers
    exact: Mapping[str, Exact] = field(default_factory=dict)
    signals: Mapping[int, Sequence[Signal]] = field(default_factory=dict)
    told: Signals = NO_SIGNALS

    def result(self, limit: int) -> SearchResult:
        """The best hits, at most `limit`, and the judgement of them all."""
        rows = self.ordered(limit)
        above = self._above_the_line(rows)
        among = set(self.candidates.tolist()) if self.exact else set()
        return SearchResult(
            hits=tuple(self._hit(row, place, above) for place, row in enumerate(rows, 1)),
            judgement=self.judgement,
            exact=tuple((text, len(among & one.rows)) for text, one in self.exact.items()),
            spellings=spellings(self.terms),
            nowhere=nowhere(self.terms),
            cut_short=self.told.cut_short,
            more=self.told.more,
        )

    @cached_property
    def judge(self) -> Judge:
        """What judges the notes of this ranking."""
        return Judge(self)

    @cached_property
    def _likelihoods(self) -> list[float]:
        """How likely each of the hits answers that may be claimed."""
        return [self._likelihood(row) for row in self.ordered(CLAIMED_AMONG)]

    @property
    def judgement(self) -> Judgement:
        """The judgement of all hits."""
        return judged(*self._likelihoods)

    def _likelihood(self, row: int) -> float:
        told = max((signal.likelihood for signal in self.signals.get(row, ())), default=0.0)
        return max(self.judge.likelihood(row), told)

    def _parts(self, row: int) -> Parts:
        parts = Parts(
            self.settings.vector_weight * float(self.vector_scores[row]),
            self.settings.text_weight * float(self.text_scores[row]),
            float(self.boosts[row]),
            sum(one.worth for one in self.exact.values() if row in one.rows),
            0.0,
        )
        before = sum(parts)
        return parts._replace(signals=after(self.signals.get(row, ()), before) - before)

    def _above_the_line(self, rows: Sequence[int]) -> int:
        """How many of the best rows stand above the line: none unless the search found something; then the best one
        and those after it, up to the first that covers too little.
        """
        if not rows or judged(max(self._likelihoods)) != "found":
            return 0
        text = self.text
        enough = text.phrase | text.title | text.same | (text.reached >= _floor(self.settings, self.terms))
        return 1 + sum(1 for _ in takewhile(enough.__getitem__, rows[1:]))

    def explanation(self, row: int, shown: int) -> Explanation:
        """Why the note of a row stands where it does. shown: how many hits the asker sees."""
        obstacle = self._obstacle(row)
        rank = 0 if obstacle else self.ordered(len(self.candidates)).index(row) + 1
        cut = self.ordered(shown)
        return Explanation(
            hit=self._hit(row, rank, self._above_the_line(self.ordered(rank))),
            total=len(self.candidates),
            obstacle=obstacle,
            floor=_floor(self.settings, self.terms),
            needed=float(self.blends[cut[-1]]) if len(cut) >= max(shown, 1) else 0.0,
            judgement=self.judgement,
            best=max(self._likelihoods, default=0.0),
            nowhere=nowhere(self.terms),
        )

    def _obstacle(self, row: int) -> Obstacle:
        note = self.state.notes[row]
        if self.query.empty or not (self.terms or self.query.is_phrase or self.text.title[row]):
            return "nothing asked"
        if note.hidden and not self.filters.include_hidden:
            return "hidden"
        if self.filters.narrow and not self.filters.admits(note):
            return "filters"
        if row in self.candidates:
            return ""
        return "too little in common" if self.text.reached[row] else "nothing in common"

    def _query_words(self, row: int) -> QueryWords:
        held = [term for term in self.terms if self._held(row, term.readings)]
        return QueryWords(
            held=tuple(term.word for term in held),
            missing=tuple(term.word for term in self.terms if term not in held),
            guessed=tuple((term.word, word) for term in held if (word := self._guess(row, term))),
        )

    def _held(self, row: int, readings: Sequence[Expansion]) -> list[Expansion]:
        return [one for one in readings if row in self.state.holding(one.stem).rows]

    def _guess(self, row: int, term: Term) -> str:
        """The word of a row that a half typed or misspelt word counts as; "" where the row holds the word itself."""
        found = self._held(row, term.readings)
        exact = any(one.kind in ("word", "form") for one in found)
        return "" if exact else max(found, key=lambda one: one.text).word

    def _looked_for(self, row: int) -> set[str]:
        """The stems of the query, and those that mean the same as a word that a row does not hold."""
        lacking = (term for term in self.terms if term.meanings and not self._held(row, term.readings))
        return {*self.vector.weights, *(reading.stem for term in lacking for reading in term.meanings)}

    def ordered(self, limit: int) -> list[int]:
        """Rows of the hits, best first, at most `limit`; equals in the state's order of preference."""
        if limit <= 0:
            return []
        rows = greatest(self.state, self.blends, self.candidates, limit)
        return sorted(self.state.preferred(rows.tolist()), key=lambda row: -self.blends[row])

    @cached_property
    def _softmax(self) -> tuple[float, float, float]:
        """The best blend, the temperature, and the sum of the softmax over the best hits of all."""
        best = np.array([self.blends[row] for row in self.ordered(max(self.settings.softmax_over, 1))])
        temperature = max(self.settings.temperature, 1e-6)
        return float(best[0]), temperature, float(np.exp((best - best[0]) / temperature).sum())

    def _score(self, row: int) -> float:
        best, temperature, total = self._softmax
        return float(np.exp((self.blends[row] - best) / temperature) / total)

    def _hit(self, row: int, rank: int, above: int) -> Hit:
        """The note of a row with its rank, 0 for no hit. above: how many of the best stand above the line."""
        note, parts = self.state.notes[row], self._parts(row)
        score = self._score(row) if rank else 0.0
        breakdown = Breakdown(
            **parts._asdict(),
            blend=sum(parts),
            vector_score=float(self.vector_scores[row]),
            text_score=float(self.text_scores[row]),
            coverage=float(self.text.coverage[row]),
            reached=float(self.text.reached[row]),
            likelihood=self._likelihood(row),
            _matched=lambda: matched_words(
                note, self.state.language(row), self._looked_for(row), self.query, bool(self.text.phrase[row])
            ),
            query_words=lambda: self._query_words(row),
            _reasons=lambda: reasons(self, row, parts),
        )
        return Hit(note=note, score=score, rank=rank, breakdown=breakdown, sure=0 < rank <= above)


def rank(
    state: State,
    query: Query,
    filters: Filters,
    settings: SearchSettings,
    explained: int | None = None,
    stopped: Callable[[], bool] | None = None,
    synonyms: Synonyms = (),
    source: SignalSource | None = None,
) -> Ranking | None:
    """Scores every note and finds those that answer the query. None when it was stopped.

    A note is a hit when it has something of the query or holds it word for word, or when words of it mean what was
    typed: one the same, or several nearly, for enough of the query (`relevance_floor`). Scores do not depend on
    filters, only on whether hidden notes take part.
    explained: a row that is scored as if it took part in any case; the scores of the others are as without it.
    stopped: goes on saying yes once it did. synonyms: a person's own, as the settings have them. source: of signals.
    """
    stopped = stopped or (lambda: False)
    pool = state.alive if filters.include_hidden else state.alive & ~state.hidden
    made = terms(state, query, settings.meaning_weight, by_stem(synonyms))
    text = score_text(state, query, made, pool, stopped)
    if stopped():
        return None
    vector = score_vectors(state, query, made, settings)
    meant = (text.reached > 0) & (text.reached >= _floor(settings, made))
    candidates = np.flatnonzero(pool & (text.own | meant))
    text_scores = np.minimum(text.raw / max(_best(text.raw, candidates), TINY), 1.0)
    best_vector = _best(vector.scaled, candidates)
    vector_scores = np.clip(vector.scaled / max(best_vector, TINY), 0.0, 1.0)
    boosts = settings.durable_boost * state.durable + settings.own_boost * state.own
    boosts = boosts + settings.confidence_boost * state.confidence
    blends = settings.vector_weight * vector_scores + settings.text_weight * text_scores + boosts
    scores = (text, vector, best_vector, text_scores, vector_scores, boosts, blends)
    ranking = Ranking(state, query, settings, filters, made, *scores, candidates)
    return None if stopped() else _with_more_than_words(ranking, pool, explained, stopped, source)


def _with_more_than_words(
    ranking: Ranking,
    pool: Mask,
    explained: int | None,
    stopped: Callable[[], bool],
    source: SignalSource | None,
) -> Ranking | None:
    """A ranking with what exact words and signals are worth, of what the filters admit. None when it was stopped."""
    state, query, text, filters = ranking.state, ranking.query, ranking.text, ranking.filters
    blends, candidates = ranking.blends.copy(), ranking.candidates
    outsider = explained if explained is not None and explained not in candidates else None
    exact = exact_rows(state, query, filters.preferred, blends, candidates, outsider)
    for one in exact.values():
        blends[list(one.rows)] += one.worth
    told, signals = NO_SIGNALS, dict[int, Sequence[Signal]]()
    if source is not None:
        if stopped():
            return None
        best = sorted(greatest(state, blends, candidates, MOST_RANKED).tolist(), key=lambda row: -blends[row])
        best += [] if outsider is None else [outsider]
        own, covered = text.own, np.minimum(text.coverage, 1.0)
        ranked = [
            Ranked(state.notes[at], float(blends[at]), bool(own[at]), float(covered[at])) for at in best
        ]
        told = source.signals(query.phrase, ranked)
        signals = {state.rows[id]: some for id, some in told.of_notes.items() if some and id in state.rows}
        for row, given in signals.items():
            blends[row] = after(given, float(blends[row]))
        raised = [row for row, given in signals.items() if pool[row] and any(one.at_least for one in given)]
        if raised:
            candidates = np.union1d(candidates, np.array(raised, dtype=np.intp))
    if filters.narrow:
        admitted = [row for row in candidates.tolist() if filters.admits(state.notes[row])]
        candidates = np.array(admitted, dtype=np.intp)
    return replace(ranking, exact=exact, signals=signals, told=told, blends=blends, candidates=candidates)


def _best(values: Values, rows: Numbers) -> float:
    """The greatest value of some rows, or of all when these have none."""
    return float(values[rows].max(initial=0.0)) or float(values.max(initial=0.0))


def _floor(settings: SearchSettings, asked: Sequence[Term]) -> float:
    """The coverage that stands above the line: the fewer words were typed, the more one of them has to say."""
    if not settings.relevance_floor:
        return 0.0
    return settings.relevance_floor + _FLOOR_STEP * max(0, _MANY_WORDS - len(asked))
