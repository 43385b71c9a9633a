"""Between the bytes of one note or fact and its typed form; what did not change keeps its bytes."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import msgspec

from core.model.fact import Fact
from core.model.infer import infer_meta
from core.model.note import EXTRA, FILE_NAMES, Note, plain_value, replace, to_file_dict
from core.settings import InferenceSettings
from core.storage.json_text import JsonError, dump, load, split_object

_NOTE: Final = msgspec.json.Decoder(Note)
_FACT: Final = msgspec.json.Decoder(Fact)
_FACT_FIELDS: Final = ("key", "value", "hits", "last_hit_session")
_HIDDEN_FACT_FIELDS: Final = (*_FACT_FIELDS, "index")
_KNOWN: Final = frozenset(FILE_NAMES.values())


class ItemError(ValueError):
    """One note or fact that cannot be understood. The message is a short clause; `id` is its id when legible."""

    def __init__(self, what: str, id: str = "") -> None:
        super().__init__(what)
        self.id = id


def read_note(raw: bytes, rules: InferenceSettings) -> Note:
    """A note from its bytes, unknown fields in `extra`, absent metadata inferred. Raises ItemError."""
    try:
        note = _NOTE.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        note = _read_note_slowly(raw)
    if not (note.scope and note.subject and note.type and note.source and note.stability):
        note = _with_metadata(note, rules)
    return note


def _read_note_slowly(raw: bytes) -> Note:
    shaped = _object(raw)
    id = shaped.get("id") if isinstance(shaped.get("id"), str) else ""
    known = {name: value for name, value in shaped.items() if name in _KNOWN}
    extra = {name: value for name, value in shaped.items() if name not in _KNOWN}
    for optional in ("sourceKey", "archivedAt", "lastRewrittenAt", "hiddenFact"):
        if known.get(optional, 0) is None:
            del known[optional]
    waiting = known.get("hiddenFact")
    if isinstance(waiting, dict):
        inside = {name: value for name, value in waiting.items() if name in _HIDDEN_FACT_FIELDS}
        more = {name: value for name, value in waiting.items() if name not in _HIDDEN_FACT_FIELDS}
        known["hiddenFact"] = inside | {EXTRA: more}
    try:
        note = msgspec.convert(known, Note)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ItemError(_clause(error), id or "") from error
    return replace(note, extra=extra) if extra else note


def _with_metadata(note: Note, rules: InferenceSettings) -> Note:
    inferred = infer_meta(note.kind, note.key, note.content, note.tags, None, rules)
    found = dataclasses.asdict(inferred)
    missing = {
        name: value for name, value in found.items() if name != "confidence" and not getattr(note, name)
    }
    if not note.confidence and "source" in missing:
        missing["confidence"] = found["confidence"]
    return replace(note, **missing)


def read_fact(raw: bytes) -> Fact:
    """A fact from its bytes, unknown fields in `extra`. Raises ItemError."""
    try:
        return _FACT.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        shaped = _object(raw)
    known = {name: value for name, value in shaped.items() if name in _FACT_FIELDS}
    extra = {name: value for name, value in shaped.items() if name not in _FACT_FIELDS}
    try:
        return msgspec.structs.replace(msgspec.convert(known, Fact), extra=extra)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ItemError(_clause(error)) from error


def _object(raw: bytes) -> dict[str, Any]:
    try:
        shaped = load(raw)
    except JsonError as error:
        raise ItemError(str(error)) from error
    if not isinstance(shaped, dict):
        raise ItemError("not an object")
    return shaped


def _clause(error: BaseException) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error).replace("`", "'")


def write_note(after: Note, before: Note | None, raw: bytes | None) -> bytes:
    """The bytes of a changed note: fields that differ from `before` are set in `raw`, the rest keeps its bytes.

    Without `raw` the whole note is written. Lines are indented as in the graph file.
    """
    if raw is None or before is None:
        return dump(to_file_dict(after), indent=True, level=2)
    fields = split_object(raw)
    for name, file_name in FILE_NAMES.items():
        value = getattr(after, name)
        if value == getattr(before, name):
            continue
        if value is None:
            fields.pop(file_name, None)
        else:
            shaped = plain_value(value)
            if name == "links":
                shaped = _with_unknown_link_fields(shaped, fields.get(file_name))
            fields[file_name] = dump(shaped, indent=True, level=3)
    _write_extra(fields, after.extra, before.extra, indent=True)
    body = b",\n      ".join(dump(name) + b": " + value for name, value in fields.items())
    return b"{\n      " + body + b"\n    }"


def _with_unknown_link_fields(links: list[dict[str, Any]], raw: bytes | None) -> list[dict[str, Any]]:
    """Links as they will be written, each with the fields that the file's same link has and we do not know."""
    stored = load(raw) if raw is not None else None
    if not isinstance(stored, list):
        return links
    former = {(item.get("to"), item.get("reason")): item for item in stored if isinstance(item, dict)}
    return [former.get((link["to"], link["reason"]), {}) | link for link in links]


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
