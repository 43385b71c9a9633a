"""Saved searches: a name and a query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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
    name, query = " ".join(search.name.split()), search.query.strip()
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidInputError(
            f"a name has 1 to {_LONGEST_NAME} characters on one line",
            code=ErrorCode.BAD_NAME,
            field="name",
            where=repr(search.name),
        )
    if not query or len(query) > _LONGEST_QUERY or not query.isprintable():
        raise InvalidInputError(
            f"a search has 1 to {_LONGEST_QUERY} characters on one line",
            code=ErrorCode.BAD_NAME,
            field="query",
            where=name,
        )
    return SavedSearch(name, query)


def read_searches(table: Mapping[str, Any]) -> tuple[tuple[SavedSearch, ...], tuple[str, ...]]:
    """The searches of a file's table, in its order, and the names of those that make no sense."""
    found: list[SavedSearch] = []
    passed_over: list[str] = []
    for name, given in table.items():
        query = given.get("query") if isinstance(given, dict) else None
        try:
            search = SavedSearch(name, query if isinstance(query, str) else "")
            checked(search)
            found.append(search)
        except InvalidInputError:
            passed_over.append(name)
    return tuple(found), tuple(passed_over)
