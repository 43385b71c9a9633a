"""Salvage: what can still be read of a note graph or fact file that is no sound JSON any more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

import msgspec

from core.settings import InferenceSettings
from core.storage.format.codec import ItemError, read_fact, read_note
from core.storage.format.documents import BOM
from core.storage.format.json_text import JsonError, load, split_array, split_object

_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
# No string of JSON runs over the end of a line: so a stray quotation mark upsets one line and not all that follow.
_STRING: Final = rb'"[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*+"'
_NAME: Final = re.compile(rb"(%s)[ \t\r\n]*+:[ \t\r\n]*+" % _STRING)
_SCALAR: Final = re.compile(rb"%s|[0-9A-Za-z+.\-]++" % _STRING)
_BETWEEN_BRACKETS: Final = re.compile(rb"(?:[ \t\r\n,:0-9A-Za-z+.\-]++|%s)++" % _STRING)
_OBJECT: Final = re.compile(rb'\{[ \t\r\n]*+"')
_SPACE: Final = re.compile(rb"[ \t\r\n]*+")
_COMMA: Final = re.compile(rb"[ \t\r\n]*+,[ \t\r\n]*+")
_ARRAY_END: Final = re.compile(rb"[ \t\r\n]*+\][ \t\r\n]*+")
_CLOSING: Final = {ord("{"): ord("}"), ord("["): ord("]")}
_BETWEEN_ITEMS: Final = b" \t\r\n,\x00"
_BRACKETS: Final = b"[]{}"
# A note or fact that is sound nests less deeply, see codec.
_DEEPEST: Final = 128
# What the search may cost, so that no file keeps it busy for ever: bytes looked at, as a multiple of the file's size,
# and what a bracket, and an object that turns out to be nothing, cost in such bytes. Most files take a quarter of it.
_BUDGET: Final = 5
_LEAST_BUDGET: Final = 2**28
_BRACKET_COST: Final = 40
_REJECT_COST: Final = 300
# Past so many bytes the reason is rough: finding the exact place takes longer than salvaging.
_LARGE: Final = 2**26
# An object in which so many notes or facts stand is none itself.
_CROWD: Final = 64


class Piece(NamedTuple):
    """One note or fact of a broken file. `id`: the note's id or the fact's key; `sound`: it can be understood."""

    place: int
    raw: bytes
    id: str
    sound: bool


@dataclass(frozen=True)
class Salvaged:
    """What was found in a file. `reason`: why it is no sound JSON, "" when it is; places are offsets in bytes.

    pieces: notes or facts in the order of the file; those that are not sound are whole objects of JSON all the same.
    repeated: ones that another, sound and newer or earlier, of the same id or key stands for. lost: stretches of
    which nothing was understood. fields: what is legible of the top level, the list itself as "[]" at its place.
    For a file in UTF-16 all bytes and places are those of the same text in UTF-8.
    """

    pieces: tuple[Piece, ...]
    repeated: tuple[Piece, ...]
    lost: tuple[tuple[int, bytes], ...]
    fields: Mapping[str, bytes]
    reason: str

    @property
    def raws(self) -> list[bytes]:
        """The bytes of the sound notes or facts, in order."""
        return [piece.raw for piece in self.pieces if piece.sound]


# What an item is known by and which of two versions is the newer one; None when it cannot be understood.
_Judge = Callable[[bytes], tuple[str, str] | None]


@dataclass(frozen=True)
class _Kind:
    """One of the two kinds of files: the name of its list, the names that only an item has, and who judges items."""

    array: bytes
    names: frozenset[bytes]
    id: str
    judge: _Judge


def salvage_graph(data: bytes, rules: InferenceSettings) -> Salvaged:
    """Every note of a graph.json that can be read, whatever became of the file around it.

    Of several notes with one id the one that was changed last counts. Takes time in step with the file's size.
    """
    names = frozenset({b'"id"', b'"nuggetName"', b'"title"', b'"content"'})
    return _salvage(data, _Kind(b'"notes"', names, "id", partial(_judge_note, rules=rules)))


def salvage_facts(data: bytes) -> Salvaged:
    """Every fact of a fact file that can be read, as `salvage_graph`. Of several with one key the first counts."""
    return _salvage(data, _Kind(b'"facts"', frozenset({b'"key"', b'"value"'}), "key", _judge_fact))


def _judge_note(raw: bytes, rules: InferenceSettings) -> tuple[str, str] | None:
    if not 0 < raw.count(b'"nuggetName"') < _CROWD:
        return None
    try:
        note = read_note(raw, rules)
    except ItemError:
        return None
    return note.id, note.updated_at


def _judge_fact(raw: bytes) -> tuple[str, str] | None:
    if not 0 < raw.count(b'"key"') < _CROWD:
        return None
    try:
        return read_fact(raw).key, ""
    except ItemError:
        return None


def _salvage(data: bytes, kind: _Kind) -> Salvaged:
    reason = _reason(data, kind)
    search = _Search(_as_utf8(data), kind)
    search.run()
    best: dict[str, tuple[bool, str, Piece]] = {}
    repeated: list[Piece] = []
    for newness, piece in search.found:
        rank = (piece.sound, newness, piece)
        known = best.setdefault(piece.id, rank)
        if piece.raw == known[2].raw:
            continue
        if rank[:2] > known[:2]:
            best[piece.id] = (*rank[:2], piece._replace(place=known[2].place))
            piece = known[2]
        repeated.append(piece)
    pieces = sorted(piece for _, _, piece in best.values())
    return Salvaged(tuple(pieces), tuple(repeated), tuple(search.lost()), search.fields(), reason)


def _reason(data: bytes, kind: _Kind) -> str:
    if _is_utf_16(data):
        return "it is in UTF-16, not in UTF-8"
    array = kind.array.strip(b'"').decode()
    if len(data) > _LARGE:
        return "" if _is_json(data.removeprefix(BOM)) else "it is not valid JSON"
    try:
        fields = split_object(data.removeprefix(BOM), once=array)
        split_array(fields.get(array, b"[]"))
    except JsonError as error:
        return str(error)
    return ""


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _as_utf8(data: bytes) -> bytes:
    return data.decode("utf-16", errors="replace").encode() if _is_utf_16(data) else data


def _is_utf_16(data: bytes) -> bool:
    """Whether a text begins with the mark of UTF-16 and goes on in it: most of what JSON is made of has a zero byte."""
    beginning = data[2:202]
    return data.startswith(_UTF_16) and 4 * beginning.count(0) >= len(beginning)


@dataclass
class _Search:
    """One run through a broken file, from object to object; what it understands of it is noted down."""

    data: bytes
    kind: _Kind
    # With each piece what tells which of two versions is the newer one.
    found: list[tuple[str, Piece]] = field(default_factory=list)
    _top: dict[bytes, bytes] = field(default_factory=dict)
    _understood: list[tuple[int, int]] = field(default_factory=list)
    # Where the last thing ended that follows on the beginning of the list without anything strange between.
    _chain: int = -1
    _left: int = 0

    def run(self) -> None:
        """Fills `found`."""
        data = self.data
        self._left = _BUDGET * len(data) + _LEAST_BUDGET
        heads = re.compile(re.escape(self.kind.array) + rb"[ \t\r\n]*+:[ \t\r\n]*+\[")
        head = heads.search(data)
        place = 0
        while self._left > 0 and (opened := _OBJECT.search(data, place)):
            start = opened.start()
            while head is not None and head.start() < start:
                head = heads.search(data, head.end())
            inside = self._enter(start) if head is not None else None
            if inside is not None:
                place = self._leave(inside)
                continue
            end, whole = self._end(start)
            if whole and self._take(start, end):
                place = self._leave(end)
                continue
            self._left -= end - start
            place = start + 1

    def _enter(self, start: int) -> int | None:
        """Where the list begins in a file that begins at `start`, its first fields noted; None for anything else."""
        fields: dict[bytes, bytes] = {}
        place = _skip(self.data, start + 1)
        while (named := _NAME.match(self.data, place)) and named[1] not in self.kind.names:
            place = named.end()
            if named[1] == self.kind.array:
                if not self.data.startswith(b"[", place):
                    return None
                self._understand(start, place + 1, {**fields, named[1]: b"[]"})
                self._chain = place + 1
                return place + 1
            end = self._value_end(place)
            comma = _COMMA.match(self.data, end) if end is not None else None
            if comma is None:
                return None
            fields[named[1]] = self.data[place:end]
            place = comma.end()
        return None

    def _leave(self, place: int) -> int:
        """Where to go on after an item: behind the end of the list and the fields that follow it, if that is next."""
        ended = _ARRAY_END.match(self.data, place)
        if ended is None:
            return place
        fields: dict[bytes, bytes] = {}
        place_after = ended.end()
        while comma := _COMMA.match(self.data, place_after):
            named = _NAME.match(self.data, comma.end())
            end = self._value_end(named.end()) if named and named[1] != self.kind.array else None
            if named is None or end is None:
                break
            fields[named[1]] = self.data[named.end() : end]
            place_after = end
        closed = _skip(self.data, place_after)
        if self.data.startswith(b"}", closed):
            # An item may itself hold a list of such items: then more items follow, and this was not the file's end.
            if self.data.startswith((b",", b"]"), _skip(self.data, closed + 1)):
                return place
            place_after = closed + 1
        elif self._chain != place:
            return place
        self._understand(place, place_after, fields)
        return place_after

    def _end(self, start: int) -> tuple[int, bool]:
        """Where the object or list that opens at `start` ends, and True; else how far it makes sense."""
        data, place, awaited = self.data, start, bytearray()
        whole = False
        while place < len(data) and not whole:
            self._left -= _BRACKET_COST
            bracket = data[place]
            if bracket in _CLOSING and len(awaited) < _DEEPEST:
                awaited.append(_CLOSING[bracket])
            elif not awaited or awaited.pop() != bracket:
                break
            place += 1
            whole = not awaited
            inside = _BETWEEN_BRACKETS.match(data, place) if awaited else None
            place = inside.end() if inside else place
        self._left -= place - start
        return place, whole

    def _value_end(self, place: int) -> int | None:
        scalar = _SCALAR.match(self.data, place)
        if scalar is not None:
            return scalar.end()
        end, whole = self._end(place)
        return end if whole else None

    def _understand(self, start: int, end: int, fields: Mapping[bytes, bytes]) -> None:
        self._understood.append((start, end))
        for name, value in fields.items():
            self._top.setdefault(name, value)

    def _take(self, start: int, end: int) -> bool:
        """Notes the object down if it is a note or fact, sound or not."""
        raw = self.data[start:end]
        judged = self.kind.judge(raw)
        if judged is not None:
            self.found.append((judged[1], Piece(start, raw, judged[0], True)))
        else:
            self._left -= _REJECT_COST
            id = self._legible_id(start, end)
            if id is None:
                return False
            self.found.append(("", Piece(start, raw, id, False)))
        if self._chain >= 0:
            self._chain = -1 if self.data[self._chain : start].strip(_BETWEEN_ITEMS) else end
        self._understood.append((start, end))
        return True

    def _legible_id(self, start: int, end: int) -> str | None:
        """The id or key of an object that stands between items, is whole, and holds nothing that is sound."""
        following = _skip(self.data, end)
        name = f'"{self.kind.id}"'.encode()
        if self.data[following : following + 1] not in (b",", b"]") or self.data.find(name, start, end) < 0:
            return None
        if self._holds_sound(start + 1, end):
            return None
        try:
            id = load(self.data[start:end]).get(self.kind.id)
        except JsonError:
            return None
        return id if isinstance(id, str) else None

    def _holds_sound(self, place: int, end: int) -> bool:
        while self._left > 0 and (opened := _OBJECT.search(self.data, place, end)):
            place = opened.start() + 1
            inner, whole = self._end(opened.start())
            if whole and self.kind.judge(self.data[opened.start() : inner]) is not None:
                return True
        return False

    def lost(self) -> Iterable[tuple[int, bytes]]:
        """Stretches of which nothing was understood, without what stands between items."""
        place = len(BOM) if self.data.startswith(BOM) else 0
        for start, end in [*sorted(self._understood), (len(self.data), len(self.data))]:
            gap = self.data[place:start]
            text = gap.strip(_BETWEEN_ITEMS)
            if text.strip(_BETWEEN_ITEMS + _BRACKETS):
                yield place + len(gap) - len(gap.lstrip(_BETWEEN_ITEMS)), text
            place = max(place, end)

    def fields(self) -> dict[str, bytes]:
        """The legible fields of the top level, the list as "[]"."""
        found: dict[str, bytes] = {}
        for name, value in self._top.items():
            try:
                load(value)
                found[str(load(name))] = value
            except JsonError:
                continue
        return found


def _skip(data: bytes, place: int) -> int:
    space = _SPACE.match(data, place)
    return space.end() if space else place
