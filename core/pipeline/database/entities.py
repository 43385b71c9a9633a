"""Rows of entities as fronts see them: the list, one entity with all that is known of it, pins, types, names."""

from __future__ import annotations

import sqlite3
from typing import Final, Literal, NamedTuple

from core.pipeline.intake.linker import ENTITY_TYPE
from core.pipeline.intake.names import canonical_name
from core.pipeline.intake.normalisation import encodable
from core.pipeline.records import Entity, EntityAttribute, EntityMention, EntityPage, EntityRelation

# Types that say nothing; another may take their place.
UNDETERMINED: Final = (ENTITY_TYPE, "unknown")
_MOST_ATTRIBUTES: Final = 500
_MOST_RELATIONS: Final = 200
_MOST_MENTIONS: Final = 200
_PREVIEW: Final = 160
_COUNTED: Final = """
SELECT chosen.*,
    (SELECT count(*) FROM attributes WHERE entity_id = chosen.id AND status = 'active') AS attributes,
    (SELECT count(*) FROM relations WHERE source_id = chosen.id)
        + (SELECT count(*) FROM relations WHERE target_id = chosen.id) AS relations,
    (SELECT count(*) FROM attributes WHERE entity_id = chosen.id AND review_needed = 1) AS review
FROM (
    SELECT id, name, canonical_name, type, pinned,
        (SELECT count(*) FROM mentions WHERE entity_id = entities.id) AS mentions
    FROM entities {which}
) AS chosen
"""


class Kind(NamedTuple):
    """An entity as a model is told of it: id, name, type."""

    id: int
    name: str
    type: str


def count(reader: sqlite3.Connection) -> int:
    """How many entities there are."""
    return int(reader.execute("SELECT count(*) FROM entities").fetchone()[0])


def entities(reader: sqlite3.Connection, query: str = "", most: int = 200) -> tuple[Entity, ...]:
    """Entities with a name or alias that holds the query: that very name first, then pinned ones, then by mentions."""
    sought = canonical_name(encodable(query))
    which, given = "", {"sought": sought, "most": most, "like": f"%{_literal(sought)}%"}
    if sought:
        which = (
            "WHERE canonical_name LIKE :like ESCAPE '\\' OR id IN ("
            "SELECT entity_id FROM entity_aliases WHERE canonical_name LIKE :like ESCAPE '\\')"
        )
    which += " ORDER BY canonical_name = :sought DESC, pinned DESC, mentions DESC, canonical_name LIMIT :most"
    return _entities(reader, which, given)


def entity_of(reader: sqlite3.Connection, entity_id: int) -> Entity | None:
    """An entity with its counts, None when there is none."""
    return next(iter(_entities(reader, "WHERE id = :id", {"id": entity_id})), None)


def entity_page(reader: sqlite3.Connection, entity_id: int) -> EntityPage | None:
    """All that is known of an entity, None when there is none.

    Aspects by weight; attributes with those first that wait for a person; relations by their evidence; the newest
    mentions first. Attributes that were taken back are left out.
    """
    entity = entity_of(reader, entity_id)
    if entity is None:
        return None
    aspects = reader.execute(
        "SELECT name, weight FROM aspects WHERE entity_id = ? ORDER BY weight DESC, canonical_name",
        (entity_id,),
    )
    return EntityPage(
        entity,
        tuple((row["name"], row["weight"]) for row in aspects),
        _attributes(reader, entity_id),
        _relations(reader, entity_id),
        _mentions(reader, entity_id),
    )


def pin(writer: sqlite3.Connection, entity_id: int, pinned: bool, now: int) -> bool:
    """Keeps an entity at the top and from being tidied away, or no longer; False when there is none."""
    return (
        writer.execute(
            "UPDATE entities SET pinned = ?, updated_at = ? WHERE id = ?", (int(pinned), now, entity_id)
        ).rowcount
        > 0
    )


def kind_of(reader: sqlite3.Connection, entity_id: int) -> Kind | None:
    """Name and type of an entity, None when there is none."""
    row = reader.execute("SELECT id, name, type FROM entities WHERE id = ?", (entity_id,)).fetchone()
    return Kind(*row) if row else None


def aspects_of(reader: sqlite3.Connection, entity_id: int, most: int) -> tuple[str, ...]:
    """The names of an entity's aspects, the weightiest first."""
    rows = reader.execute(
        "SELECT name FROM aspects WHERE entity_id = ? ORDER BY weight DESC, canonical_name LIMIT ?",
        (entity_id, most),
    )
    return tuple(row["name"] for row in rows)


def determine(writer: sqlite3.Connection, entity_id: int, type: str, now: int) -> bool:
    """Says what kind of thing an entity is, where that was not known; whether anything changed."""
    return (
        writer.execute(
            "UPDATE entities SET type = ?, updated_at = ? WHERE id = ? AND type IN (?, ?) AND type <> ?",
            (type, now, entity_id, *UNDETERMINED, type),
        ).rowcount
        > 0
    )


def add_alias(writer: sqlite3.Connection, entity_id: int, name: str, now: int) -> None:
    """Gives an entity one more name. The caller has made sure that no other entity has it."""
    writer.execute(
        "INSERT OR IGNORE INTO entity_aliases (canonical_name, entity_id, name, created_at) VALUES (?, ?, ?, ?)",
        (canonical_name(name), entity_id, name, now),
    )


def _literal(text: str) -> str:
    """Text that LIKE takes to the letter."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _entities(reader: sqlite3.Connection, which: str, given: dict[str, object]) -> tuple[Entity, ...]:
    rows = reader.execute(_COUNTED.format(which=which), given).fetchall()
    named: dict[int, list[str]] = {row["id"]: [] for row in rows}
    aliases = reader.execute(
        f"SELECT entity_id, name FROM entity_aliases WHERE entity_id IN ({','.join('?' * len(named))}) "
        "ORDER BY canonical_name",
        tuple(named),
    )
    for row in aliases if named else ():
        named[row["entity_id"]].append(row["name"])
    return tuple(
        Entity(
            id=row["id"],
            name=row["name"],
            canonical_name=row["canonical_name"],
            type=row["type"],
            pinned=bool(row["pinned"]),
            mentions=row["mentions"],
            attributes=row["attributes"],
            relations=row["relations"],
            aliases=tuple(named[row["id"]]),
            review=row["review"],
        )
        for row in rows
    )


def _attributes(reader: sqlite3.Connection, entity_id: int) -> tuple[EntityAttribute, ...]:
    rows = reader.execute(
        "SELECT attributes.*, coalesce(aspects.name, '') AS aspect FROM attributes "
        "LEFT JOIN aspects ON aspects.id = attributes.aspect_id "
        "WHERE attributes.entity_id = ? AND attributes.status <> 'retracted' "
        "ORDER BY review_needed DESC, attributes.status, coalesce(aspects.weight, 0) DESC, aspect, importance DESC, "
        "attributes.id DESC LIMIT ?",
        (entity_id, _MOST_ATTRIBUTES),
    )
    found = []
    for row in rows:
        # What a person has kept remembers beside which newer one; that is nobody's concern.
        kept = row["status"] == "active" and not row["review_needed"]
        status: Literal["active", "superseded"] = row["status"]
        found.append(
            EntityAttribute(
                id=row["id"],
                aspect=row["aspect"],
                kind=row["kind"],
                content=row["content"],
                confidence=row["confidence"],
                importance=row["importance"],
                status=status,
                superseded_by=None if kept else row["superseded_by"],
                superseded_why="" if kept else row["superseded_why"],
                review_needed=bool(row["review_needed"]),
                raw_id=row["raw_id"],
            )
        )
    return tuple(found)


def _relations(reader: sqlite3.Connection, entity_id: int) -> tuple[EntityRelation, ...]:
    rows = reader.execute(
        "SELECT found.id, found.type, found.other_id, found.outgoing, other.name AS other, "
        "  coalesce(avg(evidence.confidence), 0) AS confidence, count(evidence.raw_id) AS evidence FROM ("
        "    SELECT id, type, target_id AS other_id, 1 AS outgoing, strength FROM relations WHERE source_id = :id"
        "    UNION ALL"
        "    SELECT id, type, source_id, 0, strength FROM relations WHERE target_id = :id) AS found "
        "JOIN entities AS other ON other.id = found.other_id "
        "LEFT JOIN relation_evidence AS evidence ON evidence.relation_id = found.id "
        "GROUP BY found.id ORDER BY found.strength DESC, evidence DESC, confidence DESC, other.canonical_name "
        "LIMIT :most",
        {"id": entity_id, "most": _MOST_RELATIONS},
    )
    return tuple(
        EntityRelation(
            id=row["id"],
            type=row["type"],
            other_id=row["other_id"],
            other=row["other"],
            outgoing=bool(row["outgoing"]),
            confidence=row["confidence"],
            evidence=row["evidence"],
        )
        for row in rows
    )


def _mentions(reader: sqlite3.Connection, entity_id: int) -> tuple[EntityMention, ...]:
    rows = reader.execute(
        "SELECT mentions.*, substr(raw.content, 1, ?) AS preview FROM mentions "
        "JOIN raw_memories AS raw ON raw.id = mentions.raw_id "
        "WHERE entity_id = ? ORDER BY mentions.created_at DESC, raw.rowid DESC LIMIT ?",
        (_PREVIEW, entity_id, _MOST_MENTIONS),
    )
    return tuple(
        EntityMention(
            raw_id=row["raw_id"],
            mention_text=row["mention_text"],
            confidence=row["confidence"],
            created_at=row["created_at"],
            preview=" ".join(row["preview"].split()),
        )
        for row in rows
    )
