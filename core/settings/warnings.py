"""What reading settings has to say: each value that was not taken as it was given, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

SHOWN_LENGTH: Final = 60


class WarningKind(StrEnum):
    """Why a value was not taken as it was given."""

    OUT_OF_RANGE = "out of range"
    NOT_FINITE = "no finite number"
    ROUNDED = "no whole number"
    WRONG_TYPE = "of another type"
    NO_VALUE = "no value"
    UNKNOWN_CHOICE = "no such choice"
    UNFIT_TEXT = "not usable"
    CROSS_CHECK = "in conflict with another key"
    OVERRIDDEN = "given twice"
    UNKNOWN_KEY = "no such setting"
    GUARDED = "kept strict"
    NOT_USED = "not used here"
    RESERVED = "reserved"
    UNREADABLE = "not readable"


# What is said of a name, whatever its value.
_OF_NAMES: Final = (
    WarningKind.UNKNOWN_KEY, WarningKind.NOT_USED, WarningKind.RESERVED, WarningKind.GUARDED,
)  # fmt: skip


class ConfigurationWarning(msgspec.Struct, frozen=True):
    """One value that was not taken as it was given.

    name: of the setting, as `worker.poll_ms`; "" for a file that cannot be read as a whole. table: that the name is in,
    as "pipeline"; "" where the name says all. given: the value as a short printable text, one line; for such a file
    what counts meanwhile. used: what counts instead; None when nothing does, or no short value. hint: what is allowed,
    or the name that may have been meant. where: the file or variable it was given in, "" for a value that another
    setting changed.
    """

    name: str
    given: str
    used: bool | int | float | str | None
    why: WarningKind
    hint: str = ""
    where: str = ""
    table: str = ""

    @property
    def full_name(self) -> str:
        """The name as it stands in the file, with its table: `pipeline.worker.poll_ms`."""
        return f"{self.table}.{self.name}" if self.table else self.name

    @property
    def code(self) -> str:
        """Why, for programs: "out_of_range", "reserved"."""
        return self.why.name.lower()

    @property
    def message(self) -> str:
        """The warning as one line for a person."""
        head = f"{self.where}: " if self.where else ""
        hint = f" ({self.hint})" if self.hint else ""
        used = "" if self.used is None else f"; {shown(self.used)} is used"
        if self.why is WarningKind.UNREADABLE:
            return f"{head}the settings cannot be read{hint}; {self.given}"
        if self.why in _OF_NAMES:
            return f"{head}{self.full_name}: {self.why}{hint}{used}"
        if self.why is WarningKind.NO_VALUE:
            return f"{head}{self.full_name} has no value{used}"
        given = f": {self.given}" if self.given else ""
        return f"{head}{self.full_name}{given} is {self.why}{hint}{used}"


def shown(value: Any) -> str:
    """A value as one short printable line, whatever it is; never raises.

    Tables and lists are named, not shown: they may hold themselves, or be as large as memory.
    """
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value)) if abs(value) < 10**20 else "a very long number"
    if isinstance(value, float):
        return f"{value:g}" if math.isfinite(value) else ("nan" if math.isnan(value) else "infinity")
    if isinstance(value, str):
        return f'"{printable(value)}"'
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple | set | frozenset):
        return "a list"
    return f"a value of type {printable(type(value).__name__)}"


def printable(text: str, length: int = SHOWN_LENGTH) -> str:
    """The text cut to `length` characters, with a mark for each character that a terminal would act upon."""
    kept = "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:length])
    return kept + ("…" if len(text) > length else "")
