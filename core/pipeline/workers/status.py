"""Counts of everything in the pipeline, with the status and its meaning."""

from __future__ import annotations

from typing import Final

from core.pipeline.database import meta
from core.pipeline.database.connection import Database
from core.pipeline.models.opencode import NEVER_ASKED
from core.pipeline.modes import mode
from core.pipeline.queue.state import StateInputs, pipeline_state
from core.pipeline.records import EmbeddingCoverage, PipelineState, PipelineStatus, ProviderHealth
from core.settings.pipeline_sections import PipelineConfiguration
from core.settings.warnings import ConfigurationWarning, WarningKind


def _named(configuration: PipelineConfiguration) -> tuple[str, str, str]:
    """Which model is asked, and where."""
    extraction = configuration.extraction
    return extraction.provider, extraction.model, extraction.endpoint


def _unreadable(warnings: tuple[ConfigurationWarning, ...]) -> str:
    return next((one.message for one in warnings if one.why is WarningKind.UNREADABLE), "")


_USUAL: Final = _named(PipelineConfiguration())


def status_of(
    database: Database,
    configuration: PipelineConfiguration,
    warnings: tuple[ConfigurationWarning, ...],
    provider: ProviderHealth,
    now: int,
    embeddings: EmbeddingCoverage | None = None,
) -> PipelineStatus:
    """How the pipeline of a memory stands. Reads only."""
    reader = database.reading
    totals = reader.counts.count_all()
    running = reader.jobs.running()
    state, why = pipeline_state(
        StateInputs(
            mode=mode(configuration),
            frozen=configuration.mutations_frozen,
            paused=reader.meta.number(meta.PAUSED) is not None,
            provider=provider,
            now=now,
            waiting=totals.jobs.get("pending", 0) - totals.documents_waiting - totals.sessions_waiting,
            documents=totals.documents_waiting,
            held=totals.jobs.get("held", 0),
            running=totals.jobs.get("leased", 0),
            dead=totals.jobs.get("dead", 0),
            outbox=totals.outbox_pending,
            proposals_open=totals.proposals_open,
            read=totals.read,
            facts=totals.facts + totals.outcomes,
            since=totals.since,
            progress=totals.progress,
            died=totals.died,
            died_of=totals.died_of,
            unread=totals.unread,
            unreadable=_unreadable(warnings),
            model_named=provider.name != _USUAL[0] or _named(configuration) != _USUAL,
        )
    )
    return PipelineStatus(
        mode=mode(configuration),
        frozen=configuration.mutations_frozen,
        light=state,
        why=why,
        jobs=totals.jobs,
        proposals_open=totals.proposals_open,
        raw=totals.raw,
        facts=totals.facts,
        entities=totals.entities,
        outbox_pending=totals.outbox_pending,
        outbox_conflicts=totals.outbox_conflicts,
        unread=totals.unread,
        documents=totals.documents,
        embeddings=embeddings,
        last_written_at=totals.last_written_at,
        running=running[0] if running else None,
        provider=provider,
        warnings=warnings,
    )


def status_without_database(
    configuration: PipelineConfiguration, warnings: tuple[ConfigurationWarning, ...]
) -> PipelineStatus:
    """How it stands where nothing was ever submitted."""
    name, budget = configuration.extraction.provider, configuration.extraction.daily_call_budget
    health = ProviderHealth(
        name, configuration.extraction.model, "off" if name in ("none", "opencode") else "unknown", 0, 0, None,
        NEVER_ASKED if name == "opencode" else "", 0, budget, None, 0,
    )  # fmt: skip
    inputs = StateInputs(
        mode(configuration), configuration.mutations_frozen, False, health, now=0, unreadable=_unreadable(warnings)
    )  # fmt: skip
    state, why = pipeline_state(inputs)
    if state is PipelineState.IDLE:
        why = "no text is submitted yet: use `nuggets ingest FILE` or `nuggets ingest -`"
    return PipelineStatus(
        mode(configuration), configuration.mutations_frozen, state, why, provider=health, warnings=warnings
    )
