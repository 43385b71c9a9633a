"""What of ours goes into a file of an agent: entries, lines between marks or a whole file; put in and taken out.

`first` is the file as it was before ours came, b"" for no file, None where nobody knows any more: it tells which empty
objects and line ends stood there before.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal

from core.agents.jsonc import JsonText, PieceError, Way, value_at
from core.errors import NuggetsError
from core.storage.files.toml import values, with_values

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
            raise PieceError("what is named nuggets there is not of this program", foreign=True)
        return data if state == "current" else self._with(data, first)

    def take(self, data: bytes, first: bytes | None = None) -> bytes:
        """The file without it; as it is where something else stands there under our name."""
        raise NotImplementedError

    def _with(self, data: bytes, first: bytes | None) -> bytes:
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

    entries: values by the keys that lead to each; a list stands for items of the list there. mine: whether a server
    or a hook is ours. seed: what a new file holds besides. strict: whether the agent reads no comments and no
    trailing commas. off: settings of the file that keep ours from working, each with the value that does.
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
        depth = len(next(iter(self.entries)))
        strays = {way[:depth] for way in self._ours(value)} - set[Way](self.entries)
        return "outdated" if strays or len(states) > 1 else states.pop()

    def _with(self, data: bytes, first: bytes | None) -> bytes:
        document = _json(data, self.seed)
        # Items of lists come anew; an entry is brought up where it stands, with what somebody added to it.
        self._drop(document, [way for way in self._ours(document.value) if way not in self.entries])
        for keys, wanted in self.entries.items():
            found = value_at(document.value, keys)
            if found is None:
                document.put(keys, wanted)
            elif isinstance(wanted, list):
                for place, item in enumerate(wanted, len(found)):
                    document.put((*keys, place), item)
            else:
                for key, one in wanted.items():
                    if key not in found or (key not in _YOURS and found[key] != one):
                        document.put((*keys, key), one)
        return (_BOM if data.startswith(_BOM) else b"") + document.text.encode()

    def take(self, data: bytes, first: bytes | None = None) -> bytes:
        text, bom = _text(data)
        if not text.strip():
            return data
        document = _json(data)
        self._drop(document, self._ours(document.value))
        if first is not None:
            before = _json(first).value
            for keys in self.entries:
                for way in (keys[:depth] for depth in range(len(keys), 0, -1)):
                    if value_at(document.value, way) in ({}, []) and value_at(before, way) is None:
                        document.remove(way)
            if not first.strip() and document.value == self.seed:
                return first
        return bom + document.text.encode()

    def ignored(self, data: bytes) -> str:
        """Why the agent pays no heed to ours in a file that can be read; "" where it does."""
        text, bom = _text(data)
        document = _json(data)
        if self.strict and text.strip() and (bom or not document.is_plain):
            return "the agent reads no file with comments, trailing commas or a byte order mark"
        for keys, value in self.off.items():
            if value_at(document.value, keys) is value:
                return f"{'.'.join(keys)} is {json.dumps(value)}, so no hook runs"
        return ""

    def entry(self, data: bytes) -> Any:
        """What stands in the file at the first of our places; None for nothing."""
        return value_at(_json(data).value, next(iter(self.entries)))

    def _state_at(self, value: Json, keys: Keys, wanted: Any) -> State:
        holder = value
        for depth, key in enumerate(keys[:-1], 1):
            holder = holder.get(key, {})
            if not isinstance(holder, dict):
                raise PieceError(f"{'.'.join(keys[:depth])} is not an object")
        if keys[-1] not in holder:
            return "absent"
        found = holder[keys[-1]]
        if not isinstance(wanted, list):
            return "foreign" if not self.mine(found) else "current" if _agrees(found, wanted) else "outdated"
        if not isinstance(found, list):
            raise PieceError(f"{'.'.join(keys)} is not a list")
        ours = [value_at(value, way) for way in self._ours(value) if way[: len(keys)] == keys]
        hooks = [hook for item in wanted for hook in item.get(_GROUP, [item])]
        return "absent" if not ours else "current" if _agrees(ours, hooks) else "outdated"

    def _ours(self, value: Json) -> list[Way]:
        """The ways to what is ours: entries, and hooks in lists and in groups in them, also where an earlier version
        put them.
        """
        found: list[Way] = [
            keys for keys, wanted in self.entries.items()
            if not isinstance(wanted, list) and self.mine(value_at(value, keys))
        ]  # fmt: skip
        for outer in {keys[:-1] for keys, wanted in self.entries.items() if isinstance(wanted, list)}:
            events = value_at(value, outer)
            for event, items in events.items() if isinstance(events, dict) else ():
                for place, item in enumerate(items) if isinstance(items, list) else ():
                    way, group = (*outer, event, place), value_at(item, (_GROUP,))
                    if self.mine(item):
                        found.append(way)
                    elif isinstance(group, list):
                        found += [(*way, _GROUP, at) for at, one in enumerate(group) if self.mine(one)]
        return found

    def _drop(self, document: JsonText, ways: Sequence[Way]) -> None:
        """Takes out what is ours, and each group of hooks that nobody else is in."""
        for way in reversed(ways):
            document.remove(way)
            if way[-2:-1] == (_GROUP,) and value_at(document.value, way[:-1]) == []:
                document.remove(way[:-2])


def _json(data: bytes, seed: Mapping[str, Any] | None = None) -> JsonText:
    """A file as JSON; a blank one as what a new one holds. Raises PieceError for no object."""
    text, _ = _text(data)
    document = JsonText(text if text.strip() else f"{json.dumps(dict(seed or {}), indent=2)}\n")
    if not isinstance(document.value, dict):
        raise PieceError("it is JSON, but not an object")
    return document


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
        found = value_at(_toml(data), self.keys)
        if found is None:
            return "absent"
        if not self.mine(found):
            return "foreign"
        return "current" if all(found.get(key) == value for key, value in self.values.items()) else "outdated"

    def _with(self, data: bytes, first: bytes | None) -> bytes:
        if self.state(data) == "outdated":
            return self._changed(data, self.values)
        table = self._changed(b"", self.values).decode().replace("\n", _newline(data))
        made = data + (_joint(data) + table).encode()
        if self.state(made) != "current" or self._others(made) != self._others(data):
            raise PieceError("a table cannot be added without changing others")
        return made

    def take(self, data: bytes, first: bytes | None = None) -> bytes:
        if self.state(data) in ("absent", "foreign"):
            return data
        made = self._without_lines(data, first)
        if self.state(made) == "absent" and self._others(made) == self._others(data):
            return made
        return self._changed(data, dict.fromkeys(value_at(_toml(data), self.keys)))

    def entry(self, data: bytes) -> Any:
        """What stands in the file at our place; None for nothing."""
        return value_at(_toml(data), self.keys)

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

    def _others(self, data: bytes) -> dict[Keys, Any]:
        """The values of a file that are not in our table."""
        found = values(_text(data)[0].encode(), "")
        return {keys: value for keys, value in found.items() if keys[: len(self.keys)] != self.keys}


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

    def take(self, data: bytes, first: bytes | None = None) -> bytes:
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

    def take(self, data: bytes, first: bytes | None = None) -> bytes:
        return data if self.state(data) == "foreign" else b""
