"""The interface of a language model: one question, one answer, errors of known kinds."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, Protocol, Self

from core.errors import ErrorCode, NuggetsError

ErrorKind = Literal[
    "timeout", "http", "empty", "parse", "truncated",
    "model_missing", "unavailable", "asked_to_wait", "command_failed", "breaker_open", "budget_spent",
]  # fmt: skip
# HTTP statuses for a question that is wrong, too long, or of a kind that is not understood: another one may do.
OF_THE_QUESTION: Final = (400, 413, 422)
_PASSING: Final = (401, 402, 403, 407, 408, 425, 429)
# A JSON schema as providers take it.
Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said.

    done_reason: why it stopped, as the provider tells ("stop", "length"), "" where it does not. model: the model that
    answered, which after a fallback is not the one that was asked. The tokens are None where nobody counted.
    """

    text: str
    model: str = ""
    done_reason: str = ""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a provider could answer now. message: why not, in words, with what to do; "" when it could."""

    ok: bool
    reason: Literal["", "unreachable", "model_missing", "no_command", "no_library", "off"] = ""
    message: str = ""


AVAILABLE = Availability(True)


class Named(Protocol):
    """Something that can be asked, says who it is and whether it could answer."""

    @property
    def name(self) -> str:
        """Its name in the configuration and the ledger."""
        ...

    @property
    def model(self) -> str:
        """The model it asks, "" when that is its own choice."""
        ...

    @property
    def identity(self) -> str:
        """What its failures are counted under: another address or model begins anew."""
        ...

    def available(self) -> Availability:
        """Whether it could answer now: asked in seconds, without a word to the model, and never raising."""
        ...


class Provider(Protocol):
    """Something that answers a prompt."""

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """The model's answer.

        schema: the JSON schema that the answer should follow; a provider that cannot pass it on leaves it out, for
        nobody relies on it. deadline: seconds for the whole call, reading included. Raises a ModelError and nothing
        else when the model cannot be reached, is late or says nothing.
        """
        ...


class NamedProvider(Named, Provider, Protocol):
    """A provider that says who it is and whether it could answer."""


class ModelError(NuggetsError):
    """A model gave nothing that could be used. The raw memory is stored already and stays.

    kind: what the ledger calls it. retryable: whether the same question may be answered at another time. outage:
    whether it is the provider that cannot answer now, whatever it is asked: the work waits for it.
    """

    code = ErrorCode.MODEL
    kind: ClassVar[ErrorKind]

    @property
    def retryable(self) -> bool:
        return True

    @property
    def outage(self) -> bool:
        return False

    def during(self, stage: str) -> Self:
        """The same error, saying during what it came: "LLM extraction failed: connection refused"."""
        error = copy(self)
        error.what = f"{stage}: {self.what}"
        error.args = (error.message,)
        return error


class ModelTimeoutError(ModelError):
    """The answer did not come within the deadline."""

    kind = "timeout"


class ModelHttpError(ModelError):
    """The model could not be reached, or its server refused.

    status: the HTTP status; None when there was no reply at all, or when the model is no server. seconds: until it
    answers later, as it says itself; None where it says nothing.
    """

    kind: ClassVar[ErrorKind] = "http"

    def __init__(
        self, what: str, *, status: int | None = None, seconds: float | None = None, **said: Any
    ) -> None:
        super().__init__(what, **said)
        self.status = status
        self.seconds = seconds

    @property
    def retryable(self) -> bool:
        # A request that is wrong stays wrong; a login can be renewed, and too many and too slow pass.
        return self.status is None or self.status in _PASSING or self.status >= 500

    @property
    def outage(self) -> bool:
        return self.retryable


class CommandFailedError(ModelHttpError):
    """A model's command ended badly and did not say why: it may be the question."""

    kind = "command_failed"
    outage = False


class AskedToWaitError(ModelHttpError):
    """The provider says that it answers later: a limit of use is reached, or it has too much to do."""

    kind = "asked_to_wait"


class ModelMissingError(ModelHttpError):
    """The server answers, but has no such model: somebody must fetch it first, and the work waits for that."""

    kind = "model_missing"
    retryable = False
    outage = True


class ModelUnavailableError(ModelHttpError):
    """There is nobody to ask: no server at the address, no command of that name, no library, no model configured.

    library_missing: whether only the extra `pipeline` is to be installed.
    """

    kind = "unavailable"
    library_missing = False


class CallRefusedError(ModelError):
    """Nothing was asked, to spare a provider that fails or a budget that is spent. until: epoch ms."""

    def __init__(self, what: str, *, until: int = 0, **said: Any) -> None:
        super().__init__(what, **said)
        self.until = until


class BreakerOpenError(CallRefusedError):
    """The provider failed several times in a row; until then it is left alone."""

    kind = "breaker_open"


class BudgetSpentError(CallRefusedError):
    """The calls of the day are used up; until then, local midnight, no model is asked."""

    kind = "budget_spent"


class EmptyAnswerError(ModelError):
    """The model said nothing, or nothing but its thinking."""

    kind = "empty"


class UnreadableAnswerError(ModelError):
    """The answer holds no JSON object of the shape that was asked for."""

    kind = "parse"


class TruncatedAnswerError(ModelError):
    """The answer was cut off before its end."""

    kind = "truncated"


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
