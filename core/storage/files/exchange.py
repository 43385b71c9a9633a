"""Putting a new file in the place of an old one beside programs that know no lock: exactly what it replaced is got hold
of, and looked at once more when nobody can be writing into it any longer.
"""

from __future__ import annotations

import contextlib
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
    put_in_place,
    refused,
    rename,
    sync_folder,
    syncing,
)

# Who had a file open when it was replaced may still write into it for so long; what cannot be read and is younger may
# be half written.
SETTLING_SECONDS: Final = 2.0
_LONGEST_SECONDS: Final = 5.0
_GLANCE_SECONDS: Final = 0.01


def wait_until_whole(path: Path, begun: float) -> bool:
    """Waits a moment when a file that cannot be read may be half written. Whether to read it again.

    begun: `time.monotonic()` at the first try; what is never finished is not waited for for ever.
    """
    with contextlib.suppress(OSError):
        young = 0 <= time.time() - path.stat().st_mtime < SETTLING_SECONDS
        if young and time.monotonic() - begun < _LONGEST_SECONDS:
            time.sleep(_GLANCE_SECONDS)
            return True
    return False


class Replaced:
    """A file that was replaced. It is held open for a while: a program that has it open may still write into it."""

    def __init__(self, staged: Staged, expected: Fingerprint) -> None:
        self.target = staged.path
        self.until = time.monotonic() + SETTLING_SECONDS
        self._temporary: Path | None = staged.temporary
        self._known = expected
        self._handle = os.open(staged.temporary, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        # Whether another version was replaced than the one that was read.
        self.moved = not expected.same_data(self._made)
        if not self.moved:
            self.forget()

    @property
    def _made(self) -> Fingerprint:
        found = os.fstat(self._handle)
        return Fingerprint(found.st_ino, found.st_size, found.st_mtime_ns)

    @property
    def written(self) -> bool:
        """Whether somebody wrote into it since it was read last."""
        return not self._known.same_data(self._made)

    def read(self, whole: Callable[[bytes], bool]) -> bytes:
        """What it holds by now. whole: says of half a file that it is none; it is waited for. Raises OSError."""
        while True:
            self._known = self._made
            data = os.pread(self._handle, self._known.size, 0)
            age = time.time_ns() - self._known.mtime_ns
            if whole(data) or not 0 <= age < SETTLING_SECONDS * 1e9:
                return data
            time.sleep(_GLANCE_SECONDS)

    def forget(self) -> None:
        """Takes it off the disk; who has it open goes on having it."""
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def close(self) -> None:
        """Lets it go."""
        self.forget()
        os.close(self._handle)


_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2  # linux/fs.h
_RENAME_SWAP: Final = 2  # macOS sys/stdio.h


def put_instead(staged: Staged, expected: Fingerprint | None, *, moved: bool = False) -> Replaced | None:
    """Puts staged content in the place of the file version `expected` (None: of no file) and syncs the folder.

    Returns what it replaced, held open, since another program may have put its own version there in the last instant.
    Where the system cannot swap two files that instant stays unwatched, and None is returned. moved: another version
    is known to stand there, so that nothing but a swap will do. Raises StorageError, FileExistsError (a file came to be
    where none was, or nothing but a swap would do and there is none), and nothing was written then; NotSyncedError when
    the content stands in its place, and what it replaced may still lie beside it.
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
        return Replaced(staged, expected)


def take_away(path: Path, expected: Fingerprint | None) -> Replaced | None:
    """Removes a file; what was removed, as in `put_instead`. Raises StorageError, NotSyncedError."""
    aside = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    expected = expected or Fingerprint(0, 0, 0)
    try:
        rename(path, aside)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refused(path, "cannot be removed", error) from error
    with syncing(path):
        sync_folder(path.parent)
        return Replaced(Staged(aside, path, expected), expected)


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
