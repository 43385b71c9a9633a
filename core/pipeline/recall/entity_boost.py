"""The entity boost: notes that name what a query names gain, and half as much those that name its neighbours.

Where a note says a name in the query's own words, these have counted already. So there the boost only tips the scales,
by as much as the name is of the query; it is whole where a note says it in other words (measured).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from core.pipeline.database.tables import Tables
from core.pipeline.recall.dampening import telling, tokens
from core.text.languages import is_common
from core.text.tokens import stem

MOST_ENTITIES: Final = 20
MOST_NEIGHBOURS: Final = 50
_MOST_LOOKED_AT: Final = 200
_LONGEST_NAME: Final = 4
# From so many letters on a word may be the beginning of one in a name.
_LEAST_BEGUN: Final = 4
_HALF: Final = 0.5
_EDGES: Final = "\"'“”‘’`«»()[]{}<>,;:.!?"


# A query is about a name that is such a share of its words.
ABOUT: Final = 0.3
# A hit that may not pass another one stands so near behind it, one that passes the best so near before
# it. Coverages that differ by less are equal.
_BEHIND: Final = 1 - 1e-9
_BEFORE: Final = 1 + 1e-9
_AS_MUCH: Final = 1e-6


class NameInQuery(NamedTuple):
    """A name that notes may gain by.

    share: of the boost, 1 for what the query names in full. why: the name as the query has it, or the neighbour.
    weight: the share of the query's words that this name is. spelt: whether it is spelt in the query's own words.
    """

    share: float
    why: str
    weight: float
    spelt: bool

    @property
    def gain(self) -> float:
        """The share of the boost that counts. What a query only mentions tips the scales hardly at all."""
        return self.share * (self.weight**3 if self.spelt else 1.0)

    @property
    def counts(self) -> float:
        """How much a query is about this name, in [0, 1]."""
        return 1.0 if self.weight >= ABOUT or not self.spelt else self.weight**3


NO_NAME: Final = NameInQuery(0.0, "", 0.0, True)


@dataclass(frozen=True)
class NamedInQuery:
    """The names that notes may gain by, by id.

    whole: ids of what the query names in full. timed_out: the deadline passed before all was looked up.
    """

    names: Mapping[int, NameInQuery] = field(default_factory=dict)
    whole: frozenset[int] = frozenset()
    timed_out: bool = False

    def best(self, names: Collection[int]) -> NameInQuery:
        """The name by which a note with some names gains. One in the query's words goes first: these have counted."""
        found = (self.names[name] for name in names if name in self.names)
        return max(found, key=lambda one: (one.share, one.spelt, one.weight), default=NO_NAME)


class NamingHit(NamedTuple):
    """A hit with the name that it gains by: its score, and what it holds of the query, in [0, 1]."""

    score: float
    coverage: float
    name: NameInQuery

    @property
    def held(self) -> float:
        """What it holds of the query, in the query's words or in others."""
        in_full = self.name.share == 1.0 and not self.name.spelt
        return self.coverage + (self.name.weight if in_full else 0.0)


def gains(weight: float, hits: Sequence[NamingHit]) -> list[float]:
    """What each hit gains, of hits best first. By a name none passes a hit that holds more of the query, nor a better
    one with as good a name. weight: of the boost.
    """
    most = greatest_score(hits)
    wanted = [min(hit.score + weight * hit.name.gain, most) for hit in hits]

    def behind(better: NamingHit, hit: NamingHit) -> bool:
        least = hit.held - _AS_MUCH if hit.name.spelt else hit.held + _AS_MUCH
        return better.held > least or better.name.share >= hit.name.share

    raised = _held_back(hits, wanted, behind)
    return [after - hit.score for after, hit in zip(raised, hits, strict=True)]


def factors(hits: Sequence[NamingHit], wanted: Sequence[float]) -> list[float]:
    """By what each hit is multiplied, at most what is wanted: so none passes a hit that holds more of the query."""
    most = greatest_score(hits)
    scores = [min(hit.score * factor, most) for hit, factor in zip(hits, wanted, strict=True)]
    raised = _held_back(hits, scores, lambda better, hit: better.held > hit.held + _AS_MUCH)
    return [after / hit.score if after > hit.score else 1.0 for after, hit in zip(raised, hits, strict=True)]


def greatest_score(hits: Sequence[NamingHit]) -> float:
    """What a score is raised to at most: 1, or just past the best hit, where this has more."""
    return max((1.0, *(hit.score * _BEFORE for hit in hits)))


def _held_back(
    hits: Sequence[NamingHit], wanted: Sequence[float], behind: Callable[[NamingHit, NamingHit], bool]
) -> list[float]:
    """The scores that hits want, no less than they have, each below those of better hits that it may not pass."""
    raised: list[float] = []
    for place, hit in enumerate(hits):
        score = wanted[place]
        for other in range(place - 1, -1, -1):
            if hits[other].score >= score:
                break
            if behind(hits[other], hit):
                score = min(score, raised[other] * _BEHIND)
        raised.append(max(score, hit.score))
    return raised


def names_in_query(reader: Tables, text: str, past: Callable[[], bool]) -> NamedInQuery:
    """Looks up what a query names: whole names and their aliases, then parts of names, then neighbours.

    past: whether the deadline has passed; asked before each step, and what was found until then counts.
    """
    names: dict[int, NameInQuery] = {}
    whole: set[int] = set()
    common = frozenset(word for word in telling(tokens(text)) if is_common(stem(word)))
    for step in (_whole_names, _parts_of_names, _neighbours):
        if past():
            return NamedInQuery(names, frozenset(whole), timed_out=True)
        for id, found in step(reader, text, frozenset(whole)):
            if found.spelt and common.issuperset(telling(tokens(found.why))):
                continue
            if found.share == 1.0:
                whole.add(id)
            if found.share > names.get(id, NO_NAME).share:
                names[id] = found
    return NamedInQuery(names, frozenset(whole))


_Found = Iterator[tuple[int, NameInQuery]]


def _weight(text: str, said: str) -> float:
    """The share of a query's words that are those of a name."""
    asked = telling(tokens(text))
    return len(set(asked) & set(tokens(said))) / len(asked) if asked else 0.0


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
        said_as = others.get(name, name)
        yield id, NameInQuery(1.0, said_as, _weight(text, said_as), spelt=name in said)


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
        name = one.canonical_name
        yield one.id, NameInQuery(1.0 if in_full else _HALF, name, _weight(text, name), spelt=True)


def _neighbours(reader: Tables, text: str, whole: frozenset[int]) -> _Found:
    near = reader.entities.neighbours_of_names(reader.note_names.texts(whole), MOST_NEIGHBOURS)
    for name, id in reader.note_names.named(near).items():
        if id not in whole:
            yield id, NameInQuery(_HALF, near[name], _weight(text, near[name]), spelt=False)
