"""What a repair after a save from outside works on: the save at hand, our own last changes, what is to be put right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from core.model.change import ChangeSet, FactChange, NoteChange
from core.model.compare import Differences, facts_are_whole
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import Note
from core.model.snapshot import Snapshot

# ("note", id) or ("fact", nugget, key).
ItemKey = tuple[str, ...]
# back: our change was taken back. out: a fact that we took out was brought back. renamed: keys were. anew: a hidden
# fact was remembered with another value. forgotten: a fact was restored while somebody was forgetting it.
Finding = Literal["back", "out", "renamed", "anew", "forgotten"]

# A file saved so soon after ours may have been read before it. In seconds.
SOON_SECONDS: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class OwnChange:
    """Our last change of a note or fact, recalls left out, with no change of another program after it.

    entry: the id of its log entry. note: set when a note was asked for. fact: set when a fact was asked for; of a
    renamed fact this change belongs to both keys. When several changes of ours followed each other, `fact` may reach
    from before the first to after the last of them. seconds: how long after it the file on disk was written.
    restored: how often the thing was restored since somebody last changed it on purpose.
    """

    entry: str
    note: NoteChange | None = None
    fact: FactChange | None = None
    seconds: float
    restored: int = 0

    @property
    def just_before(self) -> bool:
        """Whether the file was written so soon after our change that it may have been read before it."""
        return abs(self.seconds) <= SOON_SECONDS


@dataclass(frozen=True, kw_only=True)
class FactStep:
    """What is to be done to the fact with a key: stored (also under another key), or taken out when `after` is None."""

    nugget: str
    key: str
    after: Fact | None


@dataclass(kw_only=True)
class ItemRepair:
    """Something to be put right: a note or fact with what belongs to it, and how it looks to a person as a conflict.

    instead: notes whose place another one takes; links to them are turned to it. own: the change of ours that was
    taken back, if there is one.
    """

    item: ItemKey
    finding: Finding
    own: OwnChange | None
    conflict: Conflict
    notes: list[NoteChange] = field(default_factory=list)
    facts: list[FactStep] = field(default_factory=list)
    instead: dict[str, str] = field(default_factory=dict)

    @property
    def items(self) -> set[ItemKey]:
        """All notes and facts that are put right."""
        facts = {("fact", step.nugget, key) for step in self.facts for key in _keys(step)}
        return {self.item, *facts, *(("note", change.id) for change in self.notes)}

    @property
    def concerns(self) -> set[ItemKey]:
        """All that is put right, and the facts that its notes mirror."""
        notes = (note for change in self.notes for note in (change.before, change.after) if note is not None)
        return self.items | {("fact", note.nugget_name, note.key) for note in notes if note.is_fact}


def _keys(step: FactStep) -> tuple[str, ...]:
    return (step.key,) if step.after is None else (step.key, step.after.key)


@dataclass(frozen=True)
class OutsideSave:
    """A save from outside. `found`: what differs between baseline and now."""

    baseline: Snapshot
    now: Snapshot
    own: Callable[[ItemKey], OwnChange | None]
    at: str
    found: Differences

    @cached_property
    def notes(self) -> Mapping[str, NoteChange]:
        """The notes that differ, by id."""
        return {change.id: change for change in self.found.notes}

    @cached_property
    def nuggets(self) -> tuple[str, ...]:
        """Nuggets with facts that differ, whose files were and are there and could be read whole."""
        names = dict.fromkeys(change.nugget for change in self.found.facts)
        return tuple(name for name in names if self.readable(name))

    def readable(self, nugget: str) -> bool:
        """Whether a nugget's file was and is there and could be read whole."""
        both = self.baseline.by_name.get(nugget), self.now.by_name.get(nugget)
        return all(found is not None and not found.problem for found in both) and facts_are_whole(
            self.now, nugget
        )

    def visible(self, nugget: str, key: str) -> Note | None:
        """The visible note that mirrors a fact now."""
        note = self.now.fact_notes.get((nugget, key))
        return note if note is not None and not note.hidden else None


def facts_of(snapshot: Snapshot, nugget: str) -> Mapping[str, Fact]:
    """A nugget's facts by key; of several with one key, the first."""
    return snapshot.first_facts.get(nugget, {})


def fact_change_in(change_set: ChangeSet, nugget: str, key: str) -> FactChange | None:
    """What a change set did to the fact with a key; None when it did not touch it.

    A renamed fact is found under both its keys. When one fact gave the key up and another took it, in the same
    change set, that is one change from the former to the latter.
    """
    touching = [c for c in change_set.facts if c.nugget == nugget and key in fact_keys(c)]
    left = next((c for c in touching if c.before is not None and c.before.key == key), None)
    came = next((c for c in touching if c.after is not None and c.after.key == key), None)
    if left is None or came is None or left is came:
        return touching[0] if touching else None
    return FactChange(nugget=nugget, key=key, before=left.before, after=came.after, index=left.index)


def fact_keys(change: FactChange) -> tuple[str, ...]:
    """The key of the fact that a change is about, before it and after it."""
    return tuple(dict.fromkeys((change.key, change.after.key if change.after is not None else change.key)))
