"""Quarantine: the exact bytes of what could not be read, each with the reason, kept beside the memory's files."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from core.errors import InvalidInputError, NotFoundError, NuggetsError
from core.model.names import iso, parse_iso
from core.storage.files.atomic import read_file, replace_file
from core.storage.files.side_folders import (
    STAMP,
    moment_of,
    names_in,
    remove_half_written,
    side_folder,
    stamp,
)
from core.storage.format.json_text import JsonError, dump, load
from core.text.normalise import encodable

QUARANTINE: Final = "quarantine"

RECORD: Final = ".record.json"
_NAME: Final = re.compile(STAMP + r"-(?P<digest>[0-9a-f]{8})-(?P<file>.+\.(?:json|toml|md|markdown))")
_UNFIT: Final = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST_NAME: Final = 120
_DIGITS: Final = 8
_NO_REASON: Final = "the reason is unknown"


class _Stored(msgspec.Struct, omit_defaults=True):
    """A record as its file holds it."""

    file: str
    where: str
    reason: str
    at: str
    whole: bool
    sha256: str
    sound: bool = False


@dataclass(frozen=True)
class Record:
    """Something that was set aside, mostly since it could not be read. `path`: the file that holds its exact bytes,
    `size` of them.

    file: the memory's file that it stood in, relative to the folder. where: its place there, in words. reason: why
    it was set aside. at: when that was, ISO 8601 in UTC. whole: whether it is all of that file. sound: whether it
    can be read, and served its purpose, its content being in the memory.
    """

    path: Path
    file: str
    where: str
    reason: str
    at: str
    whole: bool
    sha256: str
    size: int
    sound: bool = False


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
    folder = side_folder(home, QUARANTINE)
    names = remove_half_written(folder)
    import hashlib

    digest = hashlib.sha256(data).hexdigest()
    short = _file_name(file)
    stored = _Stored(
        file=file, where=where, reason=reason, at=iso(moment), whole=whole, sha256=digest, sound=sound
    )
    for name in names:
        if name.endswith(f"-{digest[:_DIGITS]}-{short}{RECORD}"):
            known = _read_record(folder / name)
            if known is not None and (known.file, known.sha256) == (file, digest):
                return known
    path = folder / f"{stamp(moment)}-{digest[:_DIGITS]}-{short}"
    # The record last: once it is there, so are the bytes.
    replace_file(path, data)
    replace_file(path.with_name(path.name + RECORD), dump(msgspec.to_builtins(stored), indent=True) + b"\n")
    return _record(path, stored, len(data))


def _file_name(file: str) -> str:
    """The last part of a file's path, in characters that every system takes."""
    return _UNFIT.sub("_", PurePosixPath(file).name)[-_LONGEST_NAME:] or "file"


def records(home: Path) -> list[Record]:
    """All that was set aside, newest first. Bytes whose record was lost are among them; other files are passed over."""
    folder = home / QUARANTINE
    names = names_in(folder)
    found: list[Record | None] = []
    for name in names:
        if name.endswith(RECORD):
            found.append(_read_record(folder / name))
        elif name + RECORD not in names:
            found.append(_without_record(folder / name))
    return sorted(
        (record for record in found if record is not None),
        key=lambda record: (record.at, record.path.name),
        reverse=True,
    )


def record_bytes(record: Record) -> bytes:
    """The exact bytes that were set aside. Raises NotFoundError when they are gone, StorageError."""
    found = read_file(record.path)
    if found is None:
        raise NotFoundError(
            "this file is no longer in the quarantine",
            field="file",
            where=str(record.path),
        )
    return found[0]


def _read_record(path: Path) -> Record | None:
    """The record in a file; None when its bytes are gone. One that is illegible is told from its name."""
    bytes_path = path.with_name(path.name.removesuffix(RECORD))
    try:
        size = bytes_path.stat().st_size
        found = read_file(path)
        stored = msgspec.convert(load(found[0] if found else b""), _Stored)
        return _record(bytes_path, stored, size)
    except (JsonError, msgspec.ValidationError):
        return _without_record(bytes_path)
    except (OSError, NuggetsError):
        return None


def _without_record(path: Path) -> Record | None:
    """What a file's name and bytes tell, when its record does not."""
    named = _NAME.fullmatch(path.name)
    moment = moment_of(named["stamp"]) if named else None
    if named is None or moment is None:
        return None
    with contextlib.suppress(NuggetsError):
        found = read_file(path)
        import hashlib

        digest = hashlib.sha256(found[0]).hexdigest() if found else ""
        if found and digest.startswith(named["digest"]):
            file = named["file"]
            stored = _Stored(
                file=file, where=file, reason=_NO_REASON, at=iso(moment), whole=False, sha256=digest
            )
            return _record(path, stored, len(found[0]))
    return None


def _record(path: Path, stored: _Stored, size: int) -> Record:
    return Record(path=path, size=size, **msgspec.structs.asdict(stored))
