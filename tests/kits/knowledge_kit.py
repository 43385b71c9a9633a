"""A pipeline's database with raw memories, facts and what a model found in them, written as the pipeline does."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from core.pipeline import classification as classify_job
from core.pipeline.classification import ClassifyResult
from core.pipeline.database import facts, jobs
from core.pipeline.database.connection import Database
from core.pipeline.database.entities import Kind
from core.pipeline.extract import ExtractedRelation
from core.pipeline.intake.normalisation import normalise
from core.pipeline.knowledge_graph import GraphUpdate, bring_in
from core.pipeline.models.provider import Provider
from core.pipeline.records import EntityPage, Job
from core.pipeline.writes.submit import Submission, store_submission
from core.settings.pipeline_sections import PipelineConfiguration

DAY = 86_400_000


def triple(source: str, relationship: str, target: str, confidence: float = 0.9) -> ExtractedRelation:
    return ExtractedRelation(source, relationship, target, confidence)


_TABLES = ("entities", "mentions", "aspects", "attributes", "relations", "relation_evidence")


class Knowledge:
    """The database of a folder. Times are in epoch milliseconds."""

    def __init__(
        self, home: Path, configuration: PipelineConfiguration | None = None, *, seconds: float = 5.0
    ) -> None:
        self.configuration = configuration or PipelineConfiguration()
        self.database = Database.open(home, seconds=seconds)
        self._found: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.database.close()

    def submit(self, raw_id: str, text: str = "nothing with a name in it", *, at: int = 1) -> str:
        """A raw memory with what the rules link to it."""
        store_submission(self.database, self.configuration, Submission(text), raw_id=raw_id, now=at)
        return raw_id

    def find(self, raw_id: str, *relations: ExtractedRelation, said: tuple[str, ...] = ()) -> None:
        """What extraction commits for a raw memory: relations, and the facts that were accepted."""
        with self.database.write() as writer:
            found = json.dumps([astuple(one) for one in relations])
            writer.run("UPDATE raw_memories SET relations = ? WHERE id = ?", found, raw_id)
            for number, content in enumerate(said):
                writer.facts.insert(_fact(f"fact-{raw_id}-{number}", raw_id, content))
        self._found.append(raw_id)

    def bring_in(self, now: int = 5) -> GraphUpdate:
        """Brings into the graph what was found since; what came of the last text."""
        found, self._found, done = self._found, [], GraphUpdate()
        with self.database.write() as writer:
            for raw_id in found:
                done = bring_in(writer, raw_id, self.configuration, now)
        return done

    def learn(
        self, raw_id: str, *relations: ExtractedRelation, said: tuple[str, ...] = (), at: int = 1
    ) -> GraphUpdate:
        """All of it for one memory without names of its own."""
        self.submit(raw_id, f"{raw_id} says something", at=at)
        self.find(raw_id, *relations, said=said)
        return self.bring_in(at)

    def say(
        self,
        content: str,
        entity: str = "it",
        aspect: str = "general",
        *,
        at: int = 1,
        kind: str = "attribute",
    ) -> int:
        """A classified attribute of an entity, from a memory of its own."""
        raw_id = self.submit(f"raw-{content}-{at}", f"{content} {at}".lower(), at=at)
        with self.database.write() as writer:
            entity_id = writer.entities.find_or_make_entity(entity, "extracted", at)
            made = writer.entities.add_attribute(
                entity_id=entity_id,
                aspect_id=writer.entities.find_or_make_aspect(entity_id, aspect, at),
                raw_id=raw_id,
                kind="constraint" if kind == "constraint" else "attribute",
                content=content,
                normalised_content=normalise(content).normalised_content,
                confidence=0.7,
                importance=0.5,
                now=at,
            )
        assert made is not None
        return made

    def entity(self, name: str) -> EntityPage:
        """The page of the entity of a name or alias."""
        entity_id = self.database.reading.entities.entity_named(name.lower())
        assert entity_id is not None
        page = self.database.reading.entities.entity_page(entity_id)
        assert page is not None
        return page

    def kind(self, name: str) -> Kind:
        found = self.database.reading.entities.kind_of(self.entity(name).entity.id)
        assert found is not None
        return found

    def lease(self, now: int = 10) -> jobs.Lease | None:
        """The next job of this kind, which rests a little after it was put in."""
        later = now + self.configuration.structural.poll_interval_ms
        with self.database.write() as writer:
            return writer.jobs.lease(
                "structural_classify", now=later, lease_ms=60_000, worker="test", token=f"token-{now}"
            )

    def classify(
        self, provider: Provider | None, *, now: int = 10, last: bool = False
    ) -> ClassifyResult | None:
        """Leases the next job of this kind and does it; `last` as its last attempt. None when the lease was lost."""
        lease = self.lease(now)
        assert lease is not None
        job = replace(lease.job, attempts=lease.job.max_attempts) if last else lease.job
        work = classify_job.prepare(self.database, job, self.configuration)
        assert work is not None
        plan = classify_job.think(work, provider, self.configuration)
        return classify_job.commit(self.database, plan, lease.token, now)

    def jobs(self) -> tuple[Job, ...]:
        """The jobs of this kind, the first put in at the head."""
        found = [job for job in self.database.reading.jobs.jobs() if job.type == "structural_classify"]
        return tuple(sorted(found, key=lambda job: job.id))

    def known(self) -> list[object]:
        """All that is known of all entities, without the times at which rows were touched."""
        reader = self.database.reading.connection
        return [
            (table, *sorted((name, str(value)) for name, value in dict(row).items() if name != "updated_at"))
            for table in _TABLES
            for row in reader.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
        ]

    def dump(self) -> list[tuple[object, ...]]:
        """All rows of the graph."""
        return [
            tuple(row)
            for table in _TABLES
            for row in self.database.reading.connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
        ]


def _fact(fact_id: str, raw_id: str, content: str) -> facts.StoredFact:
    forms = normalise(content)
    return facts.StoredFact(
        id=fact_id,
        raw_id=raw_id,
        proposal_id=f"proposal of {fact_id}",
        nugget="memory",
        content=forms.storage_content,
        normalised_content=forms.normalised_content,
        content_hash=forms.content_hash,
        type="fact",
        confidence=0.8,
        note_id=f"note of {fact_id}",
        status="active",
        model="scripted",
        prompt_version="extract-1",
        created_at=1,
    )
