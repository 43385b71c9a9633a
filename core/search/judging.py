"""Whether a search found what was asked for: one judgement of the whole answer, by a small fitted rule.

The rule looks at the note that ranks best: how much of the query it covers, whether it holds more than one word that
tells something, and how much of the query is its title. Words count by their rarity, everyday words less. The numbers
are fitted by `tools/judgement/fit.py` on the memories beside it and on the questions in `tests/recall_questions.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from core.model.judgement import Judgement
from core.search.documents import NO_WORD
from core.text.everyday import is_everyday
from core.text.languages import stem_in
from core.text.tokens import words

if TYPE_CHECKING:
    from core.search.ranking import Ranking
    from core.search.state import State
    from core.search.terms import Reading, Term

# What an everyday word weighs beside another one of equal rarity (measured).
_EVERYDAY: Final = 0.15
# All that a note holds beside its most telling word counts up to this share of the rarest word there can be.
_SECOND: Final = 0.35
_FEW_NOTES: Final = 20
_LEAST_COVERAGE: Final = 0.05
# A single word of a fact's value says little of what the fact is about: its key does.
_VALUE_ALONE: Final = 0.5
# How a word of a note may be one of the query. One that means nearly the same is evidence for this share (measured);
# from such a likeness on, as a person's own synonyms have it, for all of it.
_OWN_READINGS: Final = frozenset(("word", "form", "beginning", "spelling", "part"))
_MEANT: Final = 0.3
_AS_GOOD_FROM: Final = 0.9
# The fitted rule: the log odds that the best note answers, and from which likelihood on it is found, or is offered.
INTERCEPT: Final = 0.560
COVERAGE: Final = 2.134
MORE_THAN_ONE: Final = 2.318
TITLED: Final = 1.363
FOUND_FROM: Final = 0.426
OFFERED_FROM: Final = 0.120
# That the whole query stands in a note word for word, or is its title, leaves no doubt.
_VERBATIM: Final = 0.95


class Evidence(NamedTuple):
    """What speaks for a note as the answer. coverage: share of the query's weight that it holds, in [0, 1].

    second: what it holds beside its most telling word, in [0, 1]; 0 for a single word. titled: share of the query's
    weight that stands in its title, in [0, 1].
    """

    coverage: float
    second: float
    titled: float


def likelihood(ranking: Ranking, row: int) -> float:
    """How likely the note of a row answers the query if it ranks best, in [0, 1]."""
    if ranking.text.title[row] or ranking.text.phrase[row]:
        return _VERBATIM
    return by_rule(evidence(ranking, row))


def by_rule(found: Evidence) -> float:
    """What the fitted rule makes of some evidence, in [0, 1]; 0 for a note that holds nothing of the query."""
    if not found.coverage:
        return 0.0
    odds = INTERCEPT + sum(
        weight * value
        for weight, value in zip((COVERAGE, MORE_THAN_ONE, TITLED), features(found), strict=True)
    )
    return 1.0 / (1.0 + math.exp(-odds))


def features(found: Evidence) -> tuple[float, float, float]:
    """The numbers that the rule weighs: of coverage the logarithm, for the first tenth says more than the last."""
    return math.log(found.coverage + _LEAST_COVERAGE), found.second, found.titled


def judged(best: float) -> Judgement:
    """The judgement of an answer whose best note answers so likely."""
    if best >= FOUND_FROM:
        return "found"
    return "not sure" if best >= OFFERED_FROM else "nothing"


def evidence(ranking: Ranking, row: int) -> Evidence:
    """What speaks for the note of a row; words that mean nearly what the query holds count little."""
    state = ranking.state
    names = state.stems.names
    stems = {names[number] for number in state.document(row).stems if number != NO_WORD}
    language = state.language(row)
    titled = {stem_in(word, language) for word in words(state.notes[row].title, compounds=True)}
    asked, title = 0.0, 0.0
    held: list[float] = []
    for term in ranking.terms:
        own = [reading for reading in term.readings if reading.kind in _OWN_READINGS and reading.text > 0]
        weight = _weight(ranking, term, own)
        asked += weight
        held.append(
            weight * max((_sureness(one) for one in (*own, *term.meanings) if one.stem in stems), default=0.0)
        )
        title += weight * max((_sureness(one) for one in own if one.stem in titled), default=0.0)
    if not asked:
        return Evidence(float(ranking.text.coverage[row] > 0), 0.0, 0.0)
    rarest = math.log(max(state.total, _FEW_NOTES) + 1)
    second = min((sum(held) - max(held)) / rarest / _SECOND, 1.0)
    coverage = sum(held) / asked
    if state.notes[row].is_fact and not title:
        coverage *= _VALUE_ALONE + (1 - _VALUE_ALONE) * second
    return Evidence(coverage, second, title / asked)


def _weight(ranking: Ranking, term: Term, own: list[Reading]) -> float:
    """What a word of the query weighs: its rarity, or that of what it is taken for."""
    state = ranking.state
    known = max(state.count(term.stem), sum(state.count(one.stem) for one in own if one.kind == "word"))
    if known or not own:
        rarity = _rarity(state, known)
    else:
        rarity = max(_sureness(one) * _rarity(state, state.count(one.stem)) for one in own)
    return rarity * (_EVERYDAY if is_everyday(term.stem) else 1.0)


def _rarity(state: State, count: int) -> float:
    """The rarity of what so many notes hold as `State.rarity` has it, in a memory of some notes at least: among very
    few every known word would seem common, and say less than one that is not there.
    """
    total = max(state.total, _FEW_NOTES)
    return math.log(1.0 + (total - min(count, total) + 0.5) / (count + 0.5))


def _sureness(reading: Reading) -> float:
    if reading.kind == "word":
        return 1.0
    near = reading.kind == "meaning" and reading.likeness < _AS_GOOD_FROM
    return (_MEANT if near else 1.0) * reading.likeness**2
