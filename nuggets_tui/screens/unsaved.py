"""Texts that were being written when the app went, or were put aside: go on with one, or let it go."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from core.unsaved import Offered, Unsaved, UnsavedTexts
from nuggets_tui.differences import DiffLine
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.screens.dialog import BrowseScreen, ConfirmScreen
from nuggets_tui.widgets.line_view import MakeLines, styled, text_difference, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import plural, time_ago

_TITLE = 60
# What stands for "the note as it is" in the answer.
AS_IT_IS = "as it is"


class UnsavedScreen(BrowseScreen[Offered | str]):
    """Answers with the text to go on with, or AS_IT_IS for editing the note without it."""

    about = (
        "Texts that you typed and did not save, because the app ended or you kept them for later. "
        "They are outside the memory until you save or discard them."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "discard", "discard", show=False),
        Binding("e", "as_it_is", "as it is", show=False),
    ]
    titles = ("Texts", "What you typed")

    def __init__(
        self, texts: UnsavedTexts, offered: Sequence[Offered], now: datetime, *, of_note: bool = False
    ) -> None:
        """`of_note`: the person is about to edit the note that all of these are about."""
        self._texts = texts
        self._offered = list(offered)
        self._now = now
        self._of_note = of_note
        first = offered[0].unsaved
        one = f"You were editing {named(first)} ({time_ago(first.at, now)}), unsaved"
        super().__init__(one if len(offered) == 1 else "Not saved yet", classes="large")
        later = "e  edit the saved note" if of_note else "esc  later"
        self.keys = f"⏎  continue · x  discard · tab  what changed · {later}"

    def fill(self, rows: RowList) -> None:
        made = []
        for place, one in enumerate(self._offered):
            size = sum(map(len, one.unsaved.changed.values()))
            about = f"{plural(size, 'character')} · {time_ago(one.unsaved.at, self._now)}"
            made.append(Row(str(place), (sides(content(named(one.unsaved)), content(about, MUTED)),)))
        rows.set_rows(made)

    def detail(self, row: Row, index: int) -> MakeLines:
        return partial(_changes, self._offered[index].unsaved)

    def open_row(self, row: Row, index: int) -> None:
        self.dismiss(self._offered[index])

    def action_as_it_is(self) -> None:
        if self._of_note:
            self.dismiss(AS_IT_IS)

    def action_discard(self) -> None:
        row = self.row
        if row is None:
            return
        current = self._offered[int(row.key)]
        size = sum(map(len, current.unsaved.changed.values()))
        question = ConfirmScreen(
            f"Discard {named(current.unsaved)}?",
            f"There is no other copy of the {plural(size, 'character')} you typed.",
            yes="discard it",
            no="keep it",
        )
        self.if_sure(question, lambda: self._discard(current))

    @work(group="change", exit_on_error=False)
    async def _discard(self, offered: Offered) -> None:
        async def gone() -> bool:
            await asyncio.to_thread(self._texts.discard, offered)
            return True

        if await self.attempt(gone()):
            self._offered.remove(offered)
            if self._offered:
                self.fill(self.rows)
                self.show_detail()
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
