"""Where an arrow key leads in a picture."""

from __future__ import annotations

from typing import Literal

from nuggets_tui.graph.picture import NodeBox, Picture

Direction = Literal["left", "right", "up", "down"]


def step(picture: Picture, note_id: str, direction: Direction) -> str:
    """Id of the note that an arrow key leads to from a note; "" when there is none that way.

    Left and right follow a link to the nearest linked note of another column. Up and down lead to the next note of
    the same column, or along a link where the column has no other.
    """
    here = picture.box_of.get(note_id)
    if here is None:
        return ""
    sign = 1 if direction in ("right", "down") else -1
    linked = [picture.box_of[other] for other in picture.linked[note_id]]
    if direction in ("left", "right"):
        found = [box for box in linked if (_column(box) - _column(here)) * sign > 0]
    else:
        column = [box for box in picture.box_of.values() if _column(box) == _column(here)]
        fellow = min(_beyond(here, column, sign), key=lambda box: box.y * sign, default=None)
        if fellow is not None:
            return fellow.id
        found = _beyond(here, linked, sign)
    nearest = min(found, key=lambda box: (_distance(here, box), box.y, box.x), default=None)
    return nearest.id if nearest else ""


def _column(box: NodeBox) -> int:
    return box.side * box.level


def _beyond(here: NodeBox, boxes: list[NodeBox], sign: int) -> list[NodeBox]:
    return [box for box in boxes if (box.middle[1] - here.middle[1]) * sign > 0]


def _distance(one: NodeBox, other: NodeBox) -> int:
    """Squared distance of two boxes' middles; a cell is twice as high as wide."""
    across = one.middle[0] - other.middle[0]
    along = 2 * (one.middle[1] - other.middle[1])
    return across * across + along * along
