"""Markdown of a note as lines for the terminal: headings, lists, code, quotes, tables; nothing is fetched or obeyed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from textual.content import Content

from nuggets_tui.safe_text import plain, safe_block

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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
_MUTED: Final = "$text-muted"
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
        lines.append(Content.styled(f"… cut here; the whole text has {len(text):,} characters", _MUTED))
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
            self._put(Content.styled("─" * max(1, self._room()), _MUTED))
            self._gap()
        elif kind == "blockquote_open":
            self.prefixes.append(Content.styled("▎ ", _MUTED))
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
                self._put(Content.assemble(("│ ", _MUTED), piece))
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
            self._put(Content.styled(" │ ", _MUTED).join(cells))
            if number == 0:
                self._put(Content.styled("─┼─".join("─" * size for size in widths), _MUTED))
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
            lines[-1].append(_piece(f"[picture: {token.content or token.attrGet('src')}]", _MUTED))
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
        line.append(_piece(f" ({goal})", _MUTED))
