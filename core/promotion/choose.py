"""Which notes are promoted, into which section, and in what order sections stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from core.model.names import DEFAULT_NUGGET
from core.model.note import Note
from core.promotion.bullet import one_line
from core.settings import PromotionSettings
from core.text.secrets import looks_secret

FIRST_SECTIONS: Final = ("learnings", "preferences")
FIXED_SECTIONS: Final = ("learnings", "preferences", "assistant-self", "shared-context", "user")


def section_of(note: Note) -> str:
    """The section a note belongs to: whom it is about, then a tag, then its nugget."""
    if note.subject == "assistant:self":
        return "assistant-self"
    if note.subject.startswith("user:"):
        return "user"
    if note.scope in ("shared", "project"):
        return "shared-context"
    for tag in ("preferences", "learnings"):
        if tag in note.tags:
            return tag
    return one_line(note.nugget_name) or DEFAULT_NUGGET


def section_order(section: str) -> tuple[int, str]:
    """A sort key: learnings, preferences, then alphabetical."""
    place = FIRST_SECTIONS.index(section) if section in FIRST_SECTIONS else len(FIRST_SECTIONS)
    return place, section


def worth_promoting(note: Note, settings: PromotionSettings) -> bool:
    """Whether a note is durable, says something and was recalled often enough; hidden or not."""
    return note.durable and note.hits >= settings.threshold and bool(note.content.strip())


def holds_secret(note: Note) -> bool:
    """Whether a note looks as if it held a credential."""
    return looks_secret(f"{note.title}: {note.content}") is not None


def managed_sections(notes: Iterable[Note]) -> frozenset[str]:
    """Sections that promotion may write into: the fixed ones and the nuggets' names."""
    return frozenset([*FIXED_SECTIONS, *(one_line(note.nugget_name) for note in notes)])
