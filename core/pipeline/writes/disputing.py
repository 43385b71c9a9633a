"""Notes of open changes: how a note that disputes another is marked, and how it takes the other's place. Pure."""

from __future__ import annotations

from typing import Final

from core.model.note import Link, Note, custom_tags, replace, unique_links
from core.pipeline.writes.note_of import ORIGIN, origin_of_note, title_of

# The tag of such a note and the reason of its link; its title says it in words.
DISPUTES: Final = "disputes"
REPLACES: Final = "replaces"
_LONGEST_TITLE: Final = 72


def disputing_title(content: str, old: Note) -> str:
    """The title of a note that disputes another: what it says, and the title of the other."""
    other = old.title if len(old.title) <= _LONGEST_TITLE else f"{old.title[: _LONGEST_TITLE - 1].rstrip()}…"
    return f"{title_of(content)} ({DISPUTES}: {other})"


def disputing(note: Note, old: Note, at: str) -> Note:
    """A new note, marked as disputing an old one. at: ISO 8601 in UTC."""
    title = disputing_title(note.content, old)
    return replace(
        note,
        title=title,
        tags=(*note.tags, DISPUTES),
        links=unique_links((*note.links, Link(to=old.id, reason=DISPUTES, created_at=at))),
        extra=note.extra | {ORIGIN: origin_of_note(note) | {"disputes": old.id, "title": title}},
    )


def settled(note: Note) -> Note:
    """The note without the mark; a title that a person gave it since stays."""
    origin = origin_of_note(note)
    marked, kept = origin.get("title"), {k: v for k, v in origin.items() if k not in ("disputes", "title")}
    return replace(
        note,
        title=title_of(note.content) if note.title == marked else note.title,
        tags=tuple(tag for tag in note.tags if tag != DISPUTES),
        links=tuple(link for link in note.links if link.reason != DISPUTES),
        extra=note.extra | {ORIGIN: kept},
    )


def replacing(note: Note, old: Note, at: str) -> Note:
    """The note in the place of an old one: with its own tags and its links, and a link to it."""
    links = (
        *note.links,
        Link(to=old.id, reason=REPLACES, created_at=at),
        *(link for link in old.links if link.to not in (note.id, old.id) and link.reason != DISPUTES),
    )
    tags = dict.fromkeys((*note.tags, *(tag for tag in custom_tags(old) if tag != DISPUTES)))
    return replace(note, tags=tuple(tags), links=unique_links(links))
