"""What a picture says in words: why a link is there, and how much of the surroundings is shown."""

from __future__ import annotations

from collections.abc import Sequence

from nuggets_tui.graph.data import GraphData, GraphEdge
from nuggets_tui.graph.picture import Picture, Wire
from nuggets_tui.safe_text import cut

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
    if missing:
        words.append(f"{' and '.join(missing)} more with more room")
    if data.hidden:
        words.append(_count(data.hidden, "hidden note"))
    return " · ".join(words)


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"
