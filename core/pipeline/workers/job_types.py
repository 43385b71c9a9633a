"""The types of jobs: each reads, thinks and writes, in phases that the runner calls in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.pipeline.database.connection import Database
from core.pipeline.database.jobs import Lease, LostLeaseError
from core.pipeline.models.provider import ModelError
from core.pipeline.queue import failure_of
from core.pipeline.records import JobType
from core.settings.pipeline_sections import PipelineConfiguration

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.fetch import Network
    from core.pipeline.model_calls import ModelCaller


@dataclass(frozen=True, slots=True)
class JobContext:
    """What a job is worked on with. now: epoch ms. heartbeat: renews the lease; raises LostLeaseError when it is lost.

    memory: opens the memory when it is first asked for. network: that pages are fetched from, None for the internet.
    """

    database: Database
    configuration: PipelineConfiguration
    caller: ModelCaller
    memory: Callable[[], Memory]
    now: Callable[[], int]
    heartbeat: Callable[[], None]
    network: Network | None = None


# What there is to warn of, and how many notes were written.
_Done = tuple[tuple[str, ...], int]
_NOTHING: Final[_Done] = ((), 0)


def needs_model(type: JobType) -> bool:
    """Whether a job of this type can do nothing without a model; the others have rules to go by."""
    return type in ("extract", "hints")


def uses_model(type: JobType, configuration: PipelineConfiguration) -> bool:
    """Whether a job of this type asks a model where there is one."""
    if type == "session_end":
        return configuration.continuity.score_with_model
    return type != "document_ingest"


def run_job(context: JobContext, lease: Lease) -> _Done:
    """Does a job to its end; what there is to warn of, and how many notes were written. Raises LostLeaseError, and what
    kept it from being done.
    """
    return _RUN[lease.job.type](context, lease)


def _extract(context: JobContext, lease: Lease) -> _Done:
    from core.pipeline.workers.extract_job import commit, prepare, step_over, think

    work = prepare(context.database, lease.job, context.configuration)
    if work is None:
        return _skip(context, lease, "memory_not_found")
    if work.raw.status == "extracted" and not work.text.progress.begun:
        return _skip(context, lease, "already_extracted")
    if work.mode.writes_notes:
        # What keeps the notes from being written is better known before a model is asked.
        context.memory().refresh(patient=False)
    try:
        plan = think(work, context.database, context.memory(), context.caller, between=context.heartbeat)
    except ModelError as error:
        failure = failure_of(error)
        final = failure.permanent or (failure.counts and lease.job.attempts >= lease.job.max_attempts)
        if not (final and step_over(context.database, work, failure, lease.token, context.now())):
            raise
        return (f"a part of a text could not be read: {failure.message}",), 0
    done = commit(context.database, context.memory, plan, lease.token, context.now())
    if done is None:
        raise LostLeaseError(lease.job.id)
    if done.unfinished is not None:
        return (f"notes are not written yet: {done.unfinished.message}",), 0
    return (), done.result.written if done.change_set is not None else 0


def _classify(context: JobContext, lease: Lease) -> _Done:
    from core.pipeline.classification import commit, prepare, skipped_why, think

    work = prepare(context.database, lease.job, context.configuration)
    if work is None:
        return _skip(context, lease, skipped_why(context.database, lease.job))
    provider = None if context.caller.provider is None else context.caller.about("classify")
    plan = think(work, provider, context.configuration)
    written = commit(context.database, plan, lease.token, context.now())
    if written is None:
        raise LostLeaseError(lease.job.id)
    return written.warnings, 0


def _ingest_document(context: JobContext, lease: Lease) -> _Done:
    from core.pipeline.documents import DocumentContext, take_turn

    turn = DocumentContext(
        context.database, context.configuration, lease.job, lease.token, context.now, context.heartbeat,
        context.network,
    )  # fmt: skip
    why = take_turn(turn)
    return _skip(context, lease, why) if why else _NOTHING


def _hints(context: JobContext, lease: Lease) -> _Done:
    from core.pipeline.workers.hints_job import NOTE_CHANGED, commit, prepare, think

    text = prepare(context.database, lease.job, context.memory().snapshot)
    if text is None:
        return _skip(context, lease, NOTE_CHANGED)
    hints = think(text, context.caller.about("hints"), context.configuration, context.heartbeat)
    if not commit(context.database, lease.job, text, hints, lease.token, context.now()):
        raise LostLeaseError(lease.job.id)
    return _NOTHING


def _end_session(context: JobContext, lease: Lease) -> _Done:
    from core.pipeline.session_scores import commit, prepare, think

    configuration, caller = context.configuration, context.caller
    asks = uses_model("session_end", configuration) and caller.provider is not None
    work = prepare(context.database, lease.job, context.memory())
    if work.is_scored(asks=asks):
        return _skip(context, lease, "already_scored")
    found = think(work, caller.about("continuity") if asks else None, configuration)
    if not commit(context.database, work, found, configuration, lease.token, context.now()):
        raise LostLeaseError(lease.job.id)
    return _NOTHING


def _skip(context: JobContext, lease: Lease, why: str) -> _Done:
    with context.database.write() as writer:
        if not writer.jobs.complete(lease.job.id, lease.token, now=context.now(), result={"skipped": why}):
            raise LostLeaseError(lease.job.id)
    return _NOTHING


_RUN: Final[dict[JobType, Callable[[JobContext, Lease], _Done]]] = {
    "extract": _extract,
    "structural_classify": _classify,
    "document_ingest": _ingest_document,
    "hints": _hints,
    "session_end": _end_session,
}
TYPES: Final = tuple(_RUN)
