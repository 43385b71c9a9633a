"""The entity boost: notes that name what a query names gain, and half as much those that name its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from core.pipeline.database.tables import Tables
from core.pipeline.recall.dampening import telling, tokens

MOST_ENTITIES: Final = 20
MOST_NEIGHBOURS: Final = 50
_MOST_LOOKED_AT: Final = 200
_LONGEST_NAME: Final = 4
# From so many letters on a word may be the beginning of one in a name.
_LEAST_BEGUN: Final = 4
_HALF: Final = 0.5
_EDGES: Final = "\"'“”‘’`«»()[]{}<>,;:.!?"


@dataclass(frozen=True)
class NamedInQuery:
    """The names that notes may gain by: of each id why and with which share of the boost.

    whole: ids of what the query names in full. timed_out: the deadline passed before all was looked up.
    """

    shares: Mapping[int, tuple[float, str]] = field(default_factory=dict)
    whole: frozenset[int] = frozenset()
    timed_out: bool = False

    def best(self, names: Collection[int]) -> tuple[float, str]:
        """The greatest share that a note with some names gets, and why; 0 for none."""
        return max((self.shares[name] for name in names if name in self.shares), default=(0.0, ""))


def names_in_query(reader: Tables, text: str, past: Callable[[], bool]) -> NamedInQuery:
    """Looks up what a query names: whole names and their aliases, then parts of names, then neighbours.

    past: whether the deadline has passed; asked before each step, and what was found until then counts.
    """
    shares: dict[int, tuple[float, str]] = {}
    whole: set[int] = set()
    for step in (_whole_names, _parts_of_names, _neighbours):
        if past():
            return NamedInQuery(shares, frozenset(whole), timed_out=True)
        for id, share, why in step(reader, text, frozenset(whole)):
            if share == 1.0:
                whole.add(id)
            if share > shares.get(id, (0.0, ""))[0]:
                shares[id] = share, why
    return NamedInQuery(shares, frozenset(whole))


_Found = Iterator[tuple[int, float, str]]


def _whole_names(reader: Tables, text: str, whole: frozenset[int]) -> _Found:
    words = [stripped for word in text.lower().split() if (stripped := word.strip(_EDGES))]
    asked = {
        " ".join(words[start : start + length])
        for length in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
    }
    said = {name for name in asked if telling(tokens(name))}
    others = reader.entities.names_with(said)
    found = reader.note_names.named({*said, *others})
    for name, id in list(found.items())[:MOST_ENTITIES]:
        yield id, 1.0, others.get(name, name)


def _parts_of_names(reader: Tables, text: str, whole: frozenset[int]) -> _Found:
    words = telling(tokens(text))
    found = reader.note_names.matching(words, begun=False, most=_MOST_LOOKED_AT)
    if not found:
        long = [word for word in words if len(word) >= _LEAST_BEGUN]
        found = reader.note_names.matching(long, begun=True, most=_MOST_LOOKED_AT)
    held = set(words)
    ordered = sorted(
        found, key=lambda one: (not set(telling(tokens(one.canonical_name))) <= held, -one.notes)
    )
    for one in ordered[:MOST_ENTITIES]:
        in_full = set(telling(tokens(one.canonical_name))) <= held
        yield one.id, 1.0 if in_full else _HALF, one.canonical_name


def _neighbours(reader: Tables, text: str, whole: frozenset[int]) -> _Found:
    near = reader.entities.neighbours_of_names(reader.note_names.texts(whole), MOST_NEIGHBOURS)
    for name, id in reader.note_names.named(near).items():
        if id not in whole:
            yield id, _HALF, near[name]
