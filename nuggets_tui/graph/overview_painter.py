"""Draws the rows of an overview: points and lines in their colours, names, the marked note with its title."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

from nuggets_tui.graph.labels import Label
from nuggets_tui.graph.scene import CHOSEN_LINE, COLOURS, FAINT_LINE, LEVELS, PLAIN, Cells, Scene
from nuggets_tui.safe_text import cut, fit
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from textual.widget import Widget

_MARK: Final = "◉"
_TITLE_CELLS: Final = 36
_LABEL_CELLS: Final = 60
# How much of their colour points keep, where few and where many are.
_SHADES: Final = (0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Mark:
    """The marked note: its number and title, and whether keys reach the picture."""

    number: int | None
    title: str
    active: bool


@dataclass(frozen=True)
class _Piece:
    column: int
    text: str
    style: Style

    @property
    def end(self) -> int:
        return self.column + cell_len(self.text)


class OverviewPainter:
    """Draws for a widget, in the colours of its component classes."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[int, Style] = {}

    def forget(self) -> None:
        """The colours may have changed."""
        self._styles = {}

    def words(self, text: str, width: int) -> Strip:
        """A row of words."""
        style = self._named("words")
        return Strip.from_lines([[Segment(fit(text, width), style)]], width)[0]

    def row(self, scene: Scene, cells: Cells, mark: Mark, y: int) -> Strip:
        """Row `y` of a scene; `cells` are the scene's, with the links of the marked note."""
        marked = list(self._marked(scene, mark, y))
        names = [self._name(label) for label in scene.label_rows.get(y, ())]
        # A name that the marked note's title would cut is left out.
        clear = [name for name in names if all(name.end < m.column or m.end < name.column for m in marked)]
        signs, styles = cells[0][y], cells[1][y]
        text = signs.astype("<u4").tobytes().decode("utf-32-le")
        changes = [0, *(np.flatnonzero(np.diff(styles)) + 1).tolist()]
        segments: list[Segment] = []
        at = 0
        for piece in sorted((*clear, *marked), key=lambda piece: piece.column):
            segments += self._points(text, styles, changes, at, piece.column)
            segments.append(Segment(piece.text, piece.style))
            at = piece.end
        segments += self._points(text, styles, changes, at, len(text))
        return Strip(segments, len(text))

    def _points(
        self, text: str, styles: NDArray[np.int16], changes: list[int], start: int, end: int
    ) -> Iterable[Segment]:
        """The cells from one column up to another; `changes`: where another style begins."""
        first = bisect_right(changes, start) - 1
        while start < end:
            stop = min(changes[first + 1] if first + 1 < len(changes) else end, end)
            yield Segment(text[start:stop], self._style(int(styles[start])))
            start, first = stop, first + 1

    def _named(self, name: str) -> Style:
        return self._widget.get_visual_style(f"graph-overview--{name}").rich_style

    def _style(self, number: int) -> Style:
        """The style of a cell's number, as a scene gives them."""
        if number not in self._styles:
            self._styles[number] = self._made(number)
        return self._styles[number]

    def _made(self, number: int) -> Style:
        if number == PLAIN:
            return self._widget.visual_style.rich_style
        if number in (FAINT_LINE, CHOSEN_LINE):
            return self._named("line" if number == FAINT_LINE else "chosen-line")
        colour, level = divmod(number, LEVELS)
        name = f"graph-overview--colour-{colour + 1}" if colour < COLOURS else "graph-overview--ghost"
        visual = self._widget.get_visual_style(name)
        own, ground = visual.foreground, visual.background
        if own is None or ground is None or own.ansi is not None or ground.ansi is not None:
            # The sixteen colours of a terminal cannot be mixed.
            return visual.rich_style + Style(bold=level == LEVELS - 1)
        return visual.rich_style + Style(color=Color.blend(ground, own, _SHADES[level]).rich_color)

    def _name(self, label: Label) -> _Piece:
        style = self._style(label.colour * LEVELS + LEVELS - 1)
        if label.kind == "note":
            style = self._style(PLAIN)
        else:
            style += Style(bold=True, underline=label.kind == "nugget")
        return _Piece(label.column, label.text, style)

    def _marked(self, scene: Scene, mark: Mark, y: int) -> Iterable[_Piece]:
        if mark.number is None:
            return
        column, row = scene.cell(mark.number)
        width = scene.camera.width
        if row != y or not 0 <= column < width:
            return
        right = width - column - 1
        title = cut(mark.title, min(_TITLE_CELLS, max(right, column) - 2))
        if title:
            text = f" {title} "
            cells = cell_len(text)
            at = column + 1 if cells <= right else column - cells
            yield _Piece(at, text, self._named("cursor" if mark.active else "cursor-blurred"))
        yield _Piece(column, _MARK, self._named("mark"))


def point_words(scene: Scene, number: int | None, title: str) -> str:
    """What the last row says of the marked note: where it belongs, its links, and what else lies there."""
    if number is None:
        return f"{plural(int(scene.shown.sum()), 'note')} · arrow keys select one"
    overview = scene.overview
    disc = overview.communities[overview.community[number]]
    home = overview.nuggets[disc.nugget].name
    said = [cut(title, _LABEL_CELLS), f"{home} › {disc.name}" if disc.name else home]
    said.append(plural(int(scene.shown[overview.linked(number)].sum()), "link"))
    column, row = scene.cell(number)
    inside = 0 <= column < scene.camera.width and 0 <= row < scene.camera.height
    fellows = int(scene.raster.crowd[row, column]) - 1 if inside else 0
    if fellows > 0:
        said.append(f"{plural(fellows, 'more note')} at this point")
    return " · ".join(said)
