"""A scrolling pane of ready lines that are made again for each width, and differences as such lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from core.model.change import ChangeSet, NoteChange
from nuggets_tui import differences
from nuggets_tui.differences import DiffLine, TitleOf
from nuggets_tui.safe_text import plain, safe_line
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


_MUTED: Final = "$text-muted"
_STYLES: Final = {"+": "$text-success", "-": "$text-error", "@": "$text-secondary"}
# Words that changed within a line: weight and a line below say it without colour too.
_CHANGED: Final = "bold underline"
_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")
# Lines with less in common are others, not changed ones; in longer ones words are not looked for.
_LEAST_ALIKE: Final = 0.4
_LONGEST_COMPARED: Final = 1_500
_LONGEST: Final = 60_000
_MOST_LINES: Final = 2_000
_Span = tuple[int, int]


def change_lines(change_set: ChangeSet, width: int, title_of: TitleOf = str) -> list[Content]:
    """Everything a change set does, wrapped at `width` cells. title_of: a note's title for its id."""
    lines: list[Content] = []
    for each in differences.change_lines(change_set, title_of):
        lines += [*styled_lines(each), Content("")]
        if len(lines) > _MOST_LINES:
            lines = [*lines[:_MOST_LINES], Content.styled("… and more", _MUTED)]
            break
    return wrapped(lines, width)


def note_change_lines(
    change: NoteChange, names: Iterable[str] | None = None, *, title_of: TitleOf = str
) -> list[Content]:
    """What happens to one note; `names` narrows it to some fields. title_of: a note's title for its id."""
    return styled_lines(differences.note_lines(change, names, title_of=title_of))


def text_difference(before: str, after: str) -> list[Content]:
    """The lines in which two texts differ, with some around them."""
    return styled_lines(differences.text_lines(before, after))


def diff_text_lines(lines: Sequence[str]) -> list[Content]:
    return styled_lines(differences.unified_lines(lines))


def styled_lines(lines: Sequence[DiffLine]) -> list[Content]:
    """Lines of a difference, coloured; where one stands for another, the words in which the two differ stand out."""
    shown = [styled(line) for line in lines]
    place = 0
    while place < len(lines):
        gone = _run(lines, place, "-")
        came = _run(lines, place + gone, "+")
        for first in range(place, place + min(gone, came)):
            second = first + gone
            ours, theirs = _changed_words(shown[first].plain[2:], shown[second].plain[2:])
            shown[first] = _marked(shown[first], ours)
            shown[second] = _marked(shown[second], theirs)
        place += max(gone + came, 1)
    return shown


def _run(lines: Sequence[DiffLine], start: int, sign: str) -> int:
    """How many lines from a place on have this sign."""
    end = start
    while end < len(lines) and lines[end].sign == sign:
        end += 1
    return end - start


def _changed_words(before: str, after: str) -> tuple[list[_Span], list[_Span]]:
    """Where words stand in two lines that the other has not; nothing for lines that have too little in common."""
    if max(len(before), len(after)) > _LONGEST_COMPARED:
        return [], []
    old, new = (list(_WORDS.finditer(line)) for line in (before, after))
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, [each[0] for each in old], [each[0] for each in new], autojunk=False)
    if matcher.ratio() < _LEAST_ALIKE:
        return [], []
    ours: list[_Span] = []
    theirs: list[_Span] = []
    for what, start, end, begin, stop in matcher.get_opcodes():
        if what != "equal":
            ours += [(old[start].start(), old[end - 1].end())] if end > start else []
            theirs += [(new[begin].start(), new[stop - 1].end())] if stop > begin else []
    return ours, theirs


def _marked(line: Content, spans: Iterable[_Span]) -> Content:
    for start, end in spans:
        line = line.stylize(_CHANGED, start + 2, end + 2)
    return line


def styled(line: DiffLine) -> Content:
    """One line of a difference, harmless, in the colours of its sign."""
    sign, text = line
    if sign == "#":
        return Content.styled(safe_line(text), "bold")
    shown = plain(text[:_LONGEST].expandtabs(4))
    if sign in "+-":
        return Content.styled(f"{sign} {shown}", _STYLES[sign])
    if sign == "@":
        return Content.styled(shown, _STYLES[sign])
    return Content.styled(f"  {shown}" if sign == " " else shown, _MUTED)


def wrapped(lines: Iterable[Content], width: int) -> list[Content]:
    """Lines wrapped at a width; the rest of a long line stands below it."""
    return [part for line in lines for part in (line.wrap(width) if line.plain else [line])]
