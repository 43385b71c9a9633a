"""A field of the form with a few values to choose from."""

from __future__ import annotations

from typing import Literal

from textual.app import ComposeResult
from textual.widgets import Select
from textual.widgets._select import SelectCurrent, SelectOverlay


class _Values(SelectOverlay):
    """Textual pages by lines that it counts when the list is first drawn. A key may come before that."""

    def _move_page(self, direction: Literal[-1, 1]) -> None:
        if self.scrollable_content_region:
            super()._move_page(direction)


class Choice(Select[str]):
    """A list that opens under the field."""

    def compose(self) -> ComposeResult:
        yield SelectCurrent(self.prompt)
        yield _Values().data_bind(compact=Select.compact)
