"""The surroundings of a note: its links in and out, suggested links, and a small graph around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.graph.edits import MERGED_INTO
from core.model.note import Link, Note, unique_links
from core.model.snapshot import Snapshot
from core.text.tokens import fold, stems, word_spans

_SUGGESTIONS = 5
# A word in more notes of the nugget than this share, and than this few, says nothing about a pair.
_COMMON_SHARE = 0.1
_COMMON_FEW = 3
_LOOKED_AT = 2000
# How many notes are read between two questions whether to stop.
_ASKED_EVERY = 8


@dataclass(frozen=True)
class Suggestion:
    """A note that might be linked, and the words it shares, as the note itself has them."""

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
    """Notes within some hops of a focus, by distance, with the lines between them; `left_out` were too many.

    merged: pairs of a note that was merged away and its survivor that no link joins.
    """

    focus: str
    hops: dict[str, int]
    notes: tuple[Note, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0
    merged: tuple[tuple[str, str], ...] = ()


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


def suggestions(
    snapshot: Snapshot, id: str, limit: int = _SUGGESTIONS, *, stopped: Callable[[], bool] = lambda: False
) -> tuple[Suggestion, ...]:
    """Visible notes of the same nugget that share at least two uncommon words with a note and are not linked to it.

    Rarer words weigh more (inverse of the number of notes that hold them). A first look for the stems as mere
    pieces of text keeps this to one pass over the nugget. stopped: asked again and again; nothing is found once it
    says yes.
    """
    note = snapshot.note(id)
    linked = {link.to for link in note.links} | {holder for holder, _ in snapshot.links_in.get(id, ())} | {id}
    fellows = [n for n in snapshot.visible if n.nugget_name == note.nugget_name]
    own = {word for word in stems(_said(note)) if len(word) > 1 and not word.isdigit()}
    spread = Counter[str]()
    candidates: list[tuple[Note, list[str]]] = []
    for place, fellow in enumerate(fellows):
        if not place % _ASKED_EVERY and stopped():
            return ()
        text = fold(_said(fellow))
        # What of a stem stands in every word of it: "polici" is the stem of "policy".
        found = [word for word in own if word.removesuffix("i") in text]
        spread.update(found)
        if len(found) > 1 and fellow.id not in linked:
            candidates.append((fellow, found))
    most = max(_COMMON_FEW, len(fellows) * _COMMON_SHARE)
    ranked: list[tuple[float, Suggestion]] = []
    for place, (fellow, found) in enumerate(candidates):
        if not place % _ASKED_EVERY and stopped():
            return ()
        rare = [word for word in found if spread[word] <= most]
        shared = sorted(set(rare) & set(stems(_said(fellow))), key=lambda word: (spread[word], word))
        if len(shared) > 1:
            weight = sum(1 / spread[word] for word in shared)
            ranked.append((weight, Suggestion(fellow, _as_written(shared[:3], _said(note)))))
    ranked.sort(key=lambda pair: (-pair[0], pair[1].note.id))
    return tuple(suggestion for _, suggestion in ranked[:limit])


def _as_written(shared: Sequence[str], text: str) -> tuple[str, ...]:
    """Stems as the words that stand in a text: "signature" for "signatur"."""
    written: dict[str, str] = {}
    for start, end, word in word_spans(text):
        for one in stems(word):
            written.setdefault(one, text[start:end])
    return tuple(dict.fromkeys(written.get(one, one) for one in shared))


def _said(note: Note) -> str:
    return f"{note.title} {note.content[:_LOOKED_AT]}"


def surroundings(
    snapshot: Snapshot, id: str, *, hops: int = 1, limit: int = 30, include_hidden: bool = False
) -> Surroundings:
    """Notes within `hops` links of a note, nearest first, at most `limit`, with the links among them.

    A note that was merged away counts as linked to its survivor where hidden notes are included.
    """
    snapshot.note(id)
    merged = _merged(snapshot) if include_hidden else {}
    distance = {id: 0}
    order = [id]
    left_out: set[str] = set()
    for current in order:
        if distance[current] >= hops:
            continue
        for other in dict.fromkeys((*_linked(snapshot, current), *merged.get(current, ()))):
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
        merged=tuple(
            (other, survivor)
            for other in order
            if (survivor := _survivor(snapshot.by_id[other])) in distance
            and survivor != other
            and (min(other, survivor), max(other, survivor)) not in edges
        ),
    )


def _survivor(note: Note) -> str:
    return str(note.extra.get(MERGED_INTO, "")) if note.hidden else ""


def _merged(snapshot: Snapshot) -> dict[str, list[str]]:
    """For each note those that it is joined with by a merge."""
    found: dict[str, list[str]] = {}
    for note in snapshot.notes:
        survivor = _survivor(note) if note.hidden and note.extra else ""
        if survivor in snapshot.by_id and survivor != note.id:
            found.setdefault(note.id, []).append(survivor)
            found.setdefault(survivor, []).append(note.id)
    return found


def _linked(snapshot: Snapshot, id: str) -> list[str]:
    out = [link.to for link in snapshot.by_id[id].links]
    back = [holder for holder, _ in snapshot.links_in.get(id, ())]
    return [other for other in dict.fromkeys((*out, *back)) if other != id and other in snapshot.by_id]
