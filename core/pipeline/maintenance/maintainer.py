"""The maintainer of one pipeline: measures its health, recommends repairs and runs them, within limits that all
processes share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from core.pipeline.database import meta
from core.pipeline.database.connection import Database
from core.pipeline.database.tables import Tables
from core.pipeline.health import scoring
from core.pipeline.health.records import (
    DOMAIN_OF,
    Gate,
    HealthDomain,
    HealthReport,
    MaintenanceAction,
    MaintenancePlan,
    MaintenanceRun,
    Recommendation,
)
from core.pipeline.health.rules import Asked, gate, left_to_do, lies_within, limits_of, recommended
from core.pipeline.maintenance.actions import REPAIRS, Repair, RepairContext
from core.pipeline.queue.errors import failure_of
from core.pipeline.writes.seen_clock import trusts_clock
from core.settings.pipeline_sections import PipelineConfiguration

# Who runs what nobody asked for.
ITSELF: Final = "pipeline-maintenance"
# Whether it is time is asked for in the database so often at most.
_LOOK_EVERY_MS: Final = 30_000
_MOST_RUNS: Final = 20
_ERROR_LENGTH: Final = 500
BY_PERSON: Final = Asked()


class Maintainer:
    """Measures and repairs. now: epoch ms. further: the repairs that need more than the database."""

    def __init__(
        self,
        database: Database,
        *,
        now: Callable[[], int],
        further: Mapping[MaintenanceAction, Repair],
    ) -> None:
        self._database = database
        self._now = now
        self._repairs = {**REPAIRS, **further}
        self._looked_at: int | None = None

    # Looking

    def report(self, configuration: PipelineConfiguration) -> HealthReport:
        """How healthy everything is, what is recommended, and what ran lately. Writes nothing."""
        return health_report(self._database.reading, configuration, self._now())

    def plan(
        self, action: MaintenanceAction, configuration: PipelineConfiguration, asked: Asked = BY_PERSON
    ) -> MaintenancePlan:
        """What a repair would do now, and what keeps it from running. Writes nothing."""
        context = RepairContext(self._database, configuration, self._now, ITSELF)
        held, until = gate_now(self._database.reading, action, configuration, asked, self._now())
        return replace(self._repairs[action].plan(context), gate=held, until=until)

    # Running

    def run(
        self, action: MaintenanceAction, configuration: PipelineConfiguration, asked: Asked, by: str
    ) -> MaintenanceRun:
        """Runs a repair where it may run, and measures anew; a run with the status "denied" where it may not.

        What keeps it from being done becomes the run's `error`.
        """
        now = self._now()
        before = self._left(action, configuration)
        # Asked for and taken in one transaction: of two processes one gets it.
        with self._database.write() as writer:
            held, until = gate_now(writer, action, configuration, asked, now)
            if held is not Gate.OPEN:
                return MaintenanceRun(0, now, action, by, "denied", gate=held, until=until)
            run_id = writer.maintenance_runs.begin(action, now, by)
        did, error = 0, ""
        try:
            context = RepairContext(self._database, configuration, self._now, by, run_id)
            with self._database.errors():
                did = self._repairs[action].run(context)
        except Exception as failed:
            error = failure_of(failed).message[:_ERROR_LENGTH]
        left = self._left(action, configuration)
        improved = left < before and not error if before or did or error else None
        with self._database.write(lasting=False) as writer:
            return writer.maintenance_runs.finish(
                run_id, self._now(), did=did, left=left, improved=improved, error=error
            )

    def _left(self, action: MaintenanceAction, configuration: PipelineConfiguration) -> int:
        """How much there is of what a repair puts right."""
        figures = self._database.reading.figures
        return left_to_do(action, figures.of_domain(DOMAIN_OF[action], self._now(), configuration))

    # By itself

    def run_when_due(self, configuration: PipelineConfiguration) -> tuple[MaintenanceRun, ...]:
        """Looks at the health once an interval, in one process; in execute mode it runs what is recommended.

        Returns what ran; in observe mode nothing did, and what is recommended is put down. Nothing at all happens
        while maintenance is off or frozen, or the pipeline is frozen or paused.
        """
        if not self._is_due(configuration):
            return ()
        figures = self._database.reading.figures.all(self._now(), configuration)
        wanted = [action for action in recommended(figures) if _unattended(action, configuration)]
        if MaintenanceAction.SWEEP in wanted and not trusts_clock(self._database, self._now()):
            wanted.remove(MaintenanceAction.SWEEP)
        if not wanted:
            with self._database.write(lasting=False) as writer:
                writer.maintenance_runs.settle()
            return ()
        if configuration.autonomous.maintenance_mode == "observe":
            with self._database.write(lasting=False) as writer:
                for action in wanted:
                    writer.maintenance_runs.recommend(action, self._now(), ITSELF)
            return ()
        asked = Asked(unattended=True)
        runs = [self.run(action, configuration, asked, ITSELF) for action in wanted]
        return tuple(run for run in runs if run.status != "denied")

    def _is_due(self, configuration: PipelineConfiguration) -> bool:
        autonomous, now = configuration.autonomous, self._now()
        if not autonomous.enabled or autonomous.frozen or configuration.mutations_frozen:
            return False
        looked = self._looked_at
        if looked is not None and 0 <= now - looked < _LOOK_EVERY_MS:
            return False
        self._looked_at = now
        reader, interval = self._database.reading, autonomous.maintenance_interval_ms
        last = reader.maintenance_runs.last_cycle()
        if last is not None and lies_within(last, now, interval):
            return False
        if reader.meta.number(meta.PAUSED) is not None:
            return False
        with self._database.write(lasting=False) as writer:
            return writer.maintenance_runs.claim_cycle(now, interval)


def health_report(reader: Tables, configuration: PipelineConfiguration, now: int) -> HealthReport:
    """How healthy a pipeline is. now: epoch ms. Writes nothing."""
    figures = reader.figures.all(now, configuration)
    domains = scoring.all_domains(figures)
    wanted = recommended(figures)
    score, status = scoring.overall(domains, wanted)
    autonomous = configuration.autonomous
    unattended = autonomous.enabled and not autonomous.frozen
    last = reader.maintenance_runs.last_cycle()
    said = {one.name: one.said for one in domains}
    found = []
    for action in wanted:
        held, until = gate_now(reader, action, configuration, BY_PERSON, now)
        found.append(Recommendation(action, said[DOMAIN_OF[action]], held, until))
    return HealthReport(
        score,
        status,
        _summary(domains),
        domains,
        tuple(found),
        autonomous.maintenance_mode if unattended else "off",
        last + autonomous.maintenance_interval_ms if unattended and last is not None else None,
        reader.maintenance_runs.latest(_MOST_RUNS),
    )


def gate_now(
    reader: Tables, action: MaintenanceAction, configuration: PipelineConfiguration, asked: Asked, now: int
) -> tuple[Gate, int]:
    """Why a repair may not run now, and until when (epoch ms)."""
    return gate(
        asked,
        limits_of(action, configuration),
        reader.maintenance_runs.recent(action, now),
        now,
        frozen=configuration.autonomous.frozen,
        enabled=configuration.autonomous.enabled,
    )


def _unattended(action: MaintenanceAction, configuration: PipelineConfiguration) -> bool:
    """Whether a repair may run unasked. Where retention or the tracker of embeddings is off, a person does its work."""
    if action is MaintenanceAction.SWEEP:
        return configuration.retention.enabled
    return action is not MaintenanceAction.REEMBED or configuration.embedding_tracker.enabled


def _summary(domains: tuple[HealthDomain, ...]) -> str:
    """What is to be said of all: of the worst domain, or that all is well."""
    worst = min(domains, key=lambda one: 1.0 if one.score is None else one.score)
    if worst.score is None or worst.score >= 1.0:
        return "All is well."
    return worst.said
