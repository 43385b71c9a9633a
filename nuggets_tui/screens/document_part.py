"""A part of a document that a search found, and the whole document below it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from textual.content import Content

from nuggets_tui.safe_text import content
from nuggets_tui.screens.basic import LinesScreen
from nuggets_tui.threads import run_in_thread
from nuggets_tui.widgets.diff_lines import wrapped
from nuggets_tui.widgets.line_view import MakeLines

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.search.results import Passage

_MUTED: Final = "$text-muted"


def part_screen(passage: Passage, read: Callable[[str], str]) -> LinesScreen[None]:
    """Shows a part of a document, why it was found, and its whole text. read: gives that text."""

    async def whole() -> MakeLines:
        return partial(part_lines, passage, await run_in_thread(read, passage.found.document_id))

    return LinesScreen(
        f"Document: {passage.found.title or passage.found.source}",
        partial(part_lines, passage, ""),
        about="A part of a document that the search found. Documents are no notes: they are found beside them.",
        more=whole,
    )


def part_lines(passage: Passage, text: str, width: int) -> list[Content]:
    """The part, its score, and the whole text of its document, "" while it is not read."""
    found = passage.found
    score = f"words {passage.words:.2f} + vector {passage.vector:.2f} = {passage.blend:.2f}"
    lines = [
        content(f"part {found.place + 1} of {found.source or found.document_id}", _MUTED),
        content(f"{score} · {passage.likelihood:.2f} likely to answer", _MUTED),
        Content(""),
        *_paragraphs(found.text, width),
    ]
    if text:
        lines += [
            Content(""),
            Content.styled("The whole document", "bold"),
            Content(""),
            *_paragraphs(text, width),
        ]
    return lines


def _paragraphs(text: str, width: int) -> list[Content]:
    return wrapped(map(content, text.split("\n")), width)
