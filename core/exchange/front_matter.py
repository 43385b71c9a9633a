"""Front matter: the small part of YAML that notes begin with, read without a library that could be led astray.

Read are plain, quoted and block texts, numbers, lists and maps, each of them nested a few levels. Anchors, aliases,
tags and merges are refused with the line they stand on: nothing can refer to itself, and nothing can be made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from core.exchange.records import FormatError

_FENCE: Final = "---"
_ENDS: Final = frozenset(("---", "..."))
_LONGEST: Final = 4000
_DEEPEST: Final = 6
_KEY: Final = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#&*!|>%@`\[\]{},?:-][^:#]*+|-[^\s:#][^:#]*+)\s*:(?=\s|$)"""
)
_PLAIN_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_BLOCK: Final = re.compile(r"([|>])([+-]?)(\d?)([+-]?)\s*(?:#.*)?")
# Only where the white space begins: from each place within a long run of it, it would be read to its end.
_COMMENT: Final = re.compile(r"(?<!\s)\s+#.*$")
_NUMBER: Final = re.compile(r"[-+]?(?:0|[1-9]\d{0,15})(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
_UNPRINTABLE: Final = re.compile(
    "[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None, "~": None, "": None}
_REFUSED: Final = ("&", "*", "!", "%", "@", "`", "<<")


def split(text: str) -> tuple[list[str], str, int]:
    """The lines of the front matter, the text below it, and the line on which that begins; no lines for none."""
    if not text.startswith(f"{_FENCE}\n"):
        return [], text, 1
    lines = text.split("\n")
    for number, line in enumerate(lines[1 : _LONGEST + 2], 1):
        if line.rstrip() in _ENDS:
            return lines[1:number], "\n".join(lines[number + 1 :]), number + 2
    return [], text, 1


def read(text: str, file: str = "") -> tuple[dict[str, Any], str, int]:
    """The fields of the front matter, the text below it and the line on which that begins. Raises FormatError."""
    lines, body, line = split(text)
    return (_Reader(lines, file).read() if lines else {}), body, line


class _Reader:
    """One front matter, line by line."""

    def __init__(self, lines: list[str], file: str) -> None:
        self._lines = lines
        self._file = file
        self._at = 0

    def read(self) -> dict[str, Any]:
        found = self._map(0, 0)
        if self._skip_blank() is not None:
            raise self._error("is indented in a way that says nothing")
        return found

    def _error(self, what: str, at: int | None = None) -> FormatError:
        # The fence is line 1.
        return FormatError(
            f"the front matter {what}", file=self._file, line=(self._at if at is None else at) + 2
        )

    def _skip_blank(self) -> str | None:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and not line.lstrip().startswith("#"):
                if "\t" in line[: len(line) - len(line.lstrip())]:
                    raise self._error("is indented by a tab")
                return line
            self._at += 1
        return None

    def _map(self, indent: int, depth: int) -> dict[str, Any]:
        self._check(depth)
        found: dict[str, Any] = {}
        while (line := self._skip_blank()) is not None:
            if _indent(line) != indent or line.lstrip().startswith("- "):
                break
            start, bare = self._at, line[indent:]
            key = _KEY.match(bare)
            if key is None:
                raise self._error("has a line that is no field")
            name = str(self._scalar(key[1])) if key[1][0] in "\"'" else key[1].strip()
            if name in found:
                raise self._error(f"has the field {name[:40]!r} twice")
            self._at += 1
            found[name] = self._value(bare[key.end() :].strip(), indent, depth, start)
        return found

    def _value(self, rest: str, indent: int, depth: int, start: int) -> Any:
        block = _BLOCK.fullmatch(rest)
        if block is not None:
            return self._block(block[1], block[2] or block[4], indent)
        if rest and not rest.startswith("#"):
            return self._inline(rest, indent, start, depth)
        line = self._skip_blank()
        if line is None:
            return None
        inner = _indent(line)
        if line.lstrip() == "-" or line.lstrip().startswith("- "):
            return self._list(inner, depth + 1) if inner >= indent else None
        return self._map(inner, depth + 1) if inner > indent else None

    def _list(self, indent: int, depth: int) -> list[Any]:
        self._check(depth)
        found: list[Any] = []
        while (line := self._skip_blank()) is not None:
            bare = line[indent:]
            if _indent(line) != indent or not (bare == "-" or bare.startswith("- ")):
                break
            rest, start = bare[1:].strip(), self._at
            if _KEY.match(rest) and not rest.startswith(("[", "{", '"', "'")):
                # A map that begins behind the dash: its other fields stand below its first.
                inner = len(line) - len(line[indent + 1 :].lstrip())
                self._lines[self._at] = " " * inner + rest
                found.append(self._map(inner, depth + 1))
                continue
            self._at += 1
            found.append(self._value(rest, indent + 1, depth, start))
        return found

    def _check(self, depth: int) -> None:
        if depth > _DEEPEST:
            raise self._error("is nested too deeply")

    def _block(self, style: str, keep: str, indent: int) -> str:
        lines: list[str] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and _indent(line) <= indent:
                break
            lines.append(line)
            self._at += 1
        margin = min((_indent(line) for line in lines if line.strip()), default=0)
        kept = [line[margin:] for line in lines]
        while kept and not kept[-1].strip() and keep != "+":
            kept.pop()
        text = "\n".join(kept) if style == "|" else re.sub(r"(?<=\S)\n(?=\S)", " ", "\n".join(kept))
        return text if keep == "-" or not kept else f"{text}\n"

    def _inline(self, rest: str, indent: int, start: int, depth: int) -> Any:
        if rest.startswith(_REFUSED):
            raise self._error("uses anchors, aliases or tags, which are not read", start)
        if rest[0] in "[{":
            return self._flow(rest, start, depth)
        if rest[0] in "\"'":
            return self._scalar(rest, start)
        plain = [_COMMENT.sub("", rest)]
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip() or _indent(line) <= indent:
                break
            plain.append(_COMMENT.sub("", line.strip()))
            self._at += 1
        return _plain(" ".join(plain).strip())

    def _scalar(self, rest: str, start: int | None = None) -> Any:
        """A quoted text; what follows it may be a comment alone."""
        quote = rest[0]
        end = re.match(r'"(?:[^"\\]|\\.)*"' if quote == '"' else r"'(?:[^']|'')*'", rest)
        if end is None or (rest[end.end() :].strip() and not rest[end.end() :].strip().startswith("#")):
            raise self._error("has a quoted text that does not end on its line", start)
        if quote == "'":
            return end[0][1:-1].replace("''", "'")
        try:
            return json.loads(end[0], strict=False)
        except ValueError as error:
            raise self._error("has a quoted text with an escape that is not read", start) from error

    def _flow(self, rest: str, start: int, depth: int) -> Any:
        rest = rest if rest[-1] in "]}" else _COMMENT.sub("", rest)
        try:
            return json.loads(rest)
        except RecursionError as error:
            raise self._error("is nested too deeply", start) from error
        except ValueError:
            pass
        if rest[0] == "[" and rest.startswith("[[") and rest.endswith("]]"):
            # A link, as somebody types it without quotation marks.
            return rest
        if rest[0] != "[" or rest[-1] != "]":
            raise self._error("has a list or map that does not end on its line, or is not read", start)
        items = [item.strip() for item in flow_items(rest[1:-1])]
        return [self._inline_item(item, start, depth) for item in items if item]

    def _inline_item(self, item: str, start: int, depth: int) -> Any:
        if item.startswith(_REFUSED):
            raise self._error("uses anchors, aliases or tags, which are not read", start)
        if item[0] in "[{" and not item.startswith("[["):
            self._check(depth + 1)
            return self._flow(item, start, depth + 1)
        return self._scalar(item, start) if item[0] in "\"'" else _plain(item)


def flow_items(inside: str) -> list[str]:
    """Items of a list between its brackets, cut at commas that stand in no quotation marks and no brackets."""
    found, item, quote, depth = [], "", "", 0
    for char in inside:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not item.strip():
            quote = char
        elif char in "[{":
            depth += 1
        elif char in "]}":
            depth -= 1
        elif char == "," and depth <= 0:
            found.append(item)
            item = ""
            continue
        item += char
    return [*found, item]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


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
