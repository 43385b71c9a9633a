"""The facts of one nugget as a draft has them, in order, and the places that hidden ones had among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from core.model.change import FactChange
from core.model.fact import Fact
from core.text.exact import exact_form


class DraftFacts:
    """A working copy of a nugget's facts, no two of which have one key. `before`: the facts in file order."""

    def __init__(self, before: tuple[Fact, ...] = ()) -> None:
        self._before = before
        self._held = {fact.key: fact for fact in before}
        # Where a fact stood before, by the key that it has now.
        self._origins = {fact.key: place for place, fact in enumerate(before)}
        self._stood = dict(self._origins)
        self._folded: dict[str, list[str]] | None = None

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts as they are now, in order."""
        return tuple(self._held.values())

    def __len__(self) -> int:
        return len(self._held)

    def find(self, key: str) -> tuple[int, Fact] | None:
        """Place and fact of a key, as `Nugget.find`."""
        if key not in self._held:
            if self._folded is None:
                self._folded = {}
                for known in self._held:
                    self._folded.setdefault(exact_form(known), []).append(known)
            alike = self._folded.get(exact_form(key), ())
            if not alike:
                return None
            key = alike[0] if len(alike) == 1 else min(alike, key=self._place_of)
        return self._place_of(key), self._held[key]

    def put(self, fact: Fact, place: int | None = None) -> None:
        """Stores a fact: instead of the one with its key, else where it was taken out, else at `place` or the end."""
        if fact.key in self._held:
            self._held[fact.key] = fact
            return
        origin = self._stood.get(fact.key)
        if origin is not None and origin not in self._origins.values():
            place = sum(other < origin for other in self._origins.values())
            self._origins[fact.key] = origin
        self._lay(fact, place)

    def rename(self, key: str, fact: Fact) -> None:
        """Puts `fact` in the place of the fact with `key`, which must be there; another one of its key goes."""
        if fact.key != key:
            self.take(fact.key)
        place, origin = self._place_of(key), self._origins.get(key)
        self.take(key)
        if origin is not None:
            self._origins[fact.key] = origin
        self._lay(fact, place)

    def take(self, key: str) -> tuple[int, Fact] | None:
        """Takes a fact out; its place and the fact, or None when there is no such key."""
        if key not in self._held:
            return None
        place = self._place_of(key)
        self._origins.pop(key, None)
        if self._folded is not None:
            self._folded[exact_form(key)].remove(key)
        return place, self._held.pop(key)

    def _place_of(self, key: str) -> int:
        return next(place for place, known in enumerate(self._held) if known == key)

    def _lay(self, fact: Fact, place: int | None) -> None:
        """Puts in a fact whose key is free."""
        facts = list(self._held.values()) if place is not None and place < len(self._held) else None
        self._held[fact.key] = fact
        if facts is not None and place is not None:
            facts.insert(max(0, place), fact)
            self._held = {one.key: one for one in facts}
        if self._folded is not None:
            self._folded.setdefault(exact_form(fact.key), []).append(fact.key)

    def changes(self, nugget: str) -> Iterator[FactChange]:
        """What differs: changed and removed facts with their place before, then new ones with their place after."""
        kept = {origin: self._held[key] for key, origin in self._origins.items()}
        for place, before in enumerate(self._before):
            after = kept.get(place)
            if after != before:
                yield FactChange(nugget=nugget, key=before.key, before=before, after=after, index=place)
        last = max((at for at, key in enumerate(self._held) if key in self._origins), default=-1)
        for at, fact in enumerate(self._held.values()):
            if fact.key not in self._origins:
                index = at if at < last else None
                yield FactChange(nugget=nugget, key=fact.key, before=None, after=fact, index=index)


class HiddenIndexes:
    """The indexes of a nugget's hidden facts, by the ids of the notes in which they wait.

    An index counts the facts hidden before it as if they still stood in the file. So each comes back to its own place,
    in whatever order several are brought back.
    """

    def __init__(self, indexes: Mapping[str, int]) -> None:
        self._of_note = dict(indexes)

    def __len__(self) -> int:
        return len(self._of_note)

    def put(self, id: str, index: int) -> None:
        """A fact is hidden in this note, with this index."""
        self._of_note[id] = index

    def drop(self, id: str) -> None:
        """No fact is hidden in this note any more."""
        self._of_note.pop(id, None)

    def index_of(self, place: int) -> int:
        """The index of the fact at this place of the file."""
        return index_among_all(place, self._of_note.values())

    def place_of(self, index: int) -> int:
        """Where in the file a hidden fact with this index goes, those that are held staying hidden."""
        return max(0, index - sum(other < index for other in self._of_note.values()))


def index_among_all(place: int, hidden: Iterable[int]) -> int:
    """The index of the fact at this place of the file, the indexes of hidden facts being `hidden`."""
    index = place
    for other in sorted(hidden):
        if other > index:
            break
        index += 1
    return index
