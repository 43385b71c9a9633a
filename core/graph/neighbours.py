"""What lies around a note: its links in and out, suggested links, and its surroundings as a small graph."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from core.model.basis import unique_links
from core.model.note import Link, Note
from core.model.snapshot import Snapshot
from core.text.tokens import fold, stems

_SUGGESTIONS = 5
# A word in more notes of the nugget than this share, and than this few, says nothing about a pair.
_COMMON_SHARE = 0.1
_COMMON_FEW = 3
_LOOKED_AT = 2000


@dataclass(frozen=True)
class Suggestion:
    """A note that might be linked, and the words it shares."""

    note: Note
    shared: tuple[str, ...]


@dataclass(frozen=True)
class Neighbours:
    """Links out of a note and into it, as (other note, link); links that point nowhere are left out."""

    outgoing: tuple[tuple[Note, Link], ...]
    incoming: tuple[tuple[Note, Link], ...]


@dataclass(frozen=True)
class Edge:
    """A line between two notes of a picture."""

    a: str
    b: str
    reason: str


@dataclass(frozen=True)
class Surroundings:
    """Notes within some hops of a focus, by distance, with the lines between them; `left_out` were too many."""

    focus: str
    hops: dict[str, int]
    notes: tuple[Note, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0


def neighbours(snapshot: Snapshot, id: str) -> Neighbours:
    """Links of a note. A link that also stands the other way round is shown once, as outgoing."""
    note = snapshot.note(id)
    links = (link for link in unique_links(note.links) if link.to != id)
    out = [(snapshot.by_id[link.to], link) for link in links if link.to in snapshot.by_id]
    said = {(other.id, link.reason) for other, link in out}
    back = [
        (snapshot.by_id[holder], link)
        for holder, link in snapshot.links_in.get(id, ())
        if holder != id and (holder, link.reason) not in said
    ]
    return Neighbours(tuple(out), tuple(back))


def suggestions(snapshot: Snapshot, id: str, limit: int = _SUGGESTIONS) -> tuple[Suggestion, ...]:
    """Visible notes of the same nugget that share at least two uncommon words with a note and are not linked to it.

    Rarer words weigh more (inverse of the number of notes that hold them). A first look for the stems as mere
    pieces of text keeps this to one pass over the nugget.
    """
    note = snapshot.note(id)
    linked = {link.to for link in note.links} | {holder for holder, _ in snapshot.links_in.get(id, ())} | {id}
    fellows = [n for n in snapshot.visible if n.nugget_name == note.nugget_name]
    own = {word for word in stems(_said(note)) if len(word) > 1 and not word.isdigit()}
    spread = Counter[str]()
    candidates: list[tuple[Note, list[str]]] = []
    for fellow in fellows:
        text = fold(_said(fellow))
        found = [word for word in own if _sign(word) in text]
        spread.update(found)
        if len(found) > 1 and fellow.id not in linked:
            candidates.append((fellow, found))
    most = max(_COMMON_FEW, len(fellows) * _COMMON_SHARE)
    ranked: list[tuple[float, Suggestion]] = []
    for fellow, found in candidates:
        rare = [word for word in found if spread[word] <= most]
        shared = sorted(set(rare) & set(stems(_said(fellow))), key=lambda word: (spread[word], word))
        if len(shared) > 1:
            weight = sum(1 / spread[word] for word in shared)
            ranked.append((weight, Suggestion(fellow, tuple(shared[:3]))))
    ranked.sort(key=lambda pair: (-pair[0], pair[1].note.id))
    return tuple(suggestion for _, suggestion in ranked[:limit])


def _sign(stem: str) -> str:
    """What of a stem stands in every word of it: "polici" is the stem of "policy"."""
    return stem[:-1] if stem.endswith("i") else stem


def _said(note: Note) -> str:
    return f"{note.title} {note.content[:_LOOKED_AT]}"


def surroundings(
    snapshot: Snapshot, id: str, *, hops: int = 1, limit: int = 30, include_hidden: bool = False
) -> Surroundings:
    """Notes within `hops` links of a note, nearest first, at most `limit`, with the links among them."""
    snapshot.note(id)
    distance = {id: 0}
    order = [id]
    left_out: set[str] = set()
    for current in order:
        if distance[current] >= hops:
            continue
        for other in _linked(snapshot, current):
            if other in distance or (snapshot.by_id[other].hidden and not include_hidden):
                continue
            if len(order) >= limit:
                left_out.add(other)
                continue
            distance[other] = distance[current] + 1
            order.append(other)
    edges: dict[tuple[str, str], Edge] = {}
    for current in order:
        for link in snapshot.by_id[current].links:
            pair = (min(current, link.to), max(current, link.to))
            if link.to in distance and link.to != current and pair not in edges:
                edges[pair] = Edge(current, link.to, link.reason)
    return Surroundings(
        focus=id,
        hops=distance,
        notes=tuple(snapshot.by_id[other] for other in order),
        edges=tuple(edges.values()),
        left_out=len(left_out),
    )


def _linked(snapshot: Snapshot, id: str) -> list[str]:
    out = [link.to for link in snapshot.by_id[id].links]
    back = [holder for holder, _ in snapshot.links_in.get(id, ())]
    return [other for other in dict.fromkeys((*out, *back)) if other != id and other in snapshot.by_id]
