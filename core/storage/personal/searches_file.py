"""searches.toml: the searches that a person keeps, read, and changed one at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import BrokenFileError, NuggetsError
from core.model.saved_search import SEARCHES_FILE, TABLE, SavedSearch, read_searches, values_of
from core.storage.files.atomic import Fingerprint, fingerprint, locked, read_file
from core.storage.files.toml import parsed_toml, with_values

_SECONDS = 1.0


class LoadedSearches(NamedTuple):
    """The searches of one version of the file. problem: what of it cannot be read, in words; "" for all well."""

    version: Fingerprint | None = None
    searches: tuple[SavedSearch, ...] = ()
    problem: str = ""


def searches_version(home: Path) -> Fingerprint | None:
    """What tells one version of the file from another; None for no file. Raises StorageError."""
    return fingerprint(home / SEARCHES_FILE)


def load_searches(home: Path, clock: Callable[[], datetime]) -> LoadedSearches:
    """The searches that are kept. The bytes of a file that cannot be read are put into the quarantine, too.

    Raises StorageError.
    """
    path = home / SEARCHES_FILE
    found = read_file(path)
    if found is None:
        return LoadedSearches()
    data, version = found
    try:
        table = _table(data, path)
    except BrokenFileError as error:
        return LoadedSearches(version, (), f"{error.what}; {_set_aside(path, error.what, clock())}")
    searches, passed_over = read_searches(table)
    named = ", ".join(passed_over)
    return LoadedSearches(version, searches, f"skipped what is not a saved search: {named}" if named else "")


def _table(data: bytes, path: Path) -> dict[str, Any]:
    try:
        table = parsed_toml(data).get(TABLE, {})
    except ValueError as error:
        raise BrokenFileError(f"cannot be read ({error})", where=str(path)) from error
    if not isinstance(table, dict):
        raise BrokenFileError(f"cannot be read ({TABLE} is not a table)", where=str(path))
    return table


def _set_aside(path: Path, reason: str, now: datetime) -> str:
    from core.storage.safety.backup_before_write import keep_whole

    with contextlib.suppress(NuggetsError), locked(path.parent, seconds=_SECONDS):
        kept = keep_whole(path.parent, path, reason, now)
        return f"the file is kept as {kept.relative_to(path.parent)}; the next saved search starts a new one"
    return "the file is unchanged"


def changed_searches(
    home: Path, put: Collection[SavedSearch], out: Collection[str]
) -> tuple[bytes | None, bytes]:
    """The bytes of the file as it is, and as it is to be: some searches put in, others taken out by name.

    A file that cannot be read is begun anew. Raises StorageError.
    """
    path = home / SEARCHES_FILE
    found = read_file(path)
    before = found[0] if found else None
    readable = before
    present: dict[str, Any] = {}
    try:
        present = _table(before or b"", path)
    except BrokenFileError:
        readable = None
    changes: dict[tuple[str, ...], Any] = {}
    for name in out:
        given = present.get(name)
        if isinstance(given, dict):
            changes |= {(TABLE, name, key): None for key in given}
        elif given is not None:
            changes[TABLE, name] = None
    for search in put:
        changes |= {(TABLE, search.name, key): value for key, value in values_of(search).items()}
    return before, with_values(readable, changes, str(path))
