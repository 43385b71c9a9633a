"""Help: every key from the catalogue, what the words mean, and what the signs stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from nuggets_tui.commands import GROUPS, PALETTE_KEY, SIGNS, WORDS, in_group
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.line_view import LineView

_KEYS: Final = 10
_WORDS: Final = 18
_HEAD: Final = "bold $text-accent"
_MUTED: Final = "$text-muted"
_MOVING: Final = (
    ("1 – 6", "to a pane; tab and shift+tab to the next and the one before"),
    ("↑ ↓ j k", "move; in the graph the arrow keys walk along links"),
    ("esc", "leave a field; then clear the search, or leave a pane that fills the screen; close a dialog"),
    ("ctrl+s", "save, apply"),
    (PALETTE_KEY[0], "all commands, by name"),
    ("^q", "leave, as q does"),
)


class HelpScreen(Dialog[None]):
    """A page to scroll."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,q", "close", "close", show=False)]
    heading = "Keys, words and signs"
    keys = "↑↓  scroll · esc  close"

    def __init__(self) -> None:
        super().__init__(classes="large")

    def compose_inside(self) -> ComposeResult:
        """The page."""
        yield LineView(help_lines, id="lines")

    def on_mount(self) -> None:
        """The cursor keys scroll."""
        self.query_one(LineView).focus()


def help_lines(width: int) -> Sequence[Content]:
    """The whole help at a width."""
    lines = [Content.styled("Moving", _HEAD)]
    lines += [_entry(keys, said, _KEYS, width) for keys, said in _MOVING]
    for group in GROUPS:
        lines += [Content(""), Content.styled(group, _HEAD)]
        for command in in_group(group):
            if not command.name.startswith("pane_"):
                lines.append(_entry(" ".join(command.shown_keys) or "^p", command.title, _KEYS, width))
    lines += [Content(""), Content.styled("Words", _HEAD)]
    for word, meaning, undone in WORDS:
        lines.append(_entry(word, f"{meaning}; {undone}" if undone else meaning, _WORDS, width))
    lines += [Content(""), Content.styled("Signs", _HEAD)]
    lines += [_entry(sign, meaning, _KEYS, width) for sign, meaning in SIGNS]
    return [part for line in lines for part in _hanging(line, width)]


def _entry(left: str, right: str, size: int, width: int) -> Content:
    return Content.assemble((f"  {left:<{size}}", "bold"), (right, _MUTED))


def _hanging(line: Content, width: int) -> list[Content]:
    """A line wrapped, with its further lines indented."""
    if line.cell_length <= width or width < 20:
        return [line]
    first, *rest = line.wrap(width)
    more = Content(" ").join(part.rstrip() for part in rest).wrap(max(8, width - 14))
    return [first, *(Content(" " * 14) + part for part in more)]
