"""Exports of engram: observations with title, text, type, project and times, beside sessions and prompts."""

from __future__ import annotations

import re
from typing import Any, Final

from core.exchange.json_source import document_of, text
from core.exchange.records import FormatError, LeftOut, Parsed, Record, Source, tidy_record, time_of, title_of
from core.model.infer import MetaInput

_NUGGET: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_-]{0,63}")
_KEPT: Final = (
    "session_id",
    "tool_name",
    "topic_key",
    "project",
    "scope",
    "last_seen_at",
    "review_after",
    "pinned",
)


def read(source: Source) -> Parsed:
    """A note for each observation that was not deleted. Sessions and prompts are no memories, and are named."""
    records: list[Record] = []
    left_out: list[LeftOut] = []
    for file in source.files:
        document = document_of(file)
        items = document.get("observations") if isinstance(document, dict) else None
        if not isinstance(items, list):
            raise FormatError('has no list of "observations"', file=file.name)
        for number, item in enumerate(items, 1):
            where = f"{file.name}: observation {number:,}"
            if isinstance(item, dict) and item.get("deleted_at"):
                left_out.append(LeftOut(where, "was deleted there"))
                continue
            record = tidy_record(_observation(where, item)) if isinstance(item, dict) else None
            if record is None or not record.content:
                left_out.append(LeftOut(where, "holds no text"))
            else:
                records.append(record)
        for name in ("sessions", "prompts"):
            held = document.get(name)
            if isinstance(held, list) and held:
                left_out.append(
                    LeftOut(
                        file.name,
                        f"{len(held):,} {name} are no memories"
                        if len(held) > 1
                        else f"1 {name[:-1]} is no memory",
                    )
                )
    return Parsed(tuple(records), None, tuple(left_out))


def _observation(where: str, item: dict[str, Any]) -> Record:
    content, title, kind = text(item.get("content")), text(item.get("title")), text(item.get("type")).strip()
    project, scope = text(item.get("project")).strip(), text(item.get("scope"))
    # Each machine counts its own from 1.
    named = (text(item.get(name)) for name in ("session_id", "created_at", "title"))
    own = text(item.get("sync_id")) or " ".join((str(item.get("id") or ""), *named))
    return Record(
        where=where,
        key=f"engram {own}"[:300],
        title=title or title_of(content),
        content=content,
        derived=not title,
        nugget=project if _NUGGET.fullmatch(project) else "",
        tags=tuple(filter(None, (kind,))),
        meta=MetaInput(
            scope={"project": "project", "personal": "user"}.get(scope),
            type="preference" if kind == "preference" else None,
            source="agent_reflection",
        ),
        created_at=time_of(item.get("created_at")),
        updated_at=time_of(item.get("updated_at")),
        names=(title,) if title else (),
        fields={name: item[name] for name in _KEPT if item.get(name)},
    )
