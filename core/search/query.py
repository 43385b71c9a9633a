"""A typed query, read once: its phrase, the tokens of the text leg, the stems of the vector leg."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, NamedTuple

from core.search.documents import is_content_word, text_tokens
from core.text.tokens import BASIS_STOP_WORDS, STOP_WORDS, fold, stem, unspaced_runs, words

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

    phrase: the whole query folded, "" when it may not count as a phrase. needles: what of the phrase to look
    for in the haystacks (any of them). tokens: distinct tokens of the text leg. telling: those that are no
    stop words; a note needs one of them, the phrase or the vector leg to be a hit. words: distinct folded
    words that carry meaning. stems: their stems. unfinished: the last word, which may still be half typed; ""
    when the query ends in something else.
    """

    phrase: str
    needles: tuple[str, ...]
    tokens: tuple[str, ...]
    telling: frozenset[str]
    words: tuple[str, ...]
    stems: tuple[QueryStem, ...]
    unfinished: str

    @property
    def empty(self) -> bool:
        """Whether nothing can be a hit."""
        return not (self.needles or self.telling or self.stems)


def read_query(text: str) -> Query:
    """The query in a text; any text at all is one. Reads about the first 10,000 characters for words."""
    phrase = " ".join(fold(text).split())
    head = text[:_READ_LIMIT]
    tokens = tuple(dict.fromkeys(text_tokens(" ".join(fold(head).split()))))
    found = words(head, compounds=True)
    telling = [word for word in found if is_content_word(word)]
    needles = _needles(phrase, found)
    first: dict[str, str] = {}
    for word in telling:
        first.setdefault(stem(word), word)
    return Query(
        phrase=phrase if needles else "",
        needles=needles,
        tokens=tokens,
        telling=frozenset(token for token in tokens if token not in STOP_WORDS),
        words=tuple(dict.fromkeys(telling)),
        stems=tuple(
            QueryStem(name, count, first[name]) for name, count in Counter(map(stem, telling)).items()
        ),
        unfinished=telling[-1] if telling and head[-1].isalnum() else "",
    )


def _needles(phrase: str, found: list[str]) -> tuple[str, ...]:
    """How the phrase may stand in a haystack: one line a field, one space between words."""
    if not found:
        # Symbols alone, such as an emoji or "=>"; one ASCII sign stands nearly everywhere.
        return (phrase,) if any(char > "\x7f" for char in phrase) or len(phrase) >= 2 else ()
    if all(word in BASIS_STOP_WORDS for word in found):
        return ()
    if len(phrase) < _SHORT and not unspaced_runs().search(phrase):
        return (f" {phrase}", f"\n{phrase}")
    return (phrase,)
