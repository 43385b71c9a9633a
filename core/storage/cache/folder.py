"""Finds the cache folder of a memory, and removes caches of memories that are gone."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from core.storage.cache.container import (
    TROUBLE,
    is_ours,
    own_file,
    read_up_to,
    remove_quietly,
    replace_unsynced,
)
from core.storage.files.atomic import LOCK_NAME, make_folder
from core.storage.files.side_folders import names_in
from core.user_folders import cache_folder as folder_of
from core.user_folders import name_of

INDEX_NAME: Final = "index.cache"
VECTORS_NAME: Final = "vectors.table"
MEMORY_NAME: Final = "memory.txt"
# What agents are told at the start of a session.
BRIEFING_NAME: Final = "briefing.json"
_NAMES: Final = (INDEX_NAME, VECTORS_NAME, MEMORY_NAME, BRIEFING_NAME, LOCK_NAME)
_FOLDER: Final = re.compile(r"[0-9a-f]{16}")
_OURS: Final = re.compile(
    "|".join(map(re.escape, _NAMES)) + r"|vectors-[0-9a-f]{16}\.rows|\..+\.\d+-[0-9a-f]{8}\.tmp"
)
_LONGEST_PATH: Final = 1 << 16
# At most so many folders are looked at, and so many removed, at a time.
_LOOKED_AT: Final = 1000
_REMOVED: Final = 10


def cache_folder(home: Path, environ: Mapping[str, str]) -> Path | None:
    """The folder for the cache of the memory in `home`, as `core.user_folders` finds it; None for none."""
    found = folder_of(os.fspath(home), environ)
    return None if found is None else Path(found)


def claim_cache_folder(folder: Path, home: Path) -> bool:
    """Makes the folder that `cache_folder` gave, writes into it which memory it belongs to, and removes caches
    beside it whose memory is gone. False when it cannot be used. Never raises.

    Meant to be called once, before the first writing.
    """
    with contextlib.suppress(*TROUBLE):
        make_folder(folder)
        if folder.is_symlink() or not is_ours(folder.stat()):
            return False
        memory = os.fsencode(os.path.realpath(home))
        if _memory_of(folder) != memory:
            replace_unsynced(folder / MEMORY_NAME, [memory + b"\n"])
        _remove_orphans(folder.parent, folder.name)
        return True
    return False


def _memory_of(folder: Path) -> bytes | None:
    """The path of the memory that a folder says it is the cache of."""
    with contextlib.suppress(*TROUBLE), own_file(folder / MEMORY_NAME) as handle:
        return read_up_to(handle, _LONGEST_PATH).removesuffix(b"\n")
    return None


def _remove_orphans(root: Path, current: str) -> None:
    with os.scandir(root) as entries:
        names = [e.name for e in islice(entries, _LOOKED_AT) if e.is_dir(follow_symlinks=False)]
    orphans = (name for name in names if name != current and _is_orphan(root / name))
    for name in islice(orphans, _REMOVED):
        remove_cache(root / name)


def _is_orphan(folder: Path) -> bool:
    """Whether a folder is a cache of ours, as its name proves, for a memory that surely is no more."""
    memory = _memory_of(folder) if _FOLDER.fullmatch(folder.name) else None
    if memory is None or folder.name != name_of(memory):
        return False
    try:
        os.lstat(memory)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def remove_cache(folder: Path) -> None:
    """Removes our files from a cache, the one that names its memory last, and the folder if nothing else is in it."""
    ours = [name for name in names_in(folder) if _OURS.fullmatch(name)]
    for name in sorted(ours, key=lambda name: name == MEMORY_NAME):
        remove_quietly(folder / name)
    with contextlib.suppress(OSError):
        folder.rmdir()
