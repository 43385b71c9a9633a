"""The knowledge graph: what a model found in texts, what newer statements outdate, and what people change of it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from core.errors import ErrorCode, InvalidInputError, NotFoundError, NuggetsError
from core.pipeline.contradiction import Supersession, shared_words, supersedes
from core.pipeline.database import entities
from core.pipeline.database.connection import Database
from core.pipeline.database.entities import Kind, StoredAttribute
from core.pipeline.database.raw import WrittenFact
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
from core.pipeline.records import Entity, EntityChange, HistoryRow
from core.settings.pipeline_sections import PipelineConfiguration
from core.text.normalise import encodable


def kind_of(content: str) -> AttributeKind:
    """A constraint where the words are a decision's, else an attribute."""
    return "constraint" if find_decisions(content) else "attribute"


def importance_of(kind: AttributeKind) -> float:
    """How much a kind weighs, 0 to 1."""
    return CONSTRAINT_IMPORTANCE if kind == "constraint" else ATTRIBUTE_IMPORTANCE


def aspect_by_rules(content: str, name: str) -> str:
    """The aspect of a statement about an entity, by the verbs behind its name, or in the whole of it without one."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", content, re.IGNORECASE)
    return aspect_of(content[found.end() :].lstrip(" ,:;-") if found else content)


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


# So many raw memories are brought in at once.
BATCH_SIZE: Final = 20


@dataclass(frozen=True, slots=True)
class GraphUpdate:
    """What came of raw memories: ids of these, how many entities and attributes are new, how many were flagged.

    relations: those that were written or written again. warnings: what went wrong; the facts are untouched by it.
    """

    raws: tuple[str, ...] = ()
    entities: int = 0
    relations: int = 0
    attributes: int = 0
    flagged: int = 0
    warnings: tuple[str, ...] = ()


def update_graph(
    database: Database, configuration: PipelineConfiguration, now: int, *, most: int = BATCH_SIZE
) -> GraphUpdate:
    """Brings in what waits, of so many raw memories at most, in one transaction. now: epoch ms.

    What fails becomes a warning and is not tried again, unless the database was only busy or the disk full.
    """
    if not configuration.graph.enabled or not database.reading.raw.knowledge_due(1):
        return GraphUpdate()
    warnings: list[str] = []
    done: list[str] = []
    counts = _Counts()
    try:
        # What a power cut takes is still due afterwards.
        with database.write(lasting=False) as writer:
            before = writer.entities.count_entities()
            for raw_id in writer.raw.knowledge_due(most):
                writer.connection.execute("SAVEPOINT one_memory")
                try:
                    counts.add(_update_from_raw(writer, raw_id, configuration, now))
                    done.append(raw_id)
                except (sqlite3.IntegrityError, sqlite3.DataError, ValueError) as error:
                    writer.connection.execute("ROLLBACK TO one_memory")
                    warnings.append(f"could not store the entities of {raw_id}: {error}")
                writer.raw.knowledge_done(raw_id)
                writer.connection.execute("RELEASE one_memory")
            made = writer.entities.count_entities() - before
    except NuggetsError as error:
        return GraphUpdate(warnings=(f"entities are not stored yet: {error.message}",))
    return GraphUpdate(
        tuple(done), made, counts.relations, counts.attributes, counts.flagged, tuple(warnings)
    )


@dataclass(slots=True)
class _Counts:
    relations: int = 0
    attributes: int = 0
    flagged: int = 0

    def add(self, more: _Counts) -> None:
        self.relations += more.relations
        self.attributes += more.attributes
        self.flagged += more.flagged


def _update_from_raw(writer: Tables, raw_id: str, configuration: PipelineConfiguration, now: int) -> _Counts:
    ends = persist_relations(writer, raw_id, writer.raw.found_in(raw_id), now)
    counts = _Counts(relations=len(ends))
    touched: dict[int, None] = {}
    for fact in writer.raw.facts_to_place(raw_id):
        subject = _subject(fact, ends)
        if subject is None:
            continue
        made = _stub(writer, raw_id, subject.source, fact, now)
        if made is not None:
            touched[subject.source] = None
            counts.attributes += 1
            _retract_clause(writer, raw_id, subject, fact, made, now)
    for said in writer.entities.attributes_of_raw(raw_id):
        counts.flagged += flag_outdated(writer, said, now)
    for entity_id in touched:
        writer.jobs.enqueue(
            type="structural_classify",
            target=str(entity_id),
            max_attempts=configuration.worker.max_retries,
            now=now,
            # What is said of an entity within that time is asked about at once.
            rest_ms=configuration.structural.poll_interval_ms,
        )
    return counts


def _subject(fact: WrittenFact, ends: Iterable[Ends]) -> Ends | None:
    """The source of the first relation that the fact names."""
    said = canonical_name(fact.content)
    return next((one for one in ends if re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", said)), None)


def _stub(writer: Tables, raw_id: str, entity_id: int, fact: WrittenFact, now: int) -> int | None:
    """What a fact says of an entity, without an aspect until it was classified."""
    kind = kind_of(fact.content)
    return writer.entities.add_attribute(
        entity_id=entity_id,
        aspect_id=None,
        raw_id=raw_id,
        fact_id=fact.id,
        kind=kind,
        content=fact.content,
        normalised_content=fact.normalised_content,
        confidence=fact.confidence,
        importance=importance_of(kind),
        now=now,
    )


def _retract_clause(
    writer: Tables, raw_id: str, subject: Ends, fact: WrittenFact, stub: int, now: int
) -> None:
    """Lets a fact stand instead of the clause that the rules read out of the same sentence."""
    for said in writer.entities.attributes_of_raw(raw_id):
        whole = f"{subject.name} {said.normalised_content}"
        if said.entity_id == subject.source and fact.normalised_content == whole:
            writer.entities.retract(said.id, stub, "says the same", now)


LONGEST_NAME: Final = 200
_KEPT: Final = "nothing was changed"
_KINDS: Final[dict[str, Literal["merged", "alias"]]] = {"entities_merged": "merged", "alias_added": "alias"}
_UNDONE: Final = "entity_change_undone"
# So many of the newest changes are known.
_MOST: Final = 10_000


def merge_entities(database: Database, keep_id: int, other_id: int, *, by: str, now: int) -> Entity:
    """Makes two entities one: what is known of the other is shown with the kept one, and its names lead there.

    now: epoch ms. Raises NotFoundError for an id that is none, InvalidInputError for two that are one.
    """
    with database.write() as writer:
        kept, other = _known(writer, keep_id), _known(writer, other_id)
        if kept.id == other.id:
            raise InvalidInputError(
                "an entity cannot be merged with itself", where=f"entity {keep_id}", kept=_KEPT
            )
        writer.entities.merge(kept.id, other.id, now)
        writer.history.append(
            at=now, event="entities_merged", changed_by=by, old_content=other.name, new_content=kept.name,
            metadata={"kept": kept.id, "merged": other.id},
        )  # fmt: skip
        merged = writer.entities.entity_of(kept.id)
    assert merged is not None
    return merged


def add_alias(database: Database, entity_id: int, name: str, *, by: str, now: int) -> Entity:
    """Gives an entity another name, under which later memories find it.

    Raises NotFoundError for an id that is none, InvalidInputError for a name that is none, or another entity's.
    """
    name = compose(collapse_white_space(encodable(name)))
    if not SHORTEST_NAME <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise InvalidInputError(
            f"a name has {SHORTEST_NAME} to {LONGEST_NAME} characters",
            code=ErrorCode.BAD_NAME,
            where="alias",
            kept=_KEPT,
        )
    with database.write() as writer:
        entity = _known(writer, entity_id)
        holder = writer.entities.entity_named(canonical_name(name))
        if holder not in (None, entity.id):
            raise InvalidInputError(
                "another entity has this name",
                code=ErrorCode.NAME_TAKEN,
                where=f'"{name}"',
                kept=_KEPT,
                todo="merge the two instead",
            )
        if holder is None:
            writer.entities.add_alias(entity.id, name, now)
            writer.history.append(
                at=now, event="alias_added", changed_by=by, old_content=entity.name, new_content=name,
                metadata={"kept": entity.id},
            )  # fmt: skip
        named = writer.entities.entity_of(entity_id)
    assert named is not None
    return named


def entity_changes(reader: Tables, entity_id: int | None = None) -> tuple[EntityChange, ...]:
    """What people changed of entities, newest first; of one, where its id is given, as the one that was kept."""
    rows = reader.history.events((*_KINDS, _UNDONE), _MOST)
    undone = {int(str(row.metadata["undoes"])) for row in rows if row.event == _UNDONE}
    found = (_change(row, row.id in undone) for row in rows if row.event in _KINDS)
    return tuple(change for change in found if entity_id in (None, change.entity_id))


def undo_entity_change(database: Database, change_id: int, *, by: str, now: int) -> EntityChange:
    """Takes a merge or a name back: the other entity is there again with all that it had. What came since stays with
    the entity that was kept.

    now: epoch ms. Raises NotFoundError for no such change or one that is undone.
    """
    with database.write() as writer:
        change = next((one for one in entity_changes(writer) if one.id == change_id), None)
        if change is None or change.undone:
            what = "no such change" if change is None else "it is undone already"
            raise NotFoundError(what, where=f"change {change_id}", kept=_KEPT)
        if change.kind == "merged":
            undone = writer.entities.part(change.entity_id, change.merged_id, now)
        else:
            undone = writer.entities.drop_alias(change.entity_id, change.name, now)
        if not undone:
            raise NotFoundError("nothing of it is left", where=f"change {change_id}", kept=_KEPT)
        writer.history.append(
            at=now, event=_UNDONE, changed_by=by, old_content=change.entity, new_content=change.name,
            metadata={"undoes": change_id},
        )  # fmt: skip
    return change


def _change(row: HistoryRow, undone: bool) -> EntityChange:
    kept, merged = (int(str(row.metadata.get(name, 0))) for name in ("kept", "merged"))
    kind = _KINDS[row.event]
    entity, name = row.new_content, row.old_content
    if kind == "alias":
        entity, name = name, entity
    return EntityChange(row.id, row.at, kind, row.changed_by, kept, entity, name, merged, undone)


def _known(writer: Tables, entity_id: int) -> Kind:
    found = writer.entities.kind_of(entity_id)
    if found is None:
        raise NotFoundError("no such entity", field="entity", where=f"entity {entity_id}", kept=_KEPT)
    return found
