"""Taking turns: which type of job is looked for first, so that a thousand of one do not keep another waiting."""

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
