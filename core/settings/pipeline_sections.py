"""Every setting of the table [pipeline]: its type, what it may be, its default, and what it is called.

Names, defaults and ranges are those of the Signet pipeline's tables, which files may also spell in its way: `pollMs`
for `poll_ms`, and what `Also` names. Times are in milliseconds, sizes in characters, unless a name says otherwise.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from core.settings.sections import OWN, RESERVED, Also, Words

Fraction = Annotated[float, Meta(ge=0.0, le=1.0)]
ModelTimeout = Annotated[int, Meta(ge=5_000, le=300_000)]
Days = Annotated[int, Meta(ge=1, le=3_650)]
Cooldown = Annotated[int, Meta(ge=10_000, le=3_600_000)]
Provider = Literal["ollama", "claude-code", "opencode", "none"]

DEFAULT_ENDPOINT = "http://localhost:11434"
# The model of a provider when none is named; "" leaves it to the provider.
DEFAULT_MODELS = {"ollama": "qwen3:4b", "claude-code": "haiku", "opencode": "", "none": ""}
# Of a provider that is a command, when no timeout is named: it starts a whole runtime first.
COMMAND_TIMEOUT = 60_000


class ExtractionPart(msgspec.Struct, frozen=True):
    """The model that extracts and decides. fallback_provider: asked only when the provider fails, and logged.

    endpoint: of Ollama. min_confidence: facts below are not written. min_fact_chars: shorter facts are dropped.
    min_input_chars: shorter texts are not sent. daily_call_budget: calls to models in one day at most.

    A text longer than window_chars is read in windows, each with its own call, that share window_overlap_chars; of a
    text that has more than max_windows the rest waits for a person. A window that gives max_facts is read in halves.
    """

    provider: Annotated[
        Provider, Words("Pipeline: which model extracts and decides"), Also(("extractionProvider",))
    ] = "ollama"
    model: Annotated[str, Words("Pipeline: name of that model"), Also(("extractionModel",))] = "qwen3:4b"
    fallback_provider: Annotated[
        Provider, Words("Pipeline: model to ask when the first fails"), Also(("extractionFallbackProvider",))
    ] = "none"
    endpoint: Annotated[
        str,
        Words("Pipeline: address of Ollama"),
        Also(("extractionEndpoint", "extractionBaseUrl"), ("base_url", "baseUrl")),
    ] = DEFAULT_ENDPOINT
    timeout: Annotated[
        ModelTimeout, Words("Pipeline: milliseconds for one answer of a model"), Also(("extractionTimeout",))
    ] = 45_000
    min_confidence: Annotated[
        Fraction,
        Words("Pipeline: confidence below which a fact is not written"),
        Also(("minFactConfidenceForWrite",)),
    ] = 0.7
    min_fact_chars: Annotated[int, Meta(ge=1, le=500), Words("Pipeline: characters of the shortest fact")] = (
        10
    )
    min_input_chars: Annotated[
        int, Meta(ge=1, le=1_000), Words("Pipeline: characters of the shortest text that is read")
    ] = 10
    daily_call_budget: Annotated[
        int, Meta(ge=1, le=1_000_000), Words("Pipeline: most calls to models in a day")
    ] = 2_000
    window_chars: Annotated[
        int,
        Meta(ge=1_500, le=100_000),
        Words("Pipeline: characters of a long text that are read in one call"),
    ] = 12_000
    window_overlap_chars: Annotated[
        int, Meta(ge=0, le=10_000), Words("Pipeline: characters that two windows of a long text share")
    ] = 600
    max_windows: Annotated[
        int, Meta(ge=1, le=100_000), Words("Pipeline: most windows of one text that are read")
    ] = 1_000
    max_facts: Annotated[
        int, Meta(ge=1, le=100), Words("Pipeline: most facts taken from one window of a text")
    ] = 20


class WorkerPart(msgspec.Struct, frozen=True):
    """The extraction worker. max_retries: attempts before a job is dead."""

    poll_ms: Annotated[
        int,
        Meta(ge=100, le=60_000),
        Words("Pipeline: milliseconds between two looks for work"),
        Also(("workerPollMs",)),
    ] = 2_000
    max_retries: Annotated[
        int, Meta(ge=1, le=10), Words("Pipeline: tries before a job is given up"), Also(("workerMaxRetries",))
    ] = 3
    lease_timeout_ms: Annotated[
        int,
        Meta(ge=10_000, le=600_000),
        Words("Pipeline: milliseconds until an abandoned job is taken over"),
        Also(("leaseTimeoutMs", "workerLeaseTimeoutMs")),
    ] = 300_000


class SearchPart(msgspec.Struct, frozen=True):
    """The search for candidates of a decision: share of the vector score, least score."""

    alpha: Annotated[Fraction, Words("Pipeline: share of the vector score in the search for candidates")] = (
        0.7
    )
    min_score: Annotated[Fraction, Words("Pipeline: least score of a candidate")] = 0.1


class GraphPart(msgspec.Struct, frozen=True):
    """The knowledge graph, and what being linked adds to a score."""

    enabled: Annotated[bool, Words("Pipeline: keeps a graph of entities"), Also(("graphEnabled",))] = True
    boost_weight: Annotated[
        Fraction,
        Words("Search: bonus of notes that name what the query names"),
        Also(("graphBoostWeight",)),
    ] = 0.15
    boost_timeout_ms: Annotated[
        int,
        Meta(ge=50, le=5_000),
        Words("Search: milliseconds to look up what a query names"),
        Also(("graphBoostTimeoutMs",)),
    ] = 500


class RerankerPart(msgspec.Struct, frozen=True):
    """Putting the first hits in a better order: by the model of that name, of the provider that extracts, or by
    embeddings where none is named.
    """

    enabled: Annotated[
        bool, Words("Search: puts the first hits in order once more"), Also(("rerankerEnabled",))
    ] = False
    model: Annotated[
        str, Words("Search: model that puts hits in order (empty: by embeddings)"), Also(("rerankerModel",))
    ] = ""
    top_n: Annotated[
        int, Meta(ge=1, le=100), Words("Search: hits that are put in order"), Also(("rerankerTopN",))
    ] = 20
    timeout_ms: Annotated[
        int,
        Meta(ge=100, le=30_000),
        Words("Search: milliseconds to put hits in order"),
        Also(("rerankerTimeoutMs",)),
    ] = 2_000


class EmbeddingPart(msgspec.Struct, frozen=True):
    """Vectors of notes and documents, by which search finds what has a similar meaning. Off while no model is named.

    endpoint: of Ollama; "" for that of extraction. dimensions: numbers of a vector, 0 for as many as the model gives.
    timeout: for the texts of one call; query_timeout_ms: for a query, which is searched without a vector after that.
    weight: what the nearest note gains. min_similarity: cosine from which on a note is found by its vector alone.
    """

    provider: Annotated[Literal["ollama", "none"], Words("Search: who makes embeddings")] = "ollama"
    model: Annotated[str, Words("Search: model that makes embeddings (empty: none)")] = ""
    endpoint: Annotated[
        str, Words("Search: address of Ollama for embeddings"), Also(nested=("base_url", "baseUrl"))
    ] = ""
    dimensions: Annotated[
        int, Meta(ge=0, le=8_192), Words("Search: numbers of an embedding (0: as the model gives)")
    ] = 0
    timeout: Annotated[ModelTimeout, Words("Search: milliseconds to make embeddings of some texts")] = 30_000
    query_timeout_ms: Annotated[
        int, Meta(ge=50, le=5_000), Words("Search: milliseconds to make the embedding of a query")
    ] = 500
    weight: Annotated[Fraction, Words("Search: weight of similar meaning, by embeddings")] = 0.2
    min_similarity: Annotated[
        Fraction, Words("Search: similarity from which an embedding alone finds a note")
    ] = 0.45


class AutonomousPart(msgspec.Struct, frozen=True):
    """What the pipeline may do unasked: maintenance, at each interval. In the mode "observe" it only recommends.

    frozen: no repair runs, whoever asks for it. allow_update_delete: such decisions become reviews instead of being
    blocked.
    """

    enabled: Annotated[
        bool, Words("Pipeline: looks after its health by itself"), Also(("autonomousEnabled",))
    ] = True
    frozen: Annotated[bool, Words("Pipeline: repairs nothing, for anyone"), Also(("autonomousFrozen",))] = (
        False
    )
    allow_update_delete: Annotated[
        bool, Words("Pipeline: changes and removals become reviews"), Also(("allowUpdateDelete",))
    ] = False
    maintenance_interval_ms: Annotated[
        int,
        Meta(ge=60_000, le=86_400_000),
        Words("Pipeline: milliseconds between two looks at its health"),
        Also(("maintenanceIntervalMs",)),
    ] = 1_800_000
    maintenance_mode: Annotated[
        Literal["observe", "execute"],
        Words("Pipeline: recommends repairs, or runs them"),
        Also(("maintenanceMode",)),
    ] = "execute"


class RepairPart(msgspec.Struct, frozen=True):
    """How often each repair may run, in whatever process: milliseconds between two runs, and runs in an hour.

    requeue: of jobs; releasing leases, search tables and retention go by it, too. dedup_semantic_threshold: how alike
    two facts must be for a merge to be proposed. dedup_batch_size: facts that one run looks at.
    """

    reembed_cooldown_ms: Annotated[
        Cooldown,
        Words("Pipeline: milliseconds between two repairs of embeddings"),
        Also(("repairReembedCooldownMs",)),
    ] = 300_000
    reembed_hourly_budget: Annotated[
        int,
        Meta(ge=1, le=1_000),
        Words("Pipeline: most repairs of embeddings in an hour"),
        Also(("repairReembedHourlyBudget",)),
    ] = 10
    requeue_cooldown_ms: Annotated[
        int,
        Meta(ge=5_000, le=3_600_000),
        Words("Pipeline: milliseconds between two repairs of the queue"),
        Also(("repairRequeueCooldownMs",)),
    ] = 60_000
    requeue_hourly_budget: Annotated[
        int,
        Meta(ge=1, le=1_000),
        Words("Pipeline: most repairs of the queue in an hour"),
        Also(("repairRequeueHourlyBudget",)),
    ] = 50
    dedup_cooldown_ms: Annotated[
        Cooldown,
        Words("Pipeline: milliseconds between two searches for duplicates"),
        Also(("repairDedupCooldownMs",)),
    ] = 600_000
    dedup_hourly_budget: Annotated[
        int,
        Meta(ge=1, le=100),
        Words("Pipeline: most searches for duplicates in an hour"),
        Also(("repairDedupHourlyBudget",)),
    ] = 3
    dedup_semantic_threshold: Annotated[
        Fraction,
        Words("Pipeline: how alike two facts are for a merge to be proposed"),
        Also(("repairDedupSemanticThreshold",)),
    ] = 0.92
    dedup_batch_size: Annotated[
        int,
        Meta(ge=10, le=1_000),
        Words("Pipeline: facts that one search for duplicates looks at"),
        Also(("repairDedupBatchSize",)),
    ] = 100


class DocumentsPart(msgspec.Struct, frozen=True):
    """Documents and the windows they are cut into; an overlap is at most half a window. extract_facts: facts are
    extracted from a document that is indexed, as from any text that is submitted.
    """

    worker_interval_ms: Annotated[
        int,
        Meta(ge=1_000, le=300_000),
        Words("Pipeline: milliseconds between two looks for documents"),
        Also(("documentWorkerIntervalMs",)),
    ] = 10_000
    chunk_size: Annotated[
        int,
        Meta(ge=200, le=50_000),
        Words("Pipeline: characters of a chunk of a document"),
        Also(("documentChunkSize",)),
    ] = 2_000
    chunk_overlap: Annotated[
        int,
        Meta(ge=0, le=10_000),
        Words("Pipeline: characters that two chunks of a document share"),
        Also(("documentChunkOverlap",)),
    ] = 200
    max_content_bytes: Annotated[
        int,
        Meta(ge=1_024, le=104_857_600),
        Words("Pipeline: bytes of the largest document"),
        Also(("documentMaxContentBytes",)),
    ] = 10_485_760
    extract_facts: Annotated[bool, Words("Pipeline: extracts facts from documents")] = False


class GuardrailsPart(msgspec.Struct, frozen=True):
    """What is sent to a model and how long content is windowed; what recall puts out. Never what is stored raw.

    chunk_target_chars: of the windows that a note is shown in which is longer than max_content_chars.
    """

    max_content_chars: Annotated[
        int, Meta(ge=50, le=100_000), Words("Pipeline: characters of a text sent to a model")
    ] = 500
    chunk_target_chars: Annotated[
        int, Meta(ge=50, le=50_000), Words("Pipeline: characters of a part of a longer text sent to a model")
    ] = 300
    recall_truncate_chars: Annotated[
        int, Meta(ge=50, le=100_000), Words("Pipeline: characters of a text in a recall")
    ] = 500


class ContinuityPart(msgspec.Struct, frozen=True):
    """Checkpoints of sessions: how often, how many, how long, and how much of them is given back.

    read_conversations: at the end of a session, as hooks tell of it; what a person hands in is read in any case.
    score_with_model: a model says how much of what was recalled helped; without it the words of the conversation do.
    """

    enabled: Annotated[bool, Words("Pipeline: makes checkpoints of sessions by itself")] = True
    prompt_interval: Annotated[
        int, Meta(ge=1, le=1_000), Words("Pipeline: prompts between two checkpoints")
    ] = 10
    time_interval_ms: Annotated[
        int, Meta(ge=60_000, le=3_600_000), Words("Pipeline: milliseconds between two checkpoints")
    ] = 900_000
    max_checkpoints_per_session: Annotated[
        int, Meta(ge=1, le=500), Words("Pipeline: checkpoints kept of a session")
    ] = 50
    retention_days: Annotated[
        int, Meta(ge=1, le=90), Words("Pipeline: days for which checkpoints are kept")
    ] = 7
    recovery_budget_chars: Annotated[
        int, Meta(ge=200, le=10_000), Words("Pipeline: characters that pick a session up again")
    ] = 2_000
    read_conversations: Annotated[bool, Words("Pipeline: reads whole conversations when sessions end")] = (
        False
    )
    score_with_model: Annotated[bool, Words("Pipeline: a model says which memories helped in a session")] = (
        False
    )


class RetentionPart(msgspec.Struct, frozen=True):
    """How long what nothing leads back to any more is kept. Checkpoints and sessions have `continuity.retention_days`.

    removed_days: texts and documents that you removed, and former versions of documents. history_days: rows of the
    audit, calls to models, and what was recalled in sessions.
    """

    enabled: Annotated[bool, Words("Pipeline: deletes what was removed or is done, once it is old")] = True
    interval_ms: Annotated[
        int, Meta(ge=60_000, le=604_800_000), Words("Pipeline: milliseconds between two such deletions")
    ] = 21_600_000
    removed_days: Annotated[Days, Words("Pipeline: days for which removed texts and documents are kept")] = 30
    history_days: Annotated[Days, Words("Pipeline: days for which the history of decisions is kept")] = 180
    completed_job_days: Annotated[Days, Words("Pipeline: days for which finished jobs are kept")] = 14
    dead_job_days: Annotated[Days, Words("Pipeline: days for which failed jobs are kept")] = 30
    transcript_days: Annotated[Days, Words("Pipeline: days for which conversations are kept")] = 180


class TelemetryPart(msgspec.Struct, frozen=True):
    """Reserved: read so that a configuration of the Signet pipeline is understood. Nothing is ever sent."""

    posthog_host: str = ""
    posthog_api_key: str = ""
    flush_interval_ms: Annotated[int, Meta(ge=5_000, le=600_000)] = 60_000
    flush_batch_size: Annotated[int, Meta(ge=1, le=500)] = 50
    retention_days: Annotated[int, Meta(ge=1, le=365)] = 90


class EmbeddingTrackerPart(msgspec.Struct, frozen=True):
    """The worker that makes missing and outdated embeddings, where a model for them is named."""

    enabled: Annotated[bool, Words("Pipeline: makes missing embeddings")] = True
    poll_ms: Annotated[
        int,
        Meta(ge=1_000, le=60_000),
        Words("Pipeline: milliseconds between two looks for missing embeddings"),
    ] = 5_000
    batch_size: Annotated[int, Meta(ge=1, le=20), Words("Pipeline: texts embedded in one call")] = 8


class StructuralPart(msgspec.Struct, frozen=True):
    """The worker that sorts facts into the aspects of their entity."""

    poll_interval_ms: Annotated[
        int, Meta(ge=2_000, le=120_000), Words("Pipeline: milliseconds between two looks for facts to sort")
    ] = 10_000
    classify_batch_size: Annotated[int, Meta(ge=1, le=20), Words("Pipeline: facts sorted in one call")] = 8


class FeedbackPart(msgspec.Struct, frozen=True):
    """How recall strengthens aspects, and how they fade."""

    enabled: Annotated[bool, Words("Pipeline: what helped in a session weighs more")] = True
    fts_weight_delta: Annotated[Fraction, Words("Pipeline: weight that an aspect gains when it helped")] = (
        0.02
    )
    min_aspect_weight: Annotated[Fraction, Words("Pipeline: least weight of an aspect")] = 0.1
    max_aspect_weight: Annotated[Fraction, Words("Pipeline: greatest weight of an aspect")] = 1.0
    decay_enabled: Annotated[bool, Words("Pipeline: aspects that nothing confirms fade")] = True
    decay_rate: Annotated[Fraction, Words("Pipeline: weight that a stale aspect loses")] = 0.005
    stale_days: Annotated[
        int, Meta(ge=1, le=365), Words("Pipeline: days until an unconfirmed aspect is stale")
    ] = 14
    decay_interval_sessions: Annotated[
        int, Meta(ge=1, le=1_000), Words("Pipeline: sessions between two fadings of aspects")
    ] = 10


class HintsPart(msgspec.Struct, frozen=True):
    """Questions that a memory may answer, made ahead by the model. max: of one memory; poll: milliseconds."""

    enabled: Annotated[bool, Words("Pipeline: a model makes questions that each note answers")] = False
    max: Annotated[int, Meta(ge=1, le=20), Words("Pipeline: most such questions of one note")] = 5
    timeout: Annotated[ModelTimeout, Words("Pipeline: milliseconds for the questions of one note")] = 45_000
    poll: Annotated[
        int,
        Meta(ge=1_000, le=60_000),
        Words("Pipeline: milliseconds between two looks for notes without questions"),
    ] = 5_000


class DampeningPart(msgspec.Struct, frozen=True):
    """Corrections of the scores before the last sort: three stages, each with its switch and its factor."""

    gravity_enabled: Annotated[bool, Words("Search: lowers notes that share no word with the query")] = True
    hub_enabled: Annotated[bool, Words("Search: lowers notes that name only what many notes name")] = True
    resolution_enabled: Annotated[bool, Words("Search: raises decisions and notes with a date")] = True
    hub_percentile: Annotated[
        Fraction, Words("Search: share of names that are borne by fewer notes than a hub")
    ] = 0.9
    hub_penalty: Annotated[Fraction, Words("Search: factor of notes that name only hubs")] = 0.7
    gravity_penalty: Annotated[Fraction, Words("Search: factor of notes that share no word")] = 0.5
    resolution_boost: Annotated[float, Meta(ge=0.0, le=10.0), Words("Search: factor of decisions")] = 1.2


class PredictorPart(msgspec.Struct, frozen=True):
    """A learned order of what a session is given at its start. source: the code that makes it, as module:name; it
    counts in the user's own settings alone, since it is loaded.
    """

    enabled: Annotated[bool, Words("Pipeline: orders what a session begins with by what helped")] = False
    source: Annotated[str, OWN, Words("Pipeline: code of that order, as module:name")] = ""


class PipelineConfiguration(msgspec.Struct, frozen=True):
    """All keys of the pipeline. Every instance that `read_tables` returns is within the ranges above."""

    enabled: Annotated[bool, Words("Pipeline: reads submitted texts")] = True
    shadow_mode: Annotated[bool, Words("Pipeline: proposes only, writes nothing")] = False
    mutations_frozen: Annotated[bool, Words("Pipeline: holds new texts and writes nothing")] = False
    semantic_contradiction_enabled: Annotated[bool, Words("Pipeline: a model judges contradictions")] = False
    semantic_contradiction_timeout_ms: Annotated[
        ModelTimeout, Words("Pipeline: milliseconds for judging a contradiction")
    ] = 45_000
    telemetry_enabled: Annotated[bool, RESERVED] = False
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
    telemetry: Annotated[TelemetryPart, RESERVED] = TelemetryPart()
    embedding_tracker: EmbeddingTrackerPart = EmbeddingTrackerPart()
    structural: StructuralPart = StructuralPart()
    feedback: FeedbackPart = FeedbackPart()
    hints: HintsPart = HintsPart()
    dampening: DampeningPart = DampeningPart()
    predictor: PredictorPart = PredictorPart()
