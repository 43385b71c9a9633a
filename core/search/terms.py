"""The words of a query as the memory knows them: each with the stems that it stands for, how it may be spelt, what
means the same, and what all of that weighs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Final, Literal, NamedTuple

from core.search.documents import is_content_word
from core.search.query_syntax import Query, QueryStem
from core.search.state import State
from core.settings import Synonyms
from core.text.languages import LANGUAGES, is_everyday, listed_words, respelt, serves_grammar, stem_in
from core.text.tokens import fold, runs, stem, unspaced_runs, words

# Words written alike, of so many are looked at and so many are read.
_MOST, _LOOKED_AT = 8, 200
# A shorter word is no other form and no misspelling of another one, nor half typed but at the end of a query.
_SHORTEST: Final = 4
_SHORTEST_BEGINNING: Final = 2
# Two forms of one word begin alike, with such a share of the letters of both; of an unknown word with more, and of a
# short one with most.
FORM_SHARE: Final = 0.6
SURE_FORM_SHARE: Final = 0.75
_LONG_FORM_SHARE: Final = 0.7
# Scripts from here on, Hangul the first, write whole syllables.
_SYLLABLES: Final = "\u1100"
# One slip in five letters, two in ten. Closer words are as often another word as the same one misspelt.
_LIKENESS: Final = 0.78
# From this length on a word may also begin with the wrong letter; "sailing" must not find "mailing".
_SURE_LENGTH: Final = 8
_BEGINNING_LIKENESS: Final = 0.7

# A word that is typed without its vowels.
_VOWELS: Final = frozenset("aeiouy")
_SHORTEST_BARE: Final = 3
_BARE_LIKENESS: Final = 0.85

# What makes another word of one without changing much of what it means.
_PREFIXES: Final = ("re", "de", "auto", "multi")
_PREFIXED_LIKENESS: Final = 0.9

Found = list[tuple[str, float]]


def forms(word: str, known: Sequence[str], least: float = FORM_SHARE) -> Found:
    """Words that begin as a word does ("config", "configuration"), with the share of letters they begin with.

    known: sorted. least: the share of letters that two forms have in common. Best first, at most 8, without the word
    itself; so for all of these functions.
    """
    if len(word) < _SHORTEST:
        return []
    begun = _beginning(word[: max(_SHORTEST, int(len(word) * least))], known)
    found = ((other, 2 * _common(word, other) / (len(word) + len(other))) for other in begun if other != word)
    return _best(one for one in found if one[1] >= least)


def beginnings(word: str, known: Sequence[str]) -> Found:
    """Words of which a word may be the beginning, still being typed, with a likeness in (0.7, 1]."""
    if len(word) < _SHORTEST_BEGINNING and not _is_syllables(word):
        return []
    begun = (other for other in _beginning(word, known) if other != word)
    rest = 1 - _BEGINNING_LIKENESS
    return _best((other, _BEGINNING_LIKENESS + rest * len(word) / len(other)) for other in begun)


def may_be_begun(word: str) -> bool:
    """Whether an unknown word is long enough to be taken for one half typed wherever it stands in a query; Korean words
    have endings that a question leaves out.
    """
    return word.isalpha() and (len(word) >= _SHORTEST or _is_syllables(word))


def _is_syllables(word: str) -> bool:
    return any(char >= _SYLLABLES for char in word)


def misspelt(word: str, known: Sequence[str]) -> Found:
    """Words that a word may be a misspelling of.

    Their likeness is one minus the share of letters to change, swap, add or drop (optimal string alignment).
    """
    if len(word) < _SHORTEST_BARE:
        return []
    alike = _same_initial(word, known)
    if _VOWELS.isdisjoint(word) and word.isalpha():
        return _best((one, _BARE_LIKENESS) for one in alike if _without_vowels(one) == word != one)
    if len(word) < _SHORTEST:
        return []
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    if len(word) < _SURE_LENGTH:
        known = alike
        swapped = _rearranged(word, alike)
        if swapped and word.isalpha():
            return _best(
                (other, OSA.normalized_similarity(word, other)) for other in swapped if other != word
            )
    found = process.extract(
        word, known, scorer=OSA.normalized_similarity, score_cutoff=_LIKENESS, limit=_MOST, processor=None
    )
    return _best((other, likeness) for other, likeness, _ in found if other != word)


def _same_initial(word: str, known: Sequence[str]) -> Sequence[str]:
    end = chr(min(ord(word[0]) + 1, 0x10FFFF))
    return known[bisect_left(known, word[0]) : bisect_left(known, end)]


def _rearranged(word: str, known: Sequence[str]) -> list[str]:
    """Words, and singulars of words, of the letters of a word in another order."""
    letters, alike = sorted(word), _same_initial(word, known)
    singular = (other[:-1] for other in alike if other.endswith("s"))
    return [one for one in (*alike, *singular) if len(one) == len(word) and sorted(one) == letters]


def _without_vowels(word: str) -> str:
    """A word as it is typed in a hurry: "cmnd" for "command"."""
    bare = word[:1] + "".join(letter for letter in word[1:] if letter not in _VOWELS)
    return "".join(letter for place, letter in enumerate(bare) if bare[place - 1 : place] != letter)


def prefixed(word: str) -> Found:
    """Words that are a word with "re" or the like before it, or without: "rebuild", "deduplicate"."""
    bare = word.removeprefix(_PREFIXES[0])
    found = [bare] if bare != word and len(bare) >= _SHORTEST and not is_usual(word) else []
    found += [f"{one}{word}" for one in _PREFIXES if len(word) >= _SHORTEST]
    return [(one, _PREFIXED_LIKENESS) for one in found]


def _beginning(letters: str, known: Sequence[str]) -> Iterator[str]:
    """Words that begin with some letters, the first 200."""
    for other in islice(known, first := bisect_left(known, letters), first + _LOOKED_AT):
        if not other.startswith(letters):
            return
        yield other


def _common(one: str, other: str) -> int:
    """With how many equal letters two words begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _best(found: Iterable[tuple[str, float]]) -> Found:
    return sorted(found, key=lambda item: (-item[1], item[0]))[:_MOST]


TABLE: Final = Path(__file__).with_name("neighbours.txt")
# How like each other words are held to be that somebody says mean the same.
_OWN: Final = 0.95
_MOST_REMEMBERED: Final = 1_024


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
    near = ((entry.rstrip("0123456789"), entry) for entry in _entries(name)[1:])
    return tuple(Meaning(other, _entries(other)[0], int(entry[len(other) :]) / 100) for other, entry in near)


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

# What another form of a known word counts for beside the word itself (measured).
_FORM_WEIGHT: Final = 0.6
# Spellings so much less like the word than the best one are not meant by it.
_SAME_LIKENESS: Final = 0.02
# So many unknown words of a query are read as others.
_MOST_UNKNOWN: Final = 4
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
    made = tuple(_as_typed(state, query))
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
        Expansion(name, meaning.word, "meaning", meaning.likeness, 0.0, text)
        for text, meaning, held in made[:_MOST_MEANINGS]
        for name in held
    )


def _as_typed(state: State, query: Query) -> Iterator[Term]:
    """The words of a query as a state reads them, each once: one query has the words of another."""
    unknown = 0
    for typed in query.stems:
        # The stems under which notes hold the word, each of its language; a note holds it under one.
        held = {name: typed.word for name in (typed.stem, *typed.others) if state.count(name)}
        if not held and serves_grammar(typed.word, state.languages):
            continue
        # Where there is no German, other spellings are other words ("poet", "pot") unless nothing else is meant.
        if not held or "german" in state.languages:
            other = _by_stem(state, [(word, 1.0) for word in respelt(typed.word)])
            held = {**{name: word for name, (word, _) in other.items()}, **held}
        unknown += not held
        if not held and unknown > _MOST_UNKNOWN:
            yield Term(typed.stem, typed.word, typed.times, state.rarity(0), ())
            continue
        typing = typed.word == query.unfinished
        found = state.terms.get((typed, typing))
        if found is None:
            if len(state.terms) >= _MOST_REMEMBERED:
                state.terms.clear()
            if len(typed.word) == 1 and not typed.word.isascii() and unspaced_runs().match(typed.word):
                found = _character(state, typed)
            else:
                found = _known(state, typed, held) if held else _unknown(state, typed, typing)
            state.terms[typed, typing] = found
        yield found


def _known(state: State, typed: QueryStem, held: Mapping[str, str]) -> Term:
    """held: the stems under which notes hold the word, each with the word or another spelling of it."""
    rarity = state.rarity(sum(map(state.count, held)))
    full = typed.times * rarity
    # Another spelling never stands before the word itself: "Michael" is not "Michal".
    share = _FORM_WEIGHT if typed.word in held.values() else 1.0
    readings = [
        Expansion(name, word, "word", 1.0, full, full)
        if word == typed.word
        else Expansion(name, word, "spelling", 1.0, full * share, full * share)
        for name, word in held.items()
    ]
    for name, (word, likeness) in _by_stem(state, forms(typed.word, state.words), held).items():
        weight = typed.times * _FORM_WEIGHT * likeness**2 * min(rarity, state.rarity(state.count(name)))
        readings.append(Expansion(name, word, "form", likeness, weight, 0.0))
    return Term(typed.stem, typed.word, typed.times, rarity, tuple(readings))


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
    """A word that no note holds in any form stands for those that are written like it: half typed ("migra" is
    "migrate" and not "mira"), else misspelt, else in another form.
    """
    word, share = typed.word, 1.0
    kind: Kind = "beginning"
    begun = beginnings(word, state.words) if typing or may_be_begun(word) else []
    # Two letters that changed places are no beginning: "prot" is "port" and not "protocol".
    found = _by_stem(state, [] if begun and _rearranged(word, state.words) else begun)
    if not found:
        kind, found = "spelling", _by_stem(state, misspelt(word, state.words))
        least = max((likeness for _, likeness in found.values()), default=0.0) - _SAME_LIKENESS
        found = {name: one for name, one in found.items() if one[1] >= least}
        share = max(len(found), 1) ** -0.5
    if not found:
        kind, share = "form", _FORM_WEIGHT
        least = SURE_FORM_SHARE if len(word) < _SURE_LENGTH else _LONG_FORM_SHARE
        found = _by_stem(state, [*prefixed(word), *forms(word, state.words, least)])
    readings = []
    for name, (other, likeness) in found.items():
        weight = likeness**2 * typed.times * state.rarity(state.count(name))
        readings.append(Expansion(name, other, kind, likeness, weight, share * weight))
    text = max((reading.text for reading in readings), default=0.0) / typed.times
    return Term(typed.stem, word, typed.times, text or state.rarity(0), tuple(readings))


def _by_stem(state: State, found: Found, without: Collection[str] = ()) -> dict[str, tuple[str, float]]:
    """Stems that a note holds, each with the likest of its words."""
    made: dict[str, tuple[str, float]] = {}
    for word, likeness in found:
        for language in ("english", *state.languages):
            name = stem_in(word, language)
            if name not in without and name not in made and state.count(name):
                made[name] = (word, likeness)
    return made


# A word as several

_SHORTEST_HALF: Final = 3
# What German puts between the parts of a compound.
_LINKS: Final = ("", "s", "n", "es", "en")


def parted(state: State, word: str) -> list[str]:
    """An unknown word as what it stands for in the notes: two words that stand side by side there, what it abbreviates
    or is the German for, or the parts of a German compound; the word itself where it is none of these.
    """
    if not is_content_word(word) or serves_grammar(word, LANGUAGES) or is_everyday(stem(word)):
        return [word]
    halves = [(word[:at], word[at:]) for at in range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1)]
    for first, second in halves:
        for language in ("english", *state.languages):
            if len(state.holding_pair(stem_in(first, language), stem_in(second, language)).rows):
                return [first, second]
    if found := _same(state, word):
        return found
    for first, second in reversed(halves):
        last = _same(state, second) or ([second] if state.knows(second) else [])
        bare = (first.removesuffix(link) for link in _LINKS if first.endswith(link))
        begun = next((found for one in bare if (found := _same(state, one))), [])
        if last and (begun or (state.knows(first) and last != [second])):
            return [*(begun or [first]), *last]
    return [word]


def german_verbs(text: str) -> frozenset[str]:
    """The folded words of a German text that are no nouns, where it writes those with capitals; else none."""
    written = runs(text)
    german = any(serves_grammar(fold(one), ("german",)) and is_content_word(fold(one)) for one in written)
    if not german or not any(one[0].isupper() for one in written[1:]):
        return frozenset()
    return frozenset(fold(one) for one in written if one[0].islower() and not is_usual(fold(one)))


def _same(state: State, word: str) -> list[str]:
    """The word of the notes that an abbreviation or a German word stands for, or an abbreviation of that."""
    meant = [
        one.word for name in (stem_in(word, "german"), stem(word)) for one in _near(name) if _is_same(one)
    ]
    further = (one.word for other in meant for one in _near(stem(other)) if _is_same(one))
    return [one for one in chain(meant, further) if state.knows(one)][:1]


def _is_same(meaning: Meaning) -> bool:
    return meaning.likeness >= _OWN


@cache
def is_usual(word: str) -> bool:
    """Whether a folded word is one of usual English or of the trade: no misspelling."""
    return word in listed_words() or (
        word in _entries(stem(word))[:1] and not _entries(stem_in(word, "german"))
    )
