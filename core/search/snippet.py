"""Finds the piece of a note's text, on one line, where the matched words stand closest together."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from core.search.highlight import highlights

WIDTH: Final = 160
# As far as matched words are looked for, and how many of their places are weighed.
_READ_LIMIT: Final = 20_000
_MOST_PLACES: Final = 1_000
_CUT: Final = "…"
# A blank to cut at is looked for over so many characters; scripts without blanks are cut anywhere.
_REACH: Final = 24


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
    start = line if first - line <= room else _after_blank(content, first - room // 3, first)
    end = max(last, start + width)
    if end >= len(content):
        # What is left of the width goes to what stands before.
        return min(start, _after_blank(content, len(content) - width, first)), len(content)
    blank = max(content.rfind(sign, max(last, end - _REACH), end + 1) for sign in " \n\t")
    return start, blank if blank > last else end


def _closest(content: str, places: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """From the first to the last of the places that hold the most different words within `width`, the earliest."""
    best, most = (0, 0), 0
    words = [content[start:end].casefold() for start, end in places]
    for number, (first, _) in enumerate(places):
        seen: set[str] = set()
        last = first
        for (_, end), word in zip(places[number:], words[number:], strict=True):
            if end - first > width and seen:
                break
            if word not in seen:
                seen.add(word)
                last = end
        if len(seen) > most:
            best, most = (first, min(last, first + width)), len(seen)
    return best


def _after_blank(content: str, start: int, limit: int) -> int:
    near = content[start : min(limit, start + _REACH)]
    found = next((place for place, sign in enumerate(near, 1) if sign.isspace()), 0)
    return start + found
