"""Converts one note or fact between bytes and its typed form; what did not change keeps its bytes."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import Any, Final

import msgspec

from core.model.fact import Fact
from core.model.infer import infer_meta
from core.model.note import (
    EXTRA,
    FILE_NAMES,
    METADATA_FIELDS,
    OPTIONAL_FIELDS,
    HiddenFact,
    Link,
    Note,
    VectorSpec,
    plain_value,
    replace,
    to_file_dict,
)
from core.settings import InferenceSettings
from core.storage.format.json_text import JsonError, dump, load, split_array, split_object


def _file_names(shape: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(shape)) - {EXTRA}


_NOTE: Final = msgspec.json.Decoder(Note)
_FACT: Final = msgspec.json.Decoder(Fact)
_FACT_FIELDS: Final = ("key", "value", "hits", "last_hit_session")
_NOTE_FIELDS: Final = frozenset(FILE_NAMES.values())
_OPTIONAL: Final = tuple(FILE_NAMES[name] for name in OPTIONAL_FIELDS)
_INNER_FIELDS: Final = {
    FILE_NAMES["links"]: _file_names(Link),
    FILE_NAMES["vector"]: _file_names(VectorSpec),
    FILE_NAMES["hidden_fact"]: _file_names(HiddenFact),
}
# A file may hold a field of the name under which unknown fields are gathered.
_EXTRA_NAME: Final = EXTRA.encode()
# What is read must also be writable, and writing recurses.
_DEEPEST: Final = 100
_NO_UTF_8: Final = "is not UTF-8"


class ItemError(ValueError):
    """One note or fact that cannot be understood. The message is a short clause; `id` is the note's id or the fact's
    key when legible, else "".
    """

    def __init__(self, what: str, id: str = "") -> None:
        super().__init__(what)
        self.id = id


def read_note(raw: bytes, rules: InferenceSettings) -> Note:
    """A note from its bytes, unknown fields in `extra`, absent metadata inferred. Raises ItemError."""
    if not _is_utf_8(raw):
        raise ItemError(_NO_UTF_8, legible(raw, "id"))
    try:
        note = _read_note_slowly(raw) if _EXTRA_NAME in raw else _NOTE.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        note = _read_note_slowly(raw)
    if not (note.scope and note.subject and note.type and note.source and note.stability):
        note = _with_metadata(note, rules)
    return note


def _read_note_slowly(raw: bytes) -> Note:
    try:
        shaped = _object(raw)
    except ItemError as error:
        raise ItemError(str(error), legible(raw, "id")) from error
    for optional in _OPTIONAL:
        if shaped.get(optional, 0) is None:
            del shaped[optional]
    known = _sorted_out(shaped, _NOTE_FIELDS)
    for name, fields in _INNER_FIELDS.items():
        inner = known.get(name)
        if isinstance(inner, dict):
            known[name] = _sorted_out(inner, fields)
        elif name == "links" and isinstance(inner, list):
            known[name] = [_sorted_out(link, fields) if isinstance(link, dict) else link for link in inner]
    id = known.get("id")
    try:
        note = msgspec.convert(known, Note)
        if not math.isfinite(note.confidence):
            raise msgspec.ValidationError("the confidence is out of range")
    except (msgspec.ValidationError, RecursionError) as error:
        raise ItemError(_clause(error), id if isinstance(id, str) else "") from error
    return note


def _sorted_out(shaped: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """An object's known fields, whole numbers as such ("hits": 1.0), with the unknown ones in one of their own."""
    known = {name: _whole(value) for name, value in shaped.items() if name in names}
    extra = {name: value for name, value in shaped.items() if name not in names}
    return known | {EXTRA: extra} if extra else known


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def legible(raw: bytes, name: str) -> str:
    """A text field of an item that cannot be understood, so that links to it stay; "" when it cannot be told."""
    found = re.search(rb'"%s"\s*:\s*("[^"\\]*+(?:\\.[^"\\]*+)*+")' % name.encode(), raw)
    try:
        text = load(found[1]) if found else ""
    except JsonError:
        return ""
    # Two names whose bytes are no UTF-8 may look alike and not be.
    return text if isinstance(text, str) and "\ufffd" not in text else ""


def _is_utf_8(raw: bytes) -> bool:
    """Whether text can be told from these bytes without guessing; a lone surrogate in JSON's own spelling is text."""
    if raw.isascii():
        return True
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _with_metadata(note: Note, rules: InferenceSettings) -> Note:
    inferred = infer_meta(note.kind, note.key, note.content, note.tags, None, rules)
    found = inferred._asdict()
    missing = {
        name: value for name, value in found.items() if name != "confidence" and not getattr(note, name)
    }
    if not note.confidence and "source" in missing:
        missing["confidence"] = found["confidence"]
    return replace(note, **missing)


def read_fact(raw: bytes) -> Fact:
    """A fact from its bytes, unknown fields in `extra`. Raises ItemError."""
    if not _is_utf_8(raw):
        raise ItemError(_NO_UTF_8, legible(raw, "key"))
    try:
        if _EXTRA_NAME not in raw:
            return _FACT.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return msgspec.convert(_sorted_out(_object(raw), _FACT_FIELDS), Fact)
    except (ItemError, msgspec.ValidationError, RecursionError) as error:
        raise ItemError(_clause(error), legible(raw, "key")) from error


def _object(raw: bytes) -> dict[str, Any]:
    try:
        shaped = load(raw)
    except JsonError as error:
        raise ItemError(str(error)) from error
    if not isinstance(shaped, dict):
        raise ItemError("not an object")
    if raw.count(b"{") + raw.count(b"[") > _DEEPEST and _depth(shaped) > _DEEPEST:
        raise ItemError("nested too deeply")
    return shaped


def _depth(value: Any) -> int:
    """How deep a value is nested, or just more than it may be."""
    inner, depth = [value], 0
    while inner and depth <= _DEEPEST:
        held = (
            one.values() if isinstance(one, dict) else one for one in inner if isinstance(one, dict | list)
        )
        inner, depth = [item for group in held for item in group], depth + 1
    return depth


def _clause(error: BaseException) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error).replace("`", "'")


def write_note(after: Note, before: Note | None, raw: bytes | None) -> bytes:
    """The bytes of a changed note: fields that differ from `before` are set in `raw`, the rest keeps its bytes.
    Metadata that the file did not have is written with it.

    Without `raw` the whole note is written. Lines are indented as in the graph file.
    """
    if raw is None or before is None:
        return dump(to_file_dict(after), indent=True, level=2)
    fields = split_object(raw)
    for name, file_name in FILE_NAMES.items():
        value = getattr(after, name)
        inferred = name in METADATA_FIELDS and file_name not in fields
        if value == getattr(before, name) and not inferred:
            continue
        if value is None:
            fields.pop(file_name, None)
        elif name == "links":
            fields[file_name] = _write_links(after.links, before.links, fields.get(file_name))
        else:
            fields[file_name] = dump(plain_value(value), indent=True, level=3)
    _write_extra(fields, after.extra, before.extra, indent=True)
    body = b",\n      ".join(dump(name) + b": " + value for name, value in fields.items())
    return b"{\n      " + body + b"\n    }"


def _write_links(after: tuple[Link, ...], before: tuple[Link, ...], raw: bytes | None) -> bytes:
    """The list of links; those that were there keep their bytes."""
    raws = split_array(raw) if raw is not None else []
    stored = {(link.to, link.reason): (link, text) for link, text in zip(before, raws, strict=False)}
    parts: list[bytes] = []
    for link in after:
        former, text = stored.get((link.to, link.reason), (None, b""))
        parts.append(text if former == link else dump(plain_value(link), indent=True, level=4))
    return b"[\n        " + b",\n        ".join(parts) + b"\n      ]" if parts else b"[]"


def write_fact(after: Fact, before: Fact | None, raw: bytes | None) -> bytes:
    """The bytes of a changed fact, without indentation; what did not change keeps its bytes."""
    if raw is None or before is None:
        return dump({name: getattr(after, name) for name in _FACT_FIELDS} | after.extra)
    fields = split_object(raw)
    for name in _FACT_FIELDS:
        if getattr(after, name) != getattr(before, name):
            fields[name] = dump(getattr(after, name))
    _write_extra(fields, after.extra, before.extra, indent=False)
    return b"{" + b",".join(dump(name) + b":" + value for name, value in fields.items()) + b"}"


def _write_extra(
    fields: dict[str, bytes], after: dict[str, Any], before: dict[str, Any], *, indent: bool
) -> None:
    for name in before.keys() - after.keys():
        fields.pop(name, None)
    for name, value in after.items():
        if name not in before or before[name] != value:
            fields[name] = dump(value, indent=indent, level=3)
