"""What something would do, as lines, before it is done."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.line_view import LineView, MakeLines


class LinesReview(Dialog[bool]):
    """Answers whether it is to be done. yes: what y does. about: for the help."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "agree", "yes", show=False),
        Binding("n", "close", "no", show=False),
    ]

    def __init__(self, heading: str, lines: MakeLines, *, yes: str, about: str) -> None:
        super().__init__(classes="large")
        self.heading = heading
        self.keys = f"y  {yes} · ↑↓  scroll · n  cancel"
        self.about = about
        self._lines = lines

    def compose_inside(self) -> ComposeResult:
        yield LineView(self._lines, id="lines")

    def on_mount(self) -> None:
        self.query_one("#lines").focus()

    def action_agree(self) -> None:
        self.dismiss(True)
