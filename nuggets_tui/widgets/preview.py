"""How a text that is being written will read: its Markdown around the place where somebody writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from textual.content import Content

from nuggets_tui.widgets.markdown_lines import CHARACTERS, markdown_lines

_FENCE: Final = re.compile(r"^ {0,3}(```|~~~)")
_FENCE_ROOM: Final = 4
# A part begins at a blank line at most so many lines before the place it was to begin at.
_LOOKED_BACK: Final = 200


class Preview(NamedTuple):
    """Lines, and the one of them that shows about the place of the cursor."""

    lines: Sequence[Content]
    place: int


def previewed(text: str, line: int, width: int, most: int = CHARACTERS) -> Preview:
    """The Markdown of a text in lines of at most `width` cells; of one longer than `most` characters the part around
    a line, which begins at a blank line where there is one near.

    line: of the text, from 0, where the cursor is.
    """
    lines = text.split("\n")
    line = max(0, min(line, len(lines) - 1))
    first = _first_line(lines, line, most) if len(text) > most else 0
    before = sum(map(len, lines[:first])) + first
    part = text[before : before + most]
    shown = markdown_lines(_open_fence(lines[:first]) + part, width, most + _FENCE_ROOM)
    if first:
        shown.insert(0, Content.styled("… the part around the cursor", "$text-muted"))
    inside = "\n".join(lines[first : line + 1])
    # Nothing tells which line of the text became which of the picture: its share of the height comes near.
    share = min(1.0, len(inside) / max(len(part), 1))
    return Preview(shown, round(share * max(len(shown) - 1, 0)))


def _open_fence(lines: Sequence[str]) -> str:
    """What opens code at the end of some lines that is still open there; "" for none."""
    opening = ""
    for line in lines:
        fence = _FENCE.match(line)
        if fence and (not opening or fence[1] == opening):
            opening = "" if opening else fence[1]
    return f"{opening}\n" if opening else ""


def _first_line(lines: Sequence[str], line: int, most: int) -> int:
    """Where a part of about `most` characters begins that has a line in its middle."""
    room, first = most // 2, line
    while first > 0 and room > 0:
        first -= 1
        room -= len(lines[first]) + 1
    if first == 0:
        return 0
    if room < 0 and first < line:
        first += 1
    for place in range(first, max(first - _LOOKED_BACK, 0), -1):
        if not lines[place - 1].strip():
            return place
    return first
