"""A scrolling pane of ready lines that are made again for each width: note texts, differences, help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from nuggets_tui.textual_adapter import resize_content

MakeLines = Callable[[int], Sequence[Content]]


class LineView(ScrollView, can_focus=True):
    """Shows what `make(width)` returns, one content a line; lines are drawn as they come into view."""

    # The bar's column is kept free at all times: lines are wrapped before it is known whether there is a bar.
    DEFAULT_CSS = """
    LineView {
        scrollbar-gutter: stable;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False),
        Binding("k", "scroll_up", "Up", show=False),
    ]

    def __init__(
        self,
        make: MakeLines | None = None,
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._make: MakeLines = make or (lambda width: ())
        self._lines: Sequence[Content] = ()
        self._width = 0
        self._strips: dict[int, Strip] = {}

    def show_lines(self, make: MakeLines, *, keep_scroll: bool = False) -> None:
        """Shows other lines, from their beginning unless the place is kept."""
        self._make = make
        self._lay_out(self.scrollable_content_region.width)
        if not keep_scroll:
            self.scroll_to(0, 0, animate=False, immediate=True)

    @property
    def lines(self) -> Sequence[Content]:
        """All lines, once there is a width for them."""
        return self._lines

    @property
    def text(self) -> str:
        return "\n".join(line.plain for line in self._lines)

    def line_at(self, y: int) -> Content | None:
        """The line at a row of the pane; None below the last one."""
        place = y + self.scroll_offset.y
        return self._lines[place] if 0 <= place < len(self._lines) else None

    def _lay_out(self, width: int) -> None:
        self._width = width
        # One cell stays free before the scroll bar.
        self._lines = self._make(width - 1) if width > 1 else ()
        self._strips.clear()
        resize_content(self, Size(width, len(self._lines)))
        self.refresh()

    def on_resize(self) -> None:
        width = self.scrollable_content_region.width
        if width != self._width:
            self._lay_out(width)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        place = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        base = self.visual_style
        if not 0 <= place < len(self._lines):
            return Strip.blank(width, base.rich_style)
        strip = self._strips.get(place)
        if strip is None:
            strip = self._draw(self._lines[place], place, width)
            if self.text_selection is None:
                self._strips[place] = strip
        return strip.apply_offsets(0, place)

    def _draw(self, line: Content, place: int, width: int) -> Strip:
        base = self.visual_style
        selection = self.text_selection
        span = selection.get_span(place) if selection is not None else None
        if span is not None:
            start, end = span
            style = self.screen.get_visual_style("screen--selection")
            line = line.stylize(style, start, len(line) if end == -1 else end)
        strip = Strip(line.render_segments(base), line.cell_length)
        return strip.adjust_cell_length(width, base.rich_style)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract(self.text), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        self.refresh()
