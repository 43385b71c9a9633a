"""Classifies an error for its job: its class, whether a retry can help, and whose fault it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.errors import (
    BrokenFileError,
    ConflictError,
    InvalidInputError,
    LockTimeoutError,
    NotFoundError,
    NuggetsError,
    ReadOnlyError,
    StorageError,
)
from core.pipeline.document_text import DocumentError
from core.pipeline.models.provider import (
    CallRefusedError,
    CommandFailedError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelTimeoutError,
)

# Classes of errors that are no model's; those of models are their kinds. First match counts.
_OURS: Final[tuple[tuple[type[NuggetsError], str], ...]] = (
    (LockTimeoutError, "busy"),
    (ReadOnlyError, "read_only"),
    (BrokenFileError, "broken_file"),
    (StorageError, "storage"),
    (ConflictError, "conflict"),
    (InvalidInputError, "invalid"),
    (NotFoundError, "not_found"),
)
# What stays as it is however often it is tried.
_PERMANENT: Final = frozenset(("invalid", "not_found"))
# The machine's trouble, not the job's.
_CIRCUMSTANCES: Final = frozenset(("busy", "read_only", "broken_file", "storage"))
BAD_REQUEST: Final = "bad_request"
BUG: Final = "bug"
# The classes of an outage. No job dies of one.
OUTAGES: Final = ("http", "unavailable", "asked_to_wait")
# What a job dies of that may have been the provider's: a model that is there by now, a server that hung.
MAYBE_OUTAGES: Final = ("model_missing", "timeout")
# The classes of dead jobs that another try may help. Others end the same however often: a request or address that is
# refused, a text that cannot be read, what is gone.
RETRYABLE: Final = (
    *OUTAGES, "timeout", "command_failed", "empty", "parse", "truncated", *sorted(_CIRCUMSTANCES), "conflict", BUG,
    "lease_expired", "fetch_timeout", "fetch_unreachable", "fetch_failed",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """What became of an attempt.

    error_class: a name for counting. permanent: no other attempt can help, the job is dead. counts: the attempt is the
    job's own. refused: no model was asked at all, so that the job goes back as if it had not been taken. doubtful: it
    may be the job or the provider, so that the attempt counts only if that is there. outage: it is the provider, which
    the job waits for. spreads: the next job is likely to
    meet the same, so that the worker had better rest; other jobs need not wait for what is wrong with one.
    """

    error_class: str
    message: str
    permanent: bool = False
    counts: bool = True
    refused: bool = False
    doubtful: bool = False
    outage: bool = False
    spreads: bool = False


def failure_of(error: Exception) -> Failure:
    """What an error means for its job. An error may name its own class as `error_class`; the rest is told by type."""
    if isinstance(error, ModelError):
        return _of_model(error)
    if not isinstance(error, NuggetsError):
        # Bounded by the attempts: it may be what is in this text, or what lies in memory just now.
        return Failure(BUG, f"this is a bug in nuggets-tui: {type(error).__name__}: {error}")
    known = next((name for kind, name in _OURS if isinstance(error, kind)), "error")
    circumstance = known in _CIRCUMSTANCES
    return Failure(
        getattr(error, "error_class", known), error.message, known in _PERMANENT or _is_permanent(error),
        not circumstance,
        spreads=circumstance,
    )  # fmt: skip


def _is_permanent(error: NuggetsError) -> bool:
    return isinstance(error, DocumentError) and error.permanent


def _of_model(error: ModelError) -> Failure:
    if isinstance(error, CallRefusedError):
        return Failure(error.kind, error.message, counts=False, refused=True, spreads=True)
    name = getattr(error, "error_class", error.kind)
    if isinstance(error, ModelHttpError) and not (error.retryable or isinstance(error, ModelMissingError)):
        name = BAD_REQUEST
    return Failure(
        name,
        error.message,
        permanent=not error.retryable,
        counts=not error.outage,
        doubtful=isinstance(error, ModelTimeoutError | CommandFailedError),
        outage=error.outage,
        spreads=error.outage or isinstance(error, ModelTimeoutError | CommandFailedError),
    )
