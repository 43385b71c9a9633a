"""The language of a text by its function words, and stems of words in each language that search knows.

A stem of a language other than English bears its name ("datenbank@german"), so that equal letters of two languages
stay two stems. What no stemmer touches (numbers, short names, other scripts) is the same in every language.

Everyday words are those that any text may hold, so that one in common says little about what two texts are about. They
are no stop words: search looks for them. They weigh less where a search is judged as a whole. Common words are those
of general and of technical English: in a memory of few notes nothing but this list tells them from rare ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Final, Literal, TypeAlias

from core.text.tokens import STOP_WORDS, fold, has_stem, snowball, stem

Language: TypeAlias = Literal["english", "german", "french", "spanish"]

# Documents hold the places of these as numbers: new ones go to the end. English is what nothing else is.
LANGUAGES: Final[tuple[Language, ...]] = ("english", "german", "french", "spanish")


def _table(name: str) -> str:
    return Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")


# Paragraphs: a name, then folded words. Those of a language that also are English ones ("in", "was") count for both.
_WORDS: Final = {
    name: frozenset(words.split())
    for name, _, words in (part.partition("\n") for part in _table("function_words").split("\n\n"))
}
_OTHERS: Final[tuple[Language, ...]] = tuple(language for language in LANGUAGES if language != "english")
_FUNCTION_WORDS: Final[Mapping[Language, frozenset[str]]] = {
    "english": STOP_WORDS,
    **{language: _WORDS[language] for language in _OTHERS},
}
# Single letters are what an apostrophe cut off ("it's", "l'API"): they tell no language.
_ALL_FUNCTION_WORDS: Final = frozenset(
    word for language in _OTHERS for word in _FUNCTION_WORDS[language] if len(word) > 1
)
# What identifies the language of a text; a text without any of the latter is in English.
SERVING_WORDS: Final = STOP_WORDS | _ALL_FUNCTION_WORDS
FOREIGN_WORDS: Final = _ALL_FUNCTION_WORDS - STOP_WORDS
# English words, names and abbreviations as well, codes of languages among them: they tell no language.
_ENGLISH_TOO: Final = STOP_WORDS | _WORDS["english too"]
# So many different function words that are not English too, and such a share of all words, tell another language; so
# do more of any, where they are a greater share.
_TELLING: Final = 2
_LEAST_SHARE: Final = 1 / 8
_MANY: Final = 3
_GREAT_SHARE: Final = 1 / 3
_LETTERS: Final[Mapping[Language, frozenset[str]]] = {
    "english": frozenset(),
    "german": frozenset("äöüß"),
    "french": frozenset("àâæçèéêëîïôùûœ"),
    "spanish": frozenset("áéíóúñ¿¡"),
}
# How umlauts are written where there is no key for them; after these letters "ue" is none ("neue", "Quelle").
_WITHOUT_UMLAUT: Final = re.compile(r"(?<![aeoq])ue|ae|oe")
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_MAY_BE_UMLAUT: Final = re.compile(r"[aou](?!e)")
_SHORTEST_RESPELT: Final = 4
_MOST_UMLAUTS: Final = 3


def language_of(words: Sequence[str], text: str = "") -> Language:
    """The language of folded words: that of the most function words, English where no other one leads clearly.

    text: that they were read from; a letter of one language in it ("ß") counts for as much as a function word.
    """
    return language_from_counts([word for word in words if word in SERVING_WORDS], len(words), text)


def language_from_counts(serving: Sequence[str], count: int, text: str = "") -> Language:
    """The same by those of `count` words that are in `SERVING_WORDS`."""
    found = [word for word in serving if word in _ALL_FUNCTION_WORDS]
    # Most notes are in English and hold hardly any of these.
    if len(found) < max(_TELLING, _LEAST_SHARE * count):
        return "english"
    counts = {language: sum(word in _FUNCTION_WORDS[language] for word in found) for language in _OTHERS}
    first, second = sorted(counts, key=lambda language: -counts[language])[:2]
    if counts[first] <= max(counts[second], sum(word in STOP_WORDS for word in serving)):
        return "english"
    served = _FUNCTION_WORDS[first].intersection(found)
    many = len(served - STOP_WORDS) >= _MANY and counts[first] >= _GREAT_SHARE * count
    telling = len(served - _ENGLISH_TOO)
    lettered = not text.isascii() and not _LETTERS[first].isdisjoint(text.lower())
    return first if telling and (many or telling + lettered >= _TELLING) else "english"


def serves_grammar(word: str, languages: Iterable[Language]) -> bool:
    """Whether a folded word is a function word of any of some languages."""
    return any(word in _FUNCTION_WORDS[language] for language in languages)


def stem_in(word: str, language: Language) -> str:
    """The stem of a folded word as notes of a language have it; that of `stem` in English."""
    return stem(word) if language == "english" else _stem_elsewhere(word, language)


@lru_cache(maxsize=50_000)
def _stem_elsewhere(word: str, language: Language) -> str:
    if not has_stem(word):
        return word
    if language == "french":
        # Folding took the accent that the stemmer knows participles by: "déployée".
        word = re.sub(r"ee(s?)$", r"ée\1", word)
    found = fold(snowball(language).stemWord(word))
    if language == "french" and found.endswith("y"):
        # "déployé" without its accent; "déployer" gives this stem.
        found = found[:-1] + "i"
    return f"{found}@{language}"


def with_umlauts_spelt_out(text: str) -> str:
    """The text with "ö" as "oe" and so on."""
    return unicodedata.normalize("NFC", text).translate(_UMLAUTS)


def respelt(word: str) -> tuple[str, ...]:
    """What a folded word may be with its umlauts written the other way: "groesse" and "grosse" are one word."""
    if len(word) < _SHORTEST_RESPELT or not has_stem(word):
        return ()
    plain = _WITHOUT_UMLAUT.sub(lambda found: found[0][0], word)
    if plain != word:
        return (plain,)
    places = [found.start() for found in _MAY_BE_UMLAUT.finditer(word)][:_MOST_UMLAUTS]
    return tuple(
        "".join(f"{letter}e" if place in chosen else letter for place, letter in enumerate(word))
        for count in range(1, len(places) + 1)
        for chosen in combinations(places, count)
    )


# Everyday words


@cache
def _stems() -> frozenset[str]:
    return frozenset(map(stem, fold(_table("everyday")).split()))


@cache
def _common_stems() -> frozenset[str]:
    return frozenset(map(stem, _table("common").split()))


@cache
def _listed() -> frozenset[str]:
    return frozenset((_table("everyday") + _table("common")).split())


@cache
def listed_words() -> frozenset[str]:
    """All everyday and common words, folded."""
    return frozenset(fold(_table("everyday") + _table("common")).split())


def is_listed(word: str) -> bool:
    """Whether a lower-case word or its singular is listed as an everyday or common one; loads no stemmer."""
    return word in _listed() or (word.endswith("s") and word[:-1] in _listed())


def is_everyday(stemmed: str) -> bool:
    """Whether a stem is that of an everyday word, or a lone letter, such as the s of "user's"."""
    return stemmed in _stems() or (len(stemmed) == 1 and stemmed.isascii() and stemmed.isalpha())


def is_common(stemmed: str) -> bool:
    """Whether a stem is that of a common word that is no everyday word."""
    return stemmed in _common_stems() and not is_everyday(stemmed)
