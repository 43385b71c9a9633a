"""JSON as people and agents write it, with comments and trailing commas: one entry put in or taken out, and every
other character kept.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

Keys = tuple[str, ...]
_TOKEN: Final = re.compile(
    r'(?P<string>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])"
    r"|(?P<word>true|false|null)(?!\w)"
    r"|(?P<sign>[{}\[\],:])"
    r"|(?P<comment>//[^\r\n]*|/\*(?:[^*]|\*(?!/))*\*/)"
    r"|(?P<space>[ \t\r\n]+)"
)
_DEEPEST: Final = 200
_UNIT: Final = "  "


class JsonError(ValueError):
    """A text that is no JSON, or that has no place for an entry; says where in a few words."""


@dataclass
class Node:
    """A value and where it stands. plain: the text, where it holds neither comments nor trailing commas."""

    value: Any
    start: int
    end: int
    plain: str | None = field(default=None, repr=False)
    held: list[Child] | None = field(default=None, repr=False)

    @property
    def children(self) -> list[Child]:
        """The entries of an object or a list, in order; of an object each with its key."""
        if self.held is None:
            # Found only where somebody looks: the files of some agents have millions of characters.
            self.held = list(_plain_children(self.plain, self)) if self.plain is not None else []
        return self.held


@dataclass
class Child:
    """An entry of an object or a list. start: where it begins, at the key if it has one. comma: where the comma behind
    it stands, -1 for none.
    """

    key: str
    start: int
    node: Node
    comma: int = -1


def _plain_children(text: str, node: Node) -> Iterator[Child]:
    """The entries of an object or a list in a text that is plain JSON."""
    if not isinstance(node.value, dict | list):
        return
    place = _after_space(text, node.start + 1)
    while text[place] not in "}]":
        key, first = "", place
        if isinstance(node.value, dict):
            key, place = _PLAIN.raw_decode(text, place)
            place = _after_space(text, _after_space(text, place) + 1)
        value, end = _PLAIN.raw_decode(text, place)
        child = Child(key, first, Node(value, place, end, text))
        place = _after_space(text, end)
        if text[place] == ",":
            child.comma = place
            place = _after_space(text, place + 1)
        yield child


def _after_space(text: str, place: int) -> int:
    found = _SPACES.match(text, place)
    return found.end() if found else place


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


_SPACES: Final = re.compile(r"[ \t\r\n]*")
_PLAIN: Final = json.JSONDecoder(parse_constant=_refuse)


class JsonText:
    """A text that was read as JSON. Raises JsonError for one that cannot be.

    Where an object has a key twice, the last one counts, as for every program that reads it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens: list[tuple[str, int, int]] = []
        # Ends of all that is no white space, comments too, in order.
        self._ends: list[int] = []
        self._next = 0
        plain = self._as_plain()
        self.is_plain = plain is not None
        if plain is not None:
            self.root = plain
            return
        self._scan()
        self.root = self._value(0)
        if self._next < len(self._tokens):
            raise self._wrong(self._tokens[self._next][1])

    def find(self, keys: Keys) -> Node | None:
        """The value behind keys of objects within objects; None for none. Raises JsonError where no object is."""
        node = self.root
        for depth, key in enumerate(keys):
            if not isinstance(node.value, dict):
                raise JsonError(f"{'.'.join(keys[:depth]) or 'the whole file'} is not an object")
            found = [child.node for child in node.children if child.key == key]
            if not found:
                return None
            node = found[-1]
        return node

    # Reading

    def _as_plain(self) -> Node | None:
        """The value of a text that is plain JSON, read by the quick way; None for any other."""
        start = _after_space(self.text, 0)
        try:
            value, end = _PLAIN.raw_decode(self.text, start)
        except (ValueError, RecursionError):
            return None
        return Node(value, start, end, self.text) if _after_space(self.text, end) == len(self.text) else None

    def _scan(self) -> None:
        place, text = 0, self.text
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                raise self._wrong(place)
            kind = str(found.lastgroup)
            if kind != "space":
                self._ends.append(found.end())
                if kind != "comment":
                    self._tokens.append((kind, place, found.end()))
            place = found.end()

    def _wrong(self, place: int) -> JsonError:
        line = self.text.count("\n", 0, place) + 1
        column = place - self.text.rfind("\n", 0, place)
        return JsonError(f"line {line}, column {column}")

    def _token(self) -> tuple[str, int, int]:
        if self._next == len(self._tokens):
            raise JsonError("it ends too early")
        self._next += 1
        return self._tokens[self._next - 1]

    def _is_next(self, sign: str) -> bool:
        if self._next == len(self._tokens):
            raise JsonError("it ends too early")
        kind, start, end = self._tokens[self._next]
        return kind == "sign" and self.text[start:end] == sign

    def _value(self, depth: int) -> Node:
        kind, start, end = self._token()
        if depth > _DEEPEST:
            raise JsonError("it is nested too deeply")
        if kind != "sign":
            try:
                return Node(json.loads(self.text[start:end]), start, end)
            except ValueError:
                raise self._wrong(start) from None
        if self.text[start] == "{":
            return self._container(start, "}", depth)
        if self.text[start] == "[":
            return self._container(start, "]", depth)
        raise self._wrong(start)

    def _container(self, start: int, closing: str, depth: int) -> Node:
        children: list[Child] = []
        while not self._is_next(closing):
            if children and children[-1].comma < 0:
                raise self._wrong(self._tokens[self._next][1])
            key, first = "", self._tokens[self._next][1]
            if closing == "}":
                kind, first, end = self._token()
                if kind != "string" or not self._is_next(":"):
                    raise self._wrong(first)
                self._next += 1
                key = json.loads(self.text[first:end])
            child = Child(key, first, self._value(depth + 1))
            if self._is_next(","):
                child.comma = self._token()[1]
            children.append(child)
        end = self._token()[2]
        value: Any = (
            {child.key: child.node.value for child in children}
            if closing == "}"
            else [child.node.value for child in children]
        )
        return Node(value, start, end, None, children)

    # Changing; each gives the new text

    def with_value(self, node: Node, value: Any) -> str:
        """The text with another value where `node` stands."""
        made = self._written(value, self._indent_at(node.start), compact=self._on_one_line(node))
        return self.text[: node.start] + made + self.text[node.end :]

    def with_child(self, into: Node, key: str | None, value: Any) -> str:
        """The text with one more entry at the end of an object, or of a list (key None)."""
        text, closing = self.text, into.end - 1
        last = into.children[-1] if into.children else None
        spread = "\n" in text[into.start : closing] or (last is None and not self._within_one_line(into))
        base = self._indent_at(into.start)
        indent = self._indent_of_children(into, base) if spread else base
        made = self._written(value, indent, compact=not spread)
        if key is not None:
            made = f"{json.dumps(key, ensure_ascii=False)}: {made}"
        content = max(self._content_before(closing), into.start + 1)
        lead = self.newline + indent if spread else " " if last is not None else ""
        if last is not None and last.comma < 0:
            at = last.node.end
            return text[:at] + "," + text[at:content] + lead + made + text[content:]
        tail = "," if last is not None else ""
        if last is None and spread and "\n" not in text[content:closing]:
            tail += self.newline + base
        return text[:content] + lead + made + tail + text[content:]

    def without_child(self, of: Node, child: Child) -> str:
        """The text without one entry of an object or a list, with the comma that it needed."""
        text, place = self.text, of.children.index(child)
        lead = max(self._content_before(child.start), of.start + 1)
        end = child.node.end
        if child.comma >= 0:
            after = child.comma + 1
            if lead == child.start:
                # The first of several on one line: what divided it from the next goes, too.
                after = re.compile(r"[ \t]*").match(text, after).end()  # type: ignore[union-attr]
            return text[:lead] + text[end : child.comma] + text[after:]
        if place:
            comma = of.children[place - 1].comma
            return text[:comma] + text[comma + 1 : lead] + text[end:]
        return text[:lead] + text[end:]

    def inner(self, node: Node) -> str:
        """What stands between the brackets of an object or a list."""
        return self.text[node.start + 1 : node.end - 1]

    def with_inner(self, node: Node, inner: str) -> str:
        """The text with something else between these brackets."""
        return self.text[: node.start + 1] + inner + self.text[node.end - 1 :]

    @property
    def has_comments(self) -> bool:
        """Whether a comment stands anywhere in the text."""
        return len(self._ends) > len(self._tokens)

    # How it is written

    @property
    def newline(self) -> str:
        """The line ends of the text."""
        return "\r\n" if "\r\n" in self.text else "\n"

    def _written(self, value: Any, indent: str, *, compact: bool) -> str:
        if compact:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit()).split("\n")
        return (self.newline + indent).join(lines)

    def _unit(self) -> str:
        """What one level is indented by."""
        first = self.root.children[0].start if self.root.children else 0
        found = self._indent_at(first) if "\n" in self.text[self.root.start : first] else ""
        return found or _UNIT

    def _indent_at(self, place: int) -> str:
        """The white space at the beginning of the line in which a place is."""
        start = self.text.rfind("\n", 0, place) + 1
        found = re.compile(r"[ \t]*").match(self.text, start, place)
        return found[0] if found else ""

    def _indent_of_children(self, node: Node, base: str) -> str:
        for child in node.children:
            start = self.text.rfind("\n", 0, child.start) + 1
            if start > node.start and not self.text[start : child.start].strip(" \t"):
                return self.text[start : child.start]
        return base + self._unit()

    def _on_one_line(self, node: Node) -> bool:
        return isinstance(node.value, dict | list) and "\n" not in self.text[node.start : node.end]

    def _within_one_line(self, node: Node) -> bool:
        """Whether a value stands in a text that is written on one line, with more than it."""
        return node is not self.root and "\n" not in self.text[self.root.start : self.root.end]

    def _content_before(self, place: int) -> int:
        """Where the last thing before a place ends that is no white space."""
        if self.root.plain is not None:
            while place and self.text[place - 1] in " \t\r\n":
                place -= 1
            return place
        at = bisect_right(self._ends, place)
        return self._ends[at - 1] if at else 0
