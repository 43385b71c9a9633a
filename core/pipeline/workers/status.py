"""Counts of everything in the pipeline, with the status and its meaning."""

from __future__ import annotations

from typing import Final

from core.pipeline.database.connection import Database
from core.pipeline.database.tables import PAUSED
from core.pipeline.models.commands import NEVER_ASKED
from core.pipeline.modes import mode
from core.pipeline.queue import StateInputs, pipeline_state
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
# Everything in counts; moments are epoch ms, NULL for never. since: from when on the oldest open work has waited: a job
# that failed waits from its making on, one that was let go again from then on. progress: when a job was last completed,
# a part of a long text read or a note written. Of the ends of sessions nobody waits for any.
_COUNTS: Final = """
SELECT (SELECT count(*) FROM jobs WHERE status = 'pending' AND type = 'document_ingest') AS documents_waiting,
    (SELECT count(*) FROM jobs WHERE status = 'pending' AND type = 'session_end') AS sessions_waiting,
    (SELECT count(*) FROM jobs WHERE status = 'completed' AND type = 'extract' AND error_class = 'unread') AS unread,
    (SELECT count(*) FROM proposals WHERE status IN ('proposed', 'review', 'blocked')) AS proposals_open,
    (SELECT count(*) FROM raw_memories WHERE gone_at IS NULL) AS raw,
    (SELECT count(*) FROM raw_memories WHERE status = 'extracted') AS read,
    (SELECT count(*) FROM facts WHERE status = 'active') AS facts,
    (SELECT count(*) FROM proposals WHERE status IN ('applied', 'deduped', 'none', 'rejected')) AS outcomes,
    (SELECT count(*) FROM entities) AS entities,
    (SELECT count(*) FROM documents WHERE removed_at IS NULL AND status = 'done') AS documents,
    (SELECT max(done_at) FROM note_edits WHERE status = 'done') AS last_written_at,
    (SELECT min(at) FROM (
        SELECT min(CASE WHEN failed_at = updated_at THEN created_at ELSE updated_at END) AS at FROM jobs
            WHERE status = 'pending' AND type <> 'session_end'
        UNION ALL SELECT min(leased_at) FROM jobs WHERE status = 'leased'
        )) AS since,
    (SELECT max(at) FROM (
        SELECT max(completed_at) AS at FROM jobs WHERE status = 'completed'
        UNION ALL SELECT max(json_extract(result, '$.readAt')) FROM jobs WHERE status IN ('pending', 'leased')
        UNION ALL SELECT max(done_at) FROM note_edits WHERE status = 'done')) AS progress
"""


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
    totals, jobs = reader.connection.execute(_COUNTS).fetchone(), reader.jobs.counts()
    dead = reader.connection.execute(
        "SELECT failed_at, error FROM jobs WHERE status = 'dead' ORDER BY failed_at DESC, id DESC LIMIT 1"
    ).fetchone()
    running = reader.jobs.running()
    state, why = pipeline_state(
        StateInputs(
            mode=mode(configuration),
            frozen=configuration.mutations_frozen,
            paused=reader.meta.number(PAUSED) is not None,
            provider=provider,
            now=now,
            waiting=jobs.get("pending", 0) - totals["documents_waiting"] - totals["sessions_waiting"],
            documents=totals["documents_waiting"],
            held=jobs.get("held", 0),
            running=jobs.get("leased", 0),
            dead=jobs.get("dead", 0),
            proposals_open=totals["proposals_open"],
            read=totals["read"],
            facts=totals["facts"] + totals["outcomes"],
            since=totals["since"],
            progress=totals["progress"],
            died=dead["failed_at"] if dead else None,
            died_of=dead["error"] if dead else "",
            unread=totals["unread"],
            unreadable=_unreadable(warnings),
            model_named=provider.name != _USUAL[0] or _named(configuration) != _USUAL,
        )
    )
    return PipelineStatus(
        mode=mode(configuration),
        frozen=configuration.mutations_frozen,
        light=state,
        why=why,
        jobs=jobs,
        proposals_open=totals["proposals_open"],
        raw=totals["raw"],
        facts=totals["facts"],
        entities=totals["entities"],
        unread=totals["unread"],
        documents=totals["documents"],
        embeddings=embeddings,
        last_written_at=totals["last_written_at"],
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
