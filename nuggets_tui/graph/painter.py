"""Draws the rows of a picture: titles, wires, the frame of the focus, and what the cursor stands on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from textual.strip import Strip

from nuggets_tui.graph.picture import NodeBox, Picture, Wire, mixed
from nuggets_tui.safe_text import fit

if TYPE_CHECKING:
    from textual.widget import Widget

# Column, cells, text, component class ("" for the widget's own style).
Piece = tuple[int, int, str, str]

_CORNERS: Final = {
    False: (("╭", "─", "╮"), ("╰", "─", "╯")),
    True: (("┏", "━", "┓"), ("┗", "━", "┛")),
}
_FRAMES: Final = {"focus": "graph-view--frame", "ghost": "graph-view--ghost-wire"}
_WALLS: Final = {False: ("│", "├", "┤"), True: ("┃", "┠", "┨")}


@dataclass(frozen=True)
class Mark:
    """What the cursor stands on: a node, the wire that led there, and whether the picture has the focus."""

    id: str = ""
    wire: Wire | None = None
    active: bool = False


def paint(widget: Widget, picture: Picture, mark: Mark, y: int, width: int) -> Strip:
    """Row `y` of the picture, `width` cells wide."""
    pieces = sorted([*_wire_pieces(picture, mark, y), *_box_pieces(picture, mark, y)])
    plain = widget.visual_style.rich_style
    segments: list[Segment] = []
    at = 0
    for x, cells, text, name in pieces:
        if x > at:
            segments.append(Segment(" " * (x - at), plain))
        style = widget.get_visual_style(name).rich_style if name else plain
        segments.append(Segment(text, style))
        at = x + cells
    return Strip(segments).adjust_cell_length(width, plain)


def _wire_pieces(picture: Picture, mark: Mark, y: int) -> Iterable[Piece]:
    chosen = mark.wire.cells if mark.wire is not None else {}
    arrow = mark.wire.arrow if mark.wire is not None else None
    for x, sign, stroke, arms in picture.glyph_rows.get(y, ()):
        if (x, y) in chosen:
            own = chosen[x, y]
            # A line that passes under another one here comes to the top while it is chosen.
            others = arms if own & arms == own else 0
            is_arrow = arrow is not None and arrow[0] == (x, y)
            yield x, 1, sign if is_arrow else mixed(own, others), "graph-view--chosen-wire"
        else:
            yield x, 1, sign, f"graph-view--{stroke}-wire"


def _box_pieces(picture: Picture, mark: Mark, y: int) -> Iterable[Piece]:
    for box in picture.boxes:
        if not box.y <= y < box.y + box.height:
            continue
        marked = bool(box.id) and box.id == mark.id
        if box.role == "focus" or box.height > 1:
            yield from _frame_pieces(picture, box, marked, mark.active, y)
            continue
        name = _node_class(box, marked, mark.active)
        left, right = ("▌", "▐") if marked else (" ", " ")
        yield box.x, box.width, f"{left}{fit(box.text, box.width - 2)}{right}", name


def _frame_pieces(picture: Picture, box: NodeBox, marked: bool, active: bool, y: int) -> Iterable[Piece]:
    line = "graph-view--chosen-wire" if marked and active else _FRAMES.get(box.role, "graph-view--box")
    row = y - box.y
    if box.height > 1 and row in (0, box.height - 1):
        start, middle, end = _CORNERS[marked][1 if row else 0]
        yield box.x, box.width, f"{start}{middle * (box.width - 2)}{end}", line
        return
    wall, open_right, open_left = _WALLS[marked]
    cells = picture.glyphs
    end_wall = open_right if (box.x + box.width, y) in cells else wall
    start_wall = open_left if (box.x - 1, y) in cells else wall
    inside = (box.text, *box.lines)
    at = row - 1 if box.height > 1 else 0
    name = _node_class(box, marked, active) if at == 0 else "graph-view--words"
    yield box.x, 1, start_wall, line
    yield box.x + 1, box.width - 2, f" {fit(inside[at] if at < len(inside) else '', box.width - 4)} ", name
    yield box.x + box.width - 1, 1, end_wall, line


def _node_class(box: NodeBox, marked: bool, active: bool) -> str:
    if marked:
        return "graph-view--cursor" if active else "graph-view--cursor-blurred"
    return f"graph-view--{box.role}"
