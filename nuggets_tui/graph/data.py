"""What a picture of a note's surroundings shows: nodes, links and the note in the middle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from core.graph.neighbours import linked, surroundings
from core.model.snapshot import Snapshot

NODE_LIMIT: Final = 60


@dataclass(frozen=True)
class GraphNode:
    """A note of the picture. kind: "note" or "fact"."""

    id: str
    title: str
    hidden: bool = False
    kind: str = "note"


@dataclass(frozen=True)
class GraphEdge:
    """A link from `a` to `b`, with its reason."""

    a: str
    b: str
    reason: str = ""


@dataclass(frozen=True)
class GraphData:
    """A note (`focus`) and what surrounds it.

    left_out: for a node's id, how many of its neighbours are not among the nodes. hidden: how many hidden notes the
    focus is linked to that are not drawn.
    """

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    focus: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    hidden: int = 0


def graph_data(
    snapshot: Snapshot, note_id: str, hops: int = 1, show_hidden: bool = False, limit: int = NODE_LIMIT
) -> GraphData:
    """The notes within `hops` links of a note, nearest first, at most `limit`; empty when there is no such note."""
    if note_id not in snapshot.by_id:
        return GraphData()
    inside = surroundings(snapshot, note_id, hops=hops, limit=limit, include_hidden=show_hidden)
    notes = [snapshot.by_id[id] for id in inside]
    nodes = tuple(
        GraphNode(note.id, note.title, note.hidden, "fact" if note.is_fact else "note") for note in notes
    )
    edges = tuple(
        GraphEdge(note.id, link.to, link.reason)
        for note in notes
        for link in note.links
        if link.to in inside and link.to != note.id
    )
    left_out = _left_out(snapshot, inside, hops, show_hidden)
    near = linked(snapshot, note_id)
    hidden = 0 if show_hidden else sum(snapshot.by_id[other].hidden for other in near)
    return GraphData(nodes, edges, note_id, left_out, hidden)


def _left_out(snapshot: Snapshot, inside: dict[str, int], hops: int, show_hidden: bool) -> dict[str, int]:
    counts: dict[str, int] = {}
    taken = set(inside)
    for note_id, hop in inside.items():
        if hop >= hops:
            continue
        near = linked(snapshot, note_id)
        missing = {other for other in near if show_hidden or not snapshot.by_id[other].hidden} - taken
        taken |= missing
        if missing:
            counts[note_id] = len(missing)
    return counts
