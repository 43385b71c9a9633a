"""Container files of a cache: named blocks of bytes under a version, all checked before one is handed out.

    24 bytes      magic with the byte order, length and CRC-32 of the header, size of the whole file
    header        JSON: the version, and for each block its name, size and CRC-32
    blocks        in that order, each starting at a multiple of 64 bytes

CRC-32 finds every accident in a burst of up to 32 bits and lets one of four thousand million others pass. It is no
guard against malice: that no one else may write the file is.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import secrets
import stat
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec

from core.errors import NuggetsError
from core.storage.files.atomic import locked, make_folder
from core.storage.files.side_folders import names_in

ALIGNMENT: Final = 64
# Numbers in the blocks stand as this kind of processor has them; another kind finds no cache of its own.
ORDER: Final = b"<" if sys.byteorder == "little" else b">"
_MAGIC: Final = b"nugidx1" + ORDER
_START: Final = struct.Struct("<8sIIQ")
_LONGEST_HEADER: Final = 1 << 20
_FILE_MODE: Final = 0o600
# A cache is worth no long wait.
_LOCK_SECONDS: Final = 2.0
_LEFTOVER: Final = re.compile(r"\..+\.\d+-[0-9a-f]{8}\.tmp")
# What keeps a cache from being read or written, and is nobody's concern.
TROUBLE: Final = (OSError, ValueError, MemoryError, NotImplementedError, NuggetsError)


class _Header(msgspec.Struct, frozen=True):
    """blocks: name, size in bytes and CRC-32 of each."""

    version: str
    blocks: list[tuple[str, Annotated[int, msgspec.Meta(ge=0)], int]]


def write_cache(path: Path, version: str, blocks: Mapping[str, bytes | memoryview]) -> bool:
    """Replaces a container file in one step, without waiting for the disk; makes its folder when it is not there.

    blocks: C-contiguous, of any item type. False when it cannot be written: a full disk, a folder that is
    read-only, somebody who keeps the folder locked. An older file then stays as it was.
    """
    views = {name: as_bytes(block) for name, block in blocks.items()}
    table = [(name, len(view), zlib.crc32(view)) for name, view in views.items()]
    header = msgspec.json.encode(_Header(version, table))
    if len(header) > _LONGEST_HEADER:
        return False
    parts: list[bytes | memoryview] = [header, _padding(_START.size + len(header))]
    for view in views.values():
        parts += [view, _padding(len(view))]
    size = _START.size + sum(len(part) for part in parts)
    start = _START.pack(_MAGIC, len(header), zlib.crc32(header), size)
    with contextlib.suppress(*TROUBLE), locked_cache(path.parent):
        replace_unsynced(path, [start, *parts])
        return True
    return False


def read_cache(path: Path, version: str) -> Mapping[str, memoryview] | None:
    """The blocks of a container file by name, read-only, each aligned to 64 bytes; never raises.

    They are a copy in memory, so that whatever becomes of the file, what was found to be sound stays so. None for
    no file, another version or byte order, a file that is cut off or damaged anywhere, that is a link or no regular
    file, or that belongs to somebody else.
    """
    with contextlib.suppress(*TROUBLE), own_file(path) as handle:
        size = os.fstat(handle).st_size
        start = read_up_to(handle, _START.size)
        if len(start) != _START.size:
            return None
        magic, length, checksum, total = _START.unpack(start)
        # No more memory than a file takes that says of itself, and soundly, how large it is.
        if magic != _MAGIC or total != size or length > _LONGEST_HEADER:
            return None
        text = read_up_to(handle, length)
        if len(text) != length or zlib.crc32(text) != checksum:
            return None
        header = msgspec.json.decode(text, type=_Header)
        if header.version == version:
            return _blocks(handle, header, _aligned(_START.size + length), size)
    return None


def _blocks(handle: int, header: _Header, start: int, size: int) -> Mapping[str, memoryview] | None:
    if start + sum(_aligned(length) for _, length, _ in header.blocks) != size:
        return None
    whole = memoryview(mmap.mmap(-1, max(size - start, 1)))
    os.lseek(handle, start, os.SEEK_SET)
    if read_into(handle, whole[: size - start]) != size - start:
        return None
    found: dict[str, memoryview] = {}
    place = 0
    for name, length, checksum in header.blocks:
        found[name] = whole[place : place + length].toreadonly()
        if zlib.crc32(found[name]) != checksum:
            return None
        place += _aligned(length)
    return found


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _padding(size: int) -> bytes:
    return bytes(-size % ALIGNMENT)


def as_bytes(block: bytes | memoryview) -> memoryview:
    """A block as a flat view of its bytes. Raises TypeError for one that is not C-contiguous."""
    view = memoryview(block)
    return view.cast("B") if view.nbytes else memoryview(b"")


@contextlib.contextmanager
def own_file(path: Path, *, write: bool = False) -> Iterator[int]:
    """A handle of a regular file that belongs to who runs this; no link is followed, nothing waits.

    Raises OSError, ValueError.
    """
    flags = os.O_RDWR if write else os.O_RDONLY
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
    found = bytearray(size)
    return bytes(found[: read_into(handle, memoryview(found))])


def read_into(handle: int, target: memoryview) -> int:
    """Fills a buffer from where the handle stands; how many bytes there were. Raises OSError."""
    with os.fdopen(handle, "rb", buffering=0, closefd=False) as file:
        done = 0
        while done < len(target) and (count := file.readinto(target[done:])):
            done += count
        return done


def write_at(handle: int, place: int, parts: Iterable[bytes | memoryview]) -> None:
    """Writes parts one after the other from a place in the file on. Raises OSError."""
    os.lseek(handle, place, os.SEEK_SET)
    for part in parts:
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(handle, rest) :]


@contextlib.contextmanager
def locked_cache(folder: Path) -> Iterator[None]:
    """Holds the lock of a cache's folder, makes the folder when needed, and clears away what killed writers left.

    Raises one of TROUBLE.
    """
    make_folder(folder)
    with locked(folder, seconds=_LOCK_SECONDS):
        for name in names_in(folder):
            if _LEFTOVER.fullmatch(name):
                remove_quietly(folder / name)
        yield


def replace_unsynced(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Replaces a file in one step, without waiting for the disk. Raises OSError; the old file is then as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        write_new(temporary, parts)
        os.replace(temporary, path)
    except BaseException:
        remove_quietly(temporary)
        raise


def write_new(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Writes a file that is not there yet and that only its owner may read. Raises OSError."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), _FILE_MODE)
    try:
        write_at(handle, 0, parts)
    finally:
        os.close(handle)


def remove_quietly(path: Path) -> None:
    """Removes a file of the cache, if that is possible."""
    with contextlib.suppress(OSError):
        path.unlink()
