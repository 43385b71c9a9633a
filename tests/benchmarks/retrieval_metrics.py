"""How good a ranking is beside its nDCG: recall and reciprocal rank of one query, and intervals over many."""

from __future__ import annotations

import random
import re
import string
import zlib
from collections.abc import Mapping, Sequence

CUT = 10
SLIPS = ("insert", "drop", "replace", "swap")


def recall(ranked: Sequence[str], relevant: Mapping[str, float], cut: int = CUT) -> float:
    """Share of the right ids that are among the first `cut`."""
    return sum(note_id in relevant for note_id in ranked[:cut]) / len(relevant)


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, float]) -> float:
    """1 / the place of the first right id, 0 when none is there."""
    return next((1 / place for place, note_id in enumerate(ranked, 1) if note_id in relevant), 0.0)


def bootstrap(
    before: Sequence[float], after: Sequence[float], rounds: int = 2000
) -> tuple[float, float, float]:
    """Mean of `after` - `before`, pair by pair, with its 95 % interval; the same at each call."""
    import numpy as np

    differences = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    drawn = np.random.default_rng(0).integers(0, len(differences), (rounds, len(differences)))
    low, high = np.percentile(differences[drawn].mean(axis=1), [2.5, 97.5])
    return float(differences.mean()), float(low), float(high)


def share(found: Sequence[float], rounds: int = 2000) -> tuple[float, float, float]:
    """Mean of some values with its 95 % interval; zeros for none."""
    return bootstrap([0.0] * len(found), found, rounds) if found else (0.0, 0.0, 0.0)


def with_slip(text: str) -> str:
    """The text with one slip of the fingers in its longest word; always the same one for the same text.

    Words are runs of letters; of several longest, the first. Unchanged when no word has three letters.
    """
    longest = max(re.finditer(r"[^\W\d_]+", text), key=lambda found: len(found.group()), default=None)
    if longest is None or len(longest.group()) < 3:
        return text
    dice = random.Random(zlib.crc32(text.encode()))
    word = longest.group()
    slipped = word
    while slipped == word:
        slipped = _slip(word, dice)
    return text[: longest.start()] + slipped + text[longest.end() :]


def _slip(word: str, dice: random.Random) -> str:
    place, letter = dice.randrange(len(word)), dice.choice(string.ascii_lowercase)
    match dice.choice(SLIPS):
        case "insert":
            return word[:place] + letter + word[place:]
        case "drop":
            return word[:place] + word[place + 1 :]
        case "replace":
            return word[:place] + letter + word[place + 1 :]
        case _:
            place = min(place, len(word) - 2)
            return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
