"""The knowledge graph: what a model found in texts, what newer statements outdate, and what people change of it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from typing import Final, NamedTuple

from core.errors import ErrorCode, InvalidInputError, NotFoundError
from core.pipeline.database import entities
from core.pipeline.database.connection import Database
from core.pipeline.database.entities import Kind, StoredAttribute
from core.pipeline.database.tables import Tables
from core.pipeline.extract import ExtractedRelation
from core.pipeline.intake.linker import (
    ATTRIBUTE_IMPORTANCE,
    CONSTRAINT_IMPORTANCE,
    ENTITY_TYPE,
    PAIR_TYPE,
    AttributeKind,
    aspect_of,
    find_decisions,
)
from core.pipeline.intake.names import canonical_name
from core.pipeline.intake.normalisation import collapse_white_space, compose
from core.pipeline.records import Entity
from core.pipeline.statements import SUPERSESSION_CONFIDENCE, shared_words, supersedes
from core.settings.pipeline_sections import PipelineConfiguration
from core.text.normalise import encodable


def kind_of(content: str) -> AttributeKind:
    """A constraint where the words are a decision's, else an attribute."""
    return "constraint" if find_decisions(content) else "attribute"


def aspect_by_rules(content: str, name: str) -> str:
    """The aspect of a statement about an entity, by the verbs behind its name, or in the whole of it without one."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", content, re.IGNORECASE)
    return aspect_of(content[found.end() :].lstrip(" ,:;-") if found else content)


MODEL: Final = "model"
STRENGTH: Final = 1.0
SHORTEST_NAME: Final = 2


def persist_relations(
    writer: Tables, raw_id: str, relations: Iterable[ExtractedRelation], now: int
) -> tuple[tuple[int, str], ...]:
    """Writes the relations of one raw memory; doing it again changes nothing. Of those that were written, in order, the
    source: its entity's id, and how the memory calls it, canonical.

    Names of a single character and relations of a thing with itself are left out, also where the two are names of one
    entity. A relation's confidence is the average over the memories that say it; of one that says it twice the greater
    counts. now: epoch ms.
    """
    written: list[tuple[int, str]] = []
    for one in relations:
        source_name, target_name = canonical_name(one.source), canonical_name(one.target)
        named = relation_type(one.relationship)
        if min(len(source_name), len(target_name)) < SHORTEST_NAME or source_name == target_name or not named:
            continue
        known = writer.entities.entity_named(source_name)
        if known is not None and known == writer.entities.entity_named(target_name):
            continue
        source = _entity(writer, raw_id, one.source, one.source_type, one.confidence, now)
        target = _entity(writer, raw_id, one.target, one.target_type, one.confidence, now)
        # Pairs that the rules found have no direction, and this is the same as such a pair.
        ends = sorted((source, target)) if named == PAIR_TYPE else (source, target)
        relation = writer.entities.add_relation(ends[0], ends[1], named, STRENGTH, now)
        writer.entities.add_evidence(relation, raw_id, one.confidence, now)
        written.append((source, source_name))
    return tuple(written)


def relation_type(relationship: str) -> str:
    """A relationship as relations are compared: "Works_At" and "works at" are one."""
    named = canonical_name(relationship.replace("_", " "))
    return PAIR_TYPE if named == PAIR_TYPE.replace("_", " ") else named


def _entity(writer: Tables, raw_id: str, name: str, type: str, confidence: float, now: int) -> int:
    determined = type if type not in ("", *entities.UNDETERMINED) else ENTITY_TYPE
    entity_id = writer.entities.find_or_make_entity(name, determined, now)
    if determined != ENTITY_TYPE:
        writer.entities.determine(entity_id, determined, now)
    writer.entities.add_mention(entity_id, raw_id, name, confidence, MODEL, now)
    return entity_id


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
        days, kept = (newer.submitted_at - older.submitted_at) / _DAY_MS, older.kind == "constraint"
        found = supersedes(newer.content, older.content, gap_days=days, old_is_constraint=kept)
        if found is not None and older.superseded_by != newer.id:
            writer.entities.flag(older.id, newer.id, f"{found} {SUPERSESSION_CONFIDENCE[found]:.2f}", now)
            flags += 1
    return flags


class GraphUpdate(NamedTuple):
    """What came of a text: how many relations were written, and attributes are new or flagged. warning: what went
    wrong, "" for nothing; the facts are untouched by it.
    """

    relations: int = 0
    attributes: int = 0
    flagged: int = 0
    warning: str = ""


def bring_in(writer: Tables, raw_id: str, configuration: PipelineConfiguration, now: int) -> GraphUpdate:
    """Brings into the graph what a model found in a text, and the facts of it that stand, in the caller's transaction;
    doing it again changes nothing. What fails is left out.
    """
    if not configuration.graph.enabled:
        return GraphUpdate()
    writer.run("SAVEPOINT knowledge")
    try:
        done = _bring_in(writer, raw_id, configuration, now)
    except (sqlite3.IntegrityError, sqlite3.DataError, ValueError) as error:
        writer.run("ROLLBACK TO knowledge")
        done = GraphUpdate(warning=f"could not store the entities of {raw_id}: {error}")
    writer.run("RELEASE knowledge")
    return done


def _bring_in(writer: Tables, raw_id: str, configuration: PipelineConfiguration, now: int) -> GraphUpdate:
    ends = persist_relations(writer, raw_id, writer.raw.found_in(raw_id), now)
    touched: dict[int, None] = {}
    attributes = flagged = 0
    facts = writer.ask(
        # That stand and hang on no entity yet.
        "SELECT id, content, normalised_content, confidence FROM facts WHERE raw_id = ? AND status = 'active'"
        " AND NOT EXISTS (SELECT 1 FROM attributes WHERE attributes.fact_id = facts.id AND fact_id <> '')"
        " ORDER BY rowid",
        raw_id,
    )
    for fact_id, content, normalised, confidence in facts.fetchall():
        said = canonical_name(content)
        # The source of the first relation that the fact names.
        named = (one for one in ends if re.search(rf"(?<!\w){re.escape(one[1])}(?!\w)", said))
        entity_id, name = next(named, (0, ""))
        kind = kind_of(content)
        importance = CONSTRAINT_IMPORTANCE if kind == "constraint" else ATTRIBUTE_IMPORTANCE
        made = writer.entities.add_attribute(
            entity_id=entity_id, aspect_id=None, raw_id=raw_id, fact_id=fact_id, kind=kind, content=content,
            normalised_content=normalised, confidence=confidence, importance=importance, now=now,
        ) if entity_id else None  # fmt: skip
        if made is None:
            continue
        touched[entity_id] = None
        attributes += 1
        for clause in writer.entities.attributes_of_raw(raw_id):
            # The fact stands instead of the clause that the rules read out of the same sentence.
            if clause.entity_id == entity_id and normalised == f"{name} {clause.normalised_content}":
                writer.entities.retract(clause.id, made, "says the same", now)
    for attribute in writer.entities.attributes_of_raw(raw_id):
        flagged += flag_outdated(writer, attribute, now)
    for entity_id in touched:
        # What is said of an entity within that time is asked about at once.
        writer.jobs.enqueue(
            type="structural_classify", target=str(entity_id), max_attempts=configuration.worker.max_retries,
            now=now, rest_ms=configuration.structural.poll_interval_ms,
        )  # fmt: skip
    return GraphUpdate(len(ends), attributes, flagged)


# What a person says of entities

LONGEST_NAME: Final = 200
_KEPT: Final = "nothing was changed"


def merge_entities(database: Database, keep_id: int, other_id: int, *, by: str, now: int) -> Entity:
    """See `Pipeline.merge_entities`: what is known of the other is shown with the kept one; its names lead there."""
    with database.write() as writer:
        kept, other = _known(writer, keep_id), _known(writer, other_id)
        if kept.id == other.id:
            said = "an entity cannot be merged with itself"
            raise InvalidInputError(said, where=f"entity {keep_id}", kept=_KEPT)
        writer.entities.merge(kept.id, other.id, now)
        return _record(writer, "entities_merged", kept, other.name, by, now)


def add_alias(database: Database, entity_id: int, name: str, *, by: str, now: int) -> Entity:
    """See `Pipeline.alias`."""
    name = compose(collapse_white_space(encodable(name)))
    if not SHORTEST_NAME <= len(name) <= LONGEST_NAME or not name.isprintable():
        said = f"a name has {SHORTEST_NAME} to {LONGEST_NAME} characters"
        raise InvalidInputError(said, code=ErrorCode.BAD_NAME, where="alias", kept=_KEPT)
    with database.write() as writer:
        entity = _known(writer, entity_id)
        holder = writer.entities.entity_named(canonical_name(name))
        if holder == entity.id:
            return _shown(writer, entity.id)
        if holder is not None:
            raise InvalidInputError(
                "another entity has this name", code=ErrorCode.NAME_TAKEN, where=f'"{name}"', kept=_KEPT,
                todo="merge the two instead",
            )  # fmt: skip
        writer.entities.merge(entity.id, writer.entities.find_or_make_entity(name, ENTITY_TYPE, now), now)
        return _record(writer, "alias_added", entity, name, by, now)


def part_entity(database: Database, entity_id: int, name: str, *, by: str, now: int) -> Entity:
    """See `Pipeline.part_entity`."""
    with database.write() as writer:
        entity = _known(writer, entity_id)
        if not writer.entities.part(entity.id, canonical_name(encodable(name)), now):
            raise NotFoundError("the entity has no such further name", where=f'"{name}"', kept=_KEPT)
        return _record(writer, "entity_parted", entity, name, by, now)


def _record(writer: Tables, event: str, entity: Kind, name: str, by: str, now: int) -> Entity:
    """Puts down what a person changed; the entity as it is by then."""
    told = {"entity": entity.id}
    writer.history.append(
        at=now, event=event, changed_by=by, old_content=name, new_content=entity.name, metadata=told
    )
    return _shown(writer, entity.id)


def _known(writer: Tables, entity_id: int) -> Kind:
    found = writer.entities.kind_of(entity_id)
    if found is None:
        raise NotFoundError("no such entity", field="entity", where=f"entity {entity_id}", kept=_KEPT)
    return found


def _shown(writer: Tables, entity_id: int) -> Entity:
    found = writer.entities.entity_of(entity_id)
    assert found is not None
    return found
