"""All documents of one snapshot at one moment: segments of arrays, rows, what is counted over them, and the words they
are written in; made of documents, and of the state before by what changed.
"""

from __future__ import annotations

import dataclasses
import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.model.note import Note
from core.search.documents import NO_WORD, Document, Reader, Vocabulary
from core.text.languages import LANGUAGES, Language, serves_grammar, stem_in

if TYPE_CHECKING:
    from core.search.query_syntax import QueryStem
    from core.search.terms import Meaning, Term


Numbers = NDArray[np.intp]
Small = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Shares = NDArray[np.float32]
Values = NDArray[np.float64]

DIGEST_BYTES: Final = 16
# So many places are counted in one go.
_BLOCK: Final = 1 << 18


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
        found: Small = np.zeros(total, dtype=np.int32)
        # Of a large memory all places at once would take more memory than anything else that an index is built of.
        for start in range(0, len(self.order), _BLOCK):
            # The place before tells whether the first one is of another row; it is counted already.
            places = self.order[max(start - 1, 0) : start + _BLOCK]
            stems, owners = self.stems[places], self.owners[places]
            first = np.full(len(places), not start)
            first[1:] = (stems[1:] != stems[:-1]) | (owners[1:] != owners[:-1])
            found += np.bincount(stems[first], minlength=total).astype(np.int32)
        return found

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
    mean: float = field(init=False)
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
        object.__setattr__(self, "mean", mean)
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

    def bm25_of(self, count: int, size: int) -> float:
        """The same for a text that is no note. size: its stems, repeats counted."""
        return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * size / self.mean))

    def scale_of(self, length: float) -> float:
        """What an inner product with the vector of a text that is no note is multiplied by; see `scales`."""
        return float((length or 1.0) ** -_LENGTH_POWER)

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


_OWN_SCOPES: Final = ("user", "self")
# Stands in rows that are no more.
_NO_NOTE: Final = Note(id="", nugget_name="", title="", content="")


def state_of(base: Segment, notes: Sequence[Note | None], reader: Reader) -> State:
    """The state of documents in one segment; `notes` are theirs, in the same order, None for rows that are no more."""
    rows: dict[str, int] = {}
    for row, note in enumerate(notes):
        if note is not None:
            rows.setdefault(note.id, row)
    alive = np.array([note is not None for note in notes], dtype=bool)
    counts = base.document_counts(len(reader.stems))
    word_counts = np.bincount(base.words, minlength=len(reader.words)).astype(np.int32)
    for row in np.flatnonzero(~alive).tolist():
        document = base.document(row)
        counts[_distinct(document)] -= 1
        word_counts[document.words] -= 1
    living = [note or _NO_NOTE for note in notes]
    hidden, durable, own, confidence = _flags(living)
    return State(
        notes=living,
        rows=rows,
        base=base,
        recent=Segment.of([]),
        alive=alive,
        hidden=hidden,
        durable=durable,
        own=own,
        confidence=confidence,
        counts=counts,
        stems=reader.stems,
        words=sorted(reader.words.names[number] for number in np.flatnonzero(word_counts)),
        word_counts=word_counts,
    )


def _flags(notes: Sequence[Note]) -> tuple[Mask, Mask, Mask, Values]:
    """For each note: hidden, durable, of a scope of one's own, and its confidence."""
    return (
        np.array([note.hidden for note in notes], dtype=bool),
        np.array([note.durable for note in notes], dtype=bool),
        np.array([note.scope in _OWN_SCOPES for note in notes], dtype=bool),
        np.array([_confidence(note) for note in notes], dtype=np.float64),
    )


def amended(
    state: State,
    recent: Sequence[Document],
    dead: Sequence[int],
    same: Sequence[tuple[Note, int]],
    fresh: Sequence[tuple[Note, Document]],
    reader: Reader,
) -> State:
    """The state after a change.

    recent: all documents beside the base, the last of them those of `fresh`, which get new rows. dead: rows that
    are no more. same: notes that changed in what is not read for search, with their rows.
    """
    more = [note for note, _ in fresh]
    notes = [*state.notes, *more]
    changed = [row for _, row in same]
    for note, row in same:
        notes[row] = note
    flags = []
    before = state.hidden, state.durable, state.own, state.confidence
    for values, of_same, of_more in zip(
        before, _flags([note for note, _ in same]), _flags(more), strict=True
    ):
        after = np.concatenate((values, of_more))
        after[changed] = of_same
        flags.append(after)
    hidden, durable, own, confidence = flags
    alive = np.append(state.alive, np.ones(len(fresh), dtype=bool))
    alive[list(dead)] = False
    rows = dict(state.rows)
    for row in dead:
        if rows.get(notes[row].id) == row:
            del rows[notes[row].id]
    for row, note in enumerate(more, len(state)):
        rows.setdefault(note.id, row)
    gone, come = [state.document(row) for row in dead], [document for _, document in fresh]
    word_counts = _recounted(
        state.word_counts, len(reader.words), [doc.words for doc in gone], [doc.words for doc in come]
    )
    return dataclasses.replace(
        state,
        notes=notes,
        rows=rows,
        recent=Segment.of(recent),
        alive=alive,
        hidden=hidden,
        durable=durable,
        own=own,
        confidence=confidence,
        counts=_recounted(
            state.counts, len(reader.stems), list(map(_distinct, gone)), list(map(_distinct, come))
        ),
        words=_words_after(state, word_counts, reader),
        word_counts=word_counts,
    )


def _recounted(
    before: Small, total: int, gone: Iterable[Sequence[int]], come: Iterable[Sequence[int]]
) -> Small:
    """Counts of numbers below `total` after documents with some distinct numbers are gone and others have come."""
    counts = np.zeros(total, dtype=np.int32)
    counts[: len(before)] = before
    for numbers in gone:
        counts[numbers] -= 1
    for numbers in come:
        counts[numbers] += 1
    return counts


def _words_after(state: State, word_counts: Small, reader: Reader) -> Sequence[str]:
    """The sorted words of living rows, from those of the state before."""
    before = np.zeros(len(word_counts), dtype=bool)
    before[: len(state.word_counts)] = state.word_counts > 0
    after = word_counts > 0
    names = reader.words.names
    gone = {names[number] for number in np.flatnonzero(before & ~after)}
    come = [names[number] for number in np.flatnonzero(after & ~before)]
    if not gone and not come:
        return state.words
    return sorted([*(word for word in state.words if word not in gone), *come])


def _distinct(document: Document) -> list[int]:
    return [number for number in set(document.stems) if number != NO_WORD]


def _confidence(note: Note) -> float:
    """A number of a file as a share in [0, 1]; what is no number counts as nothing."""
    value = note.confidence
    return min(max(value, 0.0), 1.0) if value == value else 0.0
