"""All documents of one snapshot at one moment, as arrays: which rows hold a stem or a pair, and how often.

The same arrays are what is kept of them in a file. That holds no note, only what was read from notes; which note a row
belongs to is found by the digest of what it says now.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.model.note import Note
from core.search.documents import NO_WORD, Document, Reader, weight
from core.text.languages import LANGUAGES, Language, serves_grammar, stem_in

if TYPE_CHECKING:
    from core.search.query_syntax import QueryStem
    from core.search.terms import Term

Numbers = NDArray[np.intp]
Small = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
Blocks: TypeAlias = Mapping[str, "bytes | memoryview"]

DIGEST_BYTES: Final = 16
# Of stems and pairs that queries ask for, so many are kept as they were found.
_MOST_HELD: Final = 1024
# BM25's saturation of repeats and its share of length normalisation, as Anserini has them for short texts (Yang, Fang,
# Lin 2018).
_K1: Final = 0.9
_B: Final = 0.4
# The size of a note is divided out to this power: by its whole length, the root, short notes win too easily (measured).
_SIZE_POWER: Final = 0.3
_OWN_SCOPES: Final = ("user", "self")
# Stands in rows that are no more.
NO_NOTE: Final = Note(id="", nugget_name="", title="", content="")


class Counts(NamedTuple):
    """Rows in rising order, and how often something stands in each of them."""

    rows: Numbers
    counts: Values


NOWHERE: Final = Counts(np.zeros(0, dtype=np.intp), np.zeros(0))


class Segment:
    """The documents of some rows, read-only. Arrays over places follow one another document by document.

    words, stems: as of a document. starts: where each document begins, and where the last one ends. languages: of each
    document. digests: of all, one after the other. sizes: stems of each, repeats counted.
    """

    def __init__(self, words: Small, stems: Small, starts: Small, languages: Bytes, digests: bytes) -> None:
        self.words, self.stems, self.starts = words, stems, starts
        self.languages, self.digests = languages, digests
        self.owners: Small = np.repeat(np.arange(len(languages), dtype=np.int32), np.diff(starts))
        self.sizes: Values = np.bincount(self.owners[stems != NO_WORD], minlength=len(languages)).astype(
            float
        )
        self._order: Small = np.argsort(stems, kind="stable").astype(np.int32)
        self._bounds = np.concatenate(([0], np.cumsum(np.bincount(stems))))

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Segment:
        """The segment of some documents, in their order."""
        return cls(
            words=np.frombuffer(b"".join(document.words for document in documents), dtype=np.int32),
            stems=np.frombuffer(b"".join(document.stems for document in documents), dtype=np.int32),
            starts=np.array([*accumulate((len(one.stems) for one in documents), initial=0)], dtype=np.int32),
            languages=np.array([document.language for document in documents], dtype=np.uint8),
            digests=b"".join(document.digest for document in documents),
        )

    def __len__(self) -> int:
        return len(self.languages)

    def document(self, row: int) -> Document:
        """The document of a row."""
        places = slice(self.starts[row], self.starts[row + 1])
        return Document(
            self.digest(row),
            array("i", self.words[places].tobytes()),
            array("i", self.stems[places].tobytes()),
            int(self.languages[row]),
        )

    def digest(self, row: int) -> bytes:
        """The digest of a row's document."""
        return self.digests[DIGEST_BYTES * row : DIGEST_BYTES * (row + 1)]

    def counts(self, stem: int, following: int = NO_WORD) -> Counts:
        """The rows that hold a stem, or in which it stands right before another."""
        known = NO_WORD < stem < len(self._bounds) - 1
        places = self._order[self._bounds[stem] : self._bounds[stem + 1]] if known else self._order[:0]
        if following != NO_WORD:
            # Every document ends with NO_WORD, so that the next place is always there.
            places = places[self.stems[places + 1] == following]
        if not len(places):
            return NOWHERE
        owners = self.owners[places].astype(np.intp)
        begins = np.flatnonzero(owners[1:] != owners[:-1]) + 1
        bounds = np.concatenate(([0], begins, [len(owners)]))
        return Counts(owners[bounds[:-1]], (bounds[1:] - bounds[:-1]).astype(np.float64))


class State:
    """Notes with their documents at one moment. Nothing in it changes; queries may share it between threads.

    A note has a row; rows of notes that are gone or were read anew are no longer `alive`. Arrays over rows have the
    length of `notes`: first the rows of the `base`, then those of the `recent` documents. rows: of notes, by id. total:
    living rows, at least 1. languages: other than English that a living row is in.
    """

    def __init__(self, base: Segment, recent: Segment, notes: Sequence[Note], reader: Reader) -> None:
        self.base, self.recent, self.notes = base, recent, notes
        self.stems, self._vocabulary = reader.stems, reader.words
        self.alive: Mask = np.array([note is not NO_NOTE for note in notes], dtype=bool)
        self.rows = {note.id: row for row, note in enumerate(notes) if note is not NO_NOTE}
        self.hidden: Mask = np.array([note.hidden for note in notes], dtype=bool)
        self.total = max(len(self.rows), 1)
        sizes = np.concatenate((base.sizes, recent.sizes))
        self._mean = max(float(sizes[self.alive].sum()) / self.total, 1e-9)
        # What a count is weighed against in BM25, and what an inner product with a note's vector is multiplied by.
        self._saturation = _K1 * (1 - _B + _B * sizes / self._mean)
        self.scales: Values = np.maximum(sizes, 1.0) ** -_SIZE_POWER
        spoken = np.bincount(np.concatenate((base.languages, recent.languages))[self.alive], minlength=1)
        self.languages: tuple[Language, ...] = tuple(LANGUAGES[one] for one in np.flatnonzero(spoken) if one)
        # What queries ask for again; see `core.search.terms.terms`.
        self.terms: dict[tuple[QueryStem, bool], Term] = {}
        self._held: dict[tuple[int, int], Counts] = {}

    def __len__(self) -> int:
        return len(self.notes)

    # What is counted when it is first asked for

    @cached_property
    def words(self) -> Sequence[str]:
        """The words of living rows, sorted."""
        used = np.zeros(len(self._vocabulary), dtype=bool)
        edge = len(self.base)
        for segment, alive in ((self.base, self.alive[:edge]), (self.recent, self.alive[edge:])):
            used[segment.words if alive.all() else segment.words[alive[segment.owners]]] = True
        used[NO_WORD] = False
        return sorted(self._vocabulary.names[number] for number in np.flatnonzero(used))

    @cached_property
    def durable(self) -> Mask:
        """Which notes are durable."""
        return np.array([note.durable for note in self.notes], dtype=bool)

    @cached_property
    def own(self) -> Mask:
        """Which notes are about the person or the assistant."""
        return np.array([note.scope in _OWN_SCOPES for note in self.notes], dtype=bool)

    @cached_property
    def confidence(self) -> Values:
        """The confidence of each note, in [0, 1]; what is no number in a file counts as nothing."""
        values = np.array([note.confidence for note in self.notes], dtype=np.float64)
        return np.clip(np.nan_to_num(values), 0.0, 1.0)

    # Words

    def count(self, stem: str) -> int:
        """How many notes hold a stem."""
        return len(self.holding(stem).rows)

    def stems_of(self, word: str) -> tuple[str, ...]:
        """The stems under which notes may hold a folded word, one for each language of theirs."""
        others = [stem_in(word, one) for one in self.languages if not serves_grammar(word, (one,))]
        return tuple(dict.fromkeys([stem_in(word, "english"), *others]))

    def knows(self, word: str) -> bool:
        """Whether a note holds a folded word in any form."""
        return any(map(self.count, self.stems_of(word)))

    def rarity(self, count: int) -> float:
        """Inverse document frequency ln(1 + (N - n + 0.5) / (n + 0.5)) of what n of N notes hold, as BM25 has it."""
        return math.log(1.0 + (self.total - min(count, self.total) + 0.5) / (count + 0.5))

    def holding(self, stem: str) -> Counts:
        """The living rows that hold a stem, and how often."""
        return self._living(self.stems.number(stem))

    def holding_pair(self, first: str, second: str) -> Counts:
        """The living rows in which one stem stands right before another, and how often."""
        pair = self.stems.number(first), self.stems.number(second)
        return NOWHERE if NO_WORD in pair else self._living(*pair)

    def _living(self, stem: int, following: int = NO_WORD) -> Counts:
        found = self._held.get((stem, following))
        if found is None:
            base, recent = self.base.counts(stem, following), self.recent.counts(stem, following)
            rows = np.concatenate((base.rows, recent.rows + len(self.base)))
            counts = np.concatenate((base.counts, recent.counts))
            kept = self.alive[rows]
            found = Counts(rows, counts) if kept.all() else Counts(rows[kept], counts[kept])
            if len(self._held) >= _MOST_HELD:
                self._held.clear()
            self._held[stem, following] = found
        return found

    # Rows

    def preferred(self, rows: Iterable[int]) -> list[int]:
        """Rows in the order of equals in a ranking: notes changed last first, then by id."""
        notes = self.notes
        ordered = sorted(rows, key=lambda row: (notes[row].id, notes[row].title, notes[row].content))
        ordered.sort(key=lambda row: notes[row].updated_at, reverse=True)
        return ordered

    def document(self, row: int) -> Document:
        """The document of a row."""
        edge = len(self.base)
        return self.base.document(row) if row < edge else self.recent.document(row - edge)

    def language(self, row: int) -> Language:
        """The language of a row's note."""
        return LANGUAGES[self.document(row).language]

    def bm25(self, found: Counts) -> Values:
        """BM25 of one stem for the rows that hold it, without its rarity."""
        return np.asarray(found.counts * (_K1 + 1) / (found.counts + self._saturation[found.rows]))

    def bm25_of(self, count: int, size: int) -> float:
        """The same for a text that is no note. size: its stems, repeats counted."""
        return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * size / self._mean))

    def segment(self) -> Segment:
        """All living documents."""
        if not len(self.recent) and self.alive.all():
            return self.base
        return Segment.of([self.document(row) for row in np.flatnonzero(self.alive).tolist()])


def scale_of(size: int) -> float:
    """What an inner product with the vector of a text that is no note is multiplied by; see `State.scales`."""
    return float(max(size, 1) ** -_SIZE_POWER)


def stem_weights(document: Document) -> dict[int, float]:
    """The weight of each stem number in a note's vector: 1 + ln(count)."""
    return {stem: weight(count) for stem, count in Counter(document.stems).items() if stem}


def pair_weights(document: Document) -> dict[tuple[int, int], float]:
    """The weight of each pair of neighbouring stems before PAIR_SHARE: 1 + ln(count)."""
    pairs = Counter(pair for pair in pairwise(document.stems) if all(pair))
    return {pair: weight(count) for pair, count in pairs.items()}


# What is kept in a file

_SEPARATOR: Final = "\n"


def blocks_of(state: State, reader: Reader) -> dict[str, bytes | memoryview]:
    """What is kept of a state: its living documents."""
    segment = state.segment()
    words, word_names = _compact(segment.words, reader.words.names)
    stems, stem_names = _compact(segment.stems, reader.stems.names)
    return {
        "words": words.tobytes(),
        "stems": stems.tobytes(),
        "starts": segment.starts.tobytes(),
        "languages": segment.languages.tobytes(),
        "digests": segment.digests,
        "word_names": word_names,
        "stem_names": stem_names,
    }


def _compact(numbers: Small, names: Sequence[str]) -> tuple[Small, bytes]:
    """Numbers of some names as those of the ones that stand there alone, and these; a name that is gone is not kept."""
    used = np.union1d(numbers, [NO_WORD])
    kept = _SEPARATOR.join(names[number] for number in used[1:])
    return np.searchsorted(used, numbers).astype(np.int32), kept.encode("utf-8", "surrogatepass")


def documents_in(blocks: Blocks) -> tuple[Segment, Reader]:
    """The documents of `blocks_of`, and a reader that goes on from them. Whoever kept the blocks answers for them."""
    words, stems, starts = (
        np.frombuffer(blocks[name], dtype=np.int32) for name in ("words", "stems", "starts")
    )
    languages = np.frombuffer(blocks["languages"], dtype=np.uint8)
    word_names, stem_names = (
        bytes(blocks[name]).decode("utf-8", "surrogatepass").split(_SEPARATOR)
        for name in ("word_names", "stem_names")
    )
    return Segment(words, stems, starts, languages, bytes(blocks["digests"])), Reader(word_names, stem_names)
