"""Help: every key from the catalogue, what the words mean, and what the signs stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from nuggets_tui.commands import FILTERS, GROUPS, PALETTE_KEY, SIGNS, WORDS, in_group
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
    (PALETTE_KEY[0], PALETTE_KEY[1] + ": type a part of the name"),
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
    for keys, said in _MOVING:
        lines += _entry(keys, said, _KEYS, width)
    for group in GROUPS:
        lines += [Content(""), Content.styled(group, _HEAD)]
        for command in in_group(group):
            if not command.name.startswith("pane_"):
                keys = " ".join(command.shown_keys) or f"{PALETTE_KEY[0]} {command.label}"
                lines += _entry(keys, command.title, _KEYS, width)
    lines += [Content(""), Content.styled("In the search box", _HEAD)]
    for typed, meaning in FILTERS:
        lines += _entry(typed, meaning, _WORDS, width)
    lines += [Content(""), Content.styled("Words", _HEAD)]
    for word, meaning, undone in WORDS:
        lines += _entry(word, f"{meaning}; {undone}" if undone else meaning, _WORDS, width)
    lines += [Content(""), Content.styled("Signs", _HEAD)]
    for sign, meaning in SIGNS:
        lines += _entry(sign, meaning, _KEYS, width)
    return lines


def _entry(left: str, right: str, size: int, width: int) -> list[Content]:
    """What is explained, and the explanation in a column of its own, wrapped where it must be."""
    head, indent = Content.styled(f"  {left:<{size}}", "bold"), 2 + size
    said = Content.styled(right, _MUTED)
    parts = [part.rstrip() for part in said.wrap(width - indent)] if width >= indent + 8 else [said]
    first, *more = parts
    return [Content.assemble(head, first), *(Content(" " * indent) + part for part in more)]
