"""Differences as lines on the screen: coloured, with "+" and "-" before them so that they read without colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from textual.content import Content

from core.model.change import ChangeSet, NoteChange
from nuggets_tui import differences
from nuggets_tui.differences import DiffLine, TitleOf
from nuggets_tui.safe_text import plain, safe_line

_MUTED: Final = "$text-muted"
_STYLES: Final = {"+": "$text-success", "-": "$text-error", "@": "$text-secondary"}
_LONGEST: Final = 60_000
_MOST_LINES: Final = 2_000


def change_lines(change_set: ChangeSet, width: int, title_of: TitleOf = str) -> list[Content]:
    """Everything a change set does, wrapped at `width` cells. title_of: a note's title for its id."""
    lines: list[Content] = []
    for each in differences.change_lines(change_set, title_of):
        lines += [*map(styled, each), Content("")]
        if len(lines) > _MOST_LINES:
            lines = [*lines[:_MOST_LINES], Content.styled("… and more", _MUTED)]
            break
    return wrapped(lines, width)


def note_change_lines(
    change: NoteChange, names: Iterable[str] | None = None, *, title_of: TitleOf = str
) -> list[Content]:
    """What happens to one note; `names` narrows it to some fields. title_of: a note's title for its id."""
    return list(map(styled, differences.note_lines(change, names, title_of=title_of)))


def text_difference(before: str, after: str) -> list[Content]:
    """The lines in which two texts differ, with some around them."""
    return list(map(styled, differences.text_lines(before, after)))


def diff_text_lines(lines: Sequence[str]) -> list[Content]:
    """Lines of a unified difference, coloured."""
    return list(map(styled, differences.unified_lines(lines)))


def styled(line: DiffLine) -> Content:
    """One line of a difference, harmless, in the colours of its sign."""
    sign, text = line
    if sign == "#":
        return Content.styled(safe_line(text), "bold")
    shown = plain(text[:_LONGEST].expandtabs(4))
    if sign in "+-":
        return Content.styled(f"{sign} {shown}", _STYLES[sign])
    if sign == "@":
        return Content.styled(shown, _STYLES[sign])
    return Content.styled(f"  {shown}" if sign == " " else shown, _MUTED)


def wrapped(lines: Iterable[Content], width: int) -> list[Content]:
    """Lines wrapped at a width; the rest of a long line stands below it."""
    return [part for line in lines for part in (line.wrap(width) if line.plain else [line])]
