"""The repairs: each says what it will do, and does it in short transactions, so that nobody waits for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from core.model.names import counted
from core.pipeline.database.connection import Database
from core.pipeline.database.facts import StoredFact
from core.pipeline.database.figures import MAINTENANCE, TextIndex
from core.pipeline.database.rare_words import Counted
from core.pipeline.database.tables import Tables
from core.pipeline.decision.candidates import match_terms
from core.pipeline.decision.short_cuts import saying
from core.pipeline.health.duplicates import likeness
from core.pipeline.health.records import MaintenanceAction, MaintenancePlan, PlannedRepair
from core.pipeline.records import EmbeddingCoverage, Job, ProposalReason, StoredProposal, Sweep
from core.settings.pipeline_sections import PipelineConfiguration
from core.text.normalise import cut_at_word

MOST_JOBS: Final = 500
# So many jobs or rows in one transaction: it holds the database for some milliseconds.
_JOBS_AT_ONCE: Final = 50
_ROWS_AT_ONCE: Final = 200
_PREVIEW: Final = 80
_NEAREST: Final = 5
# To a model for embeddings, in one run.
_CALLS_AT_ONCE: Final = 5
# Near ones are looked for so long at most in one run; the next one goes on there.
_LONGEST_LOOK_MS: Final = 2_000
# Up to which fact was looked for another that says nearly the same.
_LOOKED_UP_TO: Final = "dedup_looked_up_to"
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class RepairContext:
    """What a repair works with. now: epoch ms. by: who runs it, for the history. run: its number, 0 for a look."""

    database: Database
    configuration: PipelineConfiguration
    now: Callable[[], int]
    by: str
    run: int = 0


class Repair(NamedTuple):
    """One repair. plan: what it would do, without doing it. run: does it; how many things it put right."""

    plan: Callable[[RepairContext], MaintenancePlan]
    run: Callable[[RepairContext], int]


# Dead jobs


def _plan_requeue(context: RepairContext) -> MaintenancePlan:
    reader = context.database.reading
    jobs = reader.jobs.requeueable(MOST_JOBS)
    left = reader.figures.queue(context.now()).dead - len(jobs)
    return MaintenancePlan(
        MaintenanceAction.REQUEUE,
        tuple(PlannedRepair(str(job.id), f"job {job.id} is tried again: {_of_job(job)}") for job in jobs),
        f"{counted(len(jobs), 'dead job', 'dead jobs')} will be tried again, with half of the tries."
        if jobs
        else "There is no dead job that another try may help.",
        f"{counted(left, 'dead job stays', 'dead jobs stay')}: another try would end the same, or had one already;"
        " see `nuggets pipeline jobs --status dead`; retry one by its number, or remove its document"
        if left > 0
        else "",
    )


def _requeue(context: RepairContext) -> int:
    done = 0
    for jobs in _parts(context.database.reading.jobs.requeueable(MOST_JOBS), _JOBS_AT_ONCE):
        with context.database.write() as writer:
            for job in jobs:
                if writer.jobs.requeue(job.id, context.now()):
                    done += 1
                    _record_job(writer, context, job, "requeued")
    return done


# Stale leases


def _plan_release(context: RepairContext) -> MaintenancePlan:
    jobs = context.database.reading.jobs.expired(context.now())
    return MaintenancePlan(
        MaintenanceAction.RELEASE,
        tuple(PlannedRepair(str(job.id), f"job {job.id} {_released(job)}: {_of_job(job)}") for job in jobs),
        f"{counted(len(jobs), 'job', 'jobs')} will be taken back from workers that did not come back."
        if jobs
        else "No job is held by a worker that did not come back.",
    )


def _released(job: Job) -> str:
    return "is dead, since that was its last try" if job.attempts >= job.max_attempts else "waits again"


def _release(context: RepairContext) -> int:
    now = context.now()
    with context.database.write() as writer:
        jobs = writer.jobs.expired(now)
        writer.jobs.reap(now)
        for job in jobs:
            _record_job(writer, context, job, "released")
    return len(jobs)


# Full-text tables


def _plan_indexes(context: RepairContext) -> MaintenancePlan:
    repairs = []
    for gap in context.database.reading.figures.gaps():
        name = gap.index.name
        if gap.extra > 0:
            entries = counted(gap.extra, "entry that leads", "entries that lead")
            repairs.append(PlannedRepair(name, f"{name} loses {entries} nowhere", gap.extra))
        if gap.missing > 0:
            missing = counted(gap.missing, "row", "rows")
            repairs.append(PlannedRepair(name, f"{name} gets {missing} that it lacks", gap.missing))
    return MaintenancePlan(
        MaintenanceAction.INDEXES,
        tuple(repairs),
        f"{counted(len({one.target for one in repairs}), 'search table', 'search tables')} will be put right."
        if repairs
        else "The search tables hold what is stored.",
    )


def _mend_indexes(context: RepairContext) -> int:
    done = 0
    for gap in context.database.reading.figures.gaps():
        if gap.extra > 0:
            with context.database.write(lasting=False) as writer:
                writer.figures.rebuild(gap.index)
        elif gap.missing > 0:
            _add_missing(context, gap.index)
        else:
            continue
        done += gap.missing + gap.extra
        _record(context, "reindexed", {"table": gap.index.name, "rows": gap.missing + gap.extra})
    return done


def _add_missing(context: RepairContext, index: TextIndex) -> None:
    added = _ROWS_AT_ONCE
    while added == _ROWS_AT_ONCE:
        with context.database.write(lasting=False) as writer:
            added = writer.figures.add_missing(index, _ROWS_AT_ONCE)


# Duplicates


class _Pair(NamedTuple):
    """Two facts that say the same. stays: the one that is kept, goes: whose note would be hidden."""

    stays: StoredFact
    goes: StoredFact


def _plan_merges(context: RepairContext) -> MaintenancePlan:
    pairs, _ = _pairs(context)
    return MaintenancePlan(
        MaintenanceAction.MERGES,
        tuple(
            PlannedRepair(
                pair.goes.note_id,
                f'you are asked whether to hide "{_short(pair.goes.content)}", since "{_short(pair.stays.content)}"'
                " says it",
            )
            for pair in pairs
        ),
        f"{counted(len(pairs), 'merge', 'merges')} will be proposed for you to decide; none is made by itself."
        if pairs
        else "No fact was found that says what another says and of which you were not asked.",
    )


def _propose_merges(context: RepairContext) -> int:
    pairs, looked_up_to = _pairs(context)
    done = 0
    for part in _parts(pairs, _JOBS_AT_ONCE):
        with context.database.write() as writer:
            for pair in part:
                done += _propose(writer, context, pair)
    with context.database.write(lasting=False) as writer:
        writer.meta.put(_LOOKED_UP_TO, looked_up_to)
    return done


def _pairs(context: RepairContext) -> tuple[tuple[_Pair, ...], int]:
    """Pairs of which no person was asked, at most a batch, and up to which fact near ones were looked for."""
    reader, batch = context.database.reading, context.configuration.repair.dedup_batch_size
    found: dict[str, _Pair] = {}
    same = reader.figures.same_facts()
    for each in same:
        if len(found) >= batch:
            break
        if reader.figures.merge_status(each.note_id) is None:
            earlier, later = reader.facts.at(each.other_row), reader.facts.at(each.row)
            if earlier is not None and later is not None:
                found[later.note_id] = _Pair(earlier, later)
    after = reader.meta.number(_LOOKED_UP_TO) or 0
    rows, began = reader.facts.active_after(after, batch), context.now()
    for row, fact in rows:
        if not 0 <= context.now() - began < _LONGEST_LOOK_MS:
            return tuple(found.values()), after
        after = row
        pair = _near(
            reader,
            fact,
            context.configuration.repair.dedup_semantic_threshold,
            context.database.counted_words,
        )
        if (
            pair is not None
            and len(found) < batch
            and not {pair.goes.note_id, pair.stays.note_id} & set(found)
        ):
            found[pair.goes.note_id] = pair
    # From the beginning again, once all were looked at.
    return tuple(found.values()), after if len(rows) == batch else 0


def _near(reader: Tables, fact: StoredFact, threshold: float, counted: Counted) -> _Pair | None:
    """The earlier fact that says nearly the same; of the two the one that says less would go."""
    for match in reader.facts.matching(fact.nugget, match_terms(fact.content), _NEAREST, counted):
        other = match.fact
        if (
            other.id == fact.id
            or other.status != "active"
            or (other.created_at, other.id) > (fact.created_at, fact.id)
        ):
            continue
        if likeness(fact.content, other.content) < threshold:
            continue
        mine, theirs = saying(fact.content).meaning, saying(other.content).meaning
        stays, goes = (fact, other) if theirs < mine else (other, fact)
        if mine <= theirs or theirs <= mine:
            asked = [reader.figures.merge_status(each.note_id) for each in (stays, goes)]
            return _Pair(stays, goes) if asked == [None, None] else None
    return None


def _propose(writer: Tables, context: RepairContext, pair: _Pair) -> bool:
    """Puts a proposal in that hides the note of one of two facts; False where somebody was asked meanwhile, or one of
    them is gone.
    """
    stays, goes = (writer.facts.of_note(fact.note_id) for fact in pair)
    if stays is None or goes is None or (stays, goes) != pair:
        return False
    if writer.figures.merge_status(goes.note_id) is not None:
        return False
    now = context.now()
    digest = hashlib.sha256(f"{stays.id} {goes.id}".encode()).hexdigest()
    proposal = StoredProposal(
        id=f"proposal-{digest[:16]}", raw_id=goes.raw_id, action="delete", content=goes.content, type=goes.type,
        fact_confidence=goes.confidence, grounded=True, target_note=goes.note_id, target_content=goes.content,
        confidence=likeness(stays.content, goes.content), told=f"another note says the same: {stays.content}",
        decided_by=MAINTENANCE, model="", status="review", reason=ProposalReason.SAME_AS, review_needed=True,
        contradiction="", span=None, note_id="", nugget=goes.nugget, created_at=now, resolved_at=None, resolved_by="",
    )  # fmt: skip
    # No hash: what is refused here is the merge, and not the fact.
    writer.proposals.insert(
        proposal, job_id=-context.run, place=int(digest[:8], 16), prompt_version="", content_hash=""
    )
    writer.history.append(
        at=now, event="proposed", changed_by=context.by, reason=ProposalReason.SAME_AS, raw_id=goes.raw_id,
        proposal_id=proposal.id, fact_id=goes.id, note_id=goes.note_id, old_content=goes.content,
        new_content=stays.content, metadata={"run": context.run, "stays": stays.note_id},
    )  # fmt: skip
    return True


# Retention and embeddings, whose work others do


def sweep_repair(sweep: Callable[[bool], Sweep]) -> Repair:
    """The repair that has retention do its work. sweep: does it, or rehearses it."""

    def plan(context: RepairContext) -> MaintenancePlan:
        counts = {kind: count for kind, count in sweep(True).counts.items() if count}
        return MaintenancePlan(
            MaintenanceAction.SWEEP,
            tuple(
                PlannedRepair(str(kind), f"{count:,} {kind.replace('_', ' ')}", count)
                for kind, count in counts.items()
            ),
            "Retention will delete what was kept long enough."
            if counts
            else "Nothing was kept long enough yet.",
        )

    def run(context: RepairContext) -> int:
        done = sweep(False)
        if done.total:
            _record(context, "swept", {str(kind): count for kind, count in done.counts.items() if count})
        return done.total

    return Repair(plan, run)


def reembed_repair(coverage: Callable[[], EmbeddingCoverage | None], reembed: Callable[[int], int]) -> Repair:
    """The repair that has missing vectors made. reembed: makes them in at most so many calls; how many."""

    def plan(context: RepairContext) -> MaintenancePlan:
        found = coverage()
        if found is None:
            said = "No model for embeddings is named in settings.toml."
            return MaintenancePlan(MaintenanceAction.REEMBED, (), said)
        most = min(found.missing, _CALLS_AT_ONCE * context.configuration.embedding_tracker.batch_size)
        said = f"{counted(most, 'embedding is', 'embeddings are')} made with {found.model}"
        return MaintenancePlan(
            MaintenanceAction.REEMBED,
            (PlannedRepair(found.model, said, most),) if most else (),
            f"{said}, in at most {_CALLS_AT_ONCE} calls." if most else "No embedding is missing.",
            found.waits,
        )

    def run(context: RepairContext) -> int:
        made = reembed(_CALLS_AT_ONCE)
        if made:
            _record(context, "reembedded", {"embeddings": made})
        return made

    return Repair(plan, run)


# All that the pipeline's database is enough for

REPAIRS: Final[Mapping[MaintenanceAction, Repair]] = {
    MaintenanceAction.REQUEUE: Repair(_plan_requeue, _requeue),
    MaintenanceAction.RELEASE: Repair(_plan_release, _release),
    MaintenanceAction.INDEXES: Repair(_plan_indexes, _mend_indexes),
    MaintenanceAction.MERGES: Repair(_plan_merges, _propose_merges),
}


def _record_job(writer: Tables, context: RepairContext, job: Job, event: str) -> None:
    about = job.target if job.type in ("extract", "document_ingest") else ""
    writer.history.append(
        at=context.now(), event=event, changed_by=context.by, reason=job.error_class, raw_id=about,
        note_id=job.target if job.type == "hints" else "", metadata={"run": context.run, "job": job.id},
    )  # fmt: skip


def _record(context: RepairContext, event: str, metadata: Mapping[str, object]) -> None:
    with context.database.write(lasting=False) as writer:
        writer.history.append(
            at=context.now(), event=event, changed_by=context.by, metadata={"run": context.run, **metadata}
        )


def _of_job(job: Job) -> str:
    return _short(job.preview or job.target) + (f" ({job.error_class})" if job.error_class else "")


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _PREVIEW else f"{cut_at_word(plain, _PREVIEW)}…"


def _parts(found: tuple[_Part, ...], size: int) -> Iterator[tuple[_Part, ...]]:
    return (found[start : start + size] for start in range(0, len(found), size))
