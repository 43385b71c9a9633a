"""A list that shows 100,000 rows as fast as ten: rows are made and drawn only when they come into view."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import lru_cache
from itertools import accumulate, islice, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from nuggets_tui.safe_text import content, safe_content
from nuggets_tui.textual_adapter import resize_content
from nuggets_tui.widgets.prompt_frames import PromptFrames

if TYPE_CHECKING:
    from textual.widget import Widget

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


GUTTER: Final = 2
"""Cells before a selectable row's text: the cursor's sign and the row's."""

ROW_STYLES: Final = """
RowList {
    height: 1fr;
    overflow-x: hidden;
    overflow-y: auto;
    scrollbar-size-vertical: 1;
    & > .row-list--cursor {
        color: $block-cursor-foreground;
        background: $block-cursor-background;
        text-style: $block-cursor-text-style;
    }
    & > .row-list--cursor-blurred { background: $block-cursor-blurred-background; }
}
"""
# Only what has a ground of its own: each of these is styled for each list, and the first frame waits for that.
ROW_CLASSES: Final = {"row-list--cursor", "row-list--cursor-blurred"}
_BOLD: Final = Style(bold=True)
_MARK: Final = "bold $text-accent"
_GLOW_MARK: Final = "bold $text-success"
_EMPTY: Final = "$text-muted"

_LINES_KEPT: Final = 4096


class RowState(IntFlag):
    """What a row looks like besides its own text."""

    CURSOR = 1
    CURSOR_BLURRED = 2
    SELECTED = 4
    GLOW = 8


_CURSOR_CLASSES: Final = {
    RowState.CURSOR: "row-list--cursor",
    RowState.CURSOR_BLURRED: "row-list--cursor-blurred",
}
_CURSOR_SIGNS: Final = {RowState.CURSOR: "▌", RowState.CURSOR_BLURRED: "›"}
_ROW_SIGNS: Final = {
    RowState.SELECTED: "✓",
    RowState.GLOW: "•",
    RowState.SELECTED | RowState.GLOW: "◉",
}


class RowPainter:
    """Turns rows into strips with the styles of one widget."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._lines: LRUCache[tuple[str, int, int, RowState, Style], tuple[Row, Strip]] = LRUCache(
            _LINES_KEPT
        )
        self._empty: dict[int, list[Strip]] = {}

    def clear(self) -> None:
        """Forget all drawn lines: styles or the empty text have changed."""
        self._lines.clear()
        self._empty.clear()

    def blank(self, width: int) -> Strip:
        """A line without a row."""
        return Strip.blank(width, self._widget.visual_style.rich_style)

    def empty_line(self, text: str | Content, y: int, width: int) -> Strip:
        """A line of the text that a list without rows shows, wrapped at `width` cells."""
        if width not in self._empty:
            shown = text if isinstance(text, Content) else content(text)
            style = self._widget.visual_style + parse_style(_EMPTY)
            self._empty = {width: [self._strip(part, width, style) for part in _wrapped(shown, width)]}
        lines = self._empty[width]
        return lines[y] if y < len(lines) else self.blank(width)

    def line(self, row: Row, number: int, width: int, state: RowState) -> Strip:
        """One line of a row, `width` cells wide."""
        # The widget's own style is part of the key: it follows focus, hover and theme.
        place = (row.key, number, width, state, self._widget.visual_style)
        kept = self._lines.get(place)
        if kept is not None and kept[0] is row:
            return kept[1]
        strip = self._draw(row, number, width, state)
        self._lines[place] = (row, strip)
        return strip

    def _draw(self, row: Row, number: int, width: int, state: RowState) -> Strip:
        style = self._style(row, state)
        gutter = GUTTER if row.selectable else 0
        room = max(width - gutter, 0)
        line = row.lines[number] if number < len(row.lines) else Content("")
        text = line(room) if callable(line) else line
        plain_only = bool(state & RowState.CURSOR)
        strip = self._strip(text, room, style, plain_only=plain_only)
        if not gutter:
            return strip
        return Strip([*self._gutter(number, state, style), *strip], strip.cell_length + gutter).crop(0, width)

    def _style(self, row: Row, state: RowState) -> Style:
        cursor = _CURSOR_CLASSES.get(state & (RowState.CURSOR | RowState.CURSOR_BLURRED))
        style = self._widget.get_visual_style(cursor) if cursor else self._widget.visual_style
        bold = not row.selectable or state & (RowState.SELECTED | RowState.GLOW)
        return style + _BOLD if bold else style

    def _gutter(self, number: int, state: RowState, style: Style) -> list[Segment]:
        cursor = _CURSOR_SIGNS.get(state & (RowState.CURSOR | RowState.CURSOR_BLURRED), " ")
        sign = _ROW_SIGNS.get(state & (RowState.SELECTED | RowState.GLOW), " ") if number == 0 else " "
        if cursor == sign == " ":
            return [Segment(" " * GUTTER, style.rich_style)]
        return [
            Segment(cursor, self._sign_style(style, _MARK, state)),
            Segment(sign, self._sign_style(style, _MARK if state & RowState.SELECTED else _GLOW_MARK, state)),
        ]

    def _sign_style(self, style: Style, own: str, state: RowState) -> RichStyle:
        return (style if state & RowState.CURSOR else style + parse_style(own)).rich_style

    def _strip(self, text: Content, width: int, style: Style, *, plain_only: bool = False) -> Strip:
        """Content as a strip of exactly `width` cells; `plain_only` drops colours of its own."""

        def span_style(named: str | Style) -> Style:
            found = parse_style(named)
            return found.without_color if plain_only else found

        shown = safe_content(text).truncate(width, ellipsis=True)
        segments = [
            Segment(part, (style + part_style).rich_style)
            for part, part_style in shown.render(style, end="", parse_style=span_style)
            if part
        ]
        return Strip(segments).adjust_cell_length(width, style.rich_style)


def parse_style(style: str | Style) -> Style:
    """A style from its text (theme variables allowed); one that cannot be read changes nothing."""
    if isinstance(style, Style):
        return style
    try:
        return Style.parse(style)
    except Exception:
        # Textual raises several unrelated errors here, and a wrong style must not take a row off the screen.
        return Style.null()


def _wrapped(text: Content, width: int) -> list[Content]:
    return text.wrap(width) if width > 0 else []


Shown = tuple[Row, int, RowState]
# The actions that select.
_SELECTING: Final = frozenset(
    ("toggle_row", "toggle_range", "extend", "extend_page", "extend_to_end", "select_all")
)

__all__ = ["GUTTER", "Row", "RowLine", "RowList", "RowSource"]


class RowList(ScrollView, PromptFrames, can_focus=True):
    """A list of rows with a cursor, headings, optional multi-select, and marks that glow for a moment.

    Rows have one or more lines. Signs stand in a gutter before the rows, so that the list reads without
    colour too: "▌" the cursor, "›" the cursor while another widget has the focus, "✓" selected, "•" changed,
    "◉" both.
    """

    ALLOW_SELECT = False

    DEFAULT_CSS = ROW_STYLES
    COMPONENT_CLASSES: ClassVar[set[str]] = ROW_CLASSES

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor_up", "Up", show=False),
        Binding("down,j", "cursor_down", "Down", show=False),
        Binding("home", "first", "First", show=False),
        Binding("end", "last", "Last", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
        Binding("enter", "open", "Open", show=False),
        Binding("space", "toggle_row", "Select", show=False, id="select"),
        Binding("shift+space", "toggle_range", "Select from the last selected row", show=False),
        Binding("shift+up", "extend(-1)", "Select upwards", show=False),
        Binding("shift+down", "extend(1)", "Select downwards", show=False),
        Binding("shift+pageup", "extend_page(-1)", "Select a page upwards", show=False),
        Binding("shift+pagedown", "extend_page(1)", "Select a page downwards", show=False),
        Binding("shift+home", "extend_to_end(-1)", "Select up to the first", show=False),
        Binding("shift+end", "extend_to_end(1)", "Select down to the last", show=False),
        Binding("ctrl+a", "select_all", "Select or deselect all", show=False, id="select_all"),
    ]

    cursor: reactive[int] = reactive(-1, repaint=False)
    """Index of the row that the cursor stands on; -1 when there is none."""
    empty_text: reactive[str | Content] = reactive[str | Content]("")
    """What the list says when it has no rows. A `str` is shown as it stands, never read as markup."""

    @dataclass(eq=False, repr=False)
    class RowHighlighted(Message):
        """The cursor was moved to another row. A newer one replaces those not yet handled."""

        row_list: RowList
        row: Row
        index: int

        @property
        def control(self) -> RowList:
            return self.row_list

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RowList.RowHighlighted) and message.row_list is self.row_list

    @dataclass(eq=False, repr=False)
    class RowSelected(Message):
        """A row was opened: enter, or a click on the row under the cursor."""

        row_list: RowList
        row: Row
        index: int

        @property
        def control(self) -> RowList:
            return self.row_list

    @dataclass(eq=False, repr=False)
    class SelectionChanged(Message):
        """Other rows are selected than before. `keys`: their marks."""

        row_list: RowList
        keys: frozenset[str]

        @property
        def control(self) -> RowList:
            return self.row_list

    def __init__(
        self,
        rows: Sequence[Row] = (),
        *,
        multi_select: bool = False,
        keep_selected: bool = False,
        empty_text: str | Content = "",
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        """`multi_select`: whether space, shift with keys that move, and clicks with shift or ctrl or on the gutter
        select rows. `keep_selected`: what goes from the list stays selected until its owner lets it go."""
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self.multi_select = multi_select
        self.set_reactive(RowList.empty_text, empty_text)
        self._source = RowSource.of(rows)
        self._painter = RowPainter(self)
        self._selection = RowSelection(self._post_selected)
        # The rows that glow, by their keys, each with the number of the call that lit it.
        self._glowing: dict[str, int] = {}
        self._glow_count = 0
        self._keep_selected = keep_selected
        # Whether the list scrolls by itself, and looks after its cursor.
        self._placing = False
        # What each line in view shows on the screen.
        self._painted: dict[int, Shown | None] = {}
        self.set_reactive(RowList.cursor, self._source.selectable_from(0, 1))

    # What the list holds ----------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Number of rows, headings included."""
        return self._source.count

    @property
    def cursor_row(self) -> Row | None:
        """The row that the cursor stands on."""
        return self._source.row(self.cursor) if 0 <= self.cursor < self.count else None

    def row(self, index: int) -> Row:
        """The row at an index. Raises IndexError."""
        return self._source.row(index)

    def set_rows(self, rows: Sequence[Row], *, keep_cursor: bool = True) -> None:
        """Show these rows instead. See `set_source` for cursor and scroll position."""
        self._replace(RowSource.of(rows), keep_cursor)

    def set_source(
        self,
        count: int,
        make_row: Callable[[int], Row],
        *,
        height: Height = 1,
        key_at: Callable[[int], str] | None = None,
        index_of: Callable[[str], int | None] | None = None,
        mark_at: Callable[[int], str] | None = None,
        keep_cursor: bool = True,
    ) -> None:
        """Show `count` rows that are made when they come into view.

        `height`: lines of every row, or of each (a sequence, or a callable from index to lines). `key_at`
        gives a key without making the row, `index_of` the index of a key; both only make it quicker to find
        the cursor's row again. `mark_at`: under which mark a row is selected, "" for one that cannot be; without
        it, its key.

        With `keep_cursor` the cursor stays on the row with the same key (at the same index when that is
        gone) and that row does not move on the screen; at the top of the list, rows that come in above show.
        Without, cursor and list go to the top. Selected rows that are gone leave the selection, unless it is kept.
        """
        source = RowSource(count, make_row, height=height, key_at=key_at, index_of=index_of, mark_at=mark_at)
        self._replace(source, keep_cursor)

    def make_rows_anew(self) -> None:
        """Asks for the rows again, since what they show besides their data is another now."""
        self._source.row.cache_clear()
        self.refresh()

    def _replace(self, source: RowSource, keep_cursor: bool) -> None:
        with self.unpainted():
            told = self._exchange(source, keep_cursor)
        if self.is_running:
            self._paint_others()
        if told:
            self._post_highlight()

    def _exchange(self, source: RowSource, keep_cursor: bool) -> bool:
        """Puts other rows in the place of the present ones; whether the cursor was taken to another row."""
        old, index = self._source, self.cursor
        key = old.key(index) if 0 <= index < old.count else None
        anchor = self._anchor() if keep_cursor else None
        self._source = source
        found = source.find(key, index) if key is not None and keep_cursor else -1
        if found >= 0 and not source.row(found).selectable:
            found = -1
        if found < 0:
            wanted = min(index, source.count - 1) if keep_cursor else 0
            found = source.nearest_selectable(max(wanted, 0))
        self.set_reactive(RowList.cursor, found)
        self._drop_lost_selection()
        self._fit_virtual_size()
        if not self.is_running:
            return False
        self._scroll_after(anchor)
        self._show_cursor()
        # A row that goes takes nobody anywhere: what its loss puts under the cursor was not chosen.
        lost = keep_cursor and key is not None
        return found >= 0 and source.key(found) != key and not lost

    def _anchor(self) -> tuple[str, int, int] | None:
        """Key and index of the row to hold still, and its line on the screen; None at the top of the list."""
        source, top, index = self._source, self.scroll_offset.y, self.cursor
        if top <= 0 or index < 0:
            return None
        return source.key(index), index, source.top(index) - top

    def _scroll_after(self, anchor: tuple[str, int, int] | None) -> None:
        if anchor is None:
            self._scroll_to_line(0)
            return
        key, index, line = anchor
        found = self._source.find(key, index)
        if found < 0:
            found = min(index, self.count - 1)
        if found >= 0:
            self._scroll_to_line(self._source.top(found) - line)

    # The cursor -------------------------------------------------------------------------------------

    def validate_cursor(self, cursor: int) -> int:
        if not self.count or cursor < 0:
            return -1
        return self._source.nearest_selectable(min(cursor, self.count - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self.paint_soon()
        for index in (old, new):
            self._refresh_row(index)
        if new >= 0:
            self._show_cursor()
            self._post_highlight()

    def move_to(self, key: str) -> bool:
        """Put the cursor on the row with this key; False when there is none or it is a heading."""
        found = self._source.find(key, self.cursor)
        if found < 0 or not self._source.row(found).selectable:
            return False
        self.cursor = found
        self._show_cursor()
        return True

    def _post_highlight(self) -> None:
        row = self.cursor_row
        if row is not None:
            self.post_message(self.RowHighlighted(self, row, self.cursor))

    def _step(self, step: int) -> None:
        found = self._source.selectable_from(self.cursor + step, step)
        if found >= 0:
            self.cursor = found
        elif step < 0:
            # Headings above the first row come into view with one more "up".
            self._show_cursor()

    def action_cursor_up(self) -> None:
        self._step(-1)

    def action_cursor_down(self) -> None:
        self._step(1)

    def action_first(self) -> None:
        self.cursor = self._source.selectable_from(0, 1)
        self._show_cursor()

    def action_last(self) -> None:
        self.cursor = self._source.selectable_from(self.count - 1, -1)

    def action_page_up(self) -> None:
        self._page(-1)

    def action_page_down(self) -> None:
        self._page(1)

    def _page(self, step: int) -> None:
        if self.cursor >= 0:
            lines = max(self.scrollable_content_region.height - 1, 1)
            self.cursor = self._source.page_from(self.cursor, step, lines)

    def action_open(self) -> None:
        row = self.cursor_row
        if row is not None:
            self.post_message(self.RowSelected(self, row, self.cursor))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = self._source.at_line(offset.y + self.scroll_offset.y)
        if index < 0 or not self._source.row(index).selectable:
            return
        event.stop()
        if self.multi_select and event.shift:
            self._select_up_to(index)
        elif self.multi_select and (event.ctrl or offset.x < GUTTER):
            self.cursor = index
            self._selection.toggle(self._source, index)
        elif index != self.cursor:
            self.cursor = index
        elif event.chain <= 2:
            self.action_open()

    # What is selected -------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without multi-select its keys are left to others."""
        if action in _SELECTING:
            return self.multi_select
        return super().check_action(action, parameters)

    @property
    def selected(self) -> frozenset[str]:
        """Marks of the selected rows; a row's mark is its key unless the source says otherwise."""
        return self._selection.marks

    def select(self, keys: Collection[str]) -> None:
        """Select the rows with these marks and no others."""
        self._selection.select(frozenset(keys))

    def clear_selection(self) -> None:
        """Select nothing."""
        self.select(())

    def action_toggle_row(self) -> None:
        """Select the row under the cursor or let it go, and step on."""
        if self.cursor >= 0:
            self._selection.toggle(self._source, self.cursor)
            self._step(1)
            self._selection.stepped_on(self._source.key(self.cursor))

    def action_toggle_range(self) -> None:
        """Select from the row that was selected last to the cursor."""
        self._select_up_to(self.cursor)

    def action_extend(self, step: int) -> None:
        """Draw the range a row further."""
        self._extend(lambda: self._step(step))

    def action_extend_page(self, step: int) -> None:
        """Draw the range a page further."""
        self._extend(lambda: self._page(step))

    def action_extend_to_end(self, step: int) -> None:
        """Draw the range to an end of the list."""
        self._extend(self.action_first if step < 0 else self.action_last)

    def action_select_all(self) -> None:
        """Select every row besides what is selected; when all are, let them go."""
        self._selection.select_all(self._source)

    def _extend(self, move: Callable[[], None]) -> None:
        if self.cursor >= 0:
            self._selection.begin_range(self._source.key(self.cursor))
        move()
        if self.cursor >= 0:
            self._selection.draw_range(self._source, self.cursor)

    def _select_up_to(self, index: int) -> None:
        """Put the cursor on a row and select from the row selected last, else from the cursor, up to it."""
        if self.cursor >= 0:
            self._selection.begin_range_at_last(self._source.key(self.cursor))
            self.cursor = index
            self._selection.draw_range(self._source, self.cursor)

    def _post_selected(self, marks: frozenset[str]) -> None:
        self.refresh()
        self.post_message(self.SelectionChanged(self, marks))

    def _drop_lost_selection(self) -> None:
        if self.selected and not self._keep_selected:
            self._selection.keep(self._source.marks(0, self._source.count))

    # What changed just now --------------------------------------------------------------------------

    def glow(self, keys: Collection[str], seconds: float = 2.0) -> None:
        """Mark the rows with these keys as changed, for so many seconds (0: until `clear_glow`)."""
        if not keys:
            return
        self._glow_count += 1
        batch = self._glow_count
        self._glowing.update(dict.fromkeys(keys, batch))
        self.refresh()
        if seconds > 0:
            self.set_timer(seconds, lambda: self._end_glow(batch))

    def clear_glow(self) -> None:
        """No row glows any more."""
        self._glowing.clear()
        self.refresh()

    def _end_glow(self, batch: int) -> None:
        self._glowing = {key: other for key, other in self._glowing.items() if other != batch}
        self.refresh()

    # Painting ---------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self._fit_virtual_size()
        if self.cursor >= 0:
            self._post_highlight()

    def on_resize(self) -> None:
        self._fit_virtual_size()
        self._show_cursor()

    def on_show(self) -> None:
        """The cursor may have moved while other panes stood here, or there was no room to scroll in."""
        self.call_after_refresh(self._show_cursor)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Wheel and scrollbar take the cursor along before it leaves sight: keys act on what is seen."""
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and not self.cursor_in_sight:
            self.cursor = self._nearest_in_sight()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painter.clear()

    def watch_empty_text(self) -> None:
        self._painter.clear()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if not self._source.count:
            self._painted.clear()
            return self._painter.empty_line(self.empty_text, y, width)
        self._painted[y] = shown = self._shown_at(y)
        if shown is None:
            return self._painter.blank(width)
        row, line, state = shown
        return self._painter.line(row, line, width, state)

    def _shown_at(self, y: int) -> Shown | None:
        """The row on a line in view, which of its lines, and in which state; None below the last row."""
        source, line = self._source, y + self.scroll_offset.y
        index = source.at_line(line)
        return (source.row(index), line - source.top(index), self._state(index)) if index >= 0 else None

    def _paint_others(self) -> None:
        """Has the lines painted that show another row than is painted there."""
        height = self.scrollable_content_region.height
        others = [y for y in range(height) if not _same(self._shown_at(y), self._painted.get(y))]
        # Nothing is known of what stands there when there were no rows: words, maybe.
        if not self.count or not self._painted or len(others) > height // 2:
            self.refresh()
        else:
            for y in others:
                self.refresh(Region(0, y, self.size.width, 1))

    def _state(self, index: int) -> RowState:
        state = RowState(0)
        if index == self.cursor:
            state |= RowState.CURSOR if self.has_focus else RowState.CURSOR_BLURRED
        selected = self.selected
        if selected or self._glowing:
            if selected and self._source.mark(index) in selected:
                state |= RowState.SELECTED
            if self._glowing and self._source.key(index) in self._glowing:
                state |= RowState.GLOW
        return state

    def _fit_virtual_size(self) -> None:
        self._placing = True
        resize_content(self, Size(self.scrollable_content_region.width, self._source.lines))
        self._placing = False

    def _refresh_row(self, index: int) -> None:
        if 0 <= index < self.count:
            top, bottom = self._source.top(index), self._source.bottom(index)
            self.refresh(Region(0, top - self.scroll_offset.y, self.size.width, bottom - top))

    def _scroll_to_line(self, line: int) -> None:
        self._placing = True
        self.scroll_to(y=max(line, 0), animate=False, force=True)
        self._placing = False

    @property
    def cursor_in_sight(self) -> bool:
        """Whether the whole row under the cursor is seen, or as much of it as there is room for."""
        return self.cursor >= 0 and self._line_to_show() == self.scroll_offset.y

    @property
    def cursor_line(self) -> int:
        """The line of the screen on which the row under the cursor begins."""
        line = self._source.top(self.cursor) if 0 <= self.cursor < self.count else 0
        return self.scrollable_content_region.y + line - self.scroll_offset.y

    def bring_cursor_in_sight(self) -> bool:
        """Scroll to the cursor's row; whether it was in sight before."""
        seen = self.cursor < 0 or self.cursor_in_sight
        self._show_cursor()
        return seen

    def _show_cursor(self) -> None:
        """Scroll as little as shows the cursor's row; with the first row, the headings above it."""
        if self.cursor < 0:
            return
        if self.cursor == self._source.selectable_from(0, 1):
            self._scroll_to_line(0)
        line = self._line_to_show()
        if line is not None and line != self.scroll_offset.y:
            self._scroll_to_line(line)

    def _line_to_show(self) -> int | None:
        """The line to scroll to so that the cursor's row is seen; None where no row has room."""
        source, index, at = self._source, self.cursor, self.scroll_offset.y
        height = self.scrollable_content_region.height
        if not 0 <= index < source.count or height <= 0:
            return None
        top, bottom = source.top(index), source.bottom(index)
        return top if bottom - top > height else min(max(at, bottom - height), top)

    def _nearest_in_sight(self) -> int:
        """The row nearest to the cursor of those that are seen whole; the cursor's own where none is."""
        source, top = self._source, self.scroll_offset.y
        end = top + self.scrollable_content_region.height
        seen = [
            index
            for index in range(max(source.at_line(top), 0), source.at_line(min(end, source.lines) - 1) + 1)
            if source.row(index).selectable and source.top(index) >= top and source.bottom(index) <= end
        ]
        return min(seen, key=lambda index: abs(index - self.cursor), default=self.cursor)


def _same(one: Shown | None, other: Shown | None) -> bool:
    if one is None or other is None:
        return one is other
    return one[0] is other[0] and one[1:] == other[1:]
