"""What differs between two snapshots, as plain changes and as the change sets of another program; changes laid over a
snapshot again.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from core.model.change import Author, ChangeSet, FactChange, NoteChange, NuggetChange, drops_recall
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note, replace
from core.model.progress import Progress, counted
from core.model.snapshot import ProblemKind, Snapshot
from core.text.normalise import squeeze


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
    # What is not there of such a nugget may be in its file.
    unread = {one.nugget for one in after.problems if one.kind is ProblemKind.UNREADABLE_FACT}
    for name in sorted(before.by_name.keys() | after.by_name.keys()):
        old, new = before.by_name.get(name), after.by_name.get(name)
        if old is new or (old is not None and old.problem) or (new is not None and new.problem):
            continue
        if old is None or new is None:
            metas = (old.meta if old else None), (new.meta if new else None)
            nuggets.append(NuggetChange(name=name, before=metas[0], after=metas[1]))
        changes = _fact_changes(name, old.facts if old else (), new.facts if new else ())
        facts += (change for change in changes if name not in unread or change.after is not None)
    return Differences(tuple(_note_changes(before, after, progress)), tuple(facts), tuple(nuggets))


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
    return _all_laid_over(snapshot, (change_set,))


def at_moment(current: Snapshot, entries: Iterable[ChangeSet]) -> Snapshot:
    """The memory as it was before these change sets, newest first, were made on it.

    Each note and fact is set to what it was before; what does not fit, since it is gone or another by now, is put
    where it stood or passed over. A nugget whose file cannot be read stays as it is.
    """
    found = _all_laid_over(
        current, (one.inverse(id="", at="", author=one.author, reason="") for one in entries)
    )
    ids = {note.id for note in found.notes}
    aside = frozenset(id for id in current.set_aside if id not in ids)
    return dataclasses.replace(found, problems=(), set_aside=aside, revision=0)


def _all_laid_over(snapshot: Snapshot, change_sets: Iterable[ChangeSet | Differences]) -> Snapshot:
    notes = dict(snapshot.by_id)
    order = list(notes)
    nuggets = dict(snapshot.by_name)
    for change_set in change_sets:
        order = _lay_notes(notes, order, change_set.notes)
        for made in change_set.nuggets:
            if made.after is not None:
                nuggets.setdefault(made.name, Nugget(meta=made.after))
        for name in dict.fromkeys(change.nugget for change in change_set.facts):
            held = nuggets.get(name) or Nugget(meta=NuggetMeta(name=name))
            if not held.problem:
                changes = [change for change in change_set.facts if change.nugget == name]
                nuggets[name] = msgspec.structs.replace(held, facts=_facts_after(held.facts, changes))
        for gone in change_set.nuggets:
            left = nuggets.get(gone.name)
            if gone.after is None and left is not None and not (left.facts or left.problem):
                del nuggets[gone.name]
    return dataclasses.replace(
        snapshot,
        notes=tuple(notes[id] for id in order if id in notes),
        nuggets=tuple(nuggets[name] for name in sorted(nuggets)),
    )


def _place(change: NoteChange | FactChange) -> int:
    """Where what comes is put among the others; behind all of them where nobody says."""
    return sys.maxsize if change.index is None else change.index


def _lay_notes(notes: dict[str, Note], order: list[str], changes: Iterable[NoteChange]) -> list[str]:
    """Carries out changes of notes; a note that was to go, or to change, and is gone, comes back. Their order then, in
    which those that are gone may still stand.
    """
    coming: list[NoteChange] = []
    for change in changes:
        if change.after is None:
            notes.pop(change.note.id, None)
        elif change.note.id in notes:
            notes[change.note.id] = change.after
        else:
            coming.append(change)
    if coming and len(order) != len(notes):
        order = [id for id in order if id in notes]
    for change in sorted(coming, key=_place):
        order.insert(_place(change), change.note.id)
        notes[change.note.id] = change.note
    return order


def _facts_after(facts: tuple[Fact, ...], changes: Iterable[FactChange]) -> tuple[Fact, ...]:
    """A nugget's facts with one change set's changes of them carried out."""
    places = {fact.key: place for place, fact in enumerate(facts)}
    kept: list[Fact | None] = list(facts)
    changed: set[int] = set()
    coming: list[FactChange] = []
    for change in changes:
        place = places.get(change.before.key) if change.before is not None else None
        if place is not None:
            changed.add(place)
            kept[place] = change.after
        elif change.after is not None:
            coming.append(change)
    # What stands behind another of its key counts once that one goes, and counts no more when it is back.
    back = {change.after.key for change in coming if change.after is not None}
    found = [
        fact
        for place, fact in enumerate(kept)
        if fact is not None and (place in changed or fact.key not in back)
    ]
    for change in sorted(coming, key=_place):
        if change.after is not None:
            found.insert(_place(change), change.after)
    return tuple(found)


# What another program did

# What a recall moves, and when a reflection last looked at a note: nothing of what is remembered.
HIT_FIELDS: Final = frozenset({"hits", "last_hit_session", "last_accessed_at", "last_rewritten_at"})
# What the original moves in every fact note when it merely loads.
UNSAID_FIELDS: Final = frozenset({"updated_at", "vector"})
_Change = TypeVar("_Change", NoteChange, FactChange)
_Item = TypeVar("_Item", Note, Fact)


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
    notes, facts = [_split(change) for change in found.notes], [_split(change) for change in found.facts]
    recalls = [hit for hit, _ in notes if hit is not None and is_recall(hit)]
    counted_facts = [hit for hit, _ in facts if hit is not None]
    changed = ChangeSet(
        id="", at=at, author=author, reason="", kind="outside",
        notes=tuple(rest for _, rest in notes if rest is not None),
        facts=tuple(rest for _, rest in facts if rest is not None), nuggets=found.nuggets,
    )  # fmt: skip
    hit = msgspec.structs.replace(changed, kind="hit", nuggets=())
    recalled, dropped = (
        msgspec.structs.replace(
            hit,
            notes=tuple(one for one in recalls if drops_recall(one) is drops),
            facts=tuple(one for one in counted_facts if drops_recall(one) is drops),
        )
        for drops in (False, True)
    )
    looks = tuple(one for one, _ in notes if one is not None and not is_recall(one))
    some = "a recall" if dropped.size == 1 else "recalls"
    told = (
        (recalled, f"recalled {_named(recalled)}"),
        (dropped, f"dropped {some} of {_named(dropped)}"),
        (
            msgspec.structs.replace(hit, notes=looks, facts=()),
            f"reflection checked {len(looks)} {'note' if len(looks) == 1 else 'notes'}",
        ),
        (changed, _summary(changed)),
    )
    return tuple(msgspec.structs.replace(one, id=ids(), reason=said) for one, said in told if not one.empty)


def spaced_as(base: _Item, side: _Item) -> _Item:
    """A version without changes of white space alone, which the original makes at its saves: a file does not tell
    whether they were meant.
    """
    spaced = {
        name: old
        for name in ("title", "content", "value")
        if (old := getattr(base, name, "")) != (new := getattr(side, name, "")) and alike(old, new)
    }
    return msgspec.structs.replace(side, **spaced) if spaced else side


def _split(change: _Change) -> tuple[_Change | None, _Change | None]:
    """A change as the recalls in it and the rest of it."""
    before, after = change.before, change.after
    if before is None or after is None:
        return None, change
    after = spaced_as(before, after)
    change = msgspec.structs.replace(change, after=after)
    moved = {name for name in after.__struct_fields__ if getattr(before, name) != getattr(after, name)}
    hits, rest = moved & HIT_FIELDS, moved - HIT_FIELDS - UNSAID_FIELDS
    if not hits or not rest:
        return (change if hits else None), (change if rest else None)
    between = msgspec.structs.replace(before, **{name: getattr(after, name) for name in hits})
    return msgspec.structs.replace(change, after=between), msgspec.structs.replace(change, before=between)


def _named(change_set: ChangeSet) -> str:
    names = [change.note.key for change in change_set.notes] or [change.key for change in change_set.facts]
    return names[0] if change_set.size == 1 else f"{change_set.size} notes"


def is_recall(change: NoteChange) -> bool:
    """Whether a change of kind "hit" counts a recall; a reflection that looks at a note moves a time alone."""
    before, after = change.before, change.after
    return any(getattr(before, name) != getattr(after, name) for name in HIT_FIELDS - {"last_rewritten_at"})


def _summary(change_set: ChangeSet) -> str:
    for name, changes in (
        ("note", change_set.notes),
        ("fact", change_set.facts),
        ("nugget", change_set.nuggets),
    ):
        if changes:
            added = sum(change.before is None for change in changes)
            removed = sum(change.after is None for change in changes)
            counts = (("+", added), ("-", removed), ("~", len(changes) - added - removed))
            said = (f"{sign}{count} {name}{'' if count == 1 else 's'}" for sign, count in counts if count)
            return ", ".join(said)
    return "no changes"


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
