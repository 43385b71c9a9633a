"""The proof of a masking: every file of the folders that belong to a memory, looked through for what was masked.

It knows nothing of what was masked where. It reads each file as what it is: text, an archive, a database row by row.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from core.errors import NuggetsError
from core.model.masks import Masks
from core.storage.files.atomic import read_file
from core.storage.files.sqlite import BUSY_SECONDS

_DATABASE: Final = re.compile(r"(?:ledger|pipeline)\.db")
# The index of a log of writes: numbers of pages, and locks that closing the file would take away.
_INDEX: Final = "-shm"
_ZLIB: Final = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_PACK: Final = b"PACK"
# No more of a file, and of what stands pressed in one place of it, is looked at.
_LARGEST: Final = 1 << 30
_LARGEST_PRESSED: Final = 64_000_000
_DAMAGE: Final = (
    OSError,
    EOFError,
    ValueError,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
)


class Left(NamedTuple):
    """A file that holds a value after all, or that cannot be looked into."""

    path: Path
    why: Literal["holds", "unreadable"]


def is_database(name: str) -> bool:
    """Whether a file is one of our databases, or of their side files, by its name; also one that was set aside."""
    return _DATABASE.search(name) is not None


def files_left(folders: Iterable[Path], masks: Masks) -> Iterator[Left]:
    """The files under these folders that hold a value in some spelling, or that cannot be looked into. Never raises."""
    for top in folders:
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                path = Path(folder, name)
                why = _why(path, masks) if not name.endswith(_INDEX) and not path.is_symlink() else None
                if why is not None:
                    yield Left(path, why)


def file_left(path: Path, masks: Masks) -> Left | None:
    """The same for one file."""
    why = _why(path, masks)
    return Left(path, why) if why is not None else None


def _why(path: Path, masks: Masks) -> Literal["holds", "unreadable"] | None:
    if _DATABASE.fullmatch(path.name):
        # Read through SQLite alone: closing such a file takes the locks away that this process has on it.
        return _database(path, masks)
    try:
        if path.stat().st_size > _LARGEST:
            return "unreadable"
        found = read_file(path)
    except FileNotFoundError:
        return None
    except (OSError, NuggetsError):
        # A socket or a pipe holds nothing.
        return "unreadable" if path.is_file() else None
    data = found[0] if found is not None else b""
    if is_database(path.name):
        # A database that was set aside, or a log of writes. A value split over two of its pages is not found.
        held = masks.stands_in(data) or any(masks.holds(part) for _, _, part in _streams(data))
        return "holds" if held else "unreadable" if data.startswith(b"SQLite format 3\0") else None
    return "holds" if holds(data, masks) else None


def holds(data: bytes, masks: Masks) -> bool:
    """Whether the bytes of a file hold a value, or what stands pressed in them does."""
    with contextlib.suppress(*_DAMAGE):
        if data.startswith(_GZIP):
            return masks.stands_in(data) or masks.holds(gzip.decompress(data))
        if data.startswith(_ZIP):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                return any(holds(archive.read(name), masks) for name in archive.namelist())
    if data.startswith(_PACK) or _ZLIB.match(data):
        return any(masks.holds(part) for _, _, part in _streams(data))
    return masks.holds(data)


def _streams(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """What zlib pressed in bytes of any kind: where each begins and ends, and what it says, as far as it is whole."""
    place = 0
    while found := _ZLIB.search(data, place):
        place = found.start() + 1
        reader = zlib.decompressobj()
        said = b""
        with contextlib.suppress(zlib.error):
            said = reader.decompress(memoryview(data)[found.start() :], _LARGEST_PRESSED)
        if said:
            end = len(data) - len(reader.unused_data) if reader.eof else found.start() + 2
            yield found.start(), end, said
            place = max(place, end)


def blanked_database(data: bytes, masks: Masks) -> bytes:
    """A database that cannot be read, with the values in it written over and all else where it was.

    What stands pressed is written over as a whole.
    """
    parts, place = [], 0
    for start, end, said in _streams(data):
        if masks.holds(said):
            # One that is cut off has no end of its own.
            end = end if end > start + 2 else min(start + len(said), len(data))
            parts += [data[place:start], bytes(end - start)]
            place = end
    return masks.blanked(b"".join([*parts, data[place:]]))


def _database(path: Path, masks: Masks) -> Literal["holds", "unreadable"] | None:
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as reader:
            reader.text_factory = bytes
            if any(_cell_holds(cell, masks) for cell in _cells(reader)):
                return "holds"
            # What was deleted lies in the pages still.
            return "holds" if masks.stands_in(reader.serialize()) else None
    except (sqlite3.Error, OverflowError, MemoryError):
        return "unreadable"


def _cells(reader: sqlite3.Connection) -> Iterator[Any]:
    tables = reader.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    for name, sql in tables:
        yield sql
        if not name.startswith(b"sqlite_"):
            for row in reader.execute(f'SELECT * FROM "{name.decode()}"'):
                yield from row


def _cell_holds(cell: Any, masks: Masks) -> bool:
    if not isinstance(cell, bytes):
        return False
    if _ZLIB.match(cell):
        with contextlib.suppress(zlib.error):
            return masks.holds(zlib.decompress(cell))
    return masks.holds(cell)
