"""Folders beside the memory's files for earlier versions: created, named by time, and tidied."""

from __future__ import annotations

import contextlib
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from core.storage.files.atomic import make_folder, write_target

STAMP: Final = r"(?P<stamp>\d{4}-\d{2}-\d{2}T\d{6})Z"
_FORM: Final = "%Y-%m-%dT%H%M%S"
_LEFTOVER: Final = re.compile(r"\.\d{4}-\d{2}-\d{2}T.+\.\d+-[0-9a-f]{8}\.tmp")


def side_folder(home: Path, name: str) -> Path:
    """The folder of this name in the memory's folder, made when it is not there.

    Raises ReadOnlyError for a link that leads out of the memory's folder, StorageError.
    """
    folder = write_target(home, home / name)
    make_folder(folder)
    return folder


def stamp(moment: datetime) -> str:
    """A time as file names bear it: UTC, to the second, sorted by name as by time."""
    return moment.astimezone(UTC).strftime(_FORM) + "Z"


def moment_of(stamp: str) -> datetime | None:
    """The time in a file's name, without its "Z"; None when there is no such time."""
    try:
        return datetime.strptime(stamp, _FORM).replace(tzinfo=UTC)
    except ValueError:
        return None


def names_in(folder: Path) -> list[str]:
    """Names of the regular files in a folder, sorted; none for a folder that is not there or cannot be read."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    return []


def remove_half_written(folder: Path) -> list[str]:
    """Removes temporary files that a killed writer left, and gives the names of the other files.

    Only to be called while holding the memory's lock.
    """
    names = names_in(folder)
    for name in names:
        if _LEFTOVER.fullmatch(name):
            with contextlib.suppress(OSError):
                (folder / name).unlink()
    return [name for name in names if not _LEFTOVER.fullmatch(name)]
