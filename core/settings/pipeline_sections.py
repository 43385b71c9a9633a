"""Every setting of the table [pipeline]: its type, what it may be, and its default.

Names, defaults and ranges are those of the Signet pipeline's tables. Times are in milliseconds, sizes in characters,
unless a name says otherwise. docs/pipeline.md explains each to people.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

ModelName = Annotated[str, Meta(pattern=r"^(?!\s*-)")]
"""It stands on a command line, where it would be an option if it began with a dash."""
Address = Annotated[str, Meta(extra={"form": "address"})]
"""Of a server, with http or https; "" where another setting says it."""

Fraction = Annotated[float, Meta(ge=0.0, le=1.0)]
ModelTimeout = Annotated[int, Meta(ge=5_000, le=300_000)]
Days = Annotated[int, Meta(ge=1, le=3_650, extra={"form": "days"})]
Cooldown = Annotated[int, Meta(ge=10_000, le=3_600_000)]
Provider = Literal["ollama", "claude-code", "command", "opencode", "none"]

DEFAULT_ENDPOINT = "http://localhost:11434"
# The model of a provider when none is named; "" leaves it to the provider.
DEFAULT_MODELS = {"ollama": "qwen3:4b", "claude-code": "haiku", "command": "", "opencode": "", "none": ""}
# Of a provider that is a command, when no timeout is named: it starts a whole runtime first.
COMMAND_TIMEOUT = 60_000


class ExtractionPart(msgspec.Struct, frozen=True):
    """The model that extracts and decides. fallback_provider: asked only when the provider fails, and logged.

    endpoint: of Ollama. command: of the provider "command"; it counts in the user's own settings alone.
    min_confidence: facts below are not written. min_fact_chars: shorter facts are dropped.
    min_input_chars: shorter texts are not sent. daily_call_budget: calls to models in one day at most.

    A text longer than window_chars is read in windows, each with its own call, that share window_overlap_chars; of a
    text that has more than max_windows the rest waits for a person. A window that gives max_facts is read in halves.
    """

    provider: Provider = "ollama"
    model: ModelName = "qwen3:4b"
    fallback_provider: Provider = "none"
    endpoint: Address = DEFAULT_ENDPOINT
    command: str = ""
    timeout: ModelTimeout = 45_000
    min_confidence: Fraction = 0.7
    min_fact_chars: Annotated[int, Meta(ge=1, le=500)] = 10
    min_input_chars: Annotated[int, Meta(ge=1, le=1_000)] = 10
    daily_call_budget: Annotated[int, Meta(ge=1, le=1_000_000)] = 2_000
    window_chars: Annotated[int, Meta(ge=1_500, le=100_000)] = 12_000
    window_overlap_chars: Annotated[int, Meta(ge=0, le=10_000)] = 600
    max_windows: Annotated[int, Meta(ge=1, le=100_000)] = 1_000
    max_facts: Annotated[int, Meta(ge=1, le=100)] = 20


class WorkerPart(msgspec.Struct, frozen=True):
    """The extraction worker. max_retries: attempts before a job is dead."""

    poll_ms: Annotated[int, Meta(ge=100, le=60_000)] = 2_000
    max_retries: Annotated[int, Meta(ge=1, le=10)] = 3
    lease_timeout_ms: Annotated[int, Meta(ge=10_000, le=600_000)] = 300_000


class SearchPart(msgspec.Struct, frozen=True):
    """The search for candidates of a decision: share of the vector score, least score."""

    alpha: Fraction = 0.7
    min_score: Fraction = 0.1


class GraphPart(msgspec.Struct, frozen=True):
    """The knowledge graph, and what being linked adds to a score."""

    enabled: bool = True
    boost_weight: Fraction = 0.15
    boost_timeout_ms: Annotated[int, Meta(ge=50, le=5_000)] = 500


class RerankerPart(msgspec.Struct, frozen=True):
    """Putting the first hits in a better order: by the model of that name, of the provider that extracts, or by
    embeddings where none is named.
    """

    enabled: bool = False
    model: ModelName = ""
    top_n: Annotated[int, Meta(ge=1, le=100)] = 20
    timeout_ms: Annotated[int, Meta(ge=100, le=30_000)] = 2_000


class EmbeddingPart(msgspec.Struct, frozen=True):
    """Vectors of notes and documents, by which search finds what has a similar meaning. Off while no model is named.

    endpoint: of Ollama; "" for that of extraction. dimensions: numbers of a vector, 0 for as many as the model gives.
    timeout: for the texts of one call; query_timeout_ms: for a query, which is searched without a vector after that.
    weight: what the nearest note gains. min_similarity: cosine from which on a note is found by its vector alone.
    """

    provider: Literal["ollama", "none"] = "ollama"
    model: ModelName = ""
    endpoint: Address = ""
    dimensions: Annotated[int, Meta(ge=0, le=8_192)] = 0
    timeout: ModelTimeout = 30_000
    query_timeout_ms: Annotated[int, Meta(ge=50, le=5_000)] = 500
    weight: Fraction = 0.2
    min_similarity: Fraction = 0.45


class AutonomousPart(msgspec.Struct, frozen=True):
    """What the pipeline may do unasked: maintenance, at each interval. In the mode "observe" it only recommends.

    frozen: no repair runs, whoever asks for it. allow_update_delete: such decisions become reviews instead of being
    blocked.
    """

    enabled: bool = True
    frozen: bool = False
    allow_update_delete: bool = False
    maintenance_interval_ms: Annotated[int, Meta(ge=60_000, le=86_400_000)] = 1_800_000
    maintenance_mode: Literal["observe", "execute"] = "execute"


class RepairPart(msgspec.Struct, frozen=True):
    """How often each repair may run, in whatever process: milliseconds between two runs, and runs in an hour.

    requeue: of jobs; releasing leases, search tables and retention go by it, too. dedup_semantic_threshold: how alike
    two facts must be for a merge to be proposed. dedup_batch_size: facts that one run looks at.
    """

    reembed_cooldown_ms: Cooldown = 300_000
    reembed_hourly_budget: Annotated[int, Meta(ge=1, le=1_000)] = 10
    requeue_cooldown_ms: Annotated[int, Meta(ge=5_000, le=3_600_000)] = 60_000
    requeue_hourly_budget: Annotated[int, Meta(ge=1, le=1_000)] = 50
    dedup_cooldown_ms: Cooldown = 600_000
    dedup_hourly_budget: Annotated[int, Meta(ge=1, le=100)] = 3
    dedup_semantic_threshold: Fraction = 0.92
    dedup_batch_size: Annotated[int, Meta(ge=10, le=1_000)] = 100


class DocumentsPart(msgspec.Struct, frozen=True):
    """Documents and the windows they are cut into; an overlap is at most half a window. extract_facts: facts are
    extracted from a document that is indexed, as from any text that is submitted.
    """

    worker_interval_ms: Annotated[int, Meta(ge=1_000, le=300_000)] = 10_000
    chunk_size: Annotated[int, Meta(ge=200, le=50_000)] = 2_000
    chunk_overlap: Annotated[int, Meta(ge=0, le=10_000)] = 200
    max_content_bytes: Annotated[int, Meta(ge=1_024, le=104_857_600)] = 10_485_760
    extract_facts: bool = False


class GuardrailsPart(msgspec.Struct, frozen=True):
    """What is sent to a model and how long content is windowed; what recall puts out. Never what is stored raw.

    chunk_target_chars: of the windows that a note is shown in which is longer than max_content_chars.
    """

    max_content_chars: Annotated[int, Meta(ge=50, le=100_000)] = 500
    chunk_target_chars: Annotated[int, Meta(ge=50, le=50_000)] = 300
    recall_truncate_chars: Annotated[int, Meta(ge=50, le=100_000)] = 500


class ContinuityPart(msgspec.Struct, frozen=True):
    """Checkpoints of sessions: how often, how many, how long, and how much of them is given back.

    read_conversations: at the end of a session, as hooks tell of it; what a person hands in is read in any case.
    score_with_model: a model says how much of what was recalled helped; without it the words of the conversation do.
    """

    enabled: bool = True
    prompt_interval: Annotated[int, Meta(ge=1, le=1_000)] = 10
    time_interval_ms: Annotated[int, Meta(ge=60_000, le=3_600_000)] = 900_000
    max_checkpoints_per_session: Annotated[int, Meta(ge=1, le=500)] = 50
    retention_days: Annotated[int, Meta(ge=1, le=90, extra={"form": "days"})] = 7
    recovery_budget_chars: Annotated[int, Meta(ge=200, le=10_000)] = 2_000
    read_conversations: bool = False
    score_with_model: bool = False


class RetentionPart(msgspec.Struct, frozen=True):
    """How long what nothing leads back to any more is kept. Checkpoints and sessions have `continuity.retention_days`.

    removed_days: texts and documents that you removed, and former versions of documents. history_days: rows of the
    audit, calls to models, and what was recalled in sessions.
    """

    enabled: bool = True
    interval_ms: Annotated[int, Meta(ge=60_000, le=604_800_000)] = 21_600_000
    removed_days: Days = 30
    history_days: Days = 180
    completed_job_days: Days = 14
    dead_job_days: Days = 30
    transcript_days: Days = 180


class EmbeddingTrackerPart(msgspec.Struct, frozen=True):
    """The worker that makes missing and outdated embeddings, where a model for them is named."""

    enabled: bool = True
    poll_ms: Annotated[int, Meta(ge=1_000, le=60_000)] = 5_000
    batch_size: Annotated[int, Meta(ge=1, le=20)] = 8


class StructuralPart(msgspec.Struct, frozen=True):
    """The worker that sorts facts into the aspects of their entity."""

    poll_interval_ms: Annotated[int, Meta(ge=2_000, le=120_000)] = 10_000
    classify_batch_size: Annotated[int, Meta(ge=1, le=20)] = 8


class FeedbackPart(msgspec.Struct, frozen=True):
    """How recall strengthens aspects, and how they fade."""

    enabled: bool = True
    fts_weight_delta: Fraction = 0.02
    min_aspect_weight: Fraction = 0.1
    max_aspect_weight: Fraction = 1.0
    decay_enabled: bool = True
    decay_rate: Fraction = 0.005
    stale_days: Annotated[int, Meta(ge=1, le=365)] = 14
    decay_interval_sessions: Annotated[int, Meta(ge=1, le=1_000)] = 10


class HintsPart(msgspec.Struct, frozen=True):
    """Questions that a memory may answer, made ahead by the model. max: of one memory; poll: milliseconds."""

    enabled: bool = False
    max: Annotated[int, Meta(ge=1, le=20)] = 5
    timeout: ModelTimeout = 45_000
    poll: Annotated[int, Meta(ge=1_000, le=60_000)] = 5_000


class DampeningPart(msgspec.Struct, frozen=True):
    """Corrections of the scores before the last sort: three stages, each with its switch and its factor."""

    gravity_enabled: bool = True
    hub_enabled: bool = True
    resolution_enabled: bool = True
    hub_percentile: Fraction = 0.9
    hub_penalty: Fraction = 0.7
    gravity_penalty: Fraction = 0.5
    resolution_boost: Annotated[float, Meta(ge=0.0, le=10.0)] = 1.2


class PredictorPart(msgspec.Struct, frozen=True):
    """A learned order of what a session is given at its start. source: the code that makes it, as module:name; it
    counts in the user's own settings alone, since it is loaded.
    """

    enabled: bool = False
    source: str = ""


class PipelineConfiguration(msgspec.Struct, frozen=True):
    """All keys of the pipeline. Every instance that is read from files is within the ranges above."""

    enabled: bool = True
    shadow_mode: bool = False
    mutations_frozen: bool = False
    semantic_contradiction_enabled: bool = False
    semantic_contradiction_timeout_ms: ModelTimeout = 45_000
    extraction: ExtractionPart = ExtractionPart()
    worker: WorkerPart = WorkerPart()
    search: SearchPart = SearchPart()
    graph: GraphPart = GraphPart()
    reranker: RerankerPart = RerankerPart()
    embedding: EmbeddingPart = EmbeddingPart()
    autonomous: AutonomousPart = AutonomousPart()
    repair: RepairPart = RepairPart()
    documents: DocumentsPart = DocumentsPart()
    guardrails: GuardrailsPart = GuardrailsPart()
    continuity: ContinuityPart = ContinuityPart()
    retention: RetentionPart = RetentionPart()
    embedding_tracker: EmbeddingTrackerPart = EmbeddingTrackerPart()
    structural: StructuralPart = StructuralPart()
    feedback: FeedbackPart = FeedbackPart()
    hints: HintsPart = HintsPart()
    dampening: DampeningPart = DampeningPart()
    predictor: PredictorPart = PredictorPart()


# What counts where a guard's value or name cannot be read: nothing runs, and nothing is deleted that may be meant to
# stay.
PIPELINE_GUARDS: Final[dict[str, object]] = {
    "enabled": False, "shadow_mode": True, "mutations_frozen": True, "autonomous.enabled": False,
    "autonomous.frozen": True, "autonomous.maintenance_mode": "observe", "retention.enabled": False,
    **dict.fromkeys((f"retention.{name}" for name in RetentionPart.__struct_fields__ if name.endswith("days")), 3_650),
    "continuity.retention_days": 90,
}  # fmt: skip
# Read so that files of the Signet pipeline are understood. Nothing is ever sent.
RESERVED: Final = ("pipeline.telemetry", "pipeline.telemetry_enabled")
# Names of the Signet pipeline in snake case, beside those that are made of section and name: `worker_poll_ms`.
ALIASES: Final[dict[str, str]] = {
    "extraction.base_url": "extraction.endpoint", "extraction_base_url": "extraction.endpoint",
    "embedding.base_url": "embedding.endpoint", "min_fact_confidence_for_write": "extraction.min_confidence",
    "lease_timeout_ms": "worker.lease_timeout_ms", "allow_update_delete": "autonomous.allow_update_delete",
    "maintenance_interval_ms": "autonomous.maintenance_interval_ms",
    "maintenance_mode": "autonomous.maintenance_mode",
}  # fmt: skip
