"""Scores: how healthy each domain is and all of them together, as pure functions of what was counted.

Weights, limits and deductions are those of the Signet pipeline. Where it calls "healthy" what nothing is known of, the
status here is "unknown", and the domain does not count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from core.model.names import counted, duration
from core.pipeline.health.records import (
    DomainName,
    HealthDomain,
    HealthProblem,
    HealthStatus,
    MaintenanceAction,
)

# "connector" and "update" are domains of the Signet pipeline that have nothing to measure here.
WEIGHTS: Final[Mapping[str, float]] = {
    "queue": 0.25, "provider": 0.22, "index": 0.15, "update": 0.11, "storage": 0.10, "mutation": 0.08,
    "connector": 0.05, "duplicate": 0.04,
}  # fmt: skip
HEALTHY: Final = 0.8
DEGRADED: Final = 0.5
MOST_WAITING: Final = 50
MOST_DEAD: Final = 0.01
LONGEST_WAIT_S: Final = 300
MOST_TOMBSTONES: Final = 0.3
LEAST_COVERAGE: Final = 0.8
MOST_EXTRA_ROWS: Final = 0.1
MOST_UNDONE: Final = 5
SOME_DUPLICATES: Final = 0.05
MANY_DUPLICATES: Final = 0.1
# Scores are sums of tenths: what a float adds to them is no news.
_DIGITS: Final = 4


class QueueFigures(NamedTuple):
    """Jobs. depth: that wait. dead: given up, and none of the same target came after. dead_rate: their share of all
    that ended. oldest_age_s: for how long the first has waited that may run. stale_leases: whose worker did not come
    back. retryable: dead jobs that another try may help, None where nobody looked.
    """

    depth: int = 0
    dead: int = 0
    dead_rate: float = 0.0
    oldest_age_s: float = 0.0
    stale_leases: int = 0
    retryable: int | None = None


class StorageFigures(NamedTuple):
    """Texts and documents. tombstones: those that were removed or replaced, kept until retention deletes them. over:
    how many of them were kept long enough, None where nobody looked.
    """

    total: int = 0
    tombstones: int = 0
    over: int | None = None

    @property
    def ratio(self) -> float:
        """Share of tombstones."""
        return self.tombstones / self.total if self.total else 0.0


class IndexFigures(NamedTuple):
    """Rows that are to be found, and those of the full-text tables. missing: rows that no index has; extra: entries of
    an index without a row; both by their ids. embedded: how many of `embeddable`
    have an embedding, None where no model makes any; embeddable: None for the active rows.
    """

    active: int = 0
    missing: int = 0
    extra: int = 0
    embedded: int | None = None
    embeddable: int | None = None

    @property
    def mismatch(self) -> bool:
        """Whether something cannot be found, or more than a tenth of the entries lead nowhere."""
        return self.missing > 0 or self.extra > MOST_EXTRA_ROWS * self.active

    @property
    def coverage(self) -> float:
        """Share of what can have an embedding that has one; 1 where none are made."""
        total = self.active if self.embeddable is None else self.embeddable
        return self.embedded / total if total and self.embedded is not None else 1.0

    @property
    def unembedded(self) -> int:
        """How many embeddings are missing; 0 where none are made."""
        total = self.active if self.embeddable is None else self.embeddable
        return 0 if self.embedded is None else total - self.embedded


class ProviderFigures(NamedTuple):
    """The latest calls to models, at most a hundred; calls: 0 where none was made. named: whether the settings name a
    model now.
    """

    calls: int = 0
    successes: int = 0
    named: bool = True


class MutationFigures(NamedTuple):
    """Changes of the pipeline that people undid in seven days."""

    undone: int = 0


class DuplicateFigures(NamedTuple):
    """Facts that say what another fact of the nugget says. undecided: of which no person was asked yet."""

    total: int = 0
    duplicates: int = 0
    undecided: int = 0

    @property
    def ratio(self) -> float:
        """Share of facts that say what another says."""
        return self.duplicates / self.total if self.total else 0.0

    @property
    def undecided_ratio(self) -> float:
        """Share of those of which nobody was asked."""
        return self.undecided / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Figures:
    """All that is counted."""

    queue: QueueFigures = field(default_factory=QueueFigures)
    storage: StorageFigures = field(default_factory=StorageFigures)
    index: IndexFigures = field(default_factory=IndexFigures)
    provider: ProviderFigures = field(default_factory=ProviderFigures)
    mutation: MutationFigures = field(default_factory=MutationFigures)
    duplicate: DuplicateFigures = field(default_factory=DuplicateFigures)


def status_of_score(score: float | None) -> HealthStatus:
    """The status of a score; "unknown" for none."""
    if score is None:
        return "unknown"
    return "healthy" if score >= HEALTHY else "degraded" if score >= DEGRADED else "unhealthy"


def composite(scores: Mapping[str, float | None]) -> float:
    """The score of all domains together: the average by weight of those that are known; 1 where none is."""
    known = {name: score for name, score in scores.items() if score is not None}
    weight = sum(WEIGHTS[name] for name in known)
    if not weight:
        return 1.0
    return round(sum(WEIGHTS[name] * score for name, score in known.items()) / weight, _DIGITS)


def overall(
    domains: Iterable[HealthDomain], wanted: Collection[MaintenanceAction] = ()
) -> tuple[float, HealthStatus]:
    """Score and status of all. It is not healthy while one domain is unhealthy, a repair is recommended or jobs are
    dead that no repair helps, however little that weighs: a few texts that nobody will read are no less lost among
    many. wanted: what is recommended.
    """
    found = tuple(domains)
    score = composite({one.name: one.score for one in found})
    status = status_of_score(score)
    bad = any(one.status == "unhealthy" or HealthProblem.JOBS_LOST in one.problems for one in found)
    if status == "healthy" and (wanted or bad):
        status = "degraded"
    return score, status


def all_domains(figures: Figures) -> tuple[HealthDomain, ...]:
    """Every domain, the weightiest first."""
    return (
        queue_domain(figures.queue),
        provider_domain(figures.provider),
        index_domain(figures.index),
        storage_domain(figures.storage),
        mutation_domain(figures.mutation),
        duplicate_domain(figures.duplicate),
    )


def queue_domain(figures: QueueFigures) -> HealthDomain:
    """0.3 for a deep queue, 0.3 for dead jobs, 0.2 for a job that waits long, 0.2 for a stale lease."""
    found = _Deductions()
    if figures.depth > MOST_WAITING:
        found.take(0.3, HealthProblem.QUEUE_DEEP, f"{counted(figures.depth, 'job waits', 'jobs wait')}")
    if figures.dead_rate > MOST_DEAD:
        dead = (
            counted(figures.dead, "job", "jobs") if figures.dead else f"{figures.dead_rate:.0%} of the jobs"
        )
        if figures.retryable == 0:
            same = "another try would end the same, or was made already"
            found.take(0.3, HealthProblem.JOBS_LOST, f"{dead} failed for good: {same}")
        else:
            found.take(0.3, HealthProblem.JOBS_DEAD, f"{dead} failed for good")
    if figures.oldest_age_s > LONGEST_WAIT_S:
        waited = duration(figures.oldest_age_s)
        found.take(0.2, HealthProblem.JOBS_LATE, f"the oldest waiting job has waited for {waited}")
    if figures.stale_leases > 0:
        held = counted(figures.stale_leases, "job is", "jobs are")
        found.take(0.2, HealthProblem.LEASES_STALE, f"{held} held by a worker that did not come back")
    return found.domain("queue", _measured(figures), "Jobs are done as they come.")


def storage_domain(figures: StorageFigures) -> HealthDomain:
    """0.3 where more than 30 % are tombstones."""
    found = _Deductions()
    if figures.ratio > MOST_TOMBSTONES:
        said = f"{figures.ratio:.0%} of all texts and documents are removed or replaced, and still stored"
        said += ": none was kept for its time yet" if figures.over == 0 else ""
        found.take(0.3, HealthProblem.TOMBSTONES, said)
    return found.domain("storage", _measured(figures), "Little is stored that is out of use.")


def index_domain(figures: IndexFigures) -> HealthDomain:
    """0.5 where index and rows do not agree, 0.3 where fewer than 80 % have an embedding."""
    found = _Deductions()
    if figures.mismatch:
        missing = f"{counted(figures.missing, 'row', 'rows')} cannot be found by their words"
        extra = f"{counted(figures.extra, 'entry', 'entries')} of the search tables lead nowhere"
        parts = [missing] * (figures.missing > 0) + [extra] * (figures.extra > 0)
        found.take(0.5, HealthProblem.INDEX_MISMATCH, " and ".join(parts))
    if figures.coverage < LEAST_COVERAGE:
        said = f"only {figures.coverage:.0%} of notes and documents have an embedding"
        found.take(0.3, HealthProblem.EMBEDDINGS_MISSING, said)
    measured: dict[str, float] = {
        "active": figures.active,
        "missing": figures.missing,
        "extra": figures.extra,
    }
    if figures.embedded is not None:
        measured |= {"embedded": figures.embedded, "coverage": round(figures.coverage, _DIGITS)}
    return found.domain("index", measured, "The search tables hold what is stored.")


def provider_domain(figures: ProviderFigures) -> HealthDomain:
    """The share of calls that were answered; unknown where none was made, or where no model is named any more."""
    measured = {"calls": figures.calls, "successes": figures.successes}
    if not figures.named:
        said = "No model is configured to read texts."
        return HealthDomain("provider", None, "unknown", said, figures=measured)
    if figures.calls <= 0:
        return HealthDomain("provider", None, "unknown", "No model was asked yet.", figures=measured)
    score = round(figures.successes / figures.calls, _DIGITS)
    failed = figures.calls - figures.successes
    said = "The model answers." if not failed else (
        f"{failed:,} of the last {counted(figures.calls, 'call', 'calls')} to the model failed."
    )  # fmt: skip
    problems = () if score >= HEALTHY else (HealthProblem.CALLS_FAIL,)
    return HealthDomain("provider", score, status_of_score(score), said, problems, measured)


def mutation_domain(figures: MutationFigures) -> HealthDomain:
    """0.3 where people undid more than five changes in seven days."""
    found = _Deductions()
    if figures.undone > MOST_UNDONE:
        said = f"{figures.undone:,} changes of the pipeline were undone in seven days"
        found.take(0.3, HealthProblem.UNDONE_OFTEN, said)
    return found.domain("mutation", figures._asdict(), "People keep what the pipeline wrote.")


def duplicate_domain(figures: DuplicateFigures) -> HealthDomain:
    """0.5 where more than 10 % say what another says, 0.3 where more than 5 % do."""
    found = _Deductions()
    if figures.ratio > SOME_DUPLICATES:
        said = f"{counted(figures.duplicates, 'fact says', 'facts say')} what another fact says"
        found.take(0.5 if figures.ratio > MANY_DUPLICATES else 0.3, HealthProblem.DUPLICATES, said)
    return found.domain("duplicate", figures._asdict(), "Few facts are stored twice.")


def _measured(figures: QueueFigures | StorageFigures) -> dict[str, float]:
    """Figures by name, but those that nobody looked for."""
    return {name: value for name, value in figures._asdict().items() if value is not None}


class _Deductions:
    """What takes from the score of a domain, gathered."""

    def __init__(self) -> None:
        self._score = 1.0
        self._problems: list[HealthProblem] = []
        self._said: list[str] = []

    def take(self, share: float, problem: HealthProblem, said: str) -> None:
        self._score -= share
        self._problems.append(problem)
        self._said.append(said)

    def domain(self, name: DomainName, figures: Mapping[str, float], well: str) -> HealthDomain:
        score = round(max(0.0, self._score), _DIGITS)
        said = "; ".join(self._said)
        sentence = f"{said[:1].upper()}{said[1:]}." if said else well
        return HealthDomain(name, score, status_of_score(score), sentence, tuple(self._problems), figures)
