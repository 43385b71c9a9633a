"""Facts as a table: comma-separated values with a line of names, as spreadsheets write and read them."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from core.exchange.records import (
    FormatError,
    LeftOut,
    Parsed,
    Record,
    Source,
    SourceFile,
    place,
    text_of,
    tidy_record,
)
from core.model.snapshot import Snapshot

COLUMNS: Final = ("nugget", "key", "value", "hits", "last_hit_session")
_LONGEST: Final = 1 << 27
_SEPARATORS: Final = (",", ";", "\t")


def write(snapshot: Snapshot, without: Collection[str] = ()) -> bytes:
    """The facts of a memory, nugget after nugget in the order of their files. without: "nugget: key" of facts."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(COLUMNS)
    for nugget in snapshot.nuggets:
        for fact in nugget.facts:
            if f"{nugget.name}: {fact.key}" not in without:
                writer.writerow((nugget.name, fact.key, fact.value, fact.hits, fact.last_hit_session))
    return made.getvalue().encode("utf-8", "replace")


def header_of(line: str) -> tuple[str, list[str]] | None:
    """The separator of a table of facts and the names of its columns, by its first line; None for no such table."""
    for separator in _SEPARATORS:
        names = [name.strip().strip('"').lower() for name in line.split(separator)]
        if "key" in names and "value" in names:
            return separator, names
    return None


def read(source: Source) -> Parsed:
    """A fact for each row; one without key or value is named."""
    found = [row for file in source.files for row in _rows(file)]
    records = tuple(row for row in found if isinstance(row, Record))
    return Parsed(records, None, tuple(row for row in found if isinstance(row, LeftOut)))


def _rows(file: SourceFile) -> Iterator[Record | LeftOut]:
    text = text_of(file)
    found = header_of(text.split("\n", 1)[0])
    if found is None:
        raise FormatError('has no columns "key" and "value" in its first line', file=file.name, line=1)
    csv.field_size_limit(_LONGEST)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=found[0], strict=True)
    next(reader)
    line = 2
    try:
        for row in reader:
            record = _fact(place(file.name, line), dict(zip(found[1], row, strict=False)))
            if record is not None:
                yield record
            elif any(cell.strip() for cell in row):
                yield LeftOut(place(file.name, line), "has no key or no value")
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(f"is not a table ({error})", file=file.name, line=line) from error


def _fact(where: str, row: Mapping[str, str]) -> Record | None:
    key, hits = row.get("key", ""), row.get("hits", "").strip()
    record = Record(
        where=where,
        key=f"{row.get('nugget', '')}: {key}"[:300],
        kind="fact",
        title=key,
        content=row.get("value", ""),
        nugget=row.get("nugget", "").strip(),
        hits=int(hits) if hits.isascii() and hits.isdigit() and len(hits) < 10 else 0,
        last_hit_session=row.get("last_hit_session", ""),
    )
    return tidy_record(record) if key.strip() else None
