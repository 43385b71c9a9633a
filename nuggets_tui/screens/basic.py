"""Dialogs made of what they are given: a question, lines to read or to agree to, one line to type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from nuggets_tui.safe_text import content, safe_block
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.line_view import LineView, MakeLines

_Answer = TypeVar("_Answer")


class LinesScreen(Dialog[_Answer]):
    """Shows lines. more: reads what comes in their place; where it fails, a notice says it. about: for the help."""

    keys = "↑↓  scroll · esc  close"

    def __init__(
        self,
        heading: str,
        lines: MakeLines,
        *,
        about: str,
        more: Callable[[], Awaitable[MakeLines]] | None = None,
    ) -> None:
        super().__init__(classes="large")
        self.heading = heading
        self.about = about
        self._lines = lines
        self._more = more

    def compose_inside(self) -> ComposeResult:
        yield LineView(self._lines, id="lines")

    def on_mount(self) -> None:
        self.query_one(LineView).focus()
        if self._more is not None:
            self._read(self._more())

    @work(group="read", exclusive=True, exit_on_error=False)
    async def _read(self, asked: Awaitable[MakeLines]) -> None:
        found = await self.attempt(asked)
        if found is not None:
            self.query_one(LineView).show_lines(found)


class LinesReview(LinesScreen[bool]):
    """What something would do, before it is done. Answers whether it is to be done. yes: what y does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "agree", "yes", show=False),
        Binding("n", "close", "no", show=False),
    ]

    def __init__(self, heading: str, lines: MakeLines, *, yes: str, about: str) -> None:
        super().__init__(heading, lines, about=about)
        self.keys = f"y  {yes} · ↑↓  scroll · n  cancel"

    def action_agree(self) -> None:
        self.dismiss(True)


class AskScreen(Dialog[_Answer]):
    """Asks for one line. take: makes the answer of it; what it raises is said, and the line stays. does: what enter
    does.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "take", "continue", show=False)]

    def __init__(
        self,
        heading: str,
        said: str,
        label: str,
        take: Callable[[str], Awaitable[_Answer]],
        *,
        value: str = "",
        hint: str = "",
        does: str,
    ) -> None:
        super().__init__(classes="small")
        self.heading = heading
        self.about = said
        self.keys = f"⏎  {does} · esc  close"
        self._field = Field(label, value, id="line", hint=hint)
        self._answer = take

    def compose_inside(self) -> ComposeResult:
        yield Static(content(self.about), classes="words")
        yield self._field

    def on_mount(self) -> None:
        self._field.focus()

    @on(Input.Submitted)
    def enter(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        if self._field.value.strip():
            self._take(self._field.value.strip())

    @work(group="open", exclusive=True, exit_on_error=False)
    async def _take(self, text: str) -> None:
        answer = await self.attempt(self._answer(text))
        if answer is not None:
            self.dismiss(answer)


async def as_typed(text: str) -> str:
    """The line itself as the answer."""
    return text


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
