"""Masks the rows of a database, and searches files for what still holds a value."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import sqlite3
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from core.errors import NuggetsError
from core.folder import DATABASE_FILE
from core.model.masks import Masks
from core.storage.database import BUSY_SECONDS, DATABASE_ERRORS
from core.storage.files.atomic import read_file
from core.storage.safety.backups import DAMAGE

_ZLIB: Final = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_LARGEST: Final = 1 << 30
_LARGEST_PRESSED: Final = 64_000_000

Row = Mapping[str, Any]
# Given a table, the key of a row, and the columns that change.
WriteRow = Callable[[str, Row, Row], object]


def mask_rows(
    ask: Callable[[str], Sequence[Any]],
    masked: Callable[[str, Row], Row],
    write: WriteRow | None = None,
    tables: Iterable[str] | None = None,
) -> Counter[str]:
    """Writes each row of the tables that `masked` makes another one of; how many there are of each table.

    ask: answers a query with rows. write: None only counts. tables: all by default, but SQLite's own.
    """
    counts: Counter[str] = Counter()
    for table in own_tables(ask) if tables is None else tables:
        columns = ask(f"PRAGMA table_info({table})")
        names = [column[1] for column in columns]
        keys = [column[1] for column in columns if column[5]] or ["rowid"]
        for values in ask(f"SELECT {', '.join([*names, *keys])} FROM {table}"):
            row = dict(zip(names, values, strict=False))
            changes = {name: told for name, told in masked(table, row).items() if told != row[name]}
            if changes:
                counts[table] += 1
                if write is not None:
                    write(table, dict(zip(keys, values[len(names) :], strict=True)), changes)
    return counts


def own_tables(ask: Callable[[str], Sequence[Any]]) -> list[str]:
    """The tables without those that SQLite keeps for itself and for full-text indexes."""
    rows = ask("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")
    return [row[0] for row in rows if not row[0].startswith("sqlite_")]


def update_row(connection: sqlite3.Connection, clash: str, table: str, key: Row, changes: Row) -> None:
    """Changes columns of one row. clash: what becomes of a row that would be the same, in SQL's words."""
    columns = ", ".join(f"{name} = ?" for name in changes)
    where = " AND ".join(f"{name} IS ?" for name in key)
    values = (*changes.values(), *key.values())
    connection.execute(f"UPDATE OR {clash} {table} SET {columns} WHERE {where}", values)


def masked_cell(cell: Any, masks: Masks) -> Any:
    """A cell of a table, pressed or not, with the values masked; the same one when it holds none."""
    if isinstance(cell, str):
        return masks.data(cell.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    if not isinstance(cell, bytes):
        return cell
    with contextlib.suppress(zlib.error):
        text = zlib.decompress(cell) if _ZLIB.match(cell) else cell
        told = masks.data(text)
        return cell if told == text else told if text is cell else zlib.compress(told)
    return masks.data(cell)


class Left(NamedTuple):
    """A file that holds a value after all, or that cannot be looked into."""

    path: Path
    why: Literal["holds", "unreadable"]


def files_left(folders: Iterable[Path], masks: Masks) -> Iterator[Left]:
    """The files under these folders that hold a value, or that cannot be looked into. Never raises."""
    refused: list[OSError] = []
    for folder in folders:
        for within, _, names in os.walk(folder, onerror=refused.append):
            found = (file_left(Path(within, name), masks) for name in sorted(names))
            yield from (left for left in found if left is not None)
    for error in refused:
        if not isinstance(error, FileNotFoundError):
            yield Left(Path(error.filename), "unreadable")


def file_left(path: Path, masks: Masks) -> Left | None:
    """The same for one file. It is read as what it is: text, an archive, a database row by row."""
    try:
        # The index of a log of writes holds numbers alone, a socket nothing.
        if path.is_symlink() or not path.is_file() or path.name.endswith("-shm"):
            return None
        if path.name == DATABASE_FILE:
            holds = _database_holds(path, masks, "ro")
        else:
            if path.stat().st_size > _LARGEST:
                return Left(path, "unreadable")
            found = read_file(path)
            data = found[0] if found is not None else b""
            holds = _holds(data, masks)
            if not holds and data.startswith(b"SQLite format 3\0"):
                holds = _database_holds(path, masks, "ro&immutable=1")
    except (*DATABASE_ERRORS, *DAMAGE, NuggetsError):
        # One that is gone by now holds nothing.
        return Left(path, "unreadable") if os.path.lexists(path) else None
    return Left(path, "holds") if holds else None


def _holds(data: bytes, masks: Masks) -> bool:
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(_holds(archive.read(name), masks) for name in archive.namelist())
    if data.startswith(b"\x1f\x8b"):
        return masks.holds(gzip.decompress(data))
    if b"\0" in data or _ZLIB.match(data):
        # An object of git, a pack of them, a log of writes: what stands pressed in it is looked at, too.
        return masks.stands_in(data) or any(map(masks.stands_in, _unpressed(data)))
    return masks.holds(data)


def _unpressed(data: bytes) -> Iterator[bytes]:
    for found in _ZLIB.finditer(data):
        with contextlib.suppress(zlib.error):
            yield zlib.decompressobj().decompress(memoryview(data)[found.start() :], _LARGEST_PRESSED)


def _database_holds(path: Path, masks: Masks, mode: str) -> bool:
    # One in use through SQLite alone: closing the file would take away the locks that this process has on it.
    address = f"{path.absolute().as_uri()}?mode={mode}"
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as reader:
        tables = own_tables(lambda query: reader.execute(query).fetchall())
        reader.text_factory = bytes
        cells = (cell for table in tables for row in reader.execute(f"SELECT * FROM {table}") for cell in row)
        # What was deleted lies in the pages still.
        return any(masked_cell(cell, masks) != cell for cell in cells) or masks.stands_in(reader.serialize())
