"""Counts of everything in the pipeline, with the status and its meaning in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.model.names import counted, duration
from core.pipeline.database.connection import Database
from core.pipeline.database.tables import PAUSED
from core.pipeline.models.commands import NEVER_ASKED
from core.pipeline.modes import Mode, mode
from core.pipeline.records import EmbeddingCoverage, PipelineState, PipelineStatus, ProviderHealth
from core.settings.pipeline_sections import ExtractionPart, PipelineConfiguration
from core.settings.warnings import ConfigurationWarning, WarningKind

# Work that nothing came of for so long is stuck (milliseconds).
STUCK_AFTER_MS: Final = 300_000
# So many texts may hold nothing worth keeping before that looks wrong.
_TEXTS_WITHOUT_FACT: Final = 10
_HOW_TO_START: Final = (
    "no model is configured: install Ollama, run `ollama serve` and `ollama pull qwen3:4b`, then `nuggets pipeline"
    " setup`; or set provider under [pipeline.extraction] in settings.toml"
)
_FROZEN: Final = (
    "frozen: texts are kept, none is read, until mutations_frozen is false under [pipeline] in settings.toml"
)
_SWITCHED_OFF: Final = "the pipeline is off: set enabled = true under [pipeline] in settings.toml"
_USUAL: Final = ExtractionPart()


@dataclass(frozen=True, slots=True)
class StateInputs:
    """How things stand. waiting: jobs that wait, but those of documents; documents: these; held: texts of a frozen
    pipeline.

    since: from when on the oldest of the work has waited; progress: when something last came of some; died: when a
    job was last given up; all epoch ms, None for never. read: texts that the model has read, facts: what came of them,
    settled proposals and repetitions included. unread: texts of which a part was not read. model_named: whether a
    person said which model is asked, and where. unreadable: what is wrong with a file of the configuration that cannot
    be read, "" for none.
    """

    mode: Mode
    frozen: bool
    paused: bool
    provider: ProviderHealth
    now: int
    waiting: int = 0
    documents: int = 0
    held: int = 0
    running: int = 0
    dead: int = 0
    proposals_open: int = 0
    read: int = 0
    facts: int = 0
    since: int | None = None
    progress: int | None = None
    died: int | None = None
    died_of: str = ""
    unread: int = 0
    model_named: bool = True
    unreadable: str = ""

    @property
    def quiet_ms(self) -> int:
        """For how long nothing has come of work that waits or runs, 0 where there is none."""
        works = self.waiting + self.documents + self.running
        return self.now - max(self.since, self.progress or 0) if works and self.since is not None else 0

    @property
    def died_in_vain(self) -> bool:
        """Whether it is dead jobs that nothing came of: what the status says of work that is stuck."""
        in_vain = self.dead > 0 and (self.progress or 0) < (self.died or 0)
        return in_vain and self.quiet_ms <= STUCK_AFTER_MS


def pipeline_state(inputs: StateInputs) -> tuple[PipelineState, str]:
    """The status, and what it means with what to do about it."""
    waiting = inputs.waiting + inputs.held
    texts = f"; {counted(waiting, 'text is waiting', 'texts are waiting')}" if waiting else ""
    proposals = f"{counted(inputs.proposals_open, 'proposal waits', 'proposals wait')} for your decision"
    if inputs.mode is Mode.OFF:
        state, why = PipelineState.OFF, (inputs.unreadable or _SWITCHED_OFF) + texts
    elif inputs.provider.state == "off":
        state, why = _without_model(inputs, texts, proposals)
    else:
        state, why = _with_model(inputs, texts, proposals)
    if inputs.dead and not (state is PipelineState.STUCK and inputs.died_in_vain):
        why += f"; {counted(inputs.dead, 'job', 'jobs')} failed for good: see why and retry"
    if inputs.unread:
        why += f"; {counted(inputs.unread, 'text was', 'texts were')} not read whole: see why and retry"
    return state, why


def _without_model(inputs: StateInputs, texts: str, proposals: str) -> tuple[PipelineState, str]:
    """To decide on what was found takes no model, nor does indexing a document."""
    waiting = inputs.waiting + inputs.held
    if inputs.proposals_open:
        jobs = f"; {counted(waiting, 'job is waiting', 'jobs are waiting')}" if waiting else ""
        return PipelineState.REVIEW, f"{proposals}; no model is configured{jobs}"
    if inputs.documents and not (waiting or inputs.frozen or inputs.paused):
        return PipelineState.WORKING, _work(inputs)
    return PipelineState.OFF, (inputs.provider.last_error or _HOW_TO_START) + texts


def _with_model(inputs: StateInputs, texts: str, proposals: str) -> tuple[PipelineState, str]:
    provider, waits = inputs.provider, bool(texts)
    named = f"{provider.name} with {provider.model}" if provider.model else provider.name
    fails = provider.state in ("failing", "open")
    # Nobody named a model and there has been none so far: so everybody begins, and nothing went wrong.
    never = not inputs.model_named and not inputs.read and provider.last_ok_at is None
    if inputs.frozen:
        return PipelineState.PAUSED, _FROZEN + texts + (f"; {proposals}" if inputs.proposals_open else "")
    if inputs.paused:
        return PipelineState.PAUSED, f"paused by hand{texts}"
    if waits and provider.calls_today >= provider.budget:
        spent = f"today's limit of {provider.budget} calls is used up; it continues tomorrow"
        return PipelineState.PAUSED, spent + texts
    if never and waits and fails and provider.last_error_kind in ("unavailable", "model_missing"):
        told = f"no model answers yet: {provider.last_error}; `nuggets pipeline setup` finds one"
        return PipelineState.OFF, told + texts
    if waits and provider.state == "open" and provider.last_error_kind == "asked_to_wait":
        return PipelineState.PAUSED, f"{named} asks to wait ({provider.last_error}){texts}"
    if stuck := _stuck(inputs, named):
        return PipelineState.STUCK, stuck
    if provider.state == "open" and waits:
        said = f" ({provider.last_error})" if provider.last_error else ""
        told = f"{named} fails{said}; the pipeline waits a while before it asks again{texts}"
        return PipelineState.PAUSED, told
    if work := _work(inputs):
        return PipelineState.WORKING, work
    if inputs.proposals_open:
        return PipelineState.REVIEW, proposals
    return PipelineState.IDLE, "nothing to do"


def _work(inputs: StateInputs) -> str:
    """What is done and to do, in words; "" for nothing."""
    parts = (
        (inputs.running, "job running", "jobs running"),
        (inputs.waiting, "job waiting", "jobs waiting"),
        (inputs.documents, "document to index", "documents to index"),
    )
    return ", ".join(counted(*part) for part in parts if part[0])


def _stuck(inputs: StateInputs, named: str) -> str:
    """Why nothing comes of the work, "" when something does. named: the provider."""
    provider = inputs.provider
    if inputs.quiet_ms > STUCK_AFTER_MS:
        obstacle = "no worker is running: start `nuggets daemon`, or keep the app open"
        if provider.state in ("open", "failing"):
            said = f": {provider.last_error}" if provider.last_error else ""
            start = " - is `ollama serve` running?" if provider.name == "ollama" else ""
            obstacle = f"{named} fails{said}{start}"
        elif inputs.running:
            obstacle = f"{counted(inputs.running, 'job has', 'jobs have')} been running all this time"
        return f"nothing has been written for {duration(inputs.quiet_ms / 1000)}; {obstacle}"
    if inputs.died_in_vain:
        reason = f" ({inputs.died_of})" if inputs.died_of else ""
        return f"{counted(inputs.dead, 'job', 'jobs')} failed without any result{reason}: retry"
    nothing = inputs.mode.writes_notes and not (inputs.facts or inputs.proposals_open)
    if nothing and inputs.read >= _TEXTS_WITHOUT_FACT:
        return f"{inputs.read} texts gave no facts: check the rejected proposals"
    return ""


def _unreadable(warnings: tuple[ConfigurationWarning, ...]) -> str:
    return next((one.message for one in warnings if one.why is WarningKind.UNREADABLE), "")


# Everything in counts; moments are epoch ms, NULL for never. since: from when on the oldest open work has waited: a job
# that failed waits from its making on, one that was let go again from then on. progress: when a job was last completed,
# a part of a long text read or a note written. Of the ends of sessions nobody waits for any.
_INPUTS: Final = """
SELECT (SELECT count(*) FROM jobs
        WHERE status = 'pending' AND type NOT IN ('document_ingest', 'session_end')) AS waiting,
    (SELECT count(*) FROM jobs WHERE status = 'pending' AND type = 'document_ingest') AS documents,
    (SELECT count(*) FROM jobs WHERE status = 'completed' AND type = 'extract' AND error_class = 'unread') AS unread,
    (SELECT count(*) FROM proposals WHERE status IN ('proposed', 'review', 'blocked')) AS proposals_open,
    (SELECT count(*) FROM raw_memories WHERE status = 'extracted' AND gone_at IS NULL) AS read,
    (SELECT count(*) FROM facts WHERE status = 'active')
        + (SELECT count(*) FROM proposals WHERE status IN ('applied', 'deduped', 'none', 'rejected')) AS facts,
    (SELECT max(failed_at) FROM jobs WHERE status = 'dead') AS died,
    coalesce(
        (SELECT error FROM jobs WHERE status = 'dead' ORDER BY failed_at DESC, id DESC LIMIT 1), '') AS died_of,
    (SELECT min(at) FROM (
        SELECT min(CASE WHEN failed_at = updated_at THEN created_at ELSE updated_at END) AS at FROM jobs
            WHERE status = 'pending' AND type <> 'session_end'
        UNION ALL SELECT min(leased_at) FROM jobs WHERE status = 'leased'
        )) AS since,
    (SELECT max(at) FROM (
        SELECT max(completed_at) AS at FROM jobs WHERE status = 'completed'
        UNION ALL SELECT max(json_extract(result, '$.readAt')) FROM jobs WHERE status IN ('pending', 'leased')
        UNION ALL SELECT max(done_at) FROM note_edits)) AS progress
"""


_TOTALS: Final = """
SELECT (SELECT count(*) FROM raw_memories WHERE gone_at IS NULL) AS raw,
    (SELECT count(*) FROM facts WHERE status = 'active') AS facts,
    (SELECT count(*) FROM entities) AS entities,
    (SELECT count(*) FROM documents WHERE removed_at IS NULL AND status = 'done') AS documents,
    (SELECT max(done_at) FROM note_edits) AS last_written_at
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
    found, totals = (dict(reader.connection.execute(query).fetchone()) for query in (_INPUTS, _TOTALS))
    jobs = dict(reader.ask("SELECT status, count(*) FROM jobs GROUP BY status").fetchall())
    running = reader.jobs.running()
    part = configuration.extraction
    named = (part.provider, part.model, part.endpoint) != (_USUAL.provider, _USUAL.model, _USUAL.endpoint)
    inputs = StateInputs(
        mode(configuration), configuration.mutations_frozen, reader.meta.number(PAUSED) is not None, provider, now,
        held=jobs.get("held", 0), running=jobs.get("leased", 0), dead=jobs.get("dead", 0),
        unreadable=_unreadable(warnings), model_named=provider.name != _USUAL.provider or named,
        **found,
    )  # fmt: skip
    state, why = pipeline_state(inputs)
    return PipelineStatus(
        inputs.mode, inputs.frozen, state, why, jobs=jobs, proposals_open=inputs.proposals_open, unread=inputs.unread,
        embeddings=embeddings, running=running[0] if running else None, provider=provider, warnings=warnings, **totals,
    )  # fmt: skip


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
