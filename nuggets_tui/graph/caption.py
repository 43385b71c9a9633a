"""What is said of links: in words, and at the line where the picture leaves room for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from textual.geometry import Region

from nuggets_tui.graph.data import GraphData, GraphEdge
from nuggets_tui.graph.picture import LEFT, RIGHT, Picture, Wire
from nuggets_tui.safe_text import cut

_LEAST: Final = 12
_MOST: Final = 60


@dataclass(frozen=True)
class Caption:
    """A text and its first cell."""

    x: int
    y: int
    text: str


@dataclass(frozen=True)
class _Room:
    x: int
    y: int
    cells: int
    centred: bool = False


def caption(picture: Picture, wire: Wire, reason: str, window: Region) -> Caption | None:
    """Where the reason of a link stands: on its line, right above or below it, or beside it.

    window: the part of the picture that is seen. None without room for the reason, or for the beginning of it.
    """
    text = cut(reason.strip(), _MOST)
    wanted = cell_len(text)
    if not wanted:
        return None
    rooms = list(_rooms(picture, wire, window))
    found = next((room for room in rooms if room.cells >= wanted + 2), None)
    if found is None:
        found = max(rooms, key=lambda room: room.cells, default=None)
        if found is None or found.cells < _LEAST + 2:
            return None
    text = cut(text, found.cells - 2)
    shift = (found.cells - cell_len(text) - 2) // 2 if found.centred else 0
    return Caption(found.x + shift, found.y, f" {text} ")


def _rooms(picture: Picture, wire: Wire, window: Region) -> Iterator[_Room]:
    runs = list(_runs(wire))
    own = set(wire.cells)
    if wire.arrow is not None:
        own.discard(wire.arrow[0])
    for start, end, y in runs:
        length = sum((x, y) in own for x in range(start, end + 1))
        if length > 4 and window.contains(start, y) and window.contains(start + length - 1, y):
            # A piece of the line stays on both sides of the words.
            yield _Room(start + 1, y, length - 2, centred=True)
    beside = [(start, y + step) for start, _, y in runs for step in (-1, 1)]
    beside += [(x + 1, y) for (x, y), arms in wire.cells.items() if not arms & (LEFT | RIGHT)]
    for x, y in beside:
        yield _Room(x, y, _free(picture, x, y, window))


def _runs(wire: Wire) -> Iterator[tuple[int, int, int]]:
    """The straight pieces of a line that lie along a row, as (first column, last column, row), longest first."""
    flat = sorted((y, x) for (x, y), arms in wire.cells.items() if arms == LEFT | RIGHT)
    found: list[tuple[int, int, int]] = []
    for y, x in flat:
        if found and found[-1][2] == y and found[-1][1] == x - 1:
            found[-1] = (found[-1][0], x, y)
        else:
            found.append((x, x, y))
    yield from sorted(found, key=lambda run: (run[0] - run[1], run[2]))


def _free(picture: Picture, x: int, y: int, window: Region) -> int:
    """How many cells from one on, along its row, hold nothing."""
    end = x
    while window.contains(end, y) and (end, y) not in picture.glyphs and picture.at(end, y) is None:
        end += 1
    return end - x


_TITLE = 28


def link_words(data: GraphData, wire: Wire, edges: Sequence[GraphEdge]) -> str:
    """The reasons of a link, then its ends and direction; the reasons come first as they are what is asked for."""
    titles = {node.id: cut(node.title.strip(), _TITLE) for node in data.nodes}
    there = any(edge.a == wire.a for edge in edges)
    back = any(edge.a == wire.b for edge in edges)
    sign = "↔" if there and back else "→" if there else "←"
    ends = f"{titles.get(wire.a, '')} {sign} {titles.get(wire.b, '')}"
    return f"{reasons(edges) or 'no reason given'} · {ends}"


def reasons(edges: Sequence[GraphEdge]) -> str:
    """Why a link is there, both ways; "" when nobody said."""
    return "; ".join(dict.fromkeys(edge.reason.strip() for edge in edges if edge.reason.strip()))


def summary(data: GraphData, picture: Picture) -> str:
    """How many notes the picture shows, how far it reaches, and what found no room."""
    shown = len(picture.box_of) - 1
    if not data.edges and shown <= 0 and not picture.notes_without_room:
        if not data.hidden:
            return "no links yet"
        return f"no visible notes within 1 link · {_count(data.hidden, 'hidden note')}"
    reach = max((box.level for box in picture.boxes if box.id), default=0)
    words = [f"{_count(shown, 'note')} within {_count(max(reach, 1), 'link')}"]
    missing = [
        _count(number, name)
        for number, name in ((picture.notes_without_room, "note"), (picture.links_without_room, "link"))
        if number
    ]
    if missing and shown <= 0:
        # In a pane as small as that the end of a longer line is cut off.
        words = [f"no room for {' and '.join(missing)}"]
    elif missing:
        words.append(f"{' and '.join(missing)} not shown for lack of space")
    if data.hidden:
        words.append(_count(data.hidden, "hidden note"))
    return " · ".join(words)


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"
