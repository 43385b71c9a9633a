"""Pieces of rows and of what is around them: two-sided lines, matched words, marks of a note, frames, empty lists."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual.content import Content
from textual.events import MouseEvent
from textual.style import Style
from textual.widget import Widget

from core.model.note import Note
from nuggets_tui.key_map import KeyMap
from nuggets_tui.listing import PINNED
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.words import SIGN, STALE_SIGN, kinds_in

if TYPE_CHECKING:
    from core.model.joined import Whose

MUTED = "$text-muted"
# A mark of our own instead of "@click", which would paint the tag as a link.
_TAG: Final = "tag"
# Cells between a row and the scroll bar.
_MARGIN = 1
# Two of them are a flag, which is one picture.
_FLAG_LETTERS: Final = range(0x1F1E6, 0x1F200)
# Cells below which a text is cut at its end, as two pieces would say nothing.
_SHORTEST = 8
# Cells of a project's name behind another text.
_PROJECT: Final = 16


def sides(left: Content, right: Content) -> Callable[[int], Content]:
    """A line with one text at its left end, cut where it must be, and one at its right end."""

    def line(width: int) -> Content:
        width -= _MARGIN
        if not right.cell_length or width < right.cell_length + 4:
            return left.truncate(max(width, 0), ellipsis=True)
        room = width - right.cell_length - 1
        return Content.assemble(left.truncate(room, ellipsis=True, pad=True), " ", right)

    return line


def with_label(left: Content, label: Content, right: Content) -> Callable[[int], Content]:
    """A line with a text, at its right end another one, and before that a label where all of the text has room."""

    def line(width: int) -> Content:
        room = width - _MARGIN - left.cell_length - 1
        both = Content.assemble(label, "  ", right)
        return sides(left, both if label.cell_length and both.cell_length <= room else right)(width)

    return line


def with_reasons(left: Content, reasons: Sequence[str], *, whole: bool = False) -> Callable[[int], Content]:
    """A line with a text, and at its right end as many reasons as leave the text what it needs, or half.

    whole: all but the first reason go where the text would be cut for them.
    """

    def line(width: int) -> Content:
        room = width - _MARGIN - left.cell_length - 1
        shown = list(reasons)
        while shown and cell_len(" · ".join(shown)) > max(
            room, 0 if whole and len(shown) > 1 else width // 2
        ):
            shown.pop()
        return sides(left, content(" · ".join(shown), MUTED))(width)

    return line


def cut_middle(text: str, width: int) -> str:
    """One harmless line of at most `width` cells; of a longer one the beginning and more of its end."""
    from rich.cells import set_cell_size, split_graphemes

    line = safe_line(text)
    if cell_len(line) <= width:
        return line
    if width < _SHORTEST:
        return cut(line, width)
    head = set_cell_size(line, width // 3)
    if _parts_a_flag(line, len(head)):
        head = head[:-1]
    head = head.rstrip()
    start, room = len(line), width - 1 - cell_len(head)
    for begin, _, cells in reversed(split_graphemes(line)[0]):
        room -= cells
        if room < 0:
            break
        start = begin
    tail = line[start + _parts_a_flag(line, start) :]
    return f"{head}…{tail.lstrip()}"


def _parts_a_flag(text: str, place: int) -> bool:
    """Whether the two letters of a flag stand at either side of a place."""
    begin = place
    while begin and ord(text[begin - 1]) in _FLAG_LETTERS:
        begin -= 1
    return (place - begin) % 2 == 1 and place < len(text) and ord(text[place]) in _FLAG_LETTERS


def columns(
    first: Content, second: Content, right: Content, *, wanted: int, share: float = 0.5
) -> Callable[[int], Content]:
    """A line of two columns and a text at its right end.

    wanted: cells that the first column would like; it gets at most `share` of the width, in [0, 1].
    """

    def line(width: int) -> Content:
        size = min(wanted, max(4, int(width * share)))
        left = Content.assemble(first.truncate(size, ellipsis=True, pad=True), "  ", second)
        return sides(left, right)(width)

    return line


def tag_text(tag: str, width: int = 0) -> Content:
    """A tag, cut at so many cells (0: whole), that a click can be told to be on: see `tag_at`."""
    shown = content(cut(tag, width) if width else tag, "$text-secondary")
    return shown.stylize(Style.from_meta({_TAG: tag}))


def tag_at(event: MouseEvent) -> str:
    """The tag that the mouse is on, "" for none."""
    return str(event.style.meta.get(_TAG, ""))


def marked(text: str, words: Collection[str], style: str = "") -> Content:
    """A text with the words that matched underlined."""
    line = content(text, style)
    from core.search import highlights

    for start, end in highlights(line.plain, words):
        line = line.stylize("underline $text-accent", start, end)
    return line


def note_marks(note: Note, *, stale: bool = False) -> Content:
    """Signs before a title: seems to hold a credential, names code that is no longer there, hidden, pinned, mirrors a
    fact.
    """
    if kinds_in(note):
        return Content.styled(f"{SIGN} ", "$text-error")
    if stale and not note.hidden:
        return Content.styled(f"{STALE_SIGN} ", "$text-warning")
    if note.hidden:
        return Content.styled("⊘ ", "$text-warning")
    if PINNED in note.tags:
        return Content.styled("★ ", "$text-accent")
    if note.is_fact:
        return Content.styled("◆ ", MUTED)
    return Content("")


def whose_mark(whose: Whose, project: str = "") -> Content:
    """Says of a note that it is the team's, or one's own and the team's as well, or another project's; nothing of one's
    own.
    """
    if project:
        return content(f"from project {cut(project, _PROJECT)}", "$text-secondary")
    said = {"team": "team", "both": "yours, team"}.get(whose, "")
    return Content.styled(said, "$text-secondary")


def title_style(note: Note) -> str:
    return MUTED if note.hidden else ""


def set_border_text(widget: Widget, title: Content, subtitle: Content | None = None) -> None:
    """Puts a title into the upper border; into the lower one another, or what stands there stays."""
    if widget.border_title != title.markup:
        widget.border_title = title
    if subtitle is not None and widget.border_subtitle != subtitle.markup:
        widget.border_subtitle = subtitle


def empty_words(keys: KeyMap, said: str, *does: tuple[str, str]) -> Content:
    """Some words, and below them keys with what each does. does: names of commands, or keys themselves."""
    shown = [(keys.key(name) if name in keys.by_name else name, words) for name, words in does]
    size = max(len(key) for key, _ in shown)
    lines = [
        Content.assemble(
            (f"{key:<{size}}", "bold $text-accent"), f"  {words}".replace("\n", "\n" + " " * (size + 2))
        )
        for key, words in shown
    ]
    return Content("\n").join([Content(said), Content(""), *lines])
