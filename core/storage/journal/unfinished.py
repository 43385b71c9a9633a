"""Tells of a change that was written in several turns because of a crash or refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from core.model.change import ChangeSet, FactChange, FileChange, NoteChange, NuggetChange
from core.model.snapshot import Snapshot

_Change = TypeVar("_Change", bound=NoteChange | FactChange | NuggetChange | FileChange)


def whole_of(planned: ChangeSet, rest: ChangeSet, snapshot: Snapshot) -> ChangeSet:
    """The change set as the log is to tell it: what was written before the break, and the rest.

    planned: what was to be written in the first place. rest: what of it is left, rebased on `snapshot`. What neither
    stands in the files nor is left gave way to another program, and is left out.
    """
    facts = {
        (nugget.name, fact.key): fact
        for nugget in snapshot.nuggets
        for fact in (nugget.facts if planned.facts else ())
    }

    def fact_stands(one: FactChange) -> bool:
        return facts.get((one.nugget, one.after.key if one.after is not None else one.key)) == one.after

    return msgspec.structs.replace(
        planned,
        notes=_joined(
            planned.notes,
            rest.notes,
            lambda one: one.id,
            lambda one: snapshot.by_id.get(one.note.id) == one.after,
        ),
        facts=_joined(planned.facts, rest.facts, lambda one: (one.nugget, one.key), fact_stands),
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
    found = [left.pop(name(one), one) for one in planned if name(one) in left or stands(one)]
    return (*found, *left.values())
