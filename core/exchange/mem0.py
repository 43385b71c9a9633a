"""Exports of mem0 and mcp-memory-service: memories as texts with times, tags, and whom they are about."""

from __future__ import annotations

from hashlib import blake2s
from typing import Any, Final, NamedTuple

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
# Backups of OpenMemory call the text so; elsewhere the name says little.
_CONTENT: Final = "content"
_KEPT: Final = (
    "user_id", "agent_id", "app_id", "run_id", "actor_id", "role", "metadata", "expiration_date", "state",
)  # fmt: skip


def read(source: Source) -> Parsed:
    """A note for each memory that was not deleted, its first sentence as the title; categories are tags."""
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
        whole = document if isinstance(document, dict) else {}
        backup = _Backup.of(whole)
        for number, item in enumerate(items, 1):
            where = f"{file.name}: memory {number:,}"
            if isinstance(item, dict) and (item.get("deleted_at") or item.get("state") == "deleted"):
                left_out.append(LeftOut(where, "was deleted there"))
                continue
            record = tidy_record(_memory(where, item, backup)) if isinstance(item, dict) else None
            if record is None or not record.content:
                left_out.append(LeftOut(where, "holds no text"))
            else:
                records.append(record)
        relations, count = whole.get("relations"), whole.get("count")
        if isinstance(relations, list) and relations:
            left_out.append(LeftOut(file.name, _of_graph(len(relations))))
        if whole.get("next") and isinstance(count, int) and count > len(items):
            left_out.append(LeftOut(file.name, f"is one page: it holds {len(items):,} of {count:,} memories"))
    return Parsed(tuple(records), None, tuple(left_out))


class _Backup(NamedTuple):
    """What a backup of OpenMemory says beside its memories; empty elsewhere. categories: names by id."""

    user: str
    categories: dict[str, str]

    @classmethod
    def of(cls, document: dict[str, Any]) -> _Backup:
        user, listed = document.get("user"), document.get("categories")
        return cls(
            text(user.get("user_id")).strip() if isinstance(user, dict) else "",
            {
                text(one.get("id")): text(one.get("name"))
                for one in (listed if isinstance(listed, list) else ())
                if isinstance(one, dict)
            },
        )


def _memory(where: str, item: dict[str, Any], backup: _Backup) -> Record:
    content = next((found for name in (*TEXTS, _CONTENT) if (found := text(item.get(name)))), "")
    metadata, ids = item.get("metadata"), item.get("category_ids")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    named = [backup.categories.get(text(one), "") for one in (ids if isinstance(ids, list) else ())]
    digest = blake2s(content.encode("utf-8", "replace"), digest_size=8).hexdigest()
    own = text(item.get("id")) or text(item.get("content_hash")) or digest
    # The user of a memory in a backup is a number of its database.
    user = backup.user or text(item.get("user_id")).strip()
    return Record(
        where=where,
        key=f"mem0 {own}",
        title=title_of(content),
        content=content,
        derived=True,
        tags=(
            *(tag for name in ("categories", "tags", "memory_type") for tag in as_texts(item.get(name))),
            *as_texts(category),
            *filter(None, named),
        ),
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
