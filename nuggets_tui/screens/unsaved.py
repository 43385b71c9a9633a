"""Texts that were being written when the app went, or were put aside: go on with one, or let it go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from core.unsaved import Offered, Unsaved, UnsavedTexts
from nuggets_tui.differences import DiffLine
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.screens.dialog import ConfirmScreen, Dialog
from nuggets_tui.widgets.line_view import LineView, styled, text_difference, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import plural, time_ago

_TITLE = 60
# What stands for "the note as it is" in the answer.
AS_IT_IS = "as it is"


class UnsavedScreen(Dialog[Offered | str]):
    """Answers with the text to go on with, or AS_IT_IS for editing the note without it."""

    about = (
        "Texts that you typed and did not save, because the app ended or you kept them for later. "
        "They are outside the memory until you save or discard them."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", "continue", show=False),
        Binding("x", "discard", "discard", show=False),
        Binding("d,tab", "switch", "what changed", show=False),
        Binding("e", "as_it_is", "as it is", show=False),
    ]

    def __init__(
        self, texts: UnsavedTexts, offered: Sequence[Offered], now: datetime, *, of_note: bool = False
    ) -> None:
        """`of_note`: the person is about to edit the note that all of these are about."""
        super().__init__(classes="large")
        self._texts = texts
        self._offered = list(offered)
        self._now = now
        self._of_note = of_note
        first = offered[0].unsaved
        self.heading = "Not saved yet"
        if len(offered) == 1:
            age = time_ago(first.at, now)
            self.heading = f"You were editing {named(first)} ({age}), unsaved"
        later = "e  edit the saved note" if of_note else "esc  later"
        self.keys = f"⏎  continue · d  what changed · x  discard · {later}"

    def compose_inside(self) -> ComposeResult:
        yield RowList(self._rows(), id="texts", classes="pane")
        difference = LineView(id="difference", classes="pane")
        difference.border_title = Content("What you typed")
        yield difference

    def on_mount(self) -> None:
        self.query_one(RowList).focus()
        self._show()

    def _rows(self) -> list[Row]:
        return [Row(str(place), (self._row(one.unsaved),)) for place, one in enumerate(self._offered)]

    def _row(self, unsaved: Unsaved) -> Callable[[int], Content]:
        size = sum(map(len, unsaved.changed.values()))
        about = f"{plural(size, 'character')} · {time_ago(unsaved.at, self._now)}"
        return sides(content(named(unsaved)), content(about, MUTED))

    @property
    def _current(self) -> Offered | None:
        row = self.query_one("#texts", RowList).cursor_row
        return self._offered[int(row.key)] if row is not None else None

    @on(RowList.RowHighlighted)
    def follow(self) -> None:
        self._show()

    def _show(self) -> None:
        current = self._current
        if current is not None:
            self.query_one("#difference", LineView).show_lines(partial(_changes, current.unsaved))

    @on(RowList.RowSelected)
    def chosen(self, event: RowList.RowSelected) -> None:
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        current = self._current
        if current is not None:
            self.dismiss(current)

    def action_as_it_is(self) -> None:
        if self._of_note:
            self.dismiss(AS_IT_IS)

    def action_switch(self) -> None:
        rows, difference = self.query_one(RowList), self.query_one("#difference")
        (rows if self.focused is difference else difference).focus()

    def action_discard(self) -> None:
        current = self._current
        if current is None:
            return
        size = sum(map(len, current.unsaved.changed.values()))
        question = ConfirmScreen(
            f"Discard {named(current.unsaved)}?",
            f"There is no other copy of the {plural(size, 'character')} you typed.",
            yes="discard it",
            no="keep it",
        )

        def answered(sure: bool | None) -> None:
            if sure:
                self._discard(current)

        self.app.push_screen(question, answered)

    @work(group="change", exit_on_error=False)
    async def _discard(self, offered: Offered) -> None:
        async def gone() -> bool:
            await asyncio.to_thread(self._texts.discard, offered)
            return True

        if not await self.attempt(gone()):
            return
        self._offered.remove(offered)
        if self._offered:
            self.query_one("#texts", RowList).set_rows(self._rows())
            self._show()
        else:
            self.dismiss(None)


def named(unsaved: Unsaved) -> str:
    """What a text is, in a few words."""
    if unsaved.kind == "text":
        return f'a text to submit "{cut(unsaved.values.get("text", "").strip(), _TITLE)}"'
    title = f'"{cut(unsaved.title, _TITLE)}"' if unsaved.title.strip() else "without a title"
    if unsaved.kind == "conflict":
        return f"the result for {title}"
    return title if unsaved.about else f"a new note {title}"


def _changes(unsaved: Unsaved, width: int) -> list[Content]:
    lines: list[Content] = []
    for name, value in unsaved.changed.items():
        lines.append(content(safe_line(name.capitalize(), 30), "bold"))
        before = unsaved.begun.get(name, "")
        if "\n" in value or "\n" in before:
            lines += text_difference(before, value)
        else:
            lines += [styled(line) for line in (DiffLine("-", before), DiffLine("+", value)) if line.text]
        lines.append(Content(""))
    return wrapped(lines, width)
