"""Entities and all that is known of them: names, mentions, aspects, what is said of each, relations with evidence."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from core.pipeline.intake.linker import (
    ASPECT_WEIGHT,
    CONSTRAINT_IMPORTANCE,
    ENTITY_TYPE,
    MENTION_CONFIDENCE,
    AttributeKind,
    Links,
)
from core.pipeline.intake.names import canonical_name
from core.pipeline.records import Entity, EntityAttribute, EntityMention, EntityPage, EntityRelation
from core.text.normalise import cut_at_word, encodable

# Types that say nothing; another may take their place.
UNDETERMINED: Final = (ENTITY_TYPE, "unknown")
_MOST_ATTRIBUTES: Final = 500
_MOST_RELATIONS: Final = 200
_MOST_MENTIONS: Final = 200
_PREVIEW: Final = 160
_TYPE: Final = """
coalesce((SELECT known.type FROM entities AS known WHERE known.root = entities.root
    AND known.type NOT IN ('extracted', 'unknown') ORDER BY known.id = known.root DESC, known.id LIMIT 1), type)
"""
_GROUP: Final = "(SELECT id FROM entities WHERE root = (SELECT root FROM entities WHERE id = :id))"
_COUNTED: Final = f"""
SELECT chosen.*,
    (SELECT count(DISTINCT coalesce(aspects.canonical_name, '') || char(0) || normalised_content)
        FROM entities AS part JOIN attributes ON attributes.entity_id = part.id
        LEFT JOIN aspects ON aspects.id = aspect_id
        WHERE part.root = chosen.id AND status = 'active') AS attributes,
    (SELECT count(DISTINCT type || char(0) || other_id || char(0) || direction) FROM relation_ends
        WHERE entity_id = chosen.id) AS relations,
    (SELECT count(*) FROM entities AS part JOIN attributes ON attributes.entity_id = part.id
        WHERE part.root = chosen.id AND review_needed = 1) AS review
FROM (
    SELECT id, name, canonical_name, {_TYPE} AS type,
        (SELECT max(pinned) FROM entities AS part WHERE part.root = entities.id) AS pinned,
        (SELECT count(DISTINCT raw_id) FROM entities AS part JOIN mentions ON entity_id = part.id
            WHERE part.root = entities.id) AS mentions
    FROM entities WHERE id = root {{which}}
) AS chosen
"""


class Kind(NamedTuple):
    """An entity as a model is told of it: id, name, type."""

    id: int
    name: str
    type: str


def _literal(text: str) -> str:
    """Text that LIKE takes to the letter."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


LINKER: Final = "linker"


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The canonical names of all entities, looked up one by one."""

    entities: Entities

    def __contains__(self, canonical: object) -> bool:
        return isinstance(canonical, str) and self.entities.entity_named(canonical) is not None


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


class Entities:
    """Entities with all that is known of them: names, mentions, aspects, what is said, relations.

    What is added can be added again for the same memory without any count rising. An id of an entity that was merged
    means the one that it was merged into.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def count(self) -> int:
        """How many entities there are."""
        return int(self._connection.execute("SELECT count(*) FROM entities WHERE id = root").fetchone()[0])

    def entities(self, query: str = "", most: int = 200) -> tuple[Entity, ...]:
        """Entities with a name or alias that holds the query: that very name first, then pinned, then by mentions."""
        sought = canonical_name(encodable(query))
        which, given = "", {"sought": sought, "most": most, "like": f"%{_literal(sought)}%"}
        if sought:
            which = (
                "AND id IN (SELECT root FROM entities WHERE canonical_name LIKE :like ESCAPE '\\' "
                "UNION SELECT root FROM entity_aliases AS alias JOIN entities ON id = alias.entity_id "
                "WHERE alias.canonical_name LIKE :like ESCAPE '\\')"
            )
        which += (
            " ORDER BY canonical_name = :sought DESC, pinned DESC, mentions DESC, canonical_name LIMIT :most"
        )
        return self._entities(which, given)

    def entity_of(self, entity_id: int) -> Entity | None:
        """An entity with its counts, None when there is none."""
        return next(
            iter(self._entities("AND id = (SELECT root FROM entities WHERE id = :id)", {"id": entity_id})),
            None,
        )

    def named_in(self, raw_id: str) -> tuple[str, ...]:
        """The names of the entities that a raw memory mentions."""
        rows = self._connection.execute(
            "SELECT DISTINCT root.name FROM mentions JOIN entities ON entities.id = mentions.entity_id"
            " JOIN entities AS root ON root.id = entities.root WHERE mentions.raw_id = ? ORDER BY root.canonical_name",
            (raw_id,),
        )
        return tuple(row["name"] for row in rows)

    def entity_page(self, entity_id: int) -> EntityPage | None:
        """All that is known of an entity, None when there is none.

        Aspects by weight; attributes with those first that wait for a person; relations by their evidence; the newest
        mentions first. Attributes that were taken back are left out.
        """
        entity = self.entity_of(entity_id)
        if entity is None:
            return None
        entity_id = entity.id
        aspects = self._connection.execute(
            f"SELECT name, max(weight) AS weight FROM aspects WHERE entity_id IN {_GROUP} GROUP BY canonical_name"
            " ORDER BY weight DESC, canonical_name",
            {"id": entity_id},
        )
        return EntityPage(
            entity,
            tuple((row["name"], row["weight"]) for row in aspects),
            self._attributes(entity_id),
            self._relations(entity_id),
            self._mentions(entity_id),
        )

    def pin(self, entity_id: int, pinned: bool, now: int) -> bool:
        """Keeps an entity at the top and from being tidied away, or no longer; False when there is none."""
        return (
            self._connection.execute(
                f"UPDATE entities SET pinned = :pinned, updated_at = :now WHERE id IN {_GROUP}",
                {"pinned": int(pinned), "now": now, "id": entity_id},
            ).rowcount
            > 0
        )

    def kind_of(self, entity_id: int) -> Kind | None:
        """Name and type of an entity, None when there is none."""
        row = self._connection.execute(
            f"SELECT id, name, {_TYPE} FROM entities WHERE id = (SELECT root FROM entities WHERE id = ?)",
            (entity_id,),
        ).fetchone()
        return Kind(*row) if row else None

    def aspects_of(self, entity_id: int, most: int) -> tuple[str, ...]:
        """The names of an entity's aspects, the weightiest first."""
        rows = self._connection.execute(
            f"SELECT name FROM aspects WHERE entity_id IN {_GROUP} GROUP BY canonical_name "
            "ORDER BY max(weight) DESC, canonical_name LIMIT :most",
            {"id": entity_id, "most": most},
        )
        return tuple(row["name"] for row in rows)

    def determine(self, entity_id: int, type: str, now: int) -> bool:
        """Says what kind of thing an entity is, where that was not known; whether anything changed."""
        return (
            self._connection.execute(
                "UPDATE entities SET type = ?, updated_at = ? WHERE id = ? AND type IN (?, ?) AND type <> ?",
                (type, now, entity_id, *UNDETERMINED, type),
            ).rowcount
            > 0
        )

    def add_alias(self, entity_id: int, name: str, now: int) -> None:
        """Gives an entity one more name. The caller has made sure that no other entity has it."""
        self._connection.execute(
            "INSERT OR IGNORE INTO entity_aliases (canonical_name, entity_id, name, created_at) VALUES (?, ?, ?, ?)",
            (canonical_name(name), entity_id, name, now),
        )

    def _entities(self, which: str, given: dict[str, object]) -> tuple[Entity, ...]:
        rows = self._connection.execute(_COUNTED.format(which=which), given).fetchall()
        named: dict[int, list[str]] = {row["id"]: [] for row in rows}
        aliases = self._connection.execute(
            "SELECT root, name FROM entities WHERE id <> root AND root IN (SELECT value FROM json_each(:ids)) "
            "UNION SELECT root, alias.name FROM entities JOIN entity_aliases AS alias ON entity_id = id "
            "WHERE root IN (SELECT value FROM json_each(:ids)) ORDER BY 2",
            {"ids": json.dumps(list(named))},
        )
        for row in aliases:
            named[row["root"]].append(row["name"])
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

    def _attributes(self, entity_id: int) -> tuple[EntityAttribute, ...]:
        rows = self._connection.execute(
            "SELECT attributes.*, coalesce(aspects.name, '') AS aspect FROM attributes "
            "LEFT JOIN aspects ON aspects.id = attributes.aspect_id "
            f"WHERE attributes.entity_id IN {_GROUP} AND attributes.status <> 'retracted' "
            "ORDER BY review_needed DESC, attributes.status, coalesce(aspects.weight, 0) DESC, aspect, "
            "importance DESC, attributes.id DESC LIMIT :most",
            {"id": entity_id, "most": _MOST_ATTRIBUTES},
        )
        found: list[EntityAttribute] = []
        said: set[tuple[str, str]] = set()
        for row in rows:
            # Entities that were merged may say the same.
            same = (row["aspect"], row["normalised_content"])
            if row["status"] == "active" and same in said:
                continue
            if row["status"] == "active":
                said.add(same)
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

    def _relations(self, entity_id: int) -> tuple[EntityRelation, ...]:
        rows = self._connection.execute(
            "WITH said AS (SELECT min(ends.id) AS id, type, other_id, direction, max(outgoing) AS outgoing, "
            "    max(strength) AS strength, raw_id, max(confidence) AS confidence FROM relation_ends AS ends "
            "  LEFT JOIN relation_evidence AS evidence ON evidence.relation_id = ends.id "
            "  WHERE entity_id = :id GROUP BY type, other_id, direction, raw_id) "
            "SELECT min(said.id) AS id, said.type, other_id, max(outgoing) AS outgoing, other.name AS other, "
            "  coalesce(avg(confidence), 0) AS confidence, count(raw_id) AS evidence "
            "FROM said JOIN entities AS other ON other.id = other_id GROUP BY said.type, other_id, direction "
            "ORDER BY max(strength) DESC, evidence DESC, confidence DESC, other.canonical_name LIMIT :most",
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

    def _mentions(self, entity_id: int) -> tuple[EntityMention, ...]:
        rows = self._connection.execute(
            "SELECT raw_id, mention_text, max(confidence) AS confidence, mentions.created_at, "
            "substr(raw.content, 1, :preview) AS preview FROM mentions "
            "JOIN raw_memories AS raw ON raw.id = mentions.raw_id "
            f"WHERE entity_id IN {_GROUP} GROUP BY raw_id "
            "ORDER BY mentions.created_at DESC, raw.rowid DESC LIMIT :most",
            {"preview": _PREVIEW + 1, "id": entity_id, "most": _MOST_MENTIONS},
        )
        return tuple(
            EntityMention(
                raw_id=row["raw_id"],
                mention_text=row["mention_text"],
                confidence=row["confidence"],
                created_at=row["created_at"],
                preview=" ".join(cut_at_word(row["preview"], _PREVIEW).split()),
            )
            for row in rows
        )

    def entity_named(self, canonical: str) -> int | None:
        """The entity that has a canonical name or an alias of that form, None when there is none."""
        row = self._connection.execute(
            "SELECT root FROM entities WHERE canonical_name = ?1 UNION ALL SELECT root FROM entities "
            "JOIN entity_aliases AS alias ON entity_id = id WHERE alias.canonical_name = ?1 LIMIT 1",
            (canonical,),
        ).fetchone()
        return int(row[0]) if row else None

    def names_with(self, canonical: Collection[str]) -> dict[str, str]:
        """All other names of the entities that have one of some canonical names, each with the one it stands for."""
        said = json.dumps(sorted(canonical))
        rows = self._connection.execute(
            "WITH said (name) AS (SELECT value FROM json_each(?)), found (root, name) AS ("
            "  SELECT root, said.name FROM said JOIN entities ON canonical_name = said.name"
            "  UNION SELECT root, said.name FROM said JOIN entity_aliases AS alias ON alias.canonical_name = said.name"
            "    JOIN entities ON id = entity_id) "
            "SELECT entities.canonical_name, found.name FROM found JOIN entities USING (root) "
            "UNION SELECT alias.canonical_name, found.name FROM found JOIN entities USING (root)"
            "  JOIN entity_aliases AS alias ON entity_id = id",
            (said,),
        )
        return {name: asked for name, asked in rows if name not in canonical}

    def neighbours_of_names(self, canonical: Collection[str], most: int) -> dict[str, str]:
        """Names of entities that are related to those with some canonical names, the strongest first, each with the
        path there.
        """
        if not canonical:
            return {}
        rows = self._connection.execute(
            "WITH named (root) AS ("
            "  SELECT root FROM entities WHERE canonical_name IN (SELECT value FROM json_each(:said))"
            "  UNION SELECT root FROM entity_aliases AS alias JOIN entities ON id = entity_id"
            "    WHERE alias.canonical_name IN (SELECT value FROM json_each(:said))) "
            "SELECT far.canonical_name, near.name || ' - ' || ends.type || ' - ' || far.name FROM named "
            "JOIN entities AS near ON near.id = named.root JOIN relation_ends AS ends ON entity_id = named.root "
            "JOIN entities AS far ON far.id = other_id ORDER BY strength DESC, other_id LIMIT :most",
            {"said": json.dumps(sorted(canonical)), "most": most},
        )
        found: dict[str, str] = {}
        for name, path in rows:
            found.setdefault(name, path)
        return found

    def find_or_make_entity(self, name: str, type: str, now: int) -> int:
        """The id of the entity with a name, made when there is none. A known one keeps its name and its type."""
        canonical = canonical_name(name)
        known = self.entity_named(canonical)
        if known is not None:
            return known
        made = self._connection.execute(
            "INSERT INTO entities (name, canonical_name, type, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
            (name, canonical, type, now, now),
        ).lastrowid
        assert made is not None
        return made

    def add_mention(
        self,
        entity_id: int,
        raw_id: str,
        text: str,
        confidence: float,
        source: str,
        now: int,
    ) -> bool:
        """Links a raw memory with an entity that it names; whether that is new. source: who found it."""
        return (
            self._connection.execute(
                "INSERT OR IGNORE INTO mentions (entity_id, raw_id, mention_text, confidence, source, created_at) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (entity_id, raw_id, text, confidence, source, now),
            ).rowcount
            > 0
        )

    def find_or_make_aspect(self, entity_id: int, name: str, now: int) -> int:
        """The id of an aspect of an entity, made with weight .5 when there is none."""
        canonical = canonical_name(name)
        row = self._connection.execute(
            "SELECT id FROM aspects WHERE entity_id = ? AND canonical_name = ?", (entity_id, canonical)
        ).fetchone()
        if row is None:
            row = self._connection.execute(
                "INSERT INTO aspects (entity_id, name, canonical_name, weight, created_at) VALUES (?, ?, ?, ?, ?) "
                "RETURNING id",
                (entity_id, name, canonical, ASPECT_WEIGHT, now),
            ).fetchone()
        return int(row["id"])

    def add_attribute(
        self,
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
        row = self._connection.execute(
            "INSERT INTO attributes (entity_id, aspect_id, raw_id, fact_id, kind, content, normalised_content, "
            "confidence, importance, status, created_at, updated_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?, ?) ON CONFLICT DO NOTHING RETURNING id",
            (
                entity_id, aspect_id, raw_id, fact_id, kind, content, normalised_content, confidence, importance,
                now, now,
            ),
        ).fetchone()  # fmt: skip
        if row is None and kind == "constraint":
            self._connection.execute(
                "UPDATE attributes SET kind = 'constraint', importance = max(importance, ?), updated_at = ? "
                "WHERE entity_id = ? AND coalesce(aspect_id, 0) = ? AND normalised_content = ? "
                "AND status = 'active' AND kind = 'attribute'",
                (importance, now, entity_id, aspect_id or 0, normalised_content),
            )
        return int(row["id"]) if row else None

    def add_relation(self, source_id: int, target_id: int, type: str, strength: float, now: int) -> int:
        """The id of a relation between two different entities, made when there is none; the greater strength stays."""
        row = self._connection.execute(
            "INSERT INTO relations (source_id, target_id, type, strength, created_at, updated_at) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (source_id, target_id, type) DO UPDATE "
            "SET strength = max(strength, excluded.strength) RETURNING id",
            (source_id, target_id, type, strength, now, now),
        ).fetchone()
        return int(row["id"])

    def add_evidence(self, relation_id: int, raw_id: str, confidence: float, now: int) -> bool:
        """Stores that a raw memory speaks for a relation; whether that is new. The greater confidence stays."""
        made = self._connection.execute(
            "INSERT OR IGNORE INTO relation_evidence (relation_id, raw_id, confidence, created_at) VALUES (?, ?, ?, ?)",
            (relation_id, raw_id, confidence, now),
        ).rowcount
        if made:
            self._connection.execute("UPDATE relations SET updated_at = ? WHERE id = ?", (now, relation_id))
        else:
            self._connection.execute(
                "UPDATE relation_evidence SET confidence = max(confidence, ?) WHERE relation_id = ? AND raw_id = ?",
                (confidence, relation_id, raw_id),
            )
        return made > 0

    def store_links(self, links: Links, raw_id: str, now: int) -> None:
        """Stores what the rules found in the text of a raw memory.

        A pair of names has no direction: the entity with the smaller id is its source. Two names of one entity are
        none.
        """
        entities = {
            one.canonical_name: self.find_or_make_entity(one.name, ENTITY_TYPE, now) for one in links.entities
        }
        for one in links.entities:
            entity_id = entities[one.canonical_name]
            self.add_mention(entity_id, raw_id, one.name, MENTION_CONFIDENCE, LINKER, now)
        for said in links.attributes:
            entity_id = entities[said.entity]
            self.add_attribute(
                entity_id=entity_id,
                aspect_id=self.find_or_make_aspect(entity_id, said.aspect, now),
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
                relation = self.add_relation(source, target, pair.relation, pair.strength, now)
                self.add_evidence(relation, raw_id, pair.strength, now)

    def unclassified(self, entity_id: int, most: int) -> tuple[UnclassifiedAttribute, ...]:
        """What waits for an aspect, the oldest first."""
        rows = self._connection.execute(
            "SELECT id, content, kind FROM attributes "
            f"WHERE entity_id IN {_GROUP} AND aspect_id IS NULL AND status = 'active' ORDER BY id LIMIT :most",
            {"id": entity_id, "most": most},
        )
        return tuple(UnclassifiedAttribute(*row) for row in rows)

    def attribute(self, attribute_id: int) -> StoredAttribute | None:
        """What is said and stands, None when there is no such thing."""
        row = self._connection.execute(
            f"{_ATTRIBUTES} WHERE attributes.id = ? AND attributes.status = 'active'", (attribute_id,)
        ).fetchone()
        return StoredAttribute(*row) if row else None

    def attributes_of_raw(self, raw_id: str) -> tuple[StoredAttribute, ...]:
        """What the rules found in a raw memory and still stands."""
        rows = self._connection.execute(
            f"{_ATTRIBUTES} WHERE attributes.raw_id = ? AND attributes.fact_id = '' AND attributes.status = 'active' "
            "ORDER BY attributes.id",
            (raw_id,),
        )
        return tuple(StoredAttribute(*row) for row in rows)

    def siblings(self, said: StoredAttribute) -> tuple[StoredAttribute, ...]:
        """What other memories say of the same aspect of the same entity, the newest first, 100 at most."""
        if said.aspect_id is None:
            return ()
        rows = self._connection.execute(
            f"{_ATTRIBUTES} WHERE attributes.aspect_id IN (SELECT other.id FROM aspects AS own"
            f" JOIN aspects AS other USING (canonical_name) WHERE own.id = :aspect AND other.entity_id IN {_GROUP})"
            " AND attributes.status = 'active' AND attributes.id <> :said AND attributes.raw_id <> :raw "
            "ORDER BY attributes.id DESC LIMIT :most",
            {
                "aspect": said.aspect_id,
                "id": said.entity_id,
                "said": said.id,
                "raw": said.raw_id,
                "most": MOST_SIBLINGS,
            },
        )
        return tuple(StoredAttribute(*row) for row in rows)

    def assign_aspect(self, attribute_id: int, aspect_id: int, kind: AttributeKind, now: int) -> bool:
        """Gives what waits its aspect and kind; what the rules took for a decision stays a constraint.

        False when it waits no longer. Where the same stands on that aspect already, this one is taken back for it.
        """
        row = self._connection.execute(
            "SELECT entity_id, normalised_content, kind, fact_id FROM attributes "
            "WHERE id = ? AND aspect_id IS NULL AND status = 'active'",
            (attribute_id,),
        ).fetchone()
        if row is None:
            return False
        kind = "constraint" if "constraint" in (kind, row["kind"]) else "attribute"
        importance = CONSTRAINT_IMPORTANCE if kind == "constraint" else 0.0
        same = self._connection.execute(
            "SELECT id FROM attributes WHERE entity_id = ? AND coalesce(aspect_id, 0) = ? AND normalised_content = ? "
            "AND status = 'active'",
            (row["entity_id"], aspect_id, row["normalised_content"]),
        ).fetchone()
        if same is not None:
            self.retract(attribute_id, same["id"], "says the same", now)
            attribute_id = same["id"]
        self._connection.execute(
            "UPDATE attributes SET aspect_id = ?, kind = CASE ? WHEN 'constraint' THEN 'constraint' ELSE kind END, "
            "fact_id = CASE fact_id WHEN '' THEN ? ELSE fact_id END, importance = max(importance, ?), updated_at = ? "
            "WHERE id = ?",
            (aspect_id, kind, row["fact_id"], importance, now, attribute_id),
        )
        return same is None

    def retract(self, attribute_id: int, instead: int, why: str, now: int) -> None:
        """Lets another attribute stand instead of one that says the same."""
        self._connection.execute(
            "UPDATE attributes SET status = 'retracted', superseded_by = ?, superseded_why = ?, review_needed = 0, "
            "updated_at = ? WHERE id = ?",
            (instead, why, now, attribute_id),
        )

    def flag(self, outdated: int, newer: int, why: str, now: int) -> None:
        """Asks a person whether one attribute is outdated by another; it stands until they say so."""
        self._connection.execute(
            "UPDATE attributes SET superseded_by = ?, superseded_why = ?, review_needed = 1, updated_at = ? "
            "WHERE id = ?",
            (newer, why, now, outdated),
        )

    def resolve_flag(self, attribute_id: int, *, superseded: bool, now: int) -> StoredAttribute | None:
        """A person's word on a flag; what was flagged, None when nothing was. What is kept is not flagged for the same
        newer attribute again."""
        flagged = self.attribute(attribute_id)
        changed = self._connection.execute(
            "UPDATE attributes SET review_needed = 0, status = ?, updated_at = ? "
            "WHERE id = ? AND review_needed = 1 AND status = 'active'",
            ("superseded" if superseded else "active", now, attribute_id),
        ).rowcount
        return flagged if changed else None

    def drop_alias(self, entity_id: int, name: str) -> bool:
        """Takes a name from an entity; False where it does not have it."""
        dropped = self._connection.execute(
            "DELETE FROM entity_aliases WHERE canonical_name = ? AND entity_id = ?",
            (canonical_name(name), entity_id),
        )
        return dropped.rowcount > 0

    def merge(self, keep: int, other: int, now: int) -> None:
        """Lets one entity stand for both from now on."""
        given = {"keep": keep, "other": other, "now": now}
        self._connection.execute(
            "UPDATE entities SET merged_into = :keep, updated_at = :now WHERE id = :other", given
        )
        self._connection.execute("UPDATE entities SET root = :keep WHERE root = :other", given)

    def part(self, keep: int, other: int, now: int) -> bool:
        """Takes a merge back, with those into the other one; False where the two are not merged."""
        given = {"keep": keep, "other": other, "now": now}
        parted = self._connection.execute(
            "UPDATE entities SET merged_into = NULL, updated_at = :now WHERE id = :other AND merged_into = :keep",
            given,
        )
        self._connection.execute(
            "WITH RECURSIVE whole (id) AS (SELECT :other UNION ALL "
            "  SELECT entities.id FROM whole JOIN entities ON merged_into = whole.id) "
            "UPDATE entities SET root = :other WHERE id IN whole AND :parted",
            given | {"parted": parted.rowcount},
        )
        return parted.rowcount > 0
