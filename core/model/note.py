"""A note as it stands in graph/graph.json: frozen, typed, with its unknown fields beside it."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec

SCOPES: Final = ("self", "user", "shared", "project", "session")
TYPES: Final = ("fact", "note", "preference", "reflection", "self_model", "project", "relationship", "style")
SOURCES: Final = ("explicit_user", "agent_reflection", "tool_observation", "inferred", "system")
STABILITIES: Final = ("temporary", "durable")

# A name that no file uses, so that a field called "extra" in a file is an unknown field like any other.
EXTRA: Final = "<unknown fields>"

METADATA_FIELDS: Final = ("subject", "scope", "type", "source", "confidence", "stability")


class Link(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, gc=False):
    """A link to another note. Two links are the same link when target and reason are equal."""

    to: str
    reason: str = ""
    created_at: str = ""
    extra: dict[str, Any] = msgspec.field(default_factory=dict, name=EXTRA)


class VectorSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The recipe that the original keeps instead of a vector: at most 20 strings and their joined length."""

    seed: int | float = 0
    basis: tuple[str, ...] = ()
    extra: dict[str, Any] = msgspec.field(default_factory=dict, name=EXTRA)


class HiddenFact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A fact that was taken out of its file when its note was hidden; `index` is the place it had."""

    key: str
    value: str
    hits: int = 0
    last_hit_session: str = ""
    index: int = 0
    extra: dict[str, Any] = msgspec.field(default_factory=dict, name=EXTRA)


class Note(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, gc=False):
    """One note of the graph.

    Fields bear the names of the file format (camelCase there). Times are ISO 8601 strings in UTC with
    milliseconds. `confidence` lies in [0, 1]. `extra` holds fields of the file that this version does not
    know; they survive every write.
    """

    id: str
    nugget_name: str
    title: str
    content: str
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    vector: VectorSpec = VectorSpec()
    hidden: bool = False
    kind: str = "note"
    source_key: str | None = None
    hits: int = 0
    last_hit_session: str = ""
    created_at: str = ""
    updated_at: str = ""
    last_accessed_at: str = ""
    last_rewritten_at: str | None = None
    archived_at: str | None = None
    subject: str = ""
    scope: str = ""
    type: str = ""
    source: str = ""
    confidence: float = 0.0
    stability: str = ""
    hidden_fact: HiddenFact | None = None
    extra: dict[str, Any] = msgspec.field(default_factory=dict, name=EXTRA)

    @property
    def is_fact(self) -> bool:
        """Whether the note mirrors a fact of the fact layer."""
        return self.kind == "fact"

    @property
    def key(self) -> str:
        """The key of the fact that the note mirrors; its title for other notes."""
        return self.source_key if self.source_key is not None else self.title

    @property
    def durable(self) -> bool:
        """Whether the note is meant to outlive its session."""
        return self.stability != "temporary"


# Python field name -> name in the file. `extra` is spread over the object, never a field of its own.
FILE_NAMES: Final[dict[str, str]] = {
    field.name: field.encode_name for field in msgspec.structs.fields(Note) if field.name != "extra"
}
OPTIONAL_FIELDS: Final = ("source_key", "last_rewritten_at", "archived_at", "hidden_fact")


def replace(note: Note, **changes: Any) -> Note:
    """The note with some fields replaced."""
    return msgspec.structs.replace(note, **changes)


def to_file_dict(note: Note) -> dict[str, Any]:
    """The note as an object of the graph file: camelCase names, optional fields left out when unset."""
    shaped: dict[str, Any] = {}
    for name, file_name in FILE_NAMES.items():
        value = getattr(note, name)
        if value is None and name in OPTIONAL_FIELDS:
            continue
        shaped[file_name] = plain_value(value)
    return shaped | note.extra


def plain_value(value: Any) -> Any:
    """A field's value as JSON's own types, unknown fields among the known ones."""
    if isinstance(value, msgspec.Struct):
        shaped = {
            file_name: plain_value(getattr(value, name)) for name, file_name in _file_names(type(value))
        }
        return shaped | getattr(value, "extra", {})
    if isinstance(value, tuple | list):
        return [plain_value(item) for item in value]
    return value


@cache
def _file_names(kind: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    fields = msgspec.structs.fields(kind)
    return tuple((field.name, field.encode_name) for field in fields if field.encode_name != EXTRA)
