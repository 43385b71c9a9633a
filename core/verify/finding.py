"""Findings: one thing each that is not right, in words for a person, with the way to mend it beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from core.model.draft import Draft
from core.model.note import Note
from core.text.normalise import squeeze

_SHOWN: Final = 60


class Finding(msgspec.Struct, frozen=True):
    """Something that is not right. `where`: a note's id, "nugget: key" or a path. `detail`: a sentence.

    `repair` says in one clause what repairing does; "" when a person must act, and then `detail` says how.
    """

    kind: str
    where: str
    detail: str
    repair: str = ""

    def to_dict(self) -> dict[str, str]:
        """The finding as an object of the command line's JSON."""
        return {"kind": self.kind, "where": self.where, "detail": self.detail, "repair": self.repair}


class Trouble(NamedTuple):
    """A finding and what mends it (None: a person must).

    `group`: what mending decides about. Of one group one is mended at a time, and the rule looks again, since
    what was right for the next one may not be any more; () stands alone.
    """

    finding: Finding
    mend: Callable[[Draft], object] | None = None
    group: tuple[str, ...] = ()


def said(text: str) -> str:
    """A title, key or value inside a sentence: one line, shortened, in quotation marks."""
    line = squeeze(text)
    return f'"{line[: _SHOWN - 1]}…"' if len(line) > _SHOWN else f'"{line}"'


def name_of(note: Note) -> str:
    """A note inside a sentence: its title, or its id when it has none."""
    return said(note.title if note.title.strip() else note.id)


def place_of_fact(nugget: str, key: str) -> str:
    """Where a fact stands, for `where`."""
    return f"{nugget}: {key}"
