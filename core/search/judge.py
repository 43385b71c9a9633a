"""Judges how likely the best note of a ranking answers: one fitted rule over what speaks for it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from core.model.judgement import Judgement
from core.search.documents import NO_WORD
from core.search.state import State
from core.search.terms import Expansion, Term
from core.text.languages import is_common, is_everyday, stem_in
from core.text.tokens import words

if TYPE_CHECKING:
    from core.search.ranking import Ranking

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
