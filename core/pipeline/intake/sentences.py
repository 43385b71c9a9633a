"""Splits a text into sentences and clauses, as positions in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
