"""Phase vectors of words, notes and queries, and their inner products, exact without a float per phase.

The key of a stem has D phases, each one of the four quarter turns: a Fourier holographic key over the cyclic
group of four (the modular composite representation of Snaider and Franklin, 2014, with r = 4). A phase takes
two bits in Gray code, in which the distance of two phases around the circle is the number of bits in which they
differ. As the real part of the product of two phasors n quarter turns apart is 1 - n, the real inner product of
two keys is D minus the number of their bits that differ.

A note or query is a weighted superposition of keys. Its inner product with another is linear in the keys, so
it is computed from theirs, and the long vectors themselves are never needed. `superposition` makes one, and a
test holds both ways to the same number.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

# 4 KiB each at D = 16,384: 32 MiB at most.
_KEYS_KEPT: Final = 8192
# So many keys at a time stay in the processor's cache.
_AT_ONCE: Final = 64
# Standard deviations by which a word must stand above the noise to be read from a vector.
_CLEAR: Final = 4.0
# ln of more words than a note can have.
_MOST_READ: Final = 30.0
_GRAY_TO_TURNS: Final = np.array([0, 1, 3, 2], dtype=np.int8)


class Keys:
    """Keys of stems for one dimension, the recently used ones kept. Safe to use from several threads.

    BLAKE2b of the whole stem seeds Philox, so that equal stems have equal keys everywhere and any difference,
    wherever it stands in the word, gives an unrelated one.
    """

    def __init__(self, dimension: int, kept: int = _KEYS_KEPT) -> None:
        self.dimension = dimension
        self._kept = kept
        self._made: OrderedDict[str, NDArray[np.uint64]] = OrderedDict()
        self._guard = threading.Lock()
        # Setting the state of one generator anew costs a sixth of making one.
        self._philox = np.random.Philox(key=0)
        self._start = self._philox.state

    def rows(self, stems: Sequence[str]) -> NDArray[np.uint64]:
        """The keys of stems, shape (len(stems), ceil(D / 32)).

        D phases of two bits in Gray code, 32 to a word; bits beyond the last phase are 0.
        """
        found = np.empty((len(stems), -(-self.dimension // 32)), dtype=np.uint64)
        with self._guard:
            for row, stem in enumerate(stems):
                key = self._made.get(stem)
                if key is None:
                    key = self._made[stem] = self._make(stem, found.shape[1])
                    if len(self._made) > self._kept:
                        self._made.popitem(last=False)
                else:
                    self._made.move_to_end(stem)
                found[row] = key
        return found

    def _make(self, stem: str, size: int) -> NDArray[np.uint64]:
        digest = hashlib.blake2b(stem.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self._start["state"]["key"] = np.frombuffer(digest, dtype="<u8").astype(np.uint64)
        self._philox.state = self._start
        key = np.asarray(self._philox.random_raw(size), dtype=np.uint64)
        if self.dimension % 32:
            key[-1] &= np.uint64((1 << 2 * (self.dimension % 32)) - 1)
        return key


def inner_products(
    keys: NDArray[np.uint64], others: NDArray[np.uint64], dimension: int
) -> NDArray[np.float64]:
    """Real inner products over D of each key with each other, in [-1, 1], shape (len(keys), len(others))."""
    found = np.empty((len(keys), len(others)))
    for start in range(0, len(others), _AT_ONCE):
        some = others[start : start + _AT_ONCE]
        for row, key in enumerate(keys):
            differing = np.bitwise_count(some ^ key).sum(axis=1, dtype=np.uint32)
            found[row, start : start + _AT_ONCE] = 1.0 - differing / dimension
    return found


def superposition(
    keys: NDArray[np.uint64], weights: NDArray[np.float64], dimension: int
) -> NDArray[np.complex128]:
    """The weighted sum of keys as phasors, shape (dimension,): to look at a vector, not to compare two."""
    shifts = np.arange(0, 64, 2, dtype=np.uint64)
    codes = (keys[:, :, None] >> shifts) & np.uint64(3)
    turns = _GRAY_TO_TURNS[codes.reshape(len(keys), -1)[:, :dimension]]
    return np.asarray(weights @ np.exp(0.5j * np.pi * turns))


def noise(dimension: int) -> float:
    """Standard deviation of the cosine of unrelated vectors.

    The real part of a random phasor has variance 1/2, so that the mean of D of them has 1 / (2 D).
    """
    return float(1.0 / np.sqrt(2.0 * dimension))


def read_counts(products: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
    """Cleanup: what a note's vector holds of some keys, as weights 1 + ln(count), 0 for a key it does not hold.

    products: real inner products over D of a note's vector with the keys. deviation: of the noise in them. What
    does not stand clear of the noise is read as nothing, the rest as the nearest count.
    """
    counts = np.maximum(np.rint(np.exp(np.minimum(products, _MOST_READ) - 1.0)), 1.0)
    return np.where(products >= max(0.5, _CLEAR * deviation), 1.0 + np.log(counts), 0.0)


def readable(length: float, dimension: int) -> bool:
    """Whether a note of this length holds so little that its vector tells a single word from the noise."""
    return _CLEAR * length * noise(dimension) <= 0.5
