"""The circuit breaker: when a failing provider is not asked, and for how long; pure rules."""

from __future__ import annotations

from typing import Final

from core.pipeline.models.provider import (
    CallRefusedError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelUnavailableError,
)

THRESHOLD: Final = 3
FIRST_PAUSE_MS: Final = 30_000
LONGEST_PAUSE_MS: Final = 300_000
# The question is wrong, too long, or of a kind that is not understood: another one may do.
_OF_THE_QUESTION: Final = (400, 413, 422)


def is_fault(error: ModelError) -> bool:
    """Whether an error says something about the provider, not about one question or one answer."""
    if isinstance(error, CallRefusedError):
        return False
    if isinstance(error, ModelHttpError):
        return error.status not in _OF_THE_QUESTION
    return error.kind == "timeout"


def opens_at_once(error: ModelError) -> bool:
    """Whether asking again soon is of no use."""
    return isinstance(error, ModelMissingError | ModelUnavailableError)


def pause_ms(failures: int, threshold: int = THRESHOLD) -> int:
    """Milliseconds that a provider is left alone after so many failures in a row: doubled for each one more."""
    doublings = min(max(0, failures - threshold), 16)
    return min(FIRST_PAUSE_MS << doublings, LONGEST_PAUSE_MS)


def is_open(open_until: int, now: int) -> bool:
    """Whether a provider is left alone at a moment. Both in epoch ms; a clock that was put back ends every pause."""
    return now < open_until <= now + LONGEST_PAUSE_MS
