"""Round robin over job types, so that a thousand jobs of one type do not delay another."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from core.pipeline.records import JobType


class RoundRobin:
    """Round-robin over the types of jobs: whoever had its turn goes to the end."""

    def __init__(self, types: Sequence[JobType]) -> None:
        self._order = list(types)

    def turns(self, ready: Collection[JobType]) -> tuple[JobType, ...]:
        """The types that have work, the one whose turn it is first."""
        return tuple(each for each in self._order if each in ready)

    def served(self, type: JobType) -> None:
        """This type had its turn."""
        self._order.remove(type)
        self._order.append(type)
