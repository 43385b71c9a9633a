"""The memory of the MCP reference server: entities with observations, and relations, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from core.exchange.json_source import document_of, lines_of, text, texts
from core.exchange.records import (
    FormatError,
    LeftOut,
    Parsed,
    Record,
    Reference,
    Source,
    SourceFile,
    place,
    tidy_record,
)
from core.model.infer import MetaInput


def read(source: Source) -> Parsed:
    """A note for each entity, its observations as bullets; a link for each relation, with its type as the reason."""
    entities: dict[str, Record] = {}
    relations: list[tuple[str, str, str, str]] = []
    left_out: list[LeftOut] = []
    for file in source.files:
        for where, value in _items(file):
            if isinstance(value, FormatError):
                left_out.append(LeftOut(where, value.what))
                continue
            kind = text(value.get("type"))
            name, start, end = (text(value.get(field)).strip() for field in ("name", "from", "to"))
            if kind == "entity" and name:
                known = entities.get(name)
                made = _entity(file, where, name, value)
                entities[name] = made if known is None else _joined(known, made)
            elif kind == "relation" and start and end:
                relations.append((where, start, end, text(value.get("relationType")).strip() or "related"))
            else:
                left_out.append(LeftOut(where, "is neither an entity with a name nor a relation"))
    references: dict[str, dict[Reference, None]] = {}
    for where, start, end, reason in relations:
        if start in entities:
            references.setdefault(start, {})[Reference(end, reason)] = None
        else:
            left_out.append(LeftOut(where, f"is a relation of {start[:60]!r}, which is no entity here"))
    records = (
        msgspec.structs.replace(one, references=tuple(references.get(name, ())))
        for name, one in entities.items()
    )
    return Parsed(tuple(found for one in records if (found := tidy_record(one))), None, tuple(left_out))


def _items(file: SourceFile) -> Iterator[tuple[str, Any]]:
    """The objects of a file, each with where it stands: one a line, or lists of entities and relations."""
    if file.data.lstrip()[:1] == b"{" and b'"entities"' in file.data[:100_000]:
        try:
            whole = document_of(file)
        except FormatError:
            whole = None
        if isinstance(whole, dict) and isinstance(whole.get("entities"), list):
            for kind, name in (("entity", "entities"), ("relation", "relations")):
                held = whole.get(name)
                for number, item in enumerate(held if isinstance(held, list) else (), 1):
                    where = f"{file.name}: {kind} {number:,}"
                    yield (
                        where,
                        {**item, "type": kind} if isinstance(item, dict) else FormatError("is no object"),
                    )
            return
    for number, value in lines_of(file):
        where = place(file.name, number)
        yield where, value if isinstance(value, dict | FormatError) else FormatError("is no object")


def _entity(file: SourceFile, where: str, name: str, value: dict[str, Any]) -> Record:
    observations = [one.strip() for one in texts(value.get("observations")) if one.strip()]
    kind = text(value.get("entityType")).strip()
    return Record(
        where=where,
        key=f"entity {name}",
        title=name,
        content="\n".join(f"- {one}" for one in observations) or kind or name,
        tags=(kind,) if kind else (),
        meta=MetaInput(source="agent_reflection"),
        names=(name,),
    )


def _joined(first: Record, second: Record) -> Record:
    """An entity that stands twice, with the observations of both."""
    lines = dict.fromkeys((*first.content.split("\n"), *second.content.split("\n")))
    return msgspec.structs.replace(
        first, content="\n".join(lines), tags=tuple(dict.fromkeys((*first.tags, *second.tags)))
    )
