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
    from core.pipeline.records import Origin as PipelineOrigin

# The field in which a note that the pipeline made names the text that it was made of.
_FIELD: Final = "origin"
# A note bears the time at which its change was made; the entry of the log follows within moments.
_AT_ONCE: Final = timedelta(minutes=1)
SOURCES: Final = {
    "explicit_user": "from the user",
    "agent_reflection": "from an agent",
    "tool_observation": "from a tool",
    "inferred": "inferred",
    "system": "from the system",
}


class Trail(msgspec.Struct, frozen=True):
    """The text that the pipeline made a note of: its sentence, who handed it in, in which session, and the model.

    "" for what is not known.
    """

    sentence: str = ""
    handed_by: str = ""
    session: str = ""
    model: str = ""


class NoteAuthors(msgspec.Struct, frozen=True):
    """Who made a note and who changed it last, as names to show; "" where the log does not tell.

    trail: back to the text that it was made of; None for a note that the pipeline did not make. hints: questions that
    find it, too, as a model made them.
    """

    note_id: str
    made_by: str = ""
    changed_by: str = ""
    trail: Trail | None = None
    hints: tuple[str, ...] = ()


def made_by_pipeline(note: Note) -> bool:
    """Whether a note says of itself that the pipeline made it."""
    return isinstance(note.extra.get(_FIELD), dict)


def trail_of(note: Note, known: PipelineOrigin | None) -> Trail:
    """The trail of a note that the pipeline made: what the pipeline knows, else what the note itself says."""
    if known is None:
        said = note.extra.get(_FIELD)
        model = said.get("model") if isinstance(said, dict) else ""
        return Trail(model=model if isinstance(model, str) else "")
    from nuggets_tui.pipeline_words import author_name

    start, end = known.span or (0, len(known.content))
    by = author_name(known.author) if known.author else ""
    return Trail(known.content[start:end].strip(), by, known.source_id, known.model)


def origin_of(memory: Memory, note: Note) -> NoteAuthors:
    """Where a note comes from. What a program did without a name is told by nobody; a log that cannot be read tells
    nothing."""
    try:
        makers = memory.history.makers(note.id)
    except NuggetsError:
        return NoteAuthors(note.id)
    return NoteAuthors(
        note.id, _author_at(note.created_at, makers), _author_at(note.updated_at, makers[::-1])
    )


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
