"""The words of a query as the memory knows them: each with the stems that it stands for, and what they weigh."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, Literal

from core.search.meanings import ByStem, meanings, tags_alike
from core.search.query import Query, QueryStem
from core.search.spelling import SURE_FORM_SHARE, Found, beginnings, forms, holding, may_be_begun, misspelt
from core.search.state import State
from core.text.languages import respelt, serves_grammar, stem_in
from core.text.tokens import stem, unspaced_runs

Kind = Literal["word", "form", "beginning", "spelling", "part", "meaning"]

_FORM: Final[Kind] = "form"
_BEGINNING: Final[Kind] = "beginning"
_MEANING: Final[Kind] = "meaning"
# What another form of a known word counts for beside the word itself (measured).
_FORM_WEIGHT: Final = 0.6
# Spellings so much less like the word than the best one are not meant by it.
_SAME_LIKENESS: Final = 0.02
# So many unknown words are read as others; so many stems make up the query's vector, the heaviest.
_MOST_UNKNOWN: Final = 4
_MOST_STEMS: Final = 64
_MOST_REMEMBERED: Final = 1_024
# Of the words that mean the same so many are looked for: of each word of a query, those that tell most.
_MOST_MEANINGS: Final = 6
# A character of a script without spaces is looked for in so many pairs, the commonest.
_MOST_PAIRS: Final = 256


@dataclass(frozen=True, slots=True)
class Reading:
    """A stem that a typed word stands for, with the word of the memory that showed it.

    vector: its weight in the query's vector, rarity included. text: its weight in the text leg, rarity included; 0
    when it does not count there.
    """

    stem: str
    word: str
    kind: Kind
    likeness: float
    vector: float
    text: float


@dataclass(frozen=True, slots=True)
class Term:
    """A typed word with its readings. rarity: what it counts for in how much of the query a note covers.

    meanings: other words that mean nearly the same. A note that holds one of these does not hold the word: they count
    in the text leg alone, and in nothing that says how much of the query a note covers.
    """

    stem: str
    word: str
    times: int
    rarity: float
    readings: tuple[Reading, ...]
    meanings: tuple[Reading, ...] = ()


def terms(state: State, query: Query, meaning_weight: float, own: ByStem) -> tuple[Term, ...]:
    """The words of a query that carry meaning, each with what it stands for in this memory.

    meaning_weight: of words that mean the same, 0 for none of them. own: synonyms that somebody gave.
    """
    made = _as_typed(state, query)
    if not meaning_weight:
        return made
    asked = {reading.stem for term in made for reading in term.readings}
    # A function word of another language is an English word that is not meant: "die", "war".
    return tuple(
        term
        if serves_grammar(term.word, (query.language,))
        else replace(term, meanings=_meant(state, term, asked, meaning_weight, own))
        for term in made
    )


def _meant(
    state: State, term: Term, asked: Set[str], meaning_weight: float, own: ByStem
) -> tuple[Reading, ...]:
    """Words of the memory that mean nearly what a typed word does, but for those that the query stands for itself."""
    names = state.stems_of(term.word)
    rarity = state.rarity(sum(map(state.count, names)))
    synonyms = chain.from_iterable(own.get(name, ()) for name in names)
    made = []
    for meaning in meanings(term.stem, (*tags_alike(state, term.word), *synonyms)):
        held = [name for name in state.stems_of(meaning.word) if state.count(name) and name not in asked]
        if held:
            known = state.rarity(sum(map(state.count, held)))
            text = term.times * meaning_weight * meaning.likeness**2 * min(rarity, known)
            made.append((text, meaning, held))
    made.sort(key=lambda found: -found[0])
    return tuple(
        Reading(name, meaning.word, _MEANING, meaning.likeness, 0.0, text)
        for text, meaning, held in made[:_MOST_MEANINGS]
        for name in held
    )


def _as_typed(state: State, query: Query) -> tuple[Term, ...]:
    made: list[Term] = []
    unknown = 0
    for typed in query.stems:
        held = _held(state, typed)
        if not held and serves_grammar(typed.word, state.languages):
            continue
        # Where there is no German, other spellings are other words ("poet", "pot") unless nothing else is meant.
        if not held or "german" in state.languages:
            held = {**_respelt(state, typed), **held}
        unknown += not held
        if len(typed.word) == 1 and unspaced_runs().match(typed.word):
            made.append(_character(state, typed))
        elif held:
            made.append(_once_known(state, typed, held, typed.word == query.unfinished))
        elif unknown <= _MOST_UNKNOWN:
            made.append(_unknown(state, typed, typed.word == query.unfinished))
        else:
            made.append(Term(typed.stem, typed.word, typed.times, state.rarity(0), ()))
    return tuple(made)


def vector_weights(made: Sequence[Term]) -> dict[str, float]:
    """The stems of the query's vector with their weights, at most 64, the heaviest."""
    weights: dict[str, float] = {}
    for term in made:
        for reading in term.readings:
            weights[reading.stem] = weights.get(reading.stem, 0.0) + reading.vector
    heaviest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return dict(heaviest[:_MOST_STEMS])


def _held(state: State, typed: QueryStem) -> dict[str, str]:
    """The stems under which notes hold a typed word, each of its language; a note holds it under one."""
    return {name: typed.word for name in (typed.stem, *typed.others) if state.count(name)}


def _respelt(state: State, typed: QueryStem) -> dict[str, str]:
    """Stems that notes hold of a word with its umlauts written the other way; with these words."""
    found: dict[str, str] = {}
    for word in respelt(typed.word):
        place = bisect_left(state.words, word)
        if state.words[place : place + 1] != [word]:
            continue
        for language in ("english", *state.languages):
            name = stem_in(word, language)
            if state.count(name):
                found.setdefault(name, word)
    return found


def _once_known(state: State, typed: QueryStem, held: Mapping[str, str], typing: bool) -> Term:
    """The same as `_known`, read once for a state: one query has the words of another."""
    found = state.known_terms.get((typed, typing))
    if found is None:
        if len(state.known_terms) >= _MOST_REMEMBERED:
            state.known_terms.clear()
        found = state.known_terms[typed, typing] = _known(state, typed, held, typing)
    return found


def _known(state: State, typed: QueryStem, held: Mapping[str, str], typing: bool) -> Term:
    rarity = state.rarity(sum(map(state.count, held)))
    full = typed.times * rarity
    # Another spelling never stands before the word itself: "Michael" is not "Michal".
    respelt_share = _FORM_WEIGHT if typed.word in held.values() else 1.0
    own = [
        Reading(name, word, "word", 1.0, full, full)
        if word == typed.word
        else Reading(name, word, "spelling", 1.0, full * respelt_share, full * respelt_share)
        for name, word in held.items()
    ]
    others = _by_stem(state, forms(typed.word, state.words), held)
    more = _by_stem(state, beginnings(typed.word, state.words), held) if typing else {}

    def weight(name: str, likeness: float) -> float:
        return typed.times * _FORM_WEIGHT * likeness**2 * min(rarity, state.rarity(state.count(name)))

    readings = [
        Reading(name, word, kind, likeness, weight(name, likeness), 0.0)
        for found, kind in ((others, _FORM), (more, _BEGINNING))
        for name, (word, likeness) in found.items()
        if not (kind == _BEGINNING and name in others)
    ]
    return Term(typed.stem, typed.word, typed.times, rarity, (*own, *readings))


def _character(state: State, typed: QueryStem) -> Term:
    """A character of a script without spaces: in notes it stands in pairs, with the one before or after it."""
    held = {stem(word): word for word in state.words if typed.word in word}
    counts = {name: state.count(name) for name in held}
    commonest = sorted(counts, key=lambda name: (-counts[name], name))[:_MOST_PAIRS]
    rarity = state.rarity(sum(counts.values()))
    weight = typed.times * rarity
    readings = tuple(Reading(name, held[name], "part", 1.0, weight, weight) for name in commonest)
    return Term(typed.stem, typed.word, typed.times, rarity, readings)


def _unknown(state: State, typed: QueryStem, typing: bool) -> Term:
    """A word that no note holds in any form stands for those that are written like it."""
    half_typed = typing or may_be_begun(typed.word)
    begun = _by_stem(state, beginnings(typed.word, state.words)) if half_typed else {}
    # What may be half typed is no misspelling: "migra" is "migrate" and not "mira".
    wrong = [] if begun and may_be_begun(typed.word) else misspelt(typed.word, state.words)
    spelt = _by_stem(state, wrong)
    readings = _read(state, typed, begun, _BEGINNING, lambda likeness: likeness**2)
    best = max((likeness for _, likeness in spelt.values()), default=0.0)
    meant = sum(likeness >= best - _SAME_LIKENESS for _, likeness in spelt.values())
    readings += _read(
        state,
        typed,
        {name: found for name, found in spelt.items() if name not in begun},
        "spelling",
        lambda likeness: likeness**2 / meant**0.5 if likeness >= best - _SAME_LIKENESS else 0.0,
    )
    if not readings:
        others = _by_stem(state, forms(typed.word, state.words, SURE_FORM_SHARE))
        readings = _read(state, typed, others, _FORM, lambda likeness: _FORM_WEIGHT * likeness**2)
    if not readings:
        parts = _by_stem(state, holding(typed.word, state.words))
        readings = _read(state, typed, parts, "part", lambda likeness: likeness)
    text = max((reading.text for reading in readings), default=0.0) / typed.times
    return Term(typed.stem, typed.word, typed.times, text or state.rarity(0), tuple(readings))


def _read(
    state: State,
    typed: QueryStem,
    found: Mapping[str, tuple[str, float]],
    kind: Kind,
    text: Callable[[float], float],
) -> list[Reading]:
    made = []
    for name, (word, likeness) in found.items():
        rarity = typed.times * state.rarity(state.count(name))
        made.append(Reading(name, word, kind, likeness, likeness**2 * rarity, text(likeness) * rarity))
    return made


def _by_stem(state: State, found: Found, without: Collection[str] = ()) -> dict[str, tuple[str, float]]:
    """Stems that a note holds, each with the likest of its words."""
    made: dict[str, tuple[str, float]] = {}
    for word, likeness in found:
        for language in ("english", *state.languages):
            name = stem_in(word, language)
            if name not in without and name not in made and state.count(name):
                made[name] = (word, likeness)
    return made
