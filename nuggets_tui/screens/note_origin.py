"""Where a note came from: the text that was handed in with the sentence marked, and what was decided about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from textual.content import Content

from nuggets_tui.pipeline_words import EVENTS, age, author_name, submitted_line
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.basic import LinesScreen
from nuggets_tui.widgets.diff_lines import wrapped
from nuggets_tui.widgets.pipeline_details import sentence_lines
from nuggets_tui.widgets.row_text import MUTED

if TYPE_CHECKING:
    from core.model.note import Note
    from core.pipeline.records import HistoryRow, Origin

# Characters before and after the sentence.
_AROUND: Final = 20_000
_MOST: Final = 100


def origin_screen(
    note: Note, origin: Origin, history: Sequence[HistoryRow], now: datetime
) -> LinesScreen[None]:
    """The trail of one note back to its sentence."""

    def lines(width: int) -> list[Content]:
        told = f"{origin.told} · " if origin.told else ""
        lines = [
            content(safe_line(note.title), "bold"),
            content(submitted_line(origin, now), MUTED),
            Content(""),
            *sentence_lines(origin.content, origin.span, around=_AROUND),
            Content(""),
            Content.styled("Why it was written", f"bold {MUTED}"),
            content(f"{told}{origin.confidence:.0%} sure · {_asked(origin)}", MUTED),
        ]
        if history:
            lines += [Content(""), Content.styled("What happened", f"bold {MUTED}")]
            said = [
                f"{age(row.at, now)}  {EVENTS.get(row.event, row.event.replace('_', ' '))}"
                f" by {author_name(row.changed_by)}"
                for row in history[:_MOST]
            ]
            lines += [content(safe_line(one), MUTED) for one in dict.fromkeys(said)]
        return wrapped(lines, width)

    return LinesScreen(
        "Where this note came from",
        lines,
        about="The submitted text, word for word, with the sentence that the note was made from.",
    )


def _asked(origin: Origin) -> str:
    """The model and the version of what it was asked."""
    return " ".join(part for part in (origin.model or "no model", origin.prompt_version) if part)
