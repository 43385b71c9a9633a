"""Whether what was recalled in a session helped: told by the words of the conversation, and what the weights of aspects
become of that.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

# From this share of its words on a memory counts as used.
USED: Final = 0.5
_WORDS: Final = re.compile(r"\w{4,}")
_ALL: Final = re.compile(r"\w+")
_BEGINNING: Final = 6


def lexical_use(memory: str, conversation: Collection[str]) -> float:
    """The share, 0 to 1, of a memory's words that a conversation holds, as `words_of` gives them."""
    own = words_of(memory)
    return len(own & frozenset(conversation)) / len(own) if own else 0.0


def words_of(text: str) -> frozenset[str]:
    """The beginnings of a text's words; of one without long words all of them, so that a number can be found."""
    folded = text.casefold()
    return frozenset(
        word[:_BEGINNING] for word in _WORDS.findall(folded) or _ALL.findall(folded)
    ) | frozenset(word for word in _ALL.findall(folded) if word.isdigit())


def confirmed_weight(weight: float, *, delta: float, confirmations: int, least: float, most: float) -> float:
    """The weight of an aspect after so many confirmations; unchanged by none but for the bounds, of which the greater
    one holds.
    """
    return max(min(least, most), min(most, weight + delta * confirmations))


def decayed_weight(weight: float, *, rate: float, days: float, stale_days: int, least: float) -> float:
    """The weight of an aspect that nothing confirmed for so many days; unchanged before it is stale."""
    return weight if days <= stale_days else max(least, weight - rate)
