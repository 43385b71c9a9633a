"""The facts of one nugget as a draft has them, each with the place in the file that it came from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from core.model.change import FactChange
from core.model.fact import Fact
from core.text.exact import exact_form

# Between the labels of two facts at first: room for a few dozen that are put in at the same place.
_GAP: Final = 1 << 40


class _Held(NamedTuple):
    origin: int | None
    fact: Fact


class DraftFacts:
    """A working copy of a nugget's facts. `before`: the facts in file order.

    However many facts there are, one is found, taken out or put in at the same small cost.
    """

    def __init__(self, before: tuple[Fact, ...] = ()) -> None:
        self._before = before
        # A fact keeps its label while others come and go; the order of the labels is the order of the facts.
        self._labels: list[int] = []
        self._held: dict[int, _Held] = {}
        self._of_key: dict[str, int] = {}
        # Labels in rising order: the first is that of the fact which counts.
        self._of_folded: dict[str, list[int]] | None = None
        self._label_anew([_Held(place, fact) for place, fact in enumerate(before)])
        # Where those stood that stand there still, in order.
        self._origins = list(range(len(before)))
        self._facts: tuple[Fact, ...] | None = before

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts as they are now, in order."""
        if self._facts is None:
            self._facts = tuple(held.fact for held in self._in_order())
        return self._facts

    def __len__(self) -> int:
        return len(self._labels)

    def find(self, key: str) -> tuple[int, Fact] | None:
        """Place and fact of a key, as `Nugget.find`."""
        label = self._of_key.get(key)
        if label is None:
            label = next(iter(self._folded().get(exact_form(key), ())), None)
        return None if label is None else self._at(label)

    def put(self, fact: Fact, place: int | None = None) -> None:
        """Stores a fact: instead of the one with its key, else where it was taken out, else at `place` or the end."""
        label = self._of_key.get(fact.key)
        if label is not None:
            self._replace(label, fact)
            return
        origin = self._taken_out(fact.key)
        if origin is not None:
            place = bisect_left(self._origins, origin)
            self._origins.insert(place, origin)
        at = len(self._labels) if place is None else max(0, min(place, len(self._labels)))
        label = self._free_label(at)
        self._labels.insert(at, label)
        self._hold(label, _Held(origin, fact))

    def rename(self, key: str, fact: Fact) -> None:
        """Puts `fact` in the place of the fact with `key`, which must be there; another one of its key goes."""
        if fact.key != key:
            self.take(fact.key)
        self._replace(self._of_key[key], fact)

    def take(self, key: str) -> tuple[int, Fact] | None:
        """Takes a fact out; its place and the fact, or None when there is no such key."""
        label = self._of_key.get(key)
        if label is None:
            return None
        found = self._at(label)
        held = self._release(label)
        del self._labels[found[0]]
        if held.origin is not None:
            del self._origins[bisect_left(self._origins, held.origin)]
        return found

    def _in_order(self) -> Iterator[_Held]:
        return map(self._held.__getitem__, self._labels)

    def _at(self, label: int) -> tuple[int, Fact]:
        return bisect_left(self._labels, label), self._held[label].fact

    def _replace(self, label: int, fact: Fact) -> None:
        self._hold(label, _Held(self._release(label).origin, fact))

    def _hold(self, label: int, held: _Held) -> None:
        self._facts = None
        self._held[label] = held
        self._of_key[held.fact.key] = label
        if self._of_folded is not None:
            insort(self._of_folded.setdefault(exact_form(held.fact.key), []), label)

    def _release(self, label: int) -> _Held:
        self._facts = None
        held = self._held.pop(label)
        del self._of_key[held.fact.key]
        if self._of_folded is not None:
            self._of_folded[exact_form(held.fact.key)].remove(label)
        return held

    def _folded(self) -> dict[str, list[int]]:
        if self._of_folded is None:
            self._of_folded = {}
            for label, held in sorted(self._held.items()):
                self._of_folded.setdefault(exact_form(held.fact.key), []).append(label)
        return self._of_folded

    def _free_label(self, at: int) -> int:
        """A label for what comes to stand at a place."""
        before, after = self._labels[at - 1 : at], self._labels[at : at + 1]
        if not before and not after:
            return 0
        if not before or not after:
            return after[0] - _GAP if after else before[0] + _GAP
        if after[0] - before[0] < 2:
            self._label_anew(list(self._in_order()))
            return self._free_label(at)
        return (before[0] + after[0]) // 2

    def _label_anew(self, order: list[_Held]) -> None:
        self._labels = list(range(0, len(order) * _GAP, _GAP))
        self._held = dict(zip(self._labels, order, strict=True))
        self._of_key = {held.fact.key: label for label, held in self._held.items()}
        self._of_folded = None

    @cached_property
    def _origin_of_key(self) -> dict[str, int]:
        return {fact.key: place for place, fact in enumerate(self._before)}

    def _taken_out(self, key: str) -> int | None:
        origin = self._origin_of_key.get(key)
        return None if origin is None or self._stands(origin) else origin

    def _stands(self, origin: int) -> bool:
        at = bisect_left(self._origins, origin)
        return at < len(self._origins) and self._origins[at] == origin

    def changes(self, nugget: str) -> Iterator[FactChange]:
        """What differs: changed and removed facts with their place before, then new ones with their place after."""
        order = list(self._in_order())
        kept = {held.origin: held.fact for held in order if held.origin is not None}
        for place, before in enumerate(self._before):
            after = kept.get(place)
            if after != before:
                yield FactChange(nugget=nugget, key=before.key, before=before, after=after, index=place)
        last = max((at for at, held in enumerate(order) if held.origin is not None), default=-1)
        for at, held in enumerate(order):
            if held.origin is None:
                place_after = at if at < last else None
                yield FactChange(
                    nugget=nugget, key=held.fact.key, before=None, after=held.fact, index=place_after
                )


# A hidden fact's index counts the facts hidden before it as if they still stood in the file. So each comes back
# to its own place, in whatever order several are brought back.


class HiddenIndexes:
    """The indexes of a nugget's hidden facts, by the ids of the notes in which they wait."""

    def __init__(self, indexes: Mapping[str, int]) -> None:
        self._of_note = dict(indexes)
        self._sorted = sorted(self._of_note.values())
        # How many stand beside an equal one: then a file was changed by hand, or joined from two.
        self._equal = len(self._sorted) - len(set(self._sorted))

    def __len__(self) -> int:
        return len(self._sorted)

    def put(self, id: str, index: int) -> None:
        """A fact is hidden in this note, with this index."""
        self.drop(id)
        self._of_note[id] = index
        self._equal += self._holds(index)
        insort(self._sorted, index)

    def drop(self, id: str) -> None:
        """No fact is hidden in this note any more."""
        index = self._of_note.pop(id, None)
        if index is not None:
            del self._sorted[bisect_left(self._sorted, index)]
            self._equal -= self._holds(index)

    def index_of(self, place: int) -> int:
        """The index of the fact at this place of the file."""
        if self._equal:
            return index_among_all(place, self._sorted)
        before = bisect_right(range(len(self._sorted)), place, key=lambda at: self._sorted[at] - at)
        return place + before

    def place_of(self, index: int) -> int:
        """Where in the file a hidden fact with this index goes, those that are held staying hidden."""
        return max(0, index - bisect_left(self._sorted, index))

    def _holds(self, index: int) -> bool:
        at = bisect_left(self._sorted, index)
        return at < len(self._sorted) and self._sorted[at] == index


def index_among_all(place: int, hidden: Iterable[int]) -> int:
    """The index of the fact at this place of the file, the indexes of hidden facts being `hidden`."""
    index = place
    for other in sorted(hidden):
        if other > index:
            break
        index += 1
    return index
