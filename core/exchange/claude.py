"""The memory folder of Claude Code: a page for each subject, and MEMORY.md, which lists them or holds bullets."""

from __future__ import annotations

from typing import Final

from core.exchange import front_matter
from core.exchange.bullets import bullets_of
from core.exchange.dialect import CLAUDE
from core.exchange.memory_index import INDEX
from core.exchange.pages import is_page, links_of, properties_of
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

_KNOWN: Final = frozenset(("name", "title", "description", "type", "metadata", "tags", "created", "updated"))


def read(source: Source) -> Parsed:
    """A note for each page, and one for each bullet of MEMORY.md that does not only point to a page."""
    records: list[Record] = []
    left_out: list[LeftOut] = []
    pages = {file.name for file in source.files}
    for file in source.files:
        if not is_page(file.name):
            continue
        try:
            if file.name.rpartition("/")[2] == INDEX:
                records += _bullets(file, pages, left_out)
                continue
            record = tidy_record(_page(file))
            if record is None or not record.content:
                left_out.append(LeftOut(file.name, "is empty"))
            else:
                records.append(record)
        except FormatError as error:
            left_out.append(LeftOut(place(error.file or file.name, error.line), error.what))
    return Parsed(tuple(records), None, tuple(left_out))


def _page(file: SourceFile) -> Record:
    text = text_of(file)
    fields, _ = front_matter.read(text)
    said = CLAUDE.read(file.name, text)
    return Record(
        where=file.name,
        key=file.name,
        title=said.title,
        content=said.content.strip("\n") or properties_of(fields),
        tags=said.tags,
        meta=said.meta,
        created_at=said.created,
        updated_at=said.updated,
        names=said.names,
        references=said.links,
        fields={key: value for key, value in fields.items() if key not in _KNOWN},
    )


def _bullets(file: SourceFile, pages: set[str], left_out: list[LeftOut]) -> list[Record]:
    """What MEMORY.md says itself. A bullet that names a page is that page's line in the index."""
    found, lines = bullets_of(file.name, text_of(file))
    records = []
    for bullet in found:
        if any(f"{name}.md" in pages for name in links_of(bullet.content)):
            continue
        records.append(bullet.record(CLAUDE.usual))
    if lines:
        left_out.append(
            LeftOut(
                place(file.name, lines[0]),
                f"{len(lines):,} lines are no bullets" if len(lines) > 1 else "is no bullet",
            )
        )
    return records
