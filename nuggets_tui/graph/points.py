"""Points and lines as braille: a character and a colour for each cell of a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nuggets_tui.graph.camera import ACROSS, DOWN, Camera, Numbers, Points

BLANK: Final = 0x20
_BRAILLE: Final = 0x2800
# The bits of the dots of a braille character, by row and column.
_BITS: Final = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.uint8)
_LONGEST_LINE: Final = 512


@dataclass(frozen=True, eq=False)
class Raster:
    """Cells of a picture. signs: code points, shape (height, width); colours: numbers, -1 where there is nothing;
    crowd: how many notes a cell holds."""

    signs: NDArray[np.uint32]
    colours: NDArray[np.int16]
    crowd: Numbers


def points(camera: Camera, dots: Numbers, colour: Numbers, colours: int) -> Raster:
    """Notes at dots, each of a colour from 0 to `colours` - 1; the most frequent colour of a cell is the cell's.

    dots: shape (notes, 2), all inside the picture. Of two colours as frequent the lower number is taken.
    """
    wide, high = camera.dots
    x, y = dots[:, 0], dots[:, 1]
    lit = np.zeros((high, wide), dtype=bool)
    lit[y, x] = True
    bits = _cells(lit, camera)
    cell = (y // DOWN) * camera.width + x // ACROSS
    cells = camera.width * camera.height
    votes = np.bincount(cell * colours + colour, minlength=cells * colours).reshape(cells, colours)
    crowd = votes.sum(axis=1)
    most = np.where(crowd > 0, votes.argmax(axis=1), -1).astype(np.int16)
    shape = (camera.height, camera.width)
    signs = np.where(bits > 0, bits.astype(np.uint32) + _BRAILLE, BLANK).astype(np.uint32)
    return Raster(signs, most.reshape(shape), crowd.reshape(shape))


def seen(camera: Camera, dots: Numbers) -> NDArray[np.bool_]:
    """Which dots lie inside the picture."""
    wide, high = camera.dots
    x, y = dots[:, 0], dots[:, 1]
    return (x >= 0) & (x < wide) & (y >= 0) & (y < high)


def lines(camera: Camera, starts: Numbers, ends: Numbers) -> NDArray[np.uint8]:
    """The braille bits of straight lines between dots, shape (height, width); what lies outside is cut off."""
    wide, high = camera.dots
    lit = np.zeros((high, wide), dtype=bool)
    low, up = _clipped(starts.astype(np.float64), ends.astype(np.float64), (wide, high))
    there = low < up
    if there.any():
        start, way = starts[there].astype(np.float64), (ends - starts)[there].astype(np.float64)
        low, up = low[there][:, None], up[there][:, None]
        length = np.abs(way).max(axis=1, keepdims=True) * (up - low)
        # More steps than dots, so that rounding leaves none out.
        steps = int(min(max(length.max(), 1), _LONGEST_LINE) * 1.5) + 2
        along = low + (up - low) * np.linspace(0, 1, steps)[None]
        x = np.rint(start[:, :1] + way[:, :1] * along).astype(np.int64)
        y = np.rint(start[:, 1:] + way[:, 1:] * along).astype(np.int64)
        lit[np.clip(y, 0, high - 1), np.clip(x, 0, wide - 1)] = True
    return _cells(lit, camera)


def _clipped(starts: Points, ends: Points, size: tuple[int, int]) -> tuple[Points, Points]:
    """From which to which part of itself each line is inside the picture (Liang and Barsky, 1984)."""
    low, up = np.zeros(len(starts)), np.ones(len(starts))
    for axis in (0, 1):
        start, way = starts[:, axis], ends[:, axis] - starts[:, axis]
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (0 - start) / way, (size[axis] - 1 - start) / way
        still = way == 0
        outside = still & ((start < 0) | (start >= size[axis]))
        low = np.where(still, low, np.maximum(low, np.minimum(one, other)))
        up = np.where(outside, -1.0, np.where(still, up, np.minimum(up, np.maximum(one, other))))
    return low, up


def _cells(lit: NDArray[np.bool_], camera: Camera) -> NDArray[np.uint8]:
    """The bits of each cell's eight dots."""
    bits = np.zeros((camera.height, camera.width), dtype=np.uint8)
    for (down, across), bit in np.ndenumerate(_BITS):
        bits |= lit[down::DOWN, across::ACROSS] * bit
    return bits
