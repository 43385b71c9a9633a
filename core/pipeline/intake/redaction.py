"""Removes credentials before a model sees a text or a transcript is kept: rather one too many than too few."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from core.text.mask import REDACTED
from core.text.secrets import Strictness, without_secrets

MARK: Final = REDACTED
_REMEMBERED_LENGTH: Final = 1_000


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without what looked like credentials, and how many were taken out of it."""

    text: str
    count: int


def redact(text: str) -> Redacted:
    """The text with all that might be a credential replaced by "[REDACTED]"; see `core.text.secrets`.

    Redacting a redacted text again changes nothing. Linear in the length of the text.
    """
    # The same notes are shown beside fact after fact.
    return _redacted(text) if len(text) > _REMEMBERED_LENGTH else _remembered(text)


@lru_cache(maxsize=1024)
def _remembered(text: str) -> Redacted:
    return _redacted(text)


def _redacted(text: str) -> Redacted:
    return Redacted(*without_secrets(text, Strictness.GENEROUS, lambda _: REDACTED))
