"""Text from notes made harmless for a terminal: every piece of stored text is displayed through here.

Stored text is never altered; what a terminal would obey, reorder or hide shows as U+FFFD instead.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from textual.content import Content

LINE_LIMIT: Final = 4096
BLOCK_LIMIT: Final = 200_000
ELLIPSIS: Final = "…"
_MARK: Final = "\ufffd"

# Replaced wherever they stand. Controls: C0 but newline and tab, DEL, C1; bidi controls; line and paragraph
# separators. Invisible: soft hyphen, fillers, zero-width space, word joiner and invisible operators, byte
# order mark, annotation, shorthand and musical controls, tags. Lone surrogates.
_CONTROLS: Final = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_INVISIBLE: Final = (
    r"\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    r"\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_SURROGATES: Final = r"\ud800-\udfff"
# Replaced where they have no work to do: joiners belong to some scripts and to emoji, a variation selector to
# the character before it; elsewhere they only hide, and a row of selectors can carry a hidden text.
_NON_JOINER: Final = "\u200c"
_JOINER: Final = "\u200d"
_VARIATIONS: Final = r"\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SUSPECT: Final = rf"{_CONTROLS}{_INVISIBLE}{_SURROGATES}{_NON_JOINER}{_JOINER}{_VARIATIONS}"
_JOINING_LETTER: Final = r"\u0600-\u08ff\u0900-\u109f\u1780-\u18aa\ufb50-\ufdff\ufe70-\ufefc"
_PICTURE: Final = r"\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_PRESENTATION: Final = "\ufe0f"
_IDEOGRAPH: Final = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_BREAKS: Final = re.compile(r"\r?\n|\t")


def plain(text: str) -> str:
    """Text for a terminal's output: newlines and tabs kept, what a terminal would obey made visible."""
    if text.isascii() and text.isprintable():
        return text
    return _one_of(_SUSPECT).sub(_shown, text.replace("\r\n", "\n"))


def safe_line(text: str, limit: int = LINE_LIMIT) -> str:
    """One line for a cell: newlines and tabs as spaces, harmless, cut at `limit` characters with "…"."""
    if len(text) > limit:
        text = text[: max(limit - 1, 0)] + ELLIPSIS[:limit]
    if text.isascii() and text.isprintable():
        return text
    return _one_of(_SUSPECT).sub(_shown, _BREAKS.sub(" ", text))


def safe_block(text: str, limit: int = BLOCK_LIMIT) -> str:
    """Several lines, harmless, newlines and tabs kept, cut at `limit` characters with "…"."""
    if len(text) > limit:
        text = text[: max(limit - 1, 0)] + ELLIPSIS[:limit]
    return plain(text)


def cut(text: str, width: int) -> str:
    """One harmless line of at most `width` terminal cells, cut with "…"."""
    from rich.cells import cell_len, set_cell_size

    if width <= 0:
        return ""
    line = safe_line(text, max(LINE_LIMIT, 4 * width))
    # Measuring takes a while for each character. The beginning is enough where it is too wide by more than the last
    # of its characters, which others behind it may widen.
    beginning = line[: 2 * width + 8]
    if cell_len(beginning) > width + 2:
        line = beginning
    elif cell_len(line) <= width:
        return line
    return set_cell_size(line, width - 1).rstrip(" ") + ELLIPSIS


def fit(text: str, width: int) -> str:
    """One harmless line of exactly `width` terminal cells: padded with spaces, or cut with "…"."""
    from rich.cells import set_cell_size

    return set_cell_size(cut(text, width), max(width, 0))


def content(text: str, style: str = "") -> Content:
    """One harmless line as Textual content, never read as markup; `style` as in "bold $accent"."""
    from textual.content import Content

    line = safe_line(text)
    return Content.styled(line, style) if style else Content(line)


def safe_content(styled: Content, limit: int = LINE_LIMIT) -> Content:
    """Textual content as one harmless line, its styles kept; the same object when nothing had to change."""
    from textual.content import Content

    if len(styled) > limit:
        styled = styled[:limit]
    # One character for one, so that the styles stay where they were.
    line = safe_line(styled.plain.replace("\r", _MARK), limit + 1)
    return styled if line == styled.plain else Content(line, list(styled.spans))


@cache
def _one_of(characters: str) -> re.Pattern[str]:
    # Compiled when first needed: most texts need none of them, and the first frame waits for what is compiled here.
    return re.compile(f"[{characters}]")


def _shown(match: re.Match[str]) -> str:
    char, place, text = match[0], match.start(), match.string
    works = False
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if char == _NON_JOINER:
        works = _is(before, _JOINING_LETTER) and _is(after, _JOINING_LETTER)
    elif char == _JOINER:
        letters = _is(before, _JOINING_LETTER) and _is(after, _JOINING_LETTER)
        works = letters or ((before == _PRESENTATION or _is(before, _PICTURE)) and _is(after, _PICTURE))
    elif _is(char, _VARIATIONS):
        works = _varies(before, char)
    return char if works else _MARK


def _varies(before: str, selector: str) -> bool:
    if selector > _PRESENTATION:
        return _is(before, _IDEOGRAPH)
    return bool(before) and not before.isspace() and not _is(before, _SUSPECT)


def _is(character: str, characters: str) -> bool:
    return bool(_one_of(characters).match(character))
