"""What is typed into the search box, taken apart: words to look for, and filters such as scope:project."""

from __future__ import annotations

from dataclasses import dataclass, field

_FIELDS = ("nugget", "scope", "type", "subject", "tag")


@dataclass(frozen=True)
class Query:
    """Words and filters of a search. `filters` maps nugget, scope, type, subject or tag to the wanted value."""

    text: str = ""
    filters: dict[str, str] = field(default_factory=dict)
    hidden: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing is asked for."""
        return not self.text and not self.filters and not self.hidden


def parse_query(typed: str) -> Query:
    """The query that was typed. `field:value` filters; `is:hidden` takes hidden notes in; the rest is words."""
    words: list[str] = []
    filters: dict[str, str] = {}
    hidden = False
    for part in typed.split():
        name, colon, value = part.partition(":")
        if part == "is:hidden":
            hidden = True
        elif colon and value and name in _FIELDS:
            filters[name] = value
        elif not (colon and not value and name in (*_FIELDS, "is")):
            words.append(part)
    return Query(" ".join(words), filters, hidden)
