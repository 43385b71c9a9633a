"""What dialogs with two sides share: a list at the left, and lines about the row under its cursor at the right."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content

from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import RowList

_Answer = TypeVar("_Answer")


class SidesDialog(Dialog[_Answer]):
    """A box with two sides; tab goes from one to the other."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "switch", "switch", show=False)]

    def two_sides(self, rows: RowList, lines: LineView, titles: tuple[str, str]) -> ComposeResult:
        """The list and the lines beside each other, each with its title."""
        with Horizontal(id="sides"):
            for side, title in zip((rows, lines), titles, strict=True):
                side.add_class("pane")
                side.border_title = Content(title)
                yield side

    @on(RowList.RowSelected)
    def read(self, event: RowList.RowSelected) -> None:
        """Enter goes to the lines."""
        event.stop()
        self.query_one(LineView).focus()

    def action_switch(self) -> None:
        """To the other side."""
        rows = self.query_one(RowList)
        (self.query_one(LineView) if rows.has_focus else rows).focus()
