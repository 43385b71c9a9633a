"""JSON as the original writes it, and JSON taken apart without touching the bytes of its parts."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from core.text.exact import encodable

# The escape of half a character, and of each half of a whole one.
_ESCAPED_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SIMPLE: Final = re.compile(rb"%s|[^\s,:\[\]{}\"]++" % _STRING, re.DOTALL)
_BETWEEN_BRACKETS: Final = re.compile(rb"(?:[^\[\]{}\"]++|%s)++" % _STRING, re.DOTALL)
_BETWEEN: Final = 32
_BETWEEN_FIELDS: Final = 12
# Bytes of a list that are read in one go, which takes a millisecond; the field before it begins within so many.
_PIECE: Final = 1 << 20
_LONGEST_HEAD: Final = 1 << 16
_BETWEEN_ITEMS: Final = b"\n    },\n    {"
_INDENT: Final = b"\n    "
_MARK: Final = b"," + _INDENT
# So many items are compared in one go: other threads get their turn in between.
_COMPARED: Final = 256
# After an item that is another than before, one of the next few is looked for within so many bytes; and so often.
_AHEAD: Final = 4
_SOON: Final = 1 << 16
_RESUMED: Final = 64
_CLOSING: Final = {b"{": b"}", b"[": b"]"}
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])


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
    try:
        fields = {name: bytes(raw) for name, raw in _FIELDS.decode(text).items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _split_object_slowly(text, once)
    # Bytes that are in none of the values: names, space, or a value that another of its name has hidden.
    between = len(text) - sum(map(len, fields.values()))
    usual = _BETWEEN + sum(len(name) + _BETWEEN_FIELDS for name in fields)
    return _split_object_slowly(text, once) if once and between > usual else fields


def split_array(text: bytes) -> list[bytes]:
    """The items of a JSON array, each as its bytes. Raises JsonError."""
    try:
        return [bytes(raw) for raw in _ITEMS.decode(text)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _split_array_slowly(text)


def split_document(
    text: bytes, name: str, known: Sequence[bytes] = ()
) -> tuple[dict[str, bytes], list[bytes]]:
    """The fields of a JSON object in order, with an empty list in place of the one of this name, and its items.

    The field must not stand twice. known: the items of the former text; those that still stand at the beginning and
    at the end of the list are taken over as the same objects. Of a long text other threads get their turn every few
    milliseconds, as long as it is written as `dump` with indentation writes it. Raises JsonError.
    """
    found = _split_in_pieces(text, name, known) if len(text) > _PIECE else None
    if found is None:
        fields = split_object(text, once=name)
        found = fields, split_array(fields[name]) if name in fields else []
    fields, items = found
    return fields | {name: b"[]"}, items


def _split_in_pieces(
    text: bytes, name: str, known: Sequence[bytes] = ()
) -> tuple[dict[str, bytes], list[bytes]] | None:
    """None for a text that is written in another way.

    msgspec holds the interpreter until a text is read to its end, so the list is read in pieces, cut where a line ends
    that looks like the end of an item. Each piece is a list of its own if the place was right; and the text around the
    list is an object with the list's stand-in as the field, if the list was that field.
    """
    begin = text.find(b"[", text.find(b'\n  "%s": [' % name.encode()), _LONGEST_HEAD)
    end = text.rfind(b"\n  ]", begin) + 4
    if begin < 0 or end <= begin:
        return None
    stand_in = b'"%s"' % os.urandom(16).hex().encode()
    try:
        fields = split_object(text[:begin] + stand_in + text[end:], once=name)
        if fields.get(name) != stand_in:
            return None
        return fields, _between_known(text, begin + 1, end - 1, known)
    except (JsonError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _between_known(text: bytes, place: int, end: int, known: Sequence[bytes]) -> list[bytes]:
    """The items of the list whose inside is text[place:end]; those known are not read again, as far as they follow each
    other at its beginning, at its end, and after each of a few places in between at which something else stands.

    What is left between them is read as lists of its own. So all parts are lists, one after the other, and there is
    one way only to read them as one.
    """
    first, place = _known_ahead(text, place, end, known, range(len(known)), _INDENT)
    # The line break before the closing bracket.
    last, stop = _known_behind(text, place, end - len(b"\n  "), known, first)
    if last == len(known):
        stop = end
    items = [*known[:first]]
    for _ in range(_RESUMED):
        found = _next_known(text, place, stop, known[first : min(first + _AHEAD, last)])
        if found is None:
            break
        passed, until = found
        items += _unknown(text, place, until, items)
        if not items:
            raise JsonError("the list is malformed")
        begin = first + passed
        first, place = _known_ahead(text, until, stop, known, range(begin, last), _MARK)
        items += known[begin:first]
    items += _unknown(text, place, stop, items)
    if last < len(known) and not items:
        raise JsonError("the list is malformed")
    return [*items, *known[last:]]


def _unknown(text: bytes, place: int, stop: int, before: Sequence[bytes]) -> list[bytes]:
    """The items of a part of a list, which begins with a comma where others stand before it."""
    comma = b"," if before else b""
    if text.startswith(comma, place) and text[place + len(comma) : stop].strip(b" \t\r\n"):
        return _in_pieces(text, place + len(comma), stop)
    if text[place:stop].strip(b" \t\r\n"):
        raise JsonError("the list is malformed")
    return []


def _next_known(text: bytes, place: int, stop: int, near: Sequence[bytes]) -> tuple[int, int] | None:
    """The first of these known items that follows soon, as its number, and where the comma before it stands."""
    for number, item in enumerate(near):
        found = text.find(_MARK + item, place, min(place + _SOON + len(item), stop))
        if found >= 0:
            return number, found
    return None


def _known_ahead(
    text: bytes, place: int, stop: int, known: Sequence[bytes], among: range, begin: bytes
) -> tuple[int, int]:
    """Which of some known items is the first that does not follow the others from a place on, and where the last that
    does ends. begin: what stands before the first.
    """
    first, step = among.start, _COMPARED
    while step and first < among.stop:
        block = known[first : min(first + step, among.stop)]
        written = begin + _MARK.join(block)
        if text.startswith(written, place, stop):
            begin = _MARK
            place += len(written)
            first += len(block)
        else:
            # Fewer at a time, until it is one that differs.
            step //= 4
    return first, place


def _known_behind(text: bytes, place: int, stop: int, known: Sequence[bytes], first: int) -> tuple[int, int]:
    """The first of the known items that stand one after the other up to `stop`, and where the comma before it does.

    Those before `first` are spoken for, and so is what lies before `place`.
    """
    last, step = len(known), _COMPARED
    while step and first < last:
        block = known[max(last - step, first) : last]
        written = _MARK + _MARK.join(block)
        if text.endswith(written, place, stop):
            stop -= len(written)
            last -= len(block)
        else:
            step //= 4
    return last, stop


def _in_pieces(text: bytes, place: int, end: int) -> list[bytes]:
    items: list[bytes] = []
    while place < end:
        cut = text.find(_BETWEEN_ITEMS, min(place + _PIECE, end), end)
        stop = end if cut < 0 else cut + _BETWEEN_ITEMS.index(b",")
        items += [bytes(raw) for raw in _ITEMS.decode(b"[%s]" % text[place:stop])]
        place = stop + 1
    return items


def load(text: bytes) -> Any:
    """Any JSON value; lone surrogates and bytes that are no UTF-8 are read as U+FFFD. Raises JsonError."""
    try:
        value = _DECODER.decode(text.decode("utf-8", errors="replace"))
        return _DECODER.decode(dump(value).decode()) if _ESCAPED_HALF.search(text) else value
    except (ValueError, RecursionError) as error:
        raise JsonError(_said(error)) from error


# msgspec refuses a whole file for one value that it does not take: a lone surrogate, NaN, a number such as 01,
# ten thousand brackets. Cutting the parts out by brackets and strings alone leaves the others readable.


def _split_object_slowly(text: bytes, once: str) -> dict[str, bytes]:
    place = _opened(text, b"{", "not an object")
    fields: dict[str, bytes] = {}
    while not text.startswith(b"}", place):
        end = _value_end(text, place)
        name = load(text[place:end])
        place = _skip(text, end)
        if not isinstance(name, str) or not text.startswith(b":", place):
            raise JsonError(f"a field's name is expected at byte {place}")
        if name == once and name in fields:
            raise JsonError(f"the field {name!r} appears twice")
        start = _skip(text, place + 1)
        end = _value_end(text, start)
        fields[name] = text[start:end]
        place = _next(text, end, b"}")
    _expect_end(text, place + 1)
    return fields


def _split_array_slowly(text: bytes) -> list[bytes]:
    place = _opened(text, b"[", "not a list")
    items: list[bytes] = []
    while not text.startswith(b"]", place):
        end = _value_end(text, place)
        items.append(text[place:end])
        place = _next(text, end, b"]")
    _expect_end(text, place + 1)
    return items


def _opened(text: bytes, bracket: bytes, otherwise: str) -> int:
    place = _skip(text, 0)
    if not text.startswith(bracket, place):
        raise JsonError("it is empty" if place == len(text) else otherwise)
    return _skip(text, place + 1)


def _value_end(text: bytes, place: int) -> int:
    """Where the value that begins at `place` ends."""
    simple = _SIMPLE.match(text, place)
    if simple:
        return simple.end()
    awaited = bytearray()
    while True:
        bracket = text[place : place + 1]
        if bracket in _CLOSING:
            awaited += _CLOSING[bracket]
        elif not awaited or awaited.pop() != ord(bracket or b" "):
            raise JsonError(_unexpected(text, place))
        place += 1
        if not awaited:
            return place
        inside = _BETWEEN_BRACKETS.match(text, place)
        place = inside.end() if inside else place


def _skip(text: bytes, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _next(text: bytes, place: int, closing: bytes) -> int:
    place = _skip(text, place)
    if text.startswith(b",", place):
        following = _skip(text, place + 1)
        if text.startswith(closing, following):
            raise JsonError(f"a value is expected at byte {following}")
        return following
    if not text.startswith(closing, place):
        raise JsonError(_unexpected(text, place))
    return place


def _expect_end(text: bytes, place: int) -> None:
    if _skip(text, place) != len(text):
        raise JsonError(f"more text after the end at byte {place}")


def _unexpected(text: bytes, place: int) -> str:
    cut_off = place >= len(text) or (text.startswith(b'"', place) and not _SIMPLE.match(text, place))
    return "it is cut off" if cut_off else f"it is not valid JSON at byte {place}"


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _said(error: BaseException) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number)
