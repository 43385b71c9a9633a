"""Quarantine: the exact bytes of what could not be read, each with the reason, kept beside the memory's files."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from core.errors import InvalidInputError, NotFoundError, NuggetsError
from core.folder import QUARANTINE
from core.model.names import iso, parse_iso
from core.storage.files.atomic import read_file, replace_file
from core.storage.files.side_folders import names_in, remove_half_written, side_folder, stamp
from core.storage.format.json_text import JsonError, dump, load
from core.text.normalise import encodable

RECORD: Final = ".record.json"
_UNFIT: Final = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST_NAME: Final = 120
_DIGITS: Final = 8


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that was set aside, mostly since it could not be read, as its file beside the bytes holds it.

    file: the memory's file that it stood in, relative to the folder. where: its place there, in words. reason: why
    it was set aside. at: when that was, ISO 8601 in UTC. whole: whether it is all of that file. sound: whether it
    can be read, and served its purpose, its content being in the memory. path: the file that holds its exact bytes,
    `size` of them; no file holds these two.
    """

    file: str
    where: str
    reason: str
    at: str
    whole: bool
    sha256: str
    sound: bool = False
    path: Path = Path()
    size: int = 0


def set_aside(
    home: Path, *, file: str, data: bytes, reason: str, where: str, at: str, whole: bool, sound: bool = False
) -> Record:
    """Keeps bytes that are taken out of the memory, safe on disk when this returns. The same bytes of the same file
    are kept once.

    Arguments as in `Record`. Only to be called while holding the memory's lock. Raises StorageError, and
    ReadOnlyError when the folder of the quarantine is a link that leads out of the memory's folder.
    """
    moment = parse_iso(at)
    if moment is None:
        raise InvalidInputError("not a time", where=repr(at), kept="nothing was written")
    file, where, reason = map(encodable, (file, where, reason))
    # It loads a library of ciphers.
    from hashlib import sha256

    folder, digest = side_folder(home, QUARANTINE), sha256(data).hexdigest()
    # The last part of the file's path, in characters that every system takes.
    short = _UNFIT.sub("_", PurePosixPath(file).name)[-_LONGEST_NAME:] or "file"
    for name in remove_half_written(folder):
        if name.endswith(f"-{digest[:_DIGITS]}-{short}{RECORD}"):
            known = _read_record(folder / name)
            if known is not None and (known.file, known.sha256) == (file, digest):
                return known
    path = folder / f"{stamp(moment)}-{digest[:_DIGITS]}-{short}"
    stored = Record(
        file=file, where=where, reason=reason, at=iso(moment), whole=whole, sha256=digest, sound=sound
    )
    # The record last: once it is there, so are the bytes.
    replace_file(path, data)
    replace_file(path.with_name(path.name + RECORD), dump(msgspec.to_builtins(stored), indent=True) + b"\n")
    return msgspec.structs.replace(stored, path=path, size=len(data))


def records(home: Path) -> list[Record]:
    """All that was set aside, newest first. Files without a record that can be read are passed over."""
    folder = home / QUARANTINE
    read = (_read_record(folder / name) for name in names_in(folder) if name.endswith(RECORD))
    found = (record for record in read if record is not None)
    return sorted(found, key=lambda record: (record.at, record.path.name), reverse=True)


def record_bytes(record: Record) -> bytes:
    """The exact bytes that were set aside. Raises NotFoundError when they are gone, StorageError."""
    found = read_file(record.path)
    if found is None:
        where = str(record.path)
        raise NotFoundError("this file is no longer in the quarantine", field="file", where=where)
    return found[0]


def _read_record(path: Path) -> Record | None:
    """The record in a file; None for one that cannot be read, or whose bytes are gone."""
    bytes_path = path.with_name(path.name.removesuffix(RECORD))
    try:
        found = read_file(path)
        stored = msgspec.convert(load(found[0] if found else b""), Record)
        return msgspec.structs.replace(stored, path=bytes_path, size=bytes_path.stat().st_size)
    except (JsonError, msgspec.ValidationError, OSError, NuggetsError):
        return None
