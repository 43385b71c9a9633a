"""All documents of one snapshot at one moment: rows, what is counted over them, and the words they are written in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from core.model.note import Note
from core.search.documents import NO_WORD, Document, Vocabulary
from core.search.segment import NOWHERE, Counts, Numbers, Segment, Small, Values
from core.text.languages import LANGUAGES, Language, serves_grammar, stem_in

if TYPE_CHECKING:
    from core.search.meanings import Meaning
    from core.search.query import QueryStem
    from core.search.terms import Term

Mask = NDArray[np.bool_]

# BM25's saturation of repeats and its share of length normalisation (Robertson, Zaragoza 2009).
_K1: Final = 1.2
_B: Final = 0.75
# A vector's length is divided out to this power: by all of it, short notes win too easily (measured).
_LENGTH_POWER: Final = 0.6
# Of stems and pairs that queries ask for, so many are kept as they were found, of so many rows at most.
_MOST_HELD: Final = 1024
_LONGEST_HELD: Final = 1024


@dataclass(frozen=True)
class State:
    """Notes with their documents at one moment. Nothing in it changes; queries may share it between threads.

    A note has a row; rows of notes that are gone or were read anew are no longer `alive`. Arrays over rows have the
    length of `notes`: first the rows of the `base`, then those of the `recent` documents. counts: for each stem
    number in how many living rows it stands; word_counts: the same for words. words: those of living rows that carry
    meaning, sorted. total: living rows. languages: other than English that a living row is in. lengths: of the notes'
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
    languages: tuple[Language, ...] = field(init=False)
    lengths: Values = field(init=False)
    saturation: Values = field(init=False)
    scales: Values = field(init=False)
    # Of the module `terms`.
    known_terms: dict[tuple[QueryStem, bool], Term] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    # Of the module `meanings`.
    known_tags: dict[str, tuple[Meaning, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    _held: dict[tuple[int, int], Counts] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        sizes = np.concatenate((self.base.sizes, self.recent.sizes))
        lengths = np.concatenate((self.base.lengths, self.recent.lengths))
        total = max(int(self.alive.sum()), 1)
        mean = max(float(sizes[self.alive].sum()) / total, 1e-9)
        spoken = np.concatenate((self.base.languages, self.recent.languages))[self.alive]
        counts = np.bincount(spoken, minlength=len(LANGUAGES))
        object.__setattr__(
            self, "languages", tuple(LANGUAGES[number] for number in np.flatnonzero(counts) if number)
        )
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

    def stems_of(self, word: str) -> tuple[str, ...]:
        """The stems under which notes may hold a folded word, one for each language of theirs."""
        others = [
            stem_in(word, language) for language in self.languages if not serves_grammar(word, (language,))
        ]
        return tuple(dict.fromkeys([stem_in(word, "english"), *others]))

    def knows(self, word: str) -> bool:
        """Whether a note holds a folded word in any form."""
        return any(map(self.count, self.stems_of(word)))

    def rarity(self, count: int) -> float:
        """Inverse document frequency ln(1 + (N - n + 0.5) / (n + 0.5)) of what n of N notes hold, as BM25 has it."""
        return math.log(1.0 + (self.total - min(count, self.total) + 0.5) / (count + 0.5))

    def holding(self, stem: str) -> Counts:
        """The living rows that hold a stem, and how often."""
        number = self.stems.number(stem)
        found = self._held.get((number, NO_WORD))
        if found is None:
            found = self._living(self.base.stem_counts(number), self.recent.stem_counts(number))
            self._remember((number, NO_WORD), found)
        return found

    def holding_pair(self, first: str, second: str) -> Counts:
        """The living rows in which one stem stands right before another, and how often."""
        one, other = self.stems.number(first), self.stems.number(second)
        if NO_WORD in (one, other):
            return NOWHERE
        found = self._held.get((one, other))
        if found is None:
            found = self._living(self.base.pair_counts(one, other), self.recent.pair_counts(one, other))
            self._remember((one, other), found)
        return found

    def _remember(self, numbers: tuple[int, int], found: Counts) -> None:
        """Keeps what the next queries are likely to ask for too, in some megabytes at most."""
        if len(found.rows) > _LONGEST_HELD:
            return
        if len(self._held) >= _MOST_HELD:
            self._held.clear()
        self._held[numbers] = found

    def _living(self, base: Counts, recent: Counts) -> Counts:
        rows, counts = base
        if len(recent.rows):
            rows = np.concatenate((rows, recent.rows + len(self.base)))
            counts = np.concatenate((counts, recent.counts))
        kept = self.alive[rows]
        return Counts(rows, counts) if kept.all() else Counts(rows[kept], counts[kept])

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

    def language(self, row: int) -> Language:
        """The language of a row's note."""
        segment, place = self._segment(row)
        return LANGUAGES[int(segment.languages[place])]

    def digests(self, rows: Iterable[int]) -> list[bytes]:
        """The digests of some rows' documents, in their order."""
        edge = len(self.base)
        return [self.base.digest(row) if row < edge else self.recent.digest(row - edge) for row in rows]

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
