"""Which notes a typed query admits: the filters of a search, and what `is:` asks for."""

from __future__ import annotations

from dataclasses import dataclass

from core.model.note import Note
from core.search import Filters
from nuggets_tui.query import Query

_PINNED = "pinned"


@dataclass(frozen=True)
class Wanted(Filters):
    """Filters that also ask what a note is: `kinds` as in `Query`. Hidden notes come alone or not at all."""

    kinds: frozenset[str] = frozenset()

    def admits(self, note: Note) -> bool:
        """Whether the note may be a hit."""
        kinds = self.kinds
        return (
            Filters.admits(self, note)
            and note.hidden == ("hidden" in kinds)
            and ("pinned" not in kinds or _PINNED in map(str.casefold, note.tags))
            and ("fact" not in kinds or note.is_fact)
            and ("note" not in kinds or not note.is_fact)
        )

    @property
    def narrow(self) -> bool:
        """Whether notes have to be looked at one by one."""
        return bool(self.kinds) or any(
            wanted is not None for wanted in (self.nugget, self.scope, self.type, self.subject, self.tag)
        )


def wanted_by(query: Query) -> Wanted:
    """The filters of a query."""
    return Wanted(**query.filters, include_hidden=query.hidden, kinds=query.kinds)
