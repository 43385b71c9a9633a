"""What is said behind an answer, to people and agents alike: where it is from, its age, its author, how sure it is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from nuggets_tui.words import time_ago

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.note import Note

# Characters of a text that an answer gives whole.
PASSAGE: Final = 600


def about(memory: Memory, nugget: str, note: Note | None, project: str, whose: str, now: datetime) -> str:
    """Where something is from, how old it is, and who wrote it. project: another one that it is from, "" for none."""
    said = [f"from project {project}" if project else nugget]
    if note is not None:
        said += [time_ago(note.updated_at or note.created_at, now), memory.author_of(note.id)]
    return ", ".join(filter(None, [*said, "the team's" if whose == "team" else ""]))
