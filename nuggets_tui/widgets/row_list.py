"""A list that shows 100,000 rows as fast as ten: rows are made and drawn only when they come into view."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, islice, repeat
from typing import Any, ClassVar, Final, NamedTuple, Self

import msgspec
from rich.segment import Segment
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
from textual.widget import Widget

from nuggets_tui.safe_text import content, safe_content
from nuggets_tui.textual_adapter import resize_content

RowLine = Content | Callable[[int], Content]
Height = int | Sequence[int] | Callable[[int], int]

GUTTER: Final = 2
"""Cells before a selectable row's text: the cursor's sign and the row's."""
_NEAR: Final = 64
_ROWS_KEPT: Final = 1024
_LINES_KEPT: Final = 4096


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
    """A number of rows behind one way to ask for them; immutable but for its cache. As `RowList.set_source`."""

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
        self._index_of = index_of
        self.row = lru_cache(_ROWS_KEPT)(self._row)
        self.key = key_at or self._own_key
        self.mark = mark_at or self._own_mark

    @classmethod
    def of(cls, rows: Sequence[Row]) -> RowSource:
        """A source of rows that are at hand."""
        heights = [len(row.lines) for row in rows]
        uniform = len(set(heights)) == 1
        return cls(len(rows), rows.__getitem__, height=heights[0] if uniform else heights)

    def _row(self, index: int) -> Row:
        if self._make_row is None or not 0 <= index < self.count:
            raise IndexError(index)
        return self._make_row(index)

    def _own_key(self, index: int) -> str:
        return self.row(index).key

    def _own_mark(self, index: int) -> str:
        row = self.row(index)
        return row.key if row.selectable else ""

    def marks(self, start: int, stop: int) -> frozenset[str]:
        """Marks of the rows from one index up to another, those that cannot be selected left out."""
        found = frozenset(map(self.mark, range(start, stop)))
        return found - {""} if "" in found else found

    @property
    def lines(self) -> int:
        """Height of all rows together, in lines."""
        return self.top(self.count)

    def top(self, index: int) -> int:
        """First line of the row at an index."""
        if self._each:
            return self._each * index
        return self._ends[index - 1] if index else 0

    def bottom(self, index: int) -> int:
        """The line after the last of the row at an index."""
        return self.top(index + 1)

    def at_line(self, line: int) -> int:
        """Index of the row that a line belongs to; -1 where there is none."""
        if not 0 <= line < self.lines:
            return -1
        return line // self._each if self._each else bisect_right(self._ends, line)

    def find(self, key: str, near: int = 0) -> int:
        """Index of the row with this key, -1 when there is none; quick when it is close to `near`."""
        if self._index_of:
            found = self._index_of(key)
            return found if found is not None and 0 <= found < self.count else -1
        begin = min(max(near - _NEAR, 0), self.count)
        places = chain(range(begin, min(near + _NEAR, self.count)), range(self.count))
        return next((index for index in places if self.key(index) == key), -1)

    def selectable_from(self, index: int, step: int) -> int:
        """The first row from `index` on, in steps of 1 or -1, that the cursor may stand on; -1 for none."""
        while 0 <= index < self.count:
            if self.row(index).selectable:
                return index
            index += step
        return -1

    def page_from(self, index: int, step: int, lines: int) -> int:
        """The row that the cursor gets to by so many lines down (step 1) or up (-1), and by one row at least."""
        target = self.at_line(min(max(self.top(index) + step * lines, 0), self.lines - 1))
        if target == index:
            target = min(max(index + step, 0), self.count - 1)
        found = self.nearest_selectable(target, step)
        return found if (found - index) * step > 0 else index

    def nearest_selectable(self, index: int, step: int = 1) -> int:
        """Like `selectable_from`, but looks the other way too before it gives up."""
        found = self.selectable_from(index, step)
        return found if found >= 0 else self.selectable_from(index - step, -step)


class _State(NamedTuple):
    """What a row looks like besides its own text. cursor: its sign, "" where it stands elsewhere."""

    cursor: str = ""
    selected: bool = False
    glows: bool = False


class _Range(NamedTuple):
    """A range that is being drawn: the key it begins at, the key it reached, and what was selected beside it."""

    anchor: str
    reached: str
    beside: frozenset[str]


_HERE: Final = "▌"
_AWAY: Final = "›"
_CURSORS: Final = {_HERE: "row-list--cursor", _AWAY: "row-list--cursor-blurred"}
_SIGNS: Final = {(False, False): " ", (True, False): "✓", (False, True): "•", (True, True): "◉"}
_BOLD: Final = Style(bold=True)


def parse_style(style: str | Style) -> Style:
    """A style from its text (theme variables allowed); one that cannot be read changes nothing."""
    if isinstance(style, Style):
        return style
    try:
        return Style.parse(style)
    except Exception:
        # Textual raises several unrelated errors here, and a wrong style must not take a row off the screen.
        return Style.null()


Shown = tuple[Row, int, _State]
# The actions that select.
_SELECTING: Final = frozenset(("toggle_row", "toggle_range", "extend", "select_all"))


class PromptFrames(Widget):
    """A widget some of whose changes are painted as soon as they are made. The last of a class's bases: Textual looks
    for styles at the first."""

    _awaited = False
    _painting = True

    def paint_soon(self) -> None:
        """Has what changes in the message now worked on painted at its end, not at the next tick."""
        self._awaited = True

    @contextmanager
    def unpainted(self) -> Iterator[None]:
        """Nothing that is done inside has the widget painted anew: who does it says afterwards what has to be."""
        self._painting = False
        try:
            yield
        finally:
            self._painting = True

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """As every widget's, but for what may turn out to look as before."""
        if not self._painting and not layout and not recompose:
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def on_idle(self) -> None:
        if self._awaited:
            self._awaited = False
            self.call_next(self._ask_for_frame)

    def _ask_for_frame(self) -> None:
        # What a tick of the clock calls too. It is no promise of Textual's; without it the clock is waited for.
        tick = getattr(self.screen, "_on_timer_update", None) if self.is_attached else None
        if tick is not None:
            self.screen.call_later(tick)


@dataclass(eq=False, repr=False)
class _OfRow(Message):
    row_list: RowList
    row: Row
    index: int

    @property
    def control(self) -> RowList:
        return self.row_list


class RowList(ScrollView, PromptFrames, can_focus=True):
    """A list of rows with a cursor, headings, optional multi-select, and marks that glow for a moment.

    Rows have one or more lines. Signs stand in a gutter before the rows, so that the list reads without
    colour too: "▌" the cursor, "›" the cursor while another widget has the focus, "✓" selected, "•" changed,
    "◉" both.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
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
    COMPONENT_CLASSES: ClassVar[set[str]] = set(_CURSORS.values())

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move('up')", "Up", show=False),
        Binding("down,j", "move('down')", "Down", show=False),
        Binding("home", "move('home')", "First", show=False),
        Binding("end", "move('end')", "Last", show=False),
        Binding("pageup", "move('pageup')", "Page up", show=False),
        Binding("pagedown", "move('pagedown')", "Page down", show=False),
        Binding("enter", "open", "Open", show=False),
        Binding("space", "toggle_row", "Select", show=False, id="select"),
        Binding("shift+space", "toggle_range", "Select from the last selected row", show=False),
        *(
            Binding(f"shift+{key}", f"extend('{key}')", "Select a range", show=False)
            for key in ("up", "down", "pageup", "pagedown", "home", "end")
        ),
        Binding("ctrl+a", "select_all", "Select or deselect all", show=False, id="select_all"),
    ]

    cursor: reactive[int] = reactive(-1, repaint=False)
    """Index of the row that the cursor stands on; -1 when there is none."""
    empty_text: reactive[str | Content] = reactive[str | Content]("")
    """What the list says when it has no rows. A `str` is shown as it stands, never read as markup."""

    class RowHighlighted(_OfRow):
        """The cursor was moved to another row. A newer one replaces those not yet handled."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RowList.RowHighlighted) and message.row_list is self.row_list

    class RowSelected(_OfRow):
        """A row was opened: enter, or a click on the row under the cursor."""

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
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`multi_select`: whether space, shift with keys that move, and clicks with shift or ctrl or on the gutter
        select rows. `keep_selected`: what goes from the list stays selected until its owner lets it go."""
        super().__init__(id=id, classes=classes)
        self.multi_select = multi_select
        self.set_reactive(RowList.empty_text, empty_text)
        self._source = RowSource.of(rows)
        self._keep_selected = keep_selected
        self.selected: frozenset[str] = frozenset()
        """Marks of the selected rows; a row's mark is its key unless the source says otherwise."""
        # The row selected last, and the range that is drawn.
        self._anchor_key = ""
        self._range: _Range | None = None
        self._glowing: frozenset[str] = frozenset()
        # Whether the list scrolls by itself, and looks after its cursor.
        self._placing = False
        # What each line in view shows on the screen; the lines drawn, each with its row; the empty text by its width.
        self._painted: dict[int, Shown | None] = {}
        self._strips: LRUCache[tuple[object, ...], tuple[Row, Strip]] = LRUCache(_LINES_KEPT)
        self._empty: tuple[int, list[Strip]] = (-1, [])
        self.set_reactive(RowList.cursor, self._source.selectable_from(0, 1))

    # What the list holds

    @property
    def count(self) -> int:
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
        self, count: int, make_row: Callable[[int], Row], *, keep_cursor: bool = True, **more: Any
    ) -> None:
        """Show `count` rows that are made when they come into view.

        `height`: lines of every row, or of each (a sequence is quicker than a callable from index to lines, which is
        asked once for all rows). `key_at` gives a key without making the row, `index_of` the index of a key; both only
        make it quicker to find the cursor's row again. `mark_at`: under which mark a row is selected, "" for one that
        cannot be; without it, the key of a row that the cursor may stand on.

        With `keep_cursor` the cursor stays on the row with the same key (at the same index when that is
        gone) and that row does not move on the screen; at the top of the list, rows that come in above show.
        Without, cursor and list go to the top. Selected rows that are gone leave the selection, unless it is kept.
        """
        self._replace(RowSource(count, make_row, **more), keep_cursor)

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
        old, index, top = self._source, self.cursor, self.scroll_offset.y
        key = old.key(index) if 0 <= index < old.count else None
        # On which line of the screen the row stands that is to be held still; at the top of the list none is.
        line = old.top(index) - top if keep_cursor and top > 0 and index >= 0 else None
        self._source = source
        found = source.find(key, index) if key is not None and keep_cursor else -1
        # Beside a heading that has the key, the list is still held where it was.
        held = found if found >= 0 else min(index, source.count - 1)
        if found < 0 or not source.row(found).selectable:
            found = source.nearest_selectable(max(min(index, source.count - 1) if keep_cursor else 0, 0))
        self.set_reactive(RowList.cursor, found)
        if self.selected and not self._keep_selected:
            self._set_selected(self.selected & source.marks(0, source.count))
        self._fit_virtual_size()
        if not self.is_running:
            return False
        if line is None:
            self._scroll_to_line(0)
        elif held >= 0:
            self._scroll_to_line(source.top(held) - line)
        self._show_cursor()
        # A row that goes takes nobody anywhere: what its loss puts under the cursor was not chosen.
        lost = keep_cursor and key is not None
        return found >= 0 and source.key(found) != key and not lost

    # The cursor

    def validate_cursor(self, cursor: int) -> int:
        if not self.count or cursor < 0:
            return -1
        return self._source.nearest_selectable(min(cursor, self.count - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self.paint_soon()
        for index in (old, new):
            if 0 <= index < self.count:
                top, bottom = self._source.top(index), self._source.bottom(index)
                self.refresh(Region(0, top - self.scroll_offset.y, self.size.width, bottom - top))
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

    def action_move(self, where: str) -> None:
        source, step = self._source, -1 if where in ("up", "pageup", "end") else 1
        if where.startswith("page") and self.cursor >= 0:
            lines = max(self.scrollable_content_region.height - 1, 1)
            self.cursor = source.page_from(self.cursor, step, lines)
        elif not where.startswith("page"):
            begin = {"home": 0, "end": self.count - 1}.get(where, self.cursor + step)
            found = source.selectable_from(begin, step)
            if found >= 0:
                self.cursor = found
            # Headings above the first row come into view with one more "up".
            self._show_cursor()

    def action_first(self) -> None:
        self.action_move("home")

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
            self._toggle()
        elif index != self.cursor:
            self.cursor = index
        elif event.chain <= 2:
            self.action_open()

    # What is selected. A range begins at the row that was selected last, if the cursor has only stepped on since, else
    # at the cursor; it follows the cursor back as well.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.multi_select if action in _SELECTING else super().check_action(action, parameters)

    def select(self, keys: Collection[str]) -> None:
        """Select the rows with these marks and no others."""
        self._range = None
        self._set_selected(frozenset(keys))

    def _set_selected(self, marks: frozenset[str]) -> None:
        if marks != self.selected:
            self.selected = marks
            self.refresh()
            self.post_message(self.SelectionChanged(self, marks))

    def _toggle(self) -> None:
        mark, key = self._source.mark(self.cursor), self._source.key(self.cursor)
        if mark:
            # Much quicker with many than the difference of both.
            chosen = mark not in self.selected
            self.select(self.selected | {mark} if chosen else self.selected - {mark})
            self._anchor_key = key if chosen else ""
            self._range = _Range(key, key, self.selected) if chosen else None

    def action_toggle_row(self) -> None:
        if self.cursor >= 0:
            self._toggle()
            self.action_move("down")
            if self._range is not None:
                self._range = _Range(self._range.anchor, self._source.key(self.cursor), self.selected)

    def action_toggle_range(self) -> None:
        self._select_up_to(self.cursor)

    def action_extend(self, where: str) -> None:
        if self.cursor >= 0:
            key = self._source.key(self.cursor)
            if self._range is None or self._range.reached != key:
                self._range = _Range(key, key, self.selected)
            self.action_move(where)
            self._draw_range()

    def action_select_all(self) -> None:
        every = self._source.marks(0, self.count)
        self.select(self.selected - every if every <= self.selected else self.selected | every)

    def _select_up_to(self, index: int) -> None:
        if self.cursor >= 0:
            self._range = _Range(self._anchor_key or self._source.key(self.cursor), "", self.selected)
            self.cursor = index
            self._draw_range()

    def _draw_range(self) -> None:
        assert self._range is not None
        anchor, _, beside = self._range
        begin = self._source.find(anchor, self.cursor)
        first, last = sorted((self.cursor, begin if begin >= 0 else self.cursor))
        self._range = _Range(anchor, self._source.key(self.cursor), beside)
        self._set_selected(beside | self._source.marks(first, last + 1))

    def glow(self, keys: Collection[str], seconds: float = 2.0) -> None:
        """Mark the rows with these keys as changed, for so many seconds."""
        if keys:
            self.light(self._glowing.union(keys))
            self.set_timer(seconds, lambda: self.light(self._glowing.difference(keys)))

    def light(self, keys: frozenset[str]) -> None:
        """The rows with these keys glow, and no others."""
        self._glowing = keys
        self.refresh()

    # Painting

    def on_mount(self) -> None:
        self._fit_virtual_size()
        if self.cursor >= 0:
            self._post_highlight()

    def on_resize(self) -> None:
        self._fit_virtual_size()
        self._show_cursor()

    def on_show(self) -> None:
        self.call_after_refresh(self._show_cursor)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and not self.cursor_in_sight:
            self.cursor = self._nearest_in_sight()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._empty = (-1, [])

    def watch_empty_text(self) -> None:
        self._empty = (-1, [])

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if not self.count:
            self._painted.clear()
            return self._empty_line(y, width)
        self._painted[y] = shown = self._shown_at(y)
        if shown is None:
            return Strip.blank(width, self.visual_style.rich_style)
        row, number, state = shown
        # The widget's own style is part of the key: it follows focus, hover and theme.
        place = (row.key, number, width, state, self.visual_style)
        kept = self._strips.get(place)
        if kept is None or kept[0] is not row:
            kept = self._strips[place] = (row, self._draw(row, number, width, state))
        return kept[1]

    def _empty_line(self, y: int, width: int) -> Strip:
        if self._empty[0] != width:
            text = self.empty_text if isinstance(self.empty_text, Content) else content(self.empty_text)
            style = self.visual_style + parse_style("$text-muted")
            self._empty = (
                width,
                [_strip(part, width, style) for part in text.wrap(width)] if width > 0 else [],
            )
        lines = self._empty[1]
        return lines[y] if y < len(lines) else Strip.blank(width, self.visual_style.rich_style)

    def _draw(self, row: Row, number: int, width: int, state: _State) -> Strip:
        style = self.get_visual_style(_CURSORS[state.cursor]) if state.cursor else self.visual_style
        if not row.selectable or state.selected or state.glows:
            style += _BOLD
        gutter = GUTTER if row.selectable else 0
        room = max(width - gutter, 0)
        line = row.lines[number] if number < len(row.lines) else Content("")
        here = state.cursor == _HERE
        strip = _strip(line(room) if callable(line) else line, room, style, plain_only=here)
        if not gutter:
            return strip
        sign = _SIGNS[state[1:]] if number == 0 else " "
        own = style if here else style + parse_style("bold $text-accent")
        glow = own if here or state.selected else style + parse_style("bold $text-success")
        before = [Segment(state.cursor or " ", own.rich_style), Segment(sign, glow.rich_style)]
        if not state.cursor and sign == " ":
            before = [Segment(" " * GUTTER, style.rich_style)]
        return Strip([*before, *strip], strip.cell_length + gutter).crop(0, width)

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

    def _state(self, index: int) -> _State:
        source = self._source
        return _State(
            (_HERE if self.has_focus else _AWAY) if index == self.cursor else "",
            bool(self.selected) and source.mark(index) in self.selected,
            bool(self._glowing) and source.key(index) in self._glowing,
        )

    def _fit_virtual_size(self) -> None:
        self._placing = True
        resize_content(self, Size(self.scrollable_content_region.width, self._source.lines))
        self._placing = False

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


def _strip(text: Content, width: int, style: Style, *, plain_only: bool = False) -> Strip:
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


def _same(one: Shown | None, other: Shown | None) -> bool:
    if one is None or other is None:
        return one is other
    return one[0] is other[0] and one[1:] == other[1:]
