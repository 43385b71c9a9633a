"""The limits of a run: how many notes it archives and merges at most."""

from __future__ import annotations

from core.reflection.result import ProposedChange


class Caps:
    """Counts changes of capped types and knows those that the caps keep back. Other types are never kept back."""

    def __init__(self, **most: int) -> None:
        self._most = most
        self._done: dict[str, set[str]] = {type: set() for type in most}
        self._left: dict[str, set[str]] = {type: set() for type in most}

    def fresh(self) -> Caps:
        """The same caps with nothing counted."""
        return Caps(**self._most)

    def allow(self, change: ProposedChange) -> bool:
        """Whether there is room for a change; one for which there is none is left for the next pass."""
        done = self._done.get(change.type)
        if done is None or len(done) < self._most[change.type]:
            return True
        self._left[change.type].add(change.id)
        return False

    def count(self, change: ProposedChange) -> None:
        """Counts a change that was carried out."""
        if change.type in self._done:
            self._done[change.type].add(change.id)

    def admit(self, change: ProposedChange) -> bool:
        """Counts a change that is not counted yet, if there is room for it; whether it was counted just now."""
        if change.id in self._done.get(change.type, ()) or not self.allow(change):
            return False
        self.count(change)
        return True

    def keep_back(self, others: Caps) -> None:
        """Takes over what other caps kept back."""
        for type, ids in others._left.items():
            self._left[type] |= ids

    def left(self, type: str) -> int:
        """How many changes of a type wait for the next pass."""
        return len(self._left[type] - self._done[type])
