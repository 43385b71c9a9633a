"""Checks from a nugget's numbers alone what decoding it costs and whether it can succeed."""

from __future__ import annotations

import math
from typing import Final, Literal

from core.errors import InvalidInputError
from core.model.fact import NuggetMeta

MAX_CELLS: Final = 2**26
MAX_WORK: Final = 2.0**40
# What a recall decodes: what somebody waits for (512 facts of the default D cost three quarters) and finds room for.
RECALL_WORK: Final = 2.0**34
RECALL_BYTES: Final = 2**28
ROWS_AT_ONCE: Final = 16
MOST_THREADS: Final = 4
# Where a matrix product stops being faster than Fourier transforms (measured for D = 16,384).
FEW_ROLES: Final = 64
FEW_ROLES_UNFOLDED: Final = 256
_MANY: Final = 10**12
_STEP_COST: Final = 1e6
# Bytes an element of the few single vectors that are there while a bank is made.
_SINGLE_BYTES: Final = 96


def check_decodable(meta: NuggetMeta, facts: int, vocabulary: int) -> None:
    """Raises InvalidInputError when a nugget's numbers make no vectors or more than a machine can hold."""
    if meta.D < 1:
        raise _undecodable(meta, f"D is {max(meta.D, -_MANY)} and must be at least 1")
    cells = max((vocabulary + 1) * meta.D, facts * vocabulary, facts)
    if cells > MAX_CELLS:
        dimension = meta.D if meta.D < _MANY else f"{_MANY:.0e} or more"
        raise _undecodable(meta, f"{facts} facts of D {dimension} need more than {MAX_CELLS:.3g} elements")
    work = _work(meta, facts, vocabulary)
    if work > MAX_WORK:
        raise _undecodable(
            meta, f"{work:.3g} multiplications to decode {facts} facts, more than {MAX_WORK:.3g}"
        )


def why_not_decoded(meta: NuggetMeta, facts: int, vocabulary: int) -> Literal["", "overfull", "costly"]:
    """Why a recall decodes none of so many facts with so many values; "" where it does.

    It does where that tells something, and within `RECALL_WORK` and `RECALL_BYTES`. The numbers are such as
    `check_decodable` lets pass for a single fact.
    """
    # Roles repeat after D of them, so that nothing tells which of two values is meant.
    if facts > meta.D or is_hopeless(meta, facts, vocabulary):
        return "overfull"
    soon = _work(meta, facts, vocabulary) <= RECALL_WORK
    if soon and most_bytes(meta, facts, vocabulary) <= RECALL_BYTES:
        return ""
    return "overfull" if facts > meta.capacity else "costly"


def is_hopeless(meta: NuggetMeta, facts: int, vocabulary: int) -> bool:
    """Whether noise hides what is stored: its cosine lies far below the greatest that chance gives other values.

    Of n facts in b banks the cosine is sqrt(b / n), the standard deviation of the noise of b banks sqrt(b / (2 D)),
    and the greatest of V nearly Gaussian values about sqrt(2 ln V) standard deviations: both are equal where n ln V is
    D, and most answers are right there; hopeless from twice that on. See core.facts.certainty.
    """
    return facts * math.log(max(vocabulary, 1)) > 2 * meta.D * max(meta.ensembles, 1)


def most_bytes(meta: NuggetMeta, facts: int, vocabulary: int) -> int:
    """Bytes that decoding takes at most, beside the texts: vectors of D elements, and one number for each pair."""
    banks = min(max(meta.banks, 1), facts, FEW_ROLES)
    many = max(8 * FEW_ROLES_UNFOLDED, 32 * MOST_THREADS * ROWS_AT_ONCE)
    compared = 8 * facts if facts <= FEW_ROLES else many
    elements = meta.D * (8 * vocabulary + 16 * banks + compared + _SINGLE_BYTES)
    return elements + 12 * vocabulary**2 + 16 * facts * vocabulary


def _work(meta: NuggetMeta, facts: int, vocabulary: int) -> float:
    """Multiplications that decoding costs, about."""
    rounds, more_ensembles = (min(max(n, 0), _MANY) for n in (meta.config.orth_iters, meta.ensembles - 1))
    banks = min(max(meta.banks, 1), facts)
    products = float(vocabulary) * meta.D * ((1 + rounds) * vocabulary + facts)
    return (1 + more_ensembles) * (products + _STEP_COST * (1 + rounds + banks))


def _undecodable(meta: NuggetMeta, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"the facts cannot be decoded: {what}",
        where=meta.name,
        kept="its file is unchanged",
        todo="fix D, banks, ensembles or orth_iters in the nugget's file, or split the nugget",
    )
