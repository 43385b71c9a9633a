"""Checks whether a proposal contradicts what it changes: by words and, where settings allow, by a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from core.pipeline.contradiction import (
    SUPERSESSION_CONFIDENCE,
    ContradictionKind,
    asks_model,
    contradicts_in_meaning,
    contradicts_in_words,
    shared_words,
)
from core.pipeline.models.provider import ModelError, Provider
from core.settings.pipeline_sections import PipelineConfiguration

_WORDS: Final[dict[ContradictionKind, str]] = {
    "negation": "one of the two contains a negation",
    "antonym": "the two use opposite words",
}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Whether two statements contradict each other; it only ever asks for a person's look.

    kind: the sign that was seen, "" when none was. confidence: 0 to 1. failure: why a model gave no verdict, "" when
    it did or was not asked; error: the same as it was raised. Then nobody knows whether they do. calls: how many were
    made.
    """

    kind: Literal["", "negation", "antonym", "semantic"] = ""
    confidence: float = 0.0
    reasoning: str = ""
    failure: str = ""
    calls: int = 0
    error: ModelError | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return bool(self.kind)

    @property
    def said(self) -> str:
        """The contradiction in words, "" when there is none."""
        if not self.kind:
            return ""
        told = f"{self.kind} ({self.confidence:.2f})"
        return f"{told}: {self.reasoning}" if self.reasoning else told


def check(
    action: str, fact: str, target: str, ask: Provider | None, configuration: PipelineConfiguration
) -> Contradiction:
    """Holds a fact against the text that it would change; only updates and deletions can contradict one.

    ask: the model, None without one. It is asked about updates alone, when that is switched on, three words are shared
    and the words show nothing; what it fails at is unknown, and `failure` says so. Never within a write transaction.
    """
    if action not in ("update", "delete"):
        return Contradiction()
    in_words = contradicts_in_words(fact, target)
    if in_words:
        return Contradiction(in_words, SUPERSESSION_CONFIDENCE[in_words], _WORDS[in_words])
    enabled = ask is not None and configuration.semantic_contradiction_enabled
    overlap = len(shared_words(fact, target)) if enabled else 0
    if ask is None or not asks_model(action, overlap, in_words=False, enabled=enabled):
        return Contradiction()
    deadline = configuration.semantic_contradiction_timeout_ms / 1_000
    verdict = contradicts_in_meaning(fact, target, ask, deadline=deadline)
    kind: Literal["", "semantic"] = "semantic" if verdict.detected else ""
    return Contradiction(
        kind, verdict.confidence, verdict.reasoning, verdict.failure, calls=1, error=verdict.error
    )
