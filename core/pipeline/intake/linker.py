"""The inline linker: finds entities, attributes and pairs of a text by rules, while the text is stored."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, NamedTuple

from core.pipeline.intake.aspects import aspect_of
from core.pipeline.intake.decisions import Decision, decisions_in
from core.pipeline.intake.names import SCANNED, Name, find_names
from core.pipeline.intake.normalisation import collapse_white_space, normalise
from core.pipeline.intake.sentences import TextSegment, TextSpan, clauses

AttributeKind = Literal["attribute", "constraint"]

ENTITY_TYPE: Final = "extracted"
MOST_ENTITIES: Final = 12
MOST_PAIRS: Final = 15
MENTION_CONFIDENCE: Final = 0.8
ATTRIBUTE_CONFIDENCE: Final = 0.7
ATTRIBUTE_IMPORTANCE: Final = 0.5
CONSTRAINT_IMPORTANCE: Final = 0.85
ASPECT_WEIGHT: Final = 0.5
PAIR_TYPE: Final = "related_to"
PAIR_STRENGTH: Final = 0.3
_SHORTEST_CLAUSE: Final = 11
_SHORTEST_PREDICATE, _LONGEST_PREDICATE = 5, 200
_LONGEST_CUT_WORD: Final = 40
_LEADING: Final = re.compile(r"(?:['’]s(?=\s)|[`\"'”’»)\]*]*)[^\w`@/~\"'(\[]*")
_CONJUNCTION: Final = re.compile(
    r"(?:and|or|but|so|because|while|when|where|as|then|who|whom|whose|which|that)\s+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """What a clause says of an entity.

    entity: canonical name. content: the predicate on one line; span: where it stands. normalised_content: as duplicates
    are told. kind: constraint where the clause is a decision. confidence and importance lie in 0 to 1.
    """

    entity: str
    aspect: str
    content: str
    normalised_content: str
    kind: AttributeKind
    confidence: float
    importance: float
    span: TextSpan


class Pair(NamedTuple):
    """Two entities of one text, by canonical names, in order of their first places. strength lies in 0 to 1."""

    source: str
    target: str
    relation: str = PAIR_TYPE
    strength: float = PAIR_STRENGTH


@dataclass(frozen=True, slots=True)
class Links:
    """What the rules find in a text: at most 12 entities and 15 pairs. protected: the text holds a decision."""

    entities: tuple[Name, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    pairs: tuple[Pair, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @property
    def protected(self) -> bool:
        return bool(self.decisions)


def link(text: str, known: Container[str] = frozenset()) -> Links:
    """Entities, attributes, pairs and decisions in the first 20,000 characters of a text.

    known: canonical names of entities that exist already; they may open a sentence without further sign of being names.
    """
    scanned = text[:SCANNED]
    entities = find_names(scanned, known)[:MOST_ENTITIES]
    segments = tuple(clauses(scanned))
    decisions = decisions_in(scanned, segments)
    return Links(
        entities, _attributes(scanned, segments, entities, decisions), _pairs(segments, entities), decisions
    )


def _attributes(
    text: str, segments: tuple[TextSegment, ...], entities: tuple[Name, ...], decisions: tuple[Decision, ...]
) -> tuple[Attribute, ...]:
    """One attribute a clause at most, and none twice: of the first name in it behind which a predicate stands."""
    places = sorted((span, entity) for entity in entities for span in entity.spans) if entities else []
    starts = [span.start for span, _ in places]
    decided = [decision.span.start for decision in decisions]
    found: dict[tuple[str, str, str], Attribute] = {}
    for segment in segments:
        if len(text[segment.start : segment.end].strip()) < _SHORTEST_CLAUSE:
            continue
        at = bisect_left(decided, segment.start)
        is_decision = at < len(decided) and decided[at] < segment.end
        for span, entity in places[bisect_left(starts, segment.start) : bisect_left(starts, segment.end)]:
            predicate = _predicate(text, span.end, segment.end)
            if predicate is None:
                continue
            content = collapse_white_space(predicate.of(text))
            normalised, aspect = normalise(content).normalised_content, aspect_of(content)
            kind: AttributeKind = "constraint" if is_decision else "attribute"
            importance = CONSTRAINT_IMPORTANCE if is_decision else ATTRIBUTE_IMPORTANCE
            attribute = Attribute(
                entity.canonical_name,
                aspect,
                content,
                normalised,
                kind,
                ATTRIBUTE_CONFIDENCE,
                importance,
                predicate,
            )
            key = entity.canonical_name, aspect, normalised
            if key not in found or (is_decision and found[key].kind == "attribute"):
                found[key] = attribute
            break
    return tuple(found.values())


def _predicate(text: str, start: int, end: int) -> TextSpan | None:
    """What a clause says behind a name, or None where that is shorter than 5 characters; 200 of it at most."""
    leading = _LEADING.match(text, start, end)
    start = leading.end() if leading else start
    conjunction = _CONJUNCTION.match(text, start, end)
    start = conjunction.end() if conjunction else start
    said = text[start:end].rstrip()
    if len(said) > _LONGEST_PREDICATE:
        # To the end of a word, unless that is far.
        whole = said.rfind(" ", _LONGEST_PREDICATE - _LONGEST_CUT_WORD, _LONGEST_PREDICATE + 1)
        said = said[: whole if whole > 0 else _LONGEST_PREDICATE].rstrip()
    length = len(said.rstrip(",;:").rstrip())
    return TextSpan(start, start + length) if length >= _SHORTEST_PREDICATE else None


def _pairs(segments: tuple[TextSegment, ...], entities: tuple[Name, ...]) -> tuple[Pair, ...]:
    """The closest pairs: those that share a clause first, then by how far apart the two first stand."""
    ends = [segment.end for segment in segments]
    shared = {
        entity.canonical_name: {bisect_left(ends, span.end) for span in entity.spans} for entity in entities
    }

    def closeness(pair: tuple[Name, Name]) -> tuple[bool, int]:
        first, second = pair
        apart = shared[first.canonical_name].isdisjoint(shared[second.canonical_name])
        return apart, second.spans[0].start - first.spans[0].end

    closest = sorted(combinations(entities, 2), key=closeness)[:MOST_PAIRS]
    return tuple(Pair(first.canonical_name, second.canonical_name) for first, second in closest)
