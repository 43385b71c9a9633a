"""settings.toml: changed value by value, comments and all else kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from core.errors import NuggetsError
from core.settings import SETTINGS_FILE
from core.settings.tree import checked_setting, settings_by_name
from core.storage.files.atomic import read_file
from core.storage.files.toml import values, with_values


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
