"""What a snapshot takes over from the one before it, when a few notes differ: look-ups, and the differences themselves.

A program that writes five times a second changes one note of ten thousand each time; finding everything out anew would
keep every other thread waiting.
"""

from __future__ import annotations

from operator import is_
from typing import Any, Final, NamedTuple

from core.model.note import Note
from core.model.snapshot import Snapshot

# With more changes than this the look-ups are made anew, as they are wanted.
_FEW: Final = 64


class FewChanges(NamedTuple):
    """Notes that are others than before in the same place under the same id, and notes added at the end."""

    changed: tuple[tuple[Note, Note], ...]
    added: tuple[Note, ...]


def few_changes(before: Snapshot, after: Snapshot) -> FewChanges | None:
    """How two snapshots differ in their notes, where that is by a few and no id stands twice; None otherwise."""
    old, new = before.notes, after.notes
    if not 0 <= len(new) - len(old) <= _FEW or len(before.by_id) < len(old):
        return None
    same = list(map(is_, old, new))
    if len(same) - sum(same) > _FEW:
        return None
    changed = tuple((old[place], new[place]) for place, alike in enumerate(same) if not alike)
    added = new[len(old) :]
    ids = {note.id for note in added}
    known = before.by_id
    if len(ids) < len(added) or any(id in known for id in ids):
        return None
    return FewChanges(changed, added) if all(one.id == other.id for one, other in changed) else None


def take_over(former: Snapshot, following: Snapshot) -> None:
    """Gives a snapshot nobody has seen yet the look-ups that the former one made already, amended.

    They are what the snapshot would make itself, in the same order.
    """
    made = vars(former)
    if "by_id" not in made:
        return
    few = few_changes(former, following)
    if few is None:
        return
    given: dict[str, Any] = {
        "by_id": {**former.by_id, **{note.id: note for _, note in few.changed}, **_by_id(few.added)}
    }
    if "places" in made:
        start = len(former.notes)
        given["places"] = {**former.places, **{note.id: start + at for at, note in enumerate(few.added)}}
    if "visible" in made and not few.changed:
        given["visible"] = (*former.visible, *(note for note in few.added if not note.hidden))
    if "links_in" in made and all(one.links == other.links for one, other in few.changed):
        given["links_in"] = _links_in(former, few.added)
    if "fact_notes" in made and not any(note.is_fact for note in _all(few)):
        given["fact_notes"] = former.fact_notes
    if "hidden_facts" in made and not any(note.hidden_fact for note in _all(few)):
        given["hidden_facts"] = former.hidden_facts
    vars(following).update(given)


def _by_id(notes: tuple[Note, ...]) -> dict[str, Note]:
    return {note.id: note for note in notes}


def _all(few: FewChanges) -> list[Note]:
    return [*few.added, *(note for pair in few.changed for note in pair)]


def _links_in(former: Snapshot, added: tuple[Note, ...]) -> Any:
    found = former.links_in
    if any(note.links for note in added):
        found = dict(found)
        for note in added:
            for link in note.links:
                found[link.to] = (*found.get(link.to, ()), (note.id, link))
    return found
