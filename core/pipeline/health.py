"""How healthy the pipeline is: six queries, the score of each domain, what is recommended, and what may run now.

Weights, limits and deductions are those of the Signet pipeline. Where it calls "healthy" what nothing is known of, the
status here is "unknown", and the domain does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from core.model.names import counted, duration

if TYPE_CHECKING:
    from core.pipeline.database.tables import Tables
    from core.settings.pipeline_sections import PipelineConfiguration

HealthStatus = Literal["healthy", "degraded", "unhealthy", "unknown"]
DomainName = Literal["queue", "provider", "index", "storage", "mutation", "duplicate"]
RunStatus = Literal["running", "done", "failed", "interrupted", "recommended", "denied"]

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
# "connector" and "update" are domains of the Signet pipeline that have nothing to measure here.
WEIGHTS: Final[Mapping[str, float]] = {
    "queue": 0.25, "provider": 0.22, "index": 0.15, "update": 0.11, "storage": 0.10, "mutation": 0.08,
    "connector": 0.05, "duplicate": 0.04,
}  # fmt: skip
HEALTHY: Final = 0.8
_MOST_DEAD: Final = 0.01
_MOST_TOMBSTONES: Final = 0.3
_LEAST_COVERAGE: Final = 0.8
_SOME_DUPLICATES: Final = 0.05
# Scores are sums of tenths: what a float adds to them is no news.
_DIGITS: Final = 4


class HealthProblem(StrEnum):
    """What takes from the score of a domain. JOBS_LOST: dead jobs that no repair helps."""

    QUEUE_DEEP = "queue_deep"
    JOBS_DEAD = "jobs_dead"
    JOBS_LOST = "jobs_lost"
    JOBS_LATE = "jobs_late"
    LEASES_STALE = "leases_stale"
    TOMBSTONES = "tombstones"
    INDEX_MISMATCH = "index_mismatch"
    EMBEDDINGS_MISSING = "embeddings_missing"
    CALLS_FAIL = "calls_fail"
    UNDONE_OFTEN = "undone_often"
    DUPLICATES = "duplicates"

    @property
    def stays(self) -> bool:
        """Whether something failed or is lost until somebody puts it right."""
        return self in ("jobs_dead", "jobs_lost", "leases_stale", "index_mismatch", "calls_fail")


class MaintenanceAction(StrEnum):
    """A repair, by the name that the Signet pipeline gives it; in the order in which they run."""

    REQUEUE = "requeueDeadJobs"
    RELEASE = "releaseStaleLeases"
    INDEXES = "checkFtsConsistency"
    SWEEP = "triggerRetentionSweep"
    MERGES = "deduplicateMemories"
    REEMBED = "reembedMissingMemories"


class Gate(StrEnum):
    """Why a repair may not run now; OPEN when it may."""

    OPEN = ""
    FROZEN = "frozen"
    DISABLED = "disabled"
    TRIED = "tried"
    COOLDOWN = "cooldown"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class HealthDomain:
    """How one domain is. score: from 0 to 1, None where there is no data. said: one plain sentence.

    figures: what was measured, by name. problems: what took from the score.
    """

    name: DomainName
    score: float | None
    status: HealthStatus
    said: str
    problems: tuple[HealthProblem, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A repair that would better something. gate: what keeps it from running now. until: epoch ms, 0 for not known."""

    action: MaintenanceAction
    why: str
    gate: Gate = Gate.OPEN
    until: int = 0


@dataclass(frozen=True, slots=True)
class MaintenanceRun:
    """One run of a repair, or one that was only recommended. at, finished_at: epoch ms. did: how many things it put
    right; left: how many there were after it. improved: None where there was nothing to better. denied runs are not
    kept: `gate` says why.
    """

    id: int
    at: int
    action: MaintenanceAction
    by: str
    status: RunStatus
    did: int = 0
    left: int = 0
    improved: bool | None = None
    error: str = ""
    finished_at: int | None = None
    gate: Gate = Gate.OPEN
    until: int = 0


@dataclass(frozen=True, slots=True)
class HealthReport:
    """How the pipeline is. score: of all domains that there is data of. mode: of the maintenance, "off" where it does
    not run by itself. next_at: when it runs next, epoch ms, None where nobody knows. runs: the latest, newest first.
    """

    score: float
    status: HealthStatus
    said: str
    domains: tuple[HealthDomain, ...]
    recommendations: tuple[Recommendation, ...] = ()
    mode: Literal["observe", "execute", "off"] = "execute"
    next_at: int | None = None
    runs: tuple[MaintenanceRun, ...] = ()

    @property
    def healthy(self) -> bool:
        return self.status == "healthy"


@dataclass(frozen=True, slots=True)
class PlannedRepair:
    """One thing that a repair will do. target: the id of the job, table or note that it is about."""

    target: str
    said: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class MaintenancePlan:
    """What a repair would do now, had it its turn. said: in a sentence. left_alone: what it will not touch, and why."""

    action: MaintenanceAction
    repairs: tuple[PlannedRepair, ...]
    said: str
    left_alone: str = ""
    gate: Gate = Gate.OPEN
    until: int = 0

    @property
    def count(self) -> int:
        """How many things it would put right."""
        return sum(one.count for one in self.repairs)


# Measuring


@dataclass(frozen=True, slots=True)
class Figures:
    """All that is counted; None for what nobody looked for.

    depth: jobs that wait. dead: given up, and none of the same target came after; dead_rate: their share of all that
    ended; retryable: those that another try may help. oldest_age_s: for how long the first job has waited that may run.
    stale_leases: jobs whose worker did not come back. stored: texts and documents; tombstones: those that were removed
    or replaced; over: those that were kept long enough. active: rows that are to be found; missing: those that no index
    has; extra: entries of an index without a row. embeddable, embedded: what can have an embedding, and has one, None
    where no model makes any. calls: the latest, a hundred at most; named: whether the settings name a model. undone:
    changes of the pipeline that people undid in seven days. duplicates: facts that say what another of the nugget says;
    undecided: those of which no person was asked.
    """

    depth: int = 0
    dead: int = 0
    dead_rate: float = 0.0
    oldest_age_s: float = 0.0
    stale_leases: int = 0
    retryable: int | None = None
    stored: int = 0
    tombstones: int = 0
    over: int | None = None
    active: int = 0
    missing: int = 0
    extra: int = 0
    embeddable: int | None = None
    embedded: int | None = None
    calls: int = 0
    successes: int = 0
    named: bool = True
    undone: int = 0
    facts: int = 0
    duplicates: int = 0
    undecided: int = 0

    @property
    def mismatch(self) -> bool:
        """Whether something cannot be found, or more than a tenth of the entries lead nowhere."""
        return self.missing > 0 or self.extra > 0.1 * self.active

    @property
    def coverage(self) -> float | None:
        """Share of what can have an embedding that has one; None where none are made."""
        if self.embedded is None:
            return None
        return round(self.embedded / self.embeddable, _DIGITS) if self.embeddable else 1.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# Full-text tables, the table whose rows each finds, and by which column.
TEXT_INDEXES: Final = {
    "facts_fts": ("facts", "rowid"), "chunks_fts": ("chunks", "id"), "entities_fts": ("entities", "id"),
    "hints_fts": ("hints", "id"),
}  # fmt: skip


def index_gaps(reader: Tables) -> dict[str, tuple[int, int, int]]:
    """Of each full-text table how many rows there are, how many of them it lacks, and how many of its entries have no
    row.
    """
    found = {}
    for index, (table, id) in TEXT_INDEXES.items():
        rows, missing, entries = reader.row(
            f"SELECT (SELECT count(*) FROM {table}), (SELECT count(*) FROM {table} WHERE {id} NOT IN"
            f" (SELECT id FROM {index}_docsize)), (SELECT count(*) FROM {index}_docsize)"
        )
        # The entries with a row are the rows with an entry; to look each up from the other side tells nothing new.
        found[index] = rows, missing, entries - (rows - missing)
    return found


def measure(
    reader: Tables, configuration: PipelineConfiguration, now: int, only: DomainName | None = None
) -> Figures:
    """What is counted as it is now (epoch ms), by what the settings ask for. only: of one domain alone."""
    found: dict[str, Any] = {}
    times = {
        "now": now,
        "week": now - 7 * DAY_MS,
        "over": now - configuration.retention.removed_days * DAY_MS,
    }
    for name, domain in _DOMAINS.items():
        if domain.counts and only in (None, name):
            found |= dict(reader.row(domain.counts, **times))
    if only in (None, "queue"):
        found["stale_leases"] = len(reader.jobs.expired(now))
        found["retryable"] = reader.jobs.count_requeueable() if found["dead"] else 0
        found["dead_rate"] = _share(found["dead"], found["dead"] + found.pop("done"))
    if only in (None, "index"):
        gaps = zip(*index_gaps(reader).values(), strict=True)
        found |= zip(("active", "missing", "extra"), map(sum, gaps), strict=True)
        embedding = configuration.embedding
        if embedding.model and embedding.provider != "none":
            made = reader.embeddings.coverage(embedding.model, embedding.dimensions)
            found["embeddable"] = made.notes + made.chunks
            found["embedded"] = found["embeddable"] - made.missing
    return Figures(**found, named=configuration.extraction.provider not in ("none", "opencode"))


class _Domain(NamedTuple):
    """A domain. counts: its query; shown: the figures that are told; well: what is said where nothing is wrong."""

    counts: str
    shown: tuple[str, ...]
    well: str


# The weightiest first.
_DOMAINS: Final[Mapping[DomainName, _Domain]] = {
    # What died long ago and still stands counts, too, but not of what was removed: nobody wants to read that.
    "queue": _Domain(
        "SELECT (SELECT count(*) FROM jobs WHERE status = 'pending') AS depth,"
        " (SELECT count(*) FROM jobs AS dead WHERE status = 'dead'"
        "   AND NOT EXISTS (SELECT 1 FROM raw_memories WHERE id = dead.target AND removed_at IS NOT NULL)"
        "   AND NOT EXISTS (SELECT 1 FROM jobs AS later"
        "    WHERE later.type = dead.type AND later.target = dead.target AND later.id > dead.id)) AS dead,"
        " (SELECT count(*) FROM jobs WHERE status = 'completed') AS done,"
        " coalesce((SELECT (:now - min(run_after)) / 1000.0 FROM jobs"
        "   WHERE status = 'pending' AND run_after <= :now), 0.0) AS oldest_age_s",
        ("depth", "dead", "dead_rate", "oldest_age_s", "stale_leases", "retryable"),
        "Jobs are done as they come.",
    ),
    # Without the calls that no model was asked in, or that are not answered yet.
    "provider": _Domain(
        "SELECT count(*) AS calls, coalesce(sum(outcome = 'ok'), 0) AS successes FROM (SELECT outcome FROM llm_calls"
        " WHERE outcome NOT IN ('asked', 'breaker_open', 'budget_spent') ORDER BY id DESC LIMIT 100)",
        ("calls", "successes"),
        "The model answers.",
    ),
    "index": _Domain(
        "", ("active", "missing", "extra", "embedded", "coverage"), "The search tables hold what is stored."
    ),
    "storage": _Domain(
        "SELECT (SELECT count(*) FROM raw_memories WHERE gone_at IS NULL) + (SELECT count(*) FROM documents)"
        " AS stored, count(*) AS tombstones, count(*) FILTER (WHERE removed_at < :over) AS over FROM"
        " (SELECT removed_at FROM raw_memories WHERE removed_at IS NOT NULL AND gone_at IS NULL"
        "  UNION ALL SELECT removed_at FROM documents WHERE removed_at IS NOT NULL)",
        ("stored", "tombstones", "over"),
        "Little is stored that is out of use.",
    ),
    "mutation": _Domain(
        "SELECT count(*) AS undone FROM history WHERE event = 'reopened' AND at > :week",
        ("undone",),
        "People keep what the pipeline wrote.",
    ),
    # But for those that a person wants to keep beside each other.
    "duplicate": _Domain(
        "SELECT (SELECT count(*) FROM facts WHERE status = 'active') AS facts,"
        " count(*) FILTER (WHERE asked IS NULL OR asked <> 'rejected') AS duplicates,"
        " count(*) FILTER (WHERE asked IS NULL) AS undecided FROM same_facts",
        ("facts", "duplicates", "undecided"),
        "Few facts are stored twice.",
    ),
}


# Scores


def domains_of(figures: Figures) -> tuple[HealthDomain, ...]:
    """Every domain, the weightiest first."""
    taken = tuple(_deductions(figures))
    found = []
    for name, (_, shown_figures, well) in _DOMAINS.items():
        mine = [(share, problem, said) for domain, share, problem, said in taken if domain == name]
        shown = {each: value for each in shown_figures if (value := getattr(figures, each)) is not None}
        if name == "provider" and not (figures.named and figures.calls > 0):
            said = "No model was asked yet." if figures.named else "No model is configured to read texts."
            found.append(HealthDomain(name, None, "unknown", said, figures=shown))
            continue
        score = round(max(0.0, 1.0 - sum(share for share, _, _ in mine)), _DIGITS)
        said = "; ".join(said for _, _, said in mine)
        said = f"{said[:1].upper()}{said[1:]}." if said else well
        problems = tuple(problem for _, problem, _ in mine if problem is not None)
        found.append(HealthDomain(name, score, status_of_score(score), said, problems, shown))
    return tuple(found)


def _deductions(figures: Figures) -> Iterator[tuple[DomainName, float, HealthProblem | None, str]]:
    """What takes how much from the score of which domain, and why."""
    problems = HealthProblem
    if figures.depth > 50:
        yield "queue", 0.3, problems.QUEUE_DEEP, counted(figures.depth, "job waits", "jobs wait")
    if figures.dead_rate > _MOST_DEAD:
        dead = (
            counted(figures.dead, "job", "jobs") if figures.dead else f"{figures.dead_rate:.0%} of the jobs"
        )
        lost = figures.retryable == 0
        why = ": another try would end the same, or was made already" if lost else ""
        yield "queue", 0.3, problems.JOBS_LOST if lost else problems.JOBS_DEAD, f"{dead} failed for good{why}"
    if figures.oldest_age_s > 300:
        waited = f"the oldest waiting job has waited for {duration(figures.oldest_age_s)}"
        yield "queue", 0.2, problems.JOBS_LATE, waited
    if figures.stale_leases > 0:
        held = counted(figures.stale_leases, "job is", "jobs are")
        yield "queue", 0.2, problems.LEASES_STALE, f"{held} held by a worker that did not come back"
    if failed := max(0, figures.calls - figures.successes):
        share = failed / figures.calls
        said = f"{failed:,} of the last {counted(figures.calls, 'call', 'calls')} to the model failed"
        yield "provider", share, None if 1.0 - share >= HEALTHY else problems.CALLS_FAIL, said
    if figures.mismatch:
        missing = f"{counted(figures.missing, 'row', 'rows')} cannot be found by their words"
        extra = f"{counted(figures.extra, 'entry', 'entries')} of the search tables lead nowhere"
        parts = [missing] * (figures.missing > 0) + [extra] * (figures.extra > 0)
        yield "index", 0.5, problems.INDEX_MISMATCH, " and ".join(parts)
    if figures.coverage is not None and figures.coverage < _LEAST_COVERAGE:
        said = f"only {figures.coverage:.0%} of notes and documents have an embedding"
        yield "index", 0.3, problems.EMBEDDINGS_MISSING, said
    if (ratio := _share(figures.tombstones, figures.stored)) > _MOST_TOMBSTONES:
        said = f"{ratio:.0%} of all texts and documents are removed or replaced, and still stored"
        said += ": none was kept for its time yet" if figures.over == 0 else ""
        yield "storage", 0.3, problems.TOMBSTONES, said
    if figures.undone > 5:
        said = f"{figures.undone:,} changes of the pipeline were undone in seven days"
        yield "mutation", 0.3, problems.UNDONE_OFTEN, said
    if (ratio := _share(figures.duplicates, figures.facts)) > _SOME_DUPLICATES:
        said = f"{counted(figures.duplicates, 'fact says', 'facts say')} what another fact says"
        yield "duplicate", 0.5 if ratio > 0.1 else 0.3, problems.DUPLICATES, said


def status_of_score(score: float) -> HealthStatus:
    """The status of a score."""
    return "healthy" if score >= HEALTHY else "degraded" if score >= 0.5 else "unhealthy"


def composite(scores: Mapping[str, float | None]) -> float:
    """The score of all domains together: the average by weight of those that are known; 1 where none is."""
    known = {name: score for name, score in scores.items() if score is not None}
    weight = sum(WEIGHTS[name] for name in known)
    return (
        round(sum(WEIGHTS[name] * score for name, score in known.items()) / weight, _DIGITS)
        if weight
        else 1.0
    )


def overall(
    domains: Collection[HealthDomain], wanted: Collection[MaintenanceAction] = ()
) -> tuple[float, HealthStatus]:
    """Score and status of all. It is not healthy while one domain is unhealthy, a repair is recommended or jobs are
    dead that no repair helps, however little that weighs: a few texts that nobody will read are no less lost among
    many. wanted: what is recommended.
    """
    score = composite({one.name: one.score for one in domains})
    status = status_of_score(score)
    bad = any(one.status == "unhealthy" or HealthProblem.JOBS_LOST in one.problems for one in domains)
    return score, "degraded" if status == "healthy" and (wanted or bad) else status


# What may run


class _Aim(NamedTuple):
    """What a repair is to better. left: how much there is of what it puts right, by which its run is judged; wanted:
    whether it could better something now.
    """

    domain: DomainName
    left: Callable[[Figures], int]
    wanted: Callable[[Figures], bool]


AIMS: Final[Mapping[MaintenanceAction, _Aim]] = {
    MaintenanceAction.REQUEUE: _Aim(
        "queue", lambda one: one.dead, lambda one: one.dead_rate > _MOST_DEAD and one.retryable != 0
    ),
    MaintenanceAction.RELEASE: _Aim("queue", lambda one: one.stale_leases, lambda one: one.stale_leases > 0),
    MaintenanceAction.INDEXES: _Aim("index", lambda one: one.missing + one.extra, lambda one: one.mismatch),
    MaintenanceAction.SWEEP: _Aim(
        "storage", lambda one: one.tombstones,
        lambda one: _share(one.tombstones, one.stored) > _MOST_TOMBSTONES and one.over != 0,
    ),
    MaintenanceAction.MERGES: _Aim(
        "duplicate", lambda one: one.undecided,
        lambda one: _share(one.undecided, one.facts) > _SOME_DUPLICATES,
    ),
    MaintenanceAction.REEMBED: _Aim(
        "index", lambda one: (one.embeddable or 0) - (one.embedded or 0),
        lambda one: one.coverage is not None and one.coverage < _LEAST_COVERAGE,
    ),
}  # fmt: skip


def recommended(figures: Figures) -> tuple[MaintenanceAction, ...]:
    """The repairs that would better something, in the order in which they run; none that could help nothing now."""
    return tuple(action for action, aim in AIMS.items() if aim.wanted(figures))


class Limits(NamedTuple):
    """How often a repair may run: milliseconds between two runs, and runs in an hour."""

    cooldown_ms: int
    hourly_budget: int

    @classmethod
    def of(cls, action: MaintenanceAction, configuration: PipelineConfiguration) -> Limits:
        """The limits of a repair. Those that have no settings of their own go by those of requeueing."""
        repair = configuration.repair
        if action is MaintenanceAction.MERGES:
            return cls(repair.dedup_cooldown_ms, repair.dedup_hourly_budget)
        if action is MaintenanceAction.REEMBED:
            return cls(repair.reembed_cooldown_ms, repair.reembed_hourly_budget)
        return cls(repair.requeue_cooldown_ms, repair.requeue_hourly_budget)


class Recent(NamedTuple):
    """What is known of the runs of a repair. last_at: when the last began, in_hour: when those of the last hour did,
    oldest first; no_help_at: when one began that bettered nothing; all epoch ms.
    """

    last_at: int | None = None
    in_hour: tuple[int, ...] = ()
    no_help_at: int | None = None


class Asked(NamedTuple):
    """Who wants a repair to run. unattended: not a person. forced: by a person, whatever ran before."""

    unattended: bool = False
    forced: bool = False


def lies_within(at: int, now: int, ms: int) -> bool:
    """Whether a moment is less than so many milliseconds ago. One that lies a little ahead is, too: another process
    took it from its clock meanwhile. What lies farther ahead was written before the clock was set back.
    """
    return -HOUR_MS < now - at < ms


def gate(
    asked: Asked, limits: Limits, recent: Recent, now: int, *, frozen: bool, enabled: bool
) -> tuple[Gate, int]:
    """Why a repair may not run now, and until when, epoch ms (0 for not known).

    Frozen holds for everyone. `enabled` is about what runs unattended. The others hold for everyone but a person who
    forces it: what did not help is not tried again for a day, then cooldown and budget. A time that lies ahead was
    written before the clock was set back: it holds nothing up.
    """
    if frozen:
        return Gate.FROZEN, 0
    if asked.unattended and not enabled:
        return Gate.DISABLED, 0
    if asked.forced and not asked.unattended:
        return Gate.OPEN, 0
    if recent.no_help_at is not None and lies_within(recent.no_help_at, now, DAY_MS):
        return Gate.TRIED, recent.no_help_at + DAY_MS
    if recent.last_at is not None and lies_within(recent.last_at, now, limits.cooldown_ms):
        return Gate.COOLDOWN, recent.last_at + limits.cooldown_ms
    within = [at for at in recent.in_hour if lies_within(at, now, HOUR_MS)]
    if len(within) >= limits.hourly_budget:
        return Gate.BUDGET, within[-limits.hourly_budget] + HOUR_MS
    return Gate.OPEN, 0
