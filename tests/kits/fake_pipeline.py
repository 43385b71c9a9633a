"""A pipeline that does as it is told, for tests of the app: no database, no model, no thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from core.errors import NotFoundError
from core.graph.edits import create_note
from core.memory import Memory
from core.model.change import Author
from core.pipeline.health import (
    Figures,
    HealthReport,
    MaintenanceAction,
    MaintenancePlan,
    MaintenanceRun,
    PlannedRepair,
    Recommendation,
    domains_of,
    overall,
    recommended,
)
from core.pipeline.modes import Mode
from core.pipeline.records import (
    Accepted,
    Document,
    HistoryRow,
    Ingested,
    Job,
    NoteHints,
    Origin,
    PipelineState,
    PipelineStatus,
    ProviderHealth,
    RawMemory,
    Recovery,
    Refused,
    SessionOverview,
    SessionPage,
    StoredProposal,
)
from core.settings.warnings import ConfigurationWarning, WarningKind
from kits.app_kit import NOW

MINUTE = 60_000
AT = int(NOW.timestamp() * 1000)
TEXT = (
    "We looked at the numbers again. We chose PostgreSQL over MongoDB because the reports need joins. "
    "Anna will move the old data before the release on Tuesday."
)
CHOSEN_OVER = "chosen over MongoDB because the reports need joins"
CHOSEN = "We chose PostgreSQL over MongoDB because the reports need joins."


def make_raw(number: int = 1, content: str = TEXT, **fields: Any) -> RawMemory:
    """A text that was handed in."""
    known: dict[str, Any] = {
        "id": f"raw-{number:016x}", "content": content, "content_hash": "h", "source_type": "session",
        "source_id": "session-7f3a", "project": "shop", "nugget": "project", "author": "agent:claude",
        "status": "extracted", "duplicate_of": "", "protected": False, "created_at": AT - 5 * MINUTE,
        "extracted_at": None, "model": "qwen3:4b",
    }  # fmt: skip
    return RawMemory(**(known | fields))


def make_proposal(number: int, content: str, **fields: Any) -> StoredProposal:
    """An open proposal to add a note."""
    start = TEXT.find(content)
    known: dict[str, Any] = {
        "id": f"proposal-{number:016x}", "raw_id": make_raw().id, "action": "add", "content": content,
        "type": "fact", "fact_confidence": 0.9, "grounded": True, "target_note": "", "target_content": "",
        "confidence": 0.8, "told": "nothing like it is known", "decided_by": "model", "model": "qwen3:4b",
        "status": "proposed", "reason": "shadow", "review_needed": False, "contradiction": "",
        "span": (start, start + len(content)) if start >= 0 else None, "note_id": "", "nugget": "project",
        "created_at": AT - MINUTE, "resolved_at": None, "resolved_by": "",
    }  # fmt: skip
    return StoredProposal(**(known | fields))


def make_job(number: int, status: str = "pending", **fields: Any) -> Job:
    """A piece of work."""
    known: dict[str, Any] = {
        "id": number, "type": "extract", "target": make_raw().id, "status": status, "attempts": 0,
        "max_attempts": 3, "run_after": AT, "leased_by": "", "leased_at": None, "lease_expires_at": None,
        "error": "", "error_class": "", "created_at": AT - 2 * MINUTE, "updated_at": AT, "completed_at": None,
        "failed_at": None, "preview": TEXT[:60],
    }  # fmt: skip
    return Job(**(known | fields))


def make_health(**fields: Any) -> ProviderHealth:
    """A model that does well."""
    known: dict[str, Any] = {
        "name": "ollama", "model": "qwen3:4b", "state": "healthy", "failures": 0, "open_until": 0,
        "last_ok_at": AT - MINUTE, "last_error": "", "calls_today": 214, "budget": 2_000,
        "median_latency_ms": 1_840, "tokens_today": 48_210,
    }  # fmt: skip
    return ProviderHealth(**(known | fields))


@dataclass
class FakePipeline:
    """Holds what the screen shows. memory: through which accepted proposals are written, as the pipeline."""

    memory: Memory
    waiting: list[StoredProposal] = field(default_factory=list)
    settled: list[StoredProposal] = field(default_factory=list)
    entries: dict[str, list[StoredProposal]] = field(default_factory=dict)
    work: list[Job] = field(default_factory=list)
    files: list[Document] = field(default_factory=list)
    texts: dict[str, RawMemory] = field(default_factory=dict)
    followed: tuple[SessionOverview, ...] = ()
    left: dict[str, Recovery] = field(default_factory=dict)
    kept: dict[str, SessionPage] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    provider: ProviderHealth | None = field(default_factory=make_health)
    light: PipelineState = PipelineState.REVIEW
    mode: Mode = Mode.SHADOW
    why: str = "2 proposals wait for you."
    notice: str = ""
    warnings: tuple[ConfigurationWarning, ...] = ()
    paused: bool = False
    running: bool = False
    closed: bool = False
    questions: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    threads: set[str] = field(default_factory=set)
    error: Exception | None = None
    unhealthy: bool = False
    repairs: list[MaintenanceRun] = field(default_factory=list)

    def _called(self, name: str) -> None:
        self.calls.append(name)
        self.threads.add(threading.current_thread().name)
        if self.error is not None:
            raise self.error

    def status(self) -> PipelineStatus:
        self._called("status")
        jobs: dict[Any, int] = {}
        for job in self.work:
            jobs[job.status] = jobs.get(job.status, 0) + 1
        return PipelineStatus(
            mode=self.mode, frozen=False, light=PipelineState.PAUSED if self.paused else self.light, why=self.why,
            jobs=jobs, proposals_open=len(self.waiting), raw=len(self.texts), facts=41,
            last_written_at=AT - 3 * MINUTE,
            running=next((job for job in self.work if job.status == "leased"), None), provider=self.provider,
            warnings=self.warnings,
        )  # fmt: skip

    def proposals(self, *, all: bool = False, most: int = 500) -> tuple[StoredProposal, ...]:
        return tuple((*self.waiting, *(self.settled if all else ()))[:most])

    def jobs(self, status: str | None = None, most: int = 200) -> tuple[Job, ...]:
        return tuple(self.work[:most])

    @property
    def documents(self) -> Any:
        return SimpleNamespace(all=lambda **_: tuple(self.files))

    @property
    def sessions(self) -> Any:
        def page(session: str) -> SessionPage:
            if session not in self.kept:
                raise NotFoundError("no session has this id", where=session)
            return self.kept[session]

        return SimpleNamespace(all=lambda: self.followed, page=page, recover=self.left.get)

    def raw(self, raw_id: str) -> RawMemory:
        if raw_id not in self.texts:
            raise NotFoundError("no submitted text has this id", where=raw_id)
        return self.texts[raw_id]

    def origin(self, note_id: str) -> Origin | None:
        self._called("origin")
        return self.origins.get(note_id)

    def history(self, about: str, most: int = 500) -> tuple[HistoryRow, ...]:
        return ()

    def accept(self, ids: Iterable[str], by: str = "person") -> Accepted:
        self._called("accept")
        wanted = [one for one in self.waiting if one.id in set(ids)]
        writer = Memory.open(self.memory.home, author=Author("pipeline"), clock=lambda: NOW)

        def write(draft: Any) -> None:
            for one in wanted:
                create_note(draft, "project", one.content[:60], one.content)

        _, change_set = writer.change("accepted proposals", write)
        writer.close()
        self._settle(wanted, "applied", by)
        self.entries[change_set.id] = wanted
        return Accepted(written=tuple(one.id for one in wanted), change_set=change_set)

    def follow_undo(self) -> int:
        self._called("follow_undo")
        undone = [self.entries.pop(id) for id in self.memory.history.taken_back() if id in self.entries]
        again = [one for wanted in undone for one in wanted]
        known = {one.id for one in again}
        self.settled = [one for one in self.settled if one.id not in known]
        self.waiting += again
        return len(again)

    def hints(self, note_id: str) -> NoteHints:
        self._called("hints")
        return NoteHints(
            note_id, tuple(self.questions), enabled=bool(self.questions), made=bool(self.questions)
        )

    def refuse(self, ids: Iterable[str], by: str = "person") -> Refused:
        self._called("refuse")
        wanted = [one for one in self.waiting if one.id in set(ids)]
        self._settle(wanted, "rejected", by)
        done = self.memory.record_decision(f"refused {len(wanted)} proposals")
        self.entries[done.id] = wanted
        return Refused(len(wanted), done)

    def _settle(self, wanted: list[StoredProposal], status: str, by: str) -> None:
        self.waiting = [one for one in self.waiting if one not in wanted]
        self.settled += [
            replace(one, status=status, reason="", resolved_at=AT, resolved_by=by) for one in wanted
        ]

    def retry(self, job_id: int) -> Job:
        self._called("retry")
        self.work = [
            replace(job, status="pending", attempts=0) if job.id == job_id else job for job in self.work
        ]
        return next(job for job in self.work if job.id == job_id)

    def retry_dead(self) -> int:
        dead = [job.id for job in self.work if job.status == "dead"]
        for job_id in dead:
            self.retry(job_id)
        return len(dead)

    def diagnose(self) -> HealthReport:
        dead = [job for job in self.work if job.status == "dead"]
        waiting = sum(job.status == "pending" for job in self.work)
        figures = Figures(waiting, len(dead), 0.2 if dead else 0.0, calls=100, successes=97)
        domains, wanted = domains_of(figures), recommended(figures)
        score, status = (0.3, "unhealthy") if self.unhealthy else overall(domains, wanted)
        return HealthReport(
            score, status, "", domains, tuple(Recommendation(one, "") for one in wanted), "execute",
            AT + 20 * MINUTE, tuple(self.repairs),
        )  # fmt: skip

    def maintenance_plan(self, action: MaintenanceAction, *, force: bool = False) -> MaintenancePlan:
        dead = [job for job in self.work if job.status == "dead"]
        repairs = [PlannedRepair(str(job.id), f"job {job.id} is tried again: {job.preview}") for job in dead]
        said = f"{len(dead)} dead job will be tried again, with half of the tries."
        return MaintenancePlan(action, tuple(repairs), said)

    def maintain(
        self, actions: Iterable[MaintenanceAction], *, force: bool = False
    ) -> tuple[MaintenanceRun, ...]:
        self._called("maintain")
        done = self.retry_dead()
        runs = [MaintenanceRun(len(self.repairs) + 1, AT, one, "person", "done", done) for one in actions]
        self.repairs = [*runs, *self.repairs]
        return tuple(runs)

    def pause(self, seconds: float = 30.0) -> tuple[Job, ...]:
        self.paused = True
        return ()

    def resume(self) -> None:
        self.paused = False

    def ingest(self, text: str, **fields: Any) -> Ingested:
        self._called("ingest")
        raw = make_raw(len(self.texts) + 1, text)
        self.texts[raw.id] = raw
        self.work.append(make_job(100 + len(self.work), preview=text[:60], target=raw.id))
        return Ingested(raw.id, "queued", 1, "", ("PostgreSQL",), False)

    def start(self, notify: Callable[[str], None] = print) -> None:
        self._called("start")
        self.running = True

    def stop(self, seconds: float = 10.0) -> bool:
        self.running = False
        return True

    def close(self) -> None:
        self.closed = True


def filled(memory: Memory) -> FakePipeline:
    """A pipeline in the middle of its work: proposals of every kind, a running and a dead job, entities, a warning."""
    target = next(note for note in memory.snapshot.notes if note.title == "Deploy day")
    fake = FakePipeline(memory)
    fake.waiting = [
        make_proposal(1, CHOSEN, type="decision", fact_confidence=0.92),
        make_proposal(2, "Anna will move the old data before the release on Tuesday.", fact_confidence=0.81),
        make_proposal(
            3, "Deploys go out on Thursdays.", action="update", target_note=target.id,
            target_content=target.content, status="review", reason="contradiction", fact_confidence=0.74,
            contradiction="Tuesdays / Thursdays", told="the day of deploys was changed", span=None,
        ),
        make_proposal(4, "The shop runs on Mars.", status="review", reason="ungrounded", grounded=False,
                      fact_confidence=0.55, told="nothing like it is known"),
    ]  # fmt: skip
    fake.settled = [
        make_proposal(5, "Handled in src/auth.ts.", status="deduped", reason="duplicate_content", action="none",
                      resolved_at=AT - 9 * MINUTE, resolved_by="pipeline-shadow"),
        make_proposal(6, "Maybe we use Redis.", status="skipped", reason="low_fact_confidence",
                      fact_confidence=0.4, resolved_at=AT - 9 * MINUTE),
    ]  # fmt: skip
    fake.work = [
        make_job(11, "leased", leased_by="host:4711", leased_at=AT - 12_000, attempts=1),
        make_job(12, preview="The nightly export now writes Parquet instead of CSV."),
        make_job(13, attempts=1, run_after=AT + 28_000, preview="Retro: what slowed us down this week",
                 error="the model took longer than 45 s", error_class="timeout"),
        make_job(9, "dead", attempts=3, preview="Notes from the call with the supplier",
                 error='model "qwen3:4b" not found, try pulling it first', error_class="model_missing"),
        make_job(8, "completed", attempts=1, completed_at=AT - 9 * MINUTE, preview="Session summary of Monday"),
    ]  # fmt: skip
    raw = make_raw()
    fake.texts = {raw.id: raw}
    fake.warnings = (
        ConfigurationWarning(
            "pipeline.worker.poll_ms", "5", 2_000, WarningKind.UNUSABLE, "from 100 to 60,000", "settings.toml"
        ),
    )
    return fake
