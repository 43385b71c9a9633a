"""Takes the part of a long text around certain words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from core.pipeline.intake.sentences import TextSpan

# How far an end is moved, as a part of the whole, so that no word is cut.
_LEEWAY: Final = 8


def excerpt(text: str, wordings: Iterable[str], most: int) -> TextSpan:
    """At most `most` characters of a text around the first of some wordings that stands in it, else its beginning.

    What was found is kept whole where it fits, in the middle where that can be; words are not cut where white space
    is near.
    """
    if len(text) <= most:
        return TextSpan(0, len(text))
    start, length = next(
        ((place, len(wording)) for wording in wordings if wording and (place := text.find(wording)) >= 0),
        (0, 0),
    )
    begin = max(0, min(start - max(0, most - length) // 2, len(text) - most))
    end = begin + most
    leeway = max(0, min(most // _LEEWAY, (most - length) // 2))
    if begin:
        begin = _after_space(text, begin, begin + leeway)
    if end < len(text):
        end = _before_space(text, end, max(begin, end - leeway))
    return TextSpan(begin, end)


def _after_space(text: str, start: int, end: int) -> int:
    for place in range(start, end):
        if text[place - 1].isspace():
            return place
    return start


def _before_space(text: str, end: int, least: int) -> int:
    for place in range(end, least, -1):
        if text[place].isspace():
            return place
    return end
