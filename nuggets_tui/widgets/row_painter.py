"""Draws the lines of a list's rows: gutter signs, styles by state, measured in cells and cached."""

from __future__ import annotations

from enum import IntFlag
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.cache import LRUCache
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from nuggets_tui.safe_text import content, safe_content
from nuggets_tui.widgets.row_source import Row

if TYPE_CHECKING:
    from textual.widget import Widget

GUTTER: Final = 2
"""Cells before a selectable row's text: the cursor's sign and the row's."""

ROW_STYLES: Final = """
RowList {
    height: 1fr;
    overflow-x: hidden;
    overflow-y: auto;
    scrollbar-size-vertical: 1;
    & > .row-list--heading { text-style: bold; }
    & > .row-list--cursor {
        color: $block-cursor-foreground;
        background: $block-cursor-background;
        text-style: $block-cursor-text-style;
    }
    & > .row-list--cursor-blurred { background: $block-cursor-blurred-background; }
    & > .row-list--selected { text-style: bold; }
    & > .row-list--glow { text-style: bold; }
    & > .row-list--mark { color: $text-accent; text-style: bold; }
    & > .row-list--glow-mark { color: $text-success; text-style: bold; }
    & > .row-list--empty { color: $text-muted; }
}
"""
ROW_CLASSES: Final = {
    "row-list--heading",
    "row-list--cursor",
    "row-list--cursor-blurred",
    "row-list--selected",
    "row-list--glow",
    "row-list--mark",
    "row-list--glow-mark",
    "row-list--empty",
}

_LINES_KEPT: Final = 4096


class RowState(IntFlag):
    """What a row looks like besides its own text."""

    CURSOR = 1
    CURSOR_BLURRED = 2
    SELECTED = 4
    GLOW = 8


_STYLES: Final = (
    (RowState.SELECTED, "row-list--selected"),
    (RowState.GLOW, "row-list--glow"),
    (RowState.CURSOR_BLURRED, "row-list--cursor-blurred"),
    (RowState.CURSOR, "row-list--cursor"),
)
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
            style = self._widget.get_visual_style("row-list--empty")
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
        names = [name for flag, name in _STYLES if state & flag]
        if not row.selectable:
            names.insert(0, "row-list--heading")
        style = self._widget.get_visual_style(*names)
        gutter = GUTTER if row.selectable else 0
        room = max(width - gutter, 0)
        line = row.lines[number] if number < len(row.lines) else Content("")
        text = line(room) if callable(line) else line
        plain_only = bool(state & RowState.CURSOR)
        strip = self._strip(text, room, style, plain_only=plain_only)
        if not gutter:
            return strip
        return Strip([*self._gutter(number, state, style), *strip], strip.cell_length + gutter).crop(0, width)

    def _gutter(self, number: int, state: RowState, style: Style) -> list[Segment]:
        cursor = _CURSOR_SIGNS.get(state & (RowState.CURSOR | RowState.CURSOR_BLURRED), " ")
        sign = _ROW_SIGNS.get(state & (RowState.SELECTED | RowState.GLOW), " ") if number == 0 else " "
        if cursor == sign == " ":
            return [Segment(" " * GUTTER, style.rich_style)]
        return [
            Segment(cursor, self._sign_style(style, "row-list--mark", state)),
            Segment(sign, self._sign_style(style, _sign_class(state), state)),
        ]

    def _sign_style(self, style: Style, name: str, state: RowState) -> RichStyle:
        if state & RowState.CURSOR:
            return style.rich_style
        return (style + self._widget.get_visual_style(name, partial=True)).rich_style

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


def _sign_class(state: RowState) -> str:
    return "row-list--mark" if state & RowState.SELECTED else "row-list--glow-mark"
