"""Rows for a list: where each lies, made only when asked for, at a cost that does not grow with the list."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, islice, repeat
from operator import attrgetter

import msgspec
from textual.content import Content

RowLine = Content | Callable[[int], Content]
Height = int | Sequence[int] | Callable[[int], int]

_NEAR = 64
_ROWS_KEPT = 1024


class Row(msgspec.Struct, frozen=True):
    """One row: a key that survives reloads, and one or more lines.

    A line may be a callable that gets the width in cells and returns the content; it runs when the line is
    shown. Rows that are not selectable are headings: the cursor passes over them. `data` is the owner's.
    """

    key: str
    lines: tuple[RowLine, ...]
    selectable: bool = True
    data: object = None


class RowSource:
    """A number of rows behind one way to ask for them; immutable but for its cache.

    `height`: lines of every row, or of each row (a sequence is quicker than a callable from index to lines,
    which is asked once for all rows). `key_at`: a key without making its row; `index_of`: the way back, where
    the owner has a quick one (None: no such row). `mark_at`: under which mark a row is selected, "" for one that
    cannot be; by default the key of a row that the cursor may stand on.
    """

    def __init__(
        self,
        count: int = 0,
        make_row: Callable[[int], Row] | None = None,
        *,
        height: Height = 1,
        key_at: Callable[[int], str] | None = None,
        index_of: Callable[[str], int | None] | None = None,
        mark_at: Callable[[int], str] | None = None,
    ) -> None:
        self.count = max(count, 0)
        self._make_row = make_row
        self._each = max(height, 1) if isinstance(height, int) else 0
        self._ends = array("q")
        if not isinstance(height, int):
            heights = map(height, range(self.count)) if callable(height) else islice(height, self.count)
            self._ends.extend(accumulate(map(max, heights, repeat(1))))
            self.count = len(self._ends)
        self._key_at = key_at
        self._index_of = index_of
        self.mark = mark_at or self._own_mark
        self.row = lru_cache(_ROWS_KEPT)(self._row)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> RowSource:
        """A source of rows that are at hand."""
        heights = list(map(len, map(attrgetter("lines"), rows)))
        uniform = len(set(heights)) == 1
        return cls(
            len(rows),
            rows.__getitem__,
            height=heights[0] if uniform else heights,
            key_at=lambda index: rows[index].key,
            mark_at=lambda index: rows[index].key if rows[index].selectable else "",
        )

    def _row(self, index: int) -> Row:
        if self._make_row is None or not 0 <= index < self.count:
            raise IndexError(index)
        return self._make_row(index)

    @property
    def lines(self) -> int:
        """Height of all rows together, in lines."""
        if self._each:
            return self._each * self.count
        return self._ends[-1] if self._ends else 0

    def key(self, index: int) -> str:
        """Key of the row at an index."""
        return self._key_at(index) if self._key_at else self.row(index).key

    def _own_mark(self, index: int) -> str:
        row = self.row(index)
        return row.key if row.selectable else ""

    def marks(self, start: int, stop: int) -> frozenset[str]:
        """Marks of the rows from one index up to another, those that cannot be selected left out."""
        found = frozenset(map(self.mark, range(start, stop)))
        return found - {""} if "" in found else found

    def top(self, index: int) -> int:
        """First line of the row at an index."""
        if self._each:
            return self._each * index
        return self._ends[index - 1] if index else 0

    def bottom(self, index: int) -> int:
        """The line after the last of the row at an index."""
        return self._each * (index + 1) if self._each else self._ends[index]

    def at_line(self, line: int) -> int:
        """Index of the row that a line belongs to; -1 where there is none."""
        if not 0 <= line < self.lines:
            return -1
        return line // self._each if self._each else bisect_right(self._ends, line)

    def find(self, key: str, near: int = 0) -> int:
        """Index of the row with this key, -1 when there is none; quick when it is close to `near`."""
        if not self.count:
            return -1
        if self._index_of:
            found = self._index_of(key)
            return found if found is not None and 0 <= found < self.count else -1
        near = min(max(near, 0), self.count - 1)
        for distance in range(_NEAR):
            for index in (near + distance, near - distance):
                if 0 <= index < self.count and self.key(index) == key:
                    return index
        return next((index for index in range(self.count) if self.key(index) == key), -1)

    def selectable_from(self, index: int, step: int) -> int:
        """The first row from `index` on, in steps of 1 or -1, that the cursor may stand on; -1 for none."""
        while 0 <= index < self.count:
            if self.row(index).selectable:
                return index
            index += step
        return -1

    def page_from(self, index: int, step: int, lines: int) -> int:
        """The row that the cursor gets to by so many lines down (step 1) or up (-1), and by one row at least."""
        line = min(max(self.top(index) + step * lines, 0), self.lines - 1)
        target = self.at_line(line)
        if target == index:
            target = min(max(index + step, 0), self.count - 1)
        found = self.nearest_selectable(target, step)
        return found if (found - index) * step > 0 else index

    def nearest_selectable(self, index: int, step: int = 1) -> int:
        """Like `selectable_from`, but looks the other way too before it gives up."""
        found = self.selectable_from(index, step)
        return found if found >= 0 else self.selectable_from(index - step, -step)
