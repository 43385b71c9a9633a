"""Exports of mem0: a list of memories, each one text with its times, whom it is about, and what else was said."""

from __future__ import annotations

from hashlib import blake2s
from typing import Any, Final

from core.exchange.json_source import document_of, text
from core.exchange.records import (
    FormatError,
    LeftOut,
    Parsed,
    Record,
    Source,
    as_texts,
    tidy_record,
    time_of,
    title_of,
)
from core.model.infer import MetaInput

LISTS: Final = ("results", "memories")
TEXTS: Final = ("memory", "text")
_KEPT: Final = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "role", "metadata")


def read(source: Source) -> Parsed:
    """A note for each memory, its first sentence as the title; categories are tags."""
    records: list[Record] = []
    left_out: list[LeftOut] = []
    for file in source.files:
        document = document_of(file)
        items = (
            document
            if isinstance(document, list)
            else next(
                (
                    document[name]
                    for name in LISTS
                    if isinstance(document, dict) and isinstance(document.get(name), list)
                ),
                None,
            )
        )
        if items is None:
            raise FormatError('has no list of memories ("results")', file=file.name)
        for number, item in enumerate(items, 1):
            where = f"{file.name}: memory {number:,}"
            record = tidy_record(_memory(where, item)) if isinstance(item, dict) else None
            if record is None or not record.content:
                left_out.append(LeftOut(where, "holds no text"))
            else:
                records.append(record)
        relations = document.get("relations") if isinstance(document, dict) else None
        if isinstance(relations, list) and relations:
            left_out.append(LeftOut(file.name, _of_graph(len(relations))))
    return Parsed(tuple(records), None, tuple(left_out))


def _memory(where: str, item: dict[str, Any]) -> Record:
    content = next((found for name in TEXTS if (found := text(item.get(name)))), "")
    metadata = item.get("metadata")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    user = text(item.get("user_id")).strip()
    return Record(
        where=where,
        key=f"mem0 {text(item.get('id')) or blake2s(content.encode('utf-8', 'replace'), digest_size=8).hexdigest()}",
        title=title_of(content),
        content=content,
        derived=True,
        tags=(*as_texts(item.get("categories")), *as_texts(category)),
        meta=MetaInput(
            scope="user" if user else None,
            subject=f"user:{user}" if user else None,
            source="agent_reflection",
        ),
        created_at=time_of(item.get("created_at")),
        updated_at=time_of(item.get("updated_at")),
        fields={name: item[name] for name in _KEPT if item.get(name)},
    )


def _of_graph(count: int) -> str:
    return (
        "1 relation of its graph belongs to no memory"
        if count == 1
        else f"{count:,} relations of its graph belong to no memory"
    )
