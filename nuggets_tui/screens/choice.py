"""Choosing one row of a list, where something is shown before anything happens."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED


class ChoiceScreen(Dialog[str]):
    """Answers with the key of the chosen row. `said`: what comes of choosing."""

    said = ""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(classes="large")
        self._rows = rows

    def compose_inside(self) -> ComposeResult:
        """What comes of it, and the rows."""
        yield Static(content(self.said, MUTED), classes="words")
        yield RowList(self._rows, id="choices")

    def on_mount(self) -> None:
        """Begins with the first row."""
        self.query_one(RowList).focus()

    @on(RowList.RowSelected)
    def take(self, event: RowList.RowSelected) -> None:
        """Closes with the choice."""
        event.stop()
        self.dismiss(event.row.key)
