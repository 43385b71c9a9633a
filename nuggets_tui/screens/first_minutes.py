"""What stands on the screen when there is nothing to show yet, or when the memory cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.content import Content

from core.errors import NuggetsError
from nuggets_tui.notices import in_keys, told_error
from nuggets_tui.safe_text import safe_line
from nuggets_tui.widgets.line_view import MakeLines

_MUTED = "$text-muted"
_KEY = "bold $text-accent"


def welcome_lines(home: str) -> MakeLines:
    """How to begin with a memory that holds nothing."""
    return partial(_wrapped, _welcome(home))


def _welcome(home: str) -> list[Content]:
    return [
        Content.styled("Welcome. This memory is empty.", "bold $text-accent"),
        Content(""),
        Content(
            "Coding agents keep what they learn in a folder: short facts that they recall by a key, and notes "
            "that are linked to each other. Here you see what they have learned as they learn it, find a memory "
            "in a second, and put right what is wrong. Nothing is ever lost: what you hide or change can be taken back."
        ),
        Content(""),
        Content.assemble(("d", _KEY), "  look around in a copy of a sample memory"),
        Content.assemble(("f", _KEY), "  remember a first fact       ", ("n", _KEY), "  write a first note"),
        Content.assemble(("?", _KEY), "  keys, words and signs       ", ("q", _KEY), "  leave"),
        Content(""),
        Content.styled("Where", "bold"),
        Content.assemble((safe_line(home), "$text-secondary")),
        Content.styled(
            "Opening it has written nothing; the folder is made by the first change. When an agent writes here, "
            "its memories appear by themselves. Another folder: nuggets --home DIR, or set NUGGETS_HOME.",
            _MUTED,
        ),
    ]


def trouble_lines(error: Exception) -> MakeLines:
    """Why the memory cannot be opened, calmly: what, where, what was kept safe, what to do."""
    title, _ = told_error(error)
    lines = [Content.styled("This memory cannot be opened just now.", "bold $text-warning"), Content("")]
    where, kept, todo = "", "", ""
    if isinstance(error, NuggetsError):
        where, kept, todo = error.where, error.kept, in_keys(error.todo)
    for label, said in (("What", title), ("Where", where), ("Kept", kept), ("To do", todo)):
        if said:
            lines += [Content.assemble((f"{label:<7}", _MUTED), Content(safe_line(said)))]
    lines += [
        Content(""),
        Content.styled(
            "This screen looks again every second and opens the memory once it can be read.", _MUTED
        ),
        Content(""),
        Content.assemble(("V", _KEY), ("  see what can be saved, and repair it", _MUTED)),
        Content.assemble(("o", _KEY), ("  open the file in $EDITOR", _MUTED)),
        Content.assemble(("q", _KEY), ("  leave", _MUTED)),
    ]
    return partial(_wrapped, lines)


def _wrapped(lines: Sequence[Content], width: int) -> list[Content]:
    room = min(width, 92)
    return [part for line in lines for part in (line.wrap(room) if line.plain else [line])]
