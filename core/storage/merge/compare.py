"""What another program did between two snapshots, as change sets: its recalls apart from the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from core.model.change import Author, ChangeSet, FactChange, NoteChange, NuggetChange, drops_recall
from core.model.compare import Differences, differences
from core.model.fact import Fact
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.text.normalise import squeeze

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
    counted = [hit for hit in hits if is_recall(hit)]
    counted_facts = [hit for hit, _ in facts if hit is not None]
    recalled = ChangeSet(
        id="",
        at=at,
        author=author,
        reason="",
        kind="hit",
        notes=tuple(hit for hit in counted if not drops_recall(hit)),
        facts=tuple(hit for hit in counted_facts if not drops_recall(hit)),
    )
    dropped = msgspec.structs.replace(
        recalled,
        notes=tuple(filter(drops_recall, counted)),
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
    return bool(old != new and squeeze(old) == squeeze(new))


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
