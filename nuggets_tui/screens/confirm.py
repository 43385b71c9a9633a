"""A question with a safe answer: nothing happens unless y is pressed."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from nuggets_tui.safe_text import safe_block
from nuggets_tui.screens.dialog import Dialog


class ConfirmScreen(Dialog[bool]):
    """y does it; n, esc and enter do not. leaves: it was esc that asked whether to leave, and esc once more does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n,enter", "answer(False)", "no", show=False),
    ]

    def __init__(
        self, heading: str, text: str, *, yes: str, no: str = "cancel", leaves: bool = False
    ) -> None:
        super().__init__(classes="small")
        self.heading = heading
        self.keys = f"{'esc' if leaves else 'y'}  {yes} · n  {no}"
        self._text = text
        self._leaves = leaves

    def compose_inside(self) -> ComposeResult:
        yield Static(Content(safe_block(self._text, 2000)), classes="words")

    def action_answer(self, sure: bool) -> None:
        self.dismiss(sure)

    def action_close(self) -> None:
        if self._leaves:
            self.action_answer(True)
        else:
            super().action_close()


def close_if_sure(dialog: Dialog[Any], question: ConfirmScreen) -> None:
    """Closes a dialog without an answer, when a person says yes to that."""

    def answered(sure: bool | None) -> None:
        if sure:
            dialog.dismiss(None)
        else:
            dialog.quitting = False

    dialog.app.push_screen(question, answered)
