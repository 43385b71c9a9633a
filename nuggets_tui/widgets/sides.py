"""Two sides of a dialog: a list at the left, and lines about the row under its cursor at the right."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content

from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import RowList


class Sides(Horizontal):
    """The list and the lines beside each other, each with its title; tab goes from one to the other, and esc
    from the lines to the list.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "switch", "switch", show=False),
        Binding("escape", "to_rows", "to the list", show=False),
    ]

    def __init__(self, rows: RowList, lines: LineView, titles: tuple[str, str]) -> None:
        super().__init__(rows, lines, id="sides")
        self._rows, self._lines = rows, lines
        for side, title in zip((rows, lines), titles, strict=True):
            side.add_class("pane")
            side.border_title = Content(title)

    @on(RowList.RowSelected)
    def read(self, event: RowList.RowSelected) -> None:
        event.stop()
        self._lines.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "to_rows" or self._lines.has_focus

    def action_to_rows(self) -> None:
        self._rows.focus()

    def action_switch(self) -> None:
        (self._lines if self._rows.has_focus else self._rows).focus()
