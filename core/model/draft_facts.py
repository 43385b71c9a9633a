"""The facts of one nugget as a draft has them, each with the place in the file that it came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from core.model.change import FactChange
from core.model.fact import Fact


class _Held(NamedTuple):
    origin: int | None
    fact: Fact


class DraftFacts:
    """A working copy of a nugget's facts. `before`: the facts in file order."""

    def __init__(self, before: tuple[Fact, ...] = ()) -> None:
        self._before = before
        self._held = [_Held(place, fact) for place, fact in enumerate(before)]

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts as they are now, in order."""
        return tuple(held.fact for held in self._held)

    def put(self, fact: Fact, place: int | None = None) -> None:
        """Stores a fact: instead of the one with its key, else where it was taken out, else at `place` or the end."""
        at = self._place_of(fact.key)
        if at is not None:
            self._held[at] = _Held(self._held[at].origin, fact)
            return
        origin = self._taken_out(fact.key)
        if origin is not None:
            place = sum(held.origin is not None and held.origin < origin for held in self._held)
        at = len(self._held) if place is None else max(0, min(place, len(self._held)))
        self._held.insert(at, _Held(origin, fact))

    def rename(self, key: str, fact: Fact) -> None:
        """Puts `fact` in the place of the fact with `key`, which must be there."""
        at = self._place_of(key)
        assert at is not None
        self._held[at] = _Held(self._held[at].origin, fact)

    def take(self, key: str) -> tuple[int, Fact] | None:
        """Takes a fact out; its place and the fact, or None when there is no such key."""
        at = self._place_of(key)
        return None if at is None else (at, self._held.pop(at).fact)

    def _place_of(self, key: str) -> int | None:
        return next((place for place, held in enumerate(self._held) if held.fact.key == key), None)

    def _taken_out(self, key: str) -> int | None:
        origins = [place for place, fact in enumerate(self._before) if fact.key == key]
        held = {held.origin for held in self._held} if origins else set()
        return next((origin for origin in origins if origin not in held), None)

    def changes(self, nugget: str) -> Iterator[FactChange]:
        """What differs: changed and removed facts with their place before, then new ones with their place after."""
        kept = {held.origin: held.fact for held in self._held if held.origin is not None}
        known: set[str] = set()
        for place, before in enumerate(self._before):
            after, again = kept.get(place), before.key in known
            known.add(before.key)
            if after != before:
                yield FactChange(
                    nugget=nugget, key=before.key, before=before, after=after, index=place, namesake=again
                )
        last = max((at for at, held in enumerate(self._held) if held.origin is not None), default=-1)
        for at, held in enumerate(self._held):
            if held.origin is None:
                place_after = at if at < last else None
                yield FactChange(
                    nugget=nugget, key=held.fact.key, before=None, after=held.fact, index=place_after
                )


# A hidden fact's index counts the facts hidden before it as if they still stood in the file. So each comes back
# to its own place, in whatever order several are brought back.


def index_among_all(place: int, hidden: Iterable[int]) -> int:
    """The index of the fact at this place of the file, the indexes of hidden facts being `hidden`."""
    index = place
    for other in sorted(hidden):
        if other > index:
            break
        index += 1
    return index


def place_in_file(index: int, hidden: Iterable[int]) -> int:
    """Where in the file a hidden fact with this index goes, the indexes of those that stay hidden being `hidden`."""
    return max(0, index - sum(other < index for other in hidden))
