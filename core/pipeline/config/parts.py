"""The configuration as typed, frozen parts: each key with its default and its range, in one place.

Names, defaults and ranges are those of the reference's tables. In files a field is named in camel case (`pollMs`);
snake case (`poll_ms`) is read too. Times are in milliseconds, sizes in characters, unless a name says otherwise.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Fraction = Annotated[float, Meta(ge=0.0, le=1.0)]
ModelTimeout = Annotated[int, Meta(ge=5_000, le=300_000)]
Cooldown = Annotated[int, Meta(ge=10_000, le=3_600_000)]
Provider = Literal["ollama", "claude-code", "opencode", "none"]

DEFAULT_ENDPOINT = "http://localhost:11434"
# The model of a provider when none is named; "" leaves it to the provider.
DEFAULT_MODELS = {"ollama": "qwen3:4b", "claude-code": "haiku", "opencode": "", "none": ""}
# Of a provider that is a command, when no timeout is named: it starts a whole runtime first.
COMMAND_TIMEOUT = 60_000


class ExtractionPart(msgspec.Struct, frozen=True, rename="camel"):
    """The model that extracts and decides. fallback_provider: asked only when the provider fails, and logged.

    endpoint: of Ollama. min_confidence: facts below are not written. min_fact_chars: shorter facts are dropped.
    min_input_chars: shorter texts are not sent. daily_call_budget: calls to models in one day at most.
    """

    provider: Provider = "ollama"
    model: str = "qwen3:4b"
    fallback_provider: Provider = "none"
    endpoint: str = DEFAULT_ENDPOINT
    timeout: ModelTimeout = 45_000
    min_confidence: Fraction = 0.7
    min_fact_chars: Annotated[int, Meta(ge=1, le=500)] = 10
    min_input_chars: Annotated[int, Meta(ge=1, le=1_000)] = 10
    daily_call_budget: Annotated[int, Meta(ge=1, le=1_000_000)] = 2_000


class WorkerPart(msgspec.Struct, frozen=True, rename="camel"):
    """The extraction worker. max_retries: attempts before a job is dead."""

    poll_ms: Annotated[int, Meta(ge=100, le=60_000)] = 2_000
    max_retries: Annotated[int, Meta(ge=1, le=10)] = 3
    lease_timeout_ms: Annotated[int, Meta(ge=10_000, le=600_000)] = 300_000


class SearchPart(msgspec.Struct, frozen=True, rename="camel"):
    """The search for candidates of a decision: share of the vector score, least score."""

    alpha: Fraction = 0.7
    min_score: Fraction = 0.1


class GraphPart(msgspec.Struct, frozen=True, rename="camel"):
    """The knowledge graph, and what being linked adds to a score."""

    enabled: bool = True
    boost_weight: Fraction = 0.15
    boost_timeout_ms: Annotated[int, Meta(ge=50, le=5_000)] = 500


class RerankerPart(msgspec.Struct, frozen=True, rename="camel"):
    """Putting the first hits in a better order."""

    enabled: bool = False
    model: str = ""
    top_n: Annotated[int, Meta(ge=1, le=100)] = 20
    timeout_ms: Annotated[int, Meta(ge=100, le=30_000)] = 2_000


class AutonomousPart(msgspec.Struct, frozen=True, rename="camel"):
    """What the pipeline may do unasked. allow_update_delete: such decisions become reviews instead of being blocked."""

    enabled: bool = True
    frozen: bool = False
    allow_update_delete: bool = False
    maintenance_interval_ms: Annotated[int, Meta(ge=60_000, le=86_400_000)] = 1_800_000
    maintenance_mode: Literal["observe", "execute"] = "execute"


class RepairPart(msgspec.Struct, frozen=True, rename="camel"):
    """How often each repair may run, and how much it may do."""

    reembed_cooldown_ms: Cooldown = 300_000
    reembed_hourly_budget: Annotated[int, Meta(ge=1, le=1_000)] = 10
    requeue_cooldown_ms: Annotated[int, Meta(ge=5_000, le=3_600_000)] = 60_000
    requeue_hourly_budget: Annotated[int, Meta(ge=1, le=1_000)] = 50
    dedup_cooldown_ms: Cooldown = 600_000
    dedup_hourly_budget: Annotated[int, Meta(ge=1, le=100)] = 3
    dedup_semantic_threshold: Fraction = 0.92
    dedup_batch_size: Annotated[int, Meta(ge=10, le=1_000)] = 100


class DocumentsPart(msgspec.Struct, frozen=True, rename="camel"):
    """Documents and the windows they are cut into; an overlap is at most half a window."""

    worker_interval_ms: Annotated[int, Meta(ge=1_000, le=300_000)] = 10_000
    chunk_size: Annotated[int, Meta(ge=200, le=50_000)] = 2_000
    chunk_overlap: Annotated[int, Meta(ge=0, le=10_000)] = 200
    max_content_bytes: Annotated[int, Meta(ge=1_024, le=104_857_600)] = 10_485_760


class GuardrailsPart(msgspec.Struct, frozen=True, rename="camel"):
    """What is sent to a model and how long content is windowed; what recall puts out. Never what is stored raw."""

    max_content_chars: Annotated[int, Meta(ge=50, le=100_000)] = 500
    chunk_target_chars: Annotated[int, Meta(ge=50, le=50_000)] = 300
    recall_truncate_chars: Annotated[int, Meta(ge=50, le=100_000)] = 500


class ContinuityPart(msgspec.Struct, frozen=True, rename="camel"):
    """Checkpoints of sessions: how often, how many, how long, and how much of them is given back."""

    enabled: bool = True
    prompt_interval: Annotated[int, Meta(ge=1, le=1_000)] = 10
    time_interval_ms: Annotated[int, Meta(ge=60_000, le=3_600_000)] = 900_000
    max_checkpoints_per_session: Annotated[int, Meta(ge=1, le=500)] = 50
    retention_days: Annotated[int, Meta(ge=1, le=90)] = 7
    recovery_budget_chars: Annotated[int, Meta(ge=200, le=10_000)] = 2_000


class TelemetryPart(msgspec.Struct, frozen=True, rename="camel"):
    """Read so that a configuration of the reference is understood; nothing is ever sent."""

    posthog_host: str = ""
    posthog_api_key: str = ""
    flush_interval_ms: Annotated[int, Meta(ge=5_000, le=600_000)] = 60_000
    flush_batch_size: Annotated[int, Meta(ge=1, le=500)] = 50
    retention_days: Annotated[int, Meta(ge=1, le=365)] = 90


class EmbeddingTrackerPart(msgspec.Struct, frozen=True, rename="camel"):
    """The worker that makes missing and outdated embeddings."""

    enabled: bool = True
    poll_ms: Annotated[int, Meta(ge=1_000, le=60_000)] = 5_000
    batch_size: Annotated[int, Meta(ge=1, le=20)] = 8


class StructuralPart(msgspec.Struct, frozen=True, rename="camel"):
    """The worker that sorts facts into the aspects of their entity."""

    poll_interval_ms: Annotated[int, Meta(ge=2_000, le=120_000)] = 10_000
    classify_batch_size: Annotated[int, Meta(ge=1, le=20)] = 8


class FeedbackPart(msgspec.Struct, frozen=True, rename="camel"):
    """How recall strengthens aspects, and how they fade."""

    enabled: bool = True
    fts_weight_delta: Fraction = 0.02
    min_aspect_weight: Fraction = 0.1
    max_aspect_weight: Fraction = 1.0
    decay_enabled: bool = True
    decay_rate: Fraction = 0.005
    stale_days: Annotated[int, Meta(ge=1, le=365)] = 14
    decay_interval_sessions: Annotated[int, Meta(ge=1, le=1_000)] = 10


class HintsPart(msgspec.Struct, frozen=True, rename="camel"):
    """Questions that a memory may answer, made ahead by the model. max: of one memory; poll: milliseconds."""

    enabled: bool = False
    max: Annotated[int, Meta(ge=1, le=20)] = 5
    timeout: ModelTimeout = 45_000
    poll: Annotated[int, Meta(ge=1_000, le=60_000)] = 5_000


class DampeningPart(msgspec.Struct, frozen=True, rename="camel"):
    """Corrections of the scores before the last sort: three stages, each with its switch and its factor."""

    gravity_enabled: bool = True
    hub_enabled: bool = True
    resolution_enabled: bool = True
    hub_percentile: Fraction = 0.9
    hub_penalty: Fraction = 0.7
    gravity_penalty: Fraction = 0.5
    resolution_boost: Annotated[float, Meta(ge=0.0, le=10.0)] = 1.2


class PredictorPart(msgspec.Struct, frozen=True, rename="camel"):
    """The hooks for a learned order of what is injected."""

    enabled: bool = False


class PipelineConfiguration(msgspec.Struct, frozen=True, rename="camel"):
    """All keys of the pipeline. Every instance that `read_tables` returns is within the ranges above."""

    enabled: bool = True
    shadow_mode: bool = False
    mutations_frozen: bool = False
    semantic_contradiction_enabled: bool = False
    semantic_contradiction_timeout_ms: ModelTimeout = 45_000
    telemetry_enabled: bool = False
    extraction: ExtractionPart = ExtractionPart()
    worker: WorkerPart = WorkerPart()
    search: SearchPart = SearchPart()
    graph: GraphPart = GraphPart()
    reranker: RerankerPart = RerankerPart()
    autonomous: AutonomousPart = AutonomousPart()
    repair: RepairPart = RepairPart()
    documents: DocumentsPart = DocumentsPart()
    guardrails: GuardrailsPart = GuardrailsPart()
    continuity: ContinuityPart = ContinuityPart()
    telemetry: TelemetryPart = TelemetryPart()
    embedding_tracker: EmbeddingTrackerPart = EmbeddingTrackerPart()
    structural: StructuralPart = StructuralPart()
    feedback: FeedbackPart = FeedbackPart()
    hints: HintsPart = HintsPart()
    dampening: DampeningPart = DampeningPart()
    predictor: PredictorPart = PredictorPart()
