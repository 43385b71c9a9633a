"""Decoding of a nugget: its banks are built from seeds and every fact's place is read back from them at once."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.facts import certainty
from core.facts.feasible import FEW_ROLES, FEW_ROLES_UNFOLDED, MOST_THREADS, ROWS_AT_ONCE, check_decodable
from core.fhrr.keys import PhaseArray, keys_from_stream, role_key, seed_of_name
from core.fhrr.operations import decorrelate, limit, sharpen, softmax
from core.model.fact import NuggetMeta

KEPT: Final = 6
_FACTS_AT_ONCE: Final = 256


@dataclass(frozen=True, eq=False)
class Decoded:
    """What a nugget answers for each of its facts, best value first.

    vocabulary: the distinct values in order of first appearance. The arrays have one row a fact and, where they
    have two dimensions, one column for each of the few best values (at most KEPT).
    """

    vocabulary: tuple[str, ...]
    best: NDArray[np.int32]  # places in the vocabulary
    similarity: NDArray[np.float32]  # summed over banks and ensembles
    probability: NDArray[np.float32]  # that the value is the one that was stored
    confidence: NDArray[np.float64]  # softmax of the similarities at the nugget's temperature
    margin: NDArray[np.float64]  # confidence less that of the second

    @property
    def size(self) -> int:
        """Bytes held, the texts left out."""
        arrays = (self.best, self.similarity, self.probability, self.confidence, self.margin)
        return sum(array.nbytes for array in arrays)


@dataclass(frozen=True, eq=False)
class Similarities:
    """Every fact against every value, arrays (facts, values): `total` as the answer is chosen by, and `evidence`,
    the log-likelihoods from the bank that holds the fact. `prior` (values,) is how often each value is stored."""

    vocabulary: tuple[str, ...]
    total: NDArray[np.float32]
    evidence: NDArray[np.float32]
    prior: NDArray[np.float64]


def similarities(meta: NuggetMeta, values: Sequence[str]) -> Similarities:
    """Every fact's place unbound and compared with every value; values in file order.

    Banks and ensembles below 1 count as 1. Raises InvalidInputError as check_decodable does.
    """
    vocabulary = tuple(dict.fromkeys(values))
    check_decodable(meta, len(values), len(vocabulary))
    places = {value: place for place, value in enumerate(vocabulary)}
    stored = np.array([places[value] for value in values], dtype=np.intp)
    total = np.zeros((len(values), len(vocabulary)), dtype=np.float32)
    evidence = np.zeros_like(total)
    seed = seed_of_name(meta.name)
    # One stream for all: each ensemble goes on where the one before it stopped. The key of the sentence is drawn
    # after those of the values; it is bound to every fact and unbound again, which cancels, so it is passed over.
    drawn = (len(vocabulary) + 1) * meta.D
    for ensemble in range(max(meta.ensembles, 1) if values else 0):
        keys = keys_from_stream(seed, len(vocabulary), meta.D, start=ensemble * drawn)
        decorrelate(keys, meta.config.orth_iters, in_place=True)
        _add_ensemble(meta, stored, keys, total, evidence)
    prior = np.bincount(stored, minlength=len(vocabulary)) / max(len(values), 1)
    return Similarities(vocabulary=vocabulary, total=total, evidence=evidence, prior=prior)


def _add_ensemble(
    meta: NuggetMeta,
    stored: NDArray[np.intp],
    value_keys: PhaseArray,
    total: NDArray[np.float32],
    evidence: NDArray[np.float32],
) -> None:
    facts = len(stored)
    banks = min(max(meta.banks, 1), max(facts, 1))
    everything = np.zeros(meta.D, dtype=np.complex128)
    together = max(1, FEW_ROLES * banks // facts)
    for start in range(0, banks, together):
        group = range(start, min(start + together, banks))
        cleaned = [_clean(_superpose(value_keys, stored[bank::banks], bank, banks), meta) for bank in group]
        everything += sum(vector for vector, _ in cleaned)
        roles = [Roles(bank, banks, len(stored[bank::banks])) for bank in group]
        compared = _compare([vector for vector, _ in cleaned], value_keys, roles)
        for bank, (_, clean_share), own in zip(group, cleaned, compared, strict=True):
            mu = certainty.signal(len(own), clean_share)
            evidence[bank::banks] += certainty.evidence(own, mu, meta.D)
    total += _compare([everything], value_keys, [Roles(0, 1, facts)])[0]


class Roles(NamedTuple):
    """The roles first, first + step, first + 2 step, ...: `number` of them."""

    first: int
    step: int
    number: int


def _superpose(
    value_keys: PhaseArray, stored: NDArray[np.intp], bank: int, banks: int
) -> NDArray[np.complex128]:
    """A bank, its sentence key taken off: the sum of role x value over its facts / sqrt(their number), (D,).

    The roles are bank, bank + banks, bank + 2 banks, ...: one role times powers of another, so that Horner's rule
    adds each fact with a single product.
    """
    dimension = value_keys.shape[1]
    step = role_key(banks, dimension)
    summed = np.zeros(dimension, dtype=np.complex128)
    for place in stored[::-1]:
        summed *= step
        summed += value_keys[place]
    summed *= role_key(bank, dimension)
    summed /= np.sqrt(max(len(stored), 1))
    return summed


def _clean(bank: NDArray[np.complex128], meta: NuggetMeta) -> tuple[NDArray[np.complex128], float]:
    """The bank sharpened, limited and of length 1, with its cosine to the bank before; (D,) and a number.

    Both steps look at moduli alone, so that it makes no difference that the role is still bound. A bank that
    has nothing left, or numbers too large to count with, gives zeros.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        cleaned = limit(sharpen(bank, meta.config.sharpen_p), meta.config.corvacs_a).astype(np.complex128)
        norm, before = float(np.linalg.norm(cleaned)), float(np.linalg.norm(bank))
    if not (np.isfinite(norm) and norm > 0 and before > 0):
        return np.zeros_like(bank), 0.0
    cleaned = cleaned / norm
    return cleaned, float(np.vdot(bank, cleaned).real / before)


def _compare(
    vectors: list[NDArray[np.complex128]], value_keys: PhaseArray, roles: list[Roles]
) -> list[NDArray[np.float32]]:
    """Cosines of each vector, unbound for its roles, with each value: (roles, values) for each."""
    folds = value_keys.shape[1] % roles[0].step == 0
    if max(some.number for some in roles) <= (FEW_ROLES if folds else FEW_ROLES_UNFOLDED):
        return _compare_few(vectors, value_keys, roles)
    return [
        _compare_many(vector, value_keys, some, some.step if folds else 1)
        for vector, some in zip(vectors, roles, strict=True)
    ]


def _compare_few(
    vectors: list[NDArray[np.complex128]], value_keys: PhaseArray, roles: list[Roles]
) -> list[NDArray[np.float32]]:
    """As one matrix product, which costs roles x values x D."""
    dimension = value_keys.shape[1]
    ends = np.cumsum([some.number for some in roles])
    unbound = np.empty((int(ends[-1]), dimension), dtype=np.complex64)
    row = 0
    for vector, some in zip(vectors, roles, strict=True):
        for place in range(some.number):
            role = role_key(some.first + place * some.step, dimension)
            unbound[row] = vector * np.conj(role) / np.sqrt(dimension)
            row += 1
    # Real and imaginary parts side by side: their plain inner product is the real part of the complex one.
    cosines: NDArray[np.float32] = unbound.view(np.float32) @ value_keys.view(np.float32).T
    return np.split(cosines, ends[:-1])


def _compare_many(
    vector: NDArray[np.complex128], value_keys: PhaseArray, roles: Roles, folds: int
) -> NDArray[np.float32]:
    """As Fourier transforms of vector x conj(value), which cost values x D x log D for any number of roles.

    Role keys are the rows of the Fourier matrix: every frequency is the vector unbound for one role. Of roles that
    lie `folds` apart only every folds-th frequency is wanted: the transform of the signal folded to D / folds.
    """
    values, dimension = value_keys.shape
    if folds > 1:
        vector = vector * np.conj(role_key(roles.first, dimension))
        wanted = np.arange(roles.number) % (dimension // folds)
    else:
        wanted = (roles.first + roles.step * np.arange(roles.number)) % dimension
    # The real part of a transform is that of the inverse transform of the conjugate, which spares conj(value).
    conjugate = (np.conj(vector) / np.sqrt(dimension)).astype(np.complex64)
    cosines = np.empty((roles.number, values), dtype=np.float32)

    def transform(first: int) -> None:
        product = value_keys[first : first + ROWS_AT_ONCE] * conjugate
        if folds > 1:
            product = product.reshape(len(product), folds, -1).sum(axis=1)
        spectrum = np.fft.ifft(product, axis=-1, norm="forward")
        cosines[:, first : first + ROWS_AT_ONCE] = spectrum.real[:, wanted].T

    # Transforms of rows do not hold each other up: numpy lets other threads run meanwhile.
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_THREADS)) as pool:
        deque(pool.map(transform, range(0, values, ROWS_AT_ONCE)), maxlen=0)
    return cosines


def decode(meta: NuggetMeta, values: Sequence[str]) -> Decoded:
    """What every fact of a nugget answers; values in file order.

    Raises InvalidInputError as check_decodable does.
    """
    compared = similarities(meta, values)
    total, size = compared.total, len(compared.vocabulary)
    kept = min(KEPT, size)
    best = np.empty((len(values), kept), dtype=np.int32)
    probability = np.empty((len(values), kept), dtype=np.float32)
    confidence, margin = np.empty(len(values)), np.empty(len(values))
    for first in range(0, len(values), _FACTS_AT_ONCE):
        rows = slice(first, first + _FACTS_AT_ONCE)
        best[rows] = np.argsort(-total[rows], axis=-1, kind="stable")[:, :kept]
        posterior = certainty.posterior(compared.evidence[rows], compared.prior)
        probability[rows] = np.take_along_axis(posterior, best[rows], axis=-1)
        leading = np.take_along_axis(softmax(total[rows], meta.config.temp_T), best[rows, :2], axis=-1)
        confidence[rows] = leading[:, 0]
        margin[rows] = leading[:, 0] - (leading[:, 1] if kept > 1 else 0)
    return Decoded(
        vocabulary=compared.vocabulary,
        best=best,
        similarity=np.take_along_axis(total, best, axis=-1),
        probability=probability,
        confidence=confidence,
        margin=margin,
    )
