"""Backoff: when a worker looks again and when a failed job is retried; randomness is passed in."""

from __future__ import annotations

from typing import Final

BASE_MS: Final = 1_000
LONGEST_MS: Final = 30_000
JITTER_MS: Final = 500
WINDOW_SECONDS: Final = 5
LONGEST_WINDOW_SECONDS: Final = 120
FIRST_OUTAGE_REST_MS: Final = 10_000
LONGEST_OUTAGE_REST_MS: Final = 3_600_000

# Doubled so often both delays are at their longest; a larger power would only be a larger number.
_MOST_DOUBLINGS: Final = 32


def poll_delay_ms(consecutive_failures: int, *, poll_ms: int, chance: float = 0.0) -> int:
    """Milliseconds until the worker looks for a job again.

    Without failures `poll_ms`; else 1,000 doubled for each failure in a row, 30,000 at most, plus `chance` times 500.
    chance: from 0 to 1, drawn by the caller; outside it is clamped. A nudge simply does not wait for the rest.
    """
    if consecutive_failures <= 0:
        return poll_ms
    doubled: int = BASE_MS * 2 ** min(consecutive_failures, _MOST_DOUBLINGS)
    return min(doubled, LONGEST_MS) + longest_jitter_ms(consecutive_failures, chance)


def longest_jitter_ms(consecutive_failures: int, chance: float = 1.0) -> int:
    """Milliseconds of jitter for a chance, 1 for the most that there is; 0 without failures."""
    if consecutive_failures <= 0:
        return 0
    # Not `max(0, min(...))`: of a NaN neither bound would be taken.
    return round(JITTER_MS * (chance if 0.0 <= chance <= 1.0 else float(chance > 1.0)))


def retry_window_seconds(attempts: int) -> int:
    """Seconds that a job rests after its last failure: 5 doubled for each attempt, 120 at most; 0 before the first."""
    if attempts <= 0:
        return 0
    doubled: int = WINDOW_SECONDS * 2 ** min(attempts, _MOST_DOUBLINGS)
    return min(doubled, LONGEST_WINDOW_SECONDS)


def outage_rest_ms(rested_ms: int, *, answered: bool) -> int:
    """Milliseconds that a job rests after an outage: ten seconds, since the provider is left alone anyway.

    rested_ms: how long it rested after the one before, 0 for the first. answered: whether the provider has answered
    others since: then it may be this job that it breaks at, which rests twice as long, an hour at most.
    """
    return min(max(2 * rested_ms if answered else rested_ms, FIRST_OUTAGE_REST_MS), LONGEST_OUTAGE_REST_MS)


def run_after_ms(failed_at_ms: int, attempts: int) -> int:
    """The moment (epoch milliseconds) after which a failed job may run again."""
    return failed_at_ms + 1_000 * retry_window_seconds(attempts)
