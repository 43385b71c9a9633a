"""What is painted on a screen, cell by cell, and what of it is too faint by WCAG 2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from rich.color import Color, ColorTriplet
from rich.segment import Segment
from rich.terminal_theme import TerminalTheme
from textual._ansi_theme import ALABASTER, MONOKAI
from textual.theme import Theme

from nuggets_tui.application import NuggetsApp

TEXT, SHAPE = 4.5, 3.0
"""What WCAG 2 asks for text, and for frames, bars and other shapes."""

_SHAPES: Final = (range(0x2500, 0x25A0), range(0x2800, 0x2900), range(0x1FB00, 0x1FC00))
# What xterm shows unless it is told otherwise; its black on white, for themes that are light.
_NAMED: Final = (
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
)  # fmt: skip
_BRIGHT: Final = (
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
    (255, 255, 255),
)  # fmt: skip
_HUES: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_COLOURS: Final = (*_HUES, *(f"bright_{name}" for name in _HUES))
XTERM_DARK: Final = TerminalTheme((0, 0, 0), (229, 229, 229), list(_NAMED), list(_BRIGHT))
XTERM_LIGHT: Final = TerminalTheme((255, 255, 255), (0, 0, 0), list(_NAMED), list(_BRIGHT))


class Faint(NamedTuple):
    """Something that is too faint: its text, its colours as hexadecimal numbers, their contrast, its place."""

    text: str
    front: str
    ground: str
    contrast: float
    x: int
    y: int


def luminance(colour: ColorTriplet) -> float:
    """Relative luminance as WCAG 2 defines it, 0 to 1."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@lru_cache(4096)
def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    """Contrast of two colours as WCAG 2 defines it, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def palettes_of(theme: Theme) -> tuple[TerminalTheme, ...]:
    """What the sixteen colours of a terminal may be, where a theme leaves them to the terminal."""
    if not theme.ansi:
        return (MONOKAI,)
    return (MONOKAI, XTERM_DARK) if theme.dark else (ALABASTER, XTERM_LIGHT)


def faint_parts(app: NuggetsApp) -> Iterator[Faint]:
    """All that is painted on the screen in use and is harder to see than WCAG 2 asks."""
    for palette in palettes_of(app.current_theme):
        for segment, x, y in _segments(app):
            if (found := _faint(segment, palette, x, y)) is not None:
                yield found


def _segments(app: NuggetsApp) -> Iterator[tuple[Segment, int, int]]:
    for y, strip in enumerate(app.screen._compositor.render_strips(app.size)):
        x = 0
        for segment in strip:
            yield segment, x, y
            x += segment.cell_length


def _is_shape(text: str) -> bool:
    return all(any(ord(sign) in shapes for shapes in _SHAPES) for sign in text)


def wanted(text: bool) -> float:
    """The contrast that WCAG 2 asks. What is rounded to whole colours may miss it by a hundredth."""
    return (TEXT if text else SHAPE) - 0.01


def _faint(segment: Segment, palette: TerminalTheme, x: int, y: int) -> Faint | None:
    text, style = segment.text.strip(), segment.style
    if not text or style is None:
        return None
    front = _shown(style.color, palette, foreground=True)
    ground = _shown(style.bgcolor, palette, foreground=False)
    if style.reverse:
        front, ground = ground, front
    if style.dim:
        front = ColorTriplet(*((one + other) // 2 for one, other in zip(front, ground, strict=True)))
    found = contrast(front, ground)
    enough = found >= wanted(not _is_shape(text))
    return None if enough else Faint(text, front.hex, ground.hex, round(found, 2), x, y)


def _shown(colour: Color | None, palette: TerminalTheme, *, foreground: bool) -> ColorTriplet:
    return (colour or Color.default()).get_truecolor(palette, foreground=foreground)
