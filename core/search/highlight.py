"""Which words of a note a search matched, where they stand in a text, and the piece of it to show for them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from core.model.note import Note
from core.search.documents import searched_fields
from core.search.query_syntax import Query
from core.text.languages import Language, stem_in
from core.text.tokens import stem, word_spans, words

_READ_LIMIT: Final = 20_000
_MOST_WORDS: Final = 64
WIDTH: Final = 160
# How many places of matched words are weighed.
_MOST_PLACES: Final = 1_000
_CUT: Final = "…"
# A blank to cut at is looked for over so many characters; scripts without blanks are cut anywhere.
_REACH: Final = 24


def matched_words(
    note: Note, language: Language, stems: Collection[str], query: Query, has_phrase: bool
) -> tuple[str, ...]:
    """The folded words of the note that a query matched, in order of first appearance, at most 64.

    language: of the note. stems: stems that the query looked for, its spelling neighbours among them. has_phrase: the
    whole query stands in the note; then words that hold its first or last word count too, since only these may stand
    there cut short. Reads about 20,000 characters.
    """
    wanted = {*stems, *query.words}
    ends = {*query.words[:1], *query.words[-1:]} if has_phrase else ()
    pieces = [word for word in ends if len(word) > 1]
    found: dict[str, None] = {}
    for field in searched_fields(note):
        for word in dict.fromkeys(words(field[:_READ_LIMIT], compounds=True)):
            if word in wanted or stem_in(word, language) in wanted or any(piece in word for piece in pieces):
                found[word] = None
        if len(found) > _MOST_WORDS:
            break
    if not found and has_phrase:
        found[query.signs or query.phrase] = None
    return tuple(found)[:_MOST_WORDS]


def highlights(text: str, matched: Collection[str]) -> list[tuple[int, int]]:
    """Where matched words stand in a text: (start, end) in characters of it, in order, never overlapping.

    matched: words as a breakdown gives them. All forms of a word are marked ("deploy" marks "deploying"); an
    entry of signs alone is looked for as it is.
    """
    wanted = {*matched, *map(stem, matched)}
    found = word_spans(text, compounds=True)
    spans = [(start, end) for start, end, word in found if word in wanted or stem(word) in wanted]
    for sign in (entry for entry in matched if entry and not words(entry)):
        spans += [one.span() for one in re.finditer(re.escape(sign), text)]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


class Snippet(NamedTuple):
    """text: one line; "…" stands where it was cut. matches: (start, end) of matched words, in characters of it."""

    text: str
    matches: tuple[tuple[int, int], ...] = ()


def snippet(content: str, matched: Collection[str], width: int = WIDTH) -> Snippet:
    """The piece of a text, of about `width` characters, that holds most of the matched words; else its beginning.

    matched: words as a breakdown gives them. White space is squeezed, and all else is as it is stored.
    """
    places = highlights(content[:_READ_LIMIT], matched)[:_MOST_PLACES] if matched else []
    start, end = _window(content, places, width)
    text = " ".join(content[start:end].split())
    if not text:
        return Snippet("")
    before = _CUT if content[:start].strip() else ""
    after = _CUT if content[end : end + _READ_LIMIT].strip() else ""
    text = f"{before}{text}{after}"
    return Snippet(text, tuple(highlights(text, matched)) if matched else ())


def _window(content: str, places: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """From where to where: the beginning of the line where that fits, else a few words ahead of what was matched."""
    if len(content) <= width:
        return 0, len(content)
    first, last = _closest(content, places, width)
    room = max(0, width - (last - first))
    line = content.rfind("\n", 0, first) + 1
    # At the end of a text, what is left of the width goes to what stands before.
    start = min(line if first - line <= room else first - room // 3, len(content) - width)
    if start != line:
        before = re.search(r"\s", content[start : min(first, start + _REACH)])
        start += before.end() if before else 0
    end = max(last, start + width)
    if end >= len(content):
        return start, len(content)
    blank = max(content.rfind(sign, max(last, end - _REACH), end + 1) for sign in " \n\t")
    return start, blank if blank > last else end


def _closest(content: str, places: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """From the first to the last of the places that hold the most different words within `width`, the earliest."""
    best, most = (0, 0), 0
    words = [content[start:end].casefold() for start, end in places]
    for number, (first, _) in enumerate(places):
        # Of each word, where it ends first.
        ends: dict[str, int] = {}
        for (_, end), word in zip(places[number:], words[number:], strict=True):
            if end - first > width and ends:
                break
            ends.setdefault(word, end)
        if len(ends) > most:
            best, most = (first, min(max(ends.values()), first + width)), len(ends)
    return best
