"""Decoding of a nugget: its banks are built from seeds and every fact's place is read back from them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidInputError
from core.facts import certainty
from core.fhrr.keys import PhaseArray, keys_from_stream, role_key, seed_of_name
from core.fhrr.operations import decorrelate, limit, sharpen, softmax
from core.model.fact import NuggetMeta

MAX_CELLS: Final = 2**26
MAX_WORK: Final = 2.0**40
KEPT: Final = 6
_ROWS_AT_ONCE: Final = 16
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
    the log-likelihoods from the bank that holds the fact (see core.facts.certainty). `prior`: (values,)."""

    vocabulary: tuple[str, ...]
    total: NDArray[np.float32]
    evidence: NDArray[np.float32]
    prior: NDArray[np.float64]


def check_decodable(meta: NuggetMeta, facts: int, vocabulary: int) -> None:
    """Raises InvalidInputError when a nugget's numbers make no vectors or more than a machine can hold."""
    rounds, ensembles = max(meta.config.orth_iters, 0), max(meta.ensembles, 1)
    if meta.D < 1:
        raise _undecodable(meta, f"D is {meta.D}, a phase vector needs at least one element")
    cells = max((vocabulary + 1) * meta.D, facts * vocabulary, facts)
    if cells > MAX_CELLS:
        raise _undecodable(
            meta, f"{facts} facts of D {meta.D} need {cells:.3g} elements, more than {MAX_CELLS:.3g}"
        )
    products = (1 + rounds) * float(vocabulary) ** 2 + float(vocabulary) * min(max(meta.banks, 1), facts)
    work = ensembles * meta.D * max(products, 1.0)
    if work > MAX_WORK:
        raise _undecodable(
            meta, f"{work:.3g} multiplications to decode {facts} facts, more than {MAX_WORK:.3g}"
        )


def _undecodable(meta: NuggetMeta, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"the facts cannot be decoded: {what}",
        where=meta.name,
        kept="its file was left as it is",
        todo="mend D, banks, ensembles or orth_iters in the nugget's file, or split it",
    )


def similarities(meta: NuggetMeta, values: Sequence[str]) -> Similarities:
    """Every fact's place unbound and compared with every value; values in file order, at least one.

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
    for ensemble in range(max(meta.ensembles, 1)):
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
    for bank in range(banks):
        held = stored[bank::banks]
        cleaned, clean_share = _clean(_superpose(value_keys, held, bank, banks), meta)
        everything += cleaned
        own = _compare(cleaned, value_keys, Roles(bank, banks, len(held)))
        mu = certainty.signal(len(held), clean_share)
        evidence[bank::banks] += certainty.evidence(own, mu, meta.D)
    total += _compare(everything, value_keys, Roles(0, 1, facts))


class Roles(NamedTuple):
    """The roles first, first + step, first + 2 step, ...: `count` of them."""

    first: int
    step: int
    count: int


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
    return summed / np.sqrt(max(len(stored), 1))


def _clean(bank: NDArray[np.complex128], meta: NuggetMeta) -> tuple[NDArray[np.complex128], float]:
    """The bank sharpened, limited and of length 1, with its cosine to the bank before; (D,) and a number.

    Both steps look at moduli alone, so that it makes no difference that the role is still bound. A bank that
    has nothing left, or numbers too large to count with, gives zeros.
    """
    cleaned = limit(sharpen(bank, meta.config.sharpen_p), meta.config.corvacs_a)
    norm, before = float(np.linalg.norm(cleaned)), float(np.linalg.norm(bank))
    if not (np.isfinite(norm) and norm > 0 and before > 0):
        return np.zeros_like(bank), 0.0
    cleaned = cleaned / norm
    return cleaned, float(np.vdot(bank, cleaned).real / before)


def _compare(vector: NDArray[np.complex128], value_keys: PhaseArray, roles: Roles) -> NDArray[np.float32]:
    """Cosines of the vector, unbound for each role, with each value: (roles, values).

    Role keys are rows of the Fourier matrix, so that unbinding all of them is one Fourier transform of
    vector x conj(value). Of roles that lie `step` apart only every step-th frequency is wanted: the transform of
    the signal folded to D / step elements.
    """
    values, dimension = value_keys.shape
    if dimension % roles.step == 0:
        folds = roles.step
        vector = vector * np.conj(role_key(roles.first, dimension))
        wanted = np.arange(roles.count) % (dimension // folds)
    else:
        folds = 1
        wanted = (roles.first + roles.step * np.arange(roles.count)) % dimension
    # The real part of a transform is that of the inverse transform of the conjugate, which spares conj(value).
    conjugate = (np.conj(vector) / np.sqrt(dimension)).astype(np.complex64)
    cosines = np.empty((roles.count, values), dtype=np.float32)
    for first in range(0, values, _ROWS_AT_ONCE):
        product = value_keys[first : first + _ROWS_AT_ONCE] * conjugate
        if folds > 1:
            product = product.reshape(len(product), folds, -1).sum(axis=1)
        spectrum = np.fft.ifft(product, axis=-1, norm="forward")
        cosines[:, first : first + _ROWS_AT_ONCE] = spectrum.real[:, wanted].T
    return cosines


def decode(meta: NuggetMeta, values: Sequence[str]) -> Decoded:
    """What every fact of a nugget answers; values in file order, at least one.

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
