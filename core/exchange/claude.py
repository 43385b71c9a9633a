"""The memory folder of Claude Code: a page for each subject, and MEMORY.md, which lists them or holds bullets."""

from __future__ import annotations

from typing import Any, Final

from core.exchange import front_matter
from core.exchange.bullets import bullets_of
from core.exchange.pages import (
    is_page,
    links_of,
    names_of,
    properties_of,
    prose,
    title_of,
    without_heading,
)
from core.exchange.records import (
    FormatError,
    LeftOut,
    Parsed,
    Record,
    Reference,
    Source,
    SourceFile,
    as_texts,
    place,
    text_of,
    tidy_record,
    time_of,
)
from core.model.infer import MetaInput

INDEX: Final = "MEMORY.md"
TYPES: Final = frozenset(("user", "feedback", "project", "reference"))
# What a type says of a memory here: whom it concerns, and of what kind it is.
_META: Final = {
    "user": MetaInput(scope="user", source="agent_reflection"),
    "feedback": MetaInput(scope="user", type="preference", source="agent_reflection"),
    "project": MetaInput(scope="project", source="agent_reflection"),
    "reference": MetaInput(scope="shared", source="agent_reflection"),
}
_OTHER: Final = MetaInput(source="agent_reflection")
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


def type_of(fields: dict[str, Any]) -> str:
    """The type that the front matter of a page names; "" for none that Claude Code knows."""
    inner = fields.get("metadata")
    said = fields.get("type", inner.get("type") if isinstance(inner, dict) else None)
    return said if isinstance(said, str) and said in TYPES else ""


def _page(file: SourceFile) -> Record:
    fields, body = front_matter.read(text_of(file))
    name, description = fields.get("name"), fields.get("description")
    title = title_of(file, fields.get("title", name), body)
    text = without_heading(body, title).strip("\n")
    if isinstance(description, str) and description.strip() and description.strip() not in text:
        text = f"{description.strip()}\n\n{text}"
    elif not text.strip():
        text = properties_of(fields)
    said = type_of(fields)
    links = dict.fromkeys(found for _, line in prose(body) for found in links_of(line))
    return Record(
        where=file.name,
        key=file.name,
        title=title,
        content=text,
        tags=(*([said] if said else []), *as_texts(fields.get("tags"))),
        meta=_META.get(said, _OTHER),
        created_at=time_of(fields.get("created")),
        updated_at=time_of(fields.get("updated")),
        names=names_of(file, fields, title),
        references=tuple(Reference(link, "linked") for link in links),
        fields={key: value for key, value in fields.items() if key not in _KNOWN},
    )


def _bullets(file: SourceFile, pages: set[str], left_out: list[LeftOut]) -> list[Record]:
    """What MEMORY.md says itself. A bullet that names a page is that page's line in the index."""
    found, lines = bullets_of(file.name, text_of(file))
    records = []
    for bullet in found:
        if any(f"{name}.md" in pages for name in links_of(bullet.content)):
            continue
        records.append(bullet.record(_OTHER))
    if lines:
        left_out.append(
            LeftOut(
                place(file.name, lines[0]),
                f"{len(lines):,} lines are no bullets" if len(lines) > 1 else "is no bullet",
            )
        )
    return records
