"""The memory of the MCP reference server: entities with observations, and relations, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from unicodedata import normalize

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
    time_of,
)
from core.model.infer import MetaInput

# What the first line of a fork's file is.
MARKER: Final = "_aim"
KINDS: Final = ("entity", "relation", MARKER)
_TEXTS: Final = ("content", "text", "observation", "value")


def read(source: Source) -> Parsed:
    """A note for each entity, its observations as bullets; a link for each relation, with its type as the reason."""
    entities: dict[str, _Entity] = {}
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
                known = entities.setdefault(normalize("NFC", name), _Entity(where, name))
                if known.add(value):
                    left_out.append(LeftOut(where, "has observations that are no texts"))
            elif kind == "relation" and start and end:
                relations.append((where, start, end, text(value.get("relationType")).strip() or "related"))
            elif kind != MARKER:
                left_out.append(LeftOut(where, "is neither an entity with a name nor a relation"))
    references: dict[str, dict[Reference, None]] = {}
    for where, start, end, reason in relations:
        if normalize("NFC", start) in entities:
            references.setdefault(normalize("NFC", start), {})[Reference(end, reason)] = None
        else:
            left_out.append(LeftOut(where, f"is a relation of {start[:60]!r}, which is no entity here"))
    records = (one.record(tuple(references.get(name, ()))) for name, one in entities.items())
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


class _Entity:
    """What a source says of one entity, on one line or several."""

    def __init__(self, where: str, name: str) -> None:
        self._where, self._name = where, name
        self._observations: dict[str, None] = {}
        self._tags: dict[str, None] = {}
        self._times: list[str] = []

    def add(self, value: dict[str, Any]) -> int:
        """One line; how many of its observations are no texts."""
        said = value.get("observations") or []
        given = said if isinstance(said, list) else [said]
        found = [observed for one in given if (observed := _observed(one))]
        self._observations |= dict.fromkeys(found)
        self._tags |= dict.fromkeys((text(value.get("entityType")).strip(), *texts(value.get("tags"))))
        times = (time_of(value.get(name)) for name in ("createdAt", "created_at", "updatedAt", "updated_at"))
        self._times += filter(None, times)
        return len(given) - len(found)

    def record(self, references: tuple[Reference, ...]) -> Record:
        """The entity as a note, its observations as bullets."""
        tags = tuple(filter(None, self._tags))
        return Record(
            where=self._where,
            key=f"entity {self._name}",
            title=self._name,
            content="\n".join(f"- {one}" for one in self._observations) or (*tags, self._name)[0],
            tags=tags,
            meta=MetaInput(source="agent_reflection"),
            created_at=min(self._times, default=""),
            updated_at=max(self._times, default=""),
            names=(self._name,),
            references=references,
        )


def _observed(said: object) -> str:
    """An observation, of which some forks make an object; "" for what is no text."""
    if isinstance(said, dict):
        said = next((said[name] for name in _TEXTS if isinstance(said.get(name), str)), "")
    return str(said).strip() if isinstance(said, str | int | float) else ""
