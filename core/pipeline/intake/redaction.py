"""Removes credentials before a model sees a text, a transcript is kept, or a person is shown what is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from core.model.masks import is_distinctive
from core.model.secrets import mark_of
from core.text.mask import REDACTED
from core.text.secrets import find_secrets, without_secrets

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
    places in a text stay true. What one text of it tells to be a credential is none to be seen in another. allowed:
    marks of the values that somebody said are no credentials.
    """
    found = {
        value for text in _texts(record) for value in _credentials(text) if mark_of(value) not in allowed
    }
    if not found:
        return record
    # Words and short numbers mean something else in other texts.
    telling = sorted(filter(is_distinctive, found), key=len, reverse=True)

    def dotted(text: str) -> str:
        text = without_secrets(text, lambda _, value: "•" * len(value) if value in found else value)[0]
        for value in telling:
            text = text.replace(value, "•" * len(value))
        return text

    return cast("_Record", _changed(record, dotted))


def _texts(found: Any) -> Iterator[str]:
    if type(found) is str:
        yield found
    elif isinstance(found, tuple | list):
        for one in found:
            yield from _texts(one)
    elif isinstance(found, Mapping):
        yield from _texts((*found.keys(), *found.values()))
    elif dataclasses.is_dataclass(found):
        yield from _texts(tuple(getattr(found, one.name) for one in dataclasses.fields(found)))


def _changed(found: Any, change: Callable[[str], str]) -> Any:
    if type(found) is str:
        return change(found)
    if isinstance(found, tuple | list):
        told = [_changed(one, change) for one in found]
        return type(found)(*told) if hasattr(found, "_fields") else type(found)(told)
    if isinstance(found, Mapping):
        return {_changed(name, change): _changed(one, change) for name, one in found.items()}
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        held = {one.name: getattr(found, one.name) for one in dataclasses.fields(found) if one.init}
        return dataclasses.replace(found, **{name: _changed(one, change) for name, one in held.items()})
    return found


def _credentials(text: str) -> tuple[str, ...]:
    # The same rows are listed time and again.
    return _known(text) if len(text) <= _REMEMBERED_LENGTH else _known.__wrapped__(text)


@lru_cache(maxsize=4096)
def _known(text: str) -> tuple[str, ...]:
    return tuple(text[one.start : one.end] for one in find_secrets(text))
