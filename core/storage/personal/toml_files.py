"""settings.toml and searches.toml: read, and changed value by value, comments and all else kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from core.errors import BrokenFileError, NuggetsError
from core.model.saved_search import SEARCHES_FILE, TABLE, SavedSearch, read_searches
from core.settings import SETTINGS_FILE
from core.settings.tree import checked_setting, settings_by_name
from core.storage.files.atomic import Fingerprint, fingerprint, read_file
from core.storage.files.toml import parsed_toml, values, with_values


def changed_settings(
    home: Path, changes: Mapping[str, Any], name: str = SETTINGS_FILE
) -> tuple[bytes | None, bytes]:
    """The bytes of settings.toml as it is, and as it is to be; None for no file.

    name: of the file. changes: values by "table.name"; None takes one out, so that the default counts. Raises
    InvalidInputError for no setting or a value that it cannot have, BrokenFileError for a file that cannot be read,
    StorageError.
    """
    path = home / name
    checked = {
        tuple(name.split(".")): None if value is None else _plain(checked_setting(name, value))
        for name, value in changes.items()
    }
    found = read_file(path)
    before = found[0] if found else None
    return before, with_values(before, checked, str(path))


# All others may name a server, a command or a folder that is written to, or loosen a guard.
_HARMLESS: Final = ("search", "inference", "app")
# Tables whose names a person chooses: keys of the app, words that mean the same.
_FREE: Final = (("keys",), ("search", "words"))


def imported_settings(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """What an import may bring of a settings.toml, b"" for nothing; and the names of what is left out.

    Only what this version knows comes: what a name means that it does not know, the next version decides.
    """
    try:
        refused = [path for path in values(data, SETTINGS_FILE) if not _is_harmless(path)]
        kept = with_values(data, dict.fromkeys(refused), SETTINGS_FILE) if refused else data
    except NuggetsError:
        return b"", (SETTINGS_FILE,)
    return kept, tuple(".".join(path) for path in refused)


def _is_harmless(path: tuple[str, ...]) -> bool:
    return (path[0] in _HARMLESS and ".".join(path) in settings_by_name()) or path[:-1] in _FREE


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


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
