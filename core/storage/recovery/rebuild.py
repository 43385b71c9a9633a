"""Makes a sound note graph or fact file of what can be read in a broken one and of the bytes that were last seen."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from core.model.fact import NuggetMeta
from core.settings import InferenceSettings
from core.storage.format.codec import ItemError, legible, read_fact, read_note
from core.storage.format.documents import BOM, Document, GraphDocument, id_of

# Python's own parser tells where a value ends. None of its strings runs over the end of a line: so a stray quotation
# mark upsets one line and not all that follow.
_PARSED: Final = json.JSONDecoder().raw_decode
_OBJECT: Final = re.compile(r'\{\s*+"')
_FIELD: Final = re.compile(r'[\s,{]*+("[^"\\\x00-\x1f]*+")\s*+:\s*+')
_LIST: Final = re.compile(r'"(notes|facts)"\s*+:\s*+\[')
# The end of the list, and not a stray bracket: a field follows, or the end of the file.
_LIST_END: Final = re.compile(r'[\s,]*+\]\s*+(?:,\s*+"[^"\\\x00-\x1f]*+"\s*+:|\}?\s*+\Z)')
# What follows an item of a list.
_NEXT: Final = re.compile(r"\s*+[,\]]")
# So many objects that end or fail at one place are looked at, and so many that fail at all: garbage comes to an end.
_DEEPEST: Final = 32
_FAILURES: Final = 10_000
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


class Piece(NamedTuple):
    """A note or fact of a file. name: its id or key, "" for none. sound: whether it can be read."""

    name: str
    sound: bool
    raw: bytes


def pieces_of(document: Document) -> list[Piece]:
    """What stands in a file that can be read as a whole, in its order."""
    named = "id" if isinstance(document, GraphDocument) else "key"
    found = []
    for item, raw in zip(document.items, document.raws, strict=True):
        known = item or document.later.get(raw)
        name = id_of(known) if known is not None else legible(raw, named)
        found.append(Piece(name, known is not None, raw))
    return found


def woven(pieces: Sequence[Piece], former: Document, *, missing: bool) -> tuple[list[bytes], set[int]]:
    """The bytes of notes or facts in which what cannot be read is as it was last seen, and its places.

    former: the file as it was last seen. What has no name is taken for the one that stood behind the same neighbour.
    missing: what was seen and is not there at all comes back too, behind the one that it last stood behind.
    """
    seen = {id_of(item): raw for item, raw in zip(former.items, former.raws, strict=True) if item is not None}
    sound = {piece.name for piece in pieces if piece.sound}
    there = {piece.name for piece in pieces}
    behind: dict[str, list[str]] = {}
    before = ""
    for name in seen:
        if name in there:
            before = name
        else:
            behind.setdefault(before, []).append(name)
    raws = [seen[name] for name in behind.pop("", ())] if missing else []
    replaced: set[int] = set()
    before = ""
    for place, (name, is_sound, raw) in enumerate(pieces):
        if not name and behind.get(before):
            name = behind[before].pop(0)
        if not is_sound and name in seen and name not in sound:
            raw = seen.pop(name)
            replaced.add(place)
        raws.append(raw)
        if is_sound or place in replaced:
            before = name
            raws += [seen[one] for one in behind.pop(name, ())] if missing else []
    return raws, replaced


def rebuilt(data: bytes, former: Document, rules: InferenceSettings) -> list[bytes]:
    """A sound file, in parts, of what is whole in a broken one and of what is missing in it.

    former: the file as it was last seen, or an empty one. A note or fact that can be read in the broken file wins over
    the one that was last seen, and that over one that is whole but cannot be understood.
    """
    encoding = "utf-16" if data.startswith(_UTF_16) else "utf-8"
    text = data.removeprefix(BOM).decode(encoding, "replace" if encoding == "utf-16" else "surrogateescape")
    raws, _ = woven(list(_pieces_in(text, isinstance(former, GraphDocument), rules)), former, missing=True)
    return replace(former, fields=dict(former.fields) | _fields_in(text, former), raws=tuple(raws)).to_parts()


def _pieces_in(text: str, is_graph: bool, rules: InferenceSettings) -> Iterator[Piece]:
    """Each note or fact in a broken file once: of several with one id the newest that can be read."""
    found: dict[str, tuple[bool, str, Piece]] = {}
    listed = _LIST.search(text)
    place = listed.end() if listed is not None else 0
    ends = Counter[int]()
    while ends[-1] < _FAILURES and (opened := _OBJECT.search(text, place)):
        end, failed = _end_of(text, opened.start())
        ends[failed] += 1
        ends[-1] += not end
        place = opened.start() + 1 if ends[failed] <= _DEEPEST else max(failed, opened.start() + 1)
        raw = text[opened.start() : end].encode("utf-8", "surrogateescape") if end else b""
        mark = b'"id"' if is_graph else b'"key"'
        if not end or mark not in raw:
            # Nothing in it is a note or fact either.
            place = end or place
            continue
        piece, newness = _judged(raw, mark, is_graph, rules)
        if piece is None or not (piece.sound or _NEXT.match(text, end)):
            continue
        held = found.get(piece.name)
        if held is None or held[:2] < (piece.sound, newness):
            found[piece.name] = piece.sound, newness, piece
        place = end
        if _LIST_END.match(text, place):
            # What follows is another file, if anything.
            again = _LIST.search(text, place)
            place = again.end() if again is not None else len(text)
    return (piece for _, _, piece in found.values())


def _end_of(text: str, start: int) -> tuple[int, int]:
    """Where a value of JSON ends, 0 for one that makes no sense; and where that was known."""
    try:
        end = _PARSED(text, start)[1]
        return end, end
    except json.JSONDecodeError as error:
        return 0, error.pos
    except (ValueError, RecursionError):
        return 0, start + 1


def _judged(raw: bytes, mark: bytes, is_graph: bool, rules: InferenceSettings) -> tuple[Piece | None, str]:
    """An object as a note or fact, and its time; None for what is neither."""
    try:
        if is_graph:
            note = read_note(raw, rules)
            return Piece(note.id, True, raw), note.updated_at
        return Piece(read_fact(raw).key, True, raw), ""
    except ItemError as error:
        # An object in which several of them stand is none itself.
        return (Piece(error.id, False, raw) if error.id and raw.count(mark) == 1 else None), ""


def _fields_in(text: str, former: Document) -> dict[str, bytes]:
    """The fields at the beginning of a broken file, up to its list, without those that are not of their kind."""
    kinds: dict[str, object] = {"version": int | float}
    if not isinstance(former, GraphDocument):
        kinds = {setting.name: setting.type for setting in msgspec.structs.fields(NuggetMeta)}
    found: dict[str, bytes] = {}
    place = 0
    while (named := _FIELD.match(text, place)) and named[1] not in ('"notes"', '"facts"'):
        place, _ = _end_of(text, named.end())
        if not place:
            break
        value = text[named.end() : place].encode("utf-8", "surrogateescape")
        try:
            name = json.loads(named[1])
            msgspec.json.decode(value, type=kinds.get(name, object))
            found[name] = value
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
    return found
