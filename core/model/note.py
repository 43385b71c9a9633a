"""A note as it stands in graph/graph.json: frozen, typed, with its unknown fields beside it; and what every write keeps
right on it: its vector's recipe, its tags and its links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from core.text.exact import basis_tokens

if TYPE_CHECKING:
    from core.model.snapshot import Snapshot

SCOPES: Final = ("self", "user", "shared", "project", "session")
TYPES: Final = ("fact", "note", "preference", "reflection", "self_model", "project", "relationship", "style")
SOURCES: Final = ("explicit_user", "agent_reflection", "tool_observation", "inferred", "system")
STABILITIES: Final = ("temporary", "durable")

# A name that no file uses, so that a field called "extra" in a file is an unknown field like any other.
EXTRA: Final = "<unknown fields>"

# A name that no other program gives a field of its own.
PAGE: Final = "nuggets-tui.page"

# Of most items, which hold it together: nothing is ever put into the unknown fields of an item.
_NO_EXTRA: Final[dict[str, Any]] = {}


def _no_extra() -> dict[str, Any]:
    return _NO_EXTRA


METADATA_FIELDS: Final = ("subject", "scope", "type", "source", "confidence", "stability")


class Link(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, gc=False):
    """A link to another note. Two links are the same link when target and reason are equal."""

    to: str
    reason: str = ""
    created_at: str = ""
    extra: dict[str, Any] = msgspec.field(default_factory=_no_extra, name=EXTRA)


class VectorSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The recipe that the original keeps instead of a vector: at most 20 strings and their joined length."""

    seed: int | float = 0
    basis: tuple[str, ...] = ()
    extra: dict[str, Any] = msgspec.field(default_factory=_no_extra, name=EXTRA)


class HiddenFact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A fact that was taken out of its file when its note was hidden; `index` is the place it had."""

    key: str
    value: str
    hits: int = 0
    last_hit_session: str = ""
    index: int = 0
    extra: dict[str, Any] = msgspec.field(default_factory=_no_extra, name=EXTRA)


class Page(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The page of Markdown that a note is, in a memory that is a folder of pages.

    file: its name there, with "/". text: all that it says, byte order mark and line ends included; of the page that
    lists the others, its own words. line: as of the last change that concerned it, the page's lines in that list, ""
    for none, None where that is not known; and of the list itself all that it said.
    """

    file: str
    text: str
    line: str | None = None


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
    page: Page | None = msgspec.field(default=None, name=PAGE)
    extra: dict[str, Any] = msgspec.field(default_factory=_no_extra, name=EXTRA)

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
OPTIONAL_FIELDS: Final = ("source_key", "last_rewritten_at", "archived_at", "hidden_fact", "page")


def replace(note: Note, **changes: Any) -> Note:
    """The note with some fields replaced."""
    return msgspec.structs.replace(note, **changes)


_NO_VECTOR: Final = VectorSpec()


def uncounted(note: Note) -> Note:
    """A note without what a counted recall changes: what it counts, and the recipe that nobody here answers from, which
    is set right beside it.
    """
    return replace(note, hits=0, last_hit_session="", last_accessed_at="", vector=_NO_VECTOR)


def to_file_dict(note: Note) -> dict[str, Any]:
    """The note as an object of the graph file: camelCase names, optional fields left out when unset."""
    shaped: dict[str, Any] = {}
    for name, file_name in FILE_NAMES.items():
        value = getattr(note, name)
        if value is None and name in OPTIONAL_FIELDS:
            continue
        shaped[file_name] = value if type(value) is str else plain_value(value)
    return shaped | note.extra


def plain_value(value: Any) -> Any:
    """A field's value as JSON's own types, unknown fields among the known ones."""
    if isinstance(value, msgspec.Struct):
        shaped = {
            file_name: plain_value(getattr(value, name)) for name, file_name in _file_names(type(value))
        }
        return shaped | getattr(value, "extra", {})
    if isinstance(value, (tuple, list)):
        return [item if type(item) is str else plain_value(item) for item in value]
    return value


@cache
def _file_names(kind: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    fields = msgspec.structs.fields(kind)
    return tuple((field.name, field.encode_name) for field in fields if field.encode_name != EXTRA)


BASIS_LIMIT: Final = 20
_TITLE_TOKENS: Final = 4
_CONTENT_TOKENS: Final = 6
_TAGS: Final = 6
_LINKS: Final = 4
_SYSTEM_TAGS: Final = frozenset(
    (*(f"scope:{scope}" for scope in SCOPES), *(f"type:{type_}" for type_ in TYPES))
)
_WHITE: Final = re.compile(r"\s+")


def vector_spec(note: Note) -> VectorSpec:
    """The recipe of a note's vector as the original computes it (`vector` in the file).

    Slices are taken before repeats are removed; `seed` is the length of the basis joined by "|" in UTF-16 units.
    """
    parts = [
        f"kind:{note.kind}", f"subject:{note.subject}", f"scope:{note.scope}", f"type:{note.type}",
        f"source:{note.source}", f"stability:{note.stability}", f"note:{note.id}",
        *(f"title:{token}" for token in basis_tokens(note.title, _TITLE_TOKENS)),
        *(f"content:{token}" for token in basis_tokens(note.content, _CONTENT_TOKENS)),
        *(f"tag:{tag}" for tag in note.tags[:_TAGS]), *(f"link:{link.to}" for link in note.links[:_LINKS]),
    ]  # fmt: skip
    basis = tuple(dict.fromkeys(parts))[:BASIS_LIMIT]
    return VectorSpec(seed=utf16_length("|".join(basis)), basis=basis, extra=note.vector.extra)


def utf16_length(text: str) -> int:
    """Length of a text in UTF-16 code units, the unit of JavaScript's `length`."""
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)


@lru_cache(maxsize=4096)
def normalise_tag(tag: str) -> str:
    """A tag as stored: lower case, white space as hyphens."""
    from core.text.normalise import normalise_line

    return _WHITE.sub("-", normalise_line(tag).lower())


def with_system_tags(note: Note) -> tuple[str, ...]:
    """The note's tags, lower-cased and without repeats, with its nugget, scope and type among them.

    Tags of another scope or type go; a right one keeps its place, a missing one is added.
    """
    scope, type_ = normalise_tag(f"scope:{note.scope}"), normalise_tag(f"type:{note.type}")
    tags = [tag for tag in dict.fromkeys(map(normalise_tag, note.tags)) if tag]
    kept = [tag for tag in tags if tag in (scope, type_) or tag not in _SYSTEM_TAGS]
    nugget = normalise_tag(note.nugget_name)
    if nugget not in kept:
        kept.insert(0, nugget)
    kept.extend(tag for tag in (scope, type_) if tag not in kept)
    return tuple(kept)


def custom_tags(note: Note) -> tuple[str, ...]:
    """Tags that a person or an agent gave: all but nugget, scope and type."""
    nugget = normalise_tag(note.nugget_name)
    return tuple(tag for tag in note.tags if tag != nugget and tag not in _SYSTEM_TAGS)


def sound_links(note: Note, exists: Callable[[str], bool]) -> tuple[Link, ...]:
    """The note's links without those to itself, to notes that are gone, or said twice."""
    return unique_links(link for link in note.links if link.to != note.id and exists(link.to))


def unique_links(links: Iterable[Link]) -> tuple[Link, ...]:
    """Links without repeats; the same link has the same target and reason."""
    found: dict[tuple[str, str], Link] = {}
    for link in links:
        found.setdefault((link.to, link.reason), link)
    return tuple(found.values())


def normalised_note(note: Note, exists: Callable[[str], bool]) -> Note:
    """The note with tags, links and vector recipe set right."""
    note = replace(note, links=sound_links(note, exists), tags=with_system_tags(note))
    return replace(note, vector=vector_spec(note))


# Where a note came from: the fact that it was made of, and the note that it disputes

ORIGIN: Final = "origin"


def origin_of_note(note: Note) -> dict[str, Any]:
    """What a note says of where it came from: {"memory", "fact", "model", "disputes"?}, empty for a note of others."""
    found = note.extra.get(ORIGIN)
    return found if isinstance(found, dict) else {}


def disputed_note(note: Note) -> str:
    """The id of the note that a visible note says otherwise than, while nobody decided between them; "" for none."""
    if not note.extra or note.hidden:
        return ""
    found = origin_of_note(note).get("disputes")
    return found if isinstance(found, str) and found != note.id else ""


def is_stated_preference(note: Note) -> bool:
    """Whether a note is a preference in a person's own words, and counts."""
    return note.type == "preference" and note.source == "explicit_user" and not note.hidden


def newer_preference(snapshot: Snapshot, note: Note) -> Note | None:
    """The newest preference that a person stated otherwise than this one since; None for none."""
    found, seen = None, {note.id}
    while is_stated_preference(note):
        disputing = snapshot.disputing.get(note.id, ())
        later = [one for one in disputing if is_stated_preference(one) and one.id not in seen]
        if not later:
            break
        note = found = max(later, key=lambda one: one.created_at)
        seen.add(note.id)
    return found
