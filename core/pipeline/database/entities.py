"""Entities and all that is known of them: names, mentions, aspects, what is said of each, relations with evidence."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from core.pipeline.database.tables import Rows
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

LINKER: Final = "linker"
# What may be known of an entity.
_KNOWN: Final = ("mentions", "attributes", "relation_ends")
# Types that say nothing; another may take their place.
UNDETERMINED: Final = (ENTITY_TYPE, "unknown")
# Only the newest that were said of an aspect are held against a new one.
MOST_SIBLINGS: Final = 100
_MOST_ATTRIBUTES: Final = 500
_MOST_RELATIONS: Final = 200
_MOST_MENTIONS: Final = 200
_PREVIEW: Final = 160
# A merged entity and a further name are rows whose root is the entity that they stand for.
_ROOT: Final = "(SELECT root FROM entities WHERE id = :id)"
_GROUP: Final = f"(SELECT id FROM entities WHERE root = {_ROOT})"


class Kind(NamedTuple):
    """An entity as a model is told of it: id, name, type."""

    id: int
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The canonical names of all entities, looked up one by one."""

    entities: Entities

    def __contains__(self, canonical: object) -> bool:
        return isinstance(canonical, str) and self.entities.entity_named(canonical) is not None


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


class Entities(Rows):
    """Entities with all that is known of them: names, mentions, aspects, what is said, relations.

    What is added can be added again for the same memory without any count rising. An id of an entity that was merged
    means the one that it was merged into.
    """

    def entities(self, query: str = "", most: int = 200) -> tuple[Entity, ...]:
        """Entities with a name that holds the query: that very name first, then pinned, then by mentions."""
        sought = canonical_name(encodable(query))
        named = "id IN (SELECT root FROM entities WHERE instr(canonical_name, :sought))" if sought else "1"
        order = (
            "ORDER BY canonical_name = :sought DESC, pinned DESC, mentions DESC, canonical_name LIMIT :most"
        )
        return self._entities(f"{named} {order}", sought=sought, most=most)

    def entity_of(self, entity_id: int) -> Entity | None:
        """An entity with its counts, None when there is none."""
        return next(iter(self._entities(f"id = {_ROOT}", id=entity_id)), None)

    def _entities(self, which: str, **given: object) -> tuple[Entity, ...]:
        found = self.records(Entity, f"SELECT * FROM counted_entities WHERE {which}", **given)
        return tuple(replace(one, aliases=tuple(json.loads(str(one.aliases)))) for one in found)

    # All that is known of one

    def entity_page(self, entity_id: int) -> EntityPage | None:
        """All that is known of an entity, None when there is none.

        Aspects by weight; attributes with those first that wait for a person; relations by their evidence; the newest
        mentions first. Attributes that were taken back are left out.
        """
        entity = self.entity_of(entity_id)
        if entity is None:
            return None
        aspects = self.ask(
            f"SELECT name, max(weight) AS weight FROM aspects WHERE entity_id IN {_GROUP} GROUP BY canonical_name"
            " ORDER BY weight DESC, canonical_name",
            id=entity.id,
        )
        return EntityPage(
            entity,
            tuple((row["name"], row["weight"]) for row in aspects),
            self._attributes(entity.id),
            self._relations(entity.id),
            self._mentions(entity.id),
        )

    def _attributes(self, entity_id: int) -> tuple[EntityAttribute, ...]:
        rows = self.records(
            EntityAttribute,
            "SELECT attributes.*, coalesce(aspects.name, '') AS aspect FROM attributes "
            "LEFT JOIN aspects ON aspects.id = attributes.aspect_id "
            f"WHERE attributes.entity_id IN {_GROUP} AND attributes.status <> 'retracted' "
            "ORDER BY review_needed DESC, attributes.status, coalesce(aspects.weight, 0) DESC, aspect, "
            "importance DESC, attributes.id DESC LIMIT :most",
            id=entity_id, most=_MOST_ATTRIBUTES,
        )  # fmt: skip
        found: dict[tuple[object, ...], EntityAttribute] = {}
        for one in rows:
            active = one.status == "active"
            # Entities that were merged may say the same.
            found.setdefault(
                (one.aspect, " ".join(one.content.casefold().split())) if active else (one.id,), one
            )
        return tuple(found.values())

    def _relations(self, entity_id: int) -> tuple[EntityRelation, ...]:
        return self.records(
            EntityRelation,
            "WITH said AS (SELECT min(ends.id) AS id, type, other_id, direction, max(outgoing) AS outgoing, "
            "    max(strength) AS strength, raw_id, max(confidence) AS confidence FROM relation_ends AS ends "
            "  LEFT JOIN relation_evidence AS evidence ON evidence.relation_id = ends.id "
            "  WHERE entity_id = :id GROUP BY type, other_id, direction, raw_id) "
            "SELECT min(said.id) AS id, said.type AS type, other_id, max(outgoing) AS outgoing, other.name AS other, "
            "  coalesce(avg(confidence), 0) AS confidence, count(raw_id) AS evidence "
            "FROM said JOIN entities AS other ON other.id = other_id GROUP BY said.type, other_id, direction "
            "ORDER BY max(strength) DESC, evidence DESC, confidence DESC, other.canonical_name LIMIT :most",
            id=entity_id, most=_MOST_RELATIONS,
        )  # fmt: skip

    def _mentions(self, entity_id: int) -> tuple[EntityMention, ...]:
        found = self.records(
            EntityMention,
            "SELECT raw.id AS raw_id, mention_text, max(confidence) AS confidence, mentions.created_at AS created_at,"
            " substr(raw.content, 1, :preview) AS preview FROM mentions JOIN raw_memories AS raw ON raw.id = target"
            f" WHERE entity_id IN {_GROUP} GROUP BY raw.id"
            " ORDER BY mentions.created_at DESC, raw.rowid DESC LIMIT :most",
            preview=_PREVIEW + 1, id=entity_id, most=_MOST_MENTIONS,
        )  # fmt: skip
        return tuple(
            replace(one, preview=" ".join(cut_at_word(one.preview, _PREVIEW).split())) for one in found
        )

    def kind_of(self, entity_id: int) -> Kind | None:
        """Name and type of an entity, None when there is none."""
        return self.record(Kind, f"SELECT * FROM entity_kinds WHERE id = {_ROOT}", id=entity_id)

    def aspects_of(self, entity_id: int, most: int) -> tuple[str, ...]:
        """The names of an entity's aspects, the weightiest first."""
        return self.column(
            f"SELECT name FROM aspects WHERE entity_id IN {_GROUP} GROUP BY canonical_name "
            "ORDER BY max(weight) DESC, canonical_name LIMIT :most",
            id=entity_id, most=most,
        )  # fmt: skip

    # Names

    def entity_named(self, canonical: str) -> int | None:
        """The entity that has a canonical name, None when there is none."""
        found: int | None = self.value("SELECT root FROM entities WHERE canonical_name = ?", canonical)
        return found

    def find_or_make_entity(self, name: str, type: str, now: int, *, root: bool = True) -> int:
        """The id of the entity with a name, made when there is none. A known one keeps its name and its type. root:
        else that of the very name, also where it stands for another by now.
        """
        canonical = canonical_name(name)
        known = self.entity_named(canonical)
        if known is not None and not root:
            return self.count("SELECT id FROM entities WHERE canonical_name = ?", canonical)
        if known is not None:
            return known
        return self.insert_row(
            "entities", name=name, canonical_name=canonical, type=type, created_at=now, updated_at=now
        )

    def determine(self, entity_id: int, type: str, now: int) -> bool:
        """Says what kind of thing an entity is, where that was not known; whether anything changed."""
        return self.run(
            "UPDATE entities SET type = ?, updated_at = ? WHERE id = ? AND type IN (?, ?) AND type <> ?",
            type, now, entity_id, *UNDETERMINED, type,
        ) > 0  # fmt: skip

    def pin(self, entity_id: int, pinned: bool, now: int) -> bool:
        """Keeps an entity at the top and from being tidied away, or no longer; False when there is none."""
        changes = f"UPDATE entities SET pinned = :pinned, updated_at = :now WHERE id IN {_GROUP}"
        return self.run(changes, pinned=int(pinned), now=now, id=entity_id) > 0

    def merge(self, keep: int, other: int, now: int) -> None:
        """Lets one entity stand for both from now on."""
        self.run("UPDATE entities SET root = ?, updated_at = ? WHERE root = ?", keep, now, other)

    def part(self, entity_id: int, canonical: str, now: int) -> bool:
        """Takes a name from an entity; False where it does not have it. A name of which nothing else is known is
        nobody's from then on.
        """
        taken = "UPDATE entities SET root = id, updated_at = ? WHERE canonical_name = ? AND root = ? AND id <> root"
        if not self.run(taken, now, canonical, entity_id):
            return False
        nothing = (f"NOT EXISTS (SELECT 1 FROM {table} WHERE entity_id = entities.id)" for table in _KNOWN)
        self.run(f"DELETE FROM entities WHERE canonical_name = ? AND {' AND '.join(nothing)}", canonical)
        return True

    # What texts say of them

    def add_mention(
        self, entity_id: int, target: str, text: str, confidence: float, source: str, now: int
    ) -> None:
        """Links a text or note with an entity that it names. source: who found it, "note" for a note."""
        self.insert_row(
            "mentions", clash="IGNORE", entity_id=entity_id, target=target, mention_text=text, confidence=confidence,
            source=source, created_at=now,
        )  # fmt: skip

    def find_or_make_aspect(self, entity_id: int, name: str, now: int) -> int:
        """The id of an aspect of an entity, made with weight .5 when there is none."""
        canonical = canonical_name(name)
        found = self.count(
            "SELECT id FROM aspects WHERE entity_id = ? AND canonical_name = ?", entity_id, canonical
        )
        return found or self.insert_row(
            "aspects",
            entity_id=entity_id,
            name=name,
            canonical_name=canonical,
            weight=ASPECT_WEIGHT,
            created_at=now,
        )

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
        made: int | None = self.value(
            "INSERT INTO attributes (entity_id, aspect_id, raw_id, fact_id, kind, content, normalised_content, "
            "confidence, importance, status, created_at, updated_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?, ?) ON CONFLICT DO NOTHING RETURNING id",
            entity_id, aspect_id, raw_id, fact_id, kind, content, normalised_content, confidence, importance,
            now, now,
        )  # fmt: skip
        if made is None and kind == "constraint":
            self.run(
                "UPDATE attributes SET kind = 'constraint', importance = max(importance, ?), updated_at = ? "
                "WHERE entity_id = ? AND coalesce(aspect_id, 0) = ? AND normalised_content = ? "
                "AND status = 'active' AND kind = 'attribute'",
                importance, now, entity_id, aspect_id or 0, normalised_content,
            )  # fmt: skip
        return made

    def add_relation(self, source_id: int, target_id: int, type: str, strength: float, now: int) -> int:
        """The id of a relation between two different entities, made when there is none; the greater strength stays."""
        return self.count(
            "INSERT INTO relations (source_id, target_id, type, strength, created_at, updated_at) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (source_id, target_id, type) DO UPDATE "
            "SET strength = max(strength, excluded.strength) RETURNING id",
            source_id, target_id, type, strength, now, now,
        )  # fmt: skip

    def add_evidence(self, relation_id: int, raw_id: str, confidence: float, now: int) -> None:
        """Stores that a raw memory speaks for a relation. The greater confidence stays."""
        self.run(
            "INSERT INTO relation_evidence (relation_id, raw_id, confidence, created_at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (relation_id, raw_id) DO UPDATE SET confidence = max(confidence, excluded.confidence)",
            relation_id, raw_id, confidence, now,
        )  # fmt: skip

    def store_links(self, links: Links, raw_id: str, now: int) -> None:
        """Stores what the rules found in the text of a raw memory.

        A pair of names has no direction: the entity with the smaller id is its source. Two names of one entity are
        none.
        """
        entities = {
            one.canonical_name: self.find_or_make_entity(one.name, ENTITY_TYPE, now) for one in links.entities
        }
        for one in links.entities:
            self.add_mention(entities[one.canonical_name], raw_id, one.name, MENTION_CONFIDENCE, LINKER, now)
        for said in links.attributes:
            entity_id = entities[said.entity]
            self.add_attribute(
                entity_id=entity_id, aspect_id=self.find_or_make_aspect(entity_id, said.aspect, now), raw_id=raw_id,
                kind=said.kind, content=said.content, normalised_content=said.normalised_content,
                confidence=said.confidence, importance=said.importance, now=now,
            )  # fmt: skip
        for pair in links.pairs:
            source, target = sorted((entities[pair.source], entities[pair.target]))
            if source != target:
                relation = self.add_relation(source, target, pair.relation, pair.strength, now)
                self.add_evidence(relation, raw_id, pair.strength, now)

    # Attributes

    def unclassified(self, entity_id: int, most: int) -> tuple[UnclassifiedAttribute, ...]:
        """What waits for an aspect, the oldest first."""
        return self.records(
            UnclassifiedAttribute,
            "SELECT id, content, kind FROM attributes "
            f"WHERE entity_id IN {_GROUP} AND aspect_id IS NULL AND status = 'active' ORDER BY id LIMIT :most",
            id=entity_id, most=most,
        )  # fmt: skip

    def attribute(self, attribute_id: int) -> StoredAttribute | None:
        """What is said and stands, None when there is no such thing."""
        return self.record(StoredAttribute, "SELECT * FROM standing_attributes WHERE id = ?", attribute_id)

    def attributes_of_raw(self, raw_id: str) -> tuple[StoredAttribute, ...]:
        """What the rules found in a raw memory and still stands."""
        which = "raw_id = ? AND fact_id = '' ORDER BY id"
        return self.records(StoredAttribute, f"SELECT * FROM standing_attributes WHERE {which}", raw_id)

    def siblings(self, said: StoredAttribute) -> tuple[StoredAttribute, ...]:
        """What other memories say of the same aspect of the same entity, the newest first, 100 at most."""
        return self.records(
            StoredAttribute,
            "SELECT * FROM standing_attributes WHERE aspect_id IN (SELECT other.id FROM aspects AS own"
            f" JOIN aspects AS other USING (canonical_name) WHERE own.id = :aspect AND other.entity_id IN {_GROUP})"
            " AND id <> :said AND raw_id <> :raw ORDER BY id DESC LIMIT :most",
            aspect=said.aspect_id, id=said.entity_id, said=said.id, raw=said.raw_id, most=MOST_SIBLINGS,
        )  # fmt: skip

    def assign_aspect(self, attribute_id: int, aspect_id: int, kind: AttributeKind, now: int) -> bool:
        """Gives what waits its aspect and kind; what the rules took for a decision stays a constraint.

        False when it waits no longer. Where the same stands on that aspect already, this one is taken back for it.
        """
        row = self.row(
            "SELECT entity_id, normalised_content, kind, fact_id FROM attributes "
            "WHERE id = ? AND aspect_id IS NULL AND status = 'active'",
            attribute_id,
        )
        if row is None:
            return False
        kind = "constraint" if "constraint" in (kind, row["kind"]) else "attribute"
        same: int | None = self.value(
            "SELECT id FROM attributes WHERE entity_id = ? AND coalesce(aspect_id, 0) = ? AND normalised_content = ? "
            "AND status = 'active'",
            row["entity_id"], aspect_id, row["normalised_content"],
        )  # fmt: skip
        if same is not None:
            self.retract(attribute_id, same, "says the same", now)
        self.run(
            "UPDATE attributes SET aspect_id = ?, kind = CASE ? WHEN 'constraint' THEN 'constraint' ELSE kind END, "
            "fact_id = CASE fact_id WHEN '' THEN ? ELSE fact_id END, importance = max(importance, ?), updated_at = ? "
            "WHERE id = ?",
            aspect_id, kind, row["fact_id"], CONSTRAINT_IMPORTANCE if kind == "constraint" else 0.0, now,
            attribute_id if same is None else same,
        )  # fmt: skip
        return same is None

    def retract(self, attribute_id: int, instead: int, why: str, now: int) -> None:
        """Lets another attribute stand instead of one that says the same."""
        self.run(
            "UPDATE attributes SET status = 'retracted', superseded_by = ?, superseded_why = ?, review_needed = 0, "
            "updated_at = ? WHERE id = ?",
            instead, why, now, attribute_id,
        )  # fmt: skip

    def flag(self, outdated: int, newer: int, why: str, now: int) -> None:
        """Asks a person whether one attribute is outdated by another; it stands until they say so."""
        self.run(
            "UPDATE attributes SET superseded_by = ?, superseded_why = ?, review_needed = 1, updated_at = ?"
            " WHERE id = ?",
            newer, why, now, outdated,
        )  # fmt: skip
