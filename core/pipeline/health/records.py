"""Records of health and maintenance: what was measured, what is recommended, what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

HealthStatus = Literal["healthy", "degraded", "unhealthy", "unknown"]
DomainName = Literal["queue", "storage", "index", "provider", "mutation", "duplicate"]
RunStatus = Literal["running", "done", "failed", "interrupted", "recommended", "denied"]


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
        return self in (
            self.JOBS_DEAD,
            self.JOBS_LOST,
            self.LEASES_STALE,
            self.INDEX_MISMATCH,
            self.CALLS_FAIL,
        )


class MaintenanceAction(StrEnum):
    """A repair, by the name that the Signet pipeline gives it; in the order in which they run."""

    REQUEUE = "requeueDeadJobs"
    RELEASE = "releaseStaleLeases"
    INDEXES = "checkFtsConsistency"
    SWEEP = "triggerRetentionSweep"
    MERGES = "deduplicateMemories"
    REEMBED = "reembedMissingMemories"


# The domain that each repair is to better.
DOMAIN_OF: Final[Mapping[MaintenanceAction, DomainName]] = {
    MaintenanceAction.REQUEUE: "queue",
    MaintenanceAction.RELEASE: "queue",
    MaintenanceAction.INDEXES: "index",
    MaintenanceAction.SWEEP: "storage",
    MaintenanceAction.MERGES: "duplicate",
    MaintenanceAction.REEMBED: "index",
}


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
