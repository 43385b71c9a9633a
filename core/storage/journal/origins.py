"""How the journal spells where an entry comes from: the one place that knows the words of its column `made_by`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from core.model.origin import Origin

# What stands in place of a signature, in journals of every version. Every version reads it, so it stays as it is.
_SPELLINGS: Final[Mapping[Origin, str]] = {
    Origin.OUTSIDE: "",
    Origin.TAKEN_IN: "taken in",
    Origin.OVERWRITTEN: "stale",
    Origin.RESTORED: "nuggets",
    Origin.RESTORED_IN_PASSING: "nuggets in passing",
}
_ORIGINS: Final[Mapping[str, Origin]] = {spelling: origin for origin, spelling in _SPELLINGS.items()}


class Maker(NamedTuple):
    """Who or what an entry is put down to. signature: of who sat at the keyboard, for what somebody made."""

    origin: Origin
    signature: str = ""

    @property
    def spelling(self) -> str:
        """How the journal spells it."""
        return self.signature if self.origin is Origin.MADE else _SPELLINGS[self.origin]


OUTSIDE: Final = Maker(Origin.OUTSIDE)
TAKEN_IN: Final = Maker(Origin.TAKEN_IN)
OVERWRITTEN: Final = Maker(Origin.OVERWRITTEN)
RESTORED: Final = Maker(Origin.RESTORED)
RESTORED_IN_PASSING: Final = Maker(Origin.RESTORED_IN_PASSING)


def by(signature: str) -> Maker:
    """Who sat at the keyboard."""
    return Maker(Origin.MADE, signature)


def read_maker(spelling: str) -> Maker:
    """What `Maker.spelling` wrote, in whatever version."""
    origin = _ORIGINS.get(spelling)
    return Maker(Origin.MADE, spelling) if origin is None else Maker(origin)
