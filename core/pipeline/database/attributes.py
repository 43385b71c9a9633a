"""Rows of what is said of entities: those that wait for an aspect, their siblings, and flags that one is outdated."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from core.pipeline.intake.linker import CONSTRAINT_IMPORTANCE, AttributeKind

# Only the newest that were said of an aspect are held against a new one.
MOST_SIBLINGS: Final = 100
_ATTRIBUTES: Final = """
SELECT attributes.id, attributes.entity_id, attributes.aspect_id, attributes.raw_id, attributes.content,
    attributes.normalised_content, attributes.kind, attributes.superseded_by,
    coalesce(raw.created_at, attributes.created_at) AS submitted_at
FROM attributes LEFT JOIN raw_memories AS raw ON raw.id = attributes.raw_id
"""


@dataclass(frozen=True, slots=True)
class StoredAttribute:
    """What is said of an entity. submitted_at: when the memory was submitted that says it, epoch ms."""

    id: int
    entity_id: int
    aspect_id: int | None
    raw_id: str
    content: str
    normalised_content: str
    kind: AttributeKind
    superseded_by: int | None
    submitted_at: int


@dataclass(frozen=True, slots=True)
class UnclassifiedAttribute:
    """What is said of an entity and has no aspect yet."""

    id: int
    content: str
    kind: AttributeKind


def unclassified(reader: sqlite3.Connection, entity_id: int, most: int) -> tuple[UnclassifiedAttribute, ...]:
    """What waits for an aspect, the oldest first."""
    rows = reader.execute(
        "SELECT id, content, kind FROM attributes "
        "WHERE entity_id = ? AND aspect_id IS NULL AND status = 'active' ORDER BY id LIMIT ?",
        (entity_id, most),
    )
    return tuple(UnclassifiedAttribute(*row) for row in rows)


def attribute(reader: sqlite3.Connection, attribute_id: int) -> StoredAttribute | None:
    """What is said and stands, None when there is no such thing."""
    row = reader.execute(
        f"{_ATTRIBUTES} WHERE attributes.id = ? AND attributes.status = 'active'", (attribute_id,)
    ).fetchone()
    return StoredAttribute(*row) if row else None


def attributes_of_raw(reader: sqlite3.Connection, raw_id: str) -> tuple[StoredAttribute, ...]:
    """What the rules found in a raw memory and still stands."""
    rows = reader.execute(
        f"{_ATTRIBUTES} WHERE attributes.raw_id = ? AND attributes.fact_id = '' AND attributes.status = 'active' "
        "ORDER BY attributes.id",
        (raw_id,),
    )
    return tuple(StoredAttribute(*row) for row in rows)


def siblings(reader: sqlite3.Connection, said: StoredAttribute) -> tuple[StoredAttribute, ...]:
    """What other memories say of the same aspect of the same entity, the newest first, 100 at most."""
    if said.aspect_id is None:
        return ()
    rows = reader.execute(
        f"{_ATTRIBUTES} WHERE attributes.aspect_id = ? AND attributes.status = 'active' "
        "AND attributes.id <> ? AND attributes.raw_id <> ? ORDER BY attributes.id DESC LIMIT ?",
        (said.aspect_id, said.id, said.raw_id, MOST_SIBLINGS),
    )
    return tuple(StoredAttribute(*row) for row in rows)


def assign_aspect(
    writer: sqlite3.Connection, attribute_id: int, aspect_id: int, kind: AttributeKind, now: int
) -> bool:
    """Gives what waits its aspect and kind; what the rules took for a decision stays a constraint.

    False when it waits no longer. Where the same stands on that aspect already, this one is taken back for it.
    """
    row = writer.execute(
        "SELECT entity_id, normalised_content, kind, fact_id FROM attributes "
        "WHERE id = ? AND aspect_id IS NULL AND status = 'active'",
        (attribute_id,),
    ).fetchone()
    if row is None:
        return False
    kind = "constraint" if "constraint" in (kind, row["kind"]) else "attribute"
    importance = CONSTRAINT_IMPORTANCE if kind == "constraint" else 0.0
    same = writer.execute(
        "SELECT id FROM attributes WHERE entity_id = ? AND coalesce(aspect_id, 0) = ? AND normalised_content = ? "
        "AND status = 'active'",
        (row["entity_id"], aspect_id, row["normalised_content"]),
    ).fetchone()
    if same is not None:
        retract(writer, attribute_id, same["id"], "says the same", now)
        attribute_id = same["id"]
    writer.execute(
        "UPDATE attributes SET aspect_id = ?, kind = CASE ? WHEN 'constraint' THEN 'constraint' ELSE kind END, "
        "fact_id = CASE fact_id WHEN '' THEN ? ELSE fact_id END, importance = max(importance, ?), updated_at = ? "
        "WHERE id = ?",
        (aspect_id, kind, row["fact_id"], importance, now, attribute_id),
    )
    return same is None


def retract(writer: sqlite3.Connection, attribute_id: int, instead: int, why: str, now: int) -> None:
    """Lets another attribute stand instead of one that says the same."""
    writer.execute(
        "UPDATE attributes SET status = 'retracted', superseded_by = ?, superseded_why = ?, review_needed = 0, "
        "updated_at = ? WHERE id = ?",
        (instead, why, now, attribute_id),
    )


def flag(writer: sqlite3.Connection, outdated: int, newer: int, why: str, now: int) -> None:
    """Asks a person whether one attribute is outdated by another; it stands until they say so."""
    writer.execute(
        "UPDATE attributes SET superseded_by = ?, superseded_why = ?, review_needed = 1, updated_at = ? WHERE id = ?",
        (newer, why, now, outdated),
    )


def resolve_flag(
    writer: sqlite3.Connection, attribute_id: int, *, superseded: bool, now: int
) -> StoredAttribute | None:
    """A person's word on a flag; what was flagged, None when nothing was. What is kept is not flagged for the same
    newer attribute again."""
    flagged = attribute(writer, attribute_id)
    changed = writer.execute(
        "UPDATE attributes SET review_needed = 0, status = ?, updated_at = ? "
        "WHERE id = ? AND review_needed = 1 AND status = 'active'",
        ("superseded" if superseded else "active", now, attribute_id),
    ).rowcount
    return flagged if changed else None
