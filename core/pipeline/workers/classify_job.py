"""The classification job: reads the statements about one entity, asks a model or the rules, writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.errors import ErrorCode, NuggetsError
from core.pipeline.database.connection import Database
from core.pipeline.database.entities import Kind, UnclassifiedAttribute
from core.pipeline.database.tables import Tables
from core.pipeline.knowledge.classification import (
    MOST_ASPECTS,
    PROMPT_VERSION,
    Classified,
    Placed,
    classification_prompt,
    read_classification,
)
from core.pipeline.knowledge.rules import aspect_by_rules
from core.pipeline.knowledge.superseding import flag_outdated
from core.pipeline.models.provider import CallRefusedError, ModelError, Provider
from core.pipeline.records import Job
from core.settings.pipeline_sections import PipelineConfiguration

DROPPED: Final = "dropped_from_llm_output"
_STAGE: Final = "structural classification failed"


class DroppedFromAnswerError(NuggetsError):
    """The model left statements out. Those that it answered are written; the others wait for the next attempt."""

    code = ErrorCode.MODEL
    error_class: Final = DROPPED
    retryable: Final = True


@dataclass(frozen=True, slots=True)
class ClassifyWork:
    """What there is to classify: statements of one entity that have no aspect. last_attempt: of the job."""

    job: Job
    entity: Kind
    aspects: tuple[str, ...]
    items: tuple[UnclassifiedAttribute, ...]
    last_attempt: bool


@dataclass(frozen=True, slots=True)
class ClassifyPlan:
    """What is to be written. by_rules: how many places the rules gave. dropped: ids that the model left out."""

    work: ClassifyWork
    placed: tuple[Placed, ...]
    entity_type: str = ""
    by_rules: int = 0
    dropped: tuple[int, ...] = ()
    model: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassifyResult:
    """What the job left: statements with an aspect now, and how many others these seem to outdate."""

    placed: int
    flagged: int
    warnings: tuple[str, ...] = ()


def prepare(database: Database, job: Job, configuration: PipelineConfiguration) -> ClassifyWork | None:
    """Reads what waits of the job's entity, a batch at most; None when there is nothing (see `skipped_why`)."""
    reader = database.reading
    entity = _entity(reader, job)
    items = (
        reader.entities.unclassified(entity.id, configuration.structural.classify_batch_size)
        if entity
        else ()
    )
    if entity is None or not items:
        return None
    aspects = reader.entities.aspects_of(entity.id, MOST_ASPECTS)
    return ClassifyWork(job, entity, aspects, items, job.attempts >= job.max_attempts)


def skipped_why(database: Database, job: Job) -> str:
    """Why there was nothing to prepare, for the job's result."""
    return "nothing_to_classify" if _entity(database.reading, job) else "entity_not_found"


def think(
    work: ClassifyWork, provider: Provider | None, configuration: PipelineConfiguration
) -> ClassifyPlan:
    """Asks the model once about all statements. Writes nothing; never within a write transaction.

    The rules decide without a model, and where it fails for good or at the last attempt. Raises the ModelError
    otherwise, so that the job is tried again; always where the call was refused to spare the model.
    """
    if provider is None:
        return _by_rules(work, Classified(()), "")
    asked = classification_prompt(
        work.entity, work.aspects, work.items, longest=configuration.guardrails.max_content_chars
    )
    try:
        answer = provider.generate(asked.prompt, asked.schema, configuration.extraction.timeout / 1_000)
        found = read_classification(answer, asked)
    except CallRefusedError:
        raise
    except ModelError as error:
        if error.outage or (error.retryable and not work.last_attempt):
            raise error.during(_STAGE) from error
        return _by_rules(work, Classified(()), "", f"{error.during(_STAGE).what}; sorted by rules")
    answered = {one.id for one in found.placed}
    dropped = tuple(item.id for item in work.items if item.id not in answered)
    if dropped and work.last_attempt:
        return _by_rules(work, found, answer.model, f"{len(dropped)} {DROPPED}; sorted by rules")
    return ClassifyPlan(work, found.placed, found.entity_type, dropped=dropped, model=answer.model)


def commit(database: Database, plan: ClassifyPlan, lease_token: str, now: int) -> ClassifyResult | None:
    """Writes the plan and completes the job in one transaction; None when the lease was lost, and nothing is written.

    Aspects are made where they are new, statements get theirs, an entity of no known type gets one, and what seems
    outdated by them is flagged. Where more waits, another job is put in. Raises DroppedFromAnswerError, after what was
    answered is written and with the job still leased, when the model left some out.
    """
    job = plan.work.job
    # What a power cut takes is worked out again: the job is still to be done then.
    with database.write(lasting=False) as writer:
        if not writer.jobs.holds(job.id, lease_token):
            return None
        written = _write(writer, plan, now)
        if not plan.dropped:
            result = {
                "placed": written.placed, "by_rules": plan.by_rules, "flagged": written.flagged,
                "model": plan.model, "prompt_version": PROMPT_VERSION, "warnings": list(plan.warnings),
            }  # fmt: skip
            writer.jobs.complete(job.id, lease_token, now=now, result=result)
            if writer.entities.unclassified(plan.work.entity.id, 1):
                writer.jobs.enqueue(
                    type="structural_classify",
                    target=job.target,
                    max_attempts=job.max_attempts,
                    now=now,
                )
    if plan.dropped:
        raise DroppedFromAnswerError(
            f"{DROPPED}: {len(plan.dropped)} of {len(plan.work.items)} statements",
            where=plan.work.entity.name,
            kept="the others were classified",
        )
    return written


def _write(writer: Tables, plan: ClassifyPlan, now: int) -> ClassifyResult:
    entity_id = plan.work.entity.id
    if writer.entities.kind_of(entity_id) is None:
        return ClassifyResult(0, 0, plan.warnings)
    if plan.entity_type:
        writer.entities.determine(entity_id, plan.entity_type, now)
    placed = flagged = 0
    for one in plan.placed:
        said = writer.entities.attribute(one.id)
        if said is None or said.aspect_id is not None:
            continue
        # Of an entity that was merged, so that an undo takes it along.
        aspect = writer.entities.find_or_make_aspect(said.entity_id, one.aspect, now)
        if writer.entities.assign_aspect(one.id, aspect, one.kind, now):
            placed += 1
            now_said = writer.entities.attribute(one.id)
            flagged += flag_outdated(writer, now_said, now) if now_said else 0
    return ClassifyResult(placed, flagged, plan.warnings)


def _by_rules(work: ClassifyWork, found: Classified, model: str, *warnings: str) -> ClassifyPlan:
    """What the model answered, and for all else what the rules say."""
    answered = {one.id for one in found.placed}
    rest = tuple(
        Placed(item.id, aspect_by_rules(item.content, work.entity.name), item.kind)
        for item in work.items
        if item.id not in answered
    )
    return ClassifyPlan(
        work, found.placed + rest, found.entity_type, by_rules=len(rest), model=model, warnings=warnings
    )


def _entity(reader: Tables, job: Job) -> Kind | None:
    return reader.entities.kind_of(int(job.target)) if job.target.isdecimal() else None
