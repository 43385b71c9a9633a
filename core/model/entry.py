"""Entries of the journal: a change set together with its state."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

from core.errors import ErrorCode
from core.model.change import ChangeSet

# pending: safe in the journal, not yet known to be in the files. conflict: not written, waits for a person.
# settled: a conflict that a person has decided. version: no change, but what a program had saved before it was merged.
EntryState = Literal["pending", "done", "conflict", "settled", "version"]


class Origin(StrEnum):
    """How a change came to be in the log, beside who its author is.

    MADE: somebody made it, at a keyboard or through a program of ours. OUTSIDE: another program saved it.
    TAKEN_IN: another program saved it in the instant of a write of ours, and we brought it in on top.
    RESTORED: another program saved an old copy over something, which we put back.
    """

    MADE = "made"
    OUTSIDE = "outside"
    TAKEN_IN = "taken-in"
    RESTORED = "restored"


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was changed in two ways: what it is and its three values as text.

    `where` is a note's id or "nugget: key"; `field` the name of the note's or fact's field, "" when it is about
    the whole thing (deleted on one side, for example). `code` says for programs what `what` says for people.
    """

    what: str
    code: ErrorCode = ErrorCode.CONFLICT
    where: str = ""
    field: str = ""
    base: str = ""
    ours: str = ""
    theirs: str = ""

    @property
    def named(self) -> tuple[str, ...]:
        """What it is about, whatever it is called: two that have this in common are one."""
        return self.code, self.where, self.field, self.base, self.ours, self.theirs


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the journal. `seq` grows with every entry; `undone` says that it is taken back at present,
    `origin` how it came to be here.
    """

    seq: int
    change_set: ChangeSet
    state: EntryState = "done"
    undone: bool = False
    conflict: Conflict | None = None
    origin: Origin = Origin.MADE

    @property
    def id(self) -> str:
        """The id of the change set."""
        return self.change_set.id
