"""The scores of all notes for one query, part by part: text, exact words and vector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from core.model.note import Note
from core.search.documents import PAIR_SHARE, haystack, is_content_word, searched_fields
from core.search.query_syntax import Query, is_excluded, squeezed, stands
from core.search.state import Counts, Mask, Numbers, State, Values
from core.search.terms import Expansion, Term
from core.settings import SearchSettings
from core.text.languages import serves_grammar
from core.text.tokens import fold, words

# The text leg: BM25 against the best note, and the share of the query that a note covers; then what it is worth that
# the query stands in the note word for word, and that it is the note's title.
BM25_SHARE: Final = 0.7
COVERAGE_SHARE: Final = 0.3
PHRASE_BONUS: Final = 0.15
TITLE_BONUS: Final = 0.6
# What a word that means the same counts for where it is asked whether a note is a hit at all; from such a likeness on
# it alone makes one, as the typed word does (measured).
SYNONYM_SHARE: Final = 0.9
_SAME_FROM: Final = 0.66
# Notes looked into for the phrase, at most, those of greatest BM25.
_PHRASE_LOOKS: Final = 500
_ASKED_EVERY: Final = 1024
TINY: Final = 1e-12


class PairWeight(NamedTuple):
    """A pair of neighbouring stems in a query's vector, with its weight and the rows that hold it."""

    first: str
    second: str
    weight: float
    holding: Counts


@dataclass(frozen=True)
class TextScores:
    """Scores of the text score, arrays over rows: raw, not yet against the best, and the coverage in [0, 1].

    coverage: by the words of the query themselves. reached: with those that mean the same, as nearly as they do. same:
    rows that hold a word so near to a typed one that it stands for it.
    """

    raw: Values
    coverage: Values
    reached: Values
    same: Mask
    phrase: Mask
    title: Mask
    best_bm25: float

    @property
    def own(self) -> Mask:
        """Rows that hold something of the query, or are it."""
        return self.phrase | self.title | self.same | (self.coverage > 0)


@dataclass(frozen=True)
class VectorScores:
    """The query's vector and its inner products with those of the notes, scaled by their lengths; arrays over rows."""

    weights: Mapping[str, float]
    pairs: Sequence[PairWeight]
    scaled: Values


def score_text(
    state: State,
    query: Query,
    terms: Sequence[Term],
    taking_part: Mask,
    stopped: Callable[[], bool],
) -> TextScores:
    """BM25 and coverage of all rows, and where the query stands word for word.

    taking_part: rows that may be best. stopped: asked now and then; once it says yes, nothing here is of use.
    """
    bm25, covered, meant = (np.zeros(len(state)) for _ in range(3))
    same, held = np.zeros(len(state), dtype=bool), np.zeros(len(state), dtype=np.int32)
    needed = 0
    for term in terms:
        own = [(one, one.text / term.times) for one in term.readings if one.text]
        rows, gain, share = _holding_any(state, own)
        bm25[rows] += gain
        covered[rows] += share
        if term.meanings:
            near = [(one, one.likeness) for one in term.meanings]
            others, more, likeness = _holding_any(state, near, without=rows)
            # No note gains more by what means the same than any gains by the word itself, however long that is.
            bm25[others] += np.minimum(more, gain.min(initial=np.inf))
            meant[others] += SYNONYM_SHARE * likeness**2 * term.rarity
            same[others] |= likeness >= _SAME_FROM
        # Notes of one language are read without its function words, which may be words of another.
        half_typed = term.word == query.unfinished and len(terms) > 1
        if not half_typed and not serves_grammar(term.word, state.languages):
            needed += 1
            held[rows] += 1
    whole = np.flatnonzero(state.alive & (held == needed))
    phrase, title = _verbatim(state, query, whole, bm25 if terms else None, stopped)
    asked = sum(term.rarity for term in terms)
    coverage = covered / asked if asked else (phrase | title).astype(np.float64)
    reached = coverage + meant / asked if asked else coverage
    best = float(bm25[taking_part].max(initial=0.0)) or float(bm25.max(initial=0.0))
    raw = BM25_SHARE * bm25 / max(best, TINY) + COVERAGE_SHARE * coverage
    raw += PHRASE_BONUS * phrase + TITLE_BONUS * title
    return TextScores(np.where(reached > 0, raw, 0.0), coverage, reached, same, phrase, title, best)


def _holding_any(
    state: State, readings: Iterable[tuple[Expansion, float]], without: Numbers | None = None
) -> tuple[Numbers, Values, Values]:
    """The rows that hold some of the readings, what the best of these in each row adds to BM25, and the greatest of
    the shares that they come with. without: rows that gain nothing.
    """
    gains, shares = np.zeros(len(state)), np.zeros(len(state))
    for reading, share in readings:
        found = state.holding(reading.stem)
        gains[found.rows] = np.maximum(gains[found.rows], reading.text * state.bm25(found))
        shares[found.rows] = np.maximum(shares[found.rows], share)
    if without is not None:
        gains[without] = 0.0
    rows = np.flatnonzero(gains)
    return rows, gains[rows], shares[rows]


def score_vectors(
    state: State, query: Query, terms: Sequence[Term], settings: SearchSettings
) -> VectorScores:
    """The inner products of the query's vector with those of all rows.

    A vector is a weighted superposition of phase keys of random phase, one for each stem and pair. Different keys are
    orthogonal on average, so that the expected inner product of two superpositions is the sum over what both hold of
    the products of its weights: no key has to be made.
    """
    weights: dict[str, float] = {}
    for reading in chain.from_iterable(term.readings for term in terms):
        weights[reading.stem] = weights.get(reading.stem, 0.0) + reading.vector
    pairs = []
    for first, second in dict.fromkeys(chain.from_iterable(query.pairs)) if settings.pair_weight else ():
        holding = state.holding_pair(first, second)
        if len(holding.rows):
            weight = settings.pair_weight * state.rarity(len(holding.rows))
            pairs.append(PairWeight(first, second, weight, holding))
    shared = [(weight, state.holding(stem)) for stem, weight in weights.items()]
    shared += [(PAIR_SHARE * pair.weight, pair.holding) for pair in pairs]
    dots = np.zeros(len(state))
    for weight, found in shared:
        dots[found.rows] += weight * (1.0 + np.log(found.counts))
    return VectorScores(weights, pairs, dots * state.scales)


def greatest(state: State, values: Values, rows: Numbers, count: int) -> Numbers:
    """Those of the rows with the greatest values, at most `count`, in no order; of equals the preferred ones."""
    if len(rows) <= count:
        return rows
    threshold = np.partition(values[rows], len(rows) - count)[len(rows) - count]
    above = rows[values[rows] > threshold]
    equal = state.preferred(rows[values[rows] == threshold].tolist())[: count - len(above)]
    return np.concatenate((above, np.array(equal, dtype=np.intp)))


def _verbatim(
    state: State, query: Query, rows: Numbers, bm25: Values | None, stopped: Callable[[], bool]
) -> tuple[Mask, Mask]:
    """Where the query stands word for word, and of which notes it is the title, among rows that hold its words.

    bm25: the whole text is looked into of the best by it; None where the query has no words that tell, and all are.
    """
    phrase, title = np.zeros(len(state), dtype=bool), np.zeros(len(state), dtype=bool)
    if not query.phrase:
        return phrase, title
    notes, longest = state.notes, 2 * len(query.phrase)
    for row in rows.tolist():
        if len(notes[row].title) <= longest:
            title[row] = " ".join(fold(notes[row].title).split()) == query.phrase
    if query.is_phrase:
        read = rows if bm25 is None else greatest(state, bm25, _with_pairs(state, query, rows), _PHRASE_LOOKS)
        for place, row in enumerate(read.tolist()):
            if place % _ASKED_EVERY == 0 and stopped():
                break
            phrase[row] = _stands_in(query, notes[row])
    return phrase, title


def _stands_in(query: Query, note: Note) -> bool:
    """Whether a note holds the query word for word; signs are looked for as they are typed."""
    if query.signs:
        return any(query.signs in field for field in searched_fields(note))
    return query.stands_in(haystack(note))


def _with_pairs(state: State, query: Query, rows: Numbers) -> Numbers:
    """Those of the rows that hold every pair of the query as some language has it, but for the last, which may be half
    typed.
    """
    found = rows[:0]
    for pairs in dict.fromkeys(query.pairs):
        held = rows
        for first, second in pairs[: -1 if query.unfinished else None]:
            held = np.intersect1d(held, state.holding_pair(first, second).rows, assume_unique=True)
        found = np.union1d(found, held)
    return found


# More than all other parts of a score: notes that hold the exact words come first. One word in quotation marks amid a
# sentence is most often a name or a placeholder of an example, and only tips the scales (measured).
_FIRST: Final = 1.5
_TIPPED: Final = 0.05
# Notes looked into for exact words, at most, the best.
_LOOKS: Final = 500


class Exact(NamedTuple):
    """The rows that hold some exact words, and what that adds to their scores."""

    rows: frozenset[int]
    worth: float


def exact_rows(
    state: State,
    query: Query,
    texts: Sequence[str],
    blends: Values,
    candidates: Numbers,
    outsider: int | None = None,
) -> dict[str, Exact]:
    """For each of some exact words the rows that hold them. outsider: a row that is looked into in any case."""
    quoted = {word for text in texts for word in words(text, compounds=True)}
    most = 2 * sum(word in quoted for word in query.words) >= len(query.words)
    made = dict[str, Exact]()
    for text in texts:
        read = greatest(state, blends, _with_words_of(text, state, candidates), _LOOKS).tolist()
        read += [] if outsider is None else [outsider]
        wanted = squeezed(text)
        rows = frozenset(row for row in read if stands(wanted, haystack(state.notes[row])))
        made[text] = Exact(rows, _FIRST if most or len(words(text)) > 1 else _TIPPED)
    return made


def is_excluded_by(state: State, text: str) -> bool:
    """Whether some visible note would be left out for some words. Of very many that hold the words some are read."""
    rows = _with_words_of(text, state, np.flatnonzero(state.alive & ~state.hidden))
    return any(is_excluded(text, haystack(state.notes[row])) for row in rows[:_LOOKS].tolist())


def _with_words_of(text: str, state: State, rows: Numbers) -> Numbers:
    """Those of the rows that hold each word of a text, in the language that they are in."""
    for word in set(words(text, compounds=True)):
        # Notes are read without the function words of their language.
        if is_content_word(word) and not serves_grammar(word, state.languages):
            held = np.unique(np.concatenate([state.holding(name).rows for name in state.stems_of(word)]))
            rows = np.intersect1d(rows, held, assume_unique=True)
    return rows
