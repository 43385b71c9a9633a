"""Words of a text: every script, accents folded, with stems; and the plain tokens of the file format."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final, Protocol

# The stop words and the token pattern of the file format: `vector.basis` is built from them.
BASIS_STOP_WORDS: Final = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "for",
        "from",
        "has",
        "have",
        "i",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "that",
        "the",
        "this",
        "to",
        "was",
        "with",
    ]
)
_BASIS_TOKEN: Final = re.compile(r"[a-z0-9/_:-]{2,}")

STOP_WORDS: Final = BASIS_STOP_WORDS | frozenset(
    [
        "about",
        "after",
        "all",
        "also",
        "am",
        "any",
        "been",
        "before",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "done",
        "give",
        "had",
        "he",
        "her",
        "here",
        "him",
        "his",
        "how",
        "if",
        "into",
        "just",
        "know",
        "let",
        "me",
        "more",
        "most",
        "my",
        "no",
        "not",
        "now",
        "our",
        "out",
        "over",
        "please",
        "she",
        "should",
        "so",
        "some",
        "such",
        "tell",
        "than",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "too",
        "up",
        "us",
        "want",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "would",
        "you",
        "your",
    ]
)

_WORD: Final = re.compile(r"[^\W_]+", re.UNICODE)
_CJK: Final = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


def basis_tokens(text: str) -> list[str]:
    """Tokens as the file format's `vector.basis` takes them, in order, repeats kept."""
    return [token for token in _BASIS_TOKEN.findall(text.lower()) if token not in BASIS_STOP_WORDS]


def fold(text: str) -> str:
    """Text with case and accents folded ("Café" and "cafe" become equal); scripts without accents stay."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(c for c in decomposed if not _folds_away(c))
    return unicodedata.normalize("NFC", kept)


def _folds_away(char: str) -> bool:
    """Combining accents of European scripts; vowel signs of other scripts carry meaning and stay."""
    return unicodedata.combining(char) != 0 and "\u0300" <= char <= "\u036f"


def words(text: str) -> list[str]:
    """Words in order, folded, repeats and stop words kept.

    Runs of Chinese and Japanese become overlapping pairs of characters (a single character stands alone);
    camelCase, snake_case, paths and dotted names give their parts.
    """
    found: list[str] = []
    for run in _WORD.findall(unicodedata.normalize("NFC", text)):
        if run.isascii():
            parts = _CAMEL.split(run) if not run.islower() and not run.isupper() else [run]
            found.extend(part.lower() for part in parts)
            continue
        found.extend(_split_scripts(run))
    return found


def _split_scripts(run: str) -> Iterable[str]:
    place = 0
    for match in _CJK.finditer(run):
        if match.start() > place:
            yield fold(run[place : match.start()])
        chars = match[0]
        yield from ([chars] if len(chars) == 1 else [chars[i : i + 2] for i in range(len(chars) - 1)])
        place = match.end()
    if place < len(run):
        yield fold(run[place:])


@cache
def _stemmer() -> _Stemmer:
    import snowballstemmer

    made: _Stemmer = snowballstemmer.stemmer("english")
    return made


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of a folded word (Snowball English for ASCII words; other scripts as they are)."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    return _stemmer().stemWord(word)


def stems(text: str) -> list[str]:
    """Stems of the words that carry meaning: stop words out, order and repeats kept."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]
