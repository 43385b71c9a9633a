"""Seeded keys: the random stream of a name, the keys drawn from it, and the keys of roles."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

PhaseArray: TypeAlias = NDArray[np.complexfloating[Any, Any]]

_STEP: Final = np.uint32(0x6D2B79F5)
_ONE, _ODD = np.uint32(1), np.uint32(61)
_SHIFT_15, _SHIFT_7, _SHIFT_14 = np.uint32(15), np.uint32(7), np.uint32(14)
_TURN: Final = 2.0**32
_BLOCK: Final = 16_384


def seed_of_name(name: str) -> int:
    """The seed of a name: the first four bytes of its UTF-8, little-endian, missing bytes 0.

    Half of a surrogate pair counts as U+FFFD, as it does in the encoders of browsers.
    """
    head = name[:4].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return int.from_bytes(head.encode()[:4], "little")


def draws(seed: int, count: int, start: int = 0) -> NDArray[np.uint32]:
    """`count` draws of the mulberry32 generator, from draw `start` on, as integers below 2^32.

    The state of the generator is a counter, so that every draw is computed by itself and any part of the stream
    can be had without what comes before it (Tommy Ettinger, mulberry32, public domain).
    """
    first = (seed + int(_STEP) * (start + 1)) & 0xFFFFFFFF
    state = np.arange(count, dtype=np.uint32)
    state *= _STEP
    state += np.uint32(first)
    mixed = state >> _SHIFT_15
    mixed ^= state
    state |= _ONE
    mixed *= state
    turned = mixed >> _SHIFT_7
    turned ^= mixed
    turned *= mixed | _ODD
    turned += mixed
    mixed ^= turned
    np.right_shift(mixed, _SHIFT_14, out=turned)
    mixed ^= turned
    return mixed


def keys_from_stream(
    seed: int, count: int, dimension: int, *, start: int = 0, dtype: DTypeLike = np.complex64
) -> PhaseArray:
    """`count` keys of `dimension` elements each, one draw an element, as an array (count, dimension).

    start: draws of the stream to leave out. dtype: complex64 or complex128. Phases are uniform in [0, 2 pi).
    """
    made = np.empty(count * dimension, dtype=dtype)
    # In blocks that stay in the processor's cache: three times as fast as all at once.
    for place in range(0, made.size, _BLOCK):
        block = made[place : place + _BLOCK]
        phases = draws(seed, block.size, start + place).astype(block.real.dtype)
        phases *= 2 * np.pi / _TURN
        np.cos(phases, out=block.real)
        np.sin(phases, out=block.imag)
    return made.reshape(count, dimension)


def role_key(number: int, dimension: int) -> NDArray[np.complex128]:
    """The key of role `number`, shape (dimension,): phases 2 pi number d / D, a row of the Fourier matrix."""
    # The remainder is taken in whole numbers: the sine of a phase of many turns loses digits.
    steps = np.arange(dimension, dtype=np.int64) * (number % max(dimension, 1)) % max(dimension, 1)
    key: NDArray[np.complex128] = np.exp(2j * np.pi * steps / max(dimension, 1))
    return key
