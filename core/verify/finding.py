"""Findings, each one problem in words for a person with its repair; and the snapshot as the checks look at it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cached_property, partial
from typing import Final, NamedTuple

import msgspec

from core.errors import InvalidInputError, Remedy, as_command, opens_with_command
from core.model.compare import alike
from core.model.draft import Draft
from core.model.fact import Fact, Nugget
from core.model.names import check_nugget_name
from core.model.note import SCOPES, Note
from core.model.snapshot import ProblemKind, Snapshot
from core.text.normalise import squeeze

_SHOWN: Final = 60


class RepairKind(StrEnum):
    """What repairing a finding is: a change of notes and facts, which is undone from the log; a file made sound, or a
    part of it, whose bytes are kept in the quarantine; what a second file holds brought over; the pipeline's database
    brought in step.
    """

    CHANGE = "change"
    FILE = "file"
    PART = "part"
    SECOND_FILE = "second-file"
    PIPELINE = "pipeline"


class Finding(msgspec.Struct, frozen=True):
    """Something that is not right. `where`: a note's id, "nugget: key" or a path. `description`: a sentence.

    means: what repairing is, None when a person must act. `repair` says in one clause what repairing does; where there
    is none, `todo`, a sentence, and `remedy` say what a person does, if `description` does not.
    """

    kind: str
    where: str
    description: str
    repair: str = ""
    means: RepairKind | None = None
    todo: str = ""
    remedy: Remedy | None = None

    @property
    def detail(self) -> str:
        """All of it in words, for somebody at a shell."""
        return " ".join(filter(None, (self.description, self.todo, _command(self.remedy))))

    def to_dict(self) -> dict[str, str]:
        """The finding as an object of the command line's JSON."""
        return {"kind": self.kind, "where": self.where, "detail": self.detail, "repair": self.repair}


class RepairableFinding(NamedTuple):
    """A finding and what repairs it (None: a person must).

    `group`: what mending decides about. Of one group one is mended at a time, and the rule looks again, since
    what was right for the next one may not be any more; () stands alone.
    """

    finding: Finding
    apply_repair: Callable[[Draft], object] | None = None
    group: tuple[str, ...] = ()


def sentence(clause: str) -> str:
    """A clause as a sentence; "" for none."""
    return f"{clause[:1].upper()}{clause[1:]}." if clause else ""


def _command(remedy: Remedy | None) -> str:
    """A remedy as a sentence. A command stays as it is typed."""
    words = as_command(remedy)
    return f"{words}." if opens_with_command(remedy) else sentence(words)


def quote(text: str) -> str:
    """A title, key or value inside a sentence: one line, shortened, in quotation marks."""
    line = squeeze(text)
    return f'"{line[: _SHOWN - 1]}…"' if len(line) > _SHOWN else f'"{line}"'


def name_of(note: Note) -> str:
    """A note inside a sentence: its title, or its id when it has none."""
    return quote(note.title if note.title.strip() else note.id)


# A nugget's name and the place of one of its facts.
FactPlace = tuple[str, int]


class VerifyView:
    """One snapshot as the rules see it. A note mirrors a fact when it is visible and has its key; equal text
    wins over text that is equal when case is folded, as in recall.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.broken = {nugget.name for nugget in snapshot.nuggets if nugget.problem}
        kinds = ProblemKind.UNREADABLE_NOTE, ProblemKind.UNREADABLE_FACT
        unread = [problem for problem in snapshot.problems if problem.kind in kinds]
        # An unreadable fact may be the one that is looked for, an unreadable note the one that stands for a fact.
        self._unsure = self.broken | {problem.nugget for problem in unread if problem.nugget}
        self.unsure_notes = any(not problem.nugget for problem in unread)
        self._places = {nugget.name: _places(nugget) for nugget in snapshot.nuggets}

    def unsure(self, nugget: str) -> bool:
        """Whether facts of a nugget may stand in its file, or in one that should be its file, without being read."""
        return nugget in self._unsure or (bool(self.broken) and nugget not in self.snapshot.by_name)

    def fact(self, place: FactPlace) -> Fact:
        """The fact at a place."""
        return self.snapshot.by_name[place[0]].facts[place[1]]

    def find(self, nugget: str, key: str) -> FactPlace | None:
        """The place of the fact with this key; an empty key is nobody's."""
        if not key.strip():
            return None
        exact, folded = self._places.get(nugget, ({}, {}))
        place = exact.get(key)
        if place is None:
            place = folded.get(_folded(key))
        return None if place is None else (nugget, place)

    def facts(self) -> Iterator[tuple[FactPlace, Fact]]:
        """Every fact that can be recalled: it has a key."""
        for nugget in self.snapshot.nuggets:
            for place, fact in enumerate(nugget.facts):
                if fact.key.strip():
                    yield (nugget.name, place), fact

    def visible_mirrors(self) -> Iterator[Note]:
        """The notes that stand for a fact, and in which none waits."""
        return (
            note
            for note in self.snapshot.notes
            if note.is_fact and not note.hidden and note.hidden_fact is None
        )

    @cached_property
    def mirrors(self) -> dict[FactPlace, list[Note]]:
        """For each fact the notes that mirror it, the best first: its very key, then its very value."""
        found = self._by_place(
            (note, self.find(note.nugget_name, note.key)) for note in self.visible_mirrors()
        )
        for place, notes in found.items():
            notes.sort(key=partial(_distance, self.fact(place)))
        return found

    @cached_property
    def hidden_mirrors(self) -> dict[FactPlace, list[Note]]:
        """For each fact the hidden notes that were made for its key."""
        notes = (note for note in self.snapshot.notes if note.hidden and (note.hidden_fact or note.is_fact))
        return self._by_place((note, self.hidden_fact_place(note)) for note in notes)

    @cached_property
    def half_hidden(self) -> dict[FactPlace, list[Note]]:
        """For each fact the visible notes in which a fact of its key waits, as if they were hidden."""
        notes = (note for note in self.snapshot.notes if not note.hidden and note.hidden_fact is not None)
        return self._by_place((note, self.hidden_fact_place(note)) for note in notes)

    def _by_place(self, notes: Iterable[tuple[Note, FactPlace | None]]) -> dict[FactPlace, list[Note]]:
        found: dict[FactPlace, list[Note]] = {}
        for note, place in notes:
            if place is not None:
                found.setdefault(place, []).append(note)
        return found

    def hidden_fact_place(self, note: Note) -> FactPlace | None:
        """The place of the fact that waits in a note, or that the note mirrors, when it stands in the file too."""
        kept = note.hidden_fact
        place = self.find(note.nugget_name, kept.key) if kept is not None else None
        return place or (self.find(note.nugget_name, note.key) if note.is_fact else None)

    @cached_property
    def renamed(self) -> dict[FactPlace, Note]:
        """Facts without a note, each with the note without a fact that differs by a scope before the key alone."""
        found: dict[FactPlace, Note] = {}
        for note in self.visible_mirrors():
            place = self._counterpart(note)
            if place is not None:
                found.setdefault(place, note)
        return found

    def _counterpart(self, note: Note) -> FactPlace | None:
        if self.find(note.nugget_name, note.key) is not None:
            return None
        scope, colon, rest = note.key.partition(":")
        keys = [rest] if colon and scope in SCOPES else [f"{scope}:{note.key}" for scope in SCOPES]
        for key in keys:
            place = self.find(note.nugget_name, key)
            if (
                place is not None
                and not self.mirrors.get(place)
                and alike(self.fact(place).value, note.content)
            ):
                return place
        return None

    def may_hold_facts(self, nugget: str) -> bool:
        """Whether a nugget has a file, or one may be made for it."""
        if nugget in self.snapshot.by_name:
            return True
        try:
            check_nugget_name(nugget, self.snapshot.nugget_names)
        except InvalidInputError:
            return False
        return True

    def repairable(
        self,
        kind: str,
        note: Note,
        detail: str,
        repair: str,
        apply_repair: Callable[[Draft], object],
        *,
        where: str = "",
        group: tuple[str, ...] = (),
    ) -> RepairableFinding:
        """A finding that is repaired by changing `note`. While the file of its fact is broken, only a person can."""
        where = where or note.id
        if note.is_fact and note.nugget_name in self.broken:
            detail += f" The fact file of {quote(note.nugget_name)} cannot be read: fix that first."
            return RepairableFinding(Finding(kind, where, detail))
        return RepairableFinding(Finding(kind, where, detail, repair, RepairKind.CHANGE), apply_repair, group)


def _places(nugget: Nugget) -> tuple[dict[str, int], dict[str, int]]:
    exact: dict[str, int] = {}
    folded: dict[str, int] = {}
    for place, fact in enumerate(nugget.facts):
        exact[fact.key] = place
        folded.setdefault(_folded(fact.key), place)
    return exact, folded


def _folded(key: str) -> str:
    return key.strip().casefold()


def _distance(fact: Fact, note: Note) -> tuple[bool, bool]:
    return note.key != fact.key, not alike(note.content, fact.value)
