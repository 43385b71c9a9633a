"""What of ours goes into a file of an agent: entries, lines between marks or a whole file; put in and taken out."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Literal, Protocol

import msgspec

from core.agents.blocks import (
    BlockError,
    Marks,
    block_of,
    joint_for,
    with_block,
    without_block,
    without_joint,
)
from core.agents.jsonc import JsonError, JsonText, Keys, Node
from core.errors import NuggetsError
from core.storage.files.toml import with_values

State = Literal["absent", "current", "outdated", "foreign"]
Part = Literal["server", "hooks", "instructions"]
_BOM: Final = b"\xef\xbb\xbf"
PAGE_MARKS: Final = Marks("<!-- nuggets:begin", "<!-- nuggets:end -->")
_OUR_MARKS: Final = Marks(
    f"{PAGE_MARKS.first} (nuggets agent remove takes these lines out) -->", PAGE_MARKS.last
)
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


class Trace(msgspec.Struct):
    """What putting pieces into a file made there besides them, so that taking them out leaves the first state.

    made: objects and lists that were not there, outermost first. inner: what stood between the brackets of those that
    were empty. root: the whole text where there was no value in it. joint: what sets our lines apart.
    """

    made: list[list[str]] = []
    inner: dict[str, str] = {}
    root: str | None = None
    joint: str | None = None


class Piece(Protocol):
    """One thing of ours in a file. All three raise PieceError for a file that is no such file."""

    @property
    def part(self) -> Part:
        """What it is for."""

    def state(self, data: bytes) -> State:
        """How it stands in the file."""

    def put(self, data: bytes, trace: Trace) -> bytes:
        """The file with it. Every other byte is kept, as the outcome is checked for."""

    def take(self, data: bytes, trace: Trace | None) -> bytes:
        """The file without it."""


def _text(data: bytes) -> tuple[str, bytes]:
    bom = _BOM if data.startswith(_BOM) else b""
    try:
        return data[len(bom) :].decode("utf-8"), bom
    except UnicodeDecodeError as error:
        raise PieceError(f"it is not UTF-8 (byte {error.start})") from None


@dataclass(frozen=True)
class JsonPiece:
    """Entries of a JSON file.

    entries: values by the keys that lead to each; a tuple stands for items of the list there. mine: whether a value
    found at such a place is ours. seed: what a new file holds besides. strict: whether the agent reads no comments and
    no trailing commas. off: settings of the file that keep ours from working, each with the value that does.
    """

    part: Part
    entries: Mapping[Keys, Any]
    mine: Callable[[Any], bool]
    seed: Mapping[str, Any] = field(default_factory=dict)
    strict: bool = False
    off: Mapping[Keys, Any] = field(default_factory=dict)

    def state(self, data: bytes) -> State:
        """See `Piece`."""
        text, _ = _text(data)
        if not text.strip():
            return "absent"
        document = _parsed(text)
        states = {self._state_at(document, keys, value) for keys, value in self.entries.items()}
        if "foreign" in states:
            return "foreign"
        if self._strays(document):
            return "outdated"
        return states.pop() if len(states) == 1 else "outdated"

    def put(self, data: bytes, trace: Trace) -> bytes:
        """See `Piece`."""
        text, bom = _text(data)
        if not text.strip():
            trace.root = text if trace.root is None else trace.root
            text = json.dumps(dict(self.seed), indent=2) + "\n"
        first = _parsed(text)
        for keys, value in self._strays(first):
            text = self._without(text, keys, value, None)
        for keys, value in self.entries.items():
            if self._state_at(_parsed(text), keys, value) == "foreign":
                raise PieceError(
                    f"{'.'.join(keys)} is there already, and it is not of this program", foreign=True
                )
            text = self._with(text, keys, value, trace)
        if not self._same_but_ours(first.root.value, _parsed(text).root.value):
            raise PieceError("the entry cannot be added without changing others")
        return bom + text.encode()

    def take(self, data: bytes, trace: Trace | None) -> bytes:
        """See `Piece`."""
        text, bom = _text(data)
        if not text.strip():
            return data
        first = _parsed(text)
        for keys in reversed(list(self.entries)):
            text = self._without(text, keys, self.entries[keys], trace)
        for keys, value in self._strays(_parsed(text)):
            text = self._without(text, keys, value, trace)
        if trace is not None:
            text = self._unmade(text, trace)
            if trace.root is not None and self._is_seed(text):
                return bom + trace.root.encode()
        if text.strip() and not self._same_but_ours(first.root.value, _parsed(text).root.value):
            raise PieceError("the entry cannot be taken out without changing others")
        return bom + text.encode()

    def ignored(self, data: bytes) -> str:
        """Why the agent pays no heed to ours in a file that can be read; "" where it does."""
        text, bom = _text(data)
        document = _parsed(text) if text.strip() else None
        if document is None:
            return ""
        if self.strict and (bom or not document.is_plain):
            return "the agent reads no file with comments, trailing commas or a byte order mark"
        for keys, value in self.off.items():
            node = _find(document, keys, strict=False)
            if node is not None and node.value is value:
                return f"{'.'.join(keys)} is {json.dumps(value)}, so no hook runs"
        return ""

    def entry(self, data: bytes) -> Any:
        """What stands in the file at the first of our places; None for nothing, and where it cannot be read."""
        try:
            node = _find(_parsed(_text(data)[0]), next(iter(self.entries)), strict=False)
        except PieceError:
            return None
        return None if node is None else node.value

    def _state_at(self, document: JsonText, keys: Keys, value: Any) -> State:
        node = _find(document, keys)
        if isinstance(value, tuple):
            if node is None:
                return "absent"
            if not isinstance(node.value, list):
                raise PieceError(f"{'.'.join(keys)} is not a list")
            ours = [part for item in node.value if (part := self._ours(item)) is not None]
            return "absent" if not ours else "current" if _agrees(ours, list(value)) else "outdated"
        if node is None:
            return "absent"
        if not self.mine(node.value):
            return "foreign"
        return "current" if _agrees(node.value, value) else "outdated"

    def _strays(self, document: JsonText) -> list[tuple[Keys, Any]]:
        """Lists beside those of our entries that hold items of ours, as an earlier version put them there."""
        lists = {keys[:-1] for keys, value in self.entries.items() if isinstance(value, tuple)}
        found: list[tuple[Keys, Any]] = []
        for outer in lists:
            node = _find(document, outer)
            for child in node.children if node is not None else ():
                keys = (*outer, child.key)
                value = child.node.value
                if keys not in self.entries and isinstance(value, list) and self._has_ours(value):
                    found.append((keys, ()))
        return found

    def _with(self, text: str, keys: Keys, value: Any, trace: Trace) -> str:
        document = _parsed(text)
        state = self._state_at(document, keys, value)
        if state == "current":
            return text
        if isinstance(value, tuple):
            if state == "outdated":
                text = self._without(text, keys, value, None)
            for item in value:
                document, node = self._container(_parsed(text), keys, [], trace)
                text = document.with_child(node, None, item)
            return text
        if state == "outdated":
            return self._brought_up(text, keys, value)
        document, node = self._container(document, keys[:-1], {}, trace)
        return document.with_child(node, keys[-1], value)

    @staticmethod
    def _brought_up(text: str, keys: Keys, value: Mapping[str, Any]) -> str:
        """The text with an entry of ours as it should be; what somebody added to it stays."""
        for name, wanted in value.items():
            document = _parsed(text)
            entry = _find(document, keys)
            assert entry is not None
            held = [child.node for child in entry.children if child.key == name]
            if not held:
                text = document.with_child(entry, name, wanted)
            elif not _agrees(held[-1].value, wanted) and name not in _YOURS:
                text = document.with_value(held[-1], wanted)
        return text

    def _container(self, document: JsonText, keys: Keys, empty: Any, trace: Trace) -> tuple[JsonText, Node]:
        """The object or list behind keys, made where there is none, and the text in which it stands."""
        for depth in range(1, len(keys) + 1):
            node = _find(document, keys[:depth])
            if node is None:
                outer = _find(document, keys[: depth - 1])
                assert outer is not None
                made = empty if depth == len(keys) else {}
                self._remember_inner(document, outer, keys[: depth - 1], trace)
                document = _parsed(document.with_child(outer, keys[depth - 1], made))
                if list(keys[:depth]) not in trace.made:
                    trace.made.append(list(keys[:depth]))
        found = _find(document, keys)
        assert found is not None
        if not isinstance(found.value, type(empty)):
            kind = "a list" if empty == [] else "an object"
            raise PieceError(f"{'.'.join(keys) or 'the whole file'} is not {kind}")
        self._remember_inner(document, found, keys, trace)
        return document, found

    @staticmethod
    def _remember_inner(document: JsonText, node: Node, keys: Keys, trace: Trace) -> None:
        if not node.children and list(keys) not in trace.made:
            trace.inner.setdefault(json.dumps(keys), document.inner(node))

    def _without(self, text: str, keys: Keys, value: Any, trace: Trace | None) -> str:
        document = _parsed(text)
        try:
            outer = document.find(keys if isinstance(value, tuple) else keys[:-1])
        except JsonError:
            return text
        for child in reversed(outer.children if outer is not None else ()):
            if outer is None or (not isinstance(value, tuple) and child.key != keys[-1]):
                continue
            if self.mine(child.node.value):
                return self._without(document.without_child(outer, child), keys, value, trace)
            if isinstance(value, tuple) and self._ours(child.node.value) is not None:
                group = next(one.node for one in child.node.children if one.key == _GROUP)
                inner = next(one for one in group.children if self.mine(one.node.value))
                return self._without(document.without_child(group, inner), keys, value, trace)
        return text

    def _ours(self, item: Any) -> Any:
        """What of an item of a list is ours: all of it, or some of a group that others are in too; None for none."""
        if self.mine(item):
            return item
        group = item.get(_GROUP) if isinstance(item, dict) else None
        inner = [one for one in group if self.mine(one)] if isinstance(group, list) else []
        return {**item, _GROUP: inner} if inner else None

    def _has_ours(self, items: list[Any]) -> bool:
        return any(self._ours(item) is not None for item in items)

    def _others(self, item: Any) -> Any:
        """What of an item is of others; None for nothing."""
        if self._ours(item) is None:
            return item
        return (
            None if self.mine(item) else {**item, _GROUP: [one for one in item[_GROUP] if not self.mine(one)]}
        )

    @staticmethod
    def _unmade(text: str, trace: Trace) -> str:
        """The text without the empty objects and lists that were made for our entries."""
        for made in reversed(trace.made):
            document = _parsed(text)
            node, outer = (_find(document, tuple(keys), strict=False) for keys in (made, made[:-1]))
            if node is not None and outer is not None and _is_bare(document, node):
                child = next(one for one in outer.children if one.node is node)
                text = document.without_child(outer, child)
        for keys, raw in trace.inner.items():
            document = _parsed(text)
            node = _find(document, tuple(json.loads(keys)), strict=False)
            if node is not None and not node.children and document.inner(node).strip() == raw.strip():
                text = document.with_inner(node, raw)
        return text

    def _is_seed(self, text: str) -> bool:
        """Whether nothing is left in a text but what a new file of ours holds."""
        document = _parsed(text)
        return bool(document.root.value == self.seed) and not document.has_comments

    def _stripped(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """What is left of a file's value without ours, and without empty objects and lists that ours may stand in."""
        left = dict(value)
        for keys, entry in self.entries.items():
            holders = [left]
            for key in keys[:-1]:
                inner = holders[-1].get(key)
                if not isinstance(inner, dict):
                    break
                holders[-1][key] = dict(inner)
                holders.append(holders[-1][key])
            else:
                self._strip(holders[-1], keys[-1], entry)
            for key, outer, inner in reversed(list(zip(keys, holders, holders[1:], strict=False))):
                if not inner:
                    del outer[key]
        return left

    def _strip(self, holder: dict[str, Any], key: str, entry: Any) -> None:
        """Takes what is ours out of an object: the entry of a key, or items of each list in it."""
        if not isinstance(entry, tuple):
            if key in holder and self.mine(holder[key]):
                del holder[key]
            return
        for name, found in list(holder.items()):
            if isinstance(found, list) and (name == key or self._has_ours(found)):
                holder[name] = [part for item in found if (part := self._others(item)) is not None]
                if not holder[name]:
                    del holder[name]

    def _same_but_ours(self, before: Any, after: Any) -> bool:
        try:
            return self._stripped(before) == self._stripped(after)
        except RecursionError:
            raise PieceError("it is nested too deeply") from None


@lru_cache(maxsize=2)
def _parsed(text: str) -> JsonText:
    """The text as JSON, read once for all who ask about it; nobody changes what is read."""
    try:
        document = JsonText(text)
    except JsonError as error:
        raise PieceError(f"it is no JSON ({error})") from None
    if not isinstance(document.root.value, dict):
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


def _find(document: JsonText, keys: Keys, *, strict: bool = True) -> Node | None:
    try:
        return document.find(keys)
    except JsonError as error:
        if strict:
            raise PieceError(str(error)) from None
        return None


def _is_bare(document: JsonText, node: Node) -> bool:
    """Whether an object or a list has no entry and no comment in it."""
    return isinstance(node.value, dict | list) and not node.children and not document.inner(node).strip()


@dataclass(frozen=True)
class TomlPiece:
    """A table of a TOML file, at its end. values: what it holds. mine: whether a table is ours.

    It has no marks: Codex drops comments before its tables of servers when it writes one itself.
    """

    part: Part
    keys: Keys
    values: Mapping[str, Any]
    mine: Callable[[Any], bool]

    def state(self, data: bytes) -> State:
        """See `Piece`."""
        found = self._found(_toml(data))
        if found is None:
            return "absent"
        if not self.mine(found):
            return "foreign"
        return "current" if all(found.get(key) == value for key, value in self.values.items()) else "outdated"

    def put(self, data: bytes, trace: Trace) -> bytes:
        """See `Piece`."""
        state = self.state(data)
        if state == "foreign":
            raise PieceError(
                f"{'.'.join(self.keys)} is there already, and it is not of this program", foreign=True
            )
        if state == "current":
            return data
        if state == "outdated":
            made = self._changed(data, self.values)
        else:
            trace.joint = joint_for(data)
            newline = "\r\n" if b"\r\n" in data else "\n"
            made = data + (trace.joint + self._lines().replace("\n", newline)).encode()
        self._check(data, made, "added")
        return made

    def take(self, data: bytes, trace: Trace | None) -> bytes:
        """See `Piece`."""
        if self.state(data) in ("absent", "foreign"):
            return data
        made = self._without(data, trace.joint if trace else None)
        if not self._leaves(data, made):
            made = self._changed(data, dict.fromkeys(self._found(_toml(data))))
        self._check(data, made, "taken out")
        return made

    def entry(self, data: bytes) -> Any:
        """What stands in the file at our place; None for nothing, and where it cannot be read."""
        try:
            return self._found(_toml(data))
        except PieceError:
            return None

    def _without(self, data: bytes, joint: str | None) -> bytes:
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
            before = data[:start]
            if number == 0:
                before = without_joint(before, joint, is_last=end == len(data))
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

    def _leaves(self, before: bytes, after: bytes) -> bool:
        try:
            return self._found(_toml(after)) is None and self._stripped(_toml(before)) == self._stripped(
                _toml(after)
            )
        except PieceError:
            return False

    def _lines(self) -> str:
        rows = "".join(
            f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in self.values.items()
        )
        rows = rows.replace("\x7f", "\\u007f")
        return f"[{'.'.join(self.keys)}]\n{rows}"

    def _found(self, table: Any) -> Any:
        for key in self.keys:
            table = table.get(key) if isinstance(table, dict) else None
        return table

    def _check(self, before: bytes, after: bytes, how: str) -> None:
        try:
            same = self._stripped(_toml(before)) == self._stripped(_toml(after))
        except PieceError:
            same = False
        if not same:
            raise PieceError(f"{'.'.join(self.keys)} cannot be {how} without changing others")

    def _stripped(self, table: dict[str, Any]) -> dict[str, Any]:
        outer: Any = table
        for key in self.keys[:-1]:
            outer = outer.get(key, {}) if isinstance(outer, dict) else {}
        if isinstance(outer, dict) and self.keys[-1] in outer and self.mine(outer[self.keys[-1]]):
            del outer[self.keys[-1]]
        if len(self.keys) > 1 and table.get(self.keys[0]) == {}:
            del table[self.keys[0]]
        return table


def _toml(data: bytes) -> dict[str, Any]:
    text, _ = _text(data)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise PieceError(f"it is no TOML ({str(error) or 'nested too deeply'})") from None


def _block(data: bytes, marks: Marks) -> tuple[int, int] | None:
    try:
        return block_of(data, marks)
    except BlockError as error:
        raise PieceError(str(error)) from None


@dataclass(frozen=True)
class PagePiece:
    """Lines in a Markdown page, between marks: at its end, or at its top where the end is not read.

    lines: each with its line end. read: how many bytes of a page the agent reads, None for all.
    """

    lines: str
    part: Part = "instructions"
    read: int | None = None

    def state(self, data: bytes) -> State:
        """See `Piece`."""
        place = _block(data, PAGE_MARKS)
        if place is None:
            return "absent"
        held = data[slice(*place)].replace(b"\r\n", b"\n").rstrip(b"\n")
        wanted = f"{_OUR_MARKS.first}\n{self.lines}{_OUR_MARKS.last}".encode()
        return "current" if held == wanted and self._reaches(place[1]) else "outdated"

    def _reaches(self, end: int) -> bool:
        return self.read is None or end <= self.read

    def put(self, data: bytes, trace: Trace) -> bytes:
        """See `Piece`."""
        state = self.state(data)
        if state == "current":
            return data
        place = _block(data, PAGE_MARKS)
        if place is not None and not self._reaches(place[1]):
            data, place = self.take(data, trace), None
        if place is not None:
            newline = b"\r\n" if b"\r\n" in data else b"\n"
            body = f"{_OUR_MARKS.first}\n{self.lines}{_OUR_MARKS.last}\n".encode().replace(b"\n", newline)
            return data[: place[0]] + body + data[place[1] :]
        made, trace.joint = with_block(data, _OUR_MARKS, self.lines)
        if self._reaches(len(made)):
            return made
        trace.joint = ""
        # A mark is found at the beginning of a line alone.
        top = data.find(b"\n") + 1 if data.startswith(_BOM) else 0
        block = made[slice(*block_of(made, _OUR_MARKS))]  # type: ignore[misc]
        return data[:top] + block + data[top:]

    def take(self, data: bytes, trace: Trace | None) -> bytes:
        """See `Piece`."""
        _block(data, PAGE_MARKS)
        return without_block(data, PAGE_MARKS, trace.joint if trace else None)


@dataclass(frozen=True)
class FilePiece:
    """A file that is ours as a whole. text: what it holds, `WHOLE_MARK` in it."""

    part: Part
    text: str

    def state(self, data: bytes) -> State:
        """See `Piece`."""
        if data == self.text.encode():
            return "current"
        return "absent" if not data else "outdated" if WHOLE_MARK in data else "foreign"

    def put(self, data: bytes, trace: Trace) -> bytes:
        """See `Piece`."""
        if self.state(data) == "foreign":
            raise PieceError("the file is there already, and it is not of this program", foreign=True)
        return self.text.encode()

    def take(self, data: bytes, trace: Trace | None) -> bytes:
        """See `Piece`."""
        return data if self.state(data) == "foreign" else b""
