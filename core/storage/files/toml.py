"""Small TOML files of a person, such as settings.toml: values changed in place, every other byte kept."""

from __future__ import annotations

import pathlib
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from core.errors import (
    BrokenFileError,
    ConflictError,
    ErrorCode,
    InvalidInputError,
    NuggetsError,
    Remedy,
    StorageError,
)
from core.settings import SETTINGS_FILE
from core.settings.tree import checked_setting, settings_by_name
from core.storage.files.atomic import read_file

# The names of tables that lead to a value, and its own.
Path = tuple[str, ...]
_KEPT: Final = "nothing was written; the file is unchanged"
_ABSENT: Final = object()


def values(data: bytes | None, where: str) -> dict[Path, Any]:
    """The values of a TOML file with the paths to them; None for no file. Raises BrokenFileError."""
    return dict(_leaves(_parsed(data, where)))


def parsed_toml(data: bytes) -> dict[str, Any]:
    """What a TOML file holds. Raises ValueError: no UTF-8, no TOML, a number of thousands of digits, too deep."""
    try:
        return tomllib.loads(data.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _parsed(data: bytes | None, where: str) -> dict[str, Any]:
    try:
        return parsed_toml(data or b"")
    except ValueError as error:
        raise BrokenFileError(
            f"cannot be read ({error})", where=where, kept=_KEPT, todo="fix the file or move it away"
        ) from error


def _leaves(table: Mapping[str, Any], path: Path = ()) -> list[tuple[Path, Any]]:
    found: list[tuple[Path, Any]] = []
    for name, value in table.items():
        found += _leaves(value, (*path, name)) if isinstance(value, dict) else [((*path, name), value)]
    return found


def with_values(data: bytes | None, changes: Mapping[Path, Any], where: str) -> bytes:
    """The file with some values changed; None takes a value out, and its table with it when nothing is left there.

    Comments, order, spelling and line ends of all else stay. Raises BrokenFileError for a file that cannot be read,
    StorageError for one in which a value cannot be changed without touching another, InvalidInputError for a text that
    no file can hold.
    """
    before = values(data, where)
    wanted = {path: value for path, value in before.items() if path not in changes}
    wanted |= {path: value for path, value in changes.items() if value is not None}
    text = (data or b"").decode("utf-8")
    try:
        made = _edited(text, before, changes)
        with suppress(BrokenFileError):
            if made is not None and values(made.encode("utf-8"), "") == wanted:
                return made.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            "contains characters that a file cannot hold", where=where, kept=_KEPT
        ) from error
    raise StorageError(
        "this value cannot be changed without touching others",
        where=where, kept=_KEPT, todo="change it by hand",
    )  # fmt: skip


def _edited(text: str, before: Mapping[Path, Any], changes: Mapping[Path, Any]) -> str | None:
    """The text with values changed where they stand; None for a layout that does not allow it."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        for path, value in changes.items():
            if value is None or before.get(path, _ABSENT) != value:
                _put(document, path, value)
        made = document.as_string()
        return re.sub(r"(?<!\r)\n", "\r\n", made) if "\r\n" in text else made
    except (TOMLKitError, KeyError, TypeError, AttributeError):
        return None


def _put(document: Any, path: Path, value: Any) -> None:
    """Puts a value into its table, which is made; None takes it out, and its table where nothing is left there."""
    import tomlkit

    tables = [document]
    for depth, name in enumerate(path[:-1]):
        if name not in tables[-1]:
            if value is None:
                return
            # Only the innermost table gets a heading of its own.
            tables[-1][name] = tomlkit.table(is_super_table=depth < len(path) - 2)
        tables.append(tables[-1][name])
    if value is not None:
        tables[-1][path[-1]] = value
        return
    if path[-1] in tables[-1]:
        del tables[-1][path[-1]]
    for name, outer, table in reversed(list(zip(path, tables, tables[1:], strict=False))):
        if len(table) or "#" in table.as_string():
            break
        del outer[name]


def brought_onto(before: bytes | None, after: bytes | None, now: bytes | None, where: str) -> bytes | None:
    """What changed between two versions of a file, made on a third: value by value.

    Raises ConflictError for a value that was changed in two ways, BrokenFileError, StorageError.
    """
    if now in (before, after):
        return after
    old, new, present = (values(data, where) for data in (before, after, now))
    changes: dict[Path, Any] = {}
    for path in old.keys() | new.keys():
        ours, base, theirs = new.get(path), old.get(path), present.get(path)
        if ours in (base, theirs):
            continue
        if theirs != base:
            raise ConflictError(
                f"{'.'.join(path)} has changed since",
                code=ErrorCode.CHANGED_MEANWHILE,
                remedy=Remedy("look-again"),
                where=where,
                kept=_KEPT,
                base=str(base),
                ours=str(ours),
                theirs=str(theirs),
                field=".".join(path),
            )
        changes[path] = ours
    return with_values(now, dict(sorted(changes.items())), where)


# settings.toml


def changed_settings(
    home: pathlib.Path, changes: Mapping[str, Any], name: str = SETTINGS_FILE
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
