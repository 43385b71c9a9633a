"""Which repairs are recommended, and whether one may run now; pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from core.pipeline.health.records import Gate, MaintenanceAction
from core.pipeline.health.scoring import (
    LEAST_COVERAGE,
    MOST_DEAD,
    MOST_TOMBSTONES,
    SOME_DUPLICATES,
    DuplicateFigures,
    Figures,
    IndexFigures,
    MutationFigures,
    ProviderFigures,
    QueueFigures,
    StorageFigures,
)
from core.settings.pipeline_sections import PipelineConfiguration

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 86_400_000


def lies_within(at: int, now: int, ms: int) -> bool:
    """Whether a moment is less than so many milliseconds ago. One that lies a little ahead is, too: another process
    took it from its clock meanwhile. What lies farther ahead was written before the clock was set back.
    """
    return -HOUR_MS < now - at < ms


class Limits(NamedTuple):
    """How often a repair may run: milliseconds between two runs, and runs in an hour."""

    cooldown_ms: int
    hourly_budget: int


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


def recommended(figures: Figures) -> tuple[MaintenanceAction, ...]:
    """The repairs that would better something, in the order in which they run; none that could help nothing now."""
    found = {
        MaintenanceAction.REQUEUE: figures.queue.dead_rate > MOST_DEAD and figures.queue.retryable != 0,
        MaintenanceAction.RELEASE: figures.queue.stale_leases > 0,
        MaintenanceAction.INDEXES: figures.index.mismatch,
        MaintenanceAction.SWEEP: figures.storage.ratio > MOST_TOMBSTONES and figures.storage.over != 0,
        MaintenanceAction.MERGES: figures.duplicate.undecided_ratio > SOME_DUPLICATES,
        MaintenanceAction.REEMBED: figures.index.coverage < LEAST_COVERAGE,
    }
    return tuple(action for action in MaintenanceAction if found[action])


def left_to_do(action: MaintenanceAction, figures: _Measured) -> int:
    """How much there is of what a repair puts right: by this its run is judged, and by the score of its domain."""
    match figures:
        case QueueFigures():
            return figures.stale_leases if action is MaintenanceAction.RELEASE else figures.dead
        case IndexFigures() if action is MaintenanceAction.REEMBED:
            return figures.unembedded
        case IndexFigures():
            return figures.missing + figures.extra
        case StorageFigures():
            return figures.tombstones
        case DuplicateFigures():
            return figures.undecided
        case _:
            return 0


_Measured = (
    QueueFigures | StorageFigures | IndexFigures | ProviderFigures | MutationFigures | DuplicateFigures
)


def limits_of(action: MaintenanceAction, configuration: PipelineConfiguration) -> Limits:
    """The limits of a repair. Those that have no settings of their own go by those of requeueing."""
    repair = configuration.repair
    if action is MaintenanceAction.MERGES:
        return Limits(repair.dedup_cooldown_ms, repair.dedup_hourly_budget)
    if action is MaintenanceAction.REEMBED:
        return Limits(repair.reembed_cooldown_ms, repair.reembed_hourly_budget)
    return Limits(repair.requeue_cooldown_ms, repair.requeue_hourly_budget)


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
