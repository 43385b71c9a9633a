"""Themes made readable: each colour of a theme is pushed until it stands out from what it is painted on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from textual.color import BLACK, WHITE, Color
from textual.theme import Theme

from nuggets_tui.themes import DARK, LIGHT

# What WCAG 2 asks for text, and for frames, bars and other shapes.
TEXT: Final = 4.5
SHAPE: Final = 3.0
# Plain text stands out more than what is muted.
_PLAIN: Final = 6.0
# How far a ground may be from the background: what lies on it keeps its own colours, or is plain text.
_NEAR: Final = 1.25
_MARKED: Final = 1.5
_STEPS: Final = 64

_COLOURS: Final = ("primary", "secondary", "warning", "error", "success", "accent")
_DEFAULT: Final = "ansi_default"
_NAMES: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
# The sixteen colours of xterm: what most terminals show until told otherwise.
_XTERM: Final = {
    f"ansi_{kind}{name}": Color(*parts)
    for (kind, name), parts in zip(
        ((kind, name) for kind in ("", "bright_") for name in _NAMES),
        (
            (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0),
            (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
            (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0),
            (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255),
        ),
        strict=True,
    )
}  # fmt: skip


def luminance(colour: Color) -> float:
    """Relative luminance as WCAG 2 defines it, 0 to 1."""
    red, green, blue = map(_linear, colour.rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@lru_cache(256)
def _linear(part: int) -> float:
    share = part / 255
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


def contrast(one: Color, other: Color) -> float:
    """Contrast of two opaque colours as WCAG 2 defines it, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def pushed(colour: Color, grounds: Sequence[Color], ratio: float) -> Color:
    """The colour, or the one nearest to it on the way to white or black that has a contrast to all grounds.

    Where none has, white or black, whichever comes nearer to it.
    """
    levels = [luminance(ground) + 0.05 for ground in grounds]

    def least(one: Color) -> float:
        level = luminance(one) + 0.05
        return min(max(level, other) / min(level, other) for other in levels)

    def enough(end: Color, step: int) -> bool:
        return least(_between(colour, end, step)) >= ratio

    if least(colour) >= ratio:
        return colour
    ways = []
    for end in (WHITE, BLACK):
        if least(end) >= ratio:
            step = _first(partial(enough, end))
            ways.append((step, _between(colour, end, step)))
    return min(ways)[1] if ways else max((WHITE, BLACK), key=least)


def calmed(ground: Color, background: Color, ratio: float) -> Color:
    """A ground, moved towards the background until their contrast is at most a ratio."""
    if contrast(ground, background) <= ratio:
        return ground
    near = _first(lambda step: contrast(_between(ground, background, step), background) <= ratio)
    return _between(ground, background, near)


def _between(start: Color, end: Color, step: int) -> Color:
    return start.blend(end, step / _STEPS, alpha=1)


def _first(holds: Callable[[int], bool]) -> int:
    """The first of the steps at which something holds, that does not at 0, does at the end, and changes once."""
    below, at = 0, _STEPS
    while at - below > 1:
        middle = (below + at) // 2
        below, at = (below, middle) if holds(middle) else (middle, at)
    return at


# Our own are written down readable, and the first frame does not wait until that is found anew.
_READABLE: Final[dict[str, Theme]] = {theme.name: theme for theme in (DARK, LIGHT)}


def readable(theme: Theme) -> Theme:
    """The theme with colours that can be told from what they are painted on. Made once for each name."""
    made = _READABLE.get(theme.name)
    if made is None:
        variables = _of_terminal(theme) if theme.ansi else _of_theme(theme)
        made = _READABLE[theme.name] = replace(theme, variables={**theme.variables, **variables})
    return made


def _of_theme(theme: Theme) -> dict[str, str]:
    named = {**theme.to_color_system().generate(), **theme.variables}
    background = Color.parse(named["background"])

    def solid(name: str, on: Color = background) -> Color:
        """The colour of a name, as it looks on another."""
        text, _, share = named[name].partition(" ")
        alpha = float(share.rstrip("%")) / 100 if share else 1.0
        # "auto": whatever of black and white stands out.
        colour = (
            max((WHITE, BLACK), key=lambda one: contrast(one, on)) if text == "auto" else Color.parse(text)
        )
        return on + colour.multiply_alpha(alpha)

    grounds = {
        name: calmed(solid(name), background, _NEAR)
        for name in ("surface", "panel", "boost", "block-hover-background", "block-cursor-blurred-background")
    }
    # The header and the footer while somebody looks at the past.
    grounds["ground-past"] = calmed(background.blend(solid("secondary"), 0.2, alpha=1), background, _NEAR)
    marked = {
        name: calmed(solid(name), background, _MARKED)
        for name in ("input-selection-background", "screen-selection-background")
    }
    below = (background, *grounds.values())
    plain = pushed(solid("foreground"), below, _PLAIN)
    cursor = solid("block-cursor-background")
    made = grounds | marked
    made |= {name: pushed(solid(name), below, SHAPE) for name in (*_COLOURS, "border", "border-blurred")}
    made |= {name: pushed(solid(name), below, TEXT) for name in _texts(named)}
    made |= dict.fromkeys(("foreground", "input-selection-foreground", "screen-selection-foreground"), plain)
    made["block-cursor-blurred-foreground"] = plain
    made["block-cursor-foreground"] = pushed(solid("block-cursor-foreground", cursor), (cursor,), TEXT)
    made["input-cursor-foreground"] = pushed(
        solid("input-cursor-foreground"), (solid("input-cursor-background"),), TEXT
    )
    made |= {name: pushed(solid(name), (background,), SHAPE) for name in _thumbs(named)}
    made |= dict.fromkeys(_troughs(named), background)
    return {name: colour.hex for name, colour in made.items()}


def _texts(named: Iterable[str]) -> list[str]:
    """Names of the colours that text has on grounds near the background."""
    return [name for name in named if name.startswith("text-") or name == "foreground-muted"]


def _thumbs(named: Iterable[str]) -> list[str]:
    return [name for name in named if name in ("scrollbar", "scrollbar-hover", "scrollbar-active")]


def _troughs(named: Iterable[str]) -> list[str]:
    """A bar's trough is not seen: there is none where there is nothing to scroll."""
    return [name for name in named if name.startswith(("scrollbar-background", "scrollbar-corner"))]


def _of_terminal(theme: Theme) -> dict[str, str]:
    """Colours of the terminal itself, which nobody here knows: the default ones, which people chose to go together,
    and others where terminals usually show them well. The cursor is the default ones swapped.
    """
    named = {**theme.to_color_system().generate(), **theme.variables}
    ground = BLACK if theme.dark else WHITE

    def seen(name: str, ratio: float) -> str:
        """The colour of a name, or its twin, bright or not, that has a contrast; else the default."""
        given = named[name].split()[0]
        hue = given.removeprefix("ansi_").removeprefix("bright_")
        for twin in (given, f"ansi_{hue}", f"ansi_bright_{hue}"):
            if twin in _XTERM and contrast(_XTERM[twin], ground) >= ratio:
                return twin
        return _DEFAULT

    made = {name: seen(name, SHAPE) for name in (*_COLOURS, "border", *_thumbs(named))}
    made |= {name: seen(name, TEXT) for name in _texts(named)}
    made["border-blurred"] = _DEFAULT
    made |= dict.fromkeys(("ground-past", "surface", "panel", "boost"), _DEFAULT)
    made |= dict.fromkeys(_troughs(named), _DEFAULT)
    for selection in ("input-selection", "screen-selection"):
        made |= {f"{selection}-foreground": "ansi_black", f"{selection}-background": "ansi_bright_cyan"}
    for cursor in ("block-cursor", "input-cursor"):
        made |= {f"{cursor}-foreground": _DEFAULT, f"{cursor}-background": _DEFAULT}
        made[f"{cursor}-text-style"] = "reverse"
    return made
