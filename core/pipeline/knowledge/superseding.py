"""Flags attributes that newer ones seem to replace, and records a person's decision on them."""

from __future__ import annotations

from typing import Final

from core.pipeline.contradiction import Supersession, shared_words, supersedes
from core.pipeline.database.connection import Database
from core.pipeline.database.entities import StoredAttribute
from core.pipeline.database.tables import Tables

_DAY_MS: Final = 86_400_000


def flag_outdated(writer: Tables, said: StoredAttribute, now: int) -> int:
    """Holds an attribute against what other memories say of the same aspect; how many flags came of it.

    Of two the one is outdated whose memory was handed in before the other's, whichever was read first. It stands until
    a person settles it.
    """
    flags = 0
    for other in writer.entities.siblings(said):
        # Every sign needs a word in common; most siblings have none.
        if not shared_words(said.content, other.content):
            continue
        newer, older = sorted((said, other), key=lambda one: (one.submitted_at, one.id), reverse=True)
        found = outdates(newer, older)
        if found is not None and older.superseded_by != newer.id:
            why = f"{found.signal} {found.confidence:.2f}"
            writer.entities.flag(older.id, newer.id, why, now)
            flags += 1
    return flags


def outdates(newer: StoredAttribute, older: StoredAttribute) -> Supersession | None:
    """Whether a newer attribute seems to take an older one's place."""
    days = (newer.submitted_at - older.submitted_at) / _DAY_MS
    return supersedes(
        newer.content, older.content, gap_days=days, old_is_constraint=older.kind == "constraint"
    )


def resolve_flag(database: Database, attribute_id: int, *, superseded: bool, by: str, now: int) -> bool:
    """A person's word on a flagged attribute: it is outdated, or it stays. False when it is not flagged (any more)."""
    with database.write() as writer:
        flagged = writer.entities.resolve_flag(attribute_id, superseded=superseded, now=now)
        if flagged is None:
            return False
        writer.history.append(
            at=now,
            event="superseded" if superseded else "kept",
            changed_by=by,
            raw_id=flagged.raw_id,
            old_content=flagged.content,
            metadata={"attribute": attribute_id, "entity": flagged.entity_id, "newer": flagged.superseded_by},
        )
        return True
