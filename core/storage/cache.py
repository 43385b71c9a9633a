"""The cache of a memory: files that can be made anew at any time, in a folder outside of the memory's own.

A file of it holds named blocks of bytes under a version: 16 bytes of BLAKE2b of all that follows, then, as MessagePack,
the version, the order of the bytes in a number on this kind of processor, and the blocks. What is odd about a file in
any way makes it none. The digest finds accidents; that no one else may write the file is the guard against malice.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from core.errors import NuggetsError
from core.storage.files.atomic import make_folder, remove_leftovers_of, replace_file
from core.storage.files.side_folders import names_in
from core.text.digests import blake2b
from core.user_folders import cache_folder as folder_of

INDEX_NAME: Final = "index.cache"
# Of one's own notes and the team's together.
TEAM_INDEX_NAME: Final = "team.cache"
# What agents are told at the start of a session.
BRIEFING_NAME: Final = "briefing.json"
_OURS: Final = re.compile(
    "|".join(map(re.escape, (INDEX_NAME, TEAM_INDEX_NAME, BRIEFING_NAME))) + r"|\..+\.\d+-[0-9a-f]{8}\.tmp"
)
_DIGEST: Final = 16
_LARGEST: Final = 1 << 30
# What keeps a cache from being read or written, and is nobody's concern.
_TROUBLE: Final = (OSError, ValueError, MemoryError, NotImplementedError, NuggetsError)


_READ: Final = msgspec.msgpack.Decoder(tuple[str, str, dict[str, memoryview]])


def write_cache(path: Path, version: str, blocks: Mapping[str, bytes | memoryview]) -> bool:
    """Replaces a file of blocks in one step. False when it cannot be written; an older file then stays as it was."""
    body = msgspec.msgpack.encode((version, sys.byteorder, blocks))
    with contextlib.suppress(*_TROUBLE):
        make_folder(path.parent)
        remove_leftovers_of(path)
        replace_file(path, blake2b(body, digest_size=_DIGEST).digest(), body)
        return True
    return False


def read_cache(path: Path, version: str) -> Mapping[str, memoryview] | None:
    """The blocks of a file by name, in the order in which they were written; never raises. None for no file, another
    version, a file that is damaged anywhere, that is a link or no regular file, or that belongs to somebody else.
    """
    with contextlib.suppress(*_TROUBLE), own_file(path) as handle:
        size = os.fstat(handle).st_size
        whole = read_up_to(handle, size) if size <= _LARGEST else b""
        body = memoryview(whole)[_DIGEST:]
        if blake2b(body, digest_size=_DIGEST).digest() == whole[:_DIGEST]:
            found, order, blocks = _READ.decode(body)
            return blocks if (found, order) == (version, sys.byteorder) else None
    return None


@contextlib.contextmanager
def own_file(path: Path) -> Iterator[int]:
    """A handle of a regular file that belongs to who runs this; no link is followed, nothing waits.

    Raises OSError, ValueError.
    """
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    handle = os.open(path, flags)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or not is_ours(found):
            raise PermissionError(f"{path} is no file of this user")
        yield handle
    finally:
        os.close(handle)


def is_ours(found: os.stat_result) -> bool:
    """Whether a file or folder belongs to who runs this, as far as the system knows owners."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def read_up_to(handle: int, size: int) -> bytes:
    """Bytes from where the handle stands, fewer at the end of the file. Raises OSError."""
    with os.fdopen(handle, "rb", closefd=False) as file:
        return file.read(size)


def cache_folder(home: Path, environ: Mapping[str, str]) -> Path | None:
    """The folder for the cache of the memory in `home`, as `core.user_folders` finds it; None for none."""
    found = folder_of(os.fspath(home), environ)
    return None if found is None else Path(found)


def claim_cache_folder(folder: Path) -> bool:
    """Makes the folder that `cache_folder` gave. False when it cannot be used. Never raises."""
    with contextlib.suppress(*_TROUBLE):
        make_folder(folder)
        return not folder.is_symlink() and is_ours(folder.stat())
    return False


def remove_cache(folder: Path) -> None:
    """Removes our files from a cache, and the folder if nothing else is in it."""
    with contextlib.suppress(OSError):
        for name in filter(_OURS.fullmatch, names_in(folder)):
            (folder / name).unlink()
        folder.rmdir()
