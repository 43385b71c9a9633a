"""JSON as people and agents write it, with comments and trailing commas: changed one value at a time, and every
character kept that says what stays.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

# Keys of objects and places in lists.
Way = tuple[str | int, ...]
_COMMENTS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_COMMAS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])')
_SPACE: Final = re.compile(r"[ \t\r\n]*")


class PieceError(ValueError):
    """A file that a piece of ours cannot be put into or taken out of, in a few words. foreign: something else stands
    there under our name.
    """

    def __init__(self, what: str, *, foreign: bool = False) -> None:
        super().__init__(what)
        self.foreign = foreign


class _Entry(NamedTuple):
    """An entry of an object or a list. start: where it begins, at its key if it has one; at: where its value does; end:
    behind it; comma: where the comma behind it stands, -1 for none.
    """

    key: str | int
    start: int
    at: int
    end: int
    comma: int


_DECODER: Final = json.JSONDecoder()


def value_at(value: Any, way: Way) -> Any:
    """What is at the end of a way; None for nothing."""
    for key in way:
        inner = isinstance(value, list) and isinstance(key, int) and key < len(value)
        value = value[key] if inner else value.get(key) if isinstance(value, dict) else None
    return value


def _past(text: str, place: int) -> int:
    """Behind the white space at a place."""
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _blank(found: re.Match[str]) -> str:
    """Spaces for a comment or a comma; a string stays."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\r\n]", " ", found[0])


class JsonText:
    """A text that was read as JSON, its value, and `is_plain`: whether it has no comments and no trailing commas.

    Where an object has a key twice, the last one counts, as for every program that reads it. Raises PieceError, as
    `put` and `remove` do where a change cannot be made without another one.
    """

    def __init__(self, text: str) -> None:
        self._read(text)

    def _read(self, text: str) -> None:
        self.text = text
        # The same text, character by character: without comments, and also without trailing commas.
        self._code = _COMMENTS.sub(_blank, text)
        self._plain = _COMMAS.sub(_blank, self._code)
        self.is_plain = self._plain == text
        self._start = _past(self._plain, 0)
        try:
            self.value = _DECODER.decode(self._plain)
        except ValueError as error:
            raise PieceError(f"it is no JSON ({error})") from None
        except RecursionError:
            raise PieceError("it is nested too deeply") from None

    def put(self, way: Way, value: Any) -> None:
        """Makes a value the one at the end of a way, with the objects that are missing on it; a place behind the last
        one of a list adds an item.
        """
        depth = len(way)
        while depth > 1 and value_at(self.value, way[: depth - 1]) is None:
            depth -= 1
            value = {way[depth]: value}
        at, holder, (entries, closing), key = self._place(way[:depth])
        known = [one for one in entries if one.key == key]
        if known:
            place, end = known[-1].at, known[-1].end
            compact = "\n" not in self.text[place:end] and self.text[place] in "{["
            made = self._written(value, self._indent(place), compact)
            text = self.text[:place] + made + self.text[end:]
        else:
            text = self._with(at, entries, closing, key, value)
        if known or isinstance(holder, dict):
            holder[key] = value
        else:
            holder.append(value)
        self._change(text)

    def remove(self, way: Way) -> None:
        """Takes out an entry of an object or a list that is there, with the comma that it needed."""
        at, holder, (entries, _), key = self._place(way)
        text, place = self.text, max(number for number, one in enumerate(entries) if one.key == key)
        one = entries[place]
        lead = max(len(text[: one.start].rstrip(" \t\r\n")), at + 1)
        if one.comma >= 0:
            rest = text[one.comma + 1 :]
            # The first of several on one line: what divided it from the next goes, too.
            made = (
                text[:lead] + text[one.end : one.comma] + (rest.lstrip(" \t") if lead == one.start else rest)
            )
        else:
            # The last one: the comma before it goes.
            before = entries[place - 1].comma if place else lead
            made = text[:before] + text[before + 1 : lead] + text[one.end :]
        del holder[key]
        self._change(made)

    def _change(self, text: str) -> None:
        """Takes another text as this one, if it says what `value` was made to be."""
        wanted = self.value
        self._read(text)
        try:
            if self.value != wanted:
                raise PieceError("it cannot be changed without changing others")
        except RecursionError:
            raise PieceError("it is nested too deeply") from None

    def _place(self, way: Way) -> tuple[int, Any, tuple[list[_Entry], int], Any]:
        """Where the holder of the last key of a way begins, its value and its entries, and the key."""
        at, holder = self._start, self.value
        for key in way[:-1]:
            at, holder = [one.at for one in self._entries(at)[0] if one.key == key][-1], holder[key]
        return at, holder, self._entries(at), way[-1]

    def _entries(self, at: int) -> tuple[list[_Entry], int]:
        """The entries of the object or list that begins at a place, and where it is closed."""
        found: list[_Entry] = []
        place = _past(self._plain, at + 1)
        while self._plain[place] not in "}]":
            key, start = len(found), place
            if self._plain[at] == "{":
                key, place = _DECODER.raw_decode(self._plain, place)
                place = _past(self._plain, _past(self._plain, place) + 1)
            end = _DECODER.raw_decode(self._plain, place)[1]
            after = _past(self._code, end)
            has_comma = self._code[after] == ","
            found.append(_Entry(key, start, place, end, after if has_comma else -1))
            place = _past(self._plain, after + has_comma)
        return found, place

    def _with(self, at: int, entries: list[_Entry], closing: int, key: Any, value: Any) -> str:
        """The text with one more entry at the end of an object or a list, laid out as those that are there."""
        text, base = self.text, self._indent(at)
        last = entries[-1] if entries else None
        # An empty one is as the file is; a file that was empty is spread.
        spread = "\n" in text[at:closing] or (
            last is None and (at == self._start or "\n" in text[self._start :])
        )
        beside = last is not None and text.rfind("\n", 0, last.start) > at
        indent = self._indent(last.start) if last is not None and beside else base + self._unit
        made = self._written(value, indent if spread else base, not spread)
        if isinstance(key, str):
            made = f"{json.dumps(key, ensure_ascii=False)}: {made}"
        lead = self._newline + indent if spread else " " if last is not None else ""
        content = len(text[:closing].rstrip(" \t\r\n"))
        if last is not None and last.comma < 0:
            return f"{text[: last.end]},{text[last.end : content]}{lead}{made}{text[content:]}"
        tail = "," if last is not None else ""
        if last is None and spread and "\n" not in text[content:closing]:
            tail = self._newline + base
        return text[:content] + lead + made + tail + text[content:]

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _unit(self) -> str:
        """What is indented by, as the first entry of the file is."""
        first = _past(self._plain, self._start + 1)
        return (self._indent(first) if "\n" in self.text[self._start : first] else "") or "  "

    def _written(self, value: Any, indent: str, compact: bool) -> str:
        if compact:
            return json.dumps(value, ensure_ascii=False)
        return (self._newline + indent).join(
            json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
        )

    def _indent(self, place: int) -> str:
        """The white space at the beginning of the line in which a place is."""
        line = self.text[self.text.rfind("\n", 0, place) + 1 : place]
        return line[: len(line) - len(line.lstrip(" \t"))]
