"""A text beside the one it came from: what came is underlined, and a sign stands where something went."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import partial
from typing import Final

from textual.content import Content

from nuggets_tui.safe_text import plain
from nuggets_tui.widgets.diff_lines import text_difference, wrapped
from nuggets_tui.widgets.line_view import MakeLines

CAME: Final = "underline $text-success"
WENT: Final = "‸"
_WENT_STYLE: Final = "bold $text-error"
_PIECES: Final = re.compile(r"\n|[^\S\n]+|\w+|[^\w\s]")
# Comparing more pieces than this word by word would make a key wait.
_MOST_PIECES: Final = 1_500
_LONGEST: Final = 60_000


def version_lines(base: str, text: str) -> MakeLines:
    """The lines of a text for any width, with what differs from `base` marked."""
    if base == text:
        return partial(_plain_lines, text)
    old, new = _PIECES.findall(base), _PIECES.findall(text)
    if len(old) + len(new) > _MOST_PIECES:
        return partial(wrapped, text_difference(base, text))
    return partial(wrapped, Content.assemble(*_marked(old, new)).split("\n", allow_blank=True))


def plain_lines(text: str) -> MakeLines:
    """The lines of a text for any width."""
    return partial(_plain_lines, text)


def _marked(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, _, _, new_from, new_to in matcher.get_opcodes():
        if tag == "delete":
            yield WENT, _WENT_STYLE
        else:
            yield _shown("".join(new[new_from:new_to])), "" if tag == "equal" else CAME


def _shown(text: str) -> str:
    return plain(text.expandtabs(4))


def _plain_lines(text: str, width: int) -> list[Content]:
    return wrapped([Content(line) for line in _shown(text[:_LONGEST]).split("\n")], width)
