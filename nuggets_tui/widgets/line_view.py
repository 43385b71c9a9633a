"""A scrolling pane of ready lines that are made again for each width, and differences as such lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from core.model.change import ChangeSet, NoteChange
from nuggets_tui import differences
from nuggets_tui.differences import DiffLine, TitleOf
from nuggets_tui.safe_text import plain, safe_block, safe_line
from nuggets_tui.textual_adapter import resize_content
from nuggets_tui.widgets.row_text import MUTED

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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
            lines = [*lines[:_MOST_LINES], Content.styled("… and more", MUTED)]
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
    return Content.styled(f"  {shown}" if sign == " " else shown, MUTED)


def wrapped(lines: Iterable[Content], width: int) -> list[Content]:
    """Lines wrapped at a width; the rest of a long line stands below it."""
    return [part for line in lines for part in (line.wrap(width) if line.plain else [line])]


# Laying out more than this would make the cursor wait; the editor shows the whole text.
CHARACTERS: Final = 12_000
LINES: Final = 1_500
_GLIMPSE: Final = 3_000
_HEADINGS: Final = {
    "h1": "bold underline $text-accent",
    "h2": "bold $text-accent",
    "h3": "bold $text-secondary",
}
_CODE: Final = "$text-secondary"
_BULLETS: Final = "•◦▪"
_MARKS: Final = {"strong": "bold", "em": "italic", "s": "strike", "link": f"underline {_CODE}"}


def markdown_lines(text: str, width: int, limit: int = CHARACTERS) -> list[Content]:
    """A note's text as lines of at most `width` cells, harmless for the terminal.

    Line ends in a paragraph stay, as people and agents write notes line by line. A text longer than `limit`
    characters is cut, and the last line says so.
    """
    if width < 4:
        return []
    shown = safe_block(text[:limit], limit)
    lines = _Layout(width).lay_out(_parser().parse(shown))[:LINES]
    if len(text) > limit or len(lines) == LINES:
        lines.append(Content.styled(f"… cut here; the whole text has {len(text):,} characters", MUTED))
    return lines


def plain_lines(text: str, width: int, limit: int = _GLIMPSE) -> list[Content]:
    """The beginning of a text as it is written, harmless for the terminal, wrapped at `width` cells."""
    if width < 4:
        return []
    return [part for line in safe_block(text[:limit]).split("\n") for part in _wrap(line, width)]


def _wrap(line: str, width: int) -> list[Content]:
    return Content(line.expandtabs(4)).wrap(width) if line else [Content("")]


def load_parser() -> None:
    _parser()


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # markdown_it imports html.entities, and holds that module's lock while it waits for html. A thread that imports
    # html meanwhile waits the other way round, and Python ends one of the imports with an error. So html goes first.
    import html  # noqa: F401

    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 20}).enable(["table", "strikethrough"])


class _Layout:
    """Walks the blocks of a text and collects wrapped lines behind the prefixes of lists and quotes."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[Content] = []
        # Prefixes of the open blocks; the first line of a list item bears its sign, further ones are indented.
        self.prefixes: list[Content] = []
        self.sign: Content | None = None
        self.counters: list[int] = []
        self.heading = ""

    def lay_out(self, tokens: Sequence[Token]) -> list[Content]:
        place = 0
        while place < len(tokens):
            token = tokens[place]
            if token.type == "table_open":
                end = next(i for i in range(place, len(tokens)) if tokens[i].type == "table_close")
                self._table(tokens[place:end])
                place = end
            else:
                self._block(token)
            place += 1
        self._drop_gap()
        return self.lines

    def _block(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            self._paragraph(token.children or [], self.heading)
        elif kind == "heading_open":
            self._gap()
            self.heading = _HEADINGS.get(token.tag, "bold")
        elif kind == "heading_close":
            self.heading = ""
            self._gap()
        elif kind in ("fence", "code_block"):
            self._code(token.content)
        elif kind == "html_block":
            self._raw(token.content)
        elif kind == "hr":
            self._put(Content.styled("─" * max(1, self._room()), MUTED))
            self._gap()
        elif kind == "blockquote_open":
            self.prefixes.append(Content.styled("▎ ", MUTED))
        elif kind in ("bullet_list_open", "ordered_list_open"):
            start = token.attrGet("start")
            first = int(start) if start is not None else 1
            self.counters.append(first - 1 if kind.startswith("ordered") else -1)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self.counters.pop()
            self._gap()
        elif kind == "list_item_open":
            self._item()
        elif kind in ("list_item_close", "blockquote_close"):
            self._close(kind)
        elif kind == "paragraph_close" and not token.hidden:
            self._gap()

    def _close(self, kind: str) -> None:
        if self.sign is not None:
            self._put(Content(""))
        self._drop_gap()
        self.prefixes.pop()
        if kind == "blockquote_close":
            self._gap()

    def _item(self) -> None:
        if self.counters[-1] >= 0:
            self.counters[-1] += 1
            sign = f"{self.counters[-1]}. "
        else:
            sign = _BULLETS[(len(self.counters) - 1) % len(_BULLETS)] + " "
        self.sign = Content.styled(sign, "$text-accent")
        self.prefixes.append(Content(" " * len(sign)))

    def _room(self) -> int:
        # Deep nesting keeps at least a few columns for words.
        return max(8, self.width - sum(prefix.cell_length for prefix in self.prefixes))

    def _put(self, line: Content) -> None:
        if len(self.lines) > LINES:
            return
        prefixes = self.prefixes
        if self.sign is not None:
            prefixes = [*prefixes[:-1], self.sign]
            self.sign = None
        self.lines.append(Content("").join([*prefixes, line]))

    def _drop_gap(self) -> None:
        while self.lines and not self.lines[-1].plain.strip(" ▎"):
            self.lines.pop()

    def _gap(self) -> None:
        if self.lines and self.lines[-1].plain.strip(" ▎"):
            self.lines.append(Content("").join(self.prefixes))

    def _paragraph(self, tokens: Iterable[Token], style: str) -> None:
        for line in _inline(tokens, style):
            for wrapped in line.wrap(self._room()):
                self._put(wrapped.rstrip())

    def _code(self, text: str) -> None:
        room = max(1, self._room() - 2)
        for line in text.expandtabs(4).rstrip("\n").split("\n"):
            for piece in Content.styled(plain(line), _CODE).fold(room):
                self._put(Content.assemble(("│ ", MUTED), piece))
        self._gap()

    def _raw(self, text: str) -> None:
        for line in text.rstrip("\n").split("\n"):
            for wrapped in Content(plain(line.expandtabs(4))).wrap(self._room()):
                self._put(wrapped)
        self._gap()

    def _table(self, tokens: Sequence[Token]) -> None:
        rows: list[list[Content]] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                style = "" if len(rows) > 1 else "bold"
                rows[-1].append(Content(" ").join(_inline(token.children or [], style)))
        widths = _column_widths(rows, self._room())
        for number, row in enumerate(rows):
            cells = [
                cell.truncate(size, ellipsis=True, pad=True) for cell, size in zip(row, widths, strict=False)
            ]
            self._put(Content.styled(" │ ", MUTED).join(cells))
            if number == 0:
                self._put(Content.styled("─┼─".join("─" * size for size in widths), MUTED))
        self._gap()


def _column_widths(rows: Sequence[Sequence[Content]], room: int) -> list[int]:
    widths = [max(cell.cell_length for cell in column) for column in zip(*rows, strict=False)]
    while widths and sum(widths) + 3 * (len(widths) - 1) > room and max(widths) > 4:
        widths[widths.index(max(widths))] -= 1
    return widths


def _inline(tokens: Iterable[Token], style: str) -> list[Content]:
    """The words of a paragraph, one content a written line."""
    lines: list[list[Content | tuple[str, str]]] = [[]]
    styles = [style] if style else []
    goals: list[str] = []
    for token in tokens:
        kind = token.type
        if kind == "text" or kind == "html_inline":
            lines[-1].append(_piece(token.content, " ".join(styles)))
        elif kind == "code_inline":
            lines[-1].append(_piece(token.content, " ".join([*styles, _CODE])))
        elif kind in ("softbreak", "hardbreak"):
            lines.append([])
        elif kind == "image":
            lines[-1].append(_piece(f"[picture: {token.content or token.attrGet('src')}]", MUTED))
        elif kind.endswith("_open"):
            styles.append(_MARKS.get(kind.removesuffix("_open"), ""))
            if kind == "link_open":
                goals.append(str(token.attrGet("href") or ""))
        elif kind.endswith("_close"):
            styles.pop()
            if kind == "link_close":
                _show_goal(lines[-1], goals.pop())
    return [Content.assemble(*pieces) for pieces in lines]


def _piece(text: str, style: str) -> tuple[str, str]:
    # An entity such as &#x202E; turns into the character itself only while parsing: harmless it once more.
    return plain(text.expandtabs(4)), style.strip()


def _show_goal(line: list[Content | tuple[str, str]], goal: str) -> None:
    said = line[-1][0] if line and isinstance(line[-1], tuple) else ""
    if goal and goal != said:
        line.append(_piece(f" ({goal})", MUTED))
