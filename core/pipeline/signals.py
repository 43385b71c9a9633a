"""What raises a hit beside its words: names and their neighbours, hints, documents; and what dampens it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from core.pipeline.database.connection import Database
from core.pipeline.database.tables import Tables
from core.pipeline.records import DocumentHit
from core.search.signals import Signal
from core.settings.pipeline_sections import DampeningPart, PipelineConfiguration
from core.text.languages import is_common, serves_grammar
from core.text.tokens import stem

if TYPE_CHECKING:
    from core.pipeline.meaning import BeyondWords


# A score up to this is too low for a penalty to matter.
GRAVITY_ABOVE: Final = 0.3
# With fewer names nearly each would be a hub.
FEWEST_NAMES: Final = 20
# A hub is borne by such a share of the notes at least.
_SHARE_OF_HUB: Final = 0.25
# A shorter text with a date in it says too little to gain.
_LEAST_DATED: Final = 50
_SHARED_BEGINNING: Final = 4
_TOKEN: Final = re.compile(r"[^\W_]+")
_MONTHS: Final = "january|february|march|april|june|july|august|september|october|november|december"
_DATE: Final = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_MONTH: Final = re.compile(
    rf"\b(?:{_MONTHS}|may)\s+\d|\b\d+(?:st|nd|rd|th)?\.?\s+(?:{_MONTHS}|may)\b|\b(?:in|on|since)\s+(?:{_MONTHS}|may)\b",
    re.IGNORECASE,
)
_CAPITAL_MAY: Final = re.compile(r"(?<![.!?] )(?<!^)\bMay\b")


def tokens(text: str) -> tuple[str, ...]:
    """The distinct words of a text in lower case, of two letters or digits at least."""
    return tuple(dict.fromkeys(word for word in _TOKEN.findall(text.lower()) if len(word) > 1))


def telling(words: Sequence[str]) -> tuple[str, ...]:
    """Words without those that only serve grammar."""
    return tuple(word for word in words if not serves_grammar(word, ("english",)))


def overlaps(query: Collection[str], held: Collection[str]) -> bool:
    """Whether two texts share a token, or the beginnings of two."""
    beginnings = {word[:_SHARED_BEGINNING] for word in held if len(word) >= _SHARED_BEGINNING}
    whole = set(held)
    return any(
        word in whole or (len(word) >= _SHARED_BEGINNING and word[:_SHARED_BEGINNING] in beginnings)
        for word in query
    )


def gravity(
    part: DampeningPart, score: float, query: Collection[str], held: Collection[str]
) -> Signal | None:
    """The penalty of a note that was found by meaning alone and shares no token with the query.

    query, held: tokens. held: of the note, its hints and other names of what it names.
    """
    if not (part.gravity_enabled and query and score > GRAVITY_ABOVE) or overlaps(query, held):
        return None
    return Signal("gravity", factor=part.gravity_penalty)


def least_hub(part: DampeningPart, names: int, notes: int, borne_at: Callable[[int], int]) -> int | None:
    """By how many notes a hub is borne at least; None for no hubs.

    names, notes: how many there are. borne_at: how many notes bear the name at a place, from 0, of all names by that
    number. What few notes bear is no hub, however rare all other names are.
    """
    if not part.hub_enabled or names < FEWEST_NAMES:
        return None
    return max(borne_at(min(int(names * part.hub_percentile), names - 1)), math.ceil(notes * _SHARE_OF_HUB))


def hub(part: DampeningPart, names: Collection[object], hubs: Collection[object]) -> Signal | None:
    """The penalty of a note that names hubs and nothing else."""
    if not names or not set(names) <= set(hubs):
        return None
    return Signal("hub", factor=part.hub_penalty)


def resolution(part: DampeningPart, decided: bool, text: str) -> Signal | None:
    """What a decision gains, and half as much a text of some length with a date in it."""
    if not part.resolution_enabled:
        return None
    if decided:
        return Signal("resolution", "decision", factor=part.resolution_boost)
    if len(text) < _LEAST_DATED or not is_dated(text):
        return None
    return Signal("resolution", "date", factor=1 + (part.resolution_boost - 1) * 0.5)


def is_dated(text: str) -> bool:
    """Whether a text has an ISO date or names a month; "may" alone is a verb."""
    return any(pattern.search(text) for pattern in (_DATE, _MONTH, _CAPITAL_MAY))


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
    found = reader.ask(
        "SELECT other.id, other.canonical_name, named.canonical_name FROM json_each(?) AS said"
        " JOIN entities AS named ON named.canonical_name = said.value"
        " JOIN entities AS other ON other.root = named.root WHERE other.notes > 0"
        " ORDER BY other.id <> named.id, other.canonical_name LIMIT ?",
        json.dumps(sorted(said)), MOST_ENTITIES,
    )  # fmt: skip
    for id, name, said_as in found:
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
    found = reader.ask(
        "SELECT far.id, near.name || ' - ' || ends.type || ' - ' || other.name FROM entities AS named"
        " JOIN entities AS near ON near.id = named.root JOIN relation_ends AS ends ON ends.entity_id = near.id"
        " JOIN entities AS other ON other.id = other_id JOIN entities AS far ON far.root = other_id"
        " WHERE named.id IN (SELECT value FROM json_each(?)) AND far.notes > 0"
        " ORDER BY strength DESC, other_id LIMIT ?",
        json.dumps(sorted(whole)), MOST_NEIGHBOURS,
    )  # fmt: skip
    for id, path in found:
        if id not in whole:
            yield id, NameInQuery(_HALF, path, _weight(text, path), spelt=False)


# What a note scores at most by a hint alone, and how likely it then answers at most.
ALONE: Final = 0.75


def likeness(query: Collection[str], hint: Collection[str]) -> float:
    """How nearly a hint is what was asked, in [0, 1]: the harmonic mean of what each shares with the other."""
    asked, held = set(query), set(hint)
    return 2 * len(asked & held) / (len(asked) + len(held)) if asked and held else 0.0


def hint_signal(hint: str, score: float, *, alone: bool) -> Signal:
    """What a hint of some score gives its note: that score at least, never a sum. alone: no word of the note itself was
    found.
    """
    raised = min(score, ALONE) if alone else score
    return Signal("hint", hint, at_least=raised, likelihood=min(score, ALONE))


# So many hits of either kind are brought together.
_MOST: Final = 100


def search_documents(
    database: Database, beyond: BeyondWords, configuration: PipelineConfiguration, query: str, limit: int
) -> tuple[DocumentHit, ...]:
    """The chunks that share words with a query or are near to it, best first.

    What is found both ways scores `search.alpha` of its cosine and the rest of its words, all else what it has.
    """
    asked = beyond.asked(configuration, query, waits=True)
    with database.checked_reading() as reader:
        most = max(limit, _MOST) if asked.vector is not None else limit
        by_words = reader.documents.search(query, most, database.counted_chunk_words)
        near = beyond.near_chunks(reader, asked)
        if near is None or limit < 1:
            return by_words[:limit]
        nearest = near.best(_MOST, configuration.embedding.min_similarity)
        known = {hit.chunk_id for hit in by_words}
        ids = [int(near.targets[row]) for row in nearest if int(near.targets[row]) not in known]
        others = reader.documents.hits_of(ids)
    alpha = configuration.search.alpha
    scored: list[DocumentHit] = []
    for hit in (*by_words, *others):
        cosine = near.cosine(str(hit.chunk_id))
        if cosine is not None:
            likeness = max(0.0, cosine)
            words = hit.score
            score = alpha * likeness + (1 - alpha) * words if words else likeness
            hit = replace(hit, score=score)
        scored.append(hit)
    return tuple(sorted(scored, key=lambda hit: -hit.score)[:limit])
