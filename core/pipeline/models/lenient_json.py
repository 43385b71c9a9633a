"""JSON as models write it: one object read from the middle of a text, without recursion and within fixed bounds.

The library's parser recurses, knows no trailing commas, takes NaN, and on a failure counts lines from the start of
the text, which makes a million failures quadratic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from typing import Final

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
JsonObject = dict[str, Json]

DEEPEST: Final = 32
# Python refuses to read longer integers; as a float any length is read.
_LONGEST_INTEGER: Final = 18
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NUMBER: Final = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_TOKEN: Final = re.compile(
    rf"[ \t\r\n]*+(?:([{{}}\[\],:])|({_STRING})|({_NUMBER})|(true|false|null))", re.DOTALL
)
# For single strings only, where it does not recurse.
_DECODER: Final = JSONDecoder(strict=False)
_WHOLE_STRING: Final = re.compile(_STRING, re.DOTALL)
# The text ends within a token.
_CUT: Final = re.compile(r'[ \t\r\n]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+\\?|[-+.a-zA-Z0-9]*+)\Z', re.DOTALL)
_NEEDS_READING: Final = re.compile(r"[\\\ud800-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LITERALS: Final[dict[str, Json]] = {"true": True, "false": False, "null": None}
# What may come next: a key or the end, a colon, a value, an item or the end, a comma or the end.
_MEMBER, _COLON, _VALUE, _ITEM, _AFTER = range(5)


@dataclass(slots=True)
class Attempt:
    """One try at an object.

    value: the object, None when it is broken or unfinished. stop: where reading stopped, an index of the text.
    unfinished: the text ended within it. keys: those of the object itself, also when it is unfinished.
    """

    value: JsonObject | None
    stop: int
    unfinished: bool = False
    keys: frozenset[str] = field(default_factory=frozenset)


def read_string(text: str) -> str | None:
    """The value of a JSON string that is the whole of a text; None when it is none."""
    return _string(text) if _WHOLE_STRING.fullmatch(text) else None


def read_object(text: str, start: int) -> Attempt:
    """The object that begins with the brace at an index of the text.

    Lenient where models are careless: trailing commas and raw line breaks in strings pass. NaN and Infinity do not,
    nor does what is nested deeper than DEEPEST. Lone surrogates become U+FFFD.
    """
    root: JsonObject = {}
    stack: list[JsonObject | list[Json]] = [root]
    names: list[str] = [""]
    root_keys: set[str] = set()
    position, state = start + 1, _MEMBER
    while True:
        token = _TOKEN.match(text, position)
        if token is None:
            cut = _CUT.match(text, position) is not None
            return Attempt(None, len(text) if cut else position, cut, frozenset(root_keys))
        position, kind, raw = token.end(), token.lastindex, token[token.lastindex or 0]
        value: Json
        if kind == 1:
            if state == _COLON and raw == ":":
                state = _VALUE
                continue
            if state == _AFTER and raw == ",":
                state = _MEMBER if isinstance(stack[-1], dict) else _ITEM
                continue
            if raw == ("}" if isinstance(stack[-1], dict) else "]") and state in (_MEMBER, _ITEM, _AFTER):
                stack.pop()
                names.pop()
                if not stack:
                    return Attempt(root, position, keys=frozenset(root_keys))
                state = _AFTER
                continue
            if raw not in "{[" or state not in (_VALUE, _ITEM) or len(stack) >= DEEPEST:
                return Attempt(None, position, keys=frozenset(root_keys))
            opened: JsonObject | list[Json] = {} if raw == "{" else []
            _put(stack[-1], names[-1], opened)
            stack.append(opened)
            names.append("")
            state = _MEMBER if raw == "{" else _ITEM
            continue
        if kind == 2:
            said = _string(raw)
            if said is None:
                return Attempt(None, position, keys=frozenset(root_keys))
            if state == _MEMBER:
                names[-1] = said
                if len(stack) == 1:
                    root_keys.add(said)
                state = _COLON
                continue
            value = said
        elif kind == 3:
            value = int(raw) if len(raw) <= _LONGEST_INTEGER and raw.lstrip("-").isdigit() else float(raw)
        else:
            value = _LITERALS[raw]
        if state not in (_VALUE, _ITEM):
            return Attempt(None, position, keys=frozenset(root_keys))
        _put(stack[-1], names[-1], value)
        state = _AFTER


def _put(container: JsonObject | list[Json], name: str, value: Json) -> None:
    if isinstance(container, dict):
        container[name] = value
    else:
        container.append(value)


def _string(raw: str) -> str | None:
    if not _NEEDS_READING.search(raw):
        return raw[1:-1]
    try:
        value = _DECODER.decode(raw)
    except JSONDecodeError:
        return None
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) else None
