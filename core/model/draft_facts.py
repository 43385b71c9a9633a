"""The facts of one nugget as a draft has them, each with the place in the file that it came from."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping

from core.model.change import FactChange
from core.model.fact import Fact
from core.text.exact import exact_form


class _Held:
    """A fact as it is now, and where it stood before; None for a new one."""

    __slots__ = ("fact", "origin")

    def __init__(self, origin: int | None, fact: Fact) -> None:
        self.origin = origin
        self.fact = fact


class DraftFacts:
    """A working copy of a nugget's facts. `before`: the facts in file order."""

    def __init__(self, before: tuple[Fact, ...] = ()) -> None:
        self._before = before
        self._order = [_Held(place, fact) for place, fact in enumerate(before)]
        self._of_key = {held.fact.key: held for held in self._order}
        self._of_folded: dict[str, list[_Held]] | None = None
        self._stood = {fact.key: place for place, fact in enumerate(before)}

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts as they are now, in order."""
        return tuple(held.fact for held in self._order)

    def __len__(self) -> int:
        return len(self._order)

    def find(self, key: str) -> tuple[int, Fact] | None:
        """Place and fact of a key, as `Nugget.find`."""
        held = self._of_key.get(key)
        if held is None and (alike := self._folded().get(exact_form(key))):
            held = min(alike, key=self._place_of) if len(alike) > 1 else alike[0]
        return None if held is None else (self._place_of(held), held.fact)

    def put(self, fact: Fact, place: int | None = None) -> None:
        """Stores a fact: instead of the one with its key, else where it was taken out, else at `place` or the end."""
        held = self._of_key.get(fact.key)
        if held is not None:
            held.fact = fact
            return
        origin = self._stood.get(fact.key)
        if origin is not None and any(one.origin == origin for one in self._order):
            # It stands there under another key.
            origin = None
        held = _Held(origin, fact)
        if origin is not None:
            place = sum(one.origin is not None and one.origin < origin for one in self._order)
        self._order.insert(len(self._order) if place is None else max(0, place), held)
        self._hold(held)

    def rename(self, key: str, fact: Fact) -> None:
        """Puts `fact` in the place of the fact with `key`, which must be there; another one of its key goes."""
        if fact.key != key:
            self.take(fact.key)
        held = self._of_key[key]
        self._let_go(held)
        held.fact = fact
        self._hold(held)

    def take(self, key: str) -> tuple[int, Fact] | None:
        """Takes a fact out; its place and the fact, or None when there is no such key."""
        held = self._of_key.get(key)
        if held is None:
            return None
        place = self._place_of(held)
        del self._order[place]
        self._let_go(held)
        return place, held.fact

    def _place_of(self, held: _Held) -> int:
        at = held.origin
        # Most stand where they stood.
        if at is not None and at < len(self._order) and self._order[at] is held:
            return at
        return self._order.index(held)

    def _hold(self, held: _Held) -> None:
        self._of_key[held.fact.key] = held
        if self._of_folded is not None:
            self._of_folded.setdefault(exact_form(held.fact.key), []).append(held)

    def _let_go(self, held: _Held) -> None:
        del self._of_key[held.fact.key]
        if self._of_folded is not None:
            self._of_folded[exact_form(held.fact.key)].remove(held)

    def _folded(self) -> dict[str, list[_Held]]:
        if self._of_folded is None:
            self._of_folded = {}
            for held in self._order:
                self._of_folded.setdefault(exact_form(held.fact.key), []).append(held)
        return self._of_folded

    def changes(self, nugget: str) -> Iterator[FactChange]:
        """What differs: changed and removed facts with their place before, then new ones with their place after."""
        kept = {held.origin: held.fact for held in self._order if held.origin is not None}
        for place, before in enumerate(self._before):
            after = kept.get(place)
            if after != before:
                yield FactChange(nugget=nugget, key=before.key, before=before, after=after, index=place)
        last = max((at for at, held in enumerate(self._order) if held.origin is not None), default=-1)
        for at, held in enumerate(self._order):
            if held.origin is None:
                index = at if at < last else None
                yield FactChange(nugget=nugget, key=held.fact.key, before=None, after=held.fact, index=index)


# A hidden fact's index counts the facts hidden before it as if they still stood in the file. So each comes back
# to its own place, in whatever order several are brought back.


class HiddenIndexes:
    """The indexes of a nugget's hidden facts, by the ids of the notes in which they wait."""

    def __init__(self, indexes: Mapping[str, int]) -> None:
        self._of_note = dict(indexes)
        self._sorted = sorted(indexes.values())

    def __len__(self) -> int:
        return len(self._of_note)

    def put(self, id: str, index: int) -> None:
        """A fact is hidden in this note, with this index."""
        self.drop(id)
        self._of_note[id] = index
        insort(self._sorted, index)

    def drop(self, id: str) -> None:
        """No fact is hidden in this note any more."""
        index = self._of_note.pop(id, None)
        if index is not None:
            del self._sorted[bisect_left(self._sorted, index)]

    def index_of(self, place: int) -> int:
        """The index of the fact at this place of the file."""
        return index_among_all(place, self._sorted)

    def place_of(self, index: int) -> int:
        """Where in the file a hidden fact with this index goes, those that are held staying hidden."""
        return max(0, index - bisect_left(self._sorted, index))


def index_among_all(place: int, hidden: Iterable[int]) -> int:
    """The index of the fact at this place of the file, the indexes of hidden facts being `hidden`."""
    index = place
    for other in sorted(hidden):
        if other > index:
            break
        index += 1
    return index
