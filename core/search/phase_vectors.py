"""Phase vectors of words, notes and queries: keys as bit planes, a note as sign bits, cosines by counting bits.

The key of a stem has D phases, each one of 45, 135, 225 and 315 degrees: a Fourier holographic key over the cyclic
group of four (the modular composite representation of Snaider and Franklin, 2014, with r = 4), turned by 45
degrees, so that a phase is a sign of its real and a sign of its imaginary part. A key, and a note's vector, is
a row of two bit planes of D bits, real plane first, in words of 64; a set bit is a minus, bits beyond D are 0.
As 2 D real components a key is +1 and -1 everywhere; unrelated keys are orthogonal but for chance.

A note's vector x is a weighted superposition of keys, of which only the signs s are kept. For a query vector q,

    cos(q, x)  is estimated by  cos(q, s) / cos(s, x)  (as RaBitQ does: Gao and Long, 2024)

where cos(s, x) is stored with the signs: the fidelity of the row. Why the quotient fits: let c_i be the mean
product of a component of s and of the key k_i. For equal weights all c_i are equal, else c_i = c w_i as long as
the sum of the other keys is spread evenly from -w_i to w_i. With |x|^2 = the sum of w_i^2 (lengths are those
expected, for one component) cos(s, x) = c |x| and cos(q, s) = the sum of v_i c w_i / |q|. Their quotient is the
sum of v_i w_i / (|q| |x|), the cosine of the two lists of weights, whatever c is.

In a note of few words of different weight the sum is not spread evenly: of keys weighing 3, 1 and 0.5 the signs
show the first alone. So they are the signs of x + a dither, even between -A and A, which also decides ties.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from core.search.documents import PAIR_SHARE
from core.search.scorers import VectorScores, pair_weights, stem_weights
from core.search.state import Numbers, State, Values

_WORD: Final = 64
# 1,024 keys at D = 16,384: words that most notes use. Drawing the others again costs a tenth of making the vectors.
_KEPT_BYTES: Final = 4 * 2**20
# A in units of the heaviest weight. Measured at D = 16,384 on notes of 1 to 200 words of Zipf-like counts with their
# pairs: the whole error is that of the noise, which is 1.6 times that of bare signs for 5 words, 1.15 times for 60.
_DITHER: Final = 3.0
# What is worked on at a time stays in the processor's cache.
_BYTES_AT_ONCE: Final = 2**19
# Of the query. The error they make is a hundredth of the noise.
_BIT_PLANES: Final = 8
_STEPS: Final = 2**_BIT_PLANES - 1
# cos(s, x) for the signs of a normally distributed x.
_FIDELITY: Final = math.sqrt(2.0 / math.pi)


class Keys:
    """Keys of stems for one dimension, the recently used ones kept. Safe to use from several threads.

    BLAKE2b of the whole stem seeds Philox, so that equal stems have equal keys everywhere and any difference,
    wherever it stands in the word, gives an unrelated one.
    """

    def __init__(self, dimension: int, kept_bytes: int = _KEPT_BYTES) -> None:
        """dimension: phases of a vector, at least 1. kept_bytes: of keys, one is kept in any case."""
        self.dimension = dimension
        self.words = words_of(dimension)
        self._kept = max(1, kept_bytes // (8 * self.words))
        self._made: OrderedDict[str, NDArray[np.uint64]] = OrderedDict()
        self._guard = threading.Lock()
        # Resetting the state of one generator costs a sixth of creating one.
        self._philox = np.random.Philox(key=0)
        self._start = self._philox.state
        self._used = _used_bits(dimension)

    def rows(self, stems: Sequence[str]) -> NDArray[np.uint64]:
        """The keys of stems, shape (len(stems), 2 ceil(D / 64))."""
        found = []
        with self._guard:
            for stem in stems:
                key = self._made.get(stem)
                if key is None:
                    seed = stem.encode("utf-8", "surrogatepass")
                    key = self._made[stem] = self._drawn(seed, b"", self.words) & self._used
                    if len(self._made) > self._kept:
                        self._made.popitem(last=False)
                else:
                    self._made.move_to_end(stem)
                found.append(key)
        return (
            np.concatenate(found).reshape(-1, self.words) if found else np.empty((0, self.words), np.uint64)
        )

    def pair_rows(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.uint64]:
        """The keys of ordered pairs of neighbouring stems, shape (len(pairs), 2 ceil(D / 64)).

        The first is shifted before it is bound to the second, so that a pair and its reverse are unrelated.
        """
        places = {
            stem: place for place, stem in enumerate(dict.fromkeys(stem for pair in pairs for stem in pair))
        }
        rows = self.rows(list(places))
        first = rows[[places[stem] for stem, _ in pairs]]
        second = rows[[places[stem] for _, stem in pairs]]
        return bind(shift(first, self.dimension), second)

    def dither(self, seed: bytes, purpose: bytes = b"dither") -> NDArray[np.float32]:
        """Evenly distributed numbers in (-1, 1), shape (2 D,).

        The same for the same seed and purpose (at most 16 bytes), related to no other and to no key.
        """
        with self._guard:
            drawn = self._drawn(seed, purpose, -(-2 * self.dimension // 4))
        steps = drawn.astype("<u8", copy=False).view("<u2")[: 2 * self.dimension]
        # The odd multiples of 2^-16, so that they are even around 0.
        return steps * np.float32(2.0**-15) + np.float32(2.0**-16 - 1.0)

    def _drawn(self, seed: bytes, purpose: bytes, size: int) -> NDArray[np.uint64]:
        digest = hashlib.blake2b(seed, digest_size=16, person=purpose).digest()
        self._start["state"]["key"] = np.frombuffer(digest, dtype="<u8").astype(np.uint64)
        self._philox.state = self._start
        return np.asarray(self._philox.random_raw(size), dtype=np.uint64)


class QueryVector:
    """A weighted superposition of keys to compare notes with, its components rounded to 8 bits.

    A component is step / 2 x the sum over bits b of 2^b x (+1 or -1), so that the inner product with the signs of
    a note is a count of differing bits for each of 8 bit planes.
    """

    def __init__(
        self, keys: Keys, stems: Mapping[str, float], pairs: Mapping[tuple[str, str], float]
    ) -> None:
        """stems, pairs: weights of their keys. No keys, or none but of weight 0: all cosines are 0."""
        self._components = 2 * keys.dimension
        self._length = length_of(stems, pairs)
        vector = _superposed(keys, stems, pairs)
        self._step = 2.0 * float(np.abs(vector).max()) / _STEPS
        if self._step:
            exact = vector / np.float32(self._step) + np.float32(_STEPS / 2)
            # Rounded by chance: of few different sums each would be off the same way wherever it stands.
            chance = keys.dither(b"", b"rounding") / 2
            levels: NDArray[np.uint8] = np.rint(exact + chance).astype(np.uint8)
            # As in a row a set bit is a minus: where the bit of the level is 0.
            self._planes = [
                _packed_bits((levels & np.uint8(1 << bit)) == 0, keys.dimension) for bit in range(_BIT_PLANES)
            ]

    def cosines(self, rows: NDArray[np.uint64], fidelities: NDArray[np.floating]) -> NDArray[np.float64]:
        """Estimates of the cosine with each note, shape (n,); rows: shape (n, 2 ceil(D / 64)), fidelities: (n,).

        They are not cut to [-1, 1]: one may be beyond by its noise, and cutting that would make a bias of it.
        Cut what is shown to a person. A row whose fidelity is no number above 0 (an empty note) gives 0.
        """
        found = np.zeros(len(rows))
        if not self._step or not self._length:
            return found
        at_once = max(1, _BYTES_AT_ONCE // (8 * rows.shape[1]))
        for start in range(0, len(rows), at_once):
            some = rows[start : start + at_once]
            for bit, plane in enumerate(self._planes):
                differing = np.bitwise_count(some ^ plane).sum(axis=1, dtype=np.uint32)
                found[start : start + at_once] += float(1 << bit) * differing
        products = 0.5 * self._step * (_STEPS * self._components - 2.0 * found)
        readable = np.isfinite(fidelities) & (fidelities > 0.0)
        divisor = np.where(readable, fidelities, 1.0) * (self._components * self._length)
        return np.where(readable, products / divisor, 0.0)


def note_vector(
    keys: Keys, stems: Mapping[str, float], pairs: Mapping[tuple[str, str], float], tie: bytes
) -> tuple[NDArray[np.uint64], float]:
    """Sign bits of the superposition of weighted keys, shape (2 ceil(D / 64),), and their fidelity in [0, 1].

    tie: bytes that the note's content decides; they seed the dither. An empty note has no minus and fidelity 0.
    """
    weights = [*map(abs, stems.values()), *map(abs, pairs.values())]
    total = math.fsum(weights)
    if not total:
        return np.zeros(keys.words, dtype=np.uint64), 0.0
    vector = _superposed(keys, stems, pairs)
    # No sum is beyond the total: with A so wide the signs are exact in expectation for any weights.
    dithered = keys.dither(tie)
    dithered *= np.float32(min(total, _DITHER * max(weights)))
    dithered += vector
    minus = dithered < 0.0
    product = float(np.where(minus, -vector, vector).sum(dtype=np.float64))
    fidelity = product / (2 * keys.dimension * length_of(stems, pairs))
    return _packed_bits(minus, keys.dimension), min(1.0, max(0.0, fidelity))


def length_of(stems: Mapping[str, float], pairs: Mapping[tuple[str, str], float]) -> float:
    """The expected length of a superposition, the root of its squared weights, a component or phase each."""
    return math.sqrt(math.fsum(weight * weight for some in (stems, pairs) for weight in some.values()))


def noise(dimension: int, fidelity: float = _FIDELITY) -> float:
    """Standard deviation of the estimated cosine of a query with an unrelated note.

    A component of q times a sign has variance |q|^2, so that the mean over 2 D of them, by |q| and the fidelity,
    deviates by 1 / (fidelity sqrt(2 D)). Without a fidelity: that of a long note.
    """
    return 1.0 / (fidelity * math.sqrt(2.0 * dimension))


def words_of(dimension: int) -> int:
    """Words of 64 bits in a row of two planes."""
    return 2 * -(-dimension // _WORD)


def row_bytes(dimension: int) -> int:
    """Bytes of a note on disk: its words, then the fidelity as a 32-bit float and four zero bytes."""
    return 8 * (words_of(dimension) + 1)


def packed(bits: NDArray[np.uint64], fidelity: float) -> bytes:
    """A note's vector as it is kept on disk, little-endian on every machine."""
    return bits.astype("<u8", copy=False).tobytes() + np.array([fidelity, 0.0], dtype="<f4").tobytes()


def unpacked(
    stored: bytes | bytearray | memoryview, dimension: int
) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
    """Packed rows as (n, 2 ceil(D / 64)) words, not copied, and (n,) fidelities.

    Raises ValueError when they are not whole rows of this dimension.
    """
    rows = np.frombuffer(stored, dtype="<u8").reshape(-1, words_of(dimension) + 1)
    fidelities = np.ascontiguousarray(rows[:, -1:]).view("<f4")[:, 0]
    return rows[:, :-1].astype(np.uint64, copy=False), fidelities.astype(np.float32)


def bind(keys: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Phases added: the complex products, turned back by 45 degrees so that they are keys. Any shape (..., words).

    A phase n quarter turns above 45 degrees has the bits imaginary x 2 + (imaginary xor real) = n.
    """
    half = keys.shape[-1] // 2
    real, imaginary = keys[..., :half], keys[..., half:]
    other_real, other_imaginary = others[..., :half], others[..., half:]
    low, other_low = real ^ imaginary, other_real ^ other_imaginary
    high = imaginary ^ other_imaginary ^ (low & other_low)
    return np.concatenate([high ^ low ^ other_low, high], axis=-1)


def unbind(keys: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Phases subtracted: `unbind(bind(a, b), b)` is a."""
    half = others.shape[-1] // 2
    # From n to -n quarter turns above 45 degrees: the real part and the imaginary change places.
    return bind(keys, np.concatenate([others[..., half:], others[..., :half]], axis=-1))


def shift(keys: NDArray[np.uint64], dimension: int) -> NDArray[np.uint64]:
    """The phases of each key moved on in a circle: by a whole word where that is a shift, else by one phase."""
    planes = keys.reshape(*keys.shape[:-1], 2, keys.shape[-1] // 2)
    if dimension % _WORD == 0 and dimension > _WORD:
        return np.roll(planes, 1, axis=-1).reshape(keys.shape)
    one, top = np.uint64(1), np.uint64((dimension - 1) % _WORD)
    moved = planes << one
    moved[..., 1:] |= planes[..., :-1] >> np.uint64(_WORD - 1)
    moved[..., 0] |= (planes[..., -1] >> top) & one
    return moved.reshape(keys.shape) & _used_bits(dimension)


def superposition(
    rows: NDArray[np.uint64], weights: NDArray[np.float64], dimension: int
) -> NDArray[np.complex128]:
    """The weighted sum of keys as phasors of length 1, shape (D,): to look at a vector, not to compare two."""
    signs = 1.0 - 2.0 * _unpacked_bits(rows, dimension)
    summed = (weights @ signs).reshape(2, dimension) / math.sqrt(2.0)
    return np.asarray(summed[0] + 1j * summed[1], dtype=np.complex128)


def _superposed(
    keys: Keys, stems: Mapping[str, float], pairs: Mapping[tuple[str, str], float]
) -> NDArray[np.float32]:
    """The weighted sum of the keys as +1 and -1, shape (2 D,), the same whatever the order of the keys."""
    weights = np.array([*stems.values(), *pairs.values()])
    rows = np.concatenate([keys.rows(list(stems)), keys.pair_rows(list(pairs))])
    found = np.full(2 * keys.dimension, math.fsum(weights), dtype=np.float32)
    # Counts of words repeat, so that there are few different weights, and bits are counted faster than floats added.
    different, kind = np.unique(weights, return_inverse=True)
    weighted = np.empty_like(found)
    for place, weight in enumerate(different):
        for power, plane in enumerate(_counters(rows[kind == place])):
            bits = _unpacked_bits(plane, keys.dimension)[0]
            found -= np.multiply(bits, np.float32(2.0 * weight * 2**power), out=weighted)
    return found


def _counters(rows: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
    """How many of the rows have each bit set, as binary digits, lowest first, each a row of its own (1, words).

    A tree of full adders: three rows of one digit become their sum in that digit and a carry in the next.
    """
    digits = []
    while len(rows):
        carries = []
        while len(rows) > 1:
            third = max(1, len(rows) // 3)
            one, two, three = rows[:third], rows[third : 2 * third], rows[2 * third : 3 * third]
            either = one ^ two
            if len(three):
                carries.append((one & two) | (either & three))
                either ^= three
            else:
                carries.append(one & two)
            rows = np.concatenate([either, rows[3 * third :]])
        digits.append(rows)
        rows = np.concatenate(carries) if carries else rows[:0]
    return digits


def _unpacked_bits(rows: NDArray[np.uint64], dimension: int) -> NDArray[np.uint8]:
    """The bits of rows (n, words), shape (n, 2 D)."""
    stored = np.ascontiguousarray(rows, dtype="<u8").view(np.uint8)
    bits = np.unpackbits(stored.reshape(2 * len(rows), -1), axis=1, bitorder="little")
    return bits[:, :dimension].reshape(len(rows), 2 * dimension)


def _packed_bits(bits: NDArray[np.bool_], dimension: int) -> NDArray[np.uint64]:
    """Bits (2 D,) as a row."""
    planes = bits.reshape(2, dimension)
    if dimension % _WORD:
        planes = np.pad(planes, ((0, 0), (0, -dimension % _WORD)))
    return np.packbits(planes.reshape(-1), bitorder="little").view("<u8").astype(np.uint64, copy=False)


def _used_bits(dimension: int) -> NDArray[np.uint64]:
    """A row with every bit set that stands for a phase."""
    return _packed_bits(np.ones(2 * dimension, dtype=np.bool_), dimension)


# A note of so many different stems has no vector: its words would drown in one another's noise.
_MOST_STEMS: Final = 2048
# Vectors are made ahead for so many notes, those changed last; of others when they were hits.
_MADE_AHEAD: Final = 20_000
_WANTED: Final = 256
_BATCH: Final = 64


class StoredVectors(Protocol):
    """Finished vectors at one moment: the number of each digest's row, and all rows one after the other. listed: the
    digests, those too whose row turns out to be damaged once it is read.
    """

    @property
    def numbers(self) -> Mapping[bytes, int]: ...
    @property
    def listed(self) -> Collection[bytes]: ...
    @property
    def matrix(self) -> memoryview: ...


class VectorRows(Protocol):
    """Where finished vectors are kept beyond the process."""

    @property
    def rows(self) -> StoredVectors:
        """What is there now."""

    def append(self, digests: Sequence[bytes], rows: bytes) -> bool:
        """Keeps rows; whether that was done."""

    def prune(self, live: Collection[bytes]) -> bool:
        """Drops rows of other digests when they are many."""


class OnlyRead:
    """Rows that somebody else keeps: read here, and left as they are."""

    def __init__(self, kept: VectorRows) -> None:
        self._kept = kept

    @property
    def rows(self) -> StoredVectors:
        """What is there now."""
        return self._kept.rows

    def append(self, digests: Sequence[bytes], rows: bytes) -> bool:
        """Keeps nothing."""
        return False

    def prune(self, live: Collection[bytes]) -> bool:
        """Drops nothing."""
        return False


class Vectors:
    """Vectors of one dimension by the digests of the documents. Safe to use from several threads.

    kept: where they outlive the process; without it they are held in memory.
    """

    def __init__(self, dimension: int, kept: VectorRows | None = None) -> None:
        self.dimension = dimension
        self._kept = kept
        self._held: dict[bytes, bytes] = {}
        self._keys = Keys(dimension)
        self._wanted: deque[bytes] = deque(maxlen=_WANTED)
        self._guard = threading.Lock()

    @property
    def held_bytes(self) -> int:
        """Bytes of memory that the vectors take."""
        return len(self._held) * row_bytes(self.dimension)

    def cosines(self, state: State, rows: Numbers, query: VectorScores) -> tuple[Numbers, Values]:
        """Those of the rows that have a vector, and its cosine with that of the query.

        The others are made sooner for it.
        """
        found, vectors = self._read(state, rows)
        if not len(found) or not query.weights:
            return rows[:0], np.zeros(0)
        bits, fidelities = unpacked(vectors, self.dimension)
        pairs = {(pair.first, pair.second): pair.weight for pair in query.pairs}
        return found, QueryVector(self._keys, query.weights, pairs).cosines(bits, fidelities)

    def _read(self, state: State, rows: Numbers) -> tuple[Numbers, bytes]:
        kept, size = self._rows(), row_bytes(self.dimension)
        found: list[int] = []
        parts: list[bytes | memoryview] = []
        wanted = rows.tolist()
        for row, digest in zip(wanted, state.digests(wanted), strict=True):
            vector = self._held.get(digest)
            if vector is not None:
                parts.append(vector)
            elif kept is not None and (number := kept.numbers.get(digest)) is not None:
                parts.append(kept.matrix[number * size : (number + 1) * size])
            else:
                self._wanted.append(digest)
                continue
            found.append(row)
        return np.array(found, dtype=np.intp), b"".join(parts)

    def _rows(self) -> StoredVectors | None:
        rows = None if self._kept is None else self._kept.rows
        return rows if rows is not None and len(rows.matrix) else None

    def make(self, state: State, stopped: Callable[[], bool] | None = None) -> int:
        """Makes the vectors that are missing, those of hits and of notes changed last first; how many.

        stopped: asked between two vectors; what was made by then is kept.
        """
        made: dict[bytes, bytes] = {}
        total = 0
        for row, digest in self._missing(state):
            if stopped is not None and stopped():
                break
            document = state.document(row)
            if len(set(document.stems)) > _MOST_STEMS:
                continue
            stems = {state.stems.names[number]: share for number, share in stem_weights(document).items()}
            pairs = {
                (state.stems.names[first], state.stems.names[second]): PAIR_SHARE * weight
                for (first, second), weight in pair_weights(document).items()
            }
            bits, fidelity = note_vector(self._keys, stems, pairs, digest)
            made[digest] = packed(bits, fidelity)
            total += 1
            if len(made) >= _BATCH:
                self._keep(made)
                made = {}
        self._keep(made)
        if self._kept is not None and not (stopped is not None and stopped()):
            self._kept.prune({state.digest(row) for row in np.flatnonzero(state.alive).tolist()})
        return total

    def _missing(self, state: State) -> Iterator[tuple[int, bytes]]:
        rows = np.flatnonzero(state.alive).tolist()
        rows.sort(key=lambda row: state.notes[row].updated_at, reverse=True)
        by_digest = {state.digest(row): row for row in reversed(rows)}
        wanted = list(dict.fromkeys(reversed(self._wanted)))
        self._wanted.clear()
        first = [by_digest[digest] for digest in wanted if digest in by_digest]
        kept = self._rows()
        # A damaged row is found when a search reads it, which wants it then: to read all of them ahead would take the
        # memory and the time that keeping them saves.
        known: Collection[bytes] = () if kept is None else kept.listed
        damaged = {row for row in first if kept is not None and state.digest(row) not in kept.numbers}
        for row in dict.fromkeys([*first, *rows[:_MADE_AHEAD]]):
            digest = state.digest(row)
            if digest not in self._held and (digest not in known or row in damaged):
                yield row, digest

    def _keep(self, made: Mapping[bytes, bytes]) -> None:
        if not made:
            return
        with self._guard:
            if self._kept is None or not self._kept.append(list(made), b"".join(made.values())):
                self._held.update(made)
