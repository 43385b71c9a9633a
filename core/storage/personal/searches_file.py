"""searches.toml: reads saved searches, and changes them one at a time."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import BrokenFileError
from core.model.saved_search import SEARCHES_FILE, TABLE, SavedSearch, read_searches
from core.storage.files.atomic import Fingerprint, fingerprint, read_file
from core.storage.files.toml import parsed_toml, with_values


class LoadedSearches(NamedTuple):
    """The searches of one version of the file.

    problem: what of it cannot be read, in words; "" for all well. broken: why none of it can be read.
    """

    version: Fingerprint | None = None
    searches: tuple[SavedSearch, ...] = ()
    problem: str = ""
    broken: BrokenFileError | None = None


def searches_version(home: Path) -> Fingerprint | None:
    """What tells one version of the file from another; None for no file. Raises StorageError."""
    return fingerprint(home / SEARCHES_FILE)


def load_searches(home: Path) -> LoadedSearches:
    """The saved searches. A file that cannot be read stays as it is. Raises StorageError."""
    path = home / SEARCHES_FILE
    found = read_file(path)
    if found is None:
        return LoadedSearches()
    data, version = found
    try:
        table = _table(data, path)
    except BrokenFileError as error:
        return LoadedSearches(version, (), error.what, error)
    searches, passed_over = read_searches(table)
    named = ", ".join(passed_over)
    return LoadedSearches(version, searches, f"skipped what is not a saved search: {named}" if named else "")


def _table(data: bytes, path: Path) -> dict[str, Any]:
    try:
        table = parsed_toml(data).get(TABLE, {})
    except ValueError as error:
        raise _broken(str(error), path) from error
    if not isinstance(table, dict):
        raise _broken(f"{TABLE} is not a table", path)
    return table


def _broken(why: str, path: Path) -> BrokenFileError:
    return BrokenFileError(
        f"cannot be read ({why})", where=str(path),
        kept="the file is unchanged", todo="fix the file or move it away",
    )  # fmt: skip


def changed_searches(
    home: Path, put: Collection[SavedSearch], out: Collection[str]
) -> tuple[bytes | None, bytes]:
    """The bytes of the file as it is, and as it is to be: some searches put in, others taken out by name.

    Raises BrokenFileError for a file that cannot be read, StorageError.
    """
    path = home / SEARCHES_FILE
    found = read_file(path)
    before = found[0] if found else None
    present = _table(before or b"", path)
    changes: dict[tuple[str, ...], Any] = {}
    for name in out:
        given = present.get(name)
        if isinstance(given, dict):
            changes |= {(TABLE, name, key): None for key in given}
        elif given is not None:
            changes[TABLE, name] = None
    for search in put:
        changes[TABLE, search.name, "query"] = search.query
    return before, with_values(before, changes, str(path))
