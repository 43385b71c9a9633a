"""The words of a query, read once: what may stand as a phrase, the stems to look for, and their pairs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from core.search.documents import LONGEST_WORD, is_content_word, text_tokens
from core.text.tokens import BASIS_STOP_WORDS, fold, stem, unspaced_runs, words

# Words are read from this many characters; a pasted page is searched for by its beginning.
_READ_LIMIT: Final = 10_000
# Shorter phrases stand inside too many words to mean anything there: they must begin a word.
_SHORT: Final = 3


class QueryStem(NamedTuple):
    """A stem of a query, how many times it stands there, and the first word that has it."""

    stem: str
    times: int
    word: str


@dataclass(frozen=True, slots=True)
class Query:
    """What a search looks for.

    phrase: the whole query, folded, white space squeezed. needles: what of it to look for in a haystack (any of
    them) to say that it stands there; () when it may not count. tokens: the original's distinct tokens. words:
    distinct folded words that carry meaning. stems: their stems. pairs: stems of words that stand side by side,
    distinct. unfinished: the last word, which may still be half typed; "" when the query ends in something else.
    several: whether the phrase is more than one word. signs: the query as it was typed, white space squeezed, when it
    has no word at all.
    """

    phrase: str
    needles: tuple[str, ...]
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    stems: tuple[QueryStem, ...]
    pairs: tuple[tuple[str, str], ...]
    unfinished: str
    several: bool
    signs: str

    @property
    def empty(self) -> bool:
        """Whether nothing can be a hit."""
        return not self.phrase

    @property
    def is_phrase(self) -> bool:
        """Whether it is looked for word for word: signs, several words, or one too long to be in an index."""
        return bool(self.needles) and (self.several or len(self.phrase) > LONGEST_WORD)

    def stands_in(self, haystack: str) -> bool:
        """Whether the whole query stands in a folded text, one line a field."""
        return any(needle in "\n" + haystack for needle in self.needles)


def read_query(text: str) -> Query:
    """The query in a text; any text at all is one. Reads about the first 10,000 characters for words."""
    phrase = " ".join(fold(text).split())
    head = text[:_READ_LIMIT]
    tokens = tuple(dict.fromkeys(text_tokens(" ".join(fold(head).split()))))
    found = words(head, compounds=True)
    telling = [word for word in found if is_content_word(word)]
    signs = "" if found else " ".join(text.split())
    first: dict[str, str] = {}
    for word in telling:
        first.setdefault(stem(word), word)
    return Query(
        phrase=phrase,
        needles=_needles(phrase, found, signs),
        tokens=tokens,
        words=tuple(dict.fromkeys(telling)),
        stems=tuple(
            QueryStem(name, count, first[name]) for name, count in Counter(map(stem, telling)).items()
        ),
        pairs=tuple(dict.fromkeys(pairwise(map(stem, telling)))),
        unfinished=found[-1] if found and is_content_word(found[-1]) and head[-1].isalnum() else "",
        several=len(found) != 1 or found[0] != phrase,
        signs=signs,
    )


def _needles(phrase: str, found: list[str], signs: str) -> tuple[str, ...]:
    """How the phrase may stand in a haystack: one line a field, one space between words."""
    if not found:
        # Symbols alone, such as an emoji or "=>"; one ASCII sign stands nearly everywhere.
        return (phrase,) if phrase and (not signs.isascii() or len(signs) >= 2) else ()
    if all(word in BASIS_STOP_WORDS for word in found):
        return ()
    if len(phrase) < _SHORT and not unspaced_runs().search(phrase):
        return (f" {phrase}", f"\n{phrase}")
    return (phrase,)
