"""A short recording of the app as one animated SVG: frames on top of each other, each seen in its time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_SIZE: Final = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_FONTS: Final = re.compile(r"@font-face\s*\{.*?\}\s*", re.DOTALL)
# A clipping path for each line of a frame: most of what it weighs, and lines never run over.
_CLIPPING: Final = re.compile(
    r'<clipPath id="[^"]*line-\d+">.*?</clipPath>\s*| clip-path="url\(#[^"]*line-\d+\)"', re.DOTALL
)
_CAPTION_HEIGHT: Final = 44
_CAPTION_SIZE: Final = 22
_INK, _PAPER, _KEY = "#d8dee6", "#101418", "#f0b75a"


@dataclass(frozen=True)
class Frame:
    """One moment: the screen as SVG, for how many seconds it stays, the key just pressed and what it does."""

    svg: str
    seconds: float
    key: str = ""
    words: str = ""


def animated(frames: Sequence[Frame]) -> str:
    """An SVG that shows the frames one after the other, again and again. Raises ValueError for no frames.

    Browsers that are asked for less motion show the last frame alone.
    """
    if not frames:
        raise ValueError("a recording has at least one frame")
    found = _SIZE.search(frames[0].svg)
    if found is None:
        raise ValueError("a frame must be an SVG with a viewBox")
    width, height = float(found[1]), float(found[2])
    total = sum(frame.seconds for frame in frames)
    styles, groups, begun = [], [], 0.0
    for number, frame in enumerate(frames):
        styles.append(_timing(number, begun / total, (begun + frame.seconds) / total, total))
        groups.append(
            f'<g class="frame" id="frame{number}">{_light(frame.svg, width, height)}{_caption(frame, height)}</g>'
        )
        begun += frame.seconds
    fonts = "".join(_FONTS.findall(frames[0].svg))
    last = f"#frame{len(frames) - 1}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height + _CAPTION_HEIGHT:g}">'
        f"<style>{fonts}.frame{{visibility:hidden}}{''.join(styles)}"
        "@media (prefers-reduced-motion:reduce){.frame{animation:none!important}"
        f"{last}{{visibility:visible}}}}</style>"
        f'<rect width="100%" height="100%" fill="{_PAPER}"/>{"".join(groups)}</svg>\n'
    )


def _light(svg: str, width: float, height: float) -> str:
    """A frame without what all frames share or none needs, in the upper part of the picture."""
    placed = svg.replace("<svg ", f'<svg width="{width:g}" height="{height:g}" ', 1)
    return _CLIPPING.sub("", _FONTS.sub("", placed))


def _timing(number: int, begin: float, end: float, total: float) -> str:
    """When a frame is seen: from one share of the whole time to another."""
    marks = [f"{begin:.4%}{{visibility:visible}}"]
    if begin > 0:
        marks.insert(0, "0%{visibility:hidden}")
    if end < 1:
        marks.append(f"{end:.4%}{{visibility:hidden}}")
    return (
        f"@keyframes at{number}{{{''.join(marks)}}}"
        f"#frame{number}{{animation:at{number} {total:g}s step-end infinite}}"
    )


def _caption(frame: Frame, height: float) -> str:
    baseline = height + _CAPTION_HEIGHT * 0.62
    return (
        f'<text x="14" y="{baseline:g}" font-family="Fira Code, monospace" font-size="{_CAPTION_SIZE}" fill="{_INK}" '
        f'xml:space="preserve"><tspan fill="{_KEY}" font-weight="bold">{escape(frame.key)}</tspan>'
        f"  {escape(frame.words)}</text>"
    )
