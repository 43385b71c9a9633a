"""Findings: each is one problem in words for a person, with its repair."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec

from core.errors import Remedy, as_command, opens_with_command
from core.model.draft import Draft
from core.model.note import Note, replace
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


def place_of_fact(nugget: str, key: str) -> str:
    """Where a fact stands, for `where`."""
    return f"{nugget}: {key}"


def present(draft: Draft, id: str) -> Note:
    """The note that a rule found, as earlier repairs have left it."""
    note = draft.note(id)
    assert note is not None
    return note


def change_note(draft: Draft, id: str, stamp: str = "", **fields: Any) -> None:
    """Writes a note with these fields, which puts right what every write does. stamp: the time that becomes now."""
    draft.put(replace(present(draft, id), **fields, **({stamp: draft.at} if stamp else {})))
