"""Selecting rows of a list: one at a time, in ranges from an anchor, and all of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Final

import msgspec
from textual.binding import Binding, BindingType
from textual.message import Message

from nuggets_tui.widgets.glow import Glowing
from nuggets_tui.widgets.row_source import RowSource

SELECTING: Final = frozenset(
    ("toggle_row", "toggle_range", "extend", "extend_page", "extend_to_end", "select_all")
)
"""Names of the actions that select."""


class _Range(msgspec.Struct, frozen=True):
    """A range that is being drawn: the key it begins at, the key it reached, and what was selected beside it."""

    anchor: str
    reached: str
    beside: frozenset[str]


class Selecting(Glowing):
    """A list whose rows can be selected, by the marks that its source gives them.

    A range begins at the row that was selected last, if the cursor has only stepped on since, else at the cursor;
    it follows the cursor back as well. With shift and the mouse it begins at the row selected last in any case.
    """

    multi_select = False
    cursor: int
    _source: RowSource

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "toggle_row", "Select", show=False, id="select"),
        Binding("shift+space", "toggle_range", "Select from the row selected last", show=False),
        Binding("shift+up", "extend(-1)", "Select upwards", show=False),
        Binding("shift+down", "extend(1)", "Select downwards", show=False),
        Binding("shift+pageup", "extend_page(-1)", "Select a page upwards", show=False),
        Binding("shift+pagedown", "extend_page(1)", "Select a page downwards", show=False),
        Binding("shift+home", "extend_to_end(-1)", "Select up to the first", show=False),
        Binding("shift+end", "extend_to_end(1)", "Select down to the last", show=False),
        Binding("ctrl+a", "select_all", "Select all, or let them go", show=False, id="select_all"),
    ]

    @dataclass(eq=False, repr=False)
    class SelectionChanged(Message, namespace="row_list"):
        """Other rows are selected than before. `keys`: their marks."""

        row_list: Selecting
        keys: frozenset[str]

        @property
        def control(self) -> Selecting:
            return self.row_list

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self._selected: frozenset[str] = frozenset()
        self._anchor_key = ""
        self._range: _Range | None = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without multi-select its keys are left to others."""
        if action in SELECTING:
            return self.multi_select
        return super().check_action(action, parameters)

    @property
    def selected(self) -> frozenset[str]:
        """Marks of the selected rows; a row's mark is its key unless the source says otherwise."""
        return self._selected

    def select(self, keys: Collection[str]) -> None:
        """Select the rows with these marks and no others."""
        self._range = None
        self._set_selected(frozenset(keys))

    def clear_selection(self) -> None:
        """Select nothing."""
        self.select(())

    def action_toggle_row(self) -> None:
        """Select the row under the cursor or let it go, and step on."""
        if self.cursor >= 0:
            self.toggle_at(self.cursor)
            self._step(1)
            if self._range is not None:
                self._range = _Range(self._range.anchor, self._source.key(self.cursor), self._selected)

    def action_toggle_range(self) -> None:
        """Select from the row that was selected last to the cursor."""
        self.select_up_to(self.cursor)

    def action_extend(self, step: int) -> None:
        """Draw the range a row further."""
        self._begin_range()
        self._step(step)
        self._draw_range()

    def action_extend_page(self, step: int) -> None:
        """Draw the range a page further."""
        self._begin_range()
        self._page(step)
        self._draw_range()

    def action_extend_to_end(self, step: int) -> None:
        """Draw the range to an end of the list."""
        self._begin_range()
        self.action_first() if step < 0 else self.action_last()
        self._draw_range()

    def action_select_all(self) -> None:
        """Select every row besides what is selected; when all are, let them go."""
        every = self._source.marks(0, self._source.count)
        whole = every <= self._selected
        self.select(self._selected - every if whole else self._selected | every)

    def toggle_at(self, index: int) -> None:
        """Select a row or let it go. Ranges then begin there."""
        mark = self._source.mark(index)
        if not mark:
            return
        # Much quicker with many than the difference of both.
        chosen = mark not in self._selected
        self.select(self._selected | {mark} if chosen else self._selected - {mark})
        self._anchor_key = self._source.key(index) if chosen else ""
        if self._anchor_key:
            self._range = _Range(self._anchor_key, self._anchor_key, self._selected)

    def select_up_to(self, index: int) -> None:
        """Put the cursor on a row and select from the row selected last, else from the cursor, up to it."""
        if self.cursor < 0:
            return
        begin = self._anchor_key or self._source.key(self.cursor)
        self._range = _Range(begin, "", self._selected)
        self.cursor = index
        self._draw_range()

    def _begin_range(self) -> None:
        if self.cursor < 0:
            return
        here = self._source.key(self.cursor)
        if self._range is None or self._range.reached != here:
            self._range = _Range(here, here, self._selected)

    def _draw_range(self) -> None:
        if self._range is None or self.cursor < 0:
            return
        anchor, beside = self._range.anchor, self._range.beside
        begin = self._source.find(anchor, self.cursor)
        first, last = sorted((self.cursor, begin if begin >= 0 else self.cursor))
        self._range = _Range(anchor, self._source.key(self.cursor), beside)
        self._set_selected(beside | self._source.marks(first, last + 1))

    def _set_selected(self, keys: frozenset[str]) -> None:
        if keys != self._selected:
            self._selected = keys
            self.refresh()
            self.post_message(self.SelectionChanged(self, keys))

    # What the list itself does

    def action_first(self) -> None:
        """To the first row."""
        raise NotImplementedError

    def action_last(self) -> None:
        """To the last row."""
        raise NotImplementedError

    def _step(self, step: int) -> None:
        raise NotImplementedError

    def _page(self, step: int) -> None:
        raise NotImplementedError
