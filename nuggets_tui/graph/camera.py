"""Which part of a plane is seen, and how large: places as dots of a braille picture, two by four to a cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nuggets_tui.graph.overview import Disc

ACROSS: Final = 2
DOWN: Final = 4
# A picture may be stretched by this much to fill its pane.
_STRETCH: Final = 1.7
_MARGIN: Final = 3

Points = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Camera:
    """`x`, `y`: the place in the middle of `width` x `height` cells; `across`, `down`: dots for one unit."""

    width: int
    height: int
    x: float = 0.0
    y: float = 0.0
    across: float = 1.0
    down: float = 1.0

    @property
    def dots(self) -> tuple[int, int]:
        """Dots of the picture, across and down."""
        return self.width * ACROSS, self.height * DOWN

    def dot(self, place: Points) -> Numbers:
        """The dots at places, shape (notes, 2); those outside the picture have numbers outside it."""
        wide, high = self.dots
        found = np.empty(place.shape, dtype=np.int64, order="F")
        # Axis by axis: three times as fast as with arrays of two columns.
        scales = ((self.x, self.across, wide / 2), (self.y, self.down, high / 2))
        for axis, (middle, scale, shift) in enumerate(scales):
            scaled = place[:, axis] * scale + (shift - middle * scale)
            found[:, axis] = np.floor(scaled, out=scaled)
        return found

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """The cell of one place."""
        across, down = self.dot(np.array([[x, y]]))[0].tolist()
        return across // ACROSS, down // DOWN

    def place(self, column: float, row: float) -> tuple[float, float]:
        """The place in the middle of a cell."""
        wide, high = self.dots
        return (
            self.x + ((column + 0.5) * ACROSS - wide / 2) / self.across,
            self.y + ((row + 0.5) * DOWN - high / 2) / self.down,
        )

    def closer(self, times: float) -> Camera:
        """The same place, so many times as large."""
        return replace(self, across=self.across * times, down=self.down * times)

    def at(self, x: float, y: float) -> Camera:
        """Another place at the same size."""
        return replace(self, x=x, y=y)


def fitting(discs: Iterable[Disc], width: int, height: int) -> Camera:
    """The camera that sees all of some discs."""
    found = list(discs)
    if not found or width <= 0 or height <= 0:
        return Camera(max(width, 0), max(height, 0))
    left, right = min(disc.x - disc.radius for disc in found), max(disc.x + disc.radius for disc in found)
    top, bottom = min(disc.y - disc.radius for disc in found), max(disc.y + disc.radius for disc in found)
    across = max(width * ACROSS - 2 * _MARGIN, 1) / max(right - left, 1e-6)
    down = max(height * DOWN - 2 * _MARGIN, 1) / max(bottom - top, 1e-6)
    across, down = min(across, down * _STRETCH), min(down, across * _STRETCH)
    return Camera(width, height, (left + right) / 2, (top + bottom) / 2, across, down)
