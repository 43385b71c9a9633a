"""Between change sets and the bytes that the ledger keeps of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from core.errors import ErrorCode
from core.model.change import ChangeSet
from core.model.entry import Conflict
from core.storage.format.json_text import dump, load

_CHANGE_SET: Final = msgspec.json.Decoder(ChangeSet)
_CONFLICT: Final = msgspec.json.Decoder(Conflict)
_ZLIB: Final = b"\x78"
_WORTH_PRESSING: Final = 2048


def write_change_set(change_set: ChangeSet) -> bytes:
    """A change set as JSON, pressed with zlib when it is large."""
    return pressed(_encoded(change_set))


def pressed(text: bytes) -> bytes:
    """The JSON of a change set as the ledger keeps it."""
    return zlib.compress(text, 1) if len(text) > _WORTH_PRESSING else text


def unpressed(body: bytes) -> bytes:
    """The JSON of what `write_change_set` wrote. Raises zlib.error."""
    return zlib.decompress(body) if body.startswith(_ZLIB) else body


def read_change_set(body: bytes) -> ChangeSet:
    """The change set that `write_change_set` wrote. Raises ValueError for bytes that are none."""
    try:
        text = unpressed(body)
        try:
            return _CHANGE_SET.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return msgspec.convert(load(text), ChangeSet)
    except (zlib.error, msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error


def write_conflict(conflict: Conflict) -> bytes:
    """A conflict as JSON."""
    return _encoded(conflict)


def read_conflict(body: bytes) -> Conflict:
    """The conflict that `write_conflict` wrote, in whatever version. Raises ValueError."""
    try:
        found = _CONFLICT.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        try:
            found = msgspec.convert(_with_known_code(load(body)), Conflict)
        except msgspec.MsgspecError as error:
            raise ValueError(str(error)) from error
    if found.code is not ErrorCode.CONFLICT:
        return found
    return msgspec.structs.replace(found, code=_former_code(found.what))


def _with_known_code(shaped: Any) -> Any:
    """Without a code that a newer version gave and this one does not know."""
    if isinstance(shaped, dict) and shaped.get("code") not in set(ErrorCode):
        return {name: value for name, value in shaped.items() if name != "code"}
    return shaped


# How versions before this one, whose conflicts have no code, said what was in the way. Only what they wrote is read so.
_FORMER_CODES: Final = {
    "a note of this id was made meanwhile": ErrorCode.MADE_MEANWHILE,
    "another program keeps bringing this fact back": ErrorCode.FACT_BROUGHT_BACK,
    "another program keeps renaming this fact": ErrorCode.FACT_RENAMED_BACK,
    "another program keeps showing this hidden fact": ErrorCode.HIDDEN_FACT_SHOWN,
    "another program keeps taking this change back": ErrorCode.CHANGE_TAKEN_BACK,
    "another program keeps taking this fact back": ErrorCode.FACT_TAKEN_BACK,
    "changed in two ways": ErrorCode.CHANGED_IN_TWO_WAYS,
    "it cannot be read here": ErrorCode.UNREADABLE_SIDE,
    "it cannot be read there": ErrorCode.UNREADABLE_SIDE,
    "it was changed here and deleted there": ErrorCode.CHANGED_AND_DELETED,
    "it was deleted here and changed there": ErrorCode.CHANGED_AND_DELETED,
    "it was forgotten here and changed there": ErrorCode.CHANGED_AND_DELETED,
    "its fact was changed by one side and hidden or brought back by the other": ErrorCode.CHANGED_AND_HIDDEN,
    "its fact was changed meanwhile": ErrorCode.FACT_CHANGED_MEANWHILE,
    "its fact was renamed or hidden meanwhile": ErrorCode.RENAMED_MEANWHILE,
    "its fact was stored anew here and brought back there": ErrorCode.STORED_MEANWHILE,
    "no file can bear the name of its nugget": ErrorCode.BAD_NAME,
    "the fact was changed in two ways": ErrorCode.CHANGED_IN_TWO_WAYS,
    "the fact was changed meanwhile": ErrorCode.FACT_CHANGED_MEANWHILE,
    "the fact was forgotten meanwhile": ErrorCode.FORGOTTEN_MEANWHILE,
    "the fact was stored anew meanwhile": ErrorCode.STORED_MEANWHILE,
    "the note was changed meanwhile": ErrorCode.CHANGED_MEANWHILE,
    "the note was deleted meanwhile": ErrorCode.DELETED_MEANWHILE,
    "the nugget has another name there": ErrorCode.OTHER_NAME,
    "this key was stored meanwhile": ErrorCode.STORED_MEANWHILE,
}
_FORMER_ENDING: Final = " was changed in two ways"


def _former_code(what: str) -> ErrorCode:
    if what.endswith(_FORMER_ENDING):
        return ErrorCode.CHANGED_IN_TWO_WAYS
    return _FORMER_CODES.get(what, ErrorCode.CONFLICT)


def _encoded(value: msgspec.Struct) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # Lone surrogates, which files of a memory may hold, are no UTF-8: they are written as escapes.
        return dump(msgspec.to_builtins(value))


def note_item(id: str) -> str:
    """How the ledger names a note."""
    return legible(f"n {id}")


def fact_item(nugget: str, key: str) -> str:
    """How the ledger names a fact."""
    return legible(f"f {nugget}\n{key}")


def legible(name: str) -> str:
    """A name that UTF-8 has bytes for: lone surrogates, which files may hold, are spelled out."""
    return name if name.isascii() else name.encode("utf-8", "backslashreplace").decode("utf-8")


def items_of(change_set: ChangeSet) -> Iterator[str]:
    """Names of everything that a change set touches; a renamed fact under both of its keys."""
    found: dict[str, None] = {note_item(change.id): None for change in change_set.notes}
    for change in change_set.notes:
        if change.after is not None:
            found[note_item(change.after.id)] = None
    for fact in change_set.facts:
        found[fact_item(fact.nugget, fact.key)] = None
        if fact.after is not None:
            found[fact_item(fact.nugget, fact.after.key)] = None
    for nugget in change_set.nuggets:
        found[legible(f"g {nugget.name}")] = None
    for file in change_set.files:
        found[legible(f"p {file.path}")] = None
    yield from found
