"""Ranks all notes for one query: blends the parts of each score and judges how likely each note answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np

from core.model.judgement import Judgement
from core.search.documents import NO_WORD, haystack, text_tokens
from core.search.explaining import Parts, reasons
from core.search.highlight import matched_words
from core.search.query_syntax import Query
from core.search.results import (
    Breakdown,
    ExactWords,
    Explanation,
    Filters,
    Hit,
    NoteRank,
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
    pair_weights,
    score_associations,
    score_links,
    score_text,
    score_vectors,
    stem_weights,
)
from core.search.signals import MOST_RANKED, NO_SIGNALS, Ranked, Signal, Signals, SignalSource, after
from core.search.state import Holdings, Mask, Numbers, State, Values
from core.search.terms import Expansion, Term, by_stem, terms
from core.settings import SearchSettings, Synonyms
from core.text.languages import is_common, is_everyday, stem_in
from core.text.tokens import words

if TYPE_CHECKING:
    from core.search.phase_vectors import Vectors

# Whether a search found what was asked for is one judgement of the whole answer, by a small fitted rule. It looks at
# the note that ranks best: how much of the query it covers, how telling is what it holds, whether that is more than one
# word, and how much of the query is its title. A long note holds more by chance. Words count by their rarity, in the
# memory and in general; a common one that no note holds counts more than any, for it is what was asked and the memory
# does not tell of. The numbers are fitted by `tools/judgement/fit.py` on the memories beside it and on the questions in
# `tests/kits/recall_questions.py`.

# What an everyday word, and a common one, weigh beside another one of equal rarity (measured).
_EVERYDAY: Final = 0.15
_COMMON: Final = 0.6
# A common word that no note holds in any form: it is the plain name of what was asked, and a memory that told of that
# would hold it (measured).
_COMMON_NOWHERE: Final = 1.3
# A lone letter, such as the s of "Anna's".
_LETTER: Final = 0.01
# In a memory of so many notes how rare a word is there counts as much as how rare it is in general.
_OWN_RARITY: Final = 2000
# What any word weighs; the rest of its weight is its rarity in the memory, beside that of the rarest there can be.
_LEAST_WEIGHT: Final = 0.3
# All that a note holds beside its most telling word counts up to this weight.
_SECOND: Final = 0.35
# All that a note holds counts up to this weight: "when did she pass the test" asks for little that tells.
_ENOUGH: Final = 0.8
# What it holds beside that word is little below this share.
_LITTLE: Final = 0.3
_FEW_NOTES: Final = 20
_LEAST_COVERAGE: Final = 0.05
# A note of more stems is long; from so many on it is not longer (the rule was fitted on few such).
_USUAL_LENGTH: Final = 30
_LONG: Final = 120
# What each further e-fold of notes takes from the odds, from a small memory up to a large one. Fitted with the rest it
# takes so much more that memories of many notes alike, which were not fitted on, answer too seldom (measured).
_MANY_NOTES: Final = -0.25
_USUAL_NOTES: Final = 50
_SMALL: Final = 30
_LARGE: Final = 300
# A single word of a fact's value says little of what the fact is about: its key does. But a port, a version or another
# name with a digit in it, of so many characters at least, is the one thing that was asked.
_VALUE_ALONE: Final = 0.4
# Several of them say so much of it.
_OF_VALUES: Final = 0.6
_LEAST_NAME: Final = 3
# A title of so many words with which the text begins is but its beginning, and such a share of the text speaks for it.
_LEAST_BEGINNING: Final = 4
_UNTITLED: Final = 0.5
# How a word of a note may be one of the query. One that means nearly the same is evidence for this share (measured);
# from such a likeness on, as a person's own synonyms have it, for all of it.
_OWN_READINGS: Final = frozenset(("word", "form", "beginning", "spelling", "part"))
_SYNONYM: Final = 0.3
_AS_GOOD_FROM: Final = 0.9
# The fitted rule: the log odds that the best note answers, and from which likelihood on it is found, or is offered.
INTERCEPT: Final = -1.637
COVERAGE: Final = 1.814
MORE_THAN_ONE: Final = 1.825
TITLED: Final = 1.194
LONG_NOTE: Final = -0.756
HELD: Final = 2.819
LONE: Final = -0.645
# The program prints .470; a little more, for a memory of a note or two, where any word is rare.
FOUND_FROM: Final = 0.480
OFFERED_FROM: Final = 0.071
# That the whole query stands in a note word for word, or is its title, leaves no doubt.
_VERBATIM_LIKELIHOOD: Final = 0.95


class Evidence(NamedTuple):
    """What speaks for a note as the answer. coverage: share of the query's weight that it holds, in [0, 1].

    second: what it holds beside its most telling word, in [0, 1]; 0 for a single word. titled: share of the query's
    weight that stands in its title, in [0, 1]; half of its coverage where it has no title of its own. length: how many
    stems the note has. notes: how many the memory has. held: the weight that it holds, in [0, 1]; 1 for enough. lone:
    whether it holds little but one word, while no note holds another one that was asked for ("Anna's birthday").
    """

    coverage: float
    second: float
    titled: float
    length: int = _USUAL_LENGTH
    notes: int = _USUAL_NOTES
    held: float = 1.0
    lone: bool = False


class Judge:
    """Judges the notes of one ranking; the words of its query are weighed once."""

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking
        self._words = [_weighed(ranking, term) for term in ranking.terms]
        self._query_weight = sum(weight for weight, _ in self._words)
        self._nowhere = bool(nowhere(ranking.terms))
        self._names = [_is_name(term.word) for term in ranking.terms]

    def likelihood(self, row: int) -> float:
        """How likely the note of a row answers the query if it ranks best, in [0, 1]."""
        text = self._ranking.text
        return _VERBATIM_LIKELIHOOD if text.title[row] or text.phrase[row] else by_rule(self.evidence(row))

    def evidence(self, row: int) -> Evidence:
        """What speaks for the note of a row; words that mean nearly what the query holds count little."""
        state = self._ranking.state
        if not self._query_weight:
            return Evidence(float(self._ranking.text.coverage[row] > 0), 0.0, 0.0, held=0.0)
        held = self._held(row)
        titled = self._titled(row, sum(held))
        second = min((sum(held) - max(held)) / _SECOND, 1.0)
        coverage = sum(held) / self._query_weight
        named = any(weight for weight, is_name in zip(held, self._names, strict=True) if is_name)
        if state.notes[row].is_fact and coverage and not named:
            coverage *= _VALUE_ALONE + (1 - _VALUE_ALONE) * max(_OF_VALUES * second, titled / sum(held))
        return Evidence(
            coverage=coverage,
            second=second,
            titled=titled / self._query_weight,
            length=len(state.document(row).stems),
            notes=state.total,
            held=min(sum(held) / _ENOUGH, 1.0),
            lone=self._nowhere and second < _LITTLE,
        )

    def likelihood_of_text(
        self, stems: Collection[str], title: Collection[str], length: int, *, verbatim: bool
    ) -> float:
        """How likely a text that is no note answers if it ranks best, in [0, 1]. stems, title: of it and its title."""
        if verbatim:
            return _VERBATIM_LIKELIHOOD
        if not self._query_weight:
            return 0.0
        terms = self._ranking.terms

        def held_in(present: Collection[str]) -> list[float]:
            # What no note holds may stand in a text beside them.
            known = ({term.stem: 1.0, **some} for term, (_, some) in zip(terms, self._words, strict=True))
            return [
                weight * max((sure for name, sure in some.items() if name in present), default=0.0)
                for some, (weight, _) in zip(known, self._words, strict=True)
            ]

        held = held_in(stems)
        lacking = {term.stem for term, found in zip(terms, held, strict=True) if not found}
        second = min((sum(held) - max(held)) / _SECOND, 1.0)
        return by_rule(
            Evidence(
                coverage=sum(held) / self._query_weight,
                second=second,
                titled=sum(held_in(title)) / self._query_weight,
                length=length,
                notes=self._ranking.state.total,
                held=min(sum(held) / _ENOUGH, 1.0),
                lone=second < _LITTLE and any(not is_everyday(name) for name in lacking),
            )
        )

    def _held(self, row: int) -> list[float]:
        """Of each word of the query the weight that a note holds."""
        names = self._ranking.state.stems.names
        stems = {names[number] for number in self._ranking.state.document(row).stems if number != NO_WORD}
        return self._common(stems)

    def _titled(self, row: int, held: float) -> float:
        """The weight that a note's title holds; of a note without one of its own a share of what the note holds."""
        note = self._ranking.state.notes[row]
        title = words(note.title, compounds=True)
        if len(title) >= _LEAST_BEGINNING and note.content.lstrip().startswith(note.title.strip(" .\u2026")):
            return _UNTITLED * held
        return sum(self._common({stem_in(word, self._ranking.state.language(row)) for word in title}))

    def _common(self, stems: set[str]) -> list[float]:
        return [
            weight * max((sure for name, sure in readings.items() if name in stems), default=0.0)
            for weight, readings in self._words
        ]


def by_rule(found: Evidence) -> float:
    """What the fitted rule makes of some evidence, in [0, 1]; 0 for a note that holds nothing of the query."""
    if not found.coverage:
        return 0.0
    weights = (COVERAGE, MORE_THAN_ONE, TITLED, LONG_NOTE, HELD, LONE)
    pairs = zip(weights, features(found), strict=True)
    odds = INTERCEPT + by_size(found) + sum(weight * value for weight, value in pairs)
    return 1.0 / (1.0 + math.exp(-odds))


def by_size(found: Evidence) -> float:
    """What the size of the memory adds to the log odds: the more notes, the more one of them holds by chance."""
    return _MANY_NOTES * math.log(min(max(found.notes, _SMALL), _LARGE) / _USUAL_NOTES)


def features(found: Evidence) -> tuple[float, ...]:
    """The numbers that the rule weighs, one for each weight: of coverage and length the logarithms, for the first tenth
    says more than the last.
    """
    length = min(max(found.length, _USUAL_LENGTH), _LONG)
    return (
        math.log(found.coverage + _LEAST_COVERAGE),
        found.second,
        found.titled,
        math.log(length / _USUAL_LENGTH),
        found.held,
        float(found.lone),
    )


def judged(best: float) -> Judgement:
    """The judgement of an answer whose best note answers so likely."""
    if best >= FOUND_FROM:
        return "found"
    return "not sure" if best >= OFFERED_FROM else "nothing"


def nowhere(asked: Sequence[Term]) -> tuple[str, ...]:
    """The words of a query, everyday ones aside, that no note of the memory holds in any form."""
    return tuple(term.word for term in asked if not (_own(term) or is_everyday(term.stem)))


def spellings(asked: Sequence[Term]) -> tuple[tuple[str, str], ...]:
    """Words of a query that were searched as others that are written like them, each with the likest of those."""
    read = ((term.word, max(_own(term), key=lambda one: one.text, default=None)) for term in asked)
    return tuple((word, one.word) for word, one in read if one is not None and one.kind == "spelling")


def _own(term: Term) -> list[Expansion]:
    return [reading for reading in term.readings if reading.kind in _OWN_READINGS and reading.text > 0]


def _weighed(ranking: Ranking, term: Term) -> tuple[float, dict[str, float]]:
    """What a word of the query weighs: its rarity, or that of what it is taken for; and the stems that it may stand
    for, each with how sure that is.
    """
    state = ranking.state
    own = _own(term)
    known = max(state.count(term.stem), sum(state.count(one.stem) for one in own if one.kind == "word"))
    if known or not own:
        rarity = _rarity(state, known)
    else:
        rarity = max(_sureness(one) * _rarity(state, state.count(one.stem)) for one in own)
    general = _general(term.stem, known=bool(own))
    if known and len(term.stem) > 1:
        general += (1.0 - general) * state.total / (state.total + _OWN_RARITY)
    weight = (_LEAST_WEIGHT + (1 - _LEAST_WEIGHT) * rarity) * general
    return weight, {one.stem: _sureness(one) for one in (*term.meanings, *own)}


def _is_name(word: str) -> bool:
    return len(word) >= _LEAST_NAME and any(map(str.isdigit, word))


def _general(stem: str, known: bool) -> float:
    """What a word weighs beside another one of equal rarity. known: whether a note holds it in any form."""
    if len(stem) == 1 and stem.isascii() and stem.isalpha():
        return _LETTER
    if is_everyday(stem):
        return _EVERYDAY
    if not is_common(stem):
        return 1.0
    return _COMMON if known else _COMMON_NOWHERE


def _rarity(state: State, count: int) -> float:
    """The rarity of what so many notes hold as `State.rarity` has it, beside that of the rarest, in a memory of
    some notes at least: among very few every known word would seem common, and say less than one that is not there.
    """
    total = max(state.total, _FEW_NOTES)
    return math.log(1.0 + (total - min(count, total) + 0.5) / (count + 0.5)) / math.log(total + 1)


def _sureness(reading: Expansion) -> float:
    if reading.kind == "word":
        return 1.0
    near = reading.kind == "meaning" and reading.likeness < _AS_GOOD_FROM
    return (_SYNONYM if near else 1.0) * reading.likeness**2


# So many of the best are read from their phase vectors, where they are made; the others as these are expected to be.
_MEASURED: Final = 100
# For each word that a query has less than so many, the line rises by a step (measured).
_MANY_WORDS: Final = 5
_FLOOR_STEP: Final = 0.05
_VERBATIM: Final = 0.75
_TINY: Final = 1e-12


@dataclass(frozen=True)
class Ranking:
    """All scores of one query, arrays over the rows of the state.

    best_vector: what the vector score is measured against. first_blends: before associations and links.
    associative: that part after its weight; associates: the rows it comes from. links: for rows that a good one links
    to, its blend and row. exact: of exact words that were asked for, the rows that hold them. measured: the
    cosines of rows whose phase vectors were read. signals: by row, what is known beside the words; cut_short: not all
    of it was looked up in time; more: it takes a moment. candidates: rows of the hits, in no order.
    """

    state: State
    query: Query
    settings: SearchSettings
    filters: Filters
    terms: Sequence[Term]
    holdings: Holdings
    text: TextScores
    vector: VectorScores
    best_vector: float
    text_scores: Values
    vector_scores: Values
    boosts: Values
    first_blends: Values
    associative: Values
    associates: Numbers
    links: Mapping[int, tuple[float, int]]
    exact: Mapping[str, Exact]
    measured: Mapping[int, float]
    signals: Mapping[int, Sequence[Signal]]
    cut_short: bool
    more: bool
    blends: Values
    candidates: Numbers

    @cached_property
    def superposed(self) -> tuple[tuple[int, Mapping[int, float], Mapping[tuple[int, int], float]], ...]:
        """The associates, each with the weights of its stems and pairs."""
        documents = [(row, self.state.document(row)) for row in self.associates.tolist()]
        return tuple((row, stem_weights(one), pair_weights(one)) for row, one in documents)

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
        held = tuple(ExactWords(text, len(among & one.rows)) for text, one in self.exact.items())
        return SearchResult(
            hits,
            judged(self.best),
            held,
            spellings=spellings(self.terms),
            nowhere=nowhere(self.terms),
            cut_short=self.cut_short,
            more=self.more,
        )

    @cached_property
    def best(self) -> float:
        """How likely the best hit answers, in [0, 1]; 0 without one."""
        first = self._ordered(1)
        return self._likelihood(first[0]) if first else 0.0

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
            float(self.associative[row]),
            settings.link_weight * self.links.get(row, (0.0, 0))[0],
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

    def note_rank(self, row: int | None) -> NoteRank:
        """How many hits cover enough of the query, and where the note of a row stands if it does."""
        covering = self.candidates[self._covers_enough[self.candidates]]
        found = row is not None and row in covering
        return NoteRank(len(covering), self._rank(row) if row is not None and found else 0)

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
            missing=self._query_words(row).missing,
            floor=_floor(self.settings, self.terms),
            needed=needed,
            judgement=judged(self.best),
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
        found = [one for one in term.readings if row in self.holdings.of(one.stem).rows]
        if not found or any(one.kind in ("word", "form") for one in found):
            return ""
        return max(found, key=lambda one: one.text).word

    def _holds(self, row: int, readings: Sequence[Expansion]) -> bool:
        return any(row in self.holdings.of(reading.stem).rows for reading in readings)

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
        cosine = self.measured.get(row)
        if cosine is None:
            cosine = self.vector.cosine(self.state, row)
        breakdown = Breakdown(
            **parts._asdict(),
            blend=_blend(*parts),
            vector_score=float(self.vector_scores[row]),
            text_score=float(self.text_scores[row]),
            # A cosine read from a phase vector may lie beyond by its noise.
            raw_vector=min(max(cosine, -1.0), 1.0),
            measured=row in self.measured,
            coverage=float(self.text.coverage[row]),
            reached=float(self.text.reached[row]),
            likelihood=self._likelihood(row),
            score=score,
            _raw_text=lambda: _original_text_score(self.query, haystack(note)),
            _matched=lambda: matched_words(
                note,
                self.state.language(row),
                self._looked_for(row),
                self.query,
                bool(self.text.phrase[row]),
            ),
            _query_words=lambda: self._query_words(row),
            _reasons=lambda: reasons(self, row, parts),
        )
        return Hit(note=note, score=score, rank=rank, breakdown=breakdown, sure=sure)


def rank(
    state: State,
    query: Query,
    filters: Filters,
    settings: SearchSettings,
    vectors: Vectors,
    explained: int | None = None,
    stopped: Callable[[], bool] | None = None,
    synonyms: Synonyms = (),
    source: SignalSource | None = None,
) -> Ranking | None:
    """Scores every note and finds those that answer the query. None when it was stopped.

    A note is a hit when it has something of the query or holds it word for word, or when words of it mean what was
    typed: one the same, or several nearly, for enough of the query (`relevance_floor`). Likeness to other hits and
    links make none. Scores do not depend on filters, only on whether hidden notes take part.
    explained: a row that is scored as if it took part in any case; the scores of the others are as without it.
    synonyms: a person's own, as the settings have them. source: of signals.
    """
    asked_to_stop = _latch(stopped)
    pool = state.alive if filters.include_hidden else state.alive & ~state.hidden
    made = terms(state, query, settings.meaning_weight, by_stem(synonyms))
    holdings = Holdings(state)
    text = score_text(state, query, made, holdings, pool, asked_to_stop)
    if asked_to_stop():
        return None
    vector = score_vectors(state, query, made, holdings, settings)
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
    associative, associates, links = _gains(state, settings, first, candidates, outsider)
    linking = np.zeros(len(state))
    for row, (blend, _) in links.items():
        linking[row] = settings.link_weight * blend
    held = exact_rows(state, query, filters.preferred, holdings, first, candidates, outsider)
    exact = np.zeros(len(state))
    for one in held.values():
        exact[list(one.rows)] += one.worth
    chosen = greatest(state, first + associative + linking + exact, candidates, _MEASURED)
    rows, read = vectors.cosines(state, chosen if outsider is None else _with(chosen, outsider), vector)
    if len(rows):
        scaled = read * state.lengths[rows] * vector.length * state.scales[rows]
        vector_scores[rows] = np.clip(scaled / max(best_vector, _TINY), 0.0, 1.0)
    blends = _blend(settings.vector_weight * vector_scores, texts, boosts, associative, linking, exact, 0.0)
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
        candidates = np.union1d(candidates, np.array(raised, dtype=np.intp))
    return Ranking(
        state=state,
        query=query,
        settings=settings,
        filters=filters,
        terms=made,
        holdings=holdings,
        text=text,
        vector=vector,
        best_vector=best_vector,
        text_scores=text_scores,
        vector_scores=vector_scores,
        boosts=boosts,
        first_blends=first,
        associative=associative,
        associates=associates,
        links=links,
        exact=held,
        measured=dict(zip(rows.tolist(), read.tolist(), strict=True)),
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


def _gains(
    state: State, settings: SearchSettings, blends: Values, rows: Numbers, outsider: int | None = None
) -> tuple[Values, Numbers, dict[int, tuple[float, int]]]:
    """What other notes add to some rows: by likeness to the best (with the rows of these), and by links.

    outsider: a row that gets what it would get if it were one of them, and the likeness is told from its side.
    """
    associative, associates = np.zeros(len(state)), rows[:0]
    if settings.associative_weight:
        likeness, associates = score_associations(state, blends, rows)
        associative = settings.associative_weight * likeness
    links = score_links(state, blends + associative, rows) if settings.link_weight else {}
    if outsider is not None:
        others, associates, more = _gains(state, settings, blends, _with(rows, outsider))
        associative[outsider] = others[outsider]
        links.update({row: link for row, link in more.items() if row == outsider})
    return associative, associates, links


_Part = TypeVar("_Part", float, Values)


def _blend(
    vector: _Part,
    text: _Part,
    boost: _Part,
    associative: _Part,
    links: _Part,
    exact: _Part,
    signals: _Part | float,
) -> _Part:
    """The sum of the parts, always in this order, so that what is shown is exactly what is ranked by."""
    return vector + text + boost + associative + links + exact + signals


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


def _with(rows: Numbers, row: int) -> Numbers:
    return np.union1d(rows, np.array([row], dtype=np.intp))


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
