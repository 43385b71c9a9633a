"""Writes what a model found in raw memories into the knowledge graph, once their facts are written."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from core.errors import NuggetsError
from core.pipeline.database.connection import Database
from core.pipeline.database.found_relations import WrittenFact
from core.pipeline.database.tables import Tables
from core.pipeline.intake.names import canonical_name
from core.pipeline.knowledge.relations import Ends, persist_relations
from core.pipeline.knowledge.rules import importance_of, kind_of
from core.pipeline.knowledge.superseding import flag_outdated
from core.settings.pipeline_sections import PipelineConfiguration

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
    if not configuration.graph.enabled or not database.reading.found_relations.due(1):
        return GraphUpdate()
    warnings: list[str] = []
    done: list[str] = []
    counts = _Counts()
    try:
        # What a power cut takes is still due afterwards.
        with database.write(lasting=False) as writer:
            before = writer.entities.count()
            for raw_id in writer.found_relations.due(most):
                writer.connection.execute("SAVEPOINT one_memory")
                try:
                    counts.add(_update_from_raw(writer, raw_id, configuration, now))
                    done.append(raw_id)
                except (sqlite3.IntegrityError, sqlite3.DataError, ValueError) as error:
                    writer.connection.execute("ROLLBACK TO one_memory")
                    warnings.append(f"could not store the entities of {raw_id}: {error}")
                writer.found_relations.done(raw_id)
                writer.connection.execute("RELEASE one_memory")
            made = writer.entities.count() - before
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
    ends = persist_relations(writer, raw_id, writer.found_relations.found_in(raw_id), now)
    counts = _Counts(relations=len(ends))
    touched: dict[int, None] = {}
    for fact in writer.found_relations.facts_to_place(raw_id):
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
