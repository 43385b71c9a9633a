"""Bars of block characters, an eighth of a cell fine: for scores, shares and how full a nugget is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, Protocol

from core.model.fact import CAPACITY_CRITICAL, CAPACITY_WARNING
from nuggets_tui.safe_text import cut

if TYPE_CHECKING:
    from textual.content import Content

CapacityLevel = Literal["", "warning", "critical"]

_EIGHTHS: Final = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_FULL: Final = "█"
_MOST_CELLS: Final = 24
_FEWEST_CELLS: Final = 6


class ScoreParts(Protocol):
    """The parts of a hit's score after their weights: they add up to the blend by which hits are ranked."""

    @property
    def vector(self) -> float: ...
    @property
    def text(self) -> float: ...
    @property
    def boost(self) -> float: ...
    @property
    def matched(self) -> tuple[str, ...]: ...


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


def score_bars(parts: ScoreParts, width: int) -> Content:
    """A hit's parts as bars of one scale, then the words that matched, in at most `width` cells.

    All bars of a width have the same scale, so that the bars of one hit add up to its blend and those of two hits
    can be compared; a part below 0 bears a minus sign. Labels shrink to a letter where there is little room.
    """
    from textual.content import Content

    named = (
        ("words", parts.text, "$text-success"),
        ("vector", parts.vector, "$text-primary"),
        ("boost", parts.boost, "$text-accent"),
    )
    for long in (True, False):
        labels = [name if long else name[0] for name, _, _ in named]
        # Each bar with its label and two blanks; a bar never takes more than all of them may together.
        room = width - sum(map(len, labels)) - 2 * len(named)
        if room >= _FEWEST_CELLS or not long:
            break
    if room < len(named):
        return Content("")
    cells = min(room - len(named), _MOST_CELLS)
    pieces: list[tuple[str, str]] = []
    for label, (_, value, style) in zip(labels, named, strict=True):
        sign = "-" if value < 0 else ""
        drawn = _part(abs(value), cells)
        pieces += [(f"{label} {sign}", "$foreground-muted"), (f"{drawn} " if drawn else "0 ", style)]
    shown = Content.assemble(*pieces)
    words = cut(" ".join(parts.matched), width - shown.cell_length)
    return Content.assemble(shown, (words, "bold")).truncate(max(width, 0), ellipsis=True)
