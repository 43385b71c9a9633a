"""Checks whether a change still has its effect: only then is there something to undo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from core.model.change import ChangeSet, FactChange, NoteChange
from core.model.compare import alike
from core.model.note import Note, custom_tags
from core.model.snapshot import Snapshot

# What somebody says in a note; its tags and links are looked at one by one.
_SAID: Final = (
    "title", "content", "source_key", "hidden", "subject", "scope", "type", "source", "confidence", "stability",
)  # fmt: skip


def where_already_undone(change_set: ChangeSet, snapshot: Snapshot, *, links: bool = True) -> str:
    """Where something that a change did has gone back already to what it was before; "" for nowhere.

    Taking such a change back would do nothing there, and what went back would come again when that is taken back.
    Recalls and times count for nothing. links: whether links count.
    """
    if change_set.kind == "hit":
        return ""
    notes = (change.id for change in change_set.notes if _note_undone(change, snapshot, links))
    facts = (f"{fact.nugget}: {fact.key}" for fact in change_set.facts if _fact_undone(fact, snapshot))
    return next(notes, "") or next(facts, "")


def _note_undone(change: NoteChange, snapshot: Snapshot, links: bool) -> bool:
    before, after = change.before, change.after
    now = snapshot.by_id.get((after or change.note).id)
    if before is None or after is None or now is None:
        return (now is None) is (before is None) and (after is None or before is None)
    for name in _SAID:
        was, made, found = (getattr(note, name) for note in (before, after, now))
        if not alike(was, made) and alike(found, was):
            return True
    was_marked, made_marked, marked = (set(_marks(note, links)) for note in (before, after, now))
    return not (made_marked - was_marked <= marked) or bool((was_marked - made_marked) & marked)


def _marks(note: Note, links: bool) -> Iterator[tuple[str, ...]]:
    yield from (("tag", tag) for tag in custom_tags(note))
    if links:
        yield from (("link", link.to, link.reason) for link in note.links)


def _fact_undone(change: FactChange, snapshot: Snapshot) -> bool:
    nugget = snapshot.by_name.get(change.nugget)
    facts = {fact.key: fact for fact in nugget.facts} if nugget is not None else {}
    before, after = change.before, change.after
    if after is None:
        return before is not None and before.key in facts and alike(facts[before.key].value, before.value)
    now = facts.get(after.key)
    if before is None:
        return now is None
    if now is None:
        return before.key in facts and before.key != after.key
    return not alike(before.value, after.value) and alike(now.value, before.value)
