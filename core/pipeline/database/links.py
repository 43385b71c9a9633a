"""Rows of what is linked to a text: entities, mentions, aspects, attributes, relations with their evidence.

Every function here can be repeated for the same memory without any count rising.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from core.pipeline.intake.linker import ASPECT_WEIGHT, ENTITY_TYPE, MENTION_CONFIDENCE, AttributeKind, Links
from core.pipeline.intake.names import canonical_name

LINKER: Final = "linker"


def entity_named(reader: sqlite3.Connection, canonical: str) -> int | None:
    """The entity that has a canonical name or an alias of that form, None when there is none."""
    row = reader.execute(
        "SELECT id FROM entities WHERE canonical_name = ?1 "
        "UNION ALL SELECT entity_id FROM entity_aliases WHERE canonical_name = ?1 LIMIT 1",
        (canonical,),
    ).fetchone()
    return int(row[0]) if row else None


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The canonical names of all entities, looked up one by one."""

    reader: sqlite3.Connection

    def __contains__(self, canonical: object) -> bool:
        return isinstance(canonical, str) and entity_named(self.reader, canonical) is not None


def find_or_make_entity(writer: sqlite3.Connection, name: str, type: str, now: int) -> int:
    """The id of the entity with a name, made when there is none. A known one keeps its name and its type."""
    canonical = canonical_name(name)
    known = entity_named(writer, canonical)
    if known is not None:
        return known
    made = writer.execute(
        "INSERT INTO entities (name, canonical_name, type, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
        (name, canonical, type, now, now),
    ).lastrowid
    assert made is not None
    return made


def add_mention(
    writer: sqlite3.Connection,
    entity_id: int,
    raw_id: str,
    text: str,
    confidence: float,
    source: str,
    now: int,
) -> bool:
    """Links a raw memory with an entity that it names; whether that is new. source: who found it."""
    return (
        writer.execute(
            "INSERT OR IGNORE INTO mentions (entity_id, raw_id, mention_text, confidence, source, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (entity_id, raw_id, text, confidence, source, now),
        ).rowcount
        > 0
    )


def find_or_make_aspect(writer: sqlite3.Connection, entity_id: int, name: str, now: int) -> int:
    """The id of an aspect of an entity, made with weight .5 when there is none."""
    canonical = canonical_name(name)
    row = writer.execute(
        "SELECT id FROM aspects WHERE entity_id = ? AND canonical_name = ?", (entity_id, canonical)
    ).fetchone()
    if row is None:
        row = writer.execute(
            "INSERT INTO aspects (entity_id, name, canonical_name, weight, created_at) VALUES (?, ?, ?, ?, ?) "
            "RETURNING id",
            (entity_id, name, canonical, ASPECT_WEIGHT, now),
        ).fetchone()
    return int(row["id"])


def add_attribute(
    writer: sqlite3.Connection,
    *,
    entity_id: int,
    aspect_id: int | None,
    raw_id: str,
    kind: AttributeKind,
    content: str,
    normalised_content: str,
    confidence: float,
    importance: float,
    now: int,
    fact_id: str = "",
) -> int | None:
    """Stores what is said of an entity; its id, or None when the same is active on that aspect already.

    aspect_id: None until it was classified. What was said and is now said as a decision becomes a constraint.
    """
    row = writer.execute(
        "INSERT INTO attributes (entity_id, aspect_id, raw_id, fact_id, kind, content, normalised_content, "
        "confidence, importance, status, created_at, updated_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?, ?) ON CONFLICT DO NOTHING RETURNING id",
        (
            entity_id, aspect_id, raw_id, fact_id, kind, content, normalised_content, confidence, importance,
            now, now,
        ),
    ).fetchone()  # fmt: skip
    if row is None and kind == "constraint":
        writer.execute(
            "UPDATE attributes SET kind = 'constraint', importance = max(importance, ?), updated_at = ? "
            "WHERE entity_id = ? AND coalesce(aspect_id, 0) = ? AND normalised_content = ? "
            "AND status = 'active' AND kind = 'attribute'",
            (importance, now, entity_id, aspect_id or 0, normalised_content),
        )
    return int(row["id"]) if row else None


def add_relation(
    writer: sqlite3.Connection, source_id: int, target_id: int, type: str, strength: float, now: int
) -> int:
    """The id of a relation between two different entities, made when there is none; the greater strength stays."""
    row = writer.execute(
        "INSERT INTO relations (source_id, target_id, type, strength, created_at, updated_at) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (source_id, target_id, type) DO UPDATE "
        "SET strength = max(strength, excluded.strength) RETURNING id",
        (source_id, target_id, type, strength, now, now),
    ).fetchone()
    return int(row["id"])


def add_evidence(
    writer: sqlite3.Connection, relation_id: int, raw_id: str, confidence: float, now: int
) -> bool:
    """Stores that a raw memory speaks for a relation; whether that is new. The greater confidence stays."""
    made = writer.execute(
        "INSERT OR IGNORE INTO relation_evidence (relation_id, raw_id, confidence, created_at) VALUES (?, ?, ?, ?)",
        (relation_id, raw_id, confidence, now),
    ).rowcount
    if made:
        writer.execute("UPDATE relations SET updated_at = ? WHERE id = ?", (now, relation_id))
    else:
        writer.execute(
            "UPDATE relation_evidence SET confidence = max(confidence, ?) WHERE relation_id = ? AND raw_id = ?",
            (confidence, relation_id, raw_id),
        )
    return made > 0


def store_links(writer: sqlite3.Connection, links: Links, raw_id: str, now: int) -> None:
    """Stores what the rules found in the text of a raw memory.

    A pair of names has no direction: the entity with the smaller id is its source. Two names of one entity are none.
    """
    entities = {
        one.canonical_name: find_or_make_entity(writer, one.name, ENTITY_TYPE, now) for one in links.entities
    }
    for one in links.entities:
        entity_id = entities[one.canonical_name]
        add_mention(writer, entity_id, raw_id, one.name, MENTION_CONFIDENCE, LINKER, now)
    for said in links.attributes:
        entity_id = entities[said.entity]
        add_attribute(
            writer,
            entity_id=entity_id,
            aspect_id=find_or_make_aspect(writer, entity_id, said.aspect, now),
            raw_id=raw_id,
            kind=said.kind,
            content=said.content,
            normalised_content=said.normalised_content,
            confidence=said.confidence,
            importance=said.importance,
            now=now,
        )
    for pair in links.pairs:
        source, target = sorted((entities[pair.source], entities[pair.target]))
        if source != target:
            relation = add_relation(writer, source, target, pair.relation, pair.strength, now)
            add_evidence(writer, relation, raw_id, pair.strength, now)
