"""The words of a query as the memory knows them: each with the stems that it stands for, how it may be spelt, what
means the same, and what all of that weighs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Final, Literal, NamedTuple

from core.search.query_syntax import Query, QueryStem
from core.search.state import State
from core.settings import Synonyms
from core.text.languages import LANGUAGES, respelt, serves_grammar, stem_in
from core.text.tokens import stem, unspaced_runs, words

_MOST: Final = 8
_LOOKED_AT: Final = 200
# Two forms of one word begin alike: with so many letters, so much of the typed word, and so much of both.
_FORM_LETTERS: Final = 4
FORM_SHARE: Final = 0.6
SURE_FORM_SHARE: Final = 0.75
_SHORTEST_BEGINNING: Final = 2
_SHORTEST_BEGUN: Final = 4
_SHORTEST_MISSPELT: Final = 4
_SHORTEST_PART: Final = 4
_SHORTEST_HEAD: Final = 3
# Scripts from here on, Hangul the first, write whole syllables.
_SYLLABLES: Final = "\u1100"
# One slip in five letters, two in ten. Closer words are as often another word as the same one misspelt.
_LIKENESS: Final = 0.78
# From this length on a word may also begin with the wrong letter; "sailing" must not find "mailing".
_SURE_LENGTH: Final = 8
_BEGINNING_LIKENESS: Final = 0.7

Found = list[tuple[str, float]]


def forms(word: str, known: Sequence[str], least: float = FORM_SHARE) -> Found:
    """Words that begin as a word does ("config", "configuration"), with the share of letters they begin with.

    known: sorted. least: the share of letters that two forms have in common. Best first, at most 8, without the word
    itself; so for all of these functions.
    """
    if len(word) < _FORM_LETTERS:
        return []
    found: Found = []
    for other in _beginning(word[: max(_FORM_LETTERS, int(len(word) * least))], known):
        share = 2 * _common(word, other) / (len(word) + len(other))
        if share >= least and other != word:
            found.append((other, share))
    return _best(found)


def beginnings(word: str, known: Sequence[str]) -> Found:
    """Words of which a word may be the beginning, still being typed, with a likeness in (0.7, 1]."""
    if len(word) < _SHORTEST_BEGINNING and not _says_much(word):
        return []
    share = 1 - _BEGINNING_LIKENESS
    return _best(
        [
            (other, _BEGINNING_LIKENESS + share * len(word) / len(other))
            for other in _beginning(word, known)
            if other != word
        ]
    )


def may_be_begun(word: str) -> bool:
    """Whether an unknown word is long enough to be taken for one half typed wherever it stands in a query."""
    return len(word) >= _SHORTEST_BEGUN and word.isalpha()


def misspelt(word: str, known: Sequence[str]) -> Found:
    """Words that a word may be a misspelling of.

    Their likeness is one minus the share of letters to change, swap, add or drop (optimal string alignment).
    """
    if len(word) < _SHORTEST_MISSPELT:
        return []
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extract(
        word, _choices(word, known), scorer=OSA.normalized_similarity, score_cutoff=_LIKENESS, limit=_MOST,
        processor=None,
    )  # fmt: skip
    return _best([(other, likeness) for other, likeness, _ in found if other != word])


def holding(word: str, known: Sequence[str]) -> Found:
    """Words that end in a word, as compounds do ("gres" of "postgres"), with the share of their letters that it is.

    What comes before must be long enough to be a word of its own: "rust" is no part of "trust". Syllables and
    Chinese characters may stand anywhere in a word.
    """
    if _says_much(word):
        return _best([(other, len(word) / len(other)) for other in known if word in other and other != word])
    # Most words end no other, which one look into all of them tells sooner than a look into each.
    if len(word) < _SHORTEST_PART or f"{word}\n" not in "\n".join([*known, ""]):
        return []
    return _best(
        [
            (other, len(word) / len(other))
            for other in known
            if other.endswith(word) and len(other) - len(word) >= _SHORTEST_HEAD
        ]
    )


def _says_much(word: str) -> bool:
    """Whether a character of the word is no letter but a syllable or a word, as in Korean and Chinese."""
    return any(char >= _SYLLABLES for char in word)


def _beginning(letters: str, known: Sequence[str]) -> Iterator[str]:
    """Words that begin with some letters, the first 200."""
    for other in islice(known, bisect_left(known, letters), bisect_left(known, letters) + _LOOKED_AT):
        if not other.startswith(letters):
            return
        yield other


def _common(one: str, other: str) -> int:
    """With how many equal letters two words begin."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def _best(found: Found) -> Found:
    return sorted(found, key=lambda item: (-item[1], item[0]))[:_MOST]


def _choices(word: str, known: Sequence[str]) -> Sequence[str]:
    if len(word) >= _SURE_LENGTH:
        return known
    return known[bisect_left(known, word[0]) : bisect_left(known, chr(min(ord(word[0]) + 1, 0x10FFFF)))]


TABLE: Final = Path(__file__).with_name("neighbours.txt")
# How like each other words are held to be that somebody says mean the same.
_OWN: Final = 0.95
_MOST_REMEMBERED: Final = 1_024
_DIGITS: Final = "0123456789"


class Meaning(NamedTuple):
    """An English stem that means nearly what another does, with a word of it and the likeness, in (0, 1].

    Notes in other languages hold the word under stems of their own: `State.stems_of` has them.
    It is looked for beside the words of the query, for less, and never counts as a word of the query itself.
    """

    stem: str
    word: str
    likeness: float


ByStem = Mapping[str, tuple[Meaning, ...]]


def meanings(name: str, given: Iterable[Meaning] = ()) -> tuple[Meaning, ...]:
    """What means nearly the same as an English stem, each stem once, the likest first.

    given: a person's own synonyms, which go before the table.
    """
    found = {one.stem: one for one in (*_near(name), *given)}
    found.pop(name, None)
    return tuple(sorted(found.values(), key=lambda one: (-one.likeness, one.stem)))


# The table


@cache
def _lines() -> Sequence[str]:
    """The lines of the table in order; read at the first query, in some milliseconds."""
    return TABLE.read_text(encoding="ascii").splitlines()


def _entries(name: str) -> list[str]:
    """What stands in a stem's line: its commonest word, then its neighbours. None of it without a line."""
    lines = _lines()
    at = bisect_left(lines, f"{name} ")
    return lines[at].split(" ")[1:] if at < len(lines) and lines[at].startswith(f"{name} ") else []


@lru_cache(maxsize=_MOST_REMEMBERED)
def _near(name: str) -> tuple[Meaning, ...]:
    near = ((entry.rstrip(_DIGITS), entry) for entry in _entries(name)[1:])
    return tuple(Meaning(other, _entries(other)[0], int(entry[len(other) :]) / 100) for other, entry in near)


# A person's own


@lru_cache(maxsize=8)
def by_stem(given: Synonyms) -> ByStem:
    """What a person's own synonyms give for each stem of a word in any language, both ways.

    Of several words that together stand for one, each gives its part.
    """
    found: dict[str, dict[str, Meaning]] = {}
    for one, others in given:
        for other in others:
            for asked, meant in ((words(one), words(other)), (words(other), words(one))):
                made = {stem(word): Meaning(stem(word), word, _OWN / len(meant) ** 0.5) for word in meant}
                for name in {stem_in(word, language) for word in asked for language in LANGUAGES}:
                    found.setdefault(name, {}).update(made)
    return {name: tuple(entries.values()) for name, entries in found.items()}


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
# Of the words that mean the same so many are looked for: of each word of a query, those that tell most.
_MOST_MEANINGS: Final = 12
# A character of a script without spaces is looked for in so many pairs, the commonest.
_MOST_PAIRS: Final = 256


@dataclass(frozen=True, slots=True)
class Expansion:
    """A stem that a typed word stands for, with the word of the memory that showed it.

    vector: its weight in the query's vector, rarity included. text: its weight in the text score, rarity included; 0
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
    in the text score alone, and in nothing that says how much of the query a note covers.
    """

    stem: str
    word: str
    times: int
    rarity: float
    readings: tuple[Expansion, ...]
    meanings: tuple[Expansion, ...] = ()


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
        else replace(term, meanings=_synonyms(state, term, asked, meaning_weight, own))
        for term in made
    )


def _synonyms(
    state: State, term: Term, asked: Set[str], meaning_weight: float, own: ByStem
) -> tuple[Expansion, ...]:
    """Words of the memory that mean nearly what a typed word does, but for those that the query stands for itself."""
    names = state.stems_of(term.word)
    rarity = state.rarity(sum(map(state.count, names)))
    synonyms = chain.from_iterable(own.get(name, ()) for name in names)
    made = []
    for meaning in meanings(term.stem, synonyms):
        held = [name for name in state.stems_of(meaning.word) if state.count(name) and name not in asked]
        if held:
            known = state.rarity(sum(map(state.count, held)))
            text = term.times * meaning_weight * meaning.likeness**2 * min(rarity, known)
            made.append((text, meaning, held))
    made.sort(key=lambda found: -found[0])
    return tuple(
        Expansion(name, meaning.word, _MEANING, meaning.likeness, 0.0, text)
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
        if len(typed.word) == 1 and not typed.word.isascii() and unspaced_runs().match(typed.word):
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
        Expansion(name, word, "word", 1.0, full, full)
        if word == typed.word
        else Expansion(name, word, "spelling", 1.0, full * respelt_share, full * respelt_share)
        for name, word in held.items()
    ]
    others = _by_stem(state, forms(typed.word, state.words), held)
    more = _by_stem(state, beginnings(typed.word, state.words), held) if typing else {}

    def weight(name: str, likeness: float) -> float:
        return typed.times * _FORM_WEIGHT * likeness**2 * min(rarity, state.rarity(state.count(name)))

    readings = [
        Expansion(name, word, kind, likeness, weight(name, likeness), 0.0)
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
    readings = tuple(Expansion(name, held[name], "part", 1.0, weight, weight) for name in commonest)
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
) -> list[Expansion]:
    made = []
    for name, (word, likeness) in found.items():
        rarity = typed.times * state.rarity(state.count(name))
        made.append(Expansion(name, word, kind, likeness, likeness**2 * rarity, text(likeness) * rarity))
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
