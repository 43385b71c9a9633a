"""All documents of one snapshot as flat arrays, so that one pass over them scores every note."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.model.note import Note
from core.search.documents import NO_WORD, Document, Reader

Numbers = NDArray[np.intp]
Values = NDArray[np.float64]
Mask = NDArray[np.bool_]

_PLAIN: Final = 1
_TELLING: Final = 2
_TINY: Final = 1e-300
# Below this share of the notes it is quicker to look into each than to run through the text of all.
_FEW: Final = 0.25


class State:
    """Notes with their documents at one moment. Nothing in it changes; queries may share it between threads.

    All arrays over notes have the length and order of `notes`.
    """

    def __init__(self, notes: Sequence[Note], documents: Sequence[Document], reader: Reader) -> None:
        self.notes = tuple(notes)
        self.documents = tuple(documents)
        self.stem_names, self._token_names, self._word_names = reader.stems, reader.tokens, reader.words
        self._stem_total, self._token_total = len(reader.stems), len(reader.tokens)
        self._stems = _flat([document.stems for document in documents])
        self._stem_starts = _starts(len(document.stems) for document in documents)
        self._tokens = _flat([document.tokens for document in documents])
        self._token_starts = _starts(len(document.tokens) for document in documents)
        counts = _flat([document.counts for document in documents])
        self._weights = _frequency_weights(counts)
        squares = np.add.reduceat(self._weights**2, self._stem_starts) if documents else self._weights
        self.lengths: Values = np.sqrt(squares)
        self.document_counts = np.bincount(self._stems, minlength=self._stem_total)
        self.hidden: Mask = np.array([note.hidden for note in notes], dtype=bool)
        self.durable: Mask = np.array([note.durable for note in notes], dtype=bool)
        self.own: Mask = np.array([note.scope in ("user", "self") for note in notes], dtype=bool)
        self.confidence: Values = np.array([_share(note.confidence) for note in notes], dtype=np.float64)
        self._haystack_starts = list(accumulate((len(d.haystack) + 1 for d in documents), initial=0))
        self._haystacks = "\n" + "\n".join(document.haystack for document in documents)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each note by id; of several with one id, the first."""
        found: dict[str, int] = {}
        for place, note in enumerate(self.notes):
            found.setdefault(note.id, place)
        return found

    @cached_property
    def preference(self) -> NDArray[np.intp]:
        """The order among equals: the note that was changed last comes first, then the smaller id."""
        order = sorted(range(len(self.notes)), key=lambda place: self.notes[place].id)
        order.sort(key=lambda place: self.notes[place].updated_at, reverse=True)
        found = np.empty(len(order), dtype=np.intp)
        found[order] = np.arange(len(order))
        return found

    @cached_property
    def words(self) -> list[str]:
        """All words that carry meaning and stand in a note, folded, sorted."""
        numbers = np.unique(_flat([document.words for document in self.documents]))
        return sorted(self._word_names.names[number] for number in numbers)

    def rarity(self, stem: str) -> float:
        """Inverse document frequency ln(1 + (N - n + 0.5) / (n + 0.5)), as BM25 has it (Robertson, Zaragoza 2009)."""
        count = self.document_count(stem)
        return math.log(1.0 + (len(self.notes) - count + 0.5) / (count + 0.5))

    def document_count(self, stem: str) -> int:
        """How many notes hold a stem."""
        number = self.stem_names.number(stem)
        return int(self.document_counts[number]) if NO_WORD < number < self._stem_total else 0

    def stems_of(self, place: int) -> tuple[Numbers, Values]:
        """Numbers and weights of the stems of one note."""
        start, end = self._stem_starts[place], self._stem_starts[place] + len(self.documents[place].stems)
        return self._stems[start:end], self._weights[start:end]

    def expected_cosines(self, query: Mapping[str, float]) -> Values:
        """The cosine of the weights of a query with those of each note.

        It is the expectation of the cosine of their phase vectors, which adds the noise of chance.
        """
        table = np.zeros(self._stem_total)
        for stem, weight in query.items():
            table[self._known(self.stem_names.number(stem), self._stem_total)] = weight
        table[NO_WORD] = 0.0
        entries = np.flatnonzero((table != 0)[self._stems])
        notes = np.searchsorted(self._stem_starts, entries, side="right") - 1
        products = table[self._stems[entries]] * self._weights[entries]
        length = math.sqrt(sum(weight * weight for weight in query.values()))
        found = np.bincount(notes, weights=products, minlength=len(self.notes))
        return found / np.maximum(self.lengths * length, _TINY)

    def token_shares(self, tokens: Sequence[str], telling: frozenset[str]) -> tuple[Values, Mask]:
        """For each note the share of the tokens that it holds, and whether a telling one is among them."""
        table = np.zeros(self._token_total, dtype=np.int8)
        for token in tokens:
            place = self._known(self._token_names.number(token), self._token_total)
            table[place] = _TELLING if token in telling else _PLAIN
        table[NO_WORD] = 0
        values = table[self._tokens]
        entries = np.flatnonzero(values > 0)
        notes = np.searchsorted(self._token_starts, entries, side="right") - 1
        told = np.zeros(len(self.notes), dtype=bool)
        told[notes[values[entries] == _TELLING]] = True
        return np.bincount(notes, minlength=len(self.notes)) / max(len(tokens), 1), told

    @staticmethod
    def _known(number: int, total: int) -> int:
        """A word's number, NO_WORD for one that came after this state was made."""
        return number if number < total else NO_WORD

    def with_phrase(self, needles: Sequence[str], among: Mask | None = None) -> Mask:
        """For each note whether one of the needles stands in its haystack. among: look in these notes alone."""
        found = np.zeros(len(self.notes), dtype=bool)
        if among is not None and among.sum() < _FEW * len(self.notes):
            for place in np.flatnonzero(among).tolist():
                haystack = "\n" + self.documents[place].haystack
                found[place] = any(needle in haystack for needle in needles)
            return found
        for needle in needles:
            start = self._haystacks.find(needle)
            while start >= 0:
                # A needle may begin at the line break before a note's first line.
                place = bisect_right(self._haystack_starts, start) - 1
                found[place] = True
                start = self._haystacks.find(needle, self._haystack_starts[place + 1])
        return found if among is None else found & among


def _flat(arrays: Sequence[array[int]]) -> Numbers:
    return np.frombuffer(b"".join(arrays), dtype=np.intc).astype(np.intp)


def _starts(lengths: Iterable[int]) -> Numbers:
    return np.fromiter(accumulate(lengths, initial=0), dtype=np.intp)[:-1]


def _frequency_weights(counts: Numbers) -> Values:
    """1 + ln(count) for each count, 0 for a count of 0."""
    weights = np.zeros(int(counts.max(initial=0)) + 1)
    weights[1:] = 1.0 + np.log(np.arange(1, len(weights)))
    return np.asarray(weights[counts])


def _share(value: float) -> float:
    """A number of a file as a share in [0, 1]; what is no number counts as nothing."""
    return min(max(value, 0.0), 1.0) if value == value else 0.0
