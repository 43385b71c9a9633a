"""What every write keeps right on a note: its vector's recipe, its tags and its links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from core.model.note import SCOPES, TYPES, Link, Note, VectorSpec, replace
from core.text.normalise import normalise_line
from core.text.tokens import basis_tokens

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
        f"kind:{note.kind}",
        f"subject:{note.subject}",
        f"scope:{note.scope}",
        f"type:{note.type}",
        f"source:{note.source}",
        f"stability:{note.stability}",
        f"note:{note.id}",
        *(f"title:{token}" for token in basis_tokens(note.title)[:_TITLE_TOKENS]),
        *(f"content:{token}" for token in basis_tokens(note.content)[:_CONTENT_TOKENS]),
        *(f"tag:{tag}" for tag in note.tags[:_TAGS]),
        *(f"link:{link.to}" for link in note.links[:_LINKS]),
    ]
    basis = tuple(dict.fromkeys(parts))[:BASIS_LIMIT]
    return VectorSpec(seed=utf16_length("|".join(basis)), basis=basis, extra=note.vector.extra)


def utf16_length(text: str) -> int:
    """Length of a text in UTF-16 code units, the unit of JavaScript's `length`."""
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)


@lru_cache(maxsize=4096)
def normalise_tag(tag: str) -> str:
    """A tag as stored: lower case, white space as hyphens."""
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
