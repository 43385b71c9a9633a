"""Answers made ahead: what a recall prints, by the text of the question, for the files as they are at this moment.

`answers.cache` holds the answers of one content of a memory. `answers.state` says of which versions of the memory's
files that is the content, and in which session each fact and note was counted last. A counted recall changes files and
no answer: only the state is written anew then. Both are read by who has no time to load anything, so this module loads
nothing, and holds itself what `container` does for larger caches: a checksum over everything, files of the user alone.

    answers.cache   magic, version, content, number of entries, CRC-32 of header and table | table | answers
    answers.state   magic, version, content, time, numbers of files and sessions, CRC-32 of the rest | files | sessions
"""

from __future__ import annotations

import os
import stat
import struct
import sys
import zlib
from contextlib import suppress

from core.home import FACT_SUFFIXES
from core.text.digests import blake2b
from core.user_folders import configuration_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Final

ANSWERS_NAME: Final = "answers.cache"
STATE_NAME: Final = "answers.state"
LOCK_NAME: Final = "answers.lock"
# Of the form of both files, and of all that decides what a recall prints.
VERSION: Final = "answers-1"
DIGEST_BYTES: Final = 16
FACT, ASKED = 0, 1
GRAPH: Final = os.path.join("graph", "graph.json")
# What the pipeline knows of notes counts in a search; the second file holds its last changes.
PIPELINE: Final = ("pipeline.db", "pipeline.db-wal")
# Other files that decide what a recall prints. Of the log it matters only whether it is the same file.
LOG: Final = "ledger.db"
BESIDE: Final = ("settings.toml", "searches.toml", LOG, "agent.yaml", *PIPELINE)
_UNFINISHED: Final = ".tmp"
_MAGIC: Final = b"nugans1<"
_STATE_MAGIC: Final = b"nugsta1<"
_HEADER: Final = struct.Struct("<8s16s16sII")
_ENTRY: Final = struct.Struct("<16s16sIQII")
_STATE: Final = struct.Struct("<8s16s16sQIII")
_FILE: Final = struct.Struct("<HQQqq16s")
_ANSWER: Final = struct.Struct("<BB9I")
_NONE: Final = (0, 0, 0, 0)
_UNHASHED: Final = bytes(DIGEST_BYTES)
# A file that changed so short a time before it was looked at may change once more and bear the same time.
_TICK_NS: Final = 20_000_000
_LARGEST: Final = 1 << 30
_LARGEST_HASHED: Final = 8 << 20

Version = tuple[int, int, int, int]
"""Of a file: inode, size, time of its data, time of its last change at all; four noughts for no file."""


class Answer:
    """What a recall prints, and what it counts.

    code: the exit code. counts: whether there is something to count: the fact `key` of `nugget` ("" for none) and the
    note `note` ("" for none). texts: standard error for lines and for JSON, standard output as plain lines, as coloured
    ones, as JSON and as indented JSON.
    """

    __slots__ = ("code", "counts", "key", "note", "nugget", "texts")

    def __init__(
        self, code: int, counts: bool, nugget: str, key: str, note: str, texts: Sequence[bytes]
    ) -> None:
        self.code = code
        self.counts = counts
        self.nugget = nugget
        self.key = key
        self.note = note
        self.texts = tuple(texts)

    def packed(self) -> bytes:
        """The bytes that `unpacked` takes."""
        parts = (encoded(self.nugget), encoded(self.key), encoded(self.note), *self.texts)
        return _ANSWER.pack(self.code, self.counts, *map(len, parts)) + b"".join(parts)

    @classmethod
    def unpacked(cls, data: bytes) -> Answer:
        """Raises ValueError, struct.error."""
        code, counts, *lengths = _ANSWER.unpack_from(data)
        parts, place = [], _ANSWER.size
        for length in lengths:
            parts.append(data[place : place + length])
            place += length
        if place != len(data):
            raise ValueError("an answer of another length")
        nugget, key, note = (part.decode("utf-8", "surrogatepass") for part in parts[:3])
        return cls(code, bool(counts), nugget, key, note, parts[3:])


class State:
    """For which versions of the files the answers are. content: of the answers. files: by name in the memory's folder,
    version and digest of the bytes (noughts where not known). at: when the files were looked at, in ns.
    sessions: digests of fact or note and of the session in which it was counted last, one pair after the other.
    """

    __slots__ = ("at", "content", "files", "sessions", "version")

    def __init__(
        self,
        version: bytes,
        content: bytes,
        at: int,
        files: Mapping[str, tuple[Version, bytes]],
        sessions: Mapping[bytes, bytes] | bytes,
    ) -> None:
        self.version = version
        self.content = content
        self.at = at
        self.files = dict(files)
        self.sessions = (
            sessions if isinstance(sessions, bytes) else b"".join(one + sessions[one] for one in sessions)
        )

    def packed(self) -> bytes:
        """The bytes that `unpacked` takes."""
        files = b"".join(
            _FILE.pack(len(encoded(name)), *version, data) + encoded(name)
            for name, (version, data) in self.files.items()
        )
        body = files + self.sessions
        head = (_STATE_MAGIC, self.version, self.content, self.at, len(self.files), len(self.sessions))
        return _STATE.pack(*head, _checksum(head, body)) + body

    @classmethod
    def unpacked(cls, data: bytes) -> State:
        """Raises ValueError, struct.error."""
        *head, checksum = _STATE.unpack_from(data)
        magic, version, content, at, count, length = head
        body = data[_STATE.size :]
        if magic != _STATE_MAGIC or checksum != _checksum(head, body):
            raise ValueError("no state of answers")
        files: dict[str, tuple[Version, bytes]] = {}
        place = 0
        for _ in range(count):
            named, inode, size, mtime, ctime, digested = _FILE.unpack_from(body, place)
            place += _FILE.size
            name = body[place : place + named].decode("utf-8", "surrogatepass")
            place += named
            files[name] = ((inode, size, mtime, ctime), digested)
        if len(body) - place != length:
            raise ValueError("a state of another length")
        return cls(version, content, at, files, body[place:])

    def counted_in(self, target: bytes) -> bytes:
        """Digest of the session in which a fact or note was counted last; b"" where that is not known."""
        place = self.sessions.find(target)
        while place >= 0 and place % (2 * DIGEST_BYTES):
            place = self.sessions.find(target, place + 1)
        return b"" if place < 0 else self.sessions[place + DIGEST_BYTES : place + 2 * DIGEST_BYTES]


def _checksum(head: Sequence[object], body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(_STATE.pack(*head, 0)))


def encoded(text: str) -> bytes:
    """UTF-8, lone surrogates too."""
    return text.encode("utf-8", "surrogatepass")


def digest(*parts: str | bytes) -> bytes:
    """16 bytes that stand for these texts in this order."""
    made = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        data = encoded(part) if isinstance(part, str) else part
        made.update(len(data).to_bytes(8, "little"))
        made.update(data)
    return made.digest()


def question(kind: str, text: str, nugget: str | None) -> bytes:
    """How an answer is found. kind: "same" for a key to the letter, "folded" for its `exact_form`, "asked" for a whole
    question.
    """
    return digest(kind, text) if nugget is None else digest(kind, text, nugget)


def fact_target(nugget: str, key: str) -> bytes:
    """How the last session of a fact is found."""
    return digest("fact", nugget, key)


def note_target(id: str) -> bytes:
    """How the last session of a note is found."""
    return digest("note", id)


def code_version() -> bytes:
    """Of the program, as installed, and of all else beside the files that decides what a recall prints."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    root = os.path.dirname(here)
    parts = [VERSION, sys.version]
    for name in ("core", "core/facts", "core/search", "core/services", "core/model", "core/text", "core/fhrr",
                 "core/settings", "nuggets_tui", "nuggets_tui/cli"):  # fmt: skip
        try:
            parts.append(str(os.stat(os.path.join(root, name)).st_mtime_ns))
        except OSError:
            parts.append("")
    for path in configuration_files():
        with suppress(OSError):
            parts.append(f"{path}{version_of(path)}")
    parts += (os.environ.get(f"MEMORY_REFLECTION_{name}", "") for name in ("HOUR", "MINUTE", "MAX_NOTES"))
    return digest(*parts)


# Files


def read_own(path: str, largest: int = _LARGEST) -> bytes:
    """A regular file that belongs to who runs this; no link is followed, nothing waits. Raises OSError, ValueError."""
    handle = open_own(path)
    try:
        size = os.fstat(handle).st_size
        if size > largest:
            raise ValueError("too large")
        return read_at(handle, 0, size)
    finally:
        os.close(handle)


def open_own(path: str, flags: int = os.O_RDONLY) -> int:
    """A handle of such a file, to be closed. Raises OSError."""
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    handle = os.open(path, flags, 0o600)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise PermissionError(f"{path} is no file of this user")
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_at(handle: int, place: int, size: int) -> bytes:
    """Bytes of a file, all of them. Raises OSError, ValueError."""
    found = b""
    while len(found) < size:
        more = os.pread(handle, size - len(found), place + len(found))
        if not more:
            raise ValueError("cut off")
        found = more if not found else found + more
    return found


class Table:
    """The table of a file of answers that is open. Raises OSError, ValueError, struct.error."""

    __slots__ = ("_handle", "_table", "content", "count", "version")

    def __init__(self, handle: int) -> None:
        self._handle = handle
        header = read_at(handle, 0, _HEADER.size)
        magic, self.version, self.content, self.count, checksum = _HEADER.unpack(header)
        size = self.count * _ENTRY.size
        if magic != _MAGIC or size > os.fstat(handle).st_size:
            raise ValueError("no answers")
        self._table = read_at(handle, _HEADER.size, size)
        if zlib.crc32(self._table, zlib.crc32(header[:-4])) != checksum:
            raise ValueError("damaged answers")

    def rows(self) -> Iterable[tuple[bytes, bytes, int, int, int, int]]:
        """Question, what the answer was made of, kind, place, length, CRC-32 of each."""
        return _ENTRY.iter_unpack(self._table)

    def find(self, wanted: bytes) -> bytes | None:
        """The packed answer of a question."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            place = middle * _ENTRY.size
            if self._table[place : place + DIGEST_BYTES] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == self.count:
            return None
        found, _, _, place, length, checksum = _ENTRY.unpack_from(self._table, low * _ENTRY.size)
        return self.answer(place, length, checksum) if found == wanted else None

    def answer(self, place: int, length: int, checksum: int) -> bytes:
        """The packed answer of a row."""
        if length > _LARGEST:
            raise ValueError("damaged answers")
        data = read_at(self._handle, place, length)
        if zlib.crc32(data) != checksum:
            raise ValueError("a damaged answer")
        return data


def packed_table(
    version: bytes, content: bytes, entries: Mapping[bytes, tuple[bytes, int, bytes]]
) -> list[bytes]:
    """The bytes of a file of answers. entries: by question, what the answer was made of, kind and packed answer."""
    rows: list[bytes] = []
    blobs: dict[bytes, int] = {}
    place = _HEADER.size + len(entries) * _ENTRY.size
    for wanted in sorted(entries):
        made_of, kind, data = entries[wanted]
        if data not in blobs:
            blobs[data] = place
            place += len(data)
        rows.append(_ENTRY.pack(wanted, made_of, kind, blobs[data], len(data), zlib.crc32(data)))
    table = b"".join(rows)
    head = _HEADER.pack(_MAGIC, version, content, len(entries), 0)[:-4]
    return [head, zlib.crc32(table, zlib.crc32(head)).to_bytes(4, "little"), table, *blobs]


# The memory's files


def version_of(path: str) -> Version:
    """See `Version`. Raises OSError where that is not told."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _NONE
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def concerned(home: str) -> list[str] | None:
    """Names of the files in a memory's folder of which answers are made; None while some are being written, or were
    left by who was killed at it. Raises OSError.
    """
    names = os.listdir(home)
    try:
        graphs = os.listdir(os.path.join(home, "graph"))
    except (FileNotFoundError, NotADirectoryError):
        graphs = []
    if any(name.endswith(_UNFINISHED) for name in (*names, *graphs)):
        return None
    facts = [name for name in names if name.endswith(FACT_SUFFIXES) and not name.startswith(".")]
    return [*facts, GRAPH, *BESIDE]


def looked_at(home: str, *, hashed: bool = False) -> dict[str, tuple[Version, bytes]] | None:
    """The versions of the files as `State` has them; None as of `concerned`. hashed: with digests of the bytes, of
    files that are not too large. Raises OSError.
    """
    names = concerned(home)
    if names is None:
        return None
    found: dict[str, tuple[Version, bytes]] = {}
    for name in names:
        path = os.path.join(home, name)
        version = version_of(path)
        if name == LOG:
            found[name] = ((version[0], 0, 0, 0), _UNHASHED)
        else:
            wanted = hashed and 0 < version[1] <= _LARGEST_HASHED
            found[name] = (version, _digest_of(path) if wanted else _UNHASHED)
    return found


def _digest_of(path: str) -> bytes:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        size = os.fstat(handle).st_size
        return digest(read_at(handle, 0, size)) if size <= _LARGEST_HASHED else _UNHASHED
    except ValueError:
        return _UNHASHED
    finally:
        os.close(handle)


def holds(state: State, home: str) -> bool:
    """Whether the files are as the state has them. What changed at the very time when they were looked at is read.
    Raises OSError.
    """
    names = concerned(home)
    if names is None or len(names) != len(state.files):
        return False
    for name in names:
        known = state.files.get(name)
        if known is None:
            return False
        version, data = known
        path = os.path.join(home, name)
        found = version_of(path)
        if name == LOG:
            if found[0] != version[0]:
                return False
            continue
        if found != version:
            return False
        unsure = found != _NONE and max(version[2:]) + _TICK_NS >= state.at
        if unsure and (data == _UNHASHED or _digest_of(path) != data):
            return False
    return True


# Writing and reading


def replace(path: str, parts: Iterable[bytes]) -> None:
    """Replaces a file in one step, without waiting for the disk. Raises OSError; the old file is then as it was."""
    temporary = f"{os.path.dirname(path)}/.{os.path.basename(path)}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(temporary, flags, 0o600)
    try:
        try:
            for part in parts:
                rest = memoryview(part)
                while rest:
                    rest = rest[os.write(handle, rest) :]
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def open_lock(folder: str) -> int:
    """A handle of the file that who counts and makes answers holds a lock of; the folder is made where there is none.
    Raises OSError.
    """
    if not os.path.isdir(folder):
        os.makedirs(folder, 0o700)
    return open_own(os.path.join(folder, LOCK_NAME), os.O_RDWR | os.O_CREAT)


def remove_state(folder: str) -> None:
    """From now on the answers are of no versions of the files. Raises OSError."""
    try:
        os.unlink(os.path.join(folder, STATE_NAME))
    except FileNotFoundError:
        return


def read_state(folder: str) -> State | None:
    """The state that lies in a folder of the cache; None for none that is sound. Never raises."""
    try:
        return State.unpacked(read_own(os.path.join(folder, STATE_NAME)))
    except (OSError, ValueError, struct.error, OverflowError, MemoryError):
        return None
