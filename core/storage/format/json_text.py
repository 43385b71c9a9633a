"""JSON as the original writes it, and JSON taken apart without touching the bytes of its parts."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from core.text.exact import encodable

# The escape of half a character, and of each half of a whole one.
_ESCAPED_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
# Of an object's bytes so many lie between the values, and around each name.
_BETWEEN: Final = 32
_BETWEEN_FIELDS: Final = 12
# Within so many bytes the list of a file begins.
_LONGEST_HEAD: Final = 1 << 16
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])
_REFUSED: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class JsonError(ValueError):
    """Text that is no JSON, or not of the wanted shape."""


def dump(value: Any, *, indent: bool = False, level: int = 0) -> bytes:
    """A value as JSON.stringify writes it (2 spaces or none), as UTF-8; lone surrogates become U+FFFD.

    level: how deep the value stands, so that its inner lines are indented in step.
    """
    data = encodable(
        json.dumps(_javascript_numbers(value), ensure_ascii=False, separators=(",", ":"))
    ).encode()
    if not indent:
        return data
    # The other indentation is made in Python, and takes three times as long for the same bytes.
    data = msgspec.json.format(data, indent=2)
    return data.replace(b"\n", b"\n" + b"  " * level) if level else data


def _javascript_numbers(value: Any) -> Any:
    # Most values are texts, and a memory has hundreds of thousands of them.
    if type(value) is str:
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    if isinstance(value, dict):
        return {key: item if type(item) is str else _javascript_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [item if type(item) is str else _javascript_numbers(item) for item in value]
    return value


def split_object(text: bytes, *, once: str = "") -> dict[str, bytes]:
    """The fields of a JSON object in order, each value as its bytes; of equal names the last counts.

    once: a field that may not stand twice, since the second would hide what the first holds. Raises JsonError.
    """
    return {name: bytes(raw) for name, raw in _fields_of(text, once).items()}


def split_array(text: bytes | msgspec.Raw) -> list[bytes]:
    """The items of a JSON array, each as its bytes. Raises JsonError."""
    try:
        return list(map(bytes, _ITEMS.decode(text)))
    except _REFUSED:
        return [raw for _, raw in _parts(bytes(text), "[]", "not a list")]


def split_document(text: bytes, name: str) -> tuple[dict[str, bytes], list[bytes]]:
    """The fields of a JSON object in order, with an empty list in place of the one of this name, and its items.

    The field must not stand twice. Raises JsonError.
    """
    # Where the list stands in a file of ours; so msgspec goes over it once. It was that if the rest is such an object.
    begin = text.find(b"[", text.find(b'\n  "%s": [' % name.encode()), _LONGEST_HEAD)
    end = text.rfind(b"\n  ]", begin) + 4
    if 0 <= begin < end:
        stand_in = b'"%s"' % os.urandom(16).hex().encode()
        with suppress(JsonError, *_REFUSED):
            items = list(map(bytes, _ITEMS.decode(memoryview(text)[begin:end])))
            fields = split_object(text[:begin] + stand_in + text[end:], once=name)
            if fields.get(name) == stand_in:
                return fields | {name: b"[]"}, items
    found = _fields_of(text, name)
    items = split_array(found[name]) if name in found else []
    return {one: b"[]" if one == name else bytes(raw) for one, raw in found.items()} | {name: b"[]"}, items


def _fields_of(text: bytes, once: str) -> Mapping[str, bytes | msgspec.Raw]:
    try:
        fields = _FIELDS.decode(text)
    except _REFUSED:
        return _parted(text, once)
    # Bytes that are in none of the values: names, space, or a value that another of its name has hidden.
    between = len(text) - sum(memoryview(raw).nbytes for raw in fields.values())
    usual = _BETWEEN + sum(len(name) + _BETWEEN_FIELDS for name in fields)
    return _parted(text, once) if once and between > usual else fields


# msgspec refuses a whole file for one value that it does not take: a lone surrogate, NaN, a line break in a text.
# Python's own parser takes those and leaves the others readable, in ten times the time.


def _parted(text: bytes, once: str) -> dict[str, bytes]:
    fields: dict[str, bytes] = {}
    for name, raw in _parts(text, "{}", "not an object"):
        if name == once and name in fields:
            raise JsonError(f"the field {name!r} appears twice")
        fields[name] = raw
    return fields


def _parts(text: bytes, brackets: str, otherwise: str) -> Iterator[tuple[str, bytes]]:
    """The names, "" in a list, and the bytes of what stands within brackets. Raises JsonError."""
    said = text.decode("utf-8", "surrogateescape")
    place, name = _skip(said, 0), ""
    if not said.startswith(brackets[0], place):
        raise JsonError("it is empty" if place == len(said) else otherwise)
    place = _skip(said, place + 1)
    more = not said.startswith(brackets[1], place)
    try:
        while more:
            if brackets == "{}":
                name, place = _name_at(said, place)
            _, end = _LENIENT.raw_decode(said, place)
            yield name, said[place:end].encode("utf-8", "surrogateescape")
            place = _skip(said, end)
            more = said.startswith(",", place)
            place = _skip(said, place + 1) if more else place
    except (ValueError, RecursionError) as error:
        raise JsonError("it is cut off" if getattr(error, "pos", 0) >= len(said) else _said(error)) from error
    if not said.startswith(brackets[1], place):
        raise JsonError(_unexpected(said, place))
    if _skip(said, place + 1) != len(said):
        raise JsonError(f"more text after the end at character {place + 1}")


def _name_at(said: str, place: int) -> tuple[str, int]:
    """A field's name, and where its value begins. Raises JsonError, ValueError."""
    if not said.startswith('"', place):
        raise JsonError(_unexpected(said, place))
    name, place = _LENIENT.raw_decode(said, place)
    place = _skip(said, place)
    if not said.startswith(":", place):
        raise JsonError(_unexpected(said, place))
    return encodable(name), _skip(said, place + 1)


def _skip(said: str, place: int) -> int:
    return _SPACE.match(said, place).end()  # type: ignore[union-attr]


def _unexpected(said: str, place: int) -> str:
    return "it is cut off" if place >= len(said) else f"it is not valid JSON at character {place}"


def load(text: bytes) -> Any:
    """Any JSON value; lone surrogates and bytes that are no UTF-8 are read as U+FFFD. Raises JsonError."""
    try:
        value = _DECODER.decode(text.decode("utf-8", errors="replace"))
        return _DECODER.decode(dump(value).decode()) if _ESCAPED_HALF.search(text) else value
    except (ValueError, RecursionError) as error:
        raise JsonError(_said(error)) from error


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _said(error: BaseException) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number)
_LENIENT: Final = json.JSONDecoder(strict=False)
