"""The surroundings of a note: its links in and out, suggested links, and the notes around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
) -> dict[str, int]:
    """How many links away each note within `hops` of a note is, nearest first, at most `limit`. Raises NotFoundError
    when there is no such note.
    """
    snapshot.note(id)
    distance = {id: 0}
    # It grows meanwhile.
    order = [id]
    for current in order:
        for other in linked(snapshot, current) if distance[current] < hops else ():
            fits = other not in distance and len(order) < limit
            if fits and (include_hidden or not snapshot.by_id[other].hidden):
                distance[other] = distance[current] + 1
                order.append(other)
    return distance


def linked(snapshot: Snapshot, id: str) -> list[str]:
    """The other notes that a note links to or is linked from, each once."""
    out = [link.to for link in snapshot.by_id[id].links]
    back = [holder for holder, _ in snapshot.links_in.get(id, ())]
    return [other for other in dict.fromkeys((*out, *back)) if other != id and other in snapshot.by_id]
