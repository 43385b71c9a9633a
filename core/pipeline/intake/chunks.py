"""Cuts a long text into overlapping windows at boundaries: headings, paragraphs, lines, sentences, words, graphemes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from core.pipeline.intake.sentences import TextSpan

# The last part of a window in which a boundary is looked for, as a share of the window.
_TAIL: Final = 0.15
# A cluster that is longer is cut: nobody reads so many marks on one letter.
_LONGEST_CLUSTER: Final = 64

_LINE_END: Final = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_BLANK_LINE: Final = re.compile(r"[^\S\n\r\v\f\x85\u2028\u2029]*+(?:[\n\r\v\f\x85\u2028\u2029]|\Z)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]|<h[1-6]\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[.!?…]++[\"'”’»)\]}*_`]*+\s++|[。！？]++[」』）”’]*+\s*+")
_SPACE: Final = re.compile(r"\s++")
_JOINER: Final = "\u200d"
_MODIFIERS: Final = range(0x1F3FB, 0x1F400)
_TAGS: Final = range(0xE0020, 0xE0080)
_FLAGS: Final = range(0x1F1E6, 0x1F200)
# Korean syllables written in parts: a leading consonant, a vowel, a trailing consonant.
_LEADING: Final = (range(0x1100, 0x1160), range(0xA960, 0xA97D))
_FOLLOWING: Final = (range(0x1160, 0x1200), range(0xD7B0, 0xD7FC))
_SYLLABLES: Final = range(0xAC00, 0xD7A4)
# A consonant after one of these is written into the one before it.
_VIRAMA_CLASS: Final = 9


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
        or _last_end(_SENTENCE_END, text, low, limit)
        or _last_end(_SPACE, text, low, limit)
        or _before_cluster(text, limit, max(least, begin + 1))
    )


def _begin(text: str, end: int, overlap: int) -> int:
    """Where the next window begins: at the first sentence or word of the overlap, so that it says something whole."""
    nominal = end - overlap
    if not overlap or nominal <= 0:
        return max(0, nominal)
    if _is_start(text, nominal):
        return nominal
    for pattern in (_LINE_END, _SENTENCE_END, _SPACE):
        found = pattern.search(text, nominal, end)
        if found is not None and found.end() < end and not _joined(text, found.end()):
            return found.end()
    return _after_cluster(text, nominal, end)


def _is_start(text: str, place: int) -> bool:
    return _LINE_END.match(text, place - 1) is not None and not text.startswith("\n", place)


def _line_start(text: str, low: int, limit: int) -> int:
    """The last start of a line in a range, one before a heading or after a blank line preferred; 0 for none."""
    best, best_rank = 0, 0
    for found in _LINE_END.finditer(text, max(0, low - 2), limit):
        place = found.end()
        if place < low or _joined(text, place):
            continue
        if _HEADING.match(text, place):
            rank = 3
        elif _BLANK_LINE.match(text, place):
            # The blank itself goes with the window that it ends.
            continue
        else:
            rank = 2 if _after_blank(text, found.start()) else 1
        if rank >= best_rank:
            best, best_rank = place, rank
    return best


def _after_blank(text: str, line_end: int) -> bool:
    """Whether the line that ends here is blank."""
    before = text[max(0, line_end - _LONGEST_CLUSTER) : line_end].rstrip(" \t")
    return not before or _LINE_END.match(before[-1]) is not None


def _last_end(pattern: re.Pattern[str], text: str, low: int, limit: int) -> int:
    """Where the last match ends that ends in a range; 0 for none."""
    last = 0
    for found in pattern.finditer(text, low - 1, limit):
        if found.end() >= low and not _joined(text, found.end()):
            last = found.end()
    return last


def _before_cluster(text: str, place: int, least: int) -> int:
    """The place, or the one before it that parts two graphemes."""
    for earlier in range(place, max(least, place - _LONGEST_CLUSTER) - 1, -1):
        if not _joined(text, earlier):
            return earlier
    return place


def _after_cluster(text: str, place: int, most: int) -> int:
    for later in range(place, min(most, place + _LONGEST_CLUSTER) + 1):
        if not _joined(text, later):
            return later
    return place


def _joined(text: str, place: int) -> bool:
    """Whether the characters before and at a place are parts of one grapheme; near to UAX 29, without its tables."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if before < "\u0300" and after < "\u0300":
        return before == "\r" and after == "\n"
    code = ord(after)
    if _JOINER in (before, after) or code in _MODIFIERS or code in _TAGS:
        return True
    if unicodedata.category(after) in ("Mn", "Mc", "Me"):
        return True
    if unicodedata.combining(before) == _VIRAMA_CLASS and after.isalpha():
        return True
    if code in _FLAGS:
        return _flags_before(text, place) % 2 == 1
    return _one_syllable(ord(before), code)


def _flags_before(text: str, place: int) -> int:
    """How many letters of flags stand before a place: two make one flag."""
    first = place
    while first > 0 and ord(text[first - 1]) in _FLAGS and place - first < 2 * _LONGEST_CLUSTER:
        first -= 1
    return place - first


def _one_syllable(before: int, after: int) -> bool:
    leads = any(before in each for each in _LEADING)
    if leads:
        return after in _SYLLABLES or any(after in each for each in (*_LEADING, *_FOLLOWING))
    in_syllable = before in _SYLLABLES or any(before in each for each in _FOLLOWING)
    return in_syllable and any(after in each for each in _FOLLOWING)
