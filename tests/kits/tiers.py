"""The two tiers of tests: all of them, and the fast one (-m "not slow")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, Protocol

FAST: Final = "not slow"
# Of a test in the fast tier; what takes longer is named at the end of a run, and fails nothing.
LONG_SECONDS: Final = 0.5


class Phase(Protocol):
    """One of setup, call and teardown of a test. duration: in seconds."""

    nodeid: str
    duration: float


def long_tests(phases: Iterable[Phase]) -> list[str]:
    """A line for each test that took long, the longest first."""
    seconds: Counter[str] = Counter()
    for phase in phases:
        seconds[phase.nodeid] += phase.duration
    return [f"{taken:.1f} s {name}" for name, taken in seconds.most_common() if taken > LONG_SECONDS]
