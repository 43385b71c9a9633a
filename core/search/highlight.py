"""Which words of a note a search matched, and where they stand in a text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from core.model.note import Note
from core.search.documents import searched_fields
from core.search.query_syntax import Query
from core.text.languages import Language, stem_in
from core.text.tokens import stem, word_spans, words

_READ_LIMIT: Final = 20_000
_MOST_WORDS: Final = 64


def matched_words(
    note: Note, language: Language, stems: Collection[str], query: Query, has_phrase: bool
) -> tuple[str, ...]:
    """The folded words of the note that a query matched, in order of first appearance, at most 64.

    language: of the note. stems: stems that the query looked for, its spelling neighbours among them. has_phrase: the
    whole query stands in the note; then words that hold one of its pieces count too. Reads about 20,000 characters.
    """
    wanted = {*stems, *query.words}
    pieces = _pieces(query) if has_phrase else ()
    found: dict[str, None] = {}
    for field in searched_fields(note):
        for word in dict.fromkeys(words(field[:_READ_LIMIT], compounds=True)):
            if (
                word in wanted
                or stem_in(word, language) in wanted
                or (pieces and any(piece in word for piece in pieces))
            ):
                found[word] = None
        if len(found) > _MOST_WORDS:
            break
    if not found and has_phrase:
        found[query.signs or query.phrase] = None
    return tuple(found)[:_MOST_WORDS]


def _pieces(query: Query) -> tuple[str, ...]:
    """The first and last word of the phrase: only these may stand in it cut short."""
    return tuple(word for word in {*query.words[:1], *query.words[-1:]} if len(word) > 1)


def highlights(text: str, matched: Collection[str]) -> list[tuple[int, int]]:
    """Where matched words stand in a text: (start, end) in characters of it, in order, never overlapping.

    matched: words as a breakdown gives them. All forms of a word are marked ("deploy" marks "deploying"); an
    entry of signs alone is looked for as it is.
    """
    wanted = {*matched, *map(stem, matched)}
    signs = [entry for entry in matched if entry and not words(entry)]
    spans = sorted([*_word_places(text, wanted), *(place for sign in signs for place in _places(text, sign))])
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _word_places(text: str, wanted: Collection[str]) -> Iterator[tuple[int, int]]:
    for start, end, word in word_spans(text, compounds=True):
        if word in wanted or stem(word) in wanted:
            yield start, end


def _places(text: str, sign: str) -> Iterator[tuple[int, int]]:
    start = text.find(sign)
    while start >= 0:
        yield start, start + len(sign)
        start = text.find(sign, start + len(sign))
