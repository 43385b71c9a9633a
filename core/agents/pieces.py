"""What of ours goes into a file of an agent: entries, lines between marks or a whole file; put in and taken out.

`first` is the file as it was before ours came, b"" for no file, None where nobody knows any more: it tells which empty
objects and line ends stood there before.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal

from core.agents.jsonc import JsonError, JsonText
from core.errors import NuggetsError
from core.storage.files.toml import with_values

State = Literal["absent", "current", "outdated", "foreign"]
Part = Literal["server", "hooks", "instructions"]
Keys = tuple[str, ...]
Json = dict[str, Any]
_BOM: Final = b"\xef\xbb\xbf"
_UNREADABLE: Final = (b"\xff\xfe", b"\xfe\xff")
_FIRST_LINE: Final = "<!-- nuggets:begin (nuggets agent remove takes these lines out) -->"
_LAST_LINE: Final = "<!-- nuggets:end -->"
_FIRSTS: Final = re.compile(rb"^<!-- nuggets:begin[^\r\n]*(?:\r?\n|\Z)", re.MULTILINE)
_LASTS: Final = re.compile(rb"^<!-- nuggets:end -->[^\r\n]*(?:\r?\n|\Z)", re.MULTILINE)
# Where groups of hooks have them.
_GROUP: Final = "hooks"
# What a person may set in an entry of ours as they like; it counts as ours all the same.
_YOURS: Final = frozenset(("enabled", "exposure", "matcher", "timeout"))
# Headings of tables, and what stands behind the last value of one.
_HEADINGS: Final = re.compile(rb"^[ \t]*\[.*$", re.MULTILINE)
_LEFT_BEHIND: Final = re.compile(rb"(?<=\n)(?:[ \t]*(?:#[^\n]*)?\r?\n|[ \t]*#[^\n]*\Z|[ \t]+\Z)*\Z")
# Stands in each file that is ours as a whole.
WHOLE_MARK: Final = b"made by nuggets-tui"


class PieceError(ValueError):
    """A file that a piece of ours cannot be put into or taken out of, in a few words. foreign: something else stands
    there under our name.
    """

    def __init__(self, what: str, *, foreign: bool = False) -> None:
        super().__init__(what)
        self.foreign = foreign


@dataclass(frozen=True)
class Piece:
    """One thing of ours in a file. part: what it is for. Methods raise PieceError for a file that is no such file."""

    part: Part

    def state(self, data: bytes) -> State:
        """How it stands in the file."""
        raise NotImplementedError

    def put(self, data: bytes, first: bytes | None = None) -> bytes:
        """The file with it, every other byte kept."""
        state = self.state(data)
        if state == "foreign":
            raise PieceError(f"{self._name} is there already, and it is not of this program", foreign=True)
        return data if state == "current" else self._with(data, first)

    def take(self, data: bytes, first: bytes | None = None) -> bytes:
        """The file without it."""
        return data if self.state(data) == "foreign" else self._without(data, first)

    @property
    def _name(self) -> str:
        return "the file"

    def _with(self, data: bytes, first: bytes | None) -> bytes:
        raise NotImplementedError

    def _without(self, data: bytes, first: bytes | None) -> bytes:
        raise NotImplementedError


def _text(data: bytes) -> tuple[str, bytes]:
    bom = _BOM if data.startswith(_BOM) else b""
    try:
        return data[len(bom) :].decode("utf-8"), bom
    except UnicodeDecodeError as error:
        raise PieceError(f"it is not UTF-8 (byte {error.start})") from None


def _newline(data: bytes) -> str:
    return "\r\n" if b"\r\n" in data else "\n"


def _joint(data: bytes) -> str:
    """What sets lines of ours apart from the text that they are put behind."""
    return "" if not data else _newline(data) if data.endswith(b"\n") else _newline(data) * 2


def _unjoined(before: bytes, behind: bytes, first: bytes | None) -> bytes:
    """The text before lines of ours, without what set them apart from it. behind: what comes after ours."""
    newline = b"\r\n" if before.endswith(b"\r\n") else b"\n"
    if first == b"" or not before.endswith(newline * 2):
        return before
    # A text had no line end. Where somebody went on behind our lines, it needs one now.
    had_no_end = first is not None and not first.endswith(b"\n") and not behind
    return before.removesuffix(newline * 2 if had_no_end else newline)


@dataclass(frozen=True)
class JsonPiece(Piece):
    """Entries of a JSON file.

    entries: values by the keys that lead to each; a tuple stands for items of the list there. mine: whether a value
    found at such a place is ours. seed: what a new file holds besides. strict: whether the agent reads no comments and
    no trailing commas. off: settings of the file that keep ours from working, each with the value that does.
    """

    entries: Mapping[Keys, Any]
    mine: Callable[[Any], bool]
    seed: Mapping[str, Any] = field(default_factory=dict)
    strict: bool = False
    off: Mapping[Keys, Any] = field(default_factory=dict)

    def state(self, data: bytes) -> State:
        value = _json(data).value
        states = {self._state_at(value, keys, wanted) for keys, wanted in self.entries.items()}
        if "foreign" in states:
            return "foreign"
        strays = any(keys not in self.entries for keys in self._lists(value))
        return "outdated" if strays or len(states) > 1 else states.pop()

    @property
    def _name(self) -> str:
        return ".".join(next(iter(self.entries)))

    def _with(self, data: bytes, first: bytes | None) -> bytes:
        document = _json(data, self.seed)
        value = _opened(document.value, self.entries)
        # Items of lists come anew; an entry is brought up where it stands, with what somebody added to it.
        for keys in self._lists(value):
            self._drop(value, keys)
        cleared = _holding(document, value)
        for keys, wanted in self.entries.items():
            holder = _holder(value, keys[:-1])
            if isinstance(wanted, tuple):
                holder[keys[-1]] = [*holder.get(keys[-1], []), *wanted]
            else:
                holder[keys[-1]] = _brought_up(holder.get(keys[-1], {}), wanted)
        return (_BOM if data.startswith(_BOM) else b"") + _holding(cleared, value).text.encode()

    def take(self, data: bytes, first: bytes | None = None) -> bytes:
        text, bom = _text(data)
        if not text.strip():
            return data
        document = _json(data)
        value = _opened(document.value, self.entries)
        for keys in (*self._lists(value), *self.entries):
            self._drop(value, keys)
        if first is not None:
            before = _json(first).value
            for keys in self.entries:
                _drop_empty(value, before, keys)
            if not first.strip() and value == self.seed:
                return first
        return bom + _holding(document, value).text.encode()

    def ignored(self, data: bytes) -> str:
        """Why the agent pays no heed to ours in a file that can be read; "" where it does."""
        text, bom = _text(data)
        document = _json(data)
        if self.strict and text.strip() and (bom or not document.is_plain):
            return "the agent reads no file with comments, trailing commas or a byte order mark"
        for keys, value in self.off.items():
            if _at(document.value, keys) is value:
                return f"{'.'.join(keys)} is {json.dumps(value)}, so no hook runs"
        return ""

    def entry(self, data: bytes) -> Any:
        """What stands in the file at the first of our places; None for nothing."""
        return _at(_json(data).value, next(iter(self.entries)))

    def _state_at(self, value: Json, keys: Keys, wanted: Any) -> State:
        for depth in range(1, len(keys)):
            if not isinstance(_at(value, keys[:depth]), dict | None):
                raise PieceError(f"{'.'.join(keys[:depth])} is not an object")
        found = _at(value, keys)
        if found is None:
            return "absent"
        if not isinstance(wanted, tuple):
            return "foreign" if not self.mine(found) else "current" if _agrees(found, wanted) else "outdated"
        if not isinstance(found, list):
            raise PieceError(f"{'.'.join(keys)} is not a list")
        ours = [part for item in found if (part := self._ours(item)) is not None]
        return "absent" if not ours else "current" if _agrees(ours, list(wanted)) else "outdated"

    def _lists(self, value: Json) -> list[Keys]:
        """The lists that hold items of ours, also those in which an earlier version put them."""
        outers = {keys[:-1] for keys, wanted in self.entries.items() if isinstance(wanted, tuple)}
        return [
            (*outer, key)
            for outer in outers
            for key, items in (_at(value, outer) or {}).items()
            if isinstance(items, list) and any(self._ours(item) is not None for item in items)
        ]

    def _drop(self, value: Json, keys: Keys) -> None:
        """Takes what is ours out of a value: an entry, or items of a list."""
        holder = _at(value, keys[:-1])
        found = holder.get(keys[-1]) if isinstance(holder, dict) else None
        if isinstance(found, list):
            holder[keys[-1]] = [part for item in found if (part := self._others(item)) is not None]
        elif found is not None and self.mine(found):
            del holder[keys[-1]]

    def _ours(self, item: Any) -> Any:
        """What of an item of a list is ours: all of it, or some of a group that others are in too; None for none."""
        if self.mine(item):
            return item
        group = item.get(_GROUP) if isinstance(item, dict) else None
        inner = [one for one in group if self.mine(one)] if isinstance(group, list) else []
        return {**item, _GROUP: inner} if inner else None

    def _others(self, item: Any) -> Any:
        """What of an item is of others; None for nothing."""
        if self._ours(item) is None:
            return item
        return (
            None if self.mine(item) else {**item, _GROUP: [one for one in item[_GROUP] if not self.mine(one)]}
        )


def _json(data: bytes, seed: Mapping[str, Any] | None = None) -> JsonText:
    """A file as JSON; a blank one as what a new one holds. Raises PieceError for no object."""
    text, _ = _text(data)
    try:
        document = JsonText(text if text.strip() else f"{json.dumps(dict(seed or {}), indent=2)}\n")
    except JsonError as error:
        raise PieceError(f"it is no JSON ({error})") from None
    if not isinstance(document.value, dict):
        raise PieceError("it is JSON, but not an object")
    return document


def _holding(document: JsonText, value: Json) -> JsonText:
    try:
        return document if value == document.value else JsonText(document.holding(value))
    except JsonError as error:
        raise PieceError(str(error)) from None
    except RecursionError:
        raise PieceError("it is nested too deeply") from None


def _at(value: Any, keys: Keys) -> Any:
    """The value behind keys of objects within objects; None for none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _opened(value: Json, paths: Iterable[Keys]) -> Json:
    """The same value, whose objects along some paths may be changed."""
    made = dict(value)
    for keys in paths:
        holder = made
        for key in keys[:-1]:
            if not isinstance(holder.get(key), dict):
                break
            holder[key] = dict(holder[key])
            holder = holder[key]
    return made


def _holder(value: Json, keys: Keys) -> Json:
    """The object behind keys, made where there is none. Raises PieceError where something else is."""
    for depth, key in enumerate(keys, 1):
        value = value.setdefault(key, {})
        if not isinstance(value, dict):
            raise PieceError(f"{'.'.join(keys[:depth])} is not an object")
    return value


def _drop_empty(value: Json, before: Json, keys: Keys) -> None:
    """Drops empty objects and lists behind keys that were not there before."""
    for depth in range(len(keys), 0, -1):
        holder = _at(value, keys[: depth - 1])
        if (
            isinstance(holder, dict)
            and holder.get(keys[depth - 1]) in ({}, [])
            and _at(before, keys[:depth]) is None
        ):
            del holder[keys[depth - 1]]


def _brought_up(found: Json, wanted: Json) -> Json:
    """An entry of ours as it should be; what somebody added to it or may set in it stays."""
    return found | {key: value for key, value in wanted.items() if key not in _YOURS or key not in found}


def _agrees(found: Any, wanted: Any) -> bool:
    """Whether a value is as it should be, but for what a person may set as they like."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return all(
            key in _YOURS or (key in found and _agrees(found[key], value)) for key, value in wanted.items()
        )
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_agrees, found, wanted))
    return bool(found == wanted)


@dataclass(frozen=True)
class TomlPiece(Piece):
    """A table of a TOML file, at its end. values: what it holds. mine: whether a table is ours.

    It has no marks: Codex drops comments before its tables of servers when it writes one itself.
    """

    keys: Keys
    values: Mapping[str, Any]
    mine: Callable[[Any], bool]

    def state(self, data: bytes) -> State:
        found = _at(_toml(data), self.keys)
        if found is None:
            return "absent"
        if not self.mine(found):
            return "foreign"
        return "current" if all(found.get(key) == value for key, value in self.values.items()) else "outdated"

    @property
    def _name(self) -> str:
        return ".".join(self.keys)

    def _with(self, data: bytes, first: bytes | None) -> bytes:
        if self.state(data) == "outdated":
            return self._changed(data, self.values)
        rows = "".join(f"{key} = {json.dumps(one, ensure_ascii=False)}\n" for key, one in self.values.items())
        lines = f"[{'.'.join(self.keys)}]\n{rows}".replace("\x7f", "\\u007f").replace("\n", _newline(data))
        made = data + (_joint(data) + lines).encode()
        if self._others(made) != self._others(data):
            raise PieceError(f"{self._name} cannot be added without changing others")
        return made

    def _without(self, data: bytes, first: bytes | None) -> bytes:
        if self.state(data) == "absent":
            return data
        made = self._without_lines(data, first)
        if self._others(made) == self._others(data) and self.state(made) == "absent":
            return made
        return self._changed(data, dict.fromkeys(_at(_toml(data), self.keys)))

    def entry(self, data: bytes) -> Any:
        """What stands in the file at our place; None for nothing."""
        return _at(_toml(data), self.keys)

    def _without_lines(self, data: bytes, first: bytes | None) -> bytes:
        """The file without the lines of our table and of those in it; what comes behind its last value stays."""
        name = rb"[ \t]*\.[ \t]*".join(rb"[\"']?" + re.escape(key.encode()) + rb"[\"']?" for key in self.keys)
        ours = re.compile(rb"[ \t]*\[[ \t]*" + name + rb"[ \t]*[\].]")
        starts = [found.start() for found in _HEADINGS.finditer(data)] + [len(data)]
        spans = []
        for start, end in pairwise(starts):
            if ours.match(data, start):
                last = start + len(_LEFT_BEHIND.sub(b"", data[start:end]))
                between = not data[last:end].strip() and ours.match(data, end)
                spans.append((start, end if between else last))
        for number, (start, end) in reversed(list(enumerate(spans))):
            before = data[:start] if number else _unjoined(data[:start], data[end:], first)
            data = before + data[end:]
        return data

    def _changed(self, data: bytes, values: Mapping[str, Any]) -> bytes:
        """The file with values of our table changed where they stand; None takes one out."""
        bom = _BOM if data.startswith(_BOM) else b""
        changes = {(*self.keys, key): value for key, value in values.items()}
        try:
            return bom + with_values(data[len(bom) :], changes, "")
        except NuggetsError as error:
            raise PieceError(error.what) from None

    def _others(self, data: bytes) -> Json:
        """What a file holds besides ours."""
        table = _toml(data)
        _holder(table, self.keys[:-1]).pop(self.keys[-1], None)
        _drop_empty(table, {}, self.keys[:-1])
        return table


def _toml(data: bytes) -> Json:
    text, _ = _text(data)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise PieceError(f"it is no TOML ({str(error) or 'nested too deeply'})") from None


@dataclass(frozen=True)
class PagePiece(Piece):
    """Lines in a Markdown page, between marks: at its end, or at its top where the end is not read.

    lines: each with its line end. read: how many bytes of a page the agent reads, None for all.
    """

    lines: str
    read: int | None = None

    def state(self, data: bytes) -> State:
        place = self._place(data)
        if place is None:
            return "absent"
        held = data[slice(*place)].replace(b"\r\n", b"\n").rstrip(b"\n")
        return "current" if held == self._body("\n").rstrip(b"\n") and self._reaches(place[1]) else "outdated"

    def _with(self, data: bytes, first: bytes | None) -> bytes:
        body, place = self._body(_newline(data)), self._place(data)
        if place is not None and self._reaches(place[1]):
            return data[: place[0]] + body + data[place[1] :]
        data = self.take(data, first)
        made = data + _joint(data).encode() + body
        if self._reaches(len(made)):
            return made
        # A mark is found at the beginning of a line alone.
        top = data.find(b"\n") + 1 if data.startswith(_BOM) else 0
        return data[:top] + body + data[top:]

    def _without(self, data: bytes, first: bytes | None) -> bytes:
        place = self._place(data)
        if place is None:
            return data
        return _unjoined(data[: place[0]], data[place[1] :], first) + data[place[1] :]

    def _body(self, newline: str) -> bytes:
        return f"{_FIRST_LINE}\n{self.lines}{_LAST_LINE}\n".replace("\n", newline).encode()

    def _reaches(self, end: int) -> bool:
        return self.read is None or end <= self.read

    @staticmethod
    def _place(data: bytes) -> tuple[int, int] | None:
        """Where our lines stand, marks and their line ends included; None for nowhere."""
        if data.startswith(_UNREADABLE) or b"\0" in data:
            raise PieceError("it is not UTF-8 text")
        firsts, lasts = list(_FIRSTS.finditer(data)), list(_LASTS.finditer(data))
        if not firsts and not lasts:
            return None
        if len(firsts) != 1 or len(lasts) != 1 or lasts[0].start() < firsts[0].end():
            raise PieceError("the marks of our lines are not there once each, in this order")
        return firsts[0].start(), lasts[0].end()


@dataclass(frozen=True)
class FilePiece(Piece):
    """A file that is ours as a whole. text: what it holds, `WHOLE_MARK` in it."""

    text: str

    def state(self, data: bytes) -> State:
        if data == self.text.encode():
            return "current"
        return "absent" if not data else "outdated" if WHOLE_MARK in data else "foreign"

    def _with(self, data: bytes, first: bytes | None) -> bytes:
        return self.text.encode()

    def _without(self, data: bytes, first: bytes | None) -> bytes:
        return b""
