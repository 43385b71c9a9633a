"""Facts as a table: comma-separated values with a line of names, as spreadsheets write and read them."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection
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


def header_of(line: str) -> tuple[str, dict[str, int]] | None:
    """The separator of a table of facts and the places of its columns, by its first line; None for no such table."""
    for separator in _SEPARATORS:
        names = [name.strip().strip('"').lower() for name in line.split(separator)]
        if "key" in names and "value" in names:
            return separator, {name: place for place, name in reversed(list(enumerate(names)))}
    return None


def read(source: Source) -> Parsed:
    """A fact for each row; one without key or value is named."""
    records: list[Record] = []
    left_out: list[LeftOut] = []
    for file in source.files:
        _read_file(file, records, left_out)
    return Parsed(tuple(records), None, tuple(left_out))


def _read_file(file: SourceFile, records: list[Record], left_out: list[LeftOut]) -> None:
    text = text_of(file)
    found = header_of(text.split("\n", 1)[0])
    if found is None:
        raise FormatError('has no columns "key" and "value" in its first line', file=file.name, line=1)
    separator, columns = found
    csv.field_size_limit(_LONGEST)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    next(reader)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise FormatError(f"is not a table ({error})", file=file.name, line=line) from error
        if row is None:
            return
        record = _fact(file, line, row, columns)
        if record is not None:
            records.append(record)
        elif any(cell.strip() for cell in row):
            left_out.append(LeftOut(place(file.name, line), "has no key or no value"))


def _fact(file: SourceFile, line: int, row: list[str], columns: dict[str, int]) -> Record | None:
    def cell(name: str) -> str:
        at = columns.get(name, len(row))
        return row[at] if at < len(row) else ""

    hits = cell("hits").strip()
    return (
        tidy_record(
            Record(
                where=place(file.name, line),
                key=f"{cell('nugget')}: {cell('key')}"[:300],
                kind="fact",
                title=cell("key"),
                content=cell("value"),
                nugget=cell("nugget").strip(),
                hits=int(hits) if hits.isascii() and hits.isdigit() and len(hits) < 10 else 0,
                last_hit_session=cell("last_hit_session"),
            )
        )
        if cell("key").strip()
        else None
    )
