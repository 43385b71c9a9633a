"""Settings of one memory: documented defaults, then settings.toml in the folder, then the environment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from core.settings.sections import GUARDS, Settings, Synonyms

SETTINGS_FILE: Final = "settings.toml"

_Part = TypeVar("_Part", bound=msgspec.Struct)


_ENVIRONMENT: Final = {
    "MEMORY_REFLECTION_HOUR": "hour",
    "MEMORY_REFLECTION_MINUTE": "minute",
    "MEMORY_REFLECTION_MAX_NOTES": "max_notes",
}


def load_settings(
    home: Path, environ: Mapping[str, str] | None = None, in_force: Settings | None = None
) -> Settings:
    """Settings for the memory in `home`. Never fails: no command is to stop for a value mistyped.

    For a value of the wrong type or out of range, and for all of a settings.toml that cannot be read, the one in
    force counts, else the default, and of `GUARDS` the strict one; `problems` then says so. Unknown tables and keys are
    ignored, so that a newer version's file still loads, unless they are nearly a guard's.
    """
    path = home / SETTINGS_FILE
    loading = _Loading(str(path), in_force or Settings(), [])
    found = loading.of_file(path)
    found = loading.of_environment(found, os.environ if environ is None else environ)
    return replace(
        found,
        problems=tuple(told for _, told in loading.problems),
        defaulted=tuple(name for name, _ in loading.problems),
    )


class _Loading(NamedTuple):
    """What one loading found wrong: (name of a setting, what is told of it). fallback: what counts instead."""

    where: str
    fallback: Settings
    problems: list[tuple[str, str]]

    def of_file(self, path: Path) -> Settings:
        """The settings that a file gives."""
        try:
            if path.exists() and not path.is_file():
                raise OSError(0, "not a regular file")
            table = _parsed(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            table = {}
        # ValueError: no UTF-8, no TOML, a number of thousands of digits.
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) else error
            counts = "the defaults apply" if _is_plain(self.fallback) else "the current settings stay"
            told = f"the settings cannot be read ({said}); {counts}, and nothing runs unattended".replace(
                "\n", " "
            )
            self.problems.append(("", f"{self.where}: {told}"))
            return _guarded(replace(self.fallback, unknown=()), GUARDS)
        found = Settings()
        if not table:
            # Most memories have no such file, and what their first frame waits for reads no tree of settings.
            return found
        from core.settings.tree import sections, unknown_settings

        for section in dict.fromkeys(sections().values()):
            part = self._part(section, getattr(found, section), table.get(section, {}))
            found = replace(found, **{section: part})
        unknown = unknown_settings(table)
        found = _guarded(found, [guard for name in unknown for guard in self._meant(name)])
        return replace(found, unknown=unknown, keys=self._keys(table), synonyms=self._synonyms(table))

    def _meant(self, unknown: str) -> list[str]:
        """The guards that a mistyped name may mean: their strict values count."""
        from core.settings.tree import near_name

        section, _, inner = unknown.rpartition(".")
        near = near_name(inner, section)
        if section and not near.startswith(f"{section}."):
            return []
        meant = [name for name in GUARDS if near and (name == near or name.startswith(f"{near}."))]
        for name in meant:
            told = f"{self.where}: {unknown} is no setting; for {name}, {GUARDS[name]!r} is used"
            self.problems.append((name, told))
        return meant

    def of_environment(self, settings: Settings, environ: Mapping[str, str]) -> Settings:
        """The settings with what the environment says in place of what the file does."""
        changes: dict[str, int] = {}
        for variable, name in _ENVIRONMENT.items():
            text = environ.get(variable, "").strip()
            if not text:
                continue
            from core.settings.tree import setting_named

            setting = setting_named(f"reflection.{name}")
            try:
                number = int(text)
            except ValueError:
                number = -1
            if setting.holds(number):
                changes[name] = number
            else:
                counts = _counts(getattr(settings.reflection, name))
                told = f"{variable}: must be a whole number {setting.allowed}, not {text!r}; {counts}"
                self.problems.append((f"reflection.{name}", told))
        if not changes:
            return settings
        return replace(settings, reflection=replace(settings.reflection, **changes))

    def _part(self, section: str, part: _Part, given: object) -> _Part:
        from core.settings.tree import setting_named
        from core.settings.values import UnfitError, checked

        fallback: _Part = getattr(self.fallback, section)
        if not isinstance(given, dict):
            self._wrong(section, "a table", fallback)
            strict = {name: GUARDS.get(f"{section}.{name}", value) for name, value in _values(fallback)}
            return replace(fallback, **strict)
        changes: dict[str, Any] = {}
        for name, value in given.items():
            if name in part.__struct_fields__:
                try:
                    changes[name] = checked(value, setting_named(f"{section}.{name}"))
                except UnfitError as unfit:
                    full = f"{section}.{name}"
                    changes[name] = GUARDS.get(full, getattr(fallback, name))
                    self._wrong(f"{section}.{name}", str(unfit), changes[name])
        return replace(part, **changes)

    def _keys(self, table: Mapping[str, Any]) -> tuple[tuple[str, str | None], ...]:
        given = table.get("keys", {})
        if not isinstance(given, dict):
            self._wrong("keys", "a table", self.fallback.keys)
            return self.fallback.keys
        return tuple((name, value if isinstance(value, str) else None) for name, value in given.items())

    def _synonyms(self, table: Mapping[str, Any]) -> Synonyms:
        """What stands in [search.words]: for each word a list of others, or one."""
        search = table.get("search", {})
        given = search.get("words", {}) if isinstance(search, dict) else {}
        if not isinstance(given, dict):
            self._wrong("search.words", "a table", self.fallback.synonyms)
            return self.fallback.synonyms
        from core.settings.values import UnfitError, checked_list

        made = []
        for word, others in given.items():
            try:
                made.append((word, checked_list([others] if isinstance(others, str) else others)))
            except UnfitError as unfit:
                self._wrong(f"search.words.{word}", str(unfit), None)
        return tuple(made)

    def _wrong(self, name: str, wanted: str, counting: object) -> None:
        self.problems.append((name, f"{self.where}: {name} must be {wanted}; {_counts(counting)}"))


def _values(part: msgspec.Struct) -> Iterator[tuple[str, object]]:
    return ((name, getattr(part, name)) for name in part.__struct_fields__)


def _guarded(settings: Settings, names: Iterable[str]) -> Settings:
    """The settings with the strict values of these guards."""
    for full in names:
        section, _, name = full.partition(".")
        part = replace(getattr(settings, section), **{name: GUARDS[full]})
        settings = replace(settings, **{section: part})
    return settings


def _is_plain(settings: Settings) -> bool:
    return replace(settings, unknown=(), problems=(), defaulted=()) == Settings()


def _counts(value: object) -> str:
    """Which value counts, where it can be said shortly."""
    if isinstance(value, bool):
        return f"{str(value).lower()} is used"
    return f"{value!r} is used" if isinstance(value, int | float | str) else "the current value stays"


def _parsed(text: str) -> dict[str, Any]:
    # Most memories have no such file, and the app's first frame waits for what is loaded before it.
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
