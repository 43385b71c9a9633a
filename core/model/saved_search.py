"""Saved searches: a name and a query."""

from __future__ import annotations

from typing import Final

import msgspec

from core.errors import ErrorCode, InvalidInputError

SEARCHES_FILE: Final = "searches.toml"
TABLE: Final = "searches"
_LONGEST_NAME: Final = 100
_LONGEST_QUERY: Final = 2000


class SavedSearch(msgspec.Struct, frozen=True):
    """A search under a name."""

    name: str
    query: str


def checked(search: SavedSearch) -> SavedSearch:
    """The search with its white space in order. Raises InvalidInputError for one that cannot be kept."""
    found = SavedSearch(" ".join(search.name.split()), search.query.strip())
    for field, text, longest in ("name", found.name, _LONGEST_NAME), ("query", found.query, _LONGEST_QUERY):
        if not text or len(text) > longest or not text.isprintable():
            what = f"a {field} has 1 to {longest} characters on one line"
            raise InvalidInputError(what, code=ErrorCode.BAD_NAME, field=field, where=repr(search.name))
    return found
