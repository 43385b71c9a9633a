"""Every key of the configuration: what it may be, and the names it goes by in files."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Literal, NamedTuple

import msgspec
import msgspec.inspect

from core.pipeline.config.parts import PipelineConfiguration

Kind = Literal["switch", "integer", "number", "choice", "text"]


class Key(NamedTuple):
    """One key. `section` and `field` are attribute names, section "" for the top level; `name` as it is told.

    low, high: inclusive, for numbers. choices: of a choice. flat: legacy names on the top level.
    nested: names within the section. default: the documented one.
    """

    name: str
    section: str
    field: str
    kind: Kind
    default: Any
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    flat: tuple[str, ...] = ()

    @property
    def has_effect(self) -> bool:
        """Whether the pipeline does anything with it."""
        without = WITHOUT_EFFECT.get(self.section, ())
        return without is not None and self.field not in without


_FLAT: Final[dict[str, tuple[str, ...]]] = {
    "extraction.provider": ("extractionProvider",),
    "extraction.model": ("extractionModel",),
    "extraction.fallbackProvider": ("extractionFallbackProvider",),
    "extraction.endpoint": ("extractionEndpoint", "extractionBaseUrl"),
    "extraction.timeout": ("extractionTimeout",),
    "extraction.minConfidence": ("minFactConfidenceForWrite",),
    "worker.pollMs": ("workerPollMs",),
    "worker.maxRetries": ("workerMaxRetries",),
    "worker.leaseTimeoutMs": ("leaseTimeoutMs", "workerLeaseTimeoutMs"),
    "graph.enabled": ("graphEnabled",),
    "graph.boostWeight": ("graphBoostWeight",),
    "graph.boostTimeoutMs": ("graphBoostTimeoutMs",),
    "reranker.enabled": ("rerankerEnabled",),
    "reranker.model": ("rerankerModel",),
    "reranker.topN": ("rerankerTopN",),
    "reranker.timeoutMs": ("rerankerTimeoutMs",),
    "autonomous.enabled": ("autonomousEnabled",),
    "autonomous.frozen": ("autonomousFrozen",),
    "autonomous.allowUpdateDelete": ("allowUpdateDelete",),
    "autonomous.maintenanceIntervalMs": ("maintenanceIntervalMs",),
    "autonomous.maintenanceMode": ("maintenanceMode",),
    "repair.reembedCooldownMs": ("repairReembedCooldownMs",),
    "repair.reembedHourlyBudget": ("repairReembedHourlyBudget",),
    "repair.requeueCooldownMs": ("repairRequeueCooldownMs",),
    "repair.requeueHourlyBudget": ("repairRequeueHourlyBudget",),
    "repair.dedupCooldownMs": ("repairDedupCooldownMs",),
    "repair.dedupHourlyBudget": ("repairDedupHourlyBudget",),
    "repair.dedupSemanticThreshold": ("repairDedupSemanticThreshold",),
    "repair.dedupBatchSize": ("repairDedupBatchSize",),
    "documents.workerIntervalMs": ("documentWorkerIntervalMs",),
    "documents.chunkSize": ("documentChunkSize",),
    "documents.chunkOverlap": ("documentChunkOverlap",),
    "documents.maxContentBytes": ("documentMaxContentBytes",),
}
_OTHER_NESTED: Final = {"extraction.endpoint": ("base_url", "baseUrl")}

# Keys of the reference that are read and kept, and that this pipeline does nothing with yet: whole sections, and of
# others some fields; "" for the top level.
WITHOUT_EFFECT: Final[dict[str, tuple[str, ...] | None]] = {
    "": ("telemetry_enabled",),
    "graph": ("boost_weight", "boost_timeout_ms"),
    "autonomous": ("enabled", "frozen", "maintenance_interval_ms", "maintenance_mode"),
    "guardrails": ("chunk_target_chars",),
    "reranker": None,
    "repair": None,
    "documents": None,
    "continuity": None,
    "telemetry": None,
    "embedding_tracker": None,
    "feedback": None,
    "hints": None,
    "dampening": None,
    "predictor": None,
}

# What later versions of the reference know and this pipeline has no use for: told as such, not as a slip of the pen.
# By section, "" for the top level, where a name may be that of a whole section.
NOT_USED: Final[dict[str, tuple[str, ...]]] = {
    "": (
        "paused", "nativeShadowEnabled", "allowRemoteProviders", "traversal", "subagents", "synthesis",
        "procedural", "dependencySynthesis", "significance", "writeGate", "modelRegistry", "reflections",
        "extractionStrength", "extractionCommand", "workerMaxLoadPerCpu", "workerOverloadBackoffMs",
        "graphExtractionWritesEnabled", "rerankerUseExtractionModel", "writeGateEnabled",
        "writeGateThreshold", "writeGateContinuityDiscount"
    ),
    "extraction": (
        "strength", "command", "escalation", "rateLimit", "structuredOutput", "allowRemoteProviders"
    ),
    "worker": ("maxLoadPerCpu", "overloadBackoffMs", "threadedExtraction"),
    "graph": ("extractionWritesEnabled",),
    "reranker": ("useExtractionModel",),
    "guardrails": ("contextBudgetChars",),
    "telemetry": ("memorySearchQaEnabled",),
    "structural": (
        "enabled", "dependencyBatchSize", "synthesisEnabled", "synthesisIntervalMs", "synthesisTopEntities",
        "synthesisMaxFacts", "synthesisMaxStallMs", "supersessionEnabled", "supersessionSweepEnabled",
        "supersessionSemanticFallback", "supersessionMinConfidence"
    ),
    "hints": ("maxTokens",),
    "search": (
        "topK", "top_k", "rehearsal_enabled", "rehearsal_weight", "rehearsal_half_life_days"
    ),
}  # fmt: skip


@cache
def all_keys() -> tuple[Key, ...]:
    """The keys in the order of the parts."""
    found: list[Key] = []
    for field in _fields(PipelineConfiguration):
        if isinstance(field.type, msgspec.inspect.StructType):
            found += [_key(inner, field) for inner in field.type.fields]
        else:
            found.append(_key(field, None))
    return tuple(found)


@cache
def sections() -> dict[str, str]:
    """Attribute name of each section by each name it goes by."""
    names: dict[str, str] = {}
    for field in _fields(PipelineConfiguration):
        if isinstance(field.type, msgspec.inspect.StructType):
            names[field.encode_name] = field.name
            names[field.name] = field.name
    return names


def key_named(name: str) -> Key:
    """The key of a told name, such as "worker.pollMs". Raises KeyError for none."""
    return _by_name()[name]


@cache
def _by_name() -> dict[str, Key]:
    return {key.name: key for key in all_keys()}


def _fields(part: type[msgspec.Struct]) -> tuple[msgspec.inspect.Field, ...]:
    described = msgspec.inspect.type_info(part)
    assert isinstance(described, msgspec.inspect.StructType)
    return described.fields


def _key(field: msgspec.inspect.Field, section: msgspec.inspect.Field | None) -> Key:
    name = f"{section.encode_name}.{field.encode_name}" if section else field.encode_name
    kind, low, high, choices = _allowed(field.type)
    own = (field.encode_name, field.name) if field.name != field.encode_name else (field.name,)
    flat = tuple(spelt for camel in _FLAT.get(name, ()) for spelt in (camel, snake_case(camel)))
    return Key(
        name=name,
        section=section.name if section else "",
        field=field.name,
        kind=kind,
        default=field.default,
        low=low,
        high=high,
        choices=choices,
        nested=own + _OTHER_NESTED.get(name, ()),
        flat=flat,
    )


def _allowed(kind: msgspec.inspect.Type) -> tuple[Kind, float, float, tuple[str, ...]]:
    if isinstance(kind, msgspec.inspect.IntType | msgspec.inspect.FloatType):
        # Every number has both ends; without them a value could not be put right.
        assert kind.ge is not None
        assert kind.le is not None
        return ("integer" if isinstance(kind, msgspec.inspect.IntType) else "number"), kind.ge, kind.le, ()
    if isinstance(kind, msgspec.inspect.LiteralType):
        return "choice", 0, 0, tuple(str(value) for value in kind.values)
    return ("switch" if isinstance(kind, msgspec.inspect.BoolType) else "text"), 0, 0, ()


def snake_case(camel: str) -> str:
    """`chunkTargetChars` as `chunk_target_chars`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in camel)
