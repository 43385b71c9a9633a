"""Everything in counts, with the light and what it means."""

from __future__ import annotations

from typing import Final

from core.pipeline.config import PipelineConfiguration, mode
from core.pipeline.config.warnings import ConfigurationWarning, Why
from core.pipeline.database import jobs, meta
from core.pipeline.database.connection import Database
from core.pipeline.database.overview import overview
from core.pipeline.queue.light import Standing, light_of
from core.pipeline.records import Light, PipelineStatus, ProviderHealth


def _named(configuration: PipelineConfiguration) -> tuple[str, str, str]:
    """Which model is asked, and where."""
    extraction = configuration.extraction
    return extraction.provider, extraction.model, extraction.endpoint


def _unreadable(warnings: tuple[ConfigurationWarning, ...]) -> str:
    return next((one.message for one in warnings if one.why is Why.UNREADABLE), "")


_USUAL: Final = _named(PipelineConfiguration())


def status_of(
    database: Database,
    configuration: PipelineConfiguration,
    warnings: tuple[ConfigurationWarning, ...],
    provider: ProviderHealth,
    now: int,
) -> PipelineStatus:
    """How the pipeline of a memory stands. Reads only."""
    reader = database.reading
    seen = overview(reader)
    running = jobs.running(reader)
    light, why = light_of(
        Standing(
            mode=mode(configuration),
            frozen=configuration.mutations_frozen,
            paused=meta.number(reader, meta.PAUSED) is not None,
            provider=provider,
            now=now,
            waiting=seen.jobs.get("pending", 0),
            held=seen.jobs.get("held", 0),
            running=seen.jobs.get("leased", 0),
            dead=seen.jobs.get("dead", 0),
            outbox=seen.outbox_pending,
            proposals_open=seen.proposals_open,
            read=seen.read,
            facts=seen.facts + seen.outcomes,
            since=seen.since,
            progress=seen.progress,
            died=seen.died,
            died_of=seen.died_of,
            unreadable=_unreadable(warnings),
            model_named=provider.name != _USUAL[0] or _named(configuration) != _USUAL,
        )
    )
    return PipelineStatus(
        mode=mode(configuration),
        frozen=configuration.mutations_frozen,
        light=light,
        why=why,
        jobs=seen.jobs,
        proposals_open=seen.proposals_open,
        raw=seen.raw,
        facts=seen.facts,
        entities=seen.entities,
        outbox_pending=seen.outbox_pending,
        outbox_conflicts=seen.outbox_conflicts,
        last_written_at=seen.last_written_at,
        running=running[0] if running else None,
        provider=provider,
        warnings=warnings,
    )


def status_without_database(
    configuration: PipelineConfiguration, warnings: tuple[ConfigurationWarning, ...]
) -> PipelineStatus:
    """How it stands where nothing was ever handed in."""
    name, budget = configuration.extraction.provider, configuration.extraction.daily_call_budget
    health = ProviderHealth(
        name, configuration.extraction.model, "off" if name == "none" else "unknown", 0, 0, None, "", 0, budget,
        None, 0,
    )  # fmt: skip
    standing = Standing(
        mode(configuration), configuration.mutations_frozen, False, health, now=0, unreadable=_unreadable(warnings)
    )  # fmt: skip
    light, why = light_of(standing)
    if light is Light.IDLE:
        why = "no text is submitted yet: use `nuggets ingest FILE` or `nuggets ingest -`"
    return PipelineStatus(
        mode(configuration), configuration.mutations_frozen, light, why, provider=health, warnings=warnings
    )
