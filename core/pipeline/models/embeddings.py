"""The interface of a model that makes vectors of texts, and what a usable vector is."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from core.pipeline.models.provider import Named, UnreadableAnswerError

LARGEST_DIMENSION: Final = 16_384


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a model made of some texts. vectors: one for each text, in their order; None where it is of no use.

    prompt_tokens: None where nobody counted.
    """

    vectors: tuple[array[float] | None, ...]
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


class EmbeddingProvider(Named, Protocol):
    """A model that makes vectors of texts."""

    def embed(self, texts: Sequence[str], deadline: float) -> Embedded:
        """The vectors of some texts, which may have different numbers of dimensions.

        deadline: seconds for the whole call, reading included. Raises a ModelError and nothing else when the model
        cannot be reached, is late or refuses.
        """
        ...


def vector_of(numbers: Any) -> array[float] | None:
    """The vector that a reply's list of numbers is, in float32; None where it is none, points nowhere, or holds what
    is no finite number.
    """
    if not isinstance(numbers, list) or not 0 < len(numbers) <= LARGEST_DIMENSION:
        return None
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
        return None
    try:
        made = array("f", numbers)
    except OverflowError:
        return None
    length = math.fsum(one * one for one in made)
    return made if math.isfinite(length) and length > 0.0 else None


def fitting(vector: array[float] | None, dimensions: int) -> array[float]:
    """A vector of so many dimensions; 0 for any. Raises UnreadableAnswerError for another one, and for none."""
    if vector is None:
        raise UnreadableAnswerError(
            "the model made no usable vector of a text: it is empty, zero or no number"
        )
    if dimensions and len(vector) != dimensions:
        raise UnreadableAnswerError(
            f"the model made a vector of {len(vector):,} dimensions where {dimensions:,} are expected",
            todo="set embedding.dimensions to make all vectors anew",
        )
    return vector
