"""Reads from the journal a change that was written in several turns because of a crash or refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import msgspec

from core.model.change import ChangeSet, FactChange, FileChange, NoteChange, NuggetChange
from core.model.compare import alike
from core.model.fact import Fact
from core.model.note import Note
from core.model.snapshot import Snapshot

# What changes with anything else.
_FOLLOWS: Final = ("updated_at", "last_accessed_at", "last_rewritten_at", "vector")
_Change = TypeVar("_Change", bound=NoteChange | FactChange | NuggetChange | FileChange)


def whole_of(planned: ChangeSet, rest: ChangeSet, snapshot: Snapshot) -> ChangeSet:
    """The change set as the log is to tell it: what was written before the break, and the rest.

    planned: what was to be written in the first place. rest: what of it is left, rebased on `snapshot`. What neither
    stands in the files nor is left gave way to another program, and is left out.
    """
    facts = _Facts(snapshot)
    return msgspec.structs.replace(
        planned,
        notes=_joined(planned.notes, rest.notes, lambda one: one.id, lambda one: _note_stands(one, snapshot)),
        facts=_joined(planned.facts, rest.facts, lambda one: (one.nugget, one.key), facts.stands),
        nuggets=_joined(
            planned.nuggets,
            rest.nuggets,
            lambda one: one.name,
            lambda one: (one.name in snapshot.by_name) is (one.after is not None),
        ),
        # A file that holds what it is to hold is not among the rest.
        files=_joined(planned.files, rest.files, lambda one: one.path, lambda one: True),
    )


def _joined(
    planned: Iterable[_Change],
    rest: Iterable[_Change],
    name: Callable[[_Change], object],
    stands: Callable[[_Change], bool],
) -> tuple[_Change, ...]:
    left: dict[object, _Change] = {name(change): change for change in rest}
    found: list[_Change] = []
    for change in planned:
        if name(change) in left:
            found.append(left.pop(name(change)))
        elif stands(change):
            found.append(change)
    found += left.values()
    return tuple(found)


def _note_stands(change: NoteChange, snapshot: Snapshot) -> bool:
    return _bears(snapshot.by_id.get(change.note.id), change.before, change.after)


class _Facts:
    """Whether facts are in the files as changes leave them; each nugget's are looked through once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._held: dict[str, dict[str, Fact]] = {}

    def stands(self, change: FactChange) -> bool:
        """Whether the file bears the change."""
        if change.nugget not in self._held:
            nugget = self._snapshot.by_name.get(change.nugget)
            self._held[change.nugget] = {fact.key: fact for fact in nugget.facts} if nugget else {}
        key = change.after.key if change.after is not None else change.key
        return _bears(self._held[change.nugget].get(key), change.before, change.after)


def _bears(now: Note | Fact | None, before: Note | Fact | None, after: Note | Fact | None) -> bool:
    """Whether a thing has something of what a change gave it, whatever else it has become since."""
    if now is None or after is None:
        return now is after
    if before is None:
        return True
    names = [name for name in after.__struct_fields__ if getattr(before, name) != getattr(after, name)]
    telling = [name for name in names if name not in _FOLLOWS]
    return not telling or any(
        _has(getattr(now, name), getattr(before, name), getattr(after, name)) for name in telling
    )


def _has(now: Any, before: Any, after: Any) -> bool:
    if isinstance(after, tuple):
        # Tags and links, to which others may have added theirs.
        came, went = (
            [one for one in some if one not in other] for some, other in ((after, before), (before, after))
        )
        return all(one in now for one in came) and not any(one in now for one in went)
    return alike(now, after)
