"""Which features the user has tried on this machine, in any memory: those are not suggested again."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from core.errors import StorageError
from core.folder import user_configuration_folder
from core.storage.files.atomic import make_folder, replace_file

FILE: Final = "tried.json"
_LONGEST: Final = 65_536
_MOST: Final = 1_000


def tried_file() -> Path:
    """Where it is kept: beside the user's settings, and in no memory."""
    return user_configuration_folder() / FILE


def read_tried() -> frozenset[str]:
    """The names of what was tried. Never fails: a file that cannot be read names nothing."""
    try:
        with tried_file().open("rb") as file:
            names = msgspec.json.decode(file.read(_LONGEST), type=list[str])
    except (OSError, RuntimeError, msgspec.DecodeError):
        return frozenset()
    return frozenset(names[:_MOST])


def keep_tried(names: Iterable[str]) -> bool:
    """Adds names to those kept; whether they are kept now. A place that cannot be written keeps nothing."""
    known = read_tried()
    wanted = known | frozenset(names)
    if wanted == known:
        return True
    try:
        # A link, such as those that look after such files make, stays one.
        path = Path(os.path.realpath(tried_file()))
        make_folder(path.parent)
        replace_file(path, msgspec.json.encode(sorted(wanted)) + b"\n")
    except (StorageError, OSError, RuntimeError):
        return False
    return True
