"""JSON as the original writes it, and JSON taken apart without touching the bytes of its parts."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import msgspec

from core.text.exact import encodable

# The escape of half a character, and of each half of a whole one.
_ESCAPED_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
# What msgspec takes nowhere, and JavaScript or Python writes all the same; escapes of all kinds, to read them whole.
_ODD: Final = re.compile(rb"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)|NaN|Infinity|[\x00-\x1f]", re.DOTALL)
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
    found = dict(zip(*_parts(_FIELDS, text), strict=True))
    # Bytes that are in none of the values: names, space, or a value that another of its name has hidden.
    between = len(text) - sum(map(len, found.values()))
    if once and between > _BETWEEN + sum(len(name) + _BETWEEN_FIELDS for name in found):
        names: list[str] = []
        # The object itself comes last.
        json.JSONDecoder(object_pairs_hook=lambda pairs: names.__setitem__(slice(None), [name for name, _ in pairs]),
                         strict=False).decode(text.decode(errors="replace"))  # fmt: skip
        if names.count(once) > 1:
            raise JsonError(f"the field {once!r} appears twice")
    return found


def split_array(text: bytes) -> list[bytes]:
    """The items of a JSON array, each as its bytes. Raises JsonError."""
    return _parts(_ITEMS, text)[1]


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
    fields = split_object(text, once=name)
    return fields | {name: b"[]"}, split_array(fields.get(name, b"[]"))


def _parts(decoder: msgspec.json.Decoder[Any], text: bytes) -> tuple[Iterable[str], list[bytes]]:
    """The names, if any, and the bytes of the parts of an object or array. Raises JsonError.

    msgspec refuses a whole file for one lone surrogate, NaN, or line break in a text. With other bytes in their places
    it takes the file, and each part stands where it stood.
    """
    try:
        found, plain = decoder.decode(text), text
    except _REFUSED as error:
        if not text.strip():
            raise JsonError("it is empty") from None
        try:
            plain = _ODD.sub(_plain, text)
            found = decoder.decode(plain)
        except _REFUSED:
            raise JsonError(_said(error)) from error
    raws = found.values() if isinstance(found, dict) else found
    if plain is text:
        return found, list(map(bytes, raws))
    import numpy

    def address(data: Any) -> int:
        return numpy.frombuffer(data, "u1").ctypes.data

    begin = address(plain)
    return found, [text[(at := address(raw) - begin) : at + memoryview(raw).nbytes] for raw in raws]


def _plain(odd: re.Match[bytes]) -> bytes:
    """As many other bytes that stand for nothing; of an escape, which may be that of a backslash, itself."""
    if odd[0].startswith(b"\\"):
        return rb"\u0020" if len(odd[0]) > 2 else odd[0]
    return b"0.0" if odd[0] == b"NaN" else b" " if len(odd[0]) == 1 else b"1" * len(odd[0])


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
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error).replace("Input data was truncated", "it is cut off").replace("`", "'")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number)
