"""Documents as flat arrays: where each stem stands in them, so that a query reads only what it asks for."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.search.documents import NO_WORD, Document

Numbers = NDArray[np.intp]
Small = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Shares = NDArray[np.float32]
Values = NDArray[np.float64]

DIGEST_BYTES: Final = 16


class Counts(NamedTuple):
    """Rows in rising order, and how often something stands in each of them."""

    rows: Numbers
    counts: Values


NOWHERE: Final = Counts(np.zeros(0, dtype=np.intp), np.zeros(0))


class Segment:
    """The documents of some rows, read-only. Arrays over places follow one another document by document."""

    def __init__(
        self,
        *,
        stems: Small,
        shares: Shares,
        pair_shares: Shares,
        starts: Numbers,
        words: Small,
        word_starts: Numbers,
        sizes: Values,
        lengths: Values,
        languages: Bytes,
        digests: bytes,
        order: Small | None = None,
    ) -> None:
        self.stems, self.shares, self.pair_shares, self.starts = stems, shares, pair_shares, starts
        self.words, self.word_starts = words, word_starts
        self.sizes, self.lengths, self.languages, self.digests = sizes, lengths, languages, digests
        self.owners: Small = np.repeat(np.arange(len(sizes), dtype=np.int32), np.diff(starts))
        self.order: Small = np.argsort(stems, kind="stable").astype(np.int32) if order is None else order
        total = int(stems.max(initial=0)) + 1
        self._bounds = np.concatenate(([0], np.cumsum(np.bincount(stems, minlength=total))))

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Segment:
        """The segment of some documents, in their order."""
        return cls(
            stems=_integers(document.stems for document in documents),
            shares=_floats(document.shares for document in documents),
            pair_shares=_floats(document.pair_shares for document in documents),
            starts=_starts(len(document.stems) for document in documents),
            words=_integers(document.words for document in documents),
            word_starts=_starts(len(document.words) for document in documents),
            sizes=np.array([document.size for document in documents], dtype=np.float64),
            lengths=np.array([document.length for document in documents], dtype=np.float64),
            languages=np.array([document.language for document in documents], dtype=np.uint8),
            digests=b"".join(document.digest for document in documents),
        )

    def __len__(self) -> int:
        return len(self.sizes)

    def document(self, row: int) -> Document:
        """The document of a row."""
        places, words = self.places_of(row), slice(self.word_starts[row], self.word_starts[row + 1])
        return Document(
            digest=self.digest(row),
            stems=array("i", self.stems[places].tobytes()),
            shares=array("f", self.shares[places].tobytes()),
            pair_shares=array("f", self.pair_shares[places].tobytes()),
            words=array("i", self.words[words].tobytes()),
            size=int(self.sizes[row]),
            length=float(self.lengths[row]),
            language=int(self.languages[row]),
        )

    def digest(self, row: int) -> bytes:
        """The digest of a row's document."""
        return self.digests[DIGEST_BYTES * row : DIGEST_BYTES * (row + 1)]

    def places_of(self, row: int) -> slice:
        """Where the stems of a row stand."""
        return slice(int(self.starts[row]), int(self.starts[row + 1]))

    def stem_counts(self, stem: int) -> Counts:
        """The rows that hold a stem."""
        return self._by_row(self._places(stem))

    def pair_counts(self, first: int, second: int) -> Counts:
        """The rows in which one stem stands right before another."""
        places = self._places(first)
        if not len(places):
            return NOWHERE
        # Every document ends with NO_WORD, so that the next place is always there.
        return self._by_row(places[self.stems[places + 1] == second])

    def document_counts(self, total: int) -> Small:
        """For each stem number below `total` in how many rows it stands."""
        stems, owners = self.stems[self.order], self.owners[self.order]
        first = np.ones(len(stems), dtype=bool)
        first[1:] = (stems[1:] != stems[:-1]) | (owners[1:] != owners[:-1])
        return np.bincount(stems[first], minlength=total).astype(np.int32)

    def superposed(self, rows: Numbers, table: Values, pairs: tuple[Numbers, Values], base: int) -> Values:
        """For each of some rows the inner product of its weights with those of a superposition.

        table: weights by stem number. pairs: sorted codes first * base + second of pairs, and their weights; they
        count with PAIR_SHARE already in them.
        """
        counts = self.starts[rows + 1] - self.starts[rows]
        ends = np.cumsum(counts)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(
            self.starts[rows] - (ends - counts), counts
        )
        stems = self.stems[places].astype(np.intp)
        held = table[stems]
        products = held * self.shares[places]
        codes, weights = pairs
        if len(codes):
            both = np.flatnonzero((held[:-1] > 0) & (held[1:] > 0))
            wanted = stems[both] * base + stems[both + 1]
            found = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
            hits = codes[found] == wanted
            products[both[hits]] += weights[found[hits]] * self.pair_shares[places[both[hits]]]
        owners = np.repeat(np.arange(len(rows)), counts)
        return np.bincount(owners, weights=products, minlength=len(rows)).astype(np.float64)

    def _places(self, stem: int) -> Small:
        if not NO_WORD < stem < len(self._bounds) - 1:
            return self.order[:0]
        return self.order[self._bounds[stem] : self._bounds[stem + 1]]

    def _by_row(self, places: Small) -> Counts:
        if not len(places):
            return NOWHERE
        owners = self.owners[places].astype(np.intp)
        begins = owners[1:] != owners[:-1]
        # Most stems stand in a note once, and a query asks for dozens.
        if begins.all():
            return Counts(owners, np.ones(len(owners)))
        bounds = np.concatenate(([0], np.flatnonzero(begins) + 1, [len(owners)]))
        return Counts(owners[bounds[:-1]], (bounds[1:] - bounds[:-1]).astype(np.float64))


def rows_by_digest(segment: Segment) -> dict[bytes, list[int]]:
    """The rows of each digest; notes that say the same have a row each."""
    found: dict[bytes, list[int]] = {}
    for row in range(len(segment)):
        found.setdefault(segment.digest(row), []).append(row)
    return found


def _integers(arrays: Iterable[array[int]]) -> Small:
    return np.frombuffer(b"".join(arrays), dtype=np.int32)


def _floats(arrays: Iterable[array[float]]) -> Shares:
    return np.frombuffer(b"".join(arrays), dtype=np.float32)


def _starts(lengths: Iterable[int]) -> Numbers:
    return np.fromiter(accumulate(lengths, initial=0), dtype=np.intp)
