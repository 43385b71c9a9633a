"""Where a note comes from: who made it and who changed it last, as far as the log tells."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import NuggetsError
from core.model.change import Author
from core.model.names import parse_iso

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.note import Note

# A note bears the time at which its change was made; the entry of the log follows within moments.
_AT_ONCE: Final = timedelta(minutes=1)
SOURCES: Final = {
    "explicit_user": "from the user",
    "agent_reflection": "from an agent",
    "tool_observation": "from a tool",
    "inferred": "inferred",
    "system": "from the system",
}


class Origin(msgspec.Struct, frozen=True):
    """Who made a note and who changed it last, as names to show; "" where the log does not tell."""

    note_id: str
    made_by: str = ""
    changed_by: str = ""


def origin_of(memory: Memory, note: Note) -> Origin:
    """Where a note comes from. What a program did without a name is told by nobody; a log that cannot be read tells
    nothing."""
    try:
        makers = memory.makers(note.id)
    except NuggetsError:
        return Origin(note.id)
    return Origin(note.id, _author_at(note.created_at, makers), _author_at(note.updated_at, makers[::-1]))


def _author_at(stamp: str, makers: tuple[tuple[Author, str], ...]) -> str:
    """The first of some authors whose change is of this time."""
    moment = parse_iso(stamp)
    if moment is None:
        return ""
    for author, at in makers:
        made = parse_iso(at)
        if made is not None and abs(made - moment) <= _AT_ONCE:
            return "" if author.kind == "program" else str(author)
    return ""
