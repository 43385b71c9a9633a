"""What a note says of where it came from: the fact that it was made of, and the note that it disputes."""

from __future__ import annotations

from typing import Any, Final

from core.model.note import Note

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
