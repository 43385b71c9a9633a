"""Small files that the app keeps about a memory between two starts, outside the memory's folder.

It is nothing that is remembered: it makes no entry of the log, and no copy of the folder takes it along.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from core.errors import StorageError
from core.storage.cache import cache_folder, claim_cache_folder, own_file, read_up_to
from core.storage.files.atomic import Lock, make_folder, replace_file
from core.storage.personal.unsaved_files import unsaved_folder

_LONGEST: Final = 4096


def read_state(home: Path, name: str, environ: Mapping[str, str] | None = None) -> bytes:
    """What is kept under a name for the memory in `home`; b"" where nothing is, or nothing that can be read."""
    folder = unsaved_folder(home, os.environ if environ is None else environ)
    if folder is not None:
        with contextlib.suppress(OSError, ValueError), own_file(folder / name) as handle:
            return read_up_to(handle, _LONGEST)
    return b""


def write_state(home: Path, name: str, data: bytes, environ: Mapping[str, str] | None = None) -> bool:
    """Keeps at most 4,096 bytes under a name; whether there is a place for them. Raises StorageError."""
    folder = unsaved_folder(home, os.environ if environ is None else environ)
    if folder is None:
        return False
    make_folder(folder)
    replace_file(folder / name, data)
    return True


def write_cached(home: Path, name: str, data: bytes, environ: Mapping[str, str] | None = None) -> bool:
    """Keeps what can be made anew in the cache of the memory in `home`; whether there is a place for it."""
    folder = cache_folder(home, os.environ if environ is None else environ)
    if folder is None or not claim_cache_folder(folder):
        return False
    with contextlib.suppress(OSError, StorageError):
        replace_file(folder / name, data)
        return True
    return False


@contextlib.contextmanager
def claimed(path: Path, seconds: float = 0.0) -> Iterator[None]:
    """Within this, no other process holds the lock at `path`. Raises LockTimeoutError where one does for so long."""
    make_folder(path.parent)
    lock = Lock(path)
    lock.acquire(seconds)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            lock.release()
