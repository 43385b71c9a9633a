"""Recalls that were answered and wait to be counted: one small file each, in a folder beside the memory's files.

Who answers from what was made ahead has no time to open the memory. It leaves a record, and whoever opens the memory
next counts it, with the record's own id and time, so that one which was counted and not removed yet counts once.
Loaded before everything else, so this loads nothing.
"""

from __future__ import annotations

import os
import stat
import time
import zlib

from core.home import RECALLS_FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FOLDER: Final = RECALLS_FOLDER
LOCK: Final = "lock"
_SUFFIX: Final = ".recall"
_DAMAGED: Final = ".damaged"
_FIELDS: Final = ("id", "at", "nugget", "key", "note", "session", "author")
_LARGEST: Final = 1 << 20
_MOST: Final = 100_000
# A record that is not whole is being written, unless it is as old as this.
_WRITTEN_SECONDS: Final = 60.0


class Waiting:
    """One recall. id: 8 hexadecimal digits; at: ISO 8601; nugget, key: of the fact, "" for none; note: id, "" for none;
    session: for which it counts; author: the signature of who asked.
    """

    __slots__ = ("at", "author", "id", "key", "note", "nugget", "session")

    def __init__(self, id: str, at: str, nugget: str, key: str, note: str, session: str, author: str) -> None:
        self.id = id
        self.at = at
        self.nugget = nugget
        self.key = key
        self.note = note
        self.session = session
        self.author = author

    def packed(self) -> bytes:
        """The bytes that `unpacked` takes: a line for each field, and a checksum."""
        lines = b"".join(
            name.encode() + b" " + getattr(self, name).encode("unicode_escape") + b"\n" for name in _FIELDS
        )
        return lines + b"%08x\n" % zlib.crc32(lines)

    @classmethod
    def unpacked(cls, data: bytes) -> Waiting:
        """Raises ValueError for what is no whole record."""
        lines, checksum = data[:-9], data[-9:]
        if checksum != b"%08x\n" % zlib.crc32(lines):
            raise ValueError("no whole record")
        values = []
        for name, line in zip(_FIELDS, lines.split(b"\n"), strict=False):
            if not line.startswith(name.encode() + b" "):
                raise ValueError("no record")
            values.append(line[len(name) + 1 :].decode("unicode_escape"))
        if len(values) != len(_FIELDS) or len(values[0]) != 8:
            raise ValueError("no record")
        return cls(*values)


def put(home: str, nugget: str, key: str, note: str, session: str, author: str) -> str:
    """Leaves a record; the path of its file. Raises OSError where nothing can be written, ValueError for too long a
    one and for a folder of somebody else's; nothing is left then.
    """
    now = time.time_ns()
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now // 10**9)) + f".{now // 10**6 % 1000:03d}Z"
    data = Waiting(os.urandom(4).hex(), at, nugget, key, note, session, author).packed()
    if len(data) > _LARGEST:
        raise ValueError("too long")
    folder = os.path.join(home, FOLDER)
    if not _is_own_folder(folder):
        os.mkdir(folder, 0o700)
    path = os.path.join(folder, f"{now:020d}-{os.urandom(6).hex()}{_SUFFIX}")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        try:
            if os.write(handle, data) != len(data):
                raise OSError("the disk is full")
        finally:
            os.close(handle)
    except BaseException:
        os.unlink(path)
        raise
    return path


def _is_own_folder(path: str) -> bool:
    """Whether the folder is there. Raises ValueError for something in its place, OSError."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise ValueError(f"{path} is no folder of this user")
    return True


def is_empty(home: str) -> bool:
    """Whether nothing waits. Raises OSError."""
    try:
        return not any(name.endswith(_SUFFIX) for name in os.listdir(os.path.join(home, FOLDER)))
    except (FileNotFoundError, NotADirectoryError):
        return True


def paths(home: str) -> list[str]:
    """The files of the records, oldest first. Never raises."""
    folder = os.path.join(home, FOLDER)
    try:
        if not hasattr(os, "geteuid") or not _is_own_folder(folder):
            return []
        names = sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIX))
    except (OSError, ValueError):
        return []
    return [os.path.join(folder, name) for name in names[:_MOST]]


def read(path: str) -> Waiting | None:
    """A record; None for one that is gone or cannot be read. What is no record, for sure, bears another name afterwards
    and is not looked at again: its bytes stay. Never raises.
    """
    from core.storage.cache.answers import read_own

    try:
        data = read_own(path, _LARGEST)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        data = b""
    try:
        return Waiting.unpacked(data)
    except ValueError:
        try:
            if time.time() - os.lstat(path).st_mtime > _WRITTEN_SECONDS:
                os.rename(path, path + _DAMAGED)
        except OSError:
            pass
        return None


def remove(path: str) -> None:
    """Removes a record that was counted. Raises OSError."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
