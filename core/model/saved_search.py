"""Saved searches, and search checks: those that must find a note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from core.errors import ErrorCode, InvalidInputError

SEARCHES_FILE: Final = "searches.toml"
TABLE: Final = "searches"
WITHIN: Final = 10
_LONGEST_NAME: Final = 100
_LONGEST_QUERY: Final = 2000
_LONGEST_TITLE: Final = 200
_MOST_WITHIN: Final = 1_000_000


class SavedSearch(msgspec.Struct, frozen=True):
    """A search under a name. must_find: the id of the note that it must find among the first `within` hits; "" for a
    search that is no check. title: what the note was called then, to tell of it when it is gone.
    """

    name: str
    query: str
    must_find: str = ""
    title: str = ""
    within: int = WITHIN

    @property
    def is_check(self) -> bool:
        """Whether it must find a note."""
        return bool(self.must_find)


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
    if not 1 <= search.within <= _MOST_WITHIN:
        raise InvalidInputError(
            f"must be from 1 to {_MOST_WITHIN:,}, not {search.within}",
            code=ErrorCode.BAD_NUMBER,
            field="within",
            where="within",
        )
    # It only tells of the note: a title may be of any length, and hold what no file can.
    title = search.title[:_LONGEST_TITLE].encode("utf-8", "replace").decode("utf-8")
    return SavedSearch(name, query, search.must_find, title if search.must_find else "", search.within)


def values_of(search: SavedSearch) -> dict[str, Any]:
    """What the file holds of a search, by name of the value; None for what it does not hold."""
    golden = search.is_check
    return {
        "query": search.query,
        "must_find": search.must_find or None,
        "title": search.title or None,
        "within": search.within if golden else None,
    }


def read_searches(table: Mapping[str, Any]) -> tuple[tuple[SavedSearch, ...], tuple[str, ...]]:
    """The searches of a file's table, in its order, and the names of those that make no sense."""
    found: list[SavedSearch] = []
    passed_over: list[str] = []
    for name, given in table.items():
        search = _read(name, given)
        if search is None:
            passed_over.append(name)
        else:
            found.append(search)
    return tuple(found), tuple(passed_over)


def _read(name: str, given: Any) -> SavedSearch | None:
    if not isinstance(given, dict):
        return None
    query, must_find = given.get("query"), given.get("must_find", "")
    title, within = given.get("title", ""), given.get("within", WITHIN)
    if not all(isinstance(text, str) for text in (query, must_find, title)) or type(within) is not int:
        return None
    search = SavedSearch(name, str(query), must_find, title, within)
    try:
        checked(search)
    except InvalidInputError:
        return None
    return search
