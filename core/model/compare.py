"""What differs between two snapshots, as plain changes and as the change sets of another program; changes laid over a
snapshot again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from core.model.change import Author, ChangeSet, FactChange, NoteChange, NuggetChange, drops_recall
from core.model.fact import Fact, Nugget
from core.model.note import Note, replace
from core.model.progress import Progress, counted
from core.model.snapshot import ProblemKind, Snapshot
from core.text.normalise import squeeze

_Item = TypeVar("_Item", Note, Fact)


class Differences(NamedTuple):
    """Everything that differs between two snapshots."""

    notes: tuple[NoteChange, ...]
    facts: tuple[FactChange, ...]
    nuggets: tuple[NuggetChange, ...]


def alike(one: Any, other: Any) -> bool:
    """Whether two values are equal, texts also when they differ by white space alone."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other or squeeze(one) == squeeze(other)
    return bool(one == other)


def differences(before: Snapshot, after: Snapshot, progress: Progress | None = None) -> Differences:
    """What is to be changed in `before` so that it says what `after` says, times and vector recipes as well.

    `index` is the place in `before` of what goes or is a changed fact, and the place in `after` of what is new (None:
    at the end). What cannot be read in `after` is not gone: notes set aside, and facts of a file that is broken as a
    whole or in part. A nugget's settings and the mere order of notes and facts are not compared. progress: told how
    many of the notes that may differ are compared.
    """
    facts: list[FactChange] = []
    nuggets: list[NuggetChange] = []
    for name in sorted(before.by_name.keys() | after.by_name.keys()):
        old, new = before.by_name.get(name), after.by_name.get(name)
        if old is new or (old is not None and old.problem) or (new is not None and new.problem):
            continue
        if old is None or new is None:
            metas = (old.meta if old else None), (new.meta if new else None)
            nuggets.append(NuggetChange(name=name, before=metas[0], after=metas[1]))
        changes = _fact_changes(name, old.facts if old else (), new.facts if new else ())
        whole = facts_are_whole(after, name)
        facts += (change for change in changes if whole or change.after is not None)
    return Differences(tuple(_note_changes(before, after, progress)), tuple(facts), tuple(nuggets))


def facts_are_whole(snapshot: Snapshot, nugget: str) -> bool:
    """Whether every fact of a nugget could be read, so that one which is not there is gone."""
    return not any(
        problem.nugget == nugget and problem.kind is ProblemKind.UNREADABLE_FACT
        for problem in snapshot.problems
    )


def _note_changes(before: Snapshot, after: Snapshot, progress: Progress | None) -> Iterator[NoteChange]:
    old, new = before.by_id, after.by_id
    # Notes whose bytes did not change are the same objects in both, so this costs little more than those that did.
    changed = [note for note in new.values() if old.get(note.id) is not note]
    last_kept = -1
    if any(note.id not in old for note in changed):
        last_kept = max((place for place, note in enumerate(after.notes) if note.id in old), default=-1)
    for note in changed if progress is None else counted(changed, progress):
        former = old.get(note.id)
        if former is None:
            place = after.places[note.id]
            yield NoteChange(id=note.id, before=None, after=note, index=place if place < last_kept else None)
        elif former != note:
            yield NoteChange(id=note.id, before=former, after=note)
    for place, note in enumerate(before.notes):
        if note.id not in new and note.id not in after.set_aside:
            yield NoteChange(id=note.id, before=note, after=None, index=place)


def _fact_changes(nugget: str, old: tuple[Fact, ...], new: tuple[Fact, ...]) -> Iterator[FactChange]:
    before, after = ({fact.key: fact for fact in facts} for facts in (old, new))
    for place, fact in enumerate(old):
        found = after.get(fact.key)
        if found != fact:
            yield FactChange(nugget=nugget, key=fact.key, before=fact, after=found, index=place)
    last_kept = max((place for place, fact in enumerate(new) if fact.key in before), default=-1)
    for place, fact in enumerate(new):
        if fact.key not in before:
            index = place if place < last_kept else None
            yield FactChange(nugget=nugget, key=fact.key, before=None, after=fact, index=index)


def laid_over(snapshot: Snapshot, change_set: ChangeSet | Differences) -> Snapshot:
    """The snapshot with changes carried out that were thought out, or rebased, on it; nothing is checked."""
    removed = {change.name for change in change_set.nuggets if change.after is None}
    nuggets = {name: nugget for name, nugget in snapshot.by_name.items() if name not in removed}
    for made in change_set.nuggets:
        if made.after is not None:
            nuggets.setdefault(made.name, Nugget(meta=made.after))
    for name in dict.fromkeys(change.nugget for change in change_set.facts):
        if name in nuggets:
            changes = [change for change in change_set.facts if change.nugget == name]
            facts = _facts_after(nuggets[name].facts, changes)
            nuggets[name] = msgspec.structs.replace(nuggets[name], facts=facts)
    return dataclasses.replace(
        snapshot,
        notes=_notes_after(snapshot, change_set.notes),
        nuggets=tuple(nuggets[name] for name in sorted(nuggets)),
    )


def _notes_after(snapshot: Snapshot, changes: tuple[NoteChange, ...]) -> tuple[Note, ...]:
    changed = {change.id: change for change in changes if change.id in snapshot.by_id}
    kept: list[Note] = []
    for note in snapshot.notes:
        change = changed.pop(note.id, None)
        after = change.after if change is not None else note
        kept += [after] if after is not None else []
    added = [(c.index, c.after) for c in changes if c.id not in snapshot.by_id and c.after is not None]
    return _with(kept, added)


def _facts_after(facts: tuple[Fact, ...], changes: list[FactChange]) -> tuple[Fact, ...]:
    changed = {change.index: change.after for change in changes if change.before is not None}
    kept = [changed.get(place, fact) for place, fact in enumerate(facts)]
    added = [(c.index, c.after) for c in changes if c.before is None and c.after is not None]
    return _with([fact for fact in kept if fact is not None], added)


def _with(kept: list[_Item], added: list[tuple[int | None, _Item]]) -> tuple[_Item, ...]:
    for index, item in sorted(added, key=lambda one: (one[0] is None, one[0] or 0)):
        kept.insert(len(kept) if index is None else index, item)
    return tuple(kept)


# What another program did

# What a recall moves, and when a reflection last looked at a note: nothing of what is remembered.
HIT_FIELDS: Final = frozenset({"hits", "last_hit_session", "last_accessed_at", "last_rewritten_at"})
# What the original moves in every fact note when it merely loads.
UNSAID_FIELDS: Final = frozenset({"updated_at", "vector"})
_TEXTS: Final = ("content", "value")
_Change = TypeVar("_Change", NoteChange, FactChange)


def outside_changes(
    before: Snapshot,
    after: Snapshot,
    *,
    ids: Callable[[], str],
    at: str,
    author: Author,
    found: Differences | None = None,
) -> tuple[ChangeSet, ...]:
    """What another program did between two snapshots: recalls as a change set of kind "hit", recalls that it dropped as
    another one, the times at which a reflection looked at notes as a third, the rest as "outside".

    None of them is empty. White space of a text, times and vector recipes alone are no change: the original moves
    them whenever it loads or saves. `ids` gives the id of each change set. found: the differences, where known already.
    """
    found = found or differences(before, after)
    notes = [_split(change) for change in found.notes]
    facts = [_split(change) for change in found.facts]
    hits = [hit for hit, _ in notes if hit is not None]
    recalls = [hit for hit in hits if is_recall(hit)]
    counted_facts = [hit for hit, _ in facts if hit is not None]
    recalled = ChangeSet(
        id="",
        at=at,
        author=author,
        reason="",
        kind="hit",
        notes=tuple(hit for hit in recalls if not drops_recall(hit)),
        facts=tuple(hit for hit in counted_facts if not drops_recall(hit)),
    )
    dropped = msgspec.structs.replace(
        recalled,
        notes=tuple(filter(drops_recall, recalls)),
        facts=tuple(filter(drops_recall, counted_facts)),
    )
    looked_at = msgspec.structs.replace(
        recalled, notes=tuple(hit for hit in hits if not is_recall(hit)), facts=()
    )
    changed = ChangeSet(
        id="",
        at=at,
        author=author,
        reason="",
        kind="outside",
        notes=tuple(rest for _, rest in notes if rest is not None),
        facts=tuple(rest for _, rest in facts if rest is not None),
        nuggets=found.nuggets,
    )
    return tuple(
        msgspec.structs.replace(change_set, id=ids(), reason=say(change_set))
        for change_set, say in (
            (recalled, _recalls),
            (dropped, _dropped_recalls),
            (looked_at, _looks),
            (changed, _summary),
        )
        if not change_set.empty
    )


def _split(change: _Change) -> tuple[_Change | None, _Change | None]:
    """A change as the recalls in it and the rest of it."""
    before, after = change.before, change.after
    if before is None or after is None:
        return None, change
    spaced: Any = {name: getattr(before, name) for name in _TEXTS if _spaced_otherwise(name, before, after)}
    if spaced:
        after = msgspec.structs.replace(after, **spaced)
        change = msgspec.structs.replace(change, after=after)
    moved = {name for name in after.__struct_fields__ if getattr(before, name) != getattr(after, name)}
    hits, rest = moved & HIT_FIELDS, moved - HIT_FIELDS - UNSAID_FIELDS
    if not hits or not rest:
        return (change if hits else None), (change if rest else None)
    between = msgspec.structs.replace(before, **{name: getattr(after, name) for name in hits})
    return msgspec.structs.replace(change, after=between), msgspec.structs.replace(change, before=between)


def _spaced_otherwise(name: str, before: Note | Fact, after: Note | Fact) -> bool:
    old, new = getattr(before, name, ""), getattr(after, name, "")
    return old != new and alike(old, new)


def _recalls(change_set: ChangeSet) -> str:
    return f"recalled {_named(change_set)}"


def _dropped_recalls(change_set: ChangeSet) -> str:
    return f"dropped {'a recall' if change_set.size == 1 else 'recalls'} of {_named(change_set)}"


def _named(change_set: ChangeSet) -> str:
    names = [change.note.key for change in change_set.notes] or [change.key for change in change_set.facts]
    return names[0] if change_set.size == 1 else f"{change_set.size} notes"


def is_recall(change: NoteChange) -> bool:
    """Whether a change of kind "hit" counts a recall; a reflection that looks at a note moves a time alone."""
    before, after = change.before, change.after
    return any(getattr(before, name) != getattr(after, name) for name in HIT_FIELDS - {"last_rewritten_at"})


def _looks(change_set: ChangeSet) -> str:
    size = len(change_set.notes)
    return f"reflection checked {size} {'note' if size == 1 else 'notes'}"


def _summary(change_set: ChangeSet) -> str:
    for one, several, changes in (
        ("note", "notes", change_set.notes),
        ("fact", "facts", change_set.facts),
        ("nugget", "nuggets", change_set.nuggets),
    ):
        if changes:
            return _counted(changes, one, several)
    return "no changes"


def _counted(changes: tuple[NoteChange | FactChange | NuggetChange, ...], one: str, several: str) -> str:
    added = sum(change.before is None for change in changes)
    removed = sum(change.after is None for change in changes)
    counts = (("+", added), ("-", removed), ("~", len(changes) - added - removed))
    return ", ".join(f"{sign}{count} {one if count == 1 else several}" for sign, count in counts if count)


def without_hollow(change_set: ChangeSet) -> ChangeSet:
    """The change set without changes of notes in which nothing is left but the time of the change."""
    notes = tuple(
        change
        for change in change_set.notes
        if change.before is None
        or change.after is None
        or replace(change.before, **{name: getattr(change.after, name) for name in UNSAID_FIELDS})
        != change.after
    )
    return msgspec.structs.replace(change_set, notes=notes)
