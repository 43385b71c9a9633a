"""Credentials that a line ends within, or right before: wrapped tokens, and values that stand below their word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from core.text.secret_shapes import Span, known_shapes
from core.text.secret_words import behind_words
from core.text.spellings import TextLayer, instead_of, without_breaks

_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")
# A line that a backslash carries on.
_CARRIED_ON: Final = re.compile(r"\\\r?\n[ \t]*")
# A colon at the end of a line, with a line of one word right below, or below an empty line.
_BELOW: Final = re.compile(
    r"[:=：][ \t*_]{0,4}(?:\r?\n[ \t>]{0,20}){1,2}(?P<value>[^\s-]\S{3,300})[ \t]{0,8}(?=\r?\n|$)"
)
_BREAK: Final = re.compile(r"[\r\n][\s>#|*]*")
_MARKS: Final = " \t>#|*"
_LONGEST: Final = 400
_BEFORE: Final = 160
_FIRST: Final = 8
_NEXT: Final = 4


def over_lines(text: str) -> Iterator[Span]:
    """Start, end and kind of each credential that stands over several lines, in no order."""
    if "\n" not in text and "\r" not in text:
        return
    joined = without_breaks(text) if _may_wrap(text) else None
    if joined is not None:
        for span in _over(text, joined, known_shapes(joined.text)):
            if span[2] != "private key" and _is_wrapped(text[span[0] : span[1]]):
                yield span
    carried = instead_of(text, _CARRIED_ON, "") if "\\\n" in text or "\\\r" in text else None
    if carried is not None:
        yield from _over(text, carried, known_shapes(carried.text))
        yield from _over(text, carried, behind_words(carried.text))
    for below in _BELOW.finditer(text):
        if below["value"].islower() and below["value"].isalpha():
            continue
        line = text[max(text.rfind("\n", 0, below.start()) + 1, below.start() - _BEFORE) : below.start() + 1]
        for start, end, kind in behind_words(f"{line} {below['value']}"):
            offset = below.start("value") - len(line) - 1
            if start > len(line):
                yield start + offset, end + offset, kind


def _may_wrap(text: str) -> bool:
    """Whether a line ends and the next one begins as the halves of a token do."""
    return any(
        _is_half(before[-_LONGEST:].rsplit(None, 1), -1, _FIRST)
        and _is_half(after.lstrip(_MARKS)[:_LONGEST].split(None, 1), 0, _NEXT)
        for before, after in pairwise(text.splitlines())
    )


def _is_half(words: list[str], place: int, least: int) -> bool:
    return bool(words) and len(words[place]) >= least and any(map(str.isdigit, words[place]))


def _over(text: str, view: TextLayer, found: Iterator[Span]) -> Iterator[Span]:
    """Those of the spans of a view of joined lines that a line ended within."""
    for start, end, kind in found:
        first, last = view.span(start, end)
        if last - first > end - start:
            yield first, last, kind


def _is_wrapped(text: str) -> bool:
    """Whether a token over lines is one, and no word that happens to follow at the beginning of the next line."""
    first, *others = _BREAK.split(text)
    return (
        not _BLANK_LINE.search(text)
        and len(first) >= _FIRST
        and any(map(str.isdigit, first))
        and all(len(part) >= _NEXT and any(map(str.isdigit, part)) for part in others)
        and all(any(map(str.isalpha, part)) for part in others)
        and (len(others[0]) >= _FIRST or len(text) > 2 * _FIRST)
    )
