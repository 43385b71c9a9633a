"""Front matter: the YAML that notes begin with. Texts, numbers, lists and maps are read; a change rewrites one field.

What is no YAML, or uses aliases or tags, is no front matter and stays in the text of its page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from yaml import Event

_FENCE: Final = "---"
_ENDS: Final = frozenset(("---", "..."))
_LONGEST: Final = 4000
_DEEPEST: Final = 8
# Reading as many takes a tenth of a second.
_MOST_EVENTS: Final = 20_000
# A link, as somebody types it without quotation marks.
_LINK: Final = re.compile(r"^([ ]*(?:\w[\w -]*:|-) )(\[\[[^\[\]\n]*\]\])[ ]*$", re.MULTILINE)
# Other values that YAML wants in quotation marks, and people type without.
_LOOSE: Final = re.compile(
    r"^([ ]*(?:- )?\w[\w -]*: +)(?![\[{][^\[{].*[\]}]$)([@`*&!%?{}\[\],].*|[^\s\"'|>#].*:(?: .*)?)$",
    re.MULTILINE,
)
# What every reader of YAML takes for a text, without quotation marks.
_PLAIN_TEXT: Final = re.compile(r"[^\W\d_](?:[^:#]|:(?=\S)|(?<=\S)#)*(?<![\s:])")
_PLAIN_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_NUMBER: Final = re.compile(r"[-+]?(?:0|[1-9]\d{0,15})(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
_UNPRINTABLE: Final = re.compile(
    "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None, "~": None, "": None}


def fenced(page: str) -> str:
    """What stands between fences at the beginning of a page, YAML or not, with the fences; "" for nothing."""
    if not page.startswith((f"{_FENCE}\n", f"{_FENCE}\r\n")):
        return ""
    end = page.index("\n") + 1
    for _ in range(_LONGEST + 1):
        start, end = end, page.find("\n", end) + 1 or len(page)
        if page[start:end].rstrip() in _ENDS:
            return page[:end]
    return ""


def split(page: str) -> tuple[str, str]:
    """The front matter with its fences, and the text below it; "" for none, and for what is no YAML."""
    front = fenced(page)
    return (front, page[len(front) :]) if front and _fields_of(front) is not None else ("", page)


def read(page: str) -> tuple[dict[str, Any], str]:
    """The fields of the front matter, and the text below it."""
    front, body = split(page)
    return dict(_fields_of(front) or {}), body


@lru_cache(maxsize=16)
def _fields_of(front: str) -> Mapping[str, Any] | None:
    """The fields between fences; None for what is no map of texts, numbers, lists and maps."""
    inner = "\n".join(front.replace("\r\n", "\n").rstrip("\n").split("\n")[1:-1])
    linked = _LINK.sub(_with_quotes, inner)
    for text in (linked, _LOOSE.sub(_with_quotes, linked)):
        with suppress(ValueError, RecursionError):
            return _of_yaml(text)
    return None


def _with_quotes(found: re.Match[str]) -> str:
    return f"{found[1]}{_quoted(found[2].rstrip())}"


def _of_yaml(text: str) -> dict[str, Any]:
    """Raises ValueError for what is no map of texts, numbers, lists and maps."""
    import yaml

    try:
        # Event by event: whoever builds what they stand for first can be made to take all memory, or the whole stack.
        parsed = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        events = islice(parsed, _MOST_EVENTS)
        found: Any = {}
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                found = _value(events, next(events), 0) if not found else None
    except (yaml.YAMLError, StopIteration) as error:
        raise ValueError(str(error)) from error
    if not isinstance(found, dict) or next(parsed, None) is not None:
        raise ValueError(text)
    return found


def _value(events: Iterator[Event], event: Event, depth: int) -> Any:
    """What begins with an event. Raises ValueError for what could refer to itself, or make something; StopIteration."""
    import yaml

    if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.anchor or event.tag:
        raise ValueError(event)
    if isinstance(event, yaml.ScalarEvent):
        return event.value if event.style else _plain(event.value)
    if depth > _DEEPEST:
        raise ValueError(depth)
    inner = iter(lambda: next(events), None)
    values = takewhile(lambda one: not isinstance(one, yaml.CollectionEndEvent), inner)
    if isinstance(event, yaml.SequenceStartEvent):
        return [_value(events, one, depth + 1) for one in values]
    fields: dict[str, Any] = {}
    for name in values:
        if not isinstance(name, yaml.ScalarEvent) or name.value in fields:
            raise ValueError(name)
        fields[name.value] = _value(events, next(events), depth + 1)
    return fields


def _plain(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text):
        return float(text) if any(char in text for char in ".eE") else int(text)
    return text


def write(fields: Mapping[str, Any]) -> str:
    """Fields as front matter, its fences around it. Texts stand in quotation marks, lists of texts on lines."""
    lines = [_FENCE]
    for name, value in fields.items():
        key = name if _PLAIN_KEY.fullmatch(name) else _quoted(name)
        if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
            lines += [f"{key}:", *(f"  - {_quoted(item)}" for item in value)]
        else:
            lines.append(f"{key}: {_quoted(value)}")
    return "\n".join([*lines, _FENCE, ""])


def _quoted(value: Any) -> str:
    """A value as JSON, which YAML reads as well, with what no editor shows as escapes."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def spelt(value: str) -> str:
    """A text as a value of a field, without quotation marks where every reader takes it for a text."""
    if _PLAIN_TEXT.fullmatch(value) and value.isprintable():
        front = f"{_FENCE}\nv: {value}\n{_FENCE}\n"
        if read(front)[0] == {"v": value}:
            return value
    written = _quoted(value)
    return written if json.loads(written) == value else json.dumps(value)


# Changing one field; all other lines keep their bytes


def with_field(
    front: str, name: str, made: Sequence[str], order: Sequence[str] = (), newline: str = "\n"
) -> str:
    """Front matter with other lines for a field; none for one that goes, and "" once no field is left.

    order: names of fields; a new one goes behind the last of those that precede it there, else first. newline: how
    lines end where there is no front matter yet.
    """
    lines = front.split("\n") if front else [_FENCE + newline[:-1], _FENCE + newline[:-1], ""]
    end = "\r" if lines[0].endswith("\r") else ""
    at, behind = _place(lines, name)
    if not at:
        earlier = order[: order.index(name)] if name in order else ()
        at = behind = max((_place(lines, one)[1] for one in earlier), default=0) or 1
    lines[at:behind] = [line + end for line in made]
    filled = any(line.strip() for line in lines[1 : _closing(lines)])
    return "\n".join(lines) if filled else ""


def _closing(lines: Sequence[str]) -> int:
    return next((at for at in range(1, len(lines)) if lines[at].rstrip() in _ENDS), len(lines))


def _place(lines: Sequence[str], name: str) -> tuple[int, int]:
    """The first line of a field and the one behind its last, 0 and 0 for none. What is indented belongs to it."""
    known = re.compile(rf"""(["']?){re.escape(name)}\1[ \t]*:(?=\s|$)""")
    last = _closing(lines)
    at = next((place for place in range(1, last) if known.match(lines[place])), 0)
    end = at + 1 if at else 0
    for place in range(end, last if at else 0):
        if lines[place].strip():
            if not lines[place].startswith((" ", "- ")):
                break
            end = place + 1
    return at, end
