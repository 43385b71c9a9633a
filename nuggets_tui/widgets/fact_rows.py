"""The rows of the Facts pane: a heading for each nugget with its load, a row for each of its facts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate, islice
from typing import Final

from textual.content import Content

from core.model.fact import Fact, Nugget
from nuggets_tui.messages import FactOpened
from nuggets_tui.safe_text import content
from nuggets_tui.widgets.bars import capacity_bar, capacity_level
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, columns, sides

_BAR: Final = 5
_MEASURED: Final = 500
_FEW: Final = 3
_LEVEL_STYLES: Final = {"warning": "$text-warning", "critical": "$text-error"}


class FactRows:
    """Rows of some nuggets, made when asked for; immutable."""

    def __init__(self, nuggets: tuple[Nugget, ...] = ()) -> None:
        self.nuggets = nuggets
        self._starts = list(accumulate((1 + len(nugget.facts) for nugget in nuggets), initial=0))
        self._shape = lru_cache(_MEASURED)(self._measured)

    @property
    def count(self) -> int:
        """How many rows there are, headings among them."""
        return self._starts[-1]

    @property
    def height(self) -> int | Callable[[int], int]:
        """Lines of a row: headings with a warning have two."""
        tall = {start for start, nugget in zip(self._starts, self.nuggets, strict=False) if _warning(nugget)}
        return (lambda index: 2 if index in tall else 1) if tall else 1

    def at(self, index: int) -> tuple[Nugget, Fact | None]:
        """The nugget that a row belongs to, and its fact; None for a heading."""
        place = bisect_right(self._starts, index) - 1
        nugget = self.nuggets[place]
        offset = index - self._starts[place] - 1
        return nugget, nugget.facts[offset] if offset >= 0 else None

    def key(self, index: int) -> str:
        """The key of a row."""
        nugget, fact = self.at(index)
        return fact_key(nugget.name, fact.key) if fact else f"nugget {nugget.name}"

    def row(self, index: int) -> Row:
        """A row."""
        nugget, fact = self.at(index)
        prefix, width = self._shape(bisect_right(self._starts, index) - 1)
        if fact is None:
            return Row(self.key(index), (_heading(nugget, prefix), *_warning(nugget)), selectable=False)
        hits = Content.styled(f"×{fact.hits}", MUTED) if fact.hits else Content("")
        line = columns(content(fact.key[len(prefix) :]), content(fact.value, MUTED), hits, wanted=width)
        return Row(self.key(index), (line,), data=FactOpened(nugget.name, fact.key))

    def _measured(self, place: int) -> tuple[str, int]:
        """The words that all keys of a nugget begin with, which its heading says once, and the longest rest."""
        keys = [fact.key for fact in islice(self.nuggets[place].facts, _MEASURED)]
        prefix = ""
        if len(keys) >= _FEW and len(keys) == len(self.nuggets[place].facts):
            before, colon, _ = _shared_beginning(keys).rpartition(": ")
            shared = before + colon
            prefix = shared if all(len(key) > len(shared) for key in keys) else ""
        return prefix, max((len(key) - len(prefix) for key in keys), default=0)


def _shared_beginning(keys: list[str]) -> str:
    # What the first and the last in order share, all between them share too.
    first, last = min(keys), max(keys)
    for place, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return first[:place]
    return first


def fact_key(nugget: str, key: str) -> str:
    """The key of a fact's row."""
    return f"fact {nugget}\n{key}"


def _heading(nugget: Nugget, prefix: str) -> Callable[[int], Content]:
    used, capacity = len(nugget.facts), nugget.meta.capacity
    style = _LEVEL_STYLES.get(capacity_level(used, capacity), "$text-secondary")
    load = Content.assemble((f"{used}/{capacity} ", MUTED), (capacity_bar(used, capacity, _BAR), style))
    name = content(nugget.name, "bold")
    full = Content.assemble(name, " ", content(prefix, MUTED)) if prefix else name

    def line(width: int) -> Content:
        return sides(full if full.cell_length + load.cell_length < width else name, load)(width)

    return line


def _warning(nugget: Nugget) -> tuple[Content, ...]:
    said = nugget.problem or nugget.capacity_warning
    return (content(f"! {said}", "$text-warning"),) if said else ()
