"""Dampening: three corrections of scores. What only seems near yields, so does what names hubs alone; what was decided
or has a date gains.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

from core.search.signals import Signal
from core.settings.pipeline_sections import DampeningPart
from core.text.languages import serves_grammar

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
