"""The inline linker: finds entities, attributes, pairs and decisions of a text by rules, while the text is stored."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final, Literal, NamedTuple

from core.pipeline.intake.names import SCANNED, Name, find_names
from core.pipeline.intake.normalisation import collapse_white_space, normalise
from core.pipeline.intake.sentences import TextSegment, TextSpan, clauses
from core.pipeline.words import WORDS

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
GENERAL: Final = "general"
_SHORTEST_CLAUSE: Final = 11
_SHORTEST_PREDICATE, _LONGEST_PREDICATE = 5, 200
_LONGEST_CUT_WORD: Final = 40
_LEADING: Final = re.compile(
    r"(?:['’]s(?=\s)|[`\"'”’»)\]*]*)[^\w`@/~\"'(\[]*"
    r"(?:(?i:and|or|but|so|because|while|when|where|as|then|who|whom|whose|which|that)\s+)?"
)
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


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
    importance: float
    span: TextSpan
    confidence: float = ATTRIBUTE_CONFIDENCE


class Pair(NamedTuple):
    """Two entities of one text, by canonical names, in order of their first places. strength lies in 0 to 1."""

    source: str
    target: str
    relation: str = PAIR_TYPE
    strength: float = PAIR_STRENGTH


class Decision(NamedTuple):
    """A decision in a text. form: 1 to 14, the number of the form of words; span: from its verb to its last word."""

    form: int
    span: TextSpan


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
    attributes = _attributes(scanned, segments, entities, decisions)
    return Links(entities, attributes, _pairs(segments, entities), decisions)


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
        kind: AttributeKind = "constraint" if at < len(decided) and decided[at] < segment.end else "attribute"
        for span, entity in places[bisect_left(starts, segment.start) : bisect_left(starts, segment.end)]:
            predicate = _predicate(text, span.end, segment.end)
            if predicate is None:
                continue
            content = collapse_white_space(predicate.of(text))
            normalised, aspect = normalise(content).normalised_content, aspect_of(content)
            key = entity.canonical_name, aspect, normalised
            if key not in found or (kind == "constraint" and found[key].kind == "attribute"):
                importance = CONSTRAINT_IMPORTANCE if kind == "constraint" else ATTRIBUTE_IMPORTANCE
                found[key] = Attribute(
                    entity.canonical_name, aspect, content, normalised, kind, importance, predicate
                )
            break
    return tuple(found.values())


def _predicate(text: str, start: int, end: int) -> TextSpan | None:
    """What a clause says behind a name, or None where that is shorter than 5 characters; 200 of it at most."""
    leading = _LEADING.match(text, start, end)
    start = leading.end() if leading else start
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


# Aspects. Longer predicates do not come from clauses.
_READ: Final = 1_000
# In order: the first group that has a word or a pair of words of the predicate names the aspect.
_ASPECTS: Final = tuple(
    (name[len("aspect 00 ") :], words) for name, words in WORDS.items() if name.startswith("aspect ")
)


def aspect_of(predicate: str) -> str:
    """The aspect of a predicate: of twelve groups of verbs the first that has one of its words, else "general"."""
    found = [word[0].replace("’", "'") for word in _WORD.finditer(predicate[:_READ])]
    # A capital inside a predicate is a name's: Go is a language, not a way to move.
    words = [
        word.casefold() if number == 0 or not word[0].isupper() else "" for number, word in enumerate(found)
    ]
    spoken = {*words, *map(" ".join, pairwise(words))}
    return next((aspect for aspect, group in _ASPECTS if not group.isdisjoint(spoken)), GENERAL)


# Decisions: a verb, and what has to stand behind it; "over" and the like within 60 characters.
_GAP: Final = r"[\W_]+"
_RIVAL: Final = r".{1,60}?\b(?:over|instead)\b"
_FORMS: Final = (
    (r"chose|chosen|choos(?:e|es|ing)", _RIVAL),
    (r"decided", rf"{_GAP}(?:to|on|against|not{_GAP}to)\b"),
    (r"switch(?:ed|ing)", rf"{_GAP}(?:from|to)\b"),
    (r"migrat(?:e|es|ed|ing)", rf"{_GAP}(?:from|to|away)\b"),
    (r"pick(?:ed|ing)", rf"{_GAP}(?!over\b).{{1,60}}?\bover\b"),
    (r"went|going", rf"{_GAP}with\b"),
    (r"sticking", rf"{_GAP}with\b"),
    (r"committ(?:ed|ing)", rf"{_GAP}to\b"),
    (r"settl(?:ed|ing)", rf"{_GAP}on\b"),
    (r"will", rf"{_GAP}(?:use|(?:go|stick|be{_GAP}going|be{_GAP}sticking){_GAP}with|be{_GAP}using)\b"),
    (r"prefer(?:s|red|ring)?", rf"{_GAP}(?!over\b|instead\b|rather\b).{{1,60}}?\b(?:over|instead|rather)\b"),
    (r"adopt(?:ed|ing)", ""),
)
_PATTERNS: Final = tuple(
    re.compile(rf"\b{form}", re.IGNORECASE | re.DOTALL)
    for form in (
        *(rf"(?P<verb>{verb})(?![\w'’])(?=(?P<rest>{rest}))" for verb, rest in _FORMS),
        *(rf"{noun}{_GAP}(?P<verb>decisions?)\b(?P<rest>)" for noun in ("architecture", "design")),
    )
)
_ANY_VERB: Final = re.compile(
    "chose|choos|decided|switch|migrat|pick|went|going|stick|commit|settl|will|prefer|adopt|decision",
    re.IGNORECASE,
)
_AUXILIARY: Final = "(?:have|has|had|do|does|did|should|shall|can|could|would|will|may|might|are|is|was|were)"
_SUBJECT: Final = "(?:i|we|you|he|she|it|they|the|any(?:one|body)|some(?:one|body))"
_ASKS: Final = re.compile(
    rf"[\W_]*(?:{_AUXILIARY}{_GAP}{_SUBJECT}\b"
    rf"|(?:who|whom|which|what|when|where|why|how){_GAP}(?:{_AUXILIARY}\b|\w+{_GAP}should\b))",
    re.IGNORECASE,
)
_DENIES: Final = WORDS["negations"] | {"hardly", "undecided", "whether", "if", "unless"}
_ANEW: Final = re.compile(r"[,;:]|\b(?:but|then)\b", re.IGNORECASE)
# Words before a verb, and characters that hold so many.
_NEGATION_REACH: Final = 5
_LOOKED_BACK: Final = 200


def find_decisions(text: str) -> tuple[Decision, ...]:
    """The decisions in the first 20,000 characters of a text, in order.

    Each clause is looked at for itself. Negated ("have not decided to"), supposed ("if we switched to") and asked
    ("have we decided to ...?") ones are no decisions; "decided against" and "decided not to" are.
    """
    scanned = text[:SCANNED]
    return decisions_in(scanned, clauses(scanned))


def decisions_in(text: str, segments: Iterable[TextSegment]) -> tuple[Decision, ...]:
    """The decisions in some clauses of a text, in their order."""
    found: list[Decision] = []
    for clause in segments:
        start, end = clause.start, clause.end
        if clause.question or not _ANY_VERB.search(text, start, end) or _ASKS.match(text, start, end):
            continue
        found += sorted(
            (
                Decision(form, TextSpan(one.start("verb"), one.end("rest")))
                for form, pattern in enumerate(_PATTERNS, 1)
                for one in pattern.finditer(text, start, end)
                if not _is_negated(text[max(start, one.start("verb") - _LOOKED_BACK) : one.start("verb")])
            ),
            key=lambda decision: decision.span,
        )
    return tuple(found)


def _is_negated(before: str) -> bool:
    """Whether one of the few words before a verb, back to the last comma or "but", denies or supposes what follows."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(_ANEW.split(before)[-1])]
    for word, following in reversed([*pairwise((*words, ""))][-_NEGATION_REACH:]):
        if word in _DENIES or word.endswith("n't"):
            return (word, following) != ("not", "only")
    return False
