"""Validates an answer: checks shapes, clamps values, keeps the best within the caps, checks facts against the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from core.pipeline.extraction.grounding import Source
from core.pipeline.extraction.result import (
    ENTITY_TYPES,
    FACT_TYPES,
    ExtractedFact,
    ExtractedRelation,
    FactType,
    Limits,
)
from core.pipeline.intake.redaction import MARK, redact
from core.pipeline.models.answer_parsing import clamped, excerpt
from core.pipeline.models.lenient_json import Json, JsonObject
from core.text.tokens import stems

_MOST_WARNINGS: Final = 100
# A reason stands as a decision of its own: the model's finer types are not the memory's.
_TYPES: Final[dict[str, FactType]] = {name: name for name in FACT_TYPES} | {"rationale": "decision"}
_Item = TypeVar("_Item", ExtractedFact, ExtractedRelation)


class Warnings:
    """Warnings in the order they came; beyond a hundred they are counted only."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._more = 0

    def add(self, warning: str) -> None:
        if len(self._said) < _MOST_WARNINGS:
            self._said.append(warning)
        else:
            self._more += 1

    def all(self) -> tuple[str, ...]:
        return (*self._said, *([f"and {self._more} more warnings"] if self._more else []))


def content_words(text: str) -> frozenset[str]:
    """The stems that carry a text's meaning."""
    return frozenset(stems(text))


def valid_facts(
    found: JsonObject, seen: str, limits: Limits, warnings: Warnings
) -> tuple[ExtractedFact, ...]:
    """The facts of an answer that can be kept, in its order; of more than the cap the most confident ones.

    seen: the text as the model saw it, in which the quote of each is looked for.
    """
    source = Source(seen)
    facts = _valid(found, "facts", warnings, lambda item: _fact(item, source, limits, warnings))
    return _most_confident(facts, limits.most_facts, "facts", warnings)


def valid_relations(found: JsonObject, limits: Limits, warnings: Warnings) -> tuple[ExtractedRelation, ...]:
    """The relations of an answer that can be kept, in its order; of more than the cap the most confident ones."""
    relations = _valid(found, "entities", warnings, lambda item: _relation(item, limits, warnings))
    return _most_confident(relations, limits.most_relations, "entities", warnings)


def _valid(
    found: JsonObject, name: str, warnings: Warnings, read: Callable[[Json], _Item | None]
) -> list[_Item]:
    items = found.get(name)
    if not isinstance(items, list):
        if items is not None:
            warnings.add(f"{name} is not a list")
        return []
    return [item for item in map(read, items) if item is not None]


def _most_confident(items: Sequence[_Item], most: int, name: str, warnings: Warnings) -> tuple[_Item, ...]:
    if len(items) <= most:
        return tuple(items)
    warnings.add(f"Truncated {name} from {len(items)} to {most}")
    best = sorted(range(len(items)), key=lambda place: (-items[place].confidence, place))[:most]
    return tuple(items[place] for place in sorted(best))


def _fact(item: Json, source: Source, limits: Limits, warnings: Warnings) -> ExtractedFact | None:
    if not isinstance(item, dict):
        warnings.add("Fact is not an object")
        return None
    content = item.get("content")
    if not isinstance(content, str):
        warnings.add("Fact missing content string")
        return None
    # A model may join pieces that stood too far apart in the text to be recognised as a credential.
    content = redact(_tame(content)).text
    if len(content) > limits.longest_fact:
        warnings.add(f"Fact truncated from {len(content)} to {limits.longest_fact} characters")
        content = content[: limits.longest_fact].rstrip()
    length = len(content.replace(MARK, "").strip())
    if length < limits.shortest_fact:
        warnings.add(f'Fact too short ({length} characters): "{excerpt(content)}"')
        return None
    kind, quote = _fact_type(item.get("type"), warnings), item.get("quote")
    said = source.grounding(
        content,
        quote[: limits.longest_fact] if isinstance(quote, str) else "",
        preference=kind == "preference",
    )
    if not said.quote:
        warnings.add(f'Fact ungrounded, review needed: "{excerpt(content)}"')
    return ExtractedFact(content, kind, clamped(item.get("confidence")), said.quote, said.order)


def _fact_type(named: Json, warnings: Warnings) -> FactType:
    known = _TYPES.get(named.strip().lower()) if isinstance(named, str) else None
    if known is None:
        warnings.add(f'Invalid type "{excerpt(named)}", taken as fact')
    return known or "fact"


def _relation(item: Json, limits: Limits, warnings: Warnings) -> ExtractedRelation | None:
    if not isinstance(item, dict):
        warnings.add("Entity is not an object")
        return None
    source, relationship, target = (
        _name(item.get(key), limits, warnings) for key in ("source", "relationship", "target")
    )
    if not source or not target or MARK in source or MARK in target:
        warnings.add("Entity missing source or target")
        return None
    if not relationship:
        warnings.add("Entity missing relationship")
        return None
    return ExtractedRelation(
        source,
        relationship,
        target,
        clamped(item.get("confidence")),
        _entity_type(item.get("source_type")),
        _entity_type(item.get("target_type")),
    )


def _name(value: Json, limits: Limits, warnings: Warnings) -> str:
    name = " ".join(redact(_tame(value)).text.split()) if isinstance(value, str) else ""
    if len(name) > limits.longest_name:
        warnings.add(f"Entity name truncated from {len(name)} to {limits.longest_name} characters")
    return name[: limits.longest_name].rstrip()


def _entity_type(value: Json) -> str:
    named = value.strip().lower() if isinstance(value, str) else ""
    return named if named in ENTITY_TYPES else ""


def _tame(text: str) -> str:
    """Text without control characters, ends trimmed; line breaks and tabs stay."""
    if text.isprintable():
        return text.strip()
    # Other ends of lines part words as well.
    return "".join(
        "\n" if character in "\r\v\f\x85" else character
        for character in text
        if character in "\n\t\r\v\f\x85" or not (character < " " or "\x7f" <= character < "\xa0")
    ).strip()
