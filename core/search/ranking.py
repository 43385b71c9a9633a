"""Ranks all notes for one query: blends the parts of each score and judges how likely each note answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Final, TypeVar

import numpy as np

from core.search.documents import haystack, text_tokens
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
_VERBATIM: Final = 0.75
_TINY: Final = 1e-12


@dataclass(frozen=True)
class Ranking:
    """All scores of one query, arrays over the rows of the state.

    best_vector: what the vector score is measured against. exact: of exact words that were asked for, the rows that
    hold them. signals: by row, what is known beside the words; cut_short: not all of it was looked up in time; more: it
    takes a moment. candidates: rows of the hits, in no order.
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
    exact: Mapping[str, Exact]
    signals: Mapping[int, Sequence[Signal]]
    cut_short: bool
    more: bool
    blends: Values
    candidates: Numbers

    def result(self, limit: int) -> SearchResult:
        """The best hits, at most `limit`, and the judgement of them all."""
        rows = self._ordered(limit)
        scores = self._shown_scores(rows)
        above = self._above_the_line(rows)
        hits = tuple(
            self._hit(row, rank, score, rank <= above)
            for rank, (row, score) in enumerate(zip(rows, scores, strict=True), 1)
        )
        among = set(self.candidates.tolist()) if self.exact else set()
        held = tuple((text, len(among & one.rows)) for text, one in self.exact.items())
        return SearchResult(
            hits,
            judged(*map(self._likelihood, self._ordered(CLAIMED_AMONG))),
            held,
            spellings=spellings(self.terms),
            nowhere=nowhere(self.terms),
            cut_short=self.cut_short,
            more=self.more,
        )

    @cached_property
    def best(self) -> float:
        """How likely the likeliest of the best hits answers, in [0, 1]; 0 without one."""
        return max(map(self._likelihood, self._ordered(CLAIMED_AMONG)), default=0.0)

    @cached_property
    def judge(self) -> Judge:
        """What judges the notes of this ranking."""
        return Judge(self)

    def _likelihood(self, row: int) -> float:
        told = max((signal.likelihood for signal in self.signals.get(row, ())), default=0.0)
        return max(self.judge.likelihood(row), told)

    def before_signals(self, row: int) -> float:
        """The blend of a row without its signals."""
        return _blend(*self._parts(row)[:-1], 0.0)

    def _parts(self, row: int) -> Parts:
        settings = self.settings
        parts = Parts(
            settings.vector_weight * float(self.vector_scores[row]),
            settings.text_weight * float(self.text_scores[row]),
            float(self.boosts[row]),
            sum(one.worth for one in self.exact.values() if row in one.rows),
            0.0,
        )
        known = self.signals.get(row)
        if not known:
            return parts
        before = _blend(*parts)
        return parts._replace(signals=after(known, before) - before)

    def _above_the_line(self, rows: Sequence[int]) -> int:
        """How many of the best rows stand above the line: none unless the search found something; then the best one
        and those after it, up to the first that covers too little.
        """
        if not rows or judged(self.best) != "found":
            return 0
        return 1 + sum(1 for _ in takewhile(self._covers_enough.__getitem__, rows[1:]))

    @cached_property
    def _covers_enough(self) -> Mask:
        text = self.text
        return text.phrase | text.title | text.same | (text.reached >= _floor(self.settings, self.terms))

    def explanation(self, row: int, shown: int) -> Explanation:
        """Why the note of a row stands where it does. shown: how many hits the asker sees."""
        obstacle = self._obstacle(row)
        rank = 0 if obstacle else self._rank(row)
        score = self._shown_scores([row])[0] if rank else 0.0
        cut = self._ordered(shown)
        above = self._above_the_line(self._ordered(rank)) if rank else 0
        needed = float(self.blends[cut[-1]]) if len(cut) >= max(shown, 1) else 0.0
        return Explanation(
            hit=self._hit(row, rank, score, 0 < rank <= above),
            total=len(self.candidates),
            obstacle=obstacle,
            floor=_floor(self.settings, self.terms),
            needed=needed,
            judgement=judged(*map(self._likelihood, self._ordered(CLAIMED_AMONG))),
            best=self.best,
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
        held = [term for term in self.terms if self._holds(row, term.readings)]
        return QueryWords(
            held=tuple(term.word for term in held),
            missing=tuple(term.word for term in self.terms if term not in held),
            guessed=tuple((term.word, word) for term in held if (word := self._guess(row, term))),
        )

    def _guess(self, row: int, term: Term) -> str:
        """The word of a row that a half typed or misspelt word counts as; "" where the row holds the word itself."""
        found = [one for one in term.readings if row in self.state.holding(one.stem).rows]
        if not found or any(one.kind in ("word", "form") for one in found):
            return ""
        return max(found, key=lambda one: one.text).word

    def _holds(self, row: int, readings: Sequence[Expansion]) -> bool:
        return any(row in self.state.holding(reading.stem).rows for reading in readings)

    def _looked_for(self, row: int) -> set[str]:
        """The stems of the query, and those that mean the same as a word that a row does not hold."""
        lacking = (term for term in self.terms if term.meanings and not self._holds(row, term.readings))
        return {*self.vector.weights, *(reading.stem for term in lacking for reading in term.meanings)}

    def _rank(self, row: int) -> int:
        better = int((self.blends[self.candidates] > self.blends[row]).sum())
        equals = self.candidates[self.blends[self.candidates] == self.blends[row]]
        return better + self.state.preferred(equals.tolist()).index(row) + 1

    def _ordered(self, limit: int) -> list[int]:
        """Rows of the hits, best first, at most `limit`; equals in the state's order of preference."""
        if limit <= 0:
            return []
        rows = greatest(self.state, self.blends, self.candidates, limit)
        ordered = self.state.preferred(rows.tolist())
        ordered.sort(key=lambda row: -self.blends[row])
        return ordered

    def _shown_scores(self, rows: Sequence[int]) -> list[float]:
        """Softmax over the best hits of all, for rows of hits."""
        if not rows:
            return []
        best = np.array([self.blends[row] for row in self._ordered(max(self.settings.softmax_over, 1))])
        temperature = max(self.settings.temperature, 1e-6)
        total = np.exp((best - best[0]) / temperature).sum()
        return [float(np.exp((self.blends[row] - best[0]) / temperature) / total) for row in rows]

    def _hit(self, row: int, rank: int, score: float, sure: bool) -> Hit:
        note = self.state.notes[row]
        parts = self._parts(row)
        breakdown = Breakdown(
            **parts._asdict(),
            blend=_blend(*parts),
            vector_score=float(self.vector_scores[row]),
            text_score=float(self.text_scores[row]),
            coverage=float(self.text.coverage[row]),
            reached=float(self.text.reached[row]),
            likelihood=self._likelihood(row),
            raw_vector=lambda: min(self.vector.cosine(self.state, row), 1.0),
            raw_text=lambda: _original_text_score(self.query, haystack(note)),
            _matched=lambda: matched_words(
                note,
                self.state.language(row),
                self._looked_for(row),
                self.query,
                bool(self.text.phrase[row]),
            ),
            query_words=lambda: self._query_words(row),
            _reasons=lambda: reasons(self, row, parts),
        )
        return Hit(note=note, score=score, rank=rank, breakdown=breakdown, sure=sure)


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
    synonyms: a person's own, as the settings have them. source: of signals.
    """
    asked_to_stop = _latch(stopped)
    pool = state.alive if filters.include_hidden else state.alive & ~state.hidden
    made = terms(state, query, settings.meaning_weight, by_stem(synonyms))
    text = score_text(state, query, made, pool, asked_to_stop)
    if asked_to_stop():
        return None
    vector = score_vectors(state, query, made, settings)
    meant = text.same | ((text.reached > 0) & (text.reached >= _floor(settings, made)))
    found = text.phrase | text.title | (text.coverage > 0) | meant
    candidates = np.flatnonzero(pool & found)
    text_scores = np.minimum(text.raw / max(_best(text.raw, candidates), _TINY), 1.0)
    best_vector = _best(vector.scaled, candidates)
    vector_scores = np.clip(vector.scaled / max(best_vector, _TINY), 0.0, 1.0)
    boosts = _boosts(state, settings)
    texts = settings.text_weight * text_scores
    first = settings.vector_weight * vector_scores + texts + boosts
    if asked_to_stop():
        return None
    outsider = explained if explained is not None and explained not in candidates else None
    held = exact_rows(state, query, filters.preferred, first, candidates, outsider)
    exact = np.zeros(len(state))
    for one in held.values():
        exact[list(one.rows)] += one.worth
    blends = _blend(settings.vector_weight * vector_scores, texts, boosts, exact, 0.0)
    told, signals = NO_SIGNALS, dict[int, Sequence[Signal]]()
    if source is not None:
        if asked_to_stop():
            return None
        own = text.phrase | text.title | text.same | (text.coverage > 0)
        told = _asked_signals(state, source, query.phrase, blends, text, own, candidates, outsider)
        signals = {state.rows[id]: some for id, some in told.of_notes.items() if some and id in state.rows}
        for row, given in signals.items():
            blends[row] = blends[row] + (after(given, float(blends[row])) - blends[row])
        raised = [row for row, given in signals.items() if pool[row] and any(one.at_least for one in given)]
        if raised:
            candidates = np.union1d(candidates, np.array(raised, dtype=np.intp))
    return Ranking(
        state=state,
        query=query,
        settings=settings,
        filters=filters,
        terms=made,
        text=text,
        vector=vector,
        best_vector=best_vector,
        text_scores=text_scores,
        vector_scores=vector_scores,
        boosts=boosts,
        exact=held,
        signals=signals,
        cut_short=told.cut_short,
        more=told.more,
        blends=blends,
        candidates=_admitted(state, candidates, filters),
    )


def _asked_signals(
    state: State,
    source: SignalSource,
    text: str,
    blends: Values,
    text_scores: TextScores,
    own: Mask,
    rows: Numbers,
    outsider: int | None,
) -> Signals:
    """What a source says. own: the rows that hold words of the query itself. outsider: a row beside the best."""
    best = sorted(greatest(state, blends, rows, MOST_RANKED).tolist(), key=lambda row: -blends[row])
    told = [*best, *(() if outsider is None else (outsider,))]
    covered = np.minimum(text_scores.coverage, 1.0)
    ranked = [
        Ranked(state.notes[row], float(blends[row]), bool(own[row]), float(covered[row])) for row in told
    ]
    return source.signals(text, ranked)


_Part = TypeVar("_Part", float, Values)


def _blend(
    vector: _Part,
    text: _Part,
    boost: _Part,
    exact: _Part,
    signals: _Part | float,
) -> _Part:
    """The sum of the parts, always in this order, so that what is shown is exactly what is ranked by."""
    return vector + text + boost + exact + signals


def _latch(stopped: Callable[[], bool] | None) -> Callable[[], bool]:
    """A question that goes on saying yes once it did: what was left undone must not pass for done."""
    said = False

    def asked() -> bool:
        nonlocal said
        said = said or (stopped is not None and stopped())
        return said

    return asked


def _admitted(state: State, rows: Numbers, filters: Filters) -> Numbers:
    if not filters.narrow:
        return rows
    return np.array([row for row in rows.tolist() if filters.admits(state.notes[row])], dtype=np.intp)


def _best(values: Values, rows: Numbers) -> float:
    """The greatest value of some rows, or of all when these have none."""
    return float(values[rows].max(initial=0.0)) or float(values.max(initial=0.0))


def _floor(settings: SearchSettings, asked: Sequence[Term]) -> float:
    """The coverage that stands above the line: the fewer words were typed, the more one of them has to say."""
    if not settings.relevance_floor:
        return 0.0
    return settings.relevance_floor + _FLOOR_STEP * max(0, _MANY_WORDS - len(asked))


def _boosts(state: State, settings: SearchSettings) -> Values:
    return np.asarray(
        settings.durable_boost * state.durable
        + settings.own_boost * state.own
        + settings.confidence_boost * state.confidence
    )


def _original_text_score(query: Query, text: str) -> float:
    """0.75 for the whole query standing in the text, plus the share of the query's tokens that stand there."""
    held = set(text_tokens(text))
    share = sum(token in held for token in query.tokens) / max(len(query.tokens), 1)
    return _VERBATIM * query.stands_in(text) + share
