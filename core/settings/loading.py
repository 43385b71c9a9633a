"""Settings of one memory: documented defaults, then settings.toml in the folder, then the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from core.settings.sections import GUARDS, Settings, Texts
from core.settings.warnings import ConfigurationWarning, WarningKind

if TYPE_CHECKING:
    from core.settings.reading import Given

SETTINGS_FILE: Final = "settings.toml"
_LARGEST: Final = 1_000_000
_ENVIRONMENT: Final = {
    "MEMORY_REFLECTION_HOUR": "reflection.hour",
    "MEMORY_REFLECTION_MINUTE": "reflection.minute",
    "MEMORY_REFLECTION_MAX_NOTES": "reflection.max_notes",
}
# Tables of settings.toml that are no sections: what each is for, its reader knows.
_OTHER_TABLES: Final = ("keys", "pipeline", "memory")


class UnreadableError(Exception):
    """Says why a file of settings cannot be read."""


def load_settings(
    home: Path, environ: Mapping[str, str] | None = None, in_force: Settings | None = None
) -> Settings:
    """Settings for the memory in `home`. Never fails: no command is to stop for a value mistyped.

    For a value that its setting cannot have, and for all of a settings.toml that cannot be read, what is in force
    counts, else the default, and of `GUARDS` the strict one; `warnings` then says so. Unknown tables and keys are
    ignored, so that a newer version's file still loads, unless they are nearly a guard's.
    """
    environ = os.environ if environ is None else environ
    variables = {name: text for name in _ENVIRONMENT if (text := environ.get(name, "").strip())}
    whole, fallback, where = Settings(), in_force or Settings(), str(home / SETTINGS_FILE)
    unread = ""
    try:
        table = read_toml(home / SETTINGS_FILE) or {}
    except UnreadableError as error:
        table, unread = {}, str(error)
    # Most memories have no such file, and what their first frame waits for reads no tree of settings.
    if not (table or variables or unread):
        return whole
    from core.settings.reading import Given, given_in, read
    from core.settings.tree import with_values

    warnings: list[ConfigurationWarning] = []
    if unread:
        whole = with_values(replace(fallback, warnings=()), GUARDS)
        plain = whole == with_values(Settings(), GUARDS)
        counts = "the defaults apply" if plain else "the current settings stay"
        told = f"{counts}, and nothing runs unattended"
        warnings.append(ConfigurationWarning("", told, None, WarningKind.UNREADABLE, unread, where))
    more = Given("", "", None, where, 1)
    free = {} if unread else _free_tables(table, more, fallback, warnings)
    given = [Given(_ENVIRONMENT[name], name, _number(text), name) for name, text in variables.items()]
    given += given_in(
        {name: value for name, value in table.items() if name not in _OTHER_TABLES}, Settings, more
    )
    reading = read(Settings, given, whole if unread else fallback, GUARDS)
    return replace(with_values(whole, reading.values), **free, warnings=(*warnings, *reading.warnings))


def read_toml(path: Path) -> dict[str, Any] | None:
    """What a TOML file holds; None for no file. Raises UnreadableError."""
    text = read_text(path)
    if text is None:
        return None
    import tomllib

    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise UnreadableError(" ".join(str(error).split())) from error
    except RecursionError:
        raise UnreadableError("nested too deeply") from None


def read_text(path: Path) -> str | None:
    """The text of a file of settings; None for no file. Raises UnreadableError."""
    try:
        if path.exists() and not path.is_file():
            raise UnreadableError("not a regular file")
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise UnreadableError("not UTF-8 text") from error
    if len(text) > _LARGEST:
        raise UnreadableError(f"longer than {_LARGEST:,} characters")
    return text


def _number(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def _free_tables(
    table: dict[str, Any], more: Given, fallback: Settings, warnings: list[ConfigurationWarning]
) -> dict[str, Any]:
    """What [keys] and [search.words] give, whose names a person chooses, by attribute of `Settings`. The words are
    taken out of the table.
    """
    search = table.get("search")
    given = {
        "keys": table.get("keys", {}),
        "search.words": search.pop("words", {}) if isinstance(search, dict) else {},
    }
    for name, value in given.items():
        if not isinstance(value, dict):
            warnings.append(more._replace(value=value).warning(name, None, WarningKind.WRONG_TYPE, "a table"))
    keys, words = given.values()
    found: dict[str, Any] = {"keys": fallback.keys, "synonyms": fallback.synonyms}
    if isinstance(keys, dict):
        found["keys"] = tuple((name, key if isinstance(key, str) else None) for name, key in keys.items())
    if isinstance(words, dict):
        found["synonyms"] = tuple(_synonyms(words, more, warnings))
    return found


def _synonyms(
    words: dict[str, Any], more: Given, warnings: list[ConfigurationWarning]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each word with those that mean the same: a list of others, or one."""
    for word, others in words.items():
        try:
            yield word, msgspec.convert([others] if isinstance(others, str) else others, Texts)
        except msgspec.ValidationError:
            told = more._replace(value=others).warning(
                f"search.words.{word}", None, WarningKind.WRONG_TYPE, "a list of strings, none of them empty"
            )
            warnings.append(told)
