"""One worker among several processes on one queue: picks and runs one unit of work at a time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

from core.errors import Notice, NuggetsError
from core.pipeline.database.connection import Database
from core.pipeline.database.jobs import Lease, LostLeaseError
from core.pipeline.database.tables import PAUSED, SWEPT
from core.pipeline.modes import Mode, mode
from core.pipeline.note_linking import NoteLinking
from core.pipeline.queue import Failure, failure_of, jitter_ms, poll_delay_ms
from core.pipeline.records import Job, JobType, TickResult
from core.pipeline.retention import is_due, sweep, trusts_clock
from core.pipeline.workers.embedding_tracker import EmbeddingTracker
from core.pipeline.workers.hints_job import enqueue_due
from core.settings.pipeline_sections import PipelineConfiguration

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.snapshot import Snapshot
    from core.pipeline.fetch import Network
    from core.pipeline.model_calls import ModelCaller

# How often it is looked what people did to the notes, and which notes others wrote.
_LOOK_EVERY_MS: Final = 60_000
# Of a sweep so much at a time: jobs go on in between.
_SWEEP_SECONDS: Final = 0.5
# A model and its fallback may both take their whole time between two renewals.
_TIMEOUTS_IN_A_LEASE: Final = 3
# A renewal costs a transaction; so many in the time of a lease are enough.
_BEATS_IN_A_LEASE: Final = 10
# What there is to warn of, and how many notes were written.
Done = tuple[tuple[str, ...], int]
NOTHING: Final[Done] = ((), 0)


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
    lease: Lease
    heartbeat: Callable[[], None]
    network: Network | None = None

    @property
    def job(self) -> Job:
        return self.lease.job

    def require(self, ours: bool) -> None:
        """Raises LostLeaseError for a lease that is lost: nothing was written then."""
        if not ours:
            raise LostLeaseError(self.job.id)

    def skip(self, why: str) -> Done:
        """Ends a job that there is nothing to do for."""
        with self.database.write() as writer:
            told = {"skipped": why}
            self.require(writer.jobs.complete(self.job.id, self.lease.token, now=self.now(), result=told))
        return NOTHING


# The types of jobs: each reads, thinks and writes, in phases.


def _extract(context: JobContext) -> Done:
    from core.pipeline.workers.extract_job import run

    return run(context)


def _classify(context: JobContext) -> Done:
    from core.pipeline.classification import commit, prepare, skipped_why, think

    work = prepare(context.database, context.job, context.configuration)
    if work is None:
        return context.skip(skipped_why(context.database, context.job))
    provider = None if context.caller.provider is None else context.caller.about("classify")
    plan = think(work, provider, context.configuration)
    written = commit(context.database, plan, context.lease.token, context.now())
    context.require(written is not None)
    return written.warnings if written else (), 0


def _ingest_document(context: JobContext) -> Done:
    from core.pipeline.documents import take_turn

    why = take_turn(context)
    return context.skip(why) if why else NOTHING


def _hints(context: JobContext) -> Done:
    from core.pipeline.workers.hints_job import NOTE_CHANGED, commit, prepare, think

    text = prepare(context.database, context.job, context.memory().snapshot)
    if text is None:
        return context.skip(NOTE_CHANGED)
    hints = think(text, context.caller.about("hints"), context.configuration, context.heartbeat)
    context.require(commit(context.database, context.job, text, hints, context.lease.token, context.now()))
    return NOTHING


def _end_session(context: JobContext) -> Done:
    from core.pipeline.session_scores import commit, prepare, think

    configuration, caller = context.configuration, context.caller
    asks = configuration.continuity.score_with_model and caller.provider is not None
    work = prepare(context.database, context.job, context.memory())
    if work.is_scored(asks=asks):
        return context.skip("already_scored")
    found = think(work, caller.about("continuity") if asks else None, configuration)
    context.require(commit(context.database, work, found, configuration, context.lease.token, context.now()))
    return NOTHING


_RUN: Final[dict[JobType, Callable[[JobContext], Done]]] = {
    "extract": _extract,
    "structural_classify": _classify,
    "document_ingest": _ingest_document,
    "hints": _hints,
    "session_end": _end_session,
}
# Those that can do nothing without a model; the others have rules to go by.
_NEED_MODEL: Final = frozenset(("extract", "hints"))


class Worker:
    """Works on the queue of one memory. `nudged` is set when there is something new to do.

    memory: opens the memory when it is first asked for. now: epoch ms. ids: new hexadecimal digits, for the tokens of
    leases. chance: from 0 to 1. name: of the worker, for people. network: that pages are fetched from, None for the
    internet.
    """

    def __init__(
        self,
        database: Database,
        *,
        memory: Callable[[], Memory],
        now: Callable[[], int],
        ids: Callable[[], str],
        chance: Callable[[], float],
        name: str,
        network: Network | None = None,
    ) -> None:
        self.nudged = threading.Event()
        self.embeddings = EmbeddingTracker(database, now)
        self._linking = NoteLinking(database)
        self._database = database
        self._memory = memory
        self._now = now
        self._ids = ids
        self._chance = chance
        self._name = name
        self._network = network
        # The types of jobs, the one whose turn it is first.
        self._turns = list(_RUN)
        self._turn = threading.Lock()
        self._current: Lease | None = None
        self._failures = 0
        self._rests = False
        self._kept_by = ""
        # When each thing that is done now and then was done last.
        self._done_at: dict[str, int] = {}

    def tick(self, configuration: PipelineConfiguration, caller: ModelCaller) -> TickResult:
        """Lets held texts go, takes back lost jobs, runs one job with the notes that come of it.

        What a job raises becomes its outcome; errors of the database are raised.
        """
        with self._turn:
            works = self._may_lease(configuration)
            done = self._take_back(configuration)
            if works:
                done = self._one_job(done, configuration, caller)
            idle = done.job is None
            if idle:
                # What keeps the files from being read is told by who needs them; it is looked again in a minute.
                with contextlib.suppress(NuggetsError):
                    self._follow()
                linked = self._link_notes(configuration, caller) if works else 0
                embedded = 0
                if works and not linked and caller.embedder is not None:
                    embedded = self.embeddings.cycle(configuration, caller, self._memory().snapshot)
                    caller.flush()
                done = replace(done, linked=linked, embedded=embedded)
            done = replace(done, swept=self._sweep(configuration, idle=idle))
            delay = 0 if done.did_something else configuration.worker.poll_ms
            if self._rests:
                delay = poll_delay_ms(self._failures, poll_ms=0, chance=self._chance())
            return replace(done, delay_ms=delay)

    def _due(self, what: str, every_ms: int) -> bool:
        """Whether it is time for something again, which then counts as done; also where the clock was put back."""
        now, last = self._now(), self._done_at.get(what)
        if last is not None and 0 <= now - last < every_ms:
            return False
        self._done_at[what] = now
        return True

    # Beside the jobs

    def _follow(self) -> None:
        """Takes over what people did to the notes meanwhile, once a minute."""
        if not self._due("follow", _LOOK_EVERY_MS):
            return
        reader = self._database.reading
        decided = reader.has("SELECT 1 FROM decisions LIMIT 1")
        learned = reader.has("SELECT 1 FROM facts LIMIT 1")
        if not (decided or learned):
            return
        from core.pipeline.removal import follow_shown
        from core.pipeline.writes.deciding import follow_undo
        from core.pipeline.writes.following import sync_from_notes

        memory, now = self._memory(), self._now()
        follow_shown(self._database, memory, now=now)
        follow_undo(self._database, memory, now=now)
        if learned:
            sync_from_notes(self._database, memory, now=now)

    def _link_notes(self, configuration: PipelineConfiguration, caller: ModelCaller) -> int:
        """Reads what the notes name while there is nothing else to do, and looks for new ones now and then. Then
        puts in jobs for hints, where they are wanted.
        """
        hints = configuration.hints
        if not (configuration.graph.enabled or hints.enabled or caller.embedder is not None):
            return 0
        if self._due("look", _LOOK_EVERY_MS):
            # The last good snapshot serves, when the files cannot be read just now.
            self._newer_snapshot()
        linked = self._linking.link(self._memory().snapshot, self._newer_snapshot, self._now())
        if linked or not hints.enabled or caller.provider is None or not self._due("hints", hints.poll):
            return linked
        return enqueue_due(self._database, configuration, self._now())

    def _newer_snapshot(self) -> Snapshot | None:
        """The memory as its files are now; None where they cannot be read just now."""
        memory = self._memory()
        with contextlib.suppress(NuggetsError):
            memory.refresh(patient=False)
            return memory.snapshot
        return None

    def _sweep(self, configuration: PipelineConfiguration, *, idle: bool) -> int:
        """Deletes what was kept long enough, also while the pipeline is off, for a moment at a time; how many rows. One
        that is busy all the time does it as well, only later.
        """
        settings, now, meta = configuration.retention, self._now(), self._database.reading.meta
        interval = settings.interval_ms * (1 if idle else 2)
        if not settings.enabled or configuration.mutations_frozen or meta.number(PAUSED) is not None:
            return 0
        if not is_due(meta.number(SWEPT), now, interval) or not trusts_clock(self._database, now):
            return 0
        from core.pipeline.removal import standing_in

        notes = standing_in(self._memory)
        done = sweep(self._database, configuration, notes, now=now, seconds=_SWEEP_SECONDS)
        return sum(done.counts.values())

    def reembed(self, configuration: PipelineConfiguration, caller: ModelCaller, most: int) -> int:
        """Makes vectors that are missing or of another text or model, also those that failed and rest, in at most so
        many calls; how many. Waits for the model. 0 where no call can be made now.
        """
        with self._turn:
            if caller.embedder is None or not self._may_lease(configuration):
                return 0
            while self._linking.link(self._memory().snapshot, self._newer_snapshot, self._now()):
                pass
            self.embeddings.retry_now()
            before, snapshot = self.embeddings.made, self._memory().snapshot
            for _ in range(most):
                if not self.embeddings.cycle(configuration, caller, snapshot):
                    break
            caller.flush()
            return self.embeddings.made - before

    # Jobs

    def release_job(self) -> None:
        """Gives the job in flight back for another worker; what this one still finds out is not written."""
        lease = self._current
        if lease is not None:
            with self._database.write(lasting=False) as writer:
                writer.jobs.give_back(lease.job.id, lease.token, now=self._now())

    def look_for_documents(self) -> None:
        """Has the next tick look for documents, however short ago that was done."""
        self._done_at.pop("documents", None)

    def _take_back(self, configuration: PipelineConfiguration) -> TickResult:
        """Lets what was held wait for a worker, and takes back what a worker lost."""
        jobs, now, released = self._database.reading.jobs, self._now(), 0
        if not configuration.mutations_frozen and jobs.any_held():
            self.look_for_documents()
            with self._database.write() as writer:
                released = writer.jobs.release_held(now)
        if not jobs.any_expired(now):
            return TickResult(released)
        with self._database.write() as writer:
            return TickResult(released, writer.jobs.reap(now))

    def _may_lease(self, configuration: PipelineConfiguration) -> bool:
        # Texts that were queued before a freeze wait for its end like those that came later.
        if configuration.mutations_frozen or mode(configuration) is Mode.OFF:
            return False
        return self._database.reading.meta.number(PAUSED) is None

    def _one_job(
        self, done: TickResult, configuration: PipelineConfiguration, caller: ModelCaller
    ) -> TickResult:
        """Leases a job and does it, where there is one to be had; what the tick did with that."""
        self._rests = False
        lease = self._lease(configuration, caller)
        if lease is None:
            kept = (f"texts are waiting: {self._kept_by}",) if self._kept_by else ()
            return replace(done, warnings=kept)
        self._current = lease
        answered_at, notes = caller.last_ok_at(), 0
        context = JobContext(
            self._database, configuration, caller, self._memory, self._now, lease,
            self._heartbeat(lease, configuration), self._network,
        )  # fmt: skip
        try:
            with self._database.errors():
                warnings, notes = _RUN[lease.job.type](context)
            self._failures = 0
        except LostLeaseError as error:
            warnings = (error.message,)
        except Exception as error:
            warnings = self._failed(lease, failure_of(error), caller, answered_at)
        except BaseException:
            self.release_job()
            raise
        finally:
            self._current = None
            caller.flush()
        job = self._database.reading.jobs.job(lease.job.id)
        read = job is not None and (job.status == "completed" or job.windows_read > lease.job.windows_read)
        return replace(done, job=job, warnings=warnings, notes=notes, read=read)

    def _heartbeat(self, lease: Lease, configuration: PipelineConfiguration) -> Callable[[], None]:
        """Renews a lease now and then; raises LostLeaseError when it is lost."""
        lease_ms, renewed = _lease_ms(configuration), self._now()

        def beat() -> None:
            nonlocal renewed
            if 0 <= self._now() - renewed < lease_ms // _BEATS_IN_A_LEASE:
                return
            renewed = self._now()
            with self._database.write(lasting=False) as writer:
                if not writer.jobs.heartbeat(lease.job.id, lease.token, now=renewed, lease_ms=lease_ms):
                    raise LostLeaseError(lease.job.id)

        return beat

    def _lease(self, configuration: PipelineConfiguration, caller: ModelCaller) -> Lease | None:
        """A job of the type whose turn it is, of those that may be worked on now."""
        ready = self._database.reading.jobs.ready(self._now())
        turns = [type for type in self._turns if type in ready]
        # Documents are looked for seldom while there are none.
        if not self._due("documents", configuration.documents.worker_interval_ms):
            turns = [type for type in turns if type != "document_ingest"]
        elif "document_ingest" in ready:
            self.look_for_documents()
        asking = {type for type in turns if type != "document_ingest"}
        if not configuration.continuity.score_with_model:
            asking.discard("session_end")
        if caller.provider is None:
            asking &= _NEED_MODEL
        # What keeps the model from being asked, so that no job burns an attempt on it.
        readiness = caller.ready() if asking else None
        waits = "" if readiness is None or readiness.ok else readiness.why
        # The first reason stays until it is over: how often it was tried since is no news.
        self._kept_by = (self._kept_by or waits) if waits else ""
        for type in turns:
            if waits and type in asking:
                continue
            # A lease lost in a power cut belonged to nobody.
            with self._database.write(lasting=False) as writer:
                lease = writer.jobs.lease(
                    type, now=self._now(), lease_ms=_lease_ms(configuration), worker=self._name, token=self._ids()
                )  # fmt: skip
                if lease is not None and type == "extract":
                    caller.reserve(writer, "extract", lease.job.target)
            if lease is not None:
                # Whoever had its turn goes to the end.
                self._turns.remove(type)
                self._turns.append(type)
                return lease
        return None

    def _failed(
        self, lease: Lease, failure: Failure, caller: ModelCaller, answered_at: int
    ) -> tuple[str, ...]:
        """Ends an attempt badly, and what there is to say of it. answered_at: when the provider last did before it."""
        counts = failure.counts
        if counts and failure.doubtful:
            # Asked before the transaction: it may take seconds.
            counts = caller.provider is not None and caller.provider.available().ok
        self._failures += failure.spreads
        self._rests = failure.spreads
        job_id, now = lease.job.id, self._now()
        with self._database.write(lasting=False) as writer:
            if failure.refused:
                writer.jobs.give_back(job_id, lease.token, now=now)
                return ()
            status = writer.jobs.fail(
                job_id,
                lease.token,
                now=now,
                error=failure.message,
                error_class=failure.error_class,
                permanent=failure.permanent,
                counts=counts,
                outage=failure.outage,
                answered_at=answered_at,
                jitter_ms=jitter_ms(self._chance()),
            )
        return (f"job {job_id} failed for good: {failure.message}",) if status == "dead" else ()


def _lease_ms(configuration: PipelineConfiguration) -> int:
    configured = configuration.worker.lease_timeout_ms
    if configuration.extraction.fallback_provider == "none":
        return configured
    return max(configured, _TIMEOUTS_IN_A_LEASE * configuration.extraction.timeout)


# How soon an end is noticed that no nudge came with.
_SLICE_SECONDS: Final = 0.5
_LOOK_SECONDS: Final = 0.05
Work = TypeVar("Work", bound=tuple[object, ...])


def run(
    tick: Callable[[], TickResult],
    stop: threading.Event,
    nudged: threading.Event,
    notify: Callable[[str], None],
    *,
    chance: Callable[[], float] = lambda: 0.0,
) -> None:
    """Ticks until `stop` is set. notify: takes what goes wrong, once until it is over or something else does."""
    failures, last = 0, ""
    while not stop.is_set():
        # Before the tick: what is put in while it runs makes another one follow.
        nudged.clear()
        try:
            ticked = tick()
            told, delay, failures = "; ".join(ticked.warnings), ticked.delay_ms, 0
        except Exception as error:
            failures += 1
            told = (
                Notice.of(error, error.kept) if isinstance(error, NuggetsError) else failure_of(error).message
            )
            delay = poll_delay_ms(failures, poll_ms=0, chance=chance())
        if told and told != last:
            notify(told)
        last = told
        ends = time.monotonic() + delay / 1000
        while not stop.is_set() and (left := ends - time.monotonic()) > 0:
            if nudged.wait(min(left, _SLICE_SECONDS)):
                break


def until_idle(running: Callable[[], Work], seconds: float) -> Work:
    """Waits until nothing runs any more, so many seconds at most; what still does."""
    ends = time.monotonic() + seconds
    while (left := running()) and time.monotonic() < ends:
        time.sleep(_LOOK_SECONDS)
    return left
