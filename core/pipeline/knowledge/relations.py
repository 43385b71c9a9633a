"""Writes the relations that a model found: entities, mentions, and evidence counted once per memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from core.pipeline.database import entities
from core.pipeline.database.tables import Tables
from core.pipeline.extraction.result import ExtractedRelation
from core.pipeline.intake.linker import ENTITY_TYPE, PAIR_TYPE
from core.pipeline.intake.names import canonical_name

MODEL: Final = "model"
STRENGTH: Final = 1.0
SHORTEST_NAME: Final = 2


@dataclass(frozen=True, slots=True)
class Ends:
    """A relation whose rows were written. source: the entity's id; name: how the memory calls it, canonical."""

    source: int
    name: str


def persist_relations(
    writer: Tables, raw_id: str, relations: Iterable[ExtractedRelation], now: int
) -> tuple[Ends, ...]:
    """Writes the relations of one raw memory; doing it again changes nothing. Those that were written, in order.

    Names of a single character and relations of a thing with itself are left out, also where the two are names of one
    entity. A relation's confidence is the average over the memories that say it; of one that says it twice the greater
    counts. now: epoch ms.
    """
    written: list[Ends] = []
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
        written.append(Ends(source, source_name))
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
