"""Notes and facts that cannot be read any more, and the last versions of them that could be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.model.fact import Fact
from core.model.note import Note
from core.settings import InferenceSettings
from core.storage.codec import unreadable_name
from core.storage.documents import GraphDocument, NuggetDocument

Document = GraphDocument | NuggetDocument
_Items = Sequence[Note | Fact | None]


def last_read(document: Document, seen: Document, rules: InferenceSettings) -> dict[int, bytes]:
    """For each place of `document` that cannot be read the bytes that were last read there, where they are known.

    seen: the file as the ledger remembers it, with what it keeps of things that cannot be read.
    """
    now, then = _items(document), _items(seen)
    known: dict[str, bytes] = {}
    for item, raw in zip(then, seen.raws, strict=True):
        if item is not None:
            known.setdefault(_name(item), raw)
    there = {_name(item) for item in now if item is not None}
    missing = {name: raw for name, raw in known.items() if name not in there}
    kind = Note if isinstance(document, GraphDocument) else Fact
    found: dict[int, bytes] = {}
    nameless: list[int] = []
    for place, item in enumerate(now):
        if item is not None:
            continue
        name = unreadable_name(document.raws[place], kind, rules) or ""
        if name in missing:
            found[place] = missing.pop(name)
        elif not name and kind is Fact:
            nameless.append(place)
    order = list(known)
    for place in nameless:
        standing = _standing_at(place, now, order, missing)
        if standing is not None:
            found[place] = missing.pop(standing)
    return found


def _standing_at(place: int, now: _Items, order: list[str], missing: Mapping[str, bytes]) -> str | None:
    """The name of what is missing and stood behind the same neighbour as what cannot be told by its name."""
    behind = next((_name(item) for item in reversed(now[:place]) if item is not None), None)
    if behind is not None and behind not in order:
        return None
    following = order[order.index(behind) + 1 :] if behind is not None else order
    for name in following:
        if name in missing:
            return name
        if any(item is not None and _name(item) == name for item in now):
            return None
    return None


def _items(document: Document) -> _Items:
    return document.notes if isinstance(document, GraphDocument) else document.facts


def _name(item: Note | Fact) -> str:
    return item.id if isinstance(item, Note) else item.key


def with_last_read(document: Document, versions: Mapping[int, bytes]) -> list[bytes]:
    """The file, in parts, with other bytes at some places."""
    raws = tuple(versions.get(place, raw) for place, raw in enumerate(document.raws))
    if isinstance(document, NuggetDocument):
        return replace(document, raws=raws).to_parts()
    return replace(document, raws=raws).to_parts()


def places_of_problems(document: Document) -> Iterator[tuple[int, str]]:
    """Each place that cannot be read, with the words in which its problem names it."""
    bad = (place for place, item in enumerate(_items(document)) if item is None)
    for place, problem in zip(bad, document.problems, strict=False):
        yield place, problem.where
