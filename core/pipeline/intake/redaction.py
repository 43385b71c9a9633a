"""Removes credentials before a model sees a text, a transcript is kept, or a person is shown what is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from core.model.secrets import mark_of
from core.text.mask import REDACTED
from core.text.secrets import without_secrets

_Record = TypeVar("_Record")

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
    return Redacted(*without_secrets(text, lambda *_: REDACTED))


def shown(record: _Record, allowed: Collection[str] = frozenset()) -> _Record:
    """A record, or any of tuples and mappings of them, as people see it: dots for credentials, one a character, so that
    places in a text stay true. allowed: marks of the values that somebody said are no credentials.
    """
    return cast("_Record", _shown(record, frozenset(allowed)))


def _shown(found: Any, allowed: frozenset[str]) -> Any:
    if type(found) is str:
        return _dotted(found, allowed)
    if isinstance(found, tuple):
        told = [_shown(one, allowed) for one in found]
        return type(found)(*told) if hasattr(found, "_fields") else tuple(told)
    if isinstance(found, Mapping):
        return {_shown(name, allowed): _shown(one, allowed) for name, one in found.items()}
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        held = {one.name: getattr(found, one.name) for one in dataclasses.fields(found) if one.init}
        changed = {name: told for name, one in held.items() if (told := _shown(one, allowed)) != one}
        return dataclasses.replace(found, **changed) if changed else found
    return found


@lru_cache(maxsize=4096)
def _dotted(text: str, allowed: frozenset[str]) -> str:
    return without_secrets(text, lambda _, value: value if mark_of(value) in allowed else "•" * len(value))[0]
