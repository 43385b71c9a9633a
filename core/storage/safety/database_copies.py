"""Copies of a whole database in backups/, made before its tables change for good."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

from core.storage.files.atomic import sync_folder, sync_handle
from core.storage.files.side_folders import STAMP, names_in, side_folder, stamp
from core.storage.files.sqlite import SIDE_FILES, begin_file
from core.storage.safety.backups import BACKUPS

_KEPT: Final = 2
_NAME: Final = re.compile(STAMP + r"-v\d+-(?P<file>\w+\.db)")


def copy_database(home: Path, path: Path, version: int, at: datetime) -> Path:
    """Copies a database of the folder into backups/, safe on disk and whole without side files; where it is.

    version: of its tables, which its name tells; at: now, with its time zone. The newest two of a database stay. Only
    to be called while holding its turn to write. Raises StorageError, ReadOnlyError, OSError, sqlite3.DatabaseError.
    """
    folder = side_folder(home, BACKUPS)
    # One name for all: what a killed process left is written over.
    unfinished = folder / f".copying-{path.name}"
    for side in SIDE_FILES:
        unfinished.with_name(unfinished.name + side).unlink(missing_ok=True)
    begin_file(unfinished)
    address = f"{path.absolute().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True)) as source,
        closing(sqlite3.connect(unfinished, isolation_level=None)) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    _sync(unfinished)
    done = folder / f"{stamp(at)}-v{version}-{path.name}"
    os.replace(unfinished, done)
    sync_folder(folder)
    _prune(home, path.name)
    return done


def is_copy(name: str) -> bool:
    """Whether a file in backups/ is such a copy, by its name."""
    return _NAME.fullmatch(name) is not None


def copies_of(home: Path, name: str) -> list[Path]:
    """The copies of a database of this name, oldest first."""
    folder = home / BACKUPS
    found = ((one, _NAME.fullmatch(one)) for one in names_in(folder))
    return [folder / one for one, parts in found if parts is not None and parts["file"] == name]


def _prune(home: Path, name: str) -> None:
    for path in copies_of(home, name)[:-_KEPT]:
        with contextlib.suppress(OSError):
            path.unlink()


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        sync_handle(file.fileno())
