"""The spellings that files have for one text: escapes within escapes, letters nobody sees, lines broken in two.

A view is a text with one layer of spelling taken off that still knows which characters of the text each of its own
characters stands for. So what is found in a view can be replaced in the text, and all else stays as it was.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

# JSON's escapes, and a backslash before any sign of ASCII, as Markdown has it. A pair of surrogates is one character.
_ESCAPE: Final = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})"
    r"|([bfnrt])|([!-/:-@\[-`{-~]))"
)
_CONTROL: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Soft hyphens, zero-width spaces and joiners, marks of direction, variation selectors: none of them is seen.
INVISIBLE: Final = "\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]+")
# What stands between the two halves of a line that was wrapped: indentation and marks of quotes and comments.
_BREAK: Final = re.compile(r"\\?(?:\r\n|[\n\r\u2028\u2029])[ \t>#|*]*")
# Each layer of JSON within JSON doubles the backslashes, so that nothing of any use lies deeper.
_DEEPEST: Final = 16


class TextLayer(NamedTuple):
    """A text with a layer of spelling taken off.

    text: what is left. at, source: where in `text` and where in the text beneath each piece begins, the ends of both
    last; a piece is either the same on both sides or one escape.
    """

    text: str
    at: list[int]
    source: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the text beneath text[start:end] stands; start < end."""
        return self._place(start, first=True), self._place(end - 1, first=False)

    def _place(self, place: int, *, first: bool) -> int:
        piece = bisect_right(self.at, place) - 1
        at, source, after = self.at[piece], self.source[piece], self.source[piece + 1]
        if self.at[piece + 1] - at == after - source:
            return source + place - at + (not first)
        return source if first else after

    def whole(self, start: int, end: int) -> tuple[int, int]:
        """A span of the text beneath, made longer where it cuts an escape in two."""
        return self._edge(start, down=True), self._edge(end, down=False)

    def _edge(self, place: int, *, down: bool) -> int:
        piece = bisect_right(self.source, place) - 1
        if piece + 1 >= len(self.source) or self.source[piece] == place:
            return place
        same = self.at[piece + 1] - self.at[piece] == self.source[piece + 1] - self.source[piece]
        return place if same else self.source[piece] if down else self.source[piece + 1]


def unescaped(text: str) -> TextLayer | None:
    """The text with its escapes as what they stand for; None when it has none."""
    return _without(text, _ESCAPE, _meaning) if "\\" in text else None


def without_invisible(text: str) -> TextLayer | None:
    """The text without the letters that nobody sees; None when it has none."""
    return None if text.isascii() else _without(text, _INVISIBLE, lambda found: "")


def without_breaks(text: str) -> TextLayer | None:
    """The text with its lines joined; None when it is one line."""
    return instead_of(text, _BREAK, "")


def instead_of(text: str, pattern: re.Pattern[str], new: str) -> TextLayer | None:
    """The text with something else in place of all that a pattern finds; None where it finds nothing."""
    return _without(text, pattern, lambda found: new)


def visible_text(text: str) -> str:
    """The text without the letters that nobody sees."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def layers(text: str) -> Iterator[tuple[TextLayer, ...]]:
    """The views of a text by which its escapes are taken off, layer by layer: none at first, then one, and so on.

    Each view is of the text of the one before.
    """
    found: tuple[TextLayer, ...] = ()
    yield found
    while len(found) < _DEEPEST:
        view = unescaped(found[-1].text if found else text)
        if view is None:
            return
        found = (*found, view)
        yield found


def beneath(views: tuple[TextLayer, ...], span: tuple[int, int]) -> tuple[int, int]:
    """Where in the text at the bottom a span of the topmost view stands."""
    for view in reversed(views):
        span = view.span(*span)
    return span


def _meaning(found: re.Match[str]) -> str:
    high, low, unit, long, control, sign = found.groups()
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if unit is not None or long is not None:
        return chr(int(unit or long, 16))
    return _CONTROL[control] if control is not None else sign


def _without(
    text: str, pattern: re.Pattern[str], instead: Callable[[re.Match[str]], str]
) -> TextLayer | None:
    parts: list[str] = []
    at, source = [0], [0]
    there = done = 0
    for found in pattern.finditer(text):
        start, end = found.span()
        if start > done:
            parts.append(text[done:start])
            there += start - done
            at.append(there)
            source.append(start)
        new = instead(found)
        parts.append(new)
        there += len(new)
        done = end
        at.append(there)
        source.append(end)
    if not parts:
        return None
    parts.append(text[done:])
    return TextLayer("".join(parts), [*at, there + len(text) - done], [*source, len(text)])
