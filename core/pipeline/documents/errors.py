"""Why a document could not be read or fetched."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from core.errors import ErrorCode, NuggetsError


class Fault(StrEnum):
    """What was wrong, for counting; the class of the job's error."""

    EMPTY = "empty_document"
    UNREADABLE = "unreadable_document"
    LIBRARY_MISSING = "library_missing"
    UNSUPPORTED = "unsupported_content"
    TOO_LARGE = "too_large"
    BAD_ADDRESS = "bad_address"
    BLOCKED = "blocked_address"
    REDIRECTS = "too_many_redirects"
    REFUSED = "fetch_refused"
    TIMEOUT = "fetch_timeout"
    UNREACHABLE = "fetch_unreachable"
    SERVER = "fetch_failed"


# What may be better a while later.
_PASSING = frozenset((Fault.TIMEOUT, Fault.UNREACHABLE, Fault.SERVER))


class DocumentError(NuggetsError):
    """A document that could not be read. fault: why, for programs."""

    code = ErrorCode.UNREADABLE_SOURCE

    def __init__(self, what: str, fault: Fault, *, where: str = "", **said: Any) -> None:
        super().__init__(what, where=where, **said)
        self.fault = fault

    @property
    def error_class(self) -> str:
        """Under what name the queue counts it."""
        return str(self.fault)

    @property
    def permanent(self) -> bool:
        """Whether another try would end the same."""
        return self.fault not in _PASSING
