"""Finds the sentence of a raw memory that a fact comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from core.pipeline.extract import content_words
from core.pipeline.intake.sentences import sentences

_LONGEST_READ: Final = 50_000
_MOST_SENTENCES: Final = 1_000
_BULLETS: Final = "-*•#>"
_ENDINGS: Final = ".!?…。！？"


def source_spans(text: str, facts: Iterable[str]) -> list[tuple[int, int] | None]:
    """For each fact the sentence of a text that shares most words of weight with it, as (start, end) in characters.

    A word weighs the less the more sentences have it; of equals the first one is taken. None for a fact that shares no
    word that carries meaning.
    """
    spans: list[tuple[int, int]] = []
    meanings: list[frozenset[str]] = []
    for segment in sentences(text[:_LONGEST_READ]):
        spans.append(_trimmed(text, segment.start, segment.end))
        meanings.append(content_words(text[segment.start : segment.end]))
        if len(spans) == _MOST_SENTENCES:
            break
    holding = Counter(word for meaning in meanings for word in meaning)
    return [_best(content_words(fact), spans, meanings, holding) for fact in facts]


def _best(
    fact: frozenset[str],
    spans: list[tuple[int, int]],
    meanings: list[frozenset[str]],
    holding: Counter[str],
) -> tuple[int, int] | None:
    best, most = None, 0.0
    for span, meaning in zip(spans, meanings, strict=True):
        # Sorted, since a sum of fractions depends on their order and that of a set on the process.
        weight = sum(1 / holding[word] for word in sorted(fact & meaning))
        if weight > most:
            best, most = span, weight
    return best


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space and bullets at its head, and with the sign that ends it."""
    while start < end - 1 and (text[start].isspace() or text[start] in _BULLETS):
        start += 1
    while end > start + 1 and text[end - 1].isspace():
        end -= 1
    while end < len(text) and text[end] in _ENDINGS:
        end += 1
    return start, end
