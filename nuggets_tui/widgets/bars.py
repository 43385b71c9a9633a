"""Bars of block characters, an eighth of a cell fine: for scores, shares and how full a nugget is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

from core.model.fact import CAPACITY_CRITICAL, CAPACITY_WARNING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.content import Content

    Words = Callable[[int], Content]

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
    from textual.content import Content

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
    from textual.content import Content

    scale = width / full if full > 0 else 0.0

    def cell(value: float) -> int:
        return min(max(round(value * scale), 0), width)

    at, made = start, Content(" " * cell(start))
    for value, style in spans:
        cells = cell(at + value) - cell(at)
        made = Content.assemble(made, (_FULL * cells or (_THIN if value and len(spans) == 1 else ""), style))
        at += value
    return made.truncate(max(width, 0))
