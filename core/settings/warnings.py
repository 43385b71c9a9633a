"""What reading settings has to say: each value that was not taken as it was given, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec


class WarningKind(StrEnum):
    """Why a value was not taken as it was given."""

    UNUSABLE = "not usable"
    CROSS_CHECK = "in conflict with another key"
    UNKNOWN_KEY = "no such setting"
    GUARDED = "no such setting, and what it may mean is kept strict"
    NOT_USED = "not used here"
    RESERVED = "reserved"
    UNREADABLE = "not readable"


class ConfigurationWarning(msgspec.Struct, frozen=True):
    """One value that was not taken as it was given.

    name: of the setting, as `pipeline.worker.poll_ms`; of a file that cannot be read as a whole what it may set, "" for
    everything. given: the value as a short printable text, one line. used: what counts instead; None when nothing does,
    or no short value. hint: what is allowed, or the name that may have been meant. where: the file or variable it was
    given in, "" for a value that another setting changed.
    """

    name: str
    given: str
    used: bool | int | float | str | None
    why: WarningKind
    hint: str = ""
    where: str = ""

    @property
    def code(self) -> str:
        """Why, for programs: "unusable", "reserved"."""
        return self.why.name.lower()

    @property
    def message(self) -> str:
        """The warning as one line for a person."""
        head = f"{self.where}: " if self.where else ""
        hint = f" ({self.hint})" if self.hint else ""
        if self.why is WarningKind.UNREADABLE:
            return f"{head}the settings cannot be read{hint}; the defaults count, and nothing runs unattended"
        of_value = self.why in (WarningKind.UNUSABLE, WarningKind.CROSS_CHECK)
        given = f"{self.given} is " if of_value else ""
        used = "" if self.used is None else f"; {shown(self.used)} is used"
        return f"{head}{self.name}: {given}{self.why}{hint}{used}"


def shown(value: Any) -> str:
    """A value as one short printable line, whatever it is; never raises. Tables and lists are named, not shown: they
    may hold themselves, or be as large as memory.
    """
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value)) if abs(value) < 10**20 else "a very long number"
        case float():
            return f"{value:g}" if math.isfinite(value) else ("nan" if math.isnan(value) else "infinity")
        case str():
            return f'"{printable(value)}"'
        case Mapping():
            return "a table"
        case list() | tuple() | set() | frozenset():
            return "a list"
    return f"a {type(value).__name__}"


def printable(text: str, length: int = 60) -> str:
    """The text cut to `length` characters, with a mark for each character that a terminal would act upon."""
    kept = "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:length])
    return kept + ("…" if len(text) > length else "")
