"""Putting a new file in the place of an old one and getting hold of exactly what it replaced."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from core.storage.files.atomic import (
    Fingerprint,
    Staged,
    discard,
    fingerprint,
    put_in_place,
    sync_folder,
    syncing,
)
from core.storage.files.open_writers import wait_for_writers

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2  # linux/fs.h
_RENAME_SWAP: Final = 2  # macOS sys/stdio.h


def put_instead(staged: Staged, expected: Fingerprint | None, *, moved: bool = False) -> Path | None:
    """Puts staged content in the place of the file version `expected` (None: of no file) and syncs the folder.

    Returns None when exactly that version was replaced. When another program had put its own version there in
    the last instant, that version is not lost: its path is returned, beside the target. Where the system cannot
    swap two files, the last instant before the rename stays unwatched. moved: another version is known to stand
    there, so that nothing but a swap will do. Raises StorageError, FileExistsError (a file came to be where none
    was, or nothing but a swap would do and there is none), and nothing was written then; NotSyncedError when the
    content stands in its place, and what it replaced may still lie beside it.
    """
    if expected is None:
        _put_where_nothing_is(staged)
        return None
    if not _swap(staged.temporary, staged.path):
        if moved:
            raise FileExistsError
        put_in_place(staged)
        return None
    with syncing(staged.path):
        sync_folder(staged.path.parent)
        # Who opened it before the exchange still writes to the file that was replaced.
        wait_for_writers(staged.temporary)
        replaced = fingerprint(staged.temporary)
    if not expected.same_data(replaced):
        return staged.temporary
    discard([staged])
    return None


def _put_where_nothing_is(staged: Staged) -> None:
    try:
        os.link(staged.temporary, staged.path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links.
        put_in_place(staged)
        return
    discard([staged])
    with syncing(staged.path):
        sync_folder(staged.path.parent)


def _swap(one: Path, other: Path) -> bool:
    """Exchanges two files in one step; False, and nothing happened, where that cannot be done."""
    call = _system_call()
    if call is None:
        return False
    with contextlib.suppress(OSError, ValueError):
        return call(os.fsencode(one), os.fsencode(other)) == 0
    return False


@functools.cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    if sys.platform not in ("linux", "darwin"):
        return None
    import ctypes

    try:
        library = ctypes.CDLL(None)
        if sys.platform == "darwin":
            swap = library.renamex_np
            swap.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint)
            return lambda one, other: int(swap(one, other, _RENAME_SWAP))
        rename = library.renameat2
        rename.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
        return lambda one, other: int(rename(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE))
    except (OSError, AttributeError):
        return None
