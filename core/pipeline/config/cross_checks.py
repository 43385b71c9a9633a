"""Keys that must fit each other: what conflicts is put right, and told."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from msgspec.structs import replace

from core.pipeline.config.keys import key_named
from core.pipeline.config.parts import PipelineConfiguration
from core.pipeline.config.warnings import ConfigurationWarning, WarningKind, shown

# Calls to a model that are made while a job is leased.
_TIMEOUTS = ("extraction.timeout", "hints.timeout", "semanticContradictionTimeoutMs")


def value_of(configuration: PipelineConfiguration, name: str) -> Any:
    """The value of a key by its told name. Raises KeyError for none."""
    key = key_named(name)
    part: Any = getattr(configuration, key.section) if key.section else configuration
    return getattr(part, key.field)


def with_value(configuration: PipelineConfiguration, name: str, value: Any) -> PipelineConfiguration:
    """The configuration with another value for a key, which must be one it can have. Raises KeyError for no key."""
    key = key_named(name)
    if not key.section:
        return replace(configuration, **{key.field: value})
    part = replace(getattr(configuration, key.section), **{key.field: value})
    return replace(configuration, **{key.section: part})


def cross_checked(
    configuration: PipelineConfiguration, given: AbstractSet[str]
) -> tuple[PipelineConfiguration, tuple[ConfigurationWarning, ...]]:
    """The configuration with keys that fit each other, and a warning for each that changed.

    given: told names of the keys that a person has set. An overlap is at most half a window, a piece at most what is
    sent, a least weight at most the greatest. A lease is at least twice each time limit of a model: where only the
    lease was set, limits that were not set yield; else the lease grows.
    """
    found: list[ConfigurationWarning] = []

    def put(name: str, value: int | float, hint: str) -> None:
        nonlocal configuration
        before = value_of(configuration, name)
        if value != before:
            found.append(ConfigurationWarning(name, shown(before), value, WarningKind.CROSS_CHECK, hint))
            configuration = with_value(configuration, name, value)

    half = configuration.documents.chunk_size // 2
    put(
        "documents.chunkOverlap",
        min(configuration.documents.chunk_overlap, half),
        "at most half of documents.chunkSize",
    )
    guardrails = configuration.guardrails
    put(
        "guardrails.chunkTargetChars",
        min(guardrails.chunk_target_chars, guardrails.max_content_chars),
        "at most guardrails.maxContentChars",
    )
    feedback = configuration.feedback
    put(
        "feedback.minAspectWeight",
        min(feedback.min_aspect_weight, feedback.max_aspect_weight),
        "at most feedback.maxAspectWeight",
    )
    lease = "worker.leaseTimeoutMs"
    if lease in given:
        limit = configuration.worker.lease_timeout_ms // 2
        for name in _TIMEOUTS:
            if name not in given:
                put(name, min(value_of(configuration, name), limit), f"at most half of {lease}")
    longest = max(_TIMEOUTS, key=lambda name: value_of(configuration, name))
    put(
        lease,
        max(configuration.worker.lease_timeout_ms, 2 * value_of(configuration, longest)),
        f"at least twice {longest}",
    )
    return configuration, tuple(found)
