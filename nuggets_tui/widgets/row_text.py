"""Pieces of rows and of what is around them: two-sided lines, matched words, marks of a note, frames, empty lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

from rich.cells import cell_len
from textual.content import Content
from textual.events import MouseEvent
from textual.style import Style
from textual.widget import Widget

from core.model.fact import CAPACITY_CRITICAL, CAPACITY_WARNING
from core.model.note import Note
from nuggets_tui.commands import KeyMap
from nuggets_tui.listing import PINNED
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.words import SIGN, STALE_SIGN, kinds_in

if TYPE_CHECKING:
    from core.model.joined import Whose

    Words = Callable[[int], Content]

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


def path_line(path: str) -> Callable[[int], Content]:
    """A line of a path, which is cut in its middle."""
    return lambda width: content(cut_middle(path, width - 1), MUTED)


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


CapacityLevel = Literal["", "warning", "critical"]

_EIGHTHS: Final = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_FULL: Final = "█"
_THIN: Final = "▏"
_MOST_CELLS: Final = 24
_FEWEST_CELLS: Final = 5
_ROUNDING: Final = 3
_LEAST_WIDTH: Final = 18


class _Layout(NamedTuple):
    """From which width on the parts are called so. gap: before a bar; kept: cells for what matched."""

    least: int
    labels: tuple[str, ...]
    gap: str
    kept: int


_LAYOUTS: Final = (
    _Layout(60, ("words", "vector", "boost"), " ", 14),
    _Layout(44, ("words", "vec", "+"), "", 16),
    _Layout(32, ("words", "vec", "+"), "", 8),
    _Layout(0, ("w", "v", "+"), "", 0),
)
PART_STYLES: Final = ("$text-success", "$text-secondary", "$text-primary")
# What the parts of a hit add up to at most, with the weights as they are at first.
FULL_BLEND: Final = 1.1


class ScoreParts(Protocol):
    """The parts of a hit's score after their weights: they add up to the blend by which hits are ranked."""

    @property
    def vector(self) -> float: ...
    @property
    def text(self) -> float: ...
    @property
    def boost(self) -> float: ...


def bar(value: float, width: int, *, pad: bool = True) -> str:
    """A bar for a value in [0, 1] in `width` cells, padded with spaces unless `pad` is False.

    Values outside are drawn as the nearest end, NaN as 0. A value above 0 always shows, and only 1 fills the bar.
    """
    if width <= 0:
        return ""
    share = 0.0 if math.isnan(value) else min(max(value, 0.0), 1.0)
    drawn = _blocks(_eighths(share, width))
    return drawn.ljust(width) if pad else drawn


def _eighths(share: float, width: int) -> int:
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    return min(eighths, width * 8 - 1) if share < 1 else eighths


def _blocks(eighths: int) -> str:
    return _FULL * (eighths // 8) + _EIGHTHS[eighths % 8]


def _part(value: float, cells: int) -> str:
    if not value > 0:
        return ""
    return _blocks(max(round(min(value, 1.0) * cells * 8), 1))


def capacity_bar(used: int, capacity: int, width: int, *, pad: bool = True) -> str:
    """A bar for `used` of `capacity` facts in `width` cells."""
    return bar(used / capacity if capacity > 0 else float(used > 0), width, pad=pad)


def capacity_level(used: int, capacity: int) -> CapacityLevel:
    """How near a nugget is to its capacity: "warning" above 80 %, "critical" above 90 %, otherwise ""."""
    if used <= 0:
        return ""
    share = used / capacity if capacity > 0 else 1.0
    if share > CAPACITY_CRITICAL:
        return "critical"
    return "warning" if share > CAPACITY_WARNING else ""


def score_bars(parts: ScoreParts, width: int, words: Words | None = None) -> Content:
    """A hit's parts as bars of one scale, then what matched, in at most `width` cells.

    All bars of a width have the same scale, so that the bars of one hit add up to its blend and those of two hits
    can be compared; a part below 0 bears a minus sign. Labels shrink where there is little room. words: gets the
    cells that are left and gives what matched.
    """
    layout, cells = _layout(width)
    if cells <= 0:
        return Content("")
    values = (parts.text, parts.vector, parts.boost)
    scale = cells / max(FULL_BLEND, sum(max(value, 0.0) for value in values if value == value))
    pieces: list[tuple[str, str]] = []
    for name, value, style in zip(layout.labels, values, PART_STYLES, strict=True):
        sign = "-" if value < 0 else ""
        drawn = _part(min(abs(value) * scale / cells, 1.0), cells)
        label = f"{name}{layout.gap}{sign}"
        pieces += [(label, "$foreground-muted"), (f"{drawn} " if drawn else "0 ", style)]
    shown = Content.assemble(*pieces)
    room = width - shown.cell_length
    if words is not None and room > 0:
        shown = Content.assemble(shown, words(room))
    return shown.truncate(max(width, 0), ellipsis=True)


def _layout(width: int) -> tuple[_Layout, int]:
    """How the bars of a hit stand in a width, and the cells that they take together; 0 for no room."""
    layout = next((one for one in _LAYOUTS if width >= one.least), _LAYOUTS[-1])
    labels = layout.labels
    # Each bar is followed by a blank, and may take most of a cell more than its share.
    taken = sum(map(len, labels)) + (len(layout.gap) + 1) * len(labels) + _ROUNDING + layout.kept
    return layout, max(min(width - taken, _MOST_CELLS), _FEWEST_CELLS if width >= _LEAST_WIDTH else 0)


def stacked(spans: Sequence[tuple[float, str]], width: int, full: float, start: float = 0.0) -> Content:
    """A bar in `width` cells for values up to `full`, of pieces (value from 0 on, style), that begins at `start`.

    Bars that begin where others end meet them: pieces are rounded to whole cells at their ends. A single piece
    above 0 that takes no cell shows as a thin line.
    """
    scale = width / full if full > 0 else 0.0

    def cell(value: float) -> int:
        return min(max(round(value * scale), 0), width)

    at, made = start, Content(" " * cell(start))
    for value, style in spans:
        cells = cell(at + value) - cell(at)
        made = Content.assemble(made, (_FULL * cells or (_THIN if value and len(spans) == 1 else ""), style))
        at += value
    return made.truncate(max(width, 0))
