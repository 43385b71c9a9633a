"""Cuts a text, as positions in it: into sentences and clauses, into overlapping windows at headings, paragraphs, lines,
sentences, words and graphemes, and to the part of it around certain words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple


class TextSpan(NamedTuple):
    """A part of a text: from start up to, but not including, end; in characters."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """What stands there."""
        return text[self.start : self.end]


class TextSegment(NamedTuple):
    """A sentence or clause without the sign that ends it; question: that sign is a question mark."""

    start: int
    end: int
    question: bool = False


# A full stop ends a sentence only before white space or what closes around it: "3.5" and "config.py" stay whole.
_SENTENCE_END: Final = re.compile(r"(?<![.!?…])[.!?…]++(?=[\s\"'”’»)\]}*`]|$)|[。！？]|[\n\r\u2028\u2029]")
_CLAUSE_END: Final = re.compile(
    _SENTENCE_END.pattern + r"|(?<=\s)[-–—]++(?=\s)|—|(?:(?<=^)|(?<=[\n\r]))[-*•](?=\s)"
)
_ABBREVIATIONS: Final = frozenset(
    ["dr", "mr", "mrs", "ms", "prof", "st", "vs", "e.g", "i.e", "etc", "jr", "sr", "fig", "approx"]
)
_LONGEST_ABBREVIATION: Final = 6
_LAST_WORD: Final = re.compile(r"(?:^|[\s(\"'])([A-Za-z.]{1,6})$")


def sentences(text: str) -> Iterator[TextSegment]:
    """The sentences of a text in order, cut at `. ! ?`, their wide forms and line ends; none is blank."""
    return _cut(text, _SENTENCE_END)


def clauses(text: str) -> Iterator[TextSegment]:
    """The clauses of a text in order, cut where sentences are and at dashes between spaces and bullets."""
    return _cut(text, _CLAUSE_END)


def _cut(text: str, pattern: re.Pattern[str]) -> Iterator[TextSegment]:
    place = 0
    for found in pattern.finditer(text):
        if found[0] == "." and _is_abbreviation(text, found.start()):
            continue
        if text[place : found.start()].strip():
            yield TextSegment(place, found.start(), "?" in found[0] or "？" in found[0])
        place = found.end()
    if text[place:].strip():
        yield TextSegment(place, len(text))


def _is_abbreviation(text: str, place: int) -> bool:
    before = _LAST_WORD.search(text[max(0, place - _LONGEST_ABBREVIATION - 1) : place])
    return before is not None and before[1].lower() in _ABBREVIATIONS


# Windows

# The last part of a window in which a boundary is looked for, as a share of the window.
_TAIL: Final = 0.15
# A cluster that is longer is cut: nobody reads so many marks on one letter.
_LONGEST_CLUSTER: Final = 64

_LINE_END: Final = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_BLANK_LINE: Final = re.compile(r"[^\S\n\r\v\f\x85\u2028\u2029]*+(?:[\n\r\v\f\x85\u2028\u2029]|\Z)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]|<h[1-6]\b", re.IGNORECASE)
_BOUNDARY: Final = re.compile(r"[.!?…]++[\"'”’»)\]}*_`]*+\s++|[。！？]++[」』）”’]*+\s*+")
_SPACE: Final = re.compile(r"\s++")
# What goes on the grapheme before it: joiners and tones of skin.
_CONTINUES: Final = "\u200d\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
# How far an end of an excerpt is moved, as a part of the whole, so that no word is cut.
_LEEWAY: Final = 8


def chunks(text: str, size: int, overlap: int, *, start: int = 0) -> Iterator[TextSpan]:
    """The windows of a text, in order; all that is not blank stands in one of them.

    size: characters of a window at most, 1 or more. overlap: characters that a window shares with the one before it at
    most; never more than half a window. start: where the windows before have ended; the windows from there on are the
    same as if all were cut at once. A text that fits is one window, a blank one is none.
    """
    while (window := next_chunk(text, start, size, overlap)) is not None:
        yield window
        start = window.end


def next_chunk(text: str, start: int, size: int, overlap: int) -> TextSpan | None:
    """The window after those that have ended at `start`, with its overlap; None where nothing but blanks follows."""
    if size < 1:
        raise ValueError("a window has at least one character")
    if not text[start : start + size].strip() and not text[start:].strip():
        return None
    begin = _begin(text, start, min(max(0, overlap), size // 2)) if start else 0
    return TextSpan(begin, _end(text, begin, max(begin + size, start + 1), least=start + 1))


def _end(text: str, begin: int, limit: int, *, least: int) -> int:
    """Where a window ends: at the best boundary of its tail, `limit` at the latest."""
    if limit >= len(text):
        return len(text)
    low = max(least, limit - int((limit - begin) * _TAIL))
    return (
        _line_start(text, low, limit)
        or _last_end(_BOUNDARY, text, low, limit)
        or _last_end(_SPACE, text, low, limit)
        or _apart(text, range(limit, max(least, begin + 1, limit - _LONGEST_CLUSTER) - 1, -1))
    )


def _begin(text: str, end: int, overlap: int) -> int:
    """Where the next window begins: at the first sentence or word of the overlap, so that it says something whole."""
    nominal = end - overlap
    if not overlap or nominal <= 0:
        return max(0, nominal)
    if _LINE_END.match(text, nominal - 1) and not text.startswith("\n", nominal):
        return nominal
    for pattern in (_LINE_END, _BOUNDARY, _SPACE):
        found = pattern.search(text, nominal, end)
        if found is not None and found.end() < end and not _joined(text, found.end()):
            return found.end()
    return _apart(text, range(nominal, min(end, nominal + _LONGEST_CLUSTER) + 1))


def _line_start(text: str, low: int, limit: int) -> int:
    """The last start of a line in a range, one before a heading or after a blank line preferred; 0 for none."""
    best = (0, 0)
    for found in _LINE_END.finditer(text, max(0, low - 2), limit):
        place = found.end()
        # The blank line itself goes with the window that it ends.
        if place < low or _joined(text, place) or _BLANK_LINE.match(text, place):
            continue
        before = text[max(0, found.start() - _LONGEST_CLUSTER) : found.start()].rstrip(" \t")
        rank = 3 if _HEADING.match(text, place) else 2 if not before or _LINE_END.match(before[-1]) else 1
        best = max(best, (rank, place))
    return best[1]


def _last_end(pattern: re.Pattern[str], text: str, low: int, limit: int) -> int:
    """Where the last match ends that ends in a range; 0 for none."""
    last = 0
    for found in pattern.finditer(text, low - 1, limit):
        if found.end() >= low and not _joined(text, found.end()):
            last = found.end()
    return last


def _apart(text: str, places: range) -> int:
    """The first of some places that parts two graphemes, else the first."""
    return next((place for place in places if not _joined(text, place)), places.start)


def _joined(text: str, place: int) -> bool:
    """Whether the characters before and at a place are parts of one grapheme: of a letter with its marks, of an emoji
    that is joined of several, of a line's end. Where a text has no white space for long a flag may be cut.
    """
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return before == "\u200d" or after in _CONTINUES or unicodedata.category(after) in ("Mn", "Mc", "Me")


def excerpt(text: str, wordings: Iterable[str], most: int) -> TextSpan:
    """At most `most` characters of a text around the first of some wordings that stands in it, else its beginning.

    What was found is kept whole where it fits, in the middle where that can be; words are not cut where white space
    is near.
    """
    if len(text) <= most:
        return TextSpan(0, len(text))
    found = ((place, len(one)) for one in wordings if one and (place := text.find(one)) >= 0)
    start, length = next(found, (0, 0))
    begin = max(0, min(start - max(0, most - length) // 2, len(text) - most))
    end = begin + most
    leeway = max(0, min(most // _LEEWAY, (most - length) // 2))
    if begin:
        spaces = (place for place in range(begin, begin + leeway) if text[place - 1].isspace())
        begin = next(spaces, begin)
    if end < len(text):
        spaces = (place for place in range(end, max(begin, end - leeway), -1) if text[place].isspace())
        end = next(spaces, end)
    return TextSpan(begin, end)
