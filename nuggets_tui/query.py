"""What is typed into the search box, taken apart: words to look for, and filters such as scope:project."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

_FIELDS: Final = ("nugget", "scope", "type", "subject", "tag")
KINDS: Final = ("hidden", "pinned", "fact", "note")


@dataclass(frozen=True)
class Query:
    """Words and filters of a search.

    `filters` maps nugget, scope, type, subject or tag to the wanted value. `kinds` holds what notes have to be,
    all of it: hidden, pinned, a fact, a plain note.
    """

    text: str = ""
    filters: dict[str, str] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether nothing is asked for."""
        return not self.text and not self.filters and not self.kinds

    @property
    def hidden(self) -> bool:
        """Whether hidden notes are asked for, and they alone."""
        return "hidden" in self.kinds


def parse_query(typed: str) -> Query:
    """The query that was typed: `field:value` and `is:hidden` are filters, everything else is words."""
    words: list[str] = []
    filters: dict[str, str] = {}
    kinds: set[str] = set()
    for part in typed.split():
        name, colon, value = part.partition(":")
        if name == "is" and value in KINDS:
            kinds.add(value)
        elif colon and value and name in _FIELDS:
            filters[name] = value
        elif not (colon and not value and name in (*_FIELDS, "is")):
            words.append(part)
    return Query(" ".join(words), filters, frozenset(kinds))
