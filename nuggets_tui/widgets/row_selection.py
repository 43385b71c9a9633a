"""Which rows of a list are selected: one at a time, in ranges from an anchor, and all of them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nuggets_tui.widgets.row_source import RowSource


class _Range(msgspec.Struct, frozen=True):
    """A range that is being drawn: the key it begins at, the key it reached, and what was selected beside it."""

    anchor: str
    reached: str
    beside: frozenset[str]


class RowSelection:
    """The selected rows of a list, by the marks that its source gives them. changed: called when others are selected.

    A range begins at the row that was selected last, if the cursor has only stepped on since, else at the cursor;
    it follows the cursor back as well. With shift and the mouse it begins at the row selected last in any case.
    """

    def __init__(self, changed: Callable[[frozenset[str]], None]) -> None:
        self.marks: frozenset[str] = frozenset()
        self._changed = changed
        self._anchor_key = ""
        self._range: _Range | None = None

    def select(self, marks: frozenset[str]) -> None:
        """Select the rows with these marks and no others."""
        self._range = None
        self._set(marks)

    def keep(self, marks: frozenset[str]) -> None:
        """Let all go but the rows with these marks; a range goes on."""
        self._set(self.marks & marks)

    def select_all(self, source: RowSource) -> None:
        """Select every row besides what is selected; when all are, let them go."""
        every = source.marks(0, source.count)
        self.select(self.marks - every if every <= self.marks else self.marks | every)

    def toggle(self, source: RowSource, index: int) -> None:
        """Select a row or let it go. Ranges then begin there."""
        mark = source.mark(index)
        if not mark:
            return
        # Much quicker with many than the difference of both.
        chosen = mark not in self.marks
        self.select(self.marks | {mark} if chosen else self.marks - {mark})
        self._anchor_key = source.key(index) if chosen else ""
        if self._anchor_key:
            self._range = _Range(self._anchor_key, self._anchor_key, self.marks)

    def stepped_on(self, key: str) -> None:
        """The cursor stepped on to the row with this key: a range may still begin at the row selected last."""
        if self._range is not None:
            self._range = _Range(self._range.anchor, key, self.marks)

    def begin_range(self, key: str) -> None:
        """A range is drawn from the cursor, which stands on the row with this key, unless one is drawn already."""
        if self._range is None or self._range.reached != key:
            self._range = _Range(key, key, self.marks)

    def begin_range_at_last(self, key: str) -> None:
        """A range is drawn from the row selected last, else from the row with this key."""
        self._range = _Range(self._anchor_key or key, "", self.marks)

    def draw_range(self, source: RowSource, cursor: int) -> None:
        """The range reaches to the cursor."""
        if self._range is None:
            return
        anchor, beside = self._range.anchor, self._range.beside
        begin = source.find(anchor, cursor)
        first, last = sorted((cursor, begin if begin >= 0 else cursor))
        self._range = _Range(anchor, source.key(cursor), beside)
        self._set(beside | source.marks(first, last + 1))

    def _set(self, marks: frozenset[str]) -> None:
        if marks != self.marks:
            self.marks = marks
            self._changed(marks)
