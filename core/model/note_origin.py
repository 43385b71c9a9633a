"""What a note says of where it came from: the fact that it was made of, and the note that it disputes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from core.model.note import Note

if TYPE_CHECKING:
    from core.model.snapshot import Snapshot

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
