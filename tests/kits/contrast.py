"""What is painted on a screen, cell by cell, and what of it is too faint by WCAG 2."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from rich.color import Color, ColorTriplet
from rich.segment import Segment
from rich.terminal_theme import TerminalTheme
from textual._ansi_theme import ALABASTER, MONOKAI
from textual.color import Color as TextualColor
from textual.color import ColorParseError
from textual.geometry import Region
from textual.theme import Theme

from nuggets_tui.application import NuggetsApp

TEXT, SHAPE = 4.5, 3.0
"""What WCAG 2 asks for text, and for frames, bars and other shapes."""

_COLOUR: Final = ("#", "ansi_", "rgb", "auto", "transparent")
_PROBE: Final = "probe-of-"
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


class Pair(NamedTuple):
    """What something is painted with: names of the theme's variables, and whether it is text. example: some of it.

    front and ground change places where the style is reversed. A colour that is no variable's stands as it is.
    """

    front: str
    ground: str
    text: bool
    dim: bool
    example: str


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


def probe(theme: Theme) -> Theme:
    """A theme like another, in which no two variables have the same colour: each can be told from what is painted."""
    named = {**theme.to_color_system().generate(), **theme.variables}
    names = sorted(name for name, value in named.items() if value.startswith(_COLOUR))
    colours = {name: _nth(number) for number, name in enumerate(names)}
    bases = {name: colours[name] for name in ("primary", "foreground", "background", "surface", "panel")}
    return replace(theme, name=f"{_PROBE}{theme.name}", variables={**named, **colours}, **bases)


def _nth(number: int) -> str:
    """Colours that are far from each other and from what comes of mixing a few of them."""
    return f"#{(number * 37 + 11) % 251:02x}{(number * 101 + 53) % 241:02x}{(number * 59 + 97) % 239:02x}"


def painted(app: NuggetsApp, within: Region) -> set[Pair]:
    """What is painted on a part of the screen in use, while a probe is its theme: once for each pair of colours."""
    names = {
        Color.parse(value).get_truecolor(): name
        for name, value in app.current_theme.variables.items()
        if value.startswith("#")
    }
    found: dict[tuple[str, str, bool, bool], str] = {}
    for segment, _, _ in _segments(app, within):
        text, style = segment.text.strip(), segment.style
        if text and style is not None:
            front, ground = (
                _named(colour or Color.default(), names) for colour in (style.color, style.bgcolor)
            )
            found.setdefault((front, ground, not _is_shape(text), bool(style.dim)), text[:40])
    return {Pair(*pair, example) for pair, example in found.items()}


def _named(colour: Color, names: Mapping[ColorTriplet, str]) -> str:
    if colour.triplet is None:
        return "ansi_default" if colour.number is None else f"ansi_{_COLOURS[colour.number]}"
    return names.get(colour.triplet, colour.triplet.hex)


def palettes_of(theme: Theme) -> tuple[TerminalTheme, ...]:
    """What the sixteen colours of a terminal may be, where a theme leaves them to the terminal."""
    if not theme.ansi:
        return (MONOKAI,)
    return (MONOKAI, XTERM_DARK) if theme.dark else (ALABASTER, XTERM_LIGHT)


def is_probe(theme: Theme) -> bool:
    """Whether a theme was made by `probe`."""
    return theme.name.startswith(_PROBE)


def contrasts(theme: Theme, pair: Pair) -> list[float]:
    """The contrast of two variables of a theme, for each of the palettes; none for what is no variable."""
    named = _variables(theme)
    if pair.front not in named or pair.ground not in named:
        return []
    return [
        contrast(
            named[pair.front].rich_color.get_truecolor(palette, foreground=True),
            named[pair.ground].rich_color.get_truecolor(palette, foreground=False),
        )
        for palette in palettes_of(theme)
    ]


_VARIABLES: Final[dict[str, dict[str, TextualColor]]] = {}


def _variables(theme: Theme) -> dict[str, TextualColor]:
    """The variables that are colours, without those that are mixed with what lies below."""
    if theme.name not in _VARIABLES:
        found = {f"ansi_{name}": TextualColor.parse(f"ansi_{name}") for name in ("default", *_COLOURS)}
        for name, value in {**theme.to_color_system().generate(), **theme.variables}.items():
            with contextlib.suppress(ColorParseError):
                colour = TextualColor.parse(value)
                if colour.a == 1 and not colour.auto:
                    found[name] = colour
        _VARIABLES[theme.name] = found
    return _VARIABLES[theme.name]


def faint_parts(app: NuggetsApp) -> Iterator[Faint]:
    """All that is painted on the screen in use and is harder to see than WCAG 2 asks."""
    for palette in palettes_of(app.current_theme):
        for segment, x, y in _segments(app, app.size.region):
            if (found := _faint(segment, palette, x, y)) is not None:
                yield found


def _segments(app: NuggetsApp, within: Region) -> Iterator[tuple[Segment, int, int]]:
    for y, strip in enumerate(app.screen._compositor.render_strips(app.size)):
        x = 0
        for segment in strip:
            if within.y <= y < within.bottom and within.x <= x < within.right:
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
