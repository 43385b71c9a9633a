"""The circuit breaker: when a failing provider is not asked, and for how long; pure rules."""

from __future__ import annotations

from typing import Final

from core.pipeline.models.provider import (
    OF_THE_QUESTION,
    AskedToWaitError,
    CallRefusedError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelUnavailableError,
)

THRESHOLD: Final = 3
FIRST_PAUSE_MS: Final = 30_000
LONGEST_PAUSE_MS: Final = 300_000
# No provider that asks to wait is left alone for longer; then it is asked again.
LONGEST_WAIT_MS: Final = 86_400_000


def is_fault(error: ModelError) -> bool:
    """Whether an error says something about the provider, not about one question or one answer."""
    if isinstance(error, CallRefusedError):
        return False
    if isinstance(error, ModelHttpError):
        return error.status not in OF_THE_QUESTION
    return error.kind == "timeout"


def opens_at_once(error: ModelError) -> bool:
    """Whether asking again soon is of no use."""
    return isinstance(error, ModelMissingError | ModelUnavailableError | AskedToWaitError)


def pause_ms(failures: int, threshold: int = THRESHOLD, asked: float | None = None) -> int:
    """Milliseconds that a provider is left alone after so many failures in a row: doubled for each one more.

    asked: the seconds that it asks for itself, which count instead.
    """
    if asked is not None:
        return min(max(0, round(1_000 * min(asked, LONGEST_WAIT_MS))), LONGEST_WAIT_MS)
    doublings = min(max(0, failures - threshold), 16)
    return min(FIRST_PAUSE_MS << doublings, LONGEST_PAUSE_MS)


def is_open(open_until: int, now: int, failed_at: int | None = None) -> bool:
    """Whether a provider is left alone at a moment; all in epoch ms. failed_at: when it failed last.

    A clock that was put back ends every pause: none is longer than it can be, counted from the failure.
    """
    if not now < open_until:
        return False
    since = now if failed_at is None or open_until <= now + LONGEST_PAUSE_MS else failed_at
    return since <= now and open_until <= since + (LONGEST_PAUSE_MS if failed_at is None else LONGEST_WAIT_MS)
