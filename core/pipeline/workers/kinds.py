"""The types of jobs: how each is read, thought through and written, in phases that the runner calls in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.pipeline.config import PipelineConfiguration
from core.pipeline.database import jobs
from core.pipeline.database.connection import Database
from core.pipeline.database.jobs import Lease, LostLeaseError
from core.pipeline.records import JobType

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.workers.asking import Asking

TYPES: Final[tuple[JobType, ...]] = ("extract", "structural_classify")
MEMORY_NOT_FOUND: Final = "memory_not_found"
ALREADY_EXTRACTED: Final = "already_extracted"


@dataclass(frozen=True, slots=True)
class Bench:
    """What a job is worked on with. now: epoch ms. beat: renews the lease; raises LostLeaseError when it is lost.

    memory: opens the memory when it is first asked for.
    """

    database: Database
    configuration: PipelineConfiguration
    asking: Asking
    memory: Callable[[], Memory]
    now: Callable[[], int]
    beat: Callable[[], None]


def needs_model(type: JobType) -> bool:
    """Whether a job of this type can do nothing without a model; the others have rules to go by."""
    return type == "extract"


def work_off(bench: Bench, lease: Lease) -> tuple[str, ...]:
    """Does a job to its end, and what there is to warn of. Raises LostLeaseError, and what kept it from being done."""
    return {"extract": _extract, "structural_classify": _classify}[lease.job.type](bench, lease)


def _extract(bench: Bench, lease: Lease) -> tuple[str, ...]:
    from core.pipeline.workers.extract_job import commit, prepare, think

    work = prepare(bench.database, lease.job, bench.configuration)
    if work is None:
        return _skip(bench, lease, MEMORY_NOT_FOUND)
    if work.raw.status == "extracted":
        return _skip(bench, lease, ALREADY_EXTRACTED)
    plan = think(work, bench.database, bench.memory(), bench.asking, between=bench.beat)
    if commit(bench.database, plan, lease.token, bench.now(), also=bench.asking.put_down) is None:
        raise LostLeaseError(lease.job.id)
    bench.asking.all_put_down()
    return ()


def _classify(bench: Bench, lease: Lease) -> tuple[str, ...]:
    from core.pipeline.workers.classify_job import commit, prepare, skipped_why, think

    work = prepare(bench.database, lease.job, bench.configuration)
    if work is None:
        return _skip(bench, lease, skipped_why(bench.database, lease.job))
    provider = None if bench.asking.provider is None else bench.asking.about("classify")
    written = commit(bench.database, think(work, provider, bench.configuration), lease.token, bench.now())
    if written is None:
        raise LostLeaseError(lease.job.id)
    return written.warnings


def _skip(bench: Bench, lease: Lease, why: str) -> tuple[str, ...]:
    with bench.database.write() as writer:
        if not jobs.complete(writer, lease.job.id, lease.token, now=bench.now(), result={"skipped": why}):
            raise LostLeaseError(lease.job.id)
    return ()
