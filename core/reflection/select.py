"""Which notes a pass looks at, and in what order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from core.model.note import Note

PINNED: Final = "pinned"
# Nugget, scope and type: with these tags alone a note has not been tagged by anyone.
_SYSTEM_TAGS: Final = 3


def pinned(note: Note) -> bool:
    """Whether the note bears the tag that keeps reflection away from it."""
    return PINNED in note.tags or PINNED in map(str.casefold, note.tags)


def needy_first(
    notes: Iterable[Note],
    *,
    nugget: str | None = None,
    scope: str | None = None,
    type: str | None = None,
    subject: str | None = None,
) -> list[Note]:
    """Visible notes without a pin that the filters let through, the most in need first.

    A note that lacks tags or links comes before one that has them, an older one before a younger one. The
    order needs no clock, so that a preview and the pass after it look at the same notes.
    """
    wanted = [
        note
        for note in notes
        if not note.hidden
        and not pinned(note)
        and nugget in (None, note.nugget_name)
        and scope in (None, note.scope)
        and type in (None, note.type)
        and subject in (None, note.subject)
    ]
    return sorted(wanted, key=_need)


def _need(note: Note) -> tuple[int, str, str]:
    lacks = (len(note.tags) <= _SYSTEM_TAGS) + (not note.links)
    return (-lacks, note.updated_at, note.id)
