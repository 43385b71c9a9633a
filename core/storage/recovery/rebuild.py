"""Builds a sound note graph or fact file from the bytes that were last seen and from what is whole in a broken one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from core.model.fact import NuggetMeta
from core.settings import InferenceSettings
from core.storage.format.codec import ItemError, read_fact, read_note
from core.storage.format.documents import BOM, Document, GraphDocument, id_of
from core.storage.format.json_text import JsonError, load

# No string of JSON runs over the end of a line: so a stray quotation mark upsets one line and not all that follow.
_STRING: Final = rb'"[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*+"'
_NAME: Final = re.compile(rb"[\s,{]*+(%s)\s*+:\s*+" % _STRING)
_SCALAR: Final = re.compile(rb"%s|[0-9A-Za-z+.\-]++" % _STRING)
_BETWEEN_BRACKETS: Final = re.compile(rb"(?:[ \t\r\n,:0-9A-Za-z+.\-]++|%s)*+" % _STRING)
_OBJECT: Final = re.compile(rb'\{\s*+"')
# The end of the list, and not a stray bracket: a field follows, or the end of the file.
_LIST_END: Final = re.compile(rb"[\s,]*+\]\s*+(?:,\s*+%s\s*+:|\}?\s*+\Z)" % _STRING)
# What follows an item of a list.
_NEXT: Final = re.compile(rb"\s*+[,\]]")
_CLOSING: Final = {ord("{"): ord("}"), ord("["): ord("]")}
# Deeper ones are no notes. So each byte is looked at so often at most: time is in step with the size of the file.
_DEEPEST: Final = 32
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


class _Found(NamedTuple):
    """A note or fact of a broken file. newness: of two that can be read with one id the greater one counts."""

    sound: bool
    newness: str
    raw: bytes


# The id of an object's bytes, and whether it can be read; None for what is neither note nor fact.
_Judge = Callable[[bytes], tuple[str, _Found] | None]


def rebuilt(data: bytes, former: Document, rules: InferenceSettings) -> list[bytes]:
    """A sound file, in parts, of what is whole in a broken one and of what is missing in it.

    former: the file as it was last seen, or an empty one. A note or fact that can be read in the broken file wins over
    the one that was last seen, and that over one that is whole but cannot be understood; those that are missing stand
    behind the one that they last stood behind. Takes time in step with the file's size.
    """
    if data.startswith(_UTF_16):
        data = data.decode("utf-16", errors="replace").encode()
    listed, judge, kinds = _kind_of(former, rules)
    head = re.compile(rb'"%s"\s*+:\s*+\[' % listed.encode()).search(data)
    found = _items(data, head.end() if head is not None else 0, judge)
    legible = _fields(data.removeprefix(BOM), listed)
    fields = dict(former.fields) | {
        name: value for name, value in legible.items() if name not in kinds or _is_of_kind(value, kinds[name])
    }
    return replace(former, fields=fields, raws=tuple(_woven(found, former))).to_parts()


def _kind_of(former: Document, rules: InferenceSettings) -> tuple[str, _Judge, Mapping[str, object]]:
    """The name of the list, who judges what stands in it, and of what kinds known fields are."""

    def note(raw: bytes) -> tuple[str, _Found] | None:
        item = read_note(raw, rules)
        return item.id, _Found(True, item.updated_at, raw)

    def fact(raw: bytes) -> tuple[str, _Found] | None:
        return read_fact(raw).key, _Found(True, "", raw)

    def judge(raw: bytes) -> tuple[str, _Found] | None:
        # An object in which several of them stand is none itself.
        if raw.count(mark) > _DEEPEST or mark not in raw:
            return None
        try:
            return read(raw)
        except ItemError as error:
            whole = error.id and raw.count(mark) == 1 and _is_object(raw)
            return (error.id, _Found(False, "", raw)) if whole else None

    is_graph = isinstance(former, GraphDocument)
    mark, read = (b'"id"', note) if is_graph else (b'"key"', fact)
    settings = {setting.name: setting.type for setting in msgspec.structs.fields(NuggetMeta)}
    return ("notes", judge, {"version": int | float}) if is_graph else ("facts", judge, settings)


def _items(data: bytes, place: int, judge: _Judge) -> dict[str, _Found]:
    """Each note or fact by its id, in the order of the file."""
    found: dict[str, _Found] = {}
    while opened := _OBJECT.search(data, place):
        start = opened.start()
        end = _end_of(data, start)
        judged = judge(data[start:end]) if end else None
        if judged is None or not (judged[1].sound or _NEXT.match(data, end)):
            place = start + 1
            continue
        id, item = judged
        if id not in found or item[:2] > found[id][:2]:
            found[id] = item
        place = end
        if _LIST_END.match(data, place):
            # What follows is another file, if anything.
            again = re.compile(rb'"(?:notes|facts)"\s*+:\s*+\[').search(data, place)
            place = again.end() if again is not None else len(data)
    return found


def _end_of(data: bytes, start: int) -> int:
    """Where the object or list that opens at `start` ends; 0 for one that does not, or makes no sense."""
    place, awaited = start, bytearray()
    while place < len(data):
        bracket = data[place]
        if bracket in _CLOSING and len(awaited) < _DEEPEST:
            awaited.append(_CLOSING[bracket])
        elif not awaited or awaited.pop() != bracket:
            return 0
        if not awaited:
            return place + 1
        between = _BETWEEN_BRACKETS.match(data, place + 1)
        place = between.end() if between is not None else place + 1
    return 0


def _fields(data: bytes, listed: str) -> dict[str, bytes]:
    """The fields at the beginning of a file, up to its list."""
    found: dict[str, bytes] = {}
    place = 0
    while (named := _NAME.match(data, place)) and named[1].strip(b'"').decode("utf-8", "replace") != listed:
        scalar = _SCALAR.match(data, named.end())
        end = scalar.end() if scalar is not None else _end_of(data, named.end())
        if not end:
            break
        try:
            load(data[named.end() : end])
            found[str(load(named[1]))] = data[named.end() : end]
        except JsonError:
            break
        place = end
    return found


def _woven(found: Mapping[str, _Found], former: Document) -> list[bytes]:
    """What was found with what is missing among it, each behind the one that it last stood behind."""
    following: dict[str | None, list[bytes]] = {}
    put_back: set[str] = set()
    before: str | None = None
    for item, raw in zip(former.items, former.raws, strict=True):
        if item is None:
            continue
        id = id_of(item)
        if id in found and found[id].sound:
            before = id
        else:
            following.setdefault(before, []).append(raw)
            put_back.add(id)
    raws = following.pop(None, [])
    for id, one in found.items():
        if one.sound or id not in put_back:
            raws.append(one.raw)
        raws += following.pop(id, [])
    return raws


def _is_object(raw: bytes) -> bool:
    try:
        return isinstance(load(raw), dict)
    except JsonError:
        return False


def _is_of_kind(value: bytes, kind: object) -> bool:
    try:
        msgspec.json.decode(value, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True
