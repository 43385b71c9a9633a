"""Chooses the notes to promote, their sections, and the order of sections."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final

from core.model.names import DEFAULT_NUGGET
from core.model.note import Note
from core.model.secrets import secrets_of
from core.promotion.bullet import one_line
from core.settings import PromotionSettings

FIRST_SECTIONS: Final = ("learnings", "preferences")
FIXED_SECTIONS: Final = ("learnings", "preferences", "assistant-self", "shared-context", "user")

_OF_A_PERSON: Final = ("user", "self")
_NO_PART_OF_A_NAME: Final = re.compile(r"[\W_]+")
# Tells of a note whether it belongs on a page.
Fits = Callable[[Note], bool]


def everything(_: Note) -> bool:
    """Where every note belongs."""
    return True


def fits_into(project: str | None, *, unattended: bool) -> Fits:
    """Tells which notes belong on the page of a project, by its name: "" where that is not known, None for a page of no
    project. unattended: nobody looks at what is written, so that what is not about the person has to be the project's.
    """
    if project is None:
        return everything
    wanted = _folded(project)

    def fits(note: Note) -> bool:
        if note.scope in _OF_A_PERSON or (note.scope != "project" and not unattended):
            return True
        return bool(wanted) and _folded(note.nugget_name) == wanted

    return fits


def _folded(name: str) -> str:
    return _NO_PART_OF_A_NAME.sub("-", unicodedata.normalize("NFKC", name).casefold()).strip("-")


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


def often_recalled(note: Note, settings: PromotionSettings) -> bool:
    """Whether a note was recalled often enough."""
    return note.hits >= settings.threshold


def unfit(note: Note) -> str:
    """Why a note must not stand in MEMORY.md, however often it is recalled; "" for one that may."""
    if note.hidden:
        return "hidden"
    if not note.durable:
        return "temporary"
    if not note.content.strip():
        return "empty"
    secret = secret_in(note)
    return f"looks like a credential: {secret}" if secret else ""


def secret_in(note: Note) -> str:
    """The kind of credential that a note looks to hold, "" for none."""
    found = secrets_of(note)
    return found[0].kind if found else ""


def managed_sections(notes: Iterable[Note]) -> frozenset[str]:
    """Sections that promotion may write into: the fixed ones and the nuggets' names."""
    return frozenset([*FIXED_SECTIONS, *(one_line(note.nugget_name) for note in notes)])
