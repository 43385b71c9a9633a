"""Memories of other programs: lists of JSON objects (mem0, OpenMemory, mcp-memory-service, engram) and the graph of the
MCP reference server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2s
from typing import Any, Final
from unicodedata import normalize

from core.exchange.records import (
    FormatError,
    LeftOut,
    Parsed,
    Record,
    Reference,
    Source,
    SourceFile,
    as_texts,
    document_of,
    lines_of,
    place,
    text,
    tidy_record,
    time_of,
    title_of,
)
from core.model.infer import MetaInput

LISTS: Final = ("results", "memories", "observations")
_TEXTS: Final = ("memory", "text", "content")
_TAGS: Final = ("categories", "tags", "memory_type", "type")
_SCOPES: Final = {"project": "project", "personal": "user"}
_NUGGET: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEPT: Final = (
    "user_id", "agent_id", "app_id", "run_id", "actor_id", "role", "metadata", "expiration_date", "state", "session_id",
    "tool_name", "topic_key", "project", "scope", "last_seen_at", "review_after", "pinned",
)  # fmt: skip
# The last is what the first line of a fork's file is.
KINDS: Final = ("entity", "relation", "_aim")
_SAID: Final = ("content", "text", "observation", "value")
_TIMES: Final = ("createdAt", "created_at", "updatedAt", "updated_at")


# Lists of memories


def read_list(source: Source) -> Parsed:
    """A note for each memory that was not deleted. Other lists beside them, sessions and prompts, are named."""
    records: list[Record] = []
    left_out: list[LeftOut] = []
    for file in source.files:
        document = document_of(file)
        beside = document if isinstance(document, dict) else {}
        name = next((one for one in LISTS if isinstance(beside.get(one), list)), "")
        items = beside[name] if name else document
        if not isinstance(items, list):
            raise FormatError('has no list of memories ("results")', file=file.name)
        # In a backup of OpenMemory users and categories are named apart, by numbers of the database.
        user = _table(beside.get("user"))
        listed = beside.get("categories")
        categories = {
            text(one.get("id")): text(one.get("name"))
            for one in map(_table, listed if isinstance(listed, list) else ())
        }
        for number, item in enumerate(map(_table, items), 1):
            where = f"{file.name}: memory {number:,}"
            record = tidy_record(_memory(where, item, text(user.get("user_id")).strip(), categories))
            if item.get("deleted_at") or item.get("state") == "deleted":
                left_out.append(LeftOut(where, "was deleted there"))
            elif record is None or not record.content:
                left_out.append(LeftOut(where, "holds no text"))
            else:
                records.append(record)
        for other, held in beside.items():
            # Categories say more of the memories, and are none.
            if other not in (name, "categories") and isinstance(held, list) and held:
                left_out.append(LeftOut(file.name, f"its {other} ({len(held):,}) are no memories"))
        count = beside.get("count")
        if beside.get("next") and isinstance(count, int) and count > len(items):
            left_out.append(LeftOut(file.name, f"is one page: it holds {len(items):,} of {count:,} memories"))
    return Parsed(tuple(records), None, tuple(left_out))


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _memory(where: str, item: Mapping[str, Any], user: str, categories: Mapping[str, str]) -> Record:
    content = next((found for name in _TEXTS if (found := text(item.get(name)))), "")
    title, kind, project = (text(item.get(name)).strip() for name in ("title", "type", "project"))
    ids, user = item.get("category_ids"), user or text(item.get("user_id")).strip()
    named = (categories.get(text(one), "") for one in (ids if isinstance(ids, list) else ()))
    told = [item.get(name) for name in _TAGS] + [_table(item.get("metadata")).get("category")]
    # What names a memory wherever it was exported. Numbers do not: each machine counts its own from 1.
    key = next((found for name in ("sync_id", "id", "content_hash") if (found := text(item.get(name)))), "")
    if not key and item.get("id"):
        beside = (text(item.get(name)) for name in ("session_id", "created_at", "title"))
        key = " ".join((str(item["id"]), *beside))
    return Record(
        where=where,
        key=(key or blake2s(content.encode("utf-8", "replace"), digest_size=8).hexdigest())[:300],
        title=title or title_of(content),
        content=content,
        derived=not title,
        nugget=project if _NUGGET.fullmatch(project) else "",
        tags=(*(tag for one in told for tag in as_texts(one)), *filter(None, named)),
        meta=MetaInput(
            scope="user" if user else _SCOPES.get(text(item.get("scope"))),
            type="preference" if kind == "preference" else None,
            subject=f"user:{user}" if user else None,
            source="agent_reflection",
        ),
        created_at=time_of(item.get("created_at")),
        updated_at=time_of(item.get("updated_at")),
        names=(title,) if title else (),
        fields={name: item[name] for name in _KEPT if item.get(name)},
    )


# Entities and relations, one JSON object a line


def read_graph(source: Source) -> Parsed:
    """A note for each entity, its observations as bullets; a link for each relation, with its type as the reason."""
    entities: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    references: dict[str, dict[Reference, None]] = {}
    relations: list[tuple[str, str]] = []
    left_out: list[LeftOut] = []
    for where, value in (item for file in source.files for item in _items(file)):
        shaped, said = _table(value), ("name", "from", "to")
        name, start, end = (normalize("NFC", text(shaped.get(field)).strip()) for field in said)
        kind = shaped.get("type")
        if kind == "entity" and name:
            entities.setdefault(name, []).append((where, shaped))
        elif kind == "relation" and start and end:
            reason = text(shaped.get("relationType")).strip() or "related"
            references.setdefault(start, {})[Reference(end, reason)] = None
            relations.append((where, start))
        elif isinstance(value, FormatError):
            left_out.append(LeftOut(where, value.what))
        elif kind != KINDS[-1]:
            left_out.append(LeftOut(where, "is neither an entity with a name nor a relation"))
    found = (_entity(lines, tuple(references.get(name, ())), left_out) for name, lines in entities.items())
    records = tuple(filter(None, map(tidy_record, found)))
    for where, start in relations:
        if start not in entities:
            left_out.append(LeftOut(where, f"is a relation of {start[:60]!r}, which is no entity here"))
    return Parsed(records, None, tuple(left_out))


def _items(file: SourceFile) -> Iterator[tuple[str, Any]]:
    """What a file holds, each with where it stands: one object a line, or one document with two lists."""
    if b'"entities"' not in file.data[:100_000]:
        yield from ((place(file.name, number), value) for number, value in lines_of(file))
        return
    document = _table(document_of(file))
    for kind, name in (("entity", "entities"), ("relation", "relations")):
        held = document.get(name)
        for number, item in enumerate(held if isinstance(held, list) else (), 1):
            shaped = item | {"type": kind} if isinstance(item, dict) else item
            yield f"{file.name}: {kind} {number:,}", shaped


def _entity(
    lines: Sequence[tuple[str, dict[str, Any]]], references: tuple[Reference, ...], left_out: list[LeftOut]
) -> Record:
    """What a source says of one entity, on one line or several."""
    where, first = lines[0]
    observations: dict[str, None] = {}
    tags: dict[str, None] = {}
    times: list[str] = []
    for line, value in lines:
        said = value.get("observations") or []
        found = [_observed(one) for one in (said if isinstance(said, list) else [said])]
        if not all(found):
            left_out.append(LeftOut(line, "has observations that are no texts", partly=True))
        observations |= dict.fromkeys(filter(None, found))
        tags |= dict.fromkeys((*as_texts([value.get("entityType")]), *as_texts(value.get("tags"))))
        times += filter(None, (time_of(value.get(name)) for name in _TIMES))
    name = text(first["name"]).strip()
    return Record(
        where=where, key=f"entity {name}", title=name, names=(name,), references=references, tags=tuple(tags),
        content="\n".join(f"- {one}" for one in observations) or (*tags, name)[0],
        meta=MetaInput(source="agent_reflection"), created_at=min(times, default=""),
        updated_at=max(times, default=""),
    )  # fmt: skip


def _observed(said: object) -> str:
    """An observation, of which some forks make an object; "" for what is no text."""
    if isinstance(said, dict):
        said = next((said[name] for name in _SAID if isinstance(said.get(name), str)), "")
    return str(said).strip() if isinstance(said, str | int | float) else ""
