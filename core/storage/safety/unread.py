"""Notes and facts that cannot be read any more, and the last versions of them that could be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.model.fact import Fact
from core.model.note import Note
from core.model.snapshot import Problem
from core.settings import InferenceSettings
from core.storage.format.codec import unreadable_name
from core.storage.format.documents import Document, GraphDocument, id_of

_Items = Sequence[Note | Fact | None]


def last_read(document: Document, seen: Document, rules: InferenceSettings) -> dict[int, bytes]:
    """For each place of `document` that cannot be read the bytes that were last read there, where they are known.

    seen: the file as the ledger remembers it, with what it keeps of things that cannot be read.
    """
    now = document.items
    known: dict[str, bytes] = {}
    for item, raw in zip(seen.items, seen.raws, strict=True):
        if item is not None:
            known.setdefault(id_of(item), raw)
    there = {id_of(item) for item in now if item is not None}
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
    behind = next((id_of(item) for item in reversed(now[:place]) if item is not None), None)
    if behind is not None and behind not in order:
        return None
    following = order[order.index(behind) + 1 :] if behind is not None else order
    for name in following:
        if name in missing:
            return name
        if any(item is not None and id_of(item) == name for item in now):
            return None
    return None


def with_last_read(document: Document, versions: Mapping[int, bytes]) -> list[bytes]:
    """The file, in parts, with other bytes at some places."""
    raws = tuple(versions.get(place, raw) for place, raw in enumerate(document.raws))
    return replace(document, raws=raws).to_parts()


def unread_places(document: Document) -> Iterator[tuple[int, Problem]]:
    """Each place that cannot be read, in the order of the file, with its problem."""
    if document.problems:
        bad = (place for place, item in enumerate(document.items) if item is None)
        yield from zip(bad, document.problems, strict=False)
