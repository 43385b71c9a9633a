"""What a predictor is told of each note, from the memory and from the sessions that were given it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from core.model.names import parse_iso
from core.model.note import Note, normalise_tag
from core.pipeline.prediction.predictor import Features

_PINNED = "pinned"
_DAY = 86_400


def features_of(
    notes: Sequence[Note], helped: Mapping[str, tuple[int, float]], nugget: str, now: datetime
) -> tuple[Features, ...]:
    """The features of notes, in their order. helped: by id, in how many sessions a note was given, and how much it
    helped there on average. nugget: of the project that the session is about, "" for none.
    """
    return tuple(
        _features(note, place, helped.get(note.id), nugget, now) for place, note in enumerate(notes, 1)
    )


def _features(
    note: Note, place: int, helped: tuple[int, float] | None, nugget: str, now: datetime
) -> Features:
    touched = parse_iso(note.last_accessed_at or note.updated_at or note.created_at)
    return Features(
        place=place,
        hits=note.hits,
        days=None if touched is None else max(0.0, (now - touched).total_seconds() / _DAY),
        confidence=note.confidence,
        pinned=_PINNED in map(normalise_tag, note.tags),
        durable=note.durable,
        of_project=bool(nugget) and note.nugget_name == nugget,
        sessions=helped[0] if helped else 0,
        helped=helped[1] if helped else None,
    )
