"""The configuration of one memory from its files, and whether they have changed since."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from core.folder import user_configuration_folder
from core.pipeline.config.given_values import Table, without_effect
from core.pipeline.config.parts import PipelineConfiguration
from core.pipeline.config.reading import read_tables, tables_of
from core.pipeline.config.warnings import ConfigurationWarning, WarningKind
from core.pipeline.extra import install_command
from core.settings import SETTINGS_FILE

ORIGINAL_FILE: Final = "agent.yaml"
_LARGEST: Final = 1_000_000
# What tells one version of a file from another; None for no file.
FileVersions = tuple[tuple[Path, tuple[int, ...] | None], ...]


class LoadedConfiguration(NamedTuple):
    """A configuration that can be used, what was not taken as given, and the files as they were when it was read.

    last_good: the last configuration for which every file could be read; None when there was none yet. without_effect:
    what was set and does nothing yet.
    """

    configuration: PipelineConfiguration
    warnings: tuple[ConfigurationWarning, ...]
    versions: FileVersions
    last_good: PipelineConfiguration | None
    without_effect: tuple[ConfigurationWarning, ...] = ()

    @property
    def all_warnings(self) -> tuple[ConfigurationWarning, ...]:
        """All that a person is told of it."""
        return (*self.warnings, *self.without_effect)


class _UnreadableError(Exception):
    """Says why a file cannot be read."""


def load_configuration(
    home: Path,
    environ: Mapping[str, str] | None = None,
    *,
    user_folder: Path | None = None,
    in_force: PipelineConfiguration | None = None,
) -> LoadedConfiguration:
    """The configuration of the memory in `home`. Never fails: no value that is mistyped stops anything.

    Read are settings.toml of the memory, that of the user's configuration folder, then an agent.yaml of the original
    beside either; what stands in an earlier file counts. While one of them cannot be read, what is in force stays;
    where nothing is yet, the pipeline is off, since the file may say so, and raw texts are kept. user_folder: None
    for the system's. environ: None for that of the process.
    """
    environ = os.environ if environ is None else environ
    files = _files(home, user_folder)
    # Before they are read: a file that changes in between is read once more.
    versions = _file_versions(files)
    tables: list[Table] = []
    warnings: list[ConfigurationWarning] = []
    good = True
    for path, parse in files:
        try:
            document = parse(path)
            if document is None:
                continue
            if not isinstance(document, Mapping):
                raise _UnreadableError("not a table")
        except _UnreadableError as error:
            good = False
            warnings.append(_unreadable(path, str(error), in_force))
            continue
        found, more = tables_of(document, str(path), original=path.name == ORIGINAL_FILE)
        tables += found
        warnings += more
    read = read_tables(*tables, environ=environ)
    configuration = read.configuration
    if not good:
        configuration = replace(configuration, enabled=False) if in_force is None else in_force
    last_good = configuration if good else in_force
    idle = tuple(without_effect(tuple(tables)))
    return LoadedConfiguration(configuration, (*warnings, *read.warnings), versions, last_good, idle)


def newer(
    loaded: LoadedConfiguration,
    home: Path,
    environ: Mapping[str, str] | None = None,
    *,
    user_folder: Path | None = None,
) -> LoadedConfiguration | None:
    """The configuration read again when one of its files is another than it was; None when none is."""
    if _file_versions(_files(home, user_folder)) == loaded.versions:
        return None
    return load_configuration(home, environ, user_folder=user_folder, in_force=loaded.last_good)


def _files(home: Path, user_folder: Path | None) -> list[tuple[Path, Callable[[Path], Any]]]:
    folders = [home, user_folder or user_configuration_folder()]
    return [(folder / SETTINGS_FILE, _toml) for folder in folders] + [
        (folder / ORIGINAL_FILE, _yaml) for folder in folders
    ]


def _file_versions(files: list[tuple[Path, Callable[[Path], Any]]]) -> FileVersions:
    return tuple((path, _version(path)) for path, _ in files)


def _version(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode


def _text(path: Path) -> str | None:
    try:
        if path.exists() and not path.is_file():
            raise _UnreadableError("not a regular file")
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _UnreadableError(error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _UnreadableError("not UTF-8 text") from error
    if len(text) > _LARGEST:
        raise _UnreadableError(f"longer than {_LARGEST:,} characters")
    return text


def _toml(path: Path) -> Any:
    import tomllib

    text = _text(path)
    try:
        return None if text is None else tomllib.loads(text)
    except ValueError as error:
        raise _UnreadableError(str(error)) from error
    except RecursionError:
        raise _UnreadableError("nested too deeply") from None


def _yaml(path: Path) -> Any:
    text = _text(path)
    if text is None:
        return None
    try:
        import yaml
    except ImportError:
        raise _UnreadableError(f"PyYAML is not installed; install it with: {install_command()}") from None
    try:
        return yaml.safe_load(text) or {}
    except (yaml.YAMLError, ValueError) as error:
        raise _UnreadableError(" ".join(str(error).split())) from error
    except RecursionError:
        raise _UnreadableError("nested too deeply") from None


def _unreadable(path: Path, why: str, in_force: PipelineConfiguration | None) -> ConfigurationWarning:
    counts = "the pipeline is off until you fix it" if in_force is None else "the current settings stay"
    return ConfigurationWarning(path.name, counts, None, WarningKind.UNREADABLE, why, str(path))
