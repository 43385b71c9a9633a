"""JSON as people and agents write it, with comments and trailing commas: made to hold another value, and every
character kept that says what stays.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

_COMMENTS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_COMMAS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])')
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_INDENT: Final = re.compile(r"[ \t]*")
_UNIT: Final = "  "


class JsonError(ValueError):
    """A text that is no JSON, in a few words."""


class _Entry(NamedTuple):
    """An entry of an object or a list. start: where it begins, at its key if it has one; at: where its value does; end:
    behind it; comma: where the comma behind it stands, -1 for none.
    """

    key: str
    value: Any
    start: int
    at: int
    end: int
    comma: int


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


def _blank(found: re.Match[str]) -> str:
    """Spaces for a comment or a comma; a string stays."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\r\n]", " ", found[0])


class JsonText:
    """A text that was read as JSON. Raises JsonError for one that cannot be.

    Where an object has a key twice, the last one counts, as for every program that reads it. is_plain: whether it has
    neither comments nor trailing commas.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        # The same text, character by character: without comments, and also without trailing commas.
        self._code = _COMMENTS.sub(_blank, text)
        self._plain = _COMMAS.sub(_blank, self._code)
        self.is_plain = self._plain == text
        self._start = self._past(0)
        try:
            self.value, end = _DECODER.raw_decode(self._plain, self._start)
            rest = self._past(end)
            if rest < len(text):
                raise json.JSONDecodeError("more follows", text, rest)
        except json.JSONDecodeError as error:
            raise JsonError(f"line {error.lineno}, column {error.colno}") from None
        except ValueError as error:
            raise JsonError(str(error)) from None
        except RecursionError:
            raise JsonError("it is nested too deeply") from None

    def holding(self, value: Any) -> str:
        """The text with another value, changed where the two differ alone. Raises JsonError where that cannot be."""
        try:
            made = self._made(self._start, self.value, value)
            if JsonText(made).value != value:
                raise JsonError("it cannot be changed without changing others")
        except RecursionError:
            raise JsonError("it is nested too deeply") from None
        return made

    def _made(self, at: int, old: Any, new: Any) -> str:
        """The text with another value where one begins: one difference at a time, the text read anew for the next."""
        if isinstance(old, dict) and isinstance(new, dict):
            entries = self._entries(at, old)
            gone = [one for one in entries if one.key not in new]
            if gone:
                return self._next(self._without(at, entries, gone[-1]), at, new)
            for one in entries:
                if one.value != new[one.key] and one.value == old[one.key]:
                    return self._next(self._made(one.at, one.value, new[one.key]), at, new)
            more = [key for key in new if key not in old]
            return self._next(self._with(at, entries, more[0], new[more[0]]), at, new) if more else self.text
        if isinstance(old, list) and isinstance(new, list):
            entries = self._entries(at, old)
            kept = [one for one in entries if one.value in new]
            if len(kept) < len(entries) and [one.value for one in kept] == new[: len(kept)]:
                gone = [one for one in entries if one.value not in new]
                return self._next(self._without(at, entries, gone[-1]), at, new)
            if old == new[: len(old)]:
                more = new[len(old) :]
                return self._next(self._with(at, entries, None, more[0]), at, new) if more else self.text
            if len(old) == len(new):
                one = next(one for one, wanted in zip(entries, new, strict=True) if one.value != wanted)
                return self._next(self._made(one.at, one.value, new[entries.index(one)]), at, new)
        return self._replaced(at, new)

    def _next(self, made: str, at: int, new: Any) -> str:
        """The rest of the differences in a text in which one is gone."""
        document = JsonText(made)
        value, _ = _DECODER.raw_decode(document._plain, at)
        return document._made(at, value, new) if value != new else made

    # Reading

    def _past(self, place: int) -> int:
        found = _SPACE.match(self._plain, place)
        return found.end() if found else place

    def _entries(self, at: int, value: Any) -> list[_Entry]:
        """The entries of the object or list that begins at a place."""
        found: list[_Entry] = []
        place = self._past(at + 1)
        while self._plain[place] not in "}]":
            key, start = "", place
            if isinstance(value, dict):
                key, place = _DECODER.raw_decode(self._plain, place)
                place = self._past(self._past(place) + 1)
            inner, end = _DECODER.raw_decode(self._plain, place)
            comma = self._past_in_code(end)
            has_comma = self._code[comma] == ","
            found.append(_Entry(key, inner, start, place, end, comma if has_comma else -1))
            place = self._past(comma + 1 if has_comma else end)
        return found

    def _past_in_code(self, place: int) -> int:
        found = _SPACE.match(self._code, place)
        return found.end() if found else place

    # Changing; each gives the new text

    def _replaced(self, at: int, value: Any) -> str:
        _, end = _DECODER.raw_decode(self._plain, at)
        compact = "\n" not in self.text[at:end] and self.text[at] in "{["
        return self.text[:at] + self._written(value, self._indent_at(at), compact) + self.text[end:]

    def _with(self, at: int, entries: list[_Entry], key: str | None, value: Any) -> str:
        """The text with one more entry at the end of an object, or of a list (key None)."""
        text = self.text
        closing = _DECODER.raw_decode(self._plain, at)[1] - 1
        last = entries[-1] if entries else None
        one_line = at != self._start and "\n" not in text[self._start :]
        spread = "\n" in text[at:closing] or (last is None and not one_line)
        base = self._indent_at(at)
        indent = self._indent_of(at, entries, base) if spread else base
        made = self._written(value, indent, not spread)
        if key is not None:
            made = f"{json.dumps(key, ensure_ascii=False)}: {made}"
        content = len(text[:closing].rstrip(" \t\r\n"))
        lead = self._newline + indent if spread else " " if last is not None else ""
        if last is not None and last.comma < 0:
            return f"{text[: last.end]},{text[last.end : content]}{lead}{made}{text[content:]}"
        tail = "," if last is not None else ""
        if last is None and spread and "\n" not in text[content:closing]:
            tail += self._newline + base
        return text[:content] + lead + made + tail + text[content:]

    def _without(self, at: int, entries: list[_Entry], one: _Entry) -> str:
        """The text without one entry of an object or a list, with the comma that it needed."""
        text, place = self.text, entries.index(one)
        lead = max(len(text[: one.start].rstrip(" \t\r\n")), at + 1)
        if one.comma >= 0:
            after = one.comma + 1
            if lead == one.start:
                # The first of several on one line: what divided it from the next goes, too.
                after += len(text[after:]) - len(text[after:].lstrip(" \t"))
            return text[:lead] + text[one.end : one.comma] + text[after:]
        if place:
            comma = entries[place - 1].comma
            return text[:comma] + text[comma + 1 : lead] + text[one.end :]
        return text[:lead] + text[one.end :]

    # How it is written

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def _written(self, value: Any, indent: str, compact: bool) -> str:
        if compact:
            return json.dumps(value, ensure_ascii=False)
        first = self._past(self._start + 1)
        unit = self._indent_at(first) if "\n" in self.text[self._start : first] else ""
        lines = json.dumps(value, ensure_ascii=False, indent=unit or _UNIT).split("\n")
        return (self._newline + indent).join(lines)

    def _indent_at(self, place: int) -> str:
        """The white space at the beginning of the line in which a place is."""
        found = _INDENT.match(self.text, self.text.rfind("\n", 0, place) + 1, place)
        return found[0] if found else ""

    def _indent_of(self, at: int, entries: list[_Entry], base: str) -> str:
        """What the entries of an object or a list are indented by."""
        for one in entries:
            start = self.text.rfind("\n", 0, one.start) + 1
            if start > at and not self.text[start : one.start].strip(" \t"):
                return self.text[start : one.start]
        first = self._past(self._start + 1)
        unit = self._indent_at(first) if at != self._start and "\n" in self.text[self._start : first] else ""
        return base + (unit or _UNIT)
