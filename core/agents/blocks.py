"""Lines of ours in a text of somebody else's, between two marks: put at its end, replaced where they are, taken out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_UNREADABLE: Final = (b"\xff\xfe", b"\xfe\xff")


class BlockError(ValueError):
    """A text in which our marks do not stand in pairs, or that marks cannot be put into."""


@dataclass(frozen=True)
class Marks:
    """The lines before and behind ours; ASCII. A line that begins as they do is taken for one."""

    first: str
    last: str


def block_of(data: bytes, marks: Marks) -> tuple[int, int] | None:
    """Where our lines stand, marks and their line ends included; None for nowhere. Raises BlockError."""
    if data.startswith(_UNREADABLE) or b"\0" in data:
        raise BlockError("it is not UTF-8 text")
    firsts = list(_lines(data, marks.first))
    lasts = list(_lines(data, marks.last))
    if not firsts and not lasts:
        return None
    if len(firsts) != 1 or len(lasts) != 1 or lasts[0].start() < firsts[0].end():
        raise BlockError(
            f'the marks "{marks.first}" and "{marks.last}" are not there once each, in this order'
        )
    return firsts[0].start(), lasts[0].end()


def _lines(data: bytes, mark: str) -> list[re.Match[bytes]]:
    return list(re.finditer(rb"^" + re.escape(mark.encode()) + rb"[^\r\n]*(?:\r?\n|\Z)", data, re.MULTILINE))


def with_block(data: bytes, marks: Marks, lines: str) -> tuple[bytes, str]:
    """The text with our lines, and what was put before them to set them apart. Raises BlockError.

    lines: with "\\n" as line ends, the last one included.
    """
    place = block_of(data, marks)
    newline = "\r\n" if b"\r\n" in data else "\n"
    made = f"{marks.first}\n{lines}{marks.last}\n".replace("\n", newline)
    if place is not None:
        start, end = place
        if not data[start:end].endswith(b"\n"):
            made = made.removesuffix(newline)
        return data[:start] + made.encode() + data[end:], ""
    joint = joint_for(data)
    return data + (joint + made).encode(), joint


def without_block(data: bytes, marks: Marks, joint: str | None) -> bytes:
    """The text without our lines. joint: what was put before them, None where that is not known. Raises BlockError."""
    place = block_of(data, marks)
    if place is None:
        return data
    start, end = place
    return without_joint(data[:start], joint, is_last=end == len(data)) + data[end:]


def joint_for(data: bytes) -> str:
    """What sets lines of ours apart from the text that they are put behind."""
    newline = "\r\n" if b"\r\n" in data else "\n"
    return "" if not data else newline if data.endswith(b"\n") else newline * 2


def without_joint(before: bytes, joint: str | None, *, is_last: bool) -> bytes:
    """The text before lines of ours, without what set them apart. is_last: whether nothing comes behind them."""
    blank = b"\r\n\r\n" if before.endswith(b"\r\n") else b"\n\n"
    if joint == "" or not before.endswith(blank):
        # The blank line is gone already.
        return before
    newline = blank[: len(blank) // 2]
    if is_last and joint is not None and len(joint) == len(blank):
        # The text had no line end. Where somebody went on behind our lines, it needs one now.
        return before.removesuffix(blank)
    return before.removesuffix(newline)
