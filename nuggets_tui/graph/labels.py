"""Words on a picture: names of nuggets and communities, titles of notes, where they cover nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

Kind = Literal["nugget", "community", "note"]
_NUDGES: Final = (0, -1, 1)


@dataclass(frozen=True)
class Wanted:
    """A harmless text that should stand around a cell, or right of it where `beside`."""

    text: str
    column: int
    row: int
    kind: Kind
    colour: int
    beside: bool = False


@dataclass(frozen=True)
class Label:
    """A text with its place: its first cell."""

    text: str
    column: int
    row: int
    kind: Kind
    colour: int

    @property
    def cells(self) -> int:
        """How wide it is."""
        return cell_len(self.text)


def placed(wanted: Iterable[Wanted], taken: NDArray[np.bool_], width: int, height: int) -> Sequence[Label]:
    """Those labels that find room, the first ones first; no two touch.

    taken: cells that titles of notes leave free, shape (height, width).
    """
    used = np.zeros((height, width), dtype=bool)
    found: list[Label] = []
    for each in wanted:
        cells = cell_len(each.text)
        for label in _tried(each, cells, width, height):
            span = (label.row, slice(max(label.column - 1, 0), label.column + cells + 1))
            over = (label.row, slice(label.column, label.column + cells))
            if used[span].any() or (each.beside and taken[over].any()):
                continue
            used[span] = True
            found.append(label)
            break
    return found


def _tried(each: Wanted, cells: int, width: int, height: int) -> Iterable[Label]:
    if not 0 < cells <= width:
        return
    if each.beside:
        columns = [
            column for column in (each.column + 2, each.column - cells - 1) if 0 <= column <= width - cells
        ]
        rows: tuple[int, ...] = (each.row,)
    else:
        columns = [min(max(each.column - cells // 2, 0), width - cells)]
        rows = tuple(each.row + nudge for nudge in _NUDGES)
    for row in rows:
        if 0 <= row < height:
            yield from (Label(each.text, column, row, each.kind, each.colour) for column in columns)
