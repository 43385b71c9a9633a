"""All documents of one snapshot at one moment: rows, what is counted over them, and the words they are written in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.model.note import Note
from core.search.documents import NO_WORD, Document, Vocabulary
from core.search.segment import Counts, Numbers, Segment, Small, Values

Mask = NDArray[np.bool_]

# BM25's saturation of repeats and its share of length normalisation (Robertson, Zaragoza 2009).
_K1: Final = 1.2
_B: Final = 0.75
# A vector's length is divided out to this power: by all of it, short notes win too easily (measured).
_LENGTH_POWER: Final = 0.6


@dataclass(frozen=True)
class State:
    """Notes with their documents at one moment. Nothing in it changes; queries may share it between threads.

    A note has a row; rows of notes that are gone or were read anew are no longer `alive`. Arrays over rows have the
    length of `notes`: first the rows of the `base`, then those of the `recent` documents. counts: for each stem
    number in how many living rows it stands; word_counts: the same for words. words: those of living rows that carry
    meaning, sorted. total: living rows. lengths: of the notes'
    vectors; scales: what an inner product with them is multiplied by. saturation: what a count is weighed against in
    BM25.
    """

    notes: Sequence[Note]
    rows: Mapping[str, int]
    base: Segment
    recent: Segment
    alive: Mask
    hidden: Mask
    durable: Mask
    own: Mask
    confidence: Values
    counts: Small
    stems: Vocabulary
    words: Sequence[str]
    word_counts: Small
    total: int = field(init=False)
    lengths: Values = field(init=False)
    saturation: Values = field(init=False)
    scales: Values = field(init=False)

    def __post_init__(self) -> None:
        sizes = np.concatenate((self.base.sizes, self.recent.sizes))
        lengths = np.concatenate((self.base.lengths, self.recent.lengths))
        total = max(int(self.alive.sum()), 1)
        mean = max(float(sizes[self.alive].sum()) / total, 1e-9)
        object.__setattr__(self, "total", total)
        object.__setattr__(self, "lengths", lengths)
        object.__setattr__(self, "saturation", _K1 * (1 - _B + _B * sizes / mean))
        object.__setattr__(self, "scales", np.where(lengths > 0, lengths, 1.0) ** -_LENGTH_POWER)

    def __len__(self) -> int:
        return len(self.notes)

    # Words

    def count(self, stem: str) -> int:
        """How many notes hold a stem."""
        number = self.stems.number(stem)
        return int(self.counts[number]) if NO_WORD < number < len(self.counts) else 0

    def rarity(self, count: int) -> float:
        """Inverse document frequency ln(1 + (N - n + 0.5) / (n + 0.5)) of what n of N notes hold, as BM25 has it."""
        return math.log(1.0 + (self.total - min(count, self.total) + 0.5) / (count + 0.5))

    def holding(self, stem: str) -> Counts:
        """The living rows that hold a stem, and how often."""
        number = self.stems.number(stem)
        return self._living(self.base.stem_counts(number), self.recent.stem_counts(number))

    def holding_pair(self, first: str, second: str) -> Counts:
        """The living rows in which one stem stands right before another, and how often."""
        one, other = self.stems.number(first), self.stems.number(second)
        if NO_WORD in (one, other):
            return Counts(np.zeros(0, dtype=np.intp), np.zeros(0))
        return self._living(self.base.pair_counts(one, other), self.recent.pair_counts(one, other))

    def _living(self, base: Counts, recent: Counts) -> Counts:
        rows = np.concatenate((base.rows, recent.rows + len(self.base)))
        kept = self.alive[rows]
        return Counts(rows[kept], np.concatenate((base.counts, recent.counts))[kept])

    # Rows

    def preferred(self, rows: Iterable[int]) -> list[int]:
        """Rows in the order of equals in a ranking: notes changed last first, then by id."""
        notes = self.notes
        ordered = sorted(rows, key=lambda row: (notes[row].id, notes[row].title, notes[row].content))
        ordered.sort(key=lambda row: notes[row].updated_at, reverse=True)
        return ordered

    def document(self, row: int) -> Document:
        """The document of a row."""
        segment, place = self._segment(row)
        return segment.document(place)

    def digest(self, row: int) -> bytes:
        """The digest of a row's document."""
        segment, place = self._segment(row)
        return segment.digest(place)

    def _segment(self, row: int) -> tuple[Segment, int]:
        return (self.base, row) if row < len(self.base) else (self.recent, row - len(self.base))

    def bm25(self, found: Counts) -> Values:
        """BM25 of one stem for the rows that hold it, without its rarity."""
        return np.asarray(found.counts * (_K1 + 1) / (found.counts + self.saturation[found.rows]))

    def superposed(self, rows: Numbers, weights: Mapping[int, float], pairs: Mapping[int, float]) -> Values:
        """For each of some rows the inner product with a superposition of stems and pairs, as `pair_code` names them.

        The weights of pairs count with PAIR_SHARE already in them.
        """
        table = np.zeros(len(self.counts))
        table[list(weights)] = list(weights.values())
        codes = np.array(sorted(pairs), dtype=np.intp)
        coded = codes, np.array([pairs[int(code)] for code in codes], dtype=np.float64)
        found = np.zeros(len(rows))
        recent = rows >= len(self.base)
        for segment, chosen, first in (
            (self.base, ~recent, 0),
            (self.recent, recent, len(self.base)),
        ):
            if chosen.any():
                found[chosen] = segment.superposed(rows[chosen] - first, table, coded, len(self.counts))
        return found

    def pair_code(self, first: int, second: int) -> int:
        """One number for a pair of stem numbers."""
        return first * len(self.counts) + second


class Holdings:
    """The rows that hold the stems and pairs of one query, each looked for once."""

    def __init__(self, state: State) -> None:
        self.of = cache(state.holding)
        self.of_pair = cache(state.holding_pair)


def weights_of(counts: Values) -> Values:
    """1 + ln(count) for each count."""
    return np.asarray(1.0 + np.log(counts))
