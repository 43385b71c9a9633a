"""Files of a memory damaged at random, in their bytes or in the shape of what stands in them."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

from kits.memory_files import javascript

_TOKENS = (
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\\ud800", b'"', b"'", b"{", b"}", b"[", b"]", b",", b":", b"null", b"NaN",
    b"1e999", b"-", b"\\", b"\n", b"\r\n", b"\t", b"[" * 300, b"{" * 40, b'{"id":', b'"notes": []', b"// x\n",
    b"\xef\xbb\xbf",
    b"<<<<<<< ours\n", b'"__proto__"', b"e5", b"0", b"01", b"\xc3",
)  # fmt: skip
_NAMES = (
    "id", "nuggetName", "title", "content", "tags", "links", "vector", "hidden", "kind", "sourceKey", "hits", "key",
    "lastHitSession", "createdAt", "updatedAt", "scope", "confidence", "hiddenFact", "extra", "version", "notes",
    "facts", "name", "D", "banks", "config", "value", "last_hit_session", "constructor", "__proto__", "", "archivedAt",
    "to", "reason",
)  # fmt: skip


def damaged_bytes(data: bytes, chance: Random) -> bytes:
    """The bytes with one to four places of them changed, lost, doubled or swapped."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        data = _damage_one(data, chance)
    return data


def _damage_one(data: bytes, chance: Random) -> bytes:
    size = len(data)
    start = chance.randrange(size + 1)
    end = min(size, start + chance.choice((1, 1, 2, 7, 40, 300)))
    match chance.randrange(8):
        case 0:
            return data[:start]
        case 1:
            return data[:start] + data[end:]
        case 2:
            return data[:start] + chance.choice(_TOKENS) + data[start:]
        case 3:
            return data[:start] + chance.choice(_TOKENS) + data[end:]
        case 4:
            return data[:start] + data[start:end] * 2 + data[end:]
        case 5:
            return data[:start] + bytes(chance.randrange(256) for _ in range(end - start)) + data[end:]
        case 6:
            other = chance.randrange(size + 1)
            first, second = sorted((start, other))
            return data[second:] + data[first:second] + data[:first]
        case _:
            return (
                data[:start] + bytes([data[start] ^ 1 << chance.randrange(8)]) + data[end:]
                if start < size
                else b""
            )


def damaged_shape(shaped: Any, chance: Random) -> bytes:
    """The file with one to three of its values, names or items changed, written as another program writes it."""
    shaped = copy.deepcopy(shaped)
    for _ in range(chance.choice((1, 1, 2, 3))):
        shaped = _reshape(shaped, chance)
    text = javascript(shaped, indent=chance.choice((2, 2, None)))
    return text + b"\n"


def _reshape(shaped: Any, chance: Random) -> Any:
    places = list(_places(shaped))
    holder, name = chance.choice(places) if places else (None, None)
    if holder is None or chance.randrange(40) == 0:
        return strange_value(chance)
    match chance.randrange(6):
        case 0 if isinstance(holder, dict):
            del holder[name]
        case 1 if isinstance(holder, dict):
            holder[chance.choice(_NAMES)] = holder.pop(name)
        case 2 if isinstance(holder, list):
            holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(holder[name]))
        case 3 if isinstance(holder, list):
            chance.shuffle(holder)
        case 4:
            # A value that stands elsewhere in the file: ids and keys meet their likes.
            other, place = chance.choice(places)
            holder[name] = copy.deepcopy(other[place])
        case _:
            holder[name] = strange_value(chance)
    return shaped


def _places(shaped: Any) -> Any:
    """Every value inside: what holds it, and under which name or at which place."""
    if not isinstance(shaped, dict | list):
        return
    items = list(shaped.items()) if isinstance(shaped, dict) else list(enumerate(shaped))
    for name, value in items:
        yield shaped, name
        if isinstance(value, dict | list):
            yield from _places(value)


def strange_value(chance: Random) -> Any:
    """A value that hardly belongs where it is put."""
    nested: Any = 0
    for _ in range(chance.choice((3, 120, 600))):
        nested = [nested] if chance.randrange(2) else {"a": nested}
    return chance.choice(
        (
            None, True, False, 0, -1, 3, 5, 99, 1.5, 2**53, -(2**70), 10**400, float("nan"), float("inf"), "", " ", "x",
            "\ud800", "\x00", "a\nb", "../evil", "x" * 3000, "2026-01-02T03:04:05.678Z", "note-memory-00000001",
            "user:a", "scope:user", [], {}, [None], [[]], {"a": 1}, ["memory", 5], [{"to": "nowhere"}], nested,
        )
    )  # fmt: skip


def shape_of(data: bytes) -> Any:
    """The JSON value of a sound file."""
    return json.loads(data)
