"""JSON as the original writes it, and JSON taken apart without touching the bytes of its parts."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

import msgspec

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])
_SCANNER: Final = json.JSONDecoder()


class JsonError(ValueError):
    """Text that is no JSON, or not of the wanted shape."""


def dump(value: Any, *, indent: bool = False, level: int = 0) -> bytes:
    """A value as JSON.stringify writes it (2 spaces or none), as UTF-8; lone surrogates are escaped.

    level: how deep the value stands, so that its inner lines are indented in step.
    """
    text = json.dumps(
        _javascript_numbers(value),
        ensure_ascii=False,
        indent=2 if indent else None,
        separators=None if indent else (",", ":"),
    )
    if indent and level:
        text = text.replace("\n", "\n" + "  " * level)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _javascript_numbers(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    if isinstance(value, dict):
        return {key: _javascript_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_javascript_numbers(item) for item in value]
    return value


def split_object(text: bytes) -> dict[str, bytes]:
    """The fields of a JSON object in order, each value as its bytes. Raises JsonError."""
    try:
        return {name: bytes(raw) for name, raw in _FIELDS.decode(text).items()}
    except RecursionError as error:
        raise JsonError("nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _split_object_slowly(text, error)


def split_array(text: bytes) -> list[bytes]:
    """The items of a JSON array, each as its bytes. Raises JsonError."""
    try:
        return [bytes(raw) for raw in _ITEMS.decode(text)]
    except RecursionError as error:
        raise JsonError("nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _split_array_slowly(text, error)


def load(text: bytes) -> Any:
    """Any JSON value; the tolerant reader, which also takes lone surrogates and NaN. Raises JsonError."""
    try:
        return json.loads(_decoded(text))
    except (ValueError, RecursionError) as error:
        raise JsonError(_said(error)) from error


# msgspec refuses lone surrogates and NaN, both of which other writers do leave in files. The standard
# library takes them; it gives the end of each value, so the bytes of the parts can still be cut out.


def _split_object_slowly(text: bytes, cause: Exception) -> dict[str, bytes]:
    source = _decoded(text)
    place = _skip(source, 0)
    if not source.startswith("{", place):
        raise JsonError("not an object") from cause
    fields: dict[str, bytes] = {}
    place = _skip(source, place + 1)
    while not source.startswith("}", place):
        name, place = _scan(source, place)
        place = _skip(source, place)
        if not isinstance(name, str) or not source.startswith(":", place):
            raise JsonError(f"a field's name is expected at character {place}") from cause
        start = _skip(source, place + 1)
        _, end = _scan(source, start)
        fields[name] = _encoded(source[start:end])
        place = _next(source, end, "}")
    _expect_end(source, place + 1)
    return fields


def _split_array_slowly(text: bytes, cause: Exception) -> list[bytes]:
    source = _decoded(text)
    place = _skip(source, 0)
    if not source.startswith("[", place):
        raise JsonError("not a list") from cause
    items: list[bytes] = []
    place = _skip(source, place + 1)
    while not source.startswith("]", place):
        _, end = _scan(source, place)
        items.append(_encoded(source[place:end]))
        place = _next(source, end, "]")
    _expect_end(source, place + 1)
    return items


def _decoded(text: bytes) -> str:
    # Bytes that are no UTF-8 pass through unchanged and come back as they were.
    return text.decode("utf-8", errors="surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def _scan(source: str, place: int) -> tuple[Any, int]:
    try:
        return _SCANNER.raw_decode(source, place)
    except (ValueError, RecursionError) as error:
        raise JsonError(_said(error)) from error


def _skip(source: str, place: int) -> int:
    match = _SPACE.match(source, place)
    return match.end() if match else place


def _next(source: str, place: int, closing: str) -> int:
    place = _skip(source, place)
    if source.startswith(",", place):
        following = _skip(source, place + 1)
        if source.startswith(closing, following):
            raise JsonError(f"a value is expected at character {following}")
        return following
    if not source.startswith(closing, place):
        raise JsonError(f"{closing!r} or ',' is expected at character {place}")
    return place


def _expect_end(source: str, place: int) -> None:
    if _skip(source, place) != len(source):
        raise JsonError(f"more text after the end at character {place}")


def _said(error: BaseException) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
