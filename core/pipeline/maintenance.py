"""Maintenance: reports the health, and runs the repairs that are recommended, within limits that all processes share.

Each repair is one function: it says what it would do, or mends it in short transactions, so that nobody waits for it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from core.model.names import counted
from core.pipeline.database.connection import Database
from core.pipeline.database.facts import StoredFact
from core.pipeline.database.tables import PAUSED, Tables
from core.pipeline.decide import match_terms
from core.pipeline.health import (
    AIMS,
    DAY_MS,
    HOUR_MS,
    Asked,
    Gate,
    HealthReport,
    Limits,
    MaintenanceAction,
    MaintenancePlan,
    MaintenanceRun,
    PlannedRepair,
    Recent,
    Recommendation,
    domains_of,
    gate,
    index_gaps,
    lies_within,
    measure,
    overall,
    recommended,
)
from core.pipeline.queue import failure_of
from core.pipeline.records import EmbeddingCoverage, Job, ProposalReason, StoredProposal, Sweep
from core.pipeline.retention import trusts_clock
from core.pipeline.statements import likeness, saying
from core.settings.pipeline_sections import PipelineConfiguration
from core.text.normalise import cut_at_word

# Who runs what nobody asked for.
ITSELF: Final = "pipeline-maintenance"
# Who made a proposal that says: these two are one.
_DECIDED_BY: Final = "maintenance"
# Whether it is time is asked for in the database so often at most.
_LOOK_EVERY_MS: Final = 30_000
_MOST_RUNS: Final = 20
_KEPT_MS: Final = 30 * DAY_MS
_ERROR_LENGTH: Final = 500
_MOST_JOBS: Final = 500
# So many jobs in one transaction: it holds the database for some milliseconds.
_JOBS_AT_ONCE: Final = 50
_PREVIEW: Final = 80
_NEAREST: Final = 5
# To a model for embeddings, in one run.
_CALLS_AT_ONCE: Final = 5
# In `meta`: up to which fact was looked for another that says nearly the same; when maintenance looked last, epoch ms.
_LOOKED_UP_TO: Final = "dedup_looked_up_to"
_CYCLE_AT: Final = "maintenance_at"


@dataclass(frozen=True, slots=True)
class Others:
    """What others do of the work. sweep: retention's, or (True) rehearses it; reembed: makes vectors in at most so many
    calls; how many.
    """

    sweep: Callable[[bool], Sweep]
    coverage: Callable[[], EmbeddingCoverage | None]
    reembed: Callable[[int], int]


@dataclass(frozen=True, slots=True)
class RepairContext:
    """What a repair works with. now: epoch ms. by: who runs it, for the history. run: its number, 0 to mend nothing."""

    database: Database
    configuration: PipelineConfiguration
    now: Callable[[], int]
    others: Others
    by: str = ITSELF
    run: int = 0

    def record(self, event: str, metadata: Mapping[str, object]) -> None:
        """Puts down in the history what this run did."""
        with self.database.write(lasting=False) as writer:
            writer.history.append(
                at=self.now(), event=event, changed_by=self.by, metadata={"run": self.run, **metadata}
            )

    def record_job(self, writer: Tables, job: Job, event: str) -> None:
        """Puts down what became of a job, with what it is about."""
        writer.history.append(
            at=self.now(), event=event, changed_by=self.by, reason=job.error_class,
            raw_id=job.target if job.type in ("extract", "document_ingest") else "",
            note_id=job.target if job.type == "hints" else "", metadata={"run": self.run, "job": job.id},
        )  # fmt: skip


# Says what it would do now, or, in a run, does it and says what it did.
Repair = Callable[[RepairContext], MaintenancePlan]


def _plan(
    action: MaintenanceAction, repairs: Iterable[PlannedRepair], some: str, none: str, left: str = ""
) -> MaintenancePlan:
    found = tuple(repairs)
    return MaintenancePlan(action, found, some if found else none, left)


def _of_job(job: Job) -> str:
    return _short(job.preview or job.target) + (f" ({job.error_class})" if job.error_class else "")


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _PREVIEW else f"{cut_at_word(plain, _PREVIEW)}…"


def _requeue(context: RepairContext) -> MaintenancePlan:
    """Dead jobs that another try may help."""
    reader = context.database.reading
    jobs = list(reader.jobs.requeueable(_MOST_JOBS))
    left = measure(reader, context.configuration, context.now(), "queue").dead - len(jobs)
    for start in range(0, len(jobs) if context.run else 0, _JOBS_AT_ONCE):
        with context.database.write() as writer:
            batch = jobs[start : start + _JOBS_AT_ONCE]
            writer.jobs.requeue((job.id for job in batch), context.now())
            for job in batch:
                context.record_job(writer, job, "requeued")
    return _plan(
        MaintenanceAction.REQUEUE,
        (PlannedRepair(str(job.id), f"job {job.id} is tried again: {_of_job(job)}") for job in jobs),
        f"{counted(len(jobs), 'dead job', 'dead jobs')} will be tried again, with half of the tries.",
        "There is no dead job that another try may help.",
        f"{counted(left, 'dead job stays', 'dead jobs stay')}: another try would end the same, or had one already;"
        " see `nuggets pipeline jobs --status dead`; retry one by its number, or remove its document"
        if left > 0
        else "",
    )


def _release(context: RepairContext) -> MaintenancePlan:
    """Jobs of workers that did not come back."""
    now = context.now()
    jobs = context.database.reading.jobs.expired(now)
    if context.run:
        with context.database.write() as writer:
            jobs = writer.jobs.expired(now)
            writer.jobs.reap(now)
            for job in jobs:
                context.record_job(writer, job, "released")
    ends = ("waits again", "is dead, since that was its last try")
    told = (
        PlannedRepair(str(job.id), f"job {job.id} {ends[job.attempts >= job.max_attempts]}: {_of_job(job)}")
        for job in jobs
    )
    return _plan(
        MaintenanceAction.RELEASE,
        told,
        f"{counted(len(jobs), 'job', 'jobs')} will be taken back from workers that did not come back.",
        "No job is held by a worker that did not come back.",
    )


def _fill_gaps(context: RepairContext) -> MaintenancePlan:
    """Full-text tables that differ from their rows, which are made anew."""
    repairs = []
    for name, (_, missing, extra) in index_gaps(context.database.reading).items():
        if extra > 0:
            entries = counted(extra, "entry that leads", "entries that lead")
            repairs.append(PlannedRepair(name, f"{name} loses {entries} nowhere", extra))
        if missing > 0:
            rows = counted(missing, "row", "rows")
            repairs.append(PlannedRepair(name, f"{name} gets {rows} that it lacks", missing))
    for name in {one.target for one in repairs} if context.run else ():
        with context.database.write(lasting=False) as writer:
            writer.run(f"INSERT INTO {name} ({name}) VALUES ('rebuild')")
        context.record("reindexed", {"table": name})
    tables = counted(len({one.target for one in repairs}), "search table", "search tables")
    return _plan(
        MaintenanceAction.INDEXES, repairs, f"{tables} will be made anew.", "The search tables hold what is stored."
    )  # fmt: skip


class _Pair(NamedTuple):
    """Two facts that say the same. stays: the one that is kept, goes: whose note would be hidden."""

    stays: StoredFact
    goes: StoredFact


def _propose_merges(context: RepairContext) -> MaintenancePlan:
    """Facts that say the same, of which no person was asked."""
    pairs, looked_up_to = _pairs(context)
    if context.run:
        for start in range(0, len(pairs), _JOBS_AT_ONCE):
            with context.database.write() as writer:
                for pair in pairs[start : start + _JOBS_AT_ONCE]:
                    _propose(writer, context, pair)
        with context.database.write(lasting=False) as writer:
            writer.meta.put(_LOOKED_UP_TO, looked_up_to)
    return _plan(
        MaintenanceAction.MERGES,
        (
            PlannedRepair(
                goes.note_id,
                f'you are asked whether to hide "{_short(goes.content)}", since "{_short(stays.content)}" says it',
            )
            for stays, goes in pairs
        ),
        f"{counted(len(pairs), 'merge', 'merges')} will be proposed for you to decide; none is made by itself.",
        "No fact was found that says what another says and of which you were not asked.",
    )


def _pairs(context: RepairContext) -> tuple[tuple[_Pair, ...], int]:
    """Pairs of which no person was asked, at most a batch, and up to which fact near ones were looked for."""
    reader, batch, found = (
        context.database.reading,
        context.configuration.repair.dedup_batch_size,
        dict[str, _Pair](),
    )
    facts = "SELECT rowid AS row, * FROM facts WHERE status = 'active' AND"
    same = reader.ask("SELECT first, row FROM same_facts WHERE asked IS NULL ORDER BY row LIMIT ?", batch)
    for pair in same.fetchall():
        earlier, later = (reader.record(StoredFact, f"{facts} rowid = ?", row) for row in pair)
        if earlier is not None and later is not None:
            found[later.note_id] = _Pair(earlier, later)
    after = reader.meta.number(_LOOKED_UP_TO) or 0
    next_ones = f"{facts} rowid > ? AND note_id <> '' ORDER BY rowid LIMIT ?"
    looked = reader.records(StoredFact, next_ones, after, batch)
    for fact in looked if len(found) < batch else ():
        near = _near(reader, context, fact)
        if near is not None and not {near.goes.note_id, near.stays.note_id} & set(found):
            found[near.goes.note_id] = near
    # From the beginning again, once all were looked at.
    last = reader.count("SELECT rowid FROM facts WHERE id = ?", looked[-1].id) if len(looked) == batch else 0
    return tuple(found.values())[:batch], last


def _near(reader: Tables, context: RepairContext, fact: StoredFact) -> _Pair | None:
    """The earlier fact that says nearly the same; of the two the one that says less would go."""
    words, known = match_terms(fact.content), context.database.counted_words
    for other, _ in reader.facts.matching(fact.nugget, words, _NEAREST, known):
        later = (other.created_at, other.id) > (fact.created_at, fact.id)
        near = likeness(fact.content, other.content) >= context.configuration.repair.dedup_semantic_threshold
        if other.id == fact.id or other.status != "active" or later or not near:
            continue
        mine, theirs = saying(fact.content).meaning, saying(other.content).meaning
        stays, goes = (fact, other) if theirs < mine else (other, fact)
        if mine <= theirs or theirs <= mine:
            asked = _was_asked(reader, stays.note_id) or _was_asked(reader, goes.note_id)
            return None if asked else _Pair(stays, goes)
    return None


def _was_asked(reader: Tables, note_id: str) -> bool:
    """Whether a person was ever asked to hide a note since another says the same."""
    which = "target_note = ? AND target_note <> '' AND decided_by = ?"
    return reader.has(f"SELECT 1 FROM proposals WHERE {which}", note_id, _DECIDED_BY)


def _propose(writer: Tables, context: RepairContext, pair: _Pair) -> None:
    """Puts a proposal in that hides the note of one of two facts, unless somebody was asked since or one is gone."""
    stays, goes = pair
    there = (writer.facts.of_note(stays.note_id), writer.facts.of_note(goes.note_id)) == pair
    if not there or _was_asked(writer, goes.note_id):
        return
    now, digest = context.now(), hashlib.sha256(f"{stays.id} {goes.id}".encode()).hexdigest()
    proposal = StoredProposal(
        id=f"proposal-{digest[:16]}", raw_id=goes.raw_id, action="delete", content=goes.content, type=goes.type,
        fact_confidence=goes.confidence, grounded=True, target_note=goes.note_id, target_content=goes.content,
        confidence=likeness(stays.content, goes.content), told=f"another note says the same: {stays.content}",
        decided_by=_DECIDED_BY, model="", status="review", reason=ProposalReason.SAME_AS, review_needed=True,
        nugget=goes.nugget, created_at=now,
    )  # fmt: skip
    # No hash: what is refused here is the merge, and not the fact.
    writer.proposals.insert(proposal, job_id=-context.run, place=int(digest[:8], 16), content_hash="")
    writer.history.append(
        at=now, event="proposed", changed_by=context.by, reason=ProposalReason.SAME_AS, raw_id=goes.raw_id,
        proposal_id=proposal.id, fact_id=goes.id, note_id=goes.note_id, old_content=goes.content,
        new_content=stays.content, metadata={"run": context.run, "stays": stays.note_id},
    )  # fmt: skip


def _sweep(context: RepairContext) -> MaintenancePlan:
    """Retention's work."""
    swept = context.others.sweep(context.run == 0)
    counts = {str(kind): count for kind, count in swept.counts.items() if count}
    if context.run and counts:
        context.record("swept", counts)
    return _plan(
        MaintenanceAction.SWEEP,
        (PlannedRepair(kind, f"{count:,} {kind.replace('_', ' ')}", count) for kind, count in counts.items()),
        "Retention will delete what was kept long enough.",
        "Nothing was kept long enough yet.",
    )


def _reembed(context: RepairContext) -> MaintenancePlan:
    """Missing vectors."""
    found = context.others.coverage()
    if found is None:
        said = "No model for embeddings is named in settings.toml."
        return MaintenancePlan(MaintenanceAction.REEMBED, (), said)
    most = min(found.missing, _CALLS_AT_ONCE * context.configuration.embedding_tracker.batch_size)
    if context.run:
        most = context.others.reembed(_CALLS_AT_ONCE)
        if most:
            context.record("reembedded", {"embeddings": most})
    said = f"{counted(most, 'embedding is', 'embeddings are')} made with {found.model}"
    return _plan(
        MaintenanceAction.REEMBED,
        [PlannedRepair(found.model, said, most)] if most else [],
        f"{said}, in at most {_CALLS_AT_ONCE} calls.",
        "No embedding is missing.",
        found.waits,
    )


REPAIRS: Final[Mapping[MaintenanceAction, Repair]] = {
    MaintenanceAction.REQUEUE: _requeue,
    MaintenanceAction.RELEASE: _release,
    MaintenanceAction.INDEXES: _fill_gaps,
    MaintenanceAction.MERGES: _propose_merges,
    MaintenanceAction.SWEEP: _sweep,
    MaintenanceAction.REEMBED: _reembed,
}


# Runs

_RUNS: Final = (
    "SELECT id, at, action, by, status, did, left, improved, error, finished_at FROM maintenance_runs"
)


def _run_of(row: sqlite3.Row) -> MaintenanceRun:
    run = MaintenanceRun(*row)
    improved = None if run.improved is None else bool(run.improved)
    return replace(run, action=MaintenanceAction(run.action), improved=improved)


def begin_run(writer: Tables, action: MaintenanceAction, now: int, by: str) -> int:
    """Puts down that a repair begins; its number. It counts from now on, whatever becomes of it. What did not end
    before belonged to a process that is gone.
    """
    writer.run(
        "UPDATE maintenance_runs SET status = 'interrupted', finished_at = ? WHERE action = ? AND status = 'running'",
        now, action,
    )  # fmt: skip
    writer.run("DELETE FROM maintenance_runs WHERE at < ?", now - _KEPT_MS)
    return writer.insert_row("maintenance_runs", at=now, action=action, by=by, status="running")


def finish_run(
    writer: Tables, run_id: int, now: int, *, did: int, left: int, improved: bool | None, error: str = ""
) -> MaintenanceRun:
    """Puts down how a run ended."""
    writer.run(
        "UPDATE maintenance_runs SET status = ?, did = ?, left = ?, improved = ?, error = ?, finished_at = ?"
        " WHERE id = ?",
        "failed" if error else "done", did, left, improved, error, now, run_id,
    )  # fmt: skip
    return _run_of(writer.row(f"{_RUNS} WHERE id = ?", run_id))


def gate_now(
    reader: Tables, action: MaintenanceAction, configuration: PipelineConfiguration, asked: Asked, now: int
) -> tuple[Gate, int]:
    """Why a repair may not run now, and until when (epoch ms)."""
    rows = reader.ask(
        "SELECT at, improved FROM maintenance_runs WHERE action = ? AND status <> 'recommended' AND at > ?"
        " ORDER BY id DESC LIMIT 2000",
        action, now - DAY_MS,
    ).fetchall()  # fmt: skip
    recent = Recent(
        last_at=rows[0]["at"] if rows else None,
        in_hour=tuple(sorted(row["at"] for row in rows if lies_within(row["at"], now, HOUR_MS))),
        no_help_at=next((row["at"] for row in rows if row["improved"] == 0), None),
    )
    autonomous, limits = configuration.autonomous, Limits.of(action, configuration)
    return gate(asked, limits, recent, now, frozen=autonomous.frozen, enabled=autonomous.enabled)


# The report, and the one who maintains


def health_report(reader: Tables, configuration: PipelineConfiguration, now: int) -> HealthReport:
    """How healthy a pipeline is. now: epoch ms. Writes nothing."""
    figures = measure(reader, configuration, now)
    domains, wanted = domains_of(figures), recommended(figures)
    score, status = overall(domains, wanted)
    autonomous = configuration.autonomous
    unattended = autonomous.enabled and not autonomous.frozen
    last = reader.meta.number(_CYCLE_AT)
    said = {one.name: one.said for one in domains}
    worst = min(domains, key=lambda one: 1.0 if one.score is None else one.score)
    # But for those of repairs that only another version knows.
    known = ", ".join("?" * len(MaintenanceAction))
    runs = reader.ask(
        f"{_RUNS} WHERE action IN ({known}) ORDER BY id DESC LIMIT {_MOST_RUNS}", *MaintenanceAction
    )
    return HealthReport(
        score,
        status,
        "All is well." if worst.score is None or worst.score >= 1.0 else worst.said,
        domains,
        tuple(
            Recommendation(one, said[AIMS[one].domain], *gate_now(reader, one, configuration, Asked(), now))
            for one in wanted
        ),
        autonomous.maintenance_mode if unattended else "off",
        last + autonomous.maintenance_interval_ms if unattended and last is not None else None,
        tuple(map(_run_of, runs)),
    )


class Maintainer:
    """Measures and repairs. now: epoch ms."""

    def __init__(self, database: Database, *, now: Callable[[], int], others: Others) -> None:
        self._database = database
        self._now = now
        self._others = others
        self._looked_at: int | None = None

    def plan(
        self, action: MaintenanceAction, configuration: PipelineConfiguration, asked: Asked
    ) -> MaintenancePlan:
        """What a repair would do now, and what keeps it from running. Writes nothing."""
        context = RepairContext(self._database, configuration, self._now, self._others)
        held, until = gate_now(self._database.reading, action, configuration, asked, self._now())
        return replace(REPAIRS[action](context), gate=held, until=until)

    def run(
        self, action: MaintenanceAction, configuration: PipelineConfiguration, asked: Asked, by: str
    ) -> MaintenanceRun:
        """Runs a repair where it may run, and measures anew; a run with the status "denied" where it may not.

        What keeps it from being done becomes the run's `error`.
        """
        now, aim = self._now(), AIMS[action]

        def left() -> int:
            return aim.left(measure(self._database.reading, configuration, self._now(), aim.domain))

        before = left()
        # Asked for and taken in one transaction: of two processes one gets it.
        with self._database.write() as writer:
            held, until = gate_now(writer, action, configuration, asked, now)
            if held is not Gate.OPEN:
                return MaintenanceRun(0, now, action, by, "denied", gate=held, until=until)
            run_id = begin_run(writer, action, now, by)
        did, error = 0, ""
        try:
            with self._database.errors():
                context = RepairContext(self._database, configuration, self._now, self._others, by, run_id)
                did = REPAIRS[action](context).count
        except Exception as failed:
            error = failure_of(failed).message[:_ERROR_LENGTH]
        stays = left()
        improved = stays < before and not error if before or did or error else None
        with self._database.write(lasting=False) as writer:
            return finish_run(
                writer, run_id, self._now(), did=did, left=stays, improved=improved, error=error
            )

    def run_when_due(self, configuration: PipelineConfiguration) -> tuple[MaintenanceRun, ...]:
        """Looks at the health once an interval, in one process; in execute mode it runs what is recommended.

        Returns what ran; in observe mode nothing did, and what is recommended is put down once a day. Nothing at all
        happens while maintenance is off or frozen, or the pipeline is frozen or paused.
        """
        if not self._is_due(configuration):
            return ()
        now = self._now()
        wanted = list(recommended(measure(self._database.reading, configuration, now)))
        # Where retention or the tracker of embeddings is off, a person does its work.
        sweeps = configuration.retention.enabled and MaintenanceAction.SWEEP in wanted
        if not (sweeps and trusts_clock(self._database, now)):
            wanted = [one for one in wanted if one is not MaintenanceAction.SWEEP]
        if not configuration.embedding_tracker.enabled:
            wanted = [one for one in wanted if one is not MaintenanceAction.REEMBED]
        if wanted and configuration.autonomous.maintenance_mode == "execute":
            runs = [self.run(action, configuration, Asked(unattended=True), ITSELF) for action in wanted]
            return tuple(run for run in runs if run.status != "denied")
        with self._database.write(lasting=False) as writer:
            for action in wanted:
                newest = "SELECT at, status FROM maintenance_runs WHERE action = ? ORDER BY id DESC LIMIT 1"
                last = writer.row(newest, action)
                if last is None or last[1] != "recommended" or not lies_within(last[0], now, DAY_MS):
                    writer.insert_row(
                        "maintenance_runs", at=now, action=action, by=ITSELF, status="recommended", finished_at=now
                    )  # fmt: skip
            if not wanted:
                # What did not help may be tried again.
                writer.run("UPDATE maintenance_runs SET improved = NULL WHERE improved = 0")
        return ()

    def _is_due(self, configuration: PipelineConfiguration) -> bool:
        """Whether it is time to look, and this process takes its turn. The first time ever is an interval from now."""
        autonomous, now, looked = configuration.autonomous, self._now(), self._looked_at
        if not autonomous.enabled or autonomous.frozen or configuration.mutations_frozen:
            return False
        if looked is not None and 0 <= now - looked < _LOOK_EVERY_MS:
            return False
        self._looked_at = now

        def is_time(tables: Tables) -> bool:
            last = tables.meta.number(_CYCLE_AT)
            return last is None or not lies_within(last, now, autonomous.maintenance_interval_ms)

        reader = self._database.reading
        if not is_time(reader) or reader.meta.number(PAUSED) is not None:
            return False
        with self._database.write(lasting=False) as writer:
            if not is_time(writer):
                return False
            first = writer.meta.number(_CYCLE_AT) is None
            writer.meta.put(_CYCLE_AT, now)
            return not first
