"""Chooses the notes to promote and their sections, and tells what is left out and why."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable
from typing import Final, NamedTuple

from core.model.names import DEFAULT_NUGGET
from core.model.note import Note
from core.model.secrets import secrets_of
from core.promotion.bullet import one_line, title_of
from core.promotion.result import LeftOut
from core.settings import PromotionSettings
from core.text.secrets import looks_secret

FIRST_SECTIONS: Final = ("preferences", "learnings")
FIXED_SECTIONS: Final = (*FIRST_SECTIONS, "assistant-self", "shared-context", "user")
_MOST: Final = 10
_NO_TITLE: Final = "(its title looks like a credential)"


class Admission(NamedTuple):
    """Which notes may stand on a page. owner: the project that a note belongs to instead, "" for a note that may.
    unasked: whether a note may be added though nobody looks at what is written. outdated: whether a note names code
    that is gone, so that it is not added. takes_out: whether such a note is taken out, too: where somebody looks.
    """

    owner: Callable[[Note], str] = lambda _: ""
    unasked: Callable[[Note], bool] = lambda _: True
    outdated: Callable[[Note], bool] = lambda _: False
    takes_out: bool = False


EVERY_NOTE: Final = Admission()


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
    """A sort key: preferences, learnings, then alphabetical."""
    place = FIRST_SECTIONS.index(section) if section in FIRST_SECTIONS else len(FIRST_SECTIONS)
    return place, section


def managed_sections(notes: Iterable[Note]) -> frozenset[str]:
    """Sections that promotion may write into: the fixed ones and the nuggets' names."""
    return frozenset([*FIXED_SECTIONS, *(one_line(note.nugget_name) for note in notes)])


def often_recalled(note: Note, settings: PromotionSettings) -> bool:
    """Whether a note that says something was recalled often enough."""
    return note.hits >= settings.threshold and bool(note.content.strip())


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


def below(notes: Iterable[Note], settings: PromotionSettings, there: Collection[str]) -> tuple[LeftOut, ...]:
    """The ten notes nearest below the threshold that were recalled at all, the nearest and latest first.

    there: ids of notes that stand in the file already.
    """
    near = [
        note
        for note in notes
        if 0 < note.hits < settings.threshold and note.id not in there and not note.hidden and note.durable
    ]
    # A few more than are shown: the look for secrets is what takes time.
    nearest = heapq.nlargest(3 * _MOST, near, key=lambda note: (note.hits, note.last_accessed_at, note.id))
    fit = [note for note in nearest if not unfit(note)][:_MOST]
    return tuple(
        LeftOut(note.id, title_of(note), section_of(note), note.hits, missing=settings.threshold - note.hits)
        for note in fit
    )


def held_back(notes: Iterable[Note], settings: PromotionSettings) -> tuple[LeftOut, ...]:
    """Visible notes that are recalled often enough, and are temporary or look to hold a secret; in file order."""
    found = []
    for note in notes:
        if note.hidden or not often_recalled(note, settings):
            continue
        reason = unfit(note)
        if reason:
            title = _NO_TITLE if looks_secret(note.title) else title_of(note)
            secret = bool(secret_in(note))
            found.append(LeftOut(note.id, title, section_of(note), note.hits, reason=reason, secret=secret))
    return tuple(found)
