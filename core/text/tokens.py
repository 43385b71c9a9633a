"""Words of a text: every script, accents folded, with stems."""

from __future__ import annotations

import re
import sys
import threading
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from itertools import pairwise
from pathlib import Path
from typing import Final, Protocol

from core.text.exact import BASIS_STOP_WORDS

_MORE_STOP_WORDS: Final = """
about after all also am any been before can could did do does doing done give had he her here him
his how if into just know let me more most my no not now our out over please she should so some such
tell than their them then there these they too up us want we were what when where which while who
whom why will would you your
"""
STOP_WORDS: Final = BASIS_STOP_WORDS.union(_MORE_STOP_WORDS.split())

# Scripts that put no space between words: their runs are read as overlapping pairs of characters.
# Kana, Chinese characters, half-width kana; Thai, Lao, Myanmar, Khmer.
_UNSPACED: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003134f\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
)
# Soft hyphen, zero-width space and joiners, word joiner, byte order mark: they neither show nor part words.
_INVISIBLE: Final = "\u00ad\u200b-\u200d\u2060\ufeff"
# What readers leave out: accents of Latin, Greek and Cyrillic, vowel points of Hebrew and Arabic.
_OPTIONAL_MARKS: Final = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
)
_HALF_WIDTH_MARKS: Final = "\uff9e\uff9f"
# Written by tools/text_tables.py.
STEMS: Final = Path(__file__).with_name("stems.txt")
MARKS: Final = Path(__file__).with_name("marks.txt")
# Beyond this a "word" is data (a digest, a key) that has no stem.
_LONGEST_STEMMED: Final = 64
_TATWEEL: Final = "\u0640"
_FOLDED_AWAY: Final = re.compile(f"[{_OPTIONAL_MARKS}{_INVISIBLE}{_TATWEEL}]")
ASCII_WORD: Final = re.compile(r"[A-Za-z0-9]+")
# "PDFs" and "userIDs" end in the plural of an acronym.
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
# Snowball takes the "s" of a plural off where a vowel stands before; acronyms often have none, and some end in "s".
_ACRONYMS: Final = re.compile(
    r"(?!(?:dns|gps|https|nfs|sms|tls)$)[bcdfghj-np-tv-xz]{1,5}[bcdfghj-np-rtv-xz]s"
)


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


def fold(text: str) -> str:
    """Text with case, width, accents and optional vowel points folded: "Café" and "cafe" become equal.

    Vowel signs of scripts that cannot be read without them stay; invisible joiners and hyphens go.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold()).casefold()
    return unicodedata.normalize("NFC", _FOLDED_AWAY.sub("", decomposed))


@cache
def _marks() -> str:
    """All combining marks, as the inside of a character class; `\\w` would cut words at them."""
    spans = (line.split(" ") for line in MARKS.read_text(encoding="ascii").splitlines())
    marks = "".join(f"{chr(int(low, 16))}-{chr(int(high, 16))}" for low, high in spans)
    return marks + _HALF_WIDTH_MARKS + _INVISIBLE


@cache
def word_pattern(joiners: str = "") -> re.Pattern[str]:
    """Runs of letters and digits of any script with their combining marks.

    joiners: further characters, as inside a character class, that count as parts of a word.
    """
    if joiners:
        return re.compile(rf"(?:[\w{joiners}]|[{_marks()}])+")
    return re.compile(rf"[^\W_](?:[^\W_]|[{_marks()}])*")


@cache
def unspaced_runs() -> re.Pattern[str]:
    """Runs of characters of scripts that put no space between words, with their combining marks."""
    return re.compile(f"[{_UNSPACED}](?:[{_UNSPACED}{_marks()}])*")


@cache
def _clusters() -> re.Pattern[str]:
    return re.compile(f".[{_marks()}]*", re.DOTALL)


def words(text: str, *, compounds: bool = False) -> list[str]:
    """Words in order, folded, repeats and stop words kept.

    Runs of scripts without spaces (Chinese, Japanese, Thai) become overlapping pairs of characters (a single
    character stands alone); camelCase, snake_case, paths and dotted names give their parts. compounds: the
    whole of a camelCase word follows its parts ("userName": user, name, username).
    """
    return [word for run in runs(text) for word in words_of_run(run, compounds=compounds)]


def runs(text: str) -> list[str]:
    """The runs of letters and digits in a text, as they stand there; each has its words, whatever is around it."""
    return (ASCII_WORD if text.isascii() else word_pattern()).findall(text)


def words_of_run(run: str, *, compounds: bool = False) -> list[str]:
    """The words of one run of letters and digits; see `words`."""
    if not run.isascii():
        return [word for _, _, word in _script_spans(run)]
    if run.islower() or run[1:].islower() or run.isupper():
        return [run.lower()]
    return [word for _, _, word in _ascii_spans(run, 0, compounds)]


def word_spans(text: str, *, compounds: bool = False) -> Iterator[tuple[int, int, str]]:
    """The words of `words` with their places: (start, end, folded word), in characters of the text."""
    for match in word_pattern().finditer(text):
        run, start = match[0], match.start()
        if run.isascii():
            yield from _ascii_spans(run, start, compounds)
        else:
            for low, high, word in _script_spans(run):
                yield start + low, start + high, word


def _ascii_spans(run: str, start: int, compounds: bool) -> Iterator[tuple[int, int, str]]:
    if run.islower() or run.isupper():
        yield start, start + len(run), run.lower()
        return
    place = start
    parts = _CAMEL.split(run)
    for part in parts:
        yield place, place + len(part), part.lower()
        place += len(part)
    if compounds and len(parts) > 1:
        yield start, place, run.lower()


def _script_spans(run: str) -> Iterator[tuple[int, int, str]]:
    place = 0
    for match in unspaced_runs().finditer(run):
        if match.start() > place:
            yield from _folded(run, place, match.start())
        clusters = [cluster.span() for cluster in _clusters().finditer(run, *match.span())]
        if len(clusters) == 1:
            yield from _folded(run, *clusters[0])
        for (low, _), (_, high) in pairwise(clusters):
            yield from _folded(run, low, high)
        place = match.end()
    if place < len(run):
        yield from _folded(run, place, len(run))


def _folded(run: str, low: int, high: int) -> Iterator[tuple[int, int, str]]:
    word = fold(run[low:high])
    if word:
        yield low, high, word


class _Stemmers(threading.local):
    """Stemmers of each thread: one keeps the word that it works on in itself."""

    def __init__(self) -> None:
        self.by_language: dict[str, _Stemmer] = {}


@cache
def _stemmers() -> _Stemmers:
    return _Stemmers()


def snowball(language: str) -> _Stemmer:
    """This thread's Snowball stemmer of a language."""
    found = _stemmers().by_language.get(language)
    if found is None:
        found = _stemmers().by_language[language] = _new_stemmer(language)
    return found


def _new_stemmer(language: str) -> _Stemmer:
    """A stemmer without the thirty other languages that its package loads with itself, which are 3 MB."""
    name = "snowballstemmer"
    spec = find_spec(name)
    assert spec is not None
    loaded = sys.modules.get(name)
    try:
        sys.modules[name] = loaded or module_from_spec(spec)
        module = import_module(f"{name}.{language}_stemmer")
    finally:
        if loaded is None:
            sys.modules.pop(name, None)
    stemmer: _Stemmer = getattr(module, f"{language.title().replace('_', '')}Stemmer")()
    return stemmer


def has_stem(word: str) -> bool:
    """Whether a folded word is one that a stemmer may cut: letters of ASCII alone, not too few, not too many."""
    return 3 <= len(word) <= _LONGEST_STEMMED and word.isascii() and word.isalpha()


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of a folded word (Snowball English for ASCII words, that of the plain form for irregular ones; other
    scripts as they are).
    """
    return _known_stems().get(word) or stemmed_anew(word) or word


def stemmed_anew(word: str) -> str:
    """What Snowball makes of an English word, or a plural of an acronym; "" for one that has no stem."""
    if _ACRONYMS.fullmatch(word):
        return word[:-1]
    return snowball("english").stemWord(word) if has_stem(word) else ""


@cache
def _known_stems() -> dict[str, str]:
    """The stems of common and irregular words, made ahead: most processes load no stemmer."""
    return dict(line.split(" ") for line in STEMS.read_text(encoding="ascii").splitlines())


def stems(text: str) -> list[str]:
    """Stems of the words that carry meaning: stop words out, order and repeats kept."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]
