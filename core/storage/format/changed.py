"""Documents with changes laid into them: what a change set touches gets new bytes, the rest keeps its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.model.change import FactChange, NoteChange
from core.model.fact import Fact
from core.model.note import Note
from core.storage.format.codec import write_fact, write_note
from core.storage.format.documents import GraphDocument, NuggetDocument


def changed_graph(graph: GraphDocument, changes: Sequence[NoteChange]) -> GraphDocument | None:
    """The document with rebased changes of notes; None when there are none."""
    if not changes:
        return None
    raws, notes = list(graph.raws), list(graph.notes)
    touched = {change.id for change in changes if not change.namesake}
    readable = [number for number, known in enumerate(notes) if known is not None]
    places: dict[str, int] = {}
    for number, known in enumerate(notes):
        if known is not None and known.id in touched:
            places.setdefault(known.id, number)
    added: list[tuple[int | None, Note]] = []
    gone: list[int] = []
    for change in changes:
        place = places.get(change.id)
        if change.namesake:
            place = readable[change.index] if change.before is not None and change.index is not None else None
        if change.after is None:
            gone += [place] if place is not None else []
        elif place is None:
            added.append((change.index, change.after))
        else:
            raws[place] = write_note(change.after, notes[place], raws[place])
            notes[place] = change.after
    for place in sorted(gone, reverse=True):
        del raws[place], notes[place]
    illegible = _illegible(notes)
    for index, note in sorted(added, key=_by_index):
        at = _room(len(notes), illegible, index)
        raws.insert(at, write_note(note, None, None))
        notes.insert(at, note)
    return replace(graph, raws=tuple(raws), notes=tuple(notes))


def changed_nugget(document: NuggetDocument, changes: list[FactChange]) -> NuggetDocument:
    """The document with rebased changes: `index` is a fact's place among the readable ones, a new one's at the end."""
    raws, facts = list(document.raws), list(document.facts)
    readable = [place for place, fact in enumerate(facts) if fact is not None]
    added: list[tuple[int | None, Fact]] = []
    gone: list[int] = []
    for change in changes:
        if change.before is None:
            added += [(change.index, change.after)] if change.after is not None else []
        elif change.index is not None:
            place = readable[change.index]
            if change.after is None:
                gone.append(place)
            else:
                raws[place] = write_fact(change.after, facts[place], raws[place])
                facts[place] = change.after
    for place in sorted(gone, reverse=True):
        del raws[place], facts[place]
    illegible = _illegible(facts)
    for index, fact in sorted(added, key=_by_index):
        at = _room(len(facts), illegible, index)
        raws.insert(at, write_fact(fact, None, None))
        facts.insert(at, fact)
    return replace(document, raws=tuple(raws), facts=tuple(facts))


def _by_index(item: tuple[int | None, object]) -> tuple[bool, int]:
    return item[0] is None, item[0] or 0


def _illegible(items: Sequence[Fact | Note | None]) -> list[int]:
    return [place for place, item in enumerate(items) if item is None]


def _room(length: int, illegible: list[int], index: int | None) -> int:
    """Where in a file's list of this length an item goes that is to have this number among the readable ones.

    illegible: the places of the others, in order; those behind move on by one.
    """
    if index is None or index >= length - len(illegible):
        return length
    at = index
    for place in illegible:
        if place > at:
            break
        at += 1
    illegible[:] = [place + (place >= at) for place in illegible]
    return at
