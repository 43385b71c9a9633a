"""Putting a new file in the place of an old one beside programs that know no lock: who has it open is waited for, and
exactly what it replaced is got hold of.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sys
import time
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

# How long a program that writes a file in place is waited for, in seconds.
WAIT_SECONDS: Final = 5.0
_GLANCE_SECONDS: Final = 0.01
# Where the system cannot tell who has a file open, one that was written so recently may still be.
_RECENT_SECONDS: Final = 0.3


def is_open_to_write(path: Path) -> bool | None:
    """Whether any process has the file open for writing; None where the system does not tell.

    Linux grants a read lease on a file (fcntl(2), F_SETLEASE) only while nobody has it open for writing.
    """
    try:
        import fcntl
        import signal

        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (ImportError, OSError):
        return None
    try:
        # Who opens the file to write while the lease is held would otherwise end this process with SIGIO.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except AttributeError:
        return None
    except OSError as error:
        return True if error.errno in (errno.EAGAIN, errno.EACCES) else None
    finally:
        os.close(handle)
    return False


def wait_for_writers(path: Path, seconds: float = WAIT_SECONDS) -> bool:
    """Waits while a program has the file open for writing, at most so long. Whether there was one to wait for."""
    end = time.monotonic() + seconds
    waited = False
    while is_open_to_write(path) and time.monotonic() < end:
        waited = True
        time.sleep(_GLANCE_SECONDS)
    return waited


def wait_until_whole(path: Path, begun: float) -> bool:
    """Waits a moment when a file that cannot be read is being written. Whether to read it again.

    begun: `time.monotonic()` at the first try; what is never finished is not waited for for ever.
    """
    if time.monotonic() - begun > WAIT_SECONDS:
        return False
    writing = is_open_to_write(path)
    if writing is None:
        with contextlib.suppress(OSError):
            age = time.time() - path.stat().st_mtime
            writing = 0 <= age < _RECENT_SECONDS
    if writing:
        time.sleep(_GLANCE_SECONDS)
    return bool(writing)


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
