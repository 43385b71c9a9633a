"""Words of the memory that a typed word may stand for: another form of it, one half typed, one misspelt."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

_MOST: Final = 8
_LOOKED_AT: Final = 200
# Two forms of one word begin alike: with so many letters, so much of the typed word, and so much of both.
_FORM_LETTERS: Final = 4
FORM_SHARE: Final = 0.6
SURE_FORM_SHARE: Final = 0.75
_SHORTEST_BEGINNING: Final = 2
_SHORTEST_BEGUN: Final = 4
_SHORTEST_MISSPELT: Final = 4
_SHORTEST_PART: Final = 4
_SHORTEST_HEAD: Final = 3
# Scripts from here on, Hangul the first, write whole syllables.
_SYLLABLES: Final = "\u1100"
# One slip in five letters, two in ten. Closer words are as often another word as the same one misspelt.
_LIKENESS: Final = 0.78
# From this length on a word may also begin with the wrong letter; "sailing" must not find "mailing".
_SURE_LENGTH: Final = 8
_BEGINNING_LIKENESS: Final = 0.7

Found = list[tuple[str, float]]


def forms(word: str, known: Sequence[str], least: float = FORM_SHARE) -> Found:
    """Words that begin as a word does ("config", "configuration"), with the share of letters they begin with.

    known: sorted. least: the share of letters that two forms have in common. Best first, at most 8, without the word
    itself; so for all of these functions.
    """
    if len(word) < _FORM_LETTERS:
        return []
    found: Found = []
    for other in _beginning(word[: max(_FORM_LETTERS, int(len(word) * least))], known):
        share = 2 * _common(word, other) / (len(word) + len(other))
        if share >= least and other != word:
            found.append((other, share))
    return _best(found)


def beginnings(word: str, known: Sequence[str]) -> Found:
    """Words of which a word may be the beginning, still being typed, with a likeness in (0.7, 1]."""
    if len(word) < _SHORTEST_BEGINNING and not _says_much(word):
        return []
    share = 1 - _BEGINNING_LIKENESS
    return _best(
        [
            (other, _BEGINNING_LIKENESS + share * len(word) / len(other))
            for other in _beginning(word, known)
            if other != word
        ]
    )


def may_be_begun(word: str) -> bool:
    """Whether an unknown word is long enough to be taken for one half typed wherever it stands in a query."""
    return len(word) >= _SHORTEST_BEGUN and word.isalpha()


def misspelt(word: str, known: Sequence[str]) -> Found:
    """Words that a word may be a misspelling of.

    Their likeness is one minus the share of letters to change, swap, add or drop (optimal string alignment).
    """
    if len(word) < _SHORTEST_MISSPELT:
        return []
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extract(
        word, _choices(word, known), scorer=OSA.normalized_similarity, score_cutoff=_LIKENESS, limit=_MOST,
        processor=None,
    )  # fmt: skip
    return _best([(other, likeness) for other, likeness, _ in found if other != word])


def holding(word: str, known: Sequence[str]) -> Found:
    """Words that end in a word, as compounds do ("gres" of "postgres"), with the share of their letters that it is.

    What comes before must be long enough to be a word of its own: "rust" is no part of "trust". Syllables and
    Chinese characters may stand anywhere in a word.
    """
    if _says_much(word):
        return _best([(other, len(word) / len(other)) for other in known if word in other and other != word])
    # Most words end no other, which one look into all of them tells sooner than a look into each.
    if len(word) < _SHORTEST_PART or f"{word}\n" not in "\n".join([*known, ""]):
        return []
    return _best(
        [
            (other, len(word) / len(other))
            for other in known
            if other.endswith(word) and len(other) - len(word) >= _SHORTEST_HEAD
        ]
    )


def _says_much(word: str) -> bool:
    """Whether a character of the word is no letter but a syllable or a word, as in Korean and Chinese."""
    return any(char >= _SYLLABLES for char in word)


def _beginning(letters: str, known: Sequence[str]) -> Iterator[str]:
    """Words that begin with some letters, the first 200."""
    for other in islice(known, bisect_left(known, letters), bisect_left(known, letters) + _LOOKED_AT):
        if not other.startswith(letters):
            return
        yield other


def _common(one: str, other: str) -> int:
    """With how many equal letters two words begin."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def _best(found: Found) -> Found:
    return sorted(found, key=lambda item: (-item[1], item[0]))[:_MOST]


def _choices(word: str, known: Sequence[str]) -> Sequence[str]:
    if len(word) >= _SURE_LENGTH:
        return known
    return known[bisect_left(known, word[0]) : bisect_left(known, chr(min(ord(word[0]) + 1, 0x10FFFF)))]
