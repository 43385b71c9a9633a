"""Words of the memory that a word nobody wrote may have meant: one still being typed, or one misspelt."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import OSA

_MOST_NEIGHBOURS: Final = 8
_SHORTEST_PREFIX: Final = 3
_SHORTEST_MISSPELT: Final = 4
# One slip in five letters, two in ten. Closer words are as often another word as the same one misspelt.
_LIKENESS: Final = 0.78
# From this length on a word may also begin with the wrong letter; "sailing" must not find "mailing".
_SURE_LENGTH: Final = 8
_PREFIX_LIKENESS: Final = 0.7


def neighbours(word: str, known: Sequence[str], *, unfinished: bool) -> list[tuple[str, float]]:
    """Known words like a word, with their likeness in (0, 1], best first, at most 8.

    known: sorted. unfinished: the word may be the beginning of a longer one. Likeness of a misspelling is one
    minus the share of letters to change, swap, add or drop (optimal string alignment).
    """
    found: dict[str, float] = {}
    if unfinished and len(word) >= _SHORTEST_PREFIX:
        place = bisect_left(known, word)
        while place < len(known) and known[place].startswith(word) and len(found) < 4 * _MOST_NEIGHBOURS:
            share = len(word) / len(known[place])
            found[known[place]] = _PREFIX_LIKENESS + (1 - _PREFIX_LIKENESS) * share
            place += 1
    if len(word) >= _SHORTEST_MISSPELT:
        for other, likeness, _ in process.extract(
            word, _choices(word, known), scorer=OSA.normalized_similarity, score_cutoff=_LIKENESS,
            limit=_MOST_NEIGHBOURS, processor=None,
        ):  # fmt: skip
            found[other] = max(likeness, found.get(other, 0.0))
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_MOST_NEIGHBOURS]


def _choices(word: str, known: Sequence[str]) -> Sequence[str]:
    if len(word) >= _SURE_LENGTH:
        return known
    return known[bisect_left(known, word[0]) : bisect_left(known, chr(min(ord(word[0]) + 1, 0x10FFFF)))]
