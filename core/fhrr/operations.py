"""Operations on phase vectors: binding, decorrelation, cleaning of a noisy vector, softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from core.fhrr.keys import PhaseArray

DECORRELATION_STEP: Final = 0.4
_SMALLEST_CORRELATION: Final = 1e-9
_TINY: Final = 1e-12
_COLUMNS: Final = 2048


def bind(left: PhaseArray, right: PhaseArray) -> PhaseArray:
    """The two vectors bound to each other: phases add up. Shapes broadcast."""
    return left * right


def unbind(bound: PhaseArray, key: PhaseArray) -> PhaseArray:
    """What was bound to `key`: its phases are taken away again; moduli of the key do not count. Shapes broadcast."""
    return bound * np.conj(unit_phase(key))


def unit_phase(vector: PhaseArray) -> PhaseArray:
    """Every element brought to modulus 1, its phase kept; 0 becomes 1. Any shape."""
    made = vector.copy()
    _project(made)
    return made


def _project(vector: PhaseArray) -> None:
    modulus = np.abs(vector)
    empty = modulus == 0
    if empty.any():
        vector[empty] = 1
        modulus[empty] = 1
    vector /= modulus


def decorrelate(
    keys: PhaseArray, rounds: int = 1, step: float = DECORRELATION_STEP, *, in_place: bool = False
) -> PhaseArray:
    """Keys with their mutual correlations reduced, shape (count, D) as given.

    In each round every key loses step x correlation x every other key, all taken from the round before, and is
    then brought back to modulus 1. Correlation is the real part of the inner product divided by D; below 1e-9 it
    counts as none. in_place: `keys` (contiguous) is overwritten, which saves its size in memory.
    """
    made = keys if in_place else np.array(keys, order="C")
    count, dimension = made.shape
    if count < 2 or dimension == 0:
        return made
    # The real part of a complex inner product is the plain inner product of (re, im) pairs: half the work.
    pairs = made.view(made.real.dtype)
    for _ in range(max(rounds, 0)):
        mixing = pairs @ pairs.T
        mixing /= dimension
        mixing[np.abs(mixing) < _SMALLEST_CORRELATION] = 0
        mixing *= -step
        np.fill_diagonal(mixing, 1)
        for first in range(0, pairs.shape[1], _COLUMNS):
            pairs[:, first : first + _COLUMNS] = mixing @ pairs[:, first : first + _COLUMNS]
        for row in made:
            _project(row)
    return made


def sharpen(vector: PhaseArray, power: float) -> PhaseArray:
    """Every element's modulus raised to `power`, its phase kept; 1 changes nothing, 0 stays 0."""
    if power == 1:
        return vector
    return vector * np.power(np.abs(vector) + _TINY, power - 1)


def limit(vector: PhaseArray, strength: float) -> PhaseArray:
    """Every element's modulus m replaced by tanh(strength x m), its phase kept; a strength of 0 does nothing."""
    if strength <= 0:
        return vector
    modulus = np.abs(vector) + _TINY
    return vector * (np.tanh(strength * modulus) / modulus)


def softmax(
    similarities: NDArray[np.floating[Any]] | Sequence[float], temperature: float
) -> NDArray[np.float64]:
    """Probabilities over the last axis; they add up to 1, but for 1e-12 that keeps an empty sum divisible.

    A temperature of 0 or below counts as 1e-12: the best takes all.
    """
    values = np.asarray(similarities, dtype=np.float64)
    if values.shape[-1] == 0:
        return values
    shifted = (values - values.max(axis=-1, keepdims=True)) / max(temperature, _TINY)
    weights = np.exp(shifted)
    return cast("NDArray[np.float64]", weights / (weights.sum(axis=-1, keepdims=True) + _TINY))
