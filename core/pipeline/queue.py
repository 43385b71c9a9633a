"""What the queue goes by, as pure rules: how an error counts for its job, and when a job is tried again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.errors import (
    BrokenFileError,
    ConflictError,
    InvalidInputError,
    LockTimeoutError,
    NotFoundError,
    NuggetsError,
    ReadOnlyError,
    StorageError,
)
from core.pipeline.models.provider import (
    CallRefusedError,
    CommandFailedError,
    ModelError,
    ModelHttpError,
    ModelTimeoutError,
)

# Classes of errors that are no model's; those of models are their kinds. First match counts.
_OURS: Final[tuple[tuple[type[NuggetsError], str], ...]] = (
    (LockTimeoutError, "busy"),
    (ReadOnlyError, "read_only"),
    (BrokenFileError, "broken_file"),
    (StorageError, "storage"),
    (ConflictError, "conflict"),
    (InvalidInputError, "invalid"),
    (NotFoundError, "not_found"),
)
# The machine's trouble, not the job's.
_CIRCUMSTANCES: Final = frozenset(("busy", "read_only", "broken_file", "storage"))
BAD_REQUEST: Final = "bad_request"
BUG: Final = "bug"
# The classes of an outage. No job dies of one.
OUTAGES: Final = ("http", "unavailable", "asked_to_wait", "model_missing")
# The classes of dead jobs that another try may help. Others end the same however often: a request or address that is
# refused, a text that cannot be read, what is gone.
RETRYABLE: Final = (
    *OUTAGES, "timeout", "command_failed", "empty", "parse", "truncated", *sorted(_CIRCUMSTANCES), "conflict", BUG,
    "lease_expired", "fetch_timeout", "fetch_unreachable", "fetch_failed",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """What became of an attempt.

    error_class: a name for counting. permanent: no other attempt can help, the job is dead. counts: the attempt is the
    job's own. refused: no model was asked at all, so that the job goes back as if it had not been taken. doubtful: it
    may be the job or the provider, so that the attempt counts only if that is there. outage: it is the provider, which
    the job waits for. spreads: the next job is likely to meet the same, so that the worker had better rest; other jobs
    need not wait for what is wrong with one.
    """

    error_class: str
    message: str
    permanent: bool = False
    counts: bool = True
    refused: bool = False
    doubtful: bool = False
    outage: bool = False
    spreads: bool = False


def failure_of(error: Exception) -> Failure:
    """What an error means for its job. An error may name its own class as `error_class`, and whether it is `permanent`;
    the rest is told by type.
    """
    if isinstance(error, CallRefusedError):
        return Failure(error.kind, error.message, counts=False, refused=True, spreads=True)
    if isinstance(error, ModelError):
        doubtful = isinstance(error, ModelTimeoutError | CommandFailedError)
        permanent = not (error.retryable or error.outage)
        bad = permanent and isinstance(error, ModelHttpError)
        return Failure(
            BAD_REQUEST if bad else getattr(error, "error_class", error.kind), error.message, permanent,
            counts=not error.outage, doubtful=doubtful, outage=error.outage, spreads=error.outage or doubtful,
        )  # fmt: skip
    if not isinstance(error, NuggetsError):
        # Bounded by the attempts: it may be what is in this text, or what lies in memory just now.
        return Failure(BUG, f"this is a bug in nuggets-tui: {type(error).__name__}: {error}")
    known = next((name for kind, name in _OURS if isinstance(error, kind)), "error")
    circumstance = known in _CIRCUMSTANCES
    permanent = known in ("invalid", "not_found") or getattr(error, "permanent", False)
    return Failure(
        getattr(error, "error_class", known), error.message, permanent, not circumstance, spreads=circumstance
    )


BASE_MS: Final = 1_000
LONGEST_MS: Final = 30_000
JITTER_MS: Final = 500
WINDOW_SECONDS: Final = 5
LONGEST_WINDOW_SECONDS: Final = 120
FIRST_OUTAGE_REST_MS: Final = 10_000
LONGEST_OUTAGE_REST_MS: Final = 3_600_000
# Doubled so often each delay is at its longest; a larger power would only be a larger number.
_MOST_DOUBLINGS: Final = 32


def _doubled(base: int, times: int, longest: int) -> int:
    made: int = base * 2 ** min(times, _MOST_DOUBLINGS)
    return min(made, longest)


def poll_delay_ms(consecutive_failures: int, *, poll_ms: int, chance: float = 0.0) -> int:
    """Milliseconds until the worker looks for a job again.

    Without failures `poll_ms`; else 1,000 doubled for each failure in a row, 30,000 at most, plus `chance` times 500.
    chance: from 0 to 1, drawn by the caller; outside it is clamped. A nudge simply does not wait for the rest.
    """
    if consecutive_failures <= 0:
        return poll_ms
    return _doubled(BASE_MS, consecutive_failures, LONGEST_MS) + jitter_ms(chance)


def jitter_ms(chance: float) -> int:
    """Milliseconds of jitter for a chance, 1 for the most that there is."""
    # Not `max(0, min(...))`: of a NaN neither bound would be taken.
    return round(JITTER_MS * (chance if 0.0 <= chance <= 1.0 else float(chance > 1.0)))


def retry_window_seconds(attempts: int) -> int:
    """Seconds that a job rests after its last failure: 5 doubled for each attempt, 120 at most; 0 before the first."""
    return _doubled(WINDOW_SECONDS, attempts, LONGEST_WINDOW_SECONDS) if attempts > 0 else 0


def outage_rest_ms(rested_ms: int, *, answered: bool) -> int:
    """Milliseconds that a job rests after an outage: ten seconds, since the provider is left alone anyway.

    rested_ms: how long it rested after the one before, 0 for the first. answered: whether the provider has answered
    others since: then it may be this job that it breaks at, which rests twice as long, an hour at most.
    """
    return min(max(2 * rested_ms if answered else rested_ms, FIRST_OUTAGE_REST_MS), LONGEST_OUTAGE_REST_MS)


def run_after_ms(failed_at_ms: int, attempts: int) -> int:
    """The moment (epoch milliseconds) after which a failed job may run again."""
    return failed_at_ms + 1_000 * retry_window_seconds(attempts)
