"""A growing cache file of rows of equal length, each found by a digest: a new row is appended, the others stay.

Two files. NAME.table has a header of 64 bytes and 20 bytes a row: digest, and CRC-32 of digest and row. The rows lie
in NAME-GENERATION.rows, one after the other and nothing else; row n of it belongs to entry n of the table. A row is
written before its entry, and no entry that is whole is ever changed, so that a reader needs no lock. Dropping rows
starts another generation, with files of its own. As readers map the rows, they are never shortened, only removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import re
import secrets
import struct
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from core.storage.cache.container import (
    ORDER,
    TROUBLE,
    as_bytes,
    locked_cache,
    own_file,
    read_up_to,
    remove_quietly,
    replace_unsynced,
    write_at,
    write_new,
)
from core.storage.files.side_folders import names_in

DIGEST_BYTES: Final = 16
_MAGIC: Final = b"nugrow1" + ORDER
# Magic, bytes a row, digest of the version, generation, CRC-32 of all this.
_HEADER: Final = struct.Struct("<8sI16s8s24xI")
_ENTRY: Final = struct.Struct(f"<{DIGEST_BYTES}sI")
# The table may be replaced, and its rows removed, between the looks at the one and at the other.
_LOOKS: Final = 3


class Numbers(Mapping[bytes, int]):
    """Where the row of each digest lies, counted in rows; rows that are damaged are not in it.

    A row is checked when it is first asked for, so that to open many costs little; to count or list them checks all.
    Several threads may use it at once.
    """

    def __init__(
        self, table: Mapping[bytes, int], matrix: memoryview, entries: bytes, row_bytes: int, sound: set[int]
    ) -> None:
        self.table = table
        self.sound = sound
        self._matrix, self._entries, self._row_bytes = matrix, entries, row_bytes

    @property
    def complete(self) -> bool:
        """Whether there are as many rows as entries, be they damaged or not."""
        return len(self._matrix) * _ENTRY.size >= len(self._entries) * self._row_bytes

    def __getitem__(self, digest: bytes) -> int:
        number = self.table[digest]
        if number not in self.sound:
            row = self._matrix[number * self._row_bytes : (number + 1) * self._row_bytes]
            stored, checksum = _ENTRY.unpack_from(self._entries, number * _ENTRY.size)
            if len(row) != self._row_bytes or zlib.crc32(row, zlib.crc32(stored)) != checksum:
                raise KeyError(digest)
            self.sound.add(number)
        return number

    def __iter__(self) -> Iterator[bytes]:
        return (digest for digest in self.table if digest in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Rows(NamedTuple):
    """The rows at one moment. It stays as it is, whatever is appended or dropped later, also by others.

    matrix: all rows one after the other, read-only, mapped from the file. What `numbers` does not name in it is stale,
    damaged or unchecked.
    """

    numbers: Numbers
    matrix: memoryview
    entries: bytes
    generation: bytes

    @property
    def listed(self) -> Collection[bytes]:
        """The digests of all rows, unchecked ones too; where the rows were cut off, of those that are whole."""
        return self.numbers.table.keys() if self.numbers.complete else self.numbers.keys()

    @property
    def total(self) -> int:
        """How many entries the table has, those of stale and damaged rows too."""
        return len(self.entries) // _ENTRY.size


_NO_ROWS: Final = memoryview(b"")
_NOTHING: Final = Rows(Numbers({}, _NO_ROWS, b"", 1, set()), _NO_ROWS, b"", b"")


class RowFile:
    """Rows of `row_bytes` bytes by digests of 16 bytes. Nothing in it raises for what the disk or others do.

    path: of the table, whose name ends in ".table"; the rows lie beside it. version: rows of another one are not read,
    and go when the first row is appended. Several threads and processes may use and append at once.
    """

    def __init__(self, path: Path, version: str, row_bytes: int) -> None:
        self.path = path
        self.row_bytes = row_bytes
        self._version = hashlib.blake2b(version.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self._guard = threading.Lock()
        self._rows = self._look(_NOTHING)

    @property
    def rows(self) -> Rows:
        """All rows that were there at the last look; take it once for one piece of work."""
        return self._rows

    def refresh(self) -> Rows:
        """Looks for rows that others appended since."""
        with self._guard:
            self._rows = self._look(self._rows)
            return self._rows

    def append(self, digests: Sequence[bytes], rows: bytes | memoryview) -> bool:
        """Adds one row for each digest that has none yet. rows: one after the other, C-contiguous.

        False when they cannot be kept. Raises ValueError when digests and rows do not have the right lengths.
        """
        view = as_bytes(rows)
        wrong = any(len(digest) != DIGEST_BYTES for digest in digests)
        if wrong or len(view) != len(digests) * self.row_bytes:
            raise ValueError(f"{len(digests)} digests do not fit {len(view)} bytes of rows")
        if not digests:
            return True
        with self._guard, contextlib.suppress(*TROUBLE), locked_cache(self.path.parent):
            found = self._look(self._rows)
            if not found.generation or len(found.matrix) < found.total * self.row_bytes:
                # Lost or cut off meanwhile: what is known of it is still mapped and goes into a new one.
                sound = found if found.generation else self._rows
                self._begin(sound, sound.numbers)
                found = self._look(_NOTHING)
            places = {digest: place for place, digest in enumerate(digests) if digest not in found.numbers}
            parts = [view[place * self.row_bytes :][: self.row_bytes] for place in places.values()]
            self._write(found, [*places], parts)
            self._rows = self._look(found)
            return all(digest in self._rows.numbers for digest in digests)
        return False

    def prune(self, live: Collection[bytes]) -> bool:
        """Starts anew with the rows of the `live` digests, once more than half of all are stale; tells whether it did.

        What others appended since the last look stays, since their notes may not be known here yet.
        """
        with self._guard, contextlib.suppress(*TROUBLE):
            known, wanted = self._rows, frozenset(live)
            if 2 * sum(digest in wanted for digest in known.numbers.table) >= known.total:
                return False
            with locked_cache(self.path.parent):
                found = self._look(known)
                if found.generation != known.generation:
                    self._rows = found
                    return False
                kept = [d for d, number in found.numbers.items() if d in wanted or number >= known.total]
                self._begin(found, kept)
                self._rows = self._look(_NOTHING)
                return True
        return False

    def _begin(self, former: Rows, digests: Iterable[bytes]) -> None:
        """Starts a generation with some rows of the former one, while holding the lock. Raises OSError.

        Entries are taken over as they are: a row that was damaged since it was checked will be found out.
        """
        numbers = [former.numbers[digest] for digest in digests]
        generation = secrets.token_bytes(8)
        head = _HEADER.pack(_MAGIC, self.row_bytes, self._version, generation, 0)[:-4]
        header = head + zlib.crc32(head).to_bytes(4, "little")
        entries = b"".join(former.entries[number * _ENTRY.size :][: _ENTRY.size] for number in numbers)
        path = self._rows_path(generation)
        try:
            write_new(path, (self._row(former.matrix, number) for number in numbers))
            replace_unsynced(self.path, [header, entries])
        except BaseException:
            remove_quietly(path)
            raise
        self._remove_former(path.name)

    def _remove_former(self, current: str) -> None:
        rows_file = re.compile(re.escape(self.path.stem) + r"-[0-9a-f]{16}\.rows")
        for name in names_in(self.path.parent):
            if rows_file.fullmatch(name) and name != current:
                remove_quietly(self.path.with_name(name))

    def _write(self, found: Rows, digests: Sequence[bytes], rows: Sequence[memoryview]) -> None:
        with own_file(self._rows_path(found.generation), write=True) as handle:
            write_at(handle, found.total * self.row_bytes, rows)
        with own_file(self.path, write=True) as handle:
            write_at(handle, _HEADER.size + found.total * _ENTRY.size, [_entries(digests, rows)])

    def _look(self, known: Rows) -> Rows:
        for _ in range(_LOOKS):
            with contextlib.suppress(*TROUBLE):
                return self._read(known)
        return _NOTHING

    def _read(self, known: Rows) -> Rows:
        """What the files hold; only what came since `known` is read and checked. Raises one of TROUBLE."""
        with own_file(self.path) as table:
            generation = self._generation(read_up_to(table, _HEADER.size))
            rest = os.fstat(table).st_size - _HEADER.size
            if generation != known.generation or rest < len(known.entries):
                known = _NOTHING
            os.lseek(table, _HEADER.size + len(known.entries), os.SEEK_SET)
            entries = known.entries + read_up_to(table, rest - len(known.entries))
        entries = entries[: len(entries) // _ENTRY.size * _ENTRY.size]
        matrix = self._map(generation, len(entries) // _ENTRY.size)
        if len(matrix) < len(known.matrix):
            known = _NOTHING
        fresh = memoryview(entries)[len(known.entries) :]
        added = {digest: number for number, (digest, _) in enumerate(_ENTRY.iter_unpack(fresh), known.total)}
        sound = known.numbers.sound if known.generation else set()
        numbers = Numbers({**known.numbers.table, **added}, matrix, entries, self.row_bytes, sound)
        return Rows(numbers, matrix, entries, generation)

    def _generation(self, header: bytes) -> bytes:
        """The generation that a table's header names. Raises ValueError for no header of this version."""
        if len(header) != _HEADER.size:
            raise ValueError("no table")
        magic, row_bytes, version, generation, checksum = _HEADER.unpack(header)
        if (magic, row_bytes, version) != (_MAGIC, self.row_bytes, self._version):
            raise ValueError("another table")
        if zlib.crc32(header[:-4]) != checksum:
            raise ValueError("a damaged table")
        return bytes(generation)

    def _map(self, generation: bytes, total: int) -> memoryview:
        """The rows, whole ones only and `total` at most; the file may be cut off. Raises OSError, ValueError."""
        with own_file(self._rows_path(generation)) as rows:
            count = min(total, os.fstat(rows).st_size // self.row_bytes)
            if not count:
                return _NO_ROWS
            return memoryview(mmap.mmap(rows, count * self.row_bytes, access=mmap.ACCESS_READ))

    def _row(self, matrix: memoryview, number: int) -> memoryview:
        return matrix[number * self.row_bytes : (number + 1) * self.row_bytes]

    def _rows_path(self, generation: bytes) -> Path:
        return self.path.with_name(f"{self.path.stem}-{generation.hex()}.rows")


def _entries(digests: Sequence[bytes], rows: Sequence[memoryview]) -> bytes:
    pairs = zip(digests, rows, strict=True)
    return b"".join(_ENTRY.pack(digest, zlib.crc32(row, zlib.crc32(digest))) for digest, row in pairs)
