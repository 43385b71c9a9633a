"""The memory of the MCP reference server: entities with observations, and relations, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final
from unicodedata import normalize

from core.exchange.json_source import document_of, lines_of, text
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
    tidy_record,
    time_of,
)
from core.model.infer import MetaInput

# The last is what the first line of a fork's file is.
KINDS: Final = ("entity", "relation", "_aim")
_TEXTS: Final = ("content", "text", "observation", "value")
_TIMES: Final = ("createdAt", "created_at", "updatedAt", "updated_at")
_Line = tuple[str, dict[str, Any]]


def read(source: Source) -> Parsed:
    """A note for each entity, its observations as bullets; a link for each relation, with its type as the reason."""
    entities: dict[str, list[_Line]] = {}
    references: dict[str, dict[Reference, None]] = {}
    relations: list[tuple[str, str]] = []
    left_out: list[LeftOut] = []
    for where, value in (item for file in source.files for item in _items(file)):
        shaped = value if isinstance(value, dict) else {}
        kind = shaped.get("type")
        name, start, end = (
            normalize("NFC", text(shaped.get(field)).strip()) for field in ("name", "from", "to")
        )
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
    records = [
        tidy_record(_entity(lines, tuple(references.get(name, ())), left_out))
        for name, lines in entities.items()
    ]
    left_out += [
        LeftOut(where, f"is a relation of {start[:60]!r}, which is no entity here")
        for where, start in relations
        if start not in entities
    ]
    return Parsed(tuple(filter(None, records)), None, tuple(left_out))


def _items(file: SourceFile) -> Iterator[tuple[str, Any]]:
    """What a file holds, each with where it stands: one object a line, or one document with two lists."""
    if b'"entities"' in file.data[:100_000]:
        document = document_of(file)
        for kind, name in (("entity", "entities"), ("relation", "relations")):
            held = document.get(name) if isinstance(document, dict) else None
            for number, item in enumerate(held if isinstance(held, list) else (), 1):
                yield (
                    f"{file.name}: {kind} {number:,}",
                    item | {"type": kind} if isinstance(item, dict) else item,
                )
        return
    for number, value in lines_of(file):
        yield place(file.name, number), value


def _entity(lines: Sequence[_Line], references: tuple[Reference, ...], left_out: list[LeftOut]) -> Record:
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
        where=where,
        key=f"entity {name}",
        title=name,
        content="\n".join(f"- {one}" for one in observations) or (*tags, name)[0],
        tags=tuple(tags),
        meta=MetaInput(source="agent_reflection"),
        created_at=min(times, default=""),
        updated_at=max(times, default=""),
        names=(name,),
        references=references,
    )


def _observed(said: object) -> str:
    """An observation, of which some forks make an object; "" for what is no text."""
    if isinstance(said, dict):
        said = next((said[name] for name in _TEXTS if isinstance(said.get(name), str)), "")
    return str(said).strip() if isinstance(said, str | int | float) else ""
