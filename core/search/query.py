"""The words of a query, read once: what may stand as a phrase, the stems to look for, and their pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from core.search.documents import LONGEST_WORD, is_content_word, text_tokens
from core.text.languages import Language, language_of, serves_grammar, stem_in, with_umlauts_spelt_out
from core.text.tokens import BASIS_STOP_WORDS, fold, stem, unspaced_runs, words

# Words are read from this many characters; a pasted page is searched for by its beginning.
_READ_LIMIT: Final = 10_000
# Shorter phrases stand inside too many words to mean anything there: they must begin a word.
_SHORT: Final = 3


Pairs: TypeAlias = tuple[tuple[str, str], ...]


class QueryStem(NamedTuple):
    """A stem of a query, how many times it stands there, and the first word that has it.

    others: under which stems notes hold the same word besides: those in other languages, and with umlauts spelt out.
    """

    stem: str
    times: int
    word: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """What a search looks for.

    phrase: the whole query, folded, white space squeezed. needles: what of it to look for in a haystack (any of
    them) to say that it stands there; () when it may not count. tokens: the original's distinct tokens. words:
    distinct folded words that carry meaning. stems: their stems. pairs: for each language that it is read in, English
    first, the stems of words that stand side by side, distinct. unfinished: the last word, which may still be half
    typed; "" when the query ends in something else. several: whether the phrase is more than one word. signs: the
    query as it was typed, white space squeezed, when it has no word at all. language: that its function words tell.
    """

    phrase: str
    needles: tuple[str, ...]
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    stems: tuple[QueryStem, ...]
    pairs: tuple[Pairs, ...]
    unfinished: str
    several: bool
    signs: str
    language: Language

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


def parse_query(text: str, languages: Sequence[Language] = ()) -> Query:
    """The query in a text; any text at all is one. Reads about the first 10,000 characters for words.

    languages: that it is read in besides English, those of the notes.
    """
    phrase = " ".join(fold(text).split())
    head = text[:_READ_LIMIT]
    tokens = tuple(dict.fromkeys(text_tokens(" ".join(fold(head).split()))))
    found = words(head, compounds=True)
    spoken = language_of(found, head)
    idle = (spoken,) if spoken in languages else ()
    telling = [word for word in found if is_content_word(word) and not serves_grammar(word, idle)]
    signs = "" if found else " ".join(text.split())
    return Query(
        phrase=phrase,
        needles=_needles(phrase, found, signs),
        tokens=tokens,
        words=tuple(dict.fromkeys(telling)),
        stems=_stems(telling, languages, _spelt_out(head, found)),
        pairs=tuple(_pairs(telling, language) for language in ("english", *languages)),
        unfinished=found[-1] if found and is_content_word(found[-1]) and head[-1].isalnum() else "",
        several=len(found) != 1 or found[0] != phrase,
        signs=signs,
        language=spoken,
    )


def _stems(
    telling: Sequence[str], languages: Sequence[Language], spelt_out: Mapping[str, str]
) -> tuple[QueryStem, ...]:
    """The stems of a query's words; spelt_out: its words with umlauts, written without them."""
    by_stem: dict[str, list[str]] = {}
    for word in telling:
        by_stem.setdefault(stem(word), []).append(word)
    return tuple(
        QueryStem(
            name,
            len(group),
            group[0],
            tuple(dict.fromkeys(_other_stems(name, group, languages, spelt_out))),
        )
        for name, group in by_stem.items()
    )


def _other_stems(
    name: str, group: Sequence[str], languages: Sequence[Language], spelt_out: Mapping[str, str]
) -> Iterator[str]:
    for word in dict.fromkeys(group):
        for language in languages:
            # A note of this language is read without its function words.
            if not serves_grammar(word, (language,)) and (other := stem_in(word, language)) != name:
                yield other
        if word in spelt_out:
            yield stem(spelt_out[word])


def _spelt_out(text: str, found: Sequence[str]) -> Mapping[str, str]:
    """The words of a text that are typed with umlauts, each with its spelling without them ("oe" for "ö")."""
    if text.isascii():
        return {}
    other = words(with_umlauts_spelt_out(text), compounds=True)
    if len(other) != len(found):
        return {}
    return {word: spelt for word, spelt in zip(found, other, strict=True) if word != spelt}


def _pairs(telling: Iterable[str], language: Language) -> Pairs:
    """The stems of neighbouring words, as notes of a language have them."""
    read = [
        stem_in(word, language)
        for word in telling
        if language == "english" or not serves_grammar(word, (language,))
    ]
    return tuple(dict.fromkeys(pairwise(read)))


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
