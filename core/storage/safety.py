"""What is kept beside the memory's files: in the quarantine the exact bytes of what could not be read, each with the
reason; and backups, compressed copies of all files, made before the first write of a day and before large changes.
"""

from __future__ import annotations

import contextlib
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final, Literal, cast

import msgspec

from core.errors import BrokenFileError, InvalidInputError, NotFoundError, NuggetsError, Remedy, StorageError
from core.folder import FACT_SUFFIXES, GRAPH_FILE, QUARANTINE
from core.model.change import ChangeSet
from core.model.names import iso, parse_iso
from core.model.progress import Progress
from core.model.saved_search import SEARCHES_FILE
from core.model.snapshot import Problem, Snapshot
from core.projects import FILE as PROJECTS_FILE
from core.projects import Registered, read_document
from core.settings import SETTINGS_FILE, InferenceSettings
from core.storage.files.atomic import read_file, replace_file, write_target
from core.storage.files.side_folders import (
    STAMP,
    moment_of,
    names_in,
    remove_half_written,
    side_folder,
    stamp,
)
from core.storage.format.documents import (
    Document,
    GraphDocument,
    Loaded,
    assembled,
    nugget_files,
    read_graph,
    read_nugget,
    unreadable_nugget,
)
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


BACKUPS: Final = "backups"
Reason = Literal["day", "bulk"]

# The number tells apart what was made within one second, and sorts after it.
_NAME: Final = re.compile(STAMP + r"(?:_(?P<number>\d{3,9}))?-(?P<reason>day|bulk)\.zip")
_WORDS: Final = {"day": "daily", "bulk": "before a large change"}
_GRAPH: Final = GRAPH_FILE.as_posix()
_BESIDE: Final = (SETTINGS_FILE, SEARCHES_FILE, PROJECTS_FILE)
_LEVEL: Final = 1
_FILE_MODE: Final = 0o600
_OLDEST: Final = (1980, 1, 1, 0, 0, 0)
# What a damaged archive makes zipfile raise.
DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, IndexError, OverflowError,
    NotImplementedError, RuntimeError,
)  # fmt: skip


@dataclass(frozen=True)
class Backup:
    """One backup. `at`: an ISO 8601 time in UTC. `kind`: why it was made, `reason`: the same in words. `size`: in
    bytes, compressed.
    """

    path: Path
    at: str
    kind: Reason
    size: int

    @property
    def reason(self) -> str:
        """Why it was made, in words."""
        return _WORDS[self.kind]

    @property
    def name(self) -> str:
        """What it is called: the name of its file without the ending."""
        return self.path.stem


def make_backup(home: Path, *, at: datetime, reason: Reason) -> Path | None:
    """Copies the memory's files, byte for byte and also broken ones, into one new archive that is safe on disk.

    at: now, with its time zone. reason: "day" for the first write of a day, "bulk" before a large change. A file that
    the system does not give out stands in the archive without bytes, and why in its comment. None when there is no
    file. Only to be called while holding the memory's lock. Raises StorageError, and ReadOnlyError when the folder of
    the backups is a link that leads out of the memory's folder.
    """
    buffer, moment = io.BytesIO(), max(at.astimezone(UTC).timetuple()[:6], _OLDEST)
    with zipfile.ZipFile(buffer, "w") as archive:
        names = (_GRAPH, *(path.name for path in nugget_files(home)), *_BESIDE)
        for name in dict.fromkeys(names):
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = _FILE_MODE << 16
            try:
                found = read_file(home / name)
                data = None if found is None else found[0]
            except StorageError as error:
                entry.comment, data = error.what.encode(), b""
            if data is not None:
                archive.writestr(entry, data, compresslevel=_LEVEL)
        empty = not archive.namelist()
    if empty:
        return None
    folder = side_folder(home, BACKUPS)
    remove_half_written(folder)
    made = stamp(at)
    same = [int(parsed["number"] or 1) for parsed in _parsed(folder) if parsed.string.startswith(made)]
    path = folder / f"{made}{f'_{max(same) + 1:03d}' if same else ''}-{reason}.zip"
    replace_file(path, buffer.getvalue(), mode=_FILE_MODE)
    return path


def _parsed(folder: Path) -> list[re.Match[str]]:
    """The names of a folder that are such of backups, in parts."""
    return [parsed for name in names_in(folder) if (parsed := _NAME.fullmatch(name))]


def backups(home: Path) -> list[Backup]:
    """The backups of a memory, newest first; none when their folder is not there. Other files are passed over."""
    folder = home / BACKUPS
    parsed = sorted(_parsed(folder), key=lambda one: (one["stamp"], int(one["number"] or 1)), reverse=True)
    found: list[Backup] = []
    for one in parsed:
        path, at = folder / one.string, moment_of(one["stamp"])
        with contextlib.suppress(OSError):
            if at is not None:
                found.append(Backup(path, iso(at), cast("Reason", one["reason"]), path.stat().st_size))
    return found


def prune(home: Path, keep: int) -> None:
    """Removes all but the newest `keep` (at least 1) of each kind apart, so that a busy afternoon leaves the daily
    ones. What the system refuses to remove stays.

    Only to be called while holding the memory's lock. Raises ReadOnlyError for a folder that is a link leading out.
    """
    remove_half_written(write_target(home, home / BACKUPS))
    known = backups(home)
    for kind in _WORDS:
        for backup in [backup for backup in known if backup.kind == kind][max(1, keep) :]:
            with contextlib.suppress(OSError):
                backup.path.unlink(missing_ok=True)


def due_today(home: Path, now: datetime) -> bool:
    """Whether no daily backup was made yet on the day that it is here, by the local clock. now: with its time zone."""
    today = now.astimezone().date()
    # Asked before every write: the names alone tell it.
    made = (moment_of(parsed["stamp"]) for parsed in _parsed(home / BACKUPS) if parsed["reason"] == "day")
    return all(at is None or at.astimezone().date() != today for at in made)


def read_backup(path: Path, rules: InferenceSettings, progress: Progress | None = None) -> Snapshot:
    """The memory as a backup holds it. A fact file that is broken in it, or was left out, is a problem of the snapshot.

    progress: told how many of its notes are read. Raises NotFoundError for no such backup, BrokenFileError for one
    that is damaged or whose note graph cannot be read, StorageError.
    """
    found = read_file(path)
    if found is None:
        raise NotFoundError("no such backup", field="file", remedy=Remedy("restore"), where=str(path))
    try:
        with zipfile.ZipFile(io.BytesIO(found[0])) as archive:
            members = {info.filename: _member(archive, info) for info in archive.infolist()}
    except DAMAGE as error:
        raise _broken(path, f"this backup is damaged ({error})") from error
    graph, data = GraphDocument(path=path / _GRAPH), members.get(_GRAPH)
    if isinstance(data, str):
        raise _broken(path, f"the note graph in this backup {data}")
    try:
        if data is not None:
            graph = read_graph(graph.path, data, None, rules, progress=progress)
    except BrokenFileError as error:
        raise _broken(path, f"in this backup {error.what}") from error
    nuggets = {
        path / name: unreadable_nugget(path / name, data)
        if isinstance(data, str)
        else read_nugget(path / name, data, None)
        for name, data in sorted(members.items())
        if name.endswith(FACT_SUFFIXES) and "/" not in name and not name.startswith(".")
    }
    return assembled(path.parent.parent, graph, nuggets).snapshot


def projects_in(path: Path) -> list[Registered]:
    """The projects that a backup names; none where it cannot tell."""
    with contextlib.suppress(*DAMAGE, StorageError), zipfile.ZipFile(path) as archive:
        return read_document(archive.read(PROJECTS_FILE))
    return []


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes | str:
    """The bytes of a file in a backup, or why there are none, as what continues "the file ..."."""
    if info.comment:
        return f"was left out because it {info.comment.decode(errors='replace')}"
    try:
        return archive.read(info.filename)
    except DAMAGE as error:
        return f"is damaged ({error})"


def _broken(path: Path, what: str) -> BrokenFileError:
    return BrokenFileError(what, where=str(path), kept="nothing was changed", todo="choose another backup")


LARGE: Final = 20


def backup_before_write(home: Path, change_set: ChangeSet, now: datetime, keep: int) -> None:
    """A copy of all files before the first write of a day, and before a change of more than 20 things.

    keep: how many of each kind stay. Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    today = due_today(home, now)
    if today or change_set.size > LARGE:
        make_backup(home, at=now, reason="day" if today else "bulk")
        prune(home, keep)


def keep_unreadable(home: Path, loaded: Loaded, now: datetime) -> None:
    """A record with the exact bytes of each note, fact and file that cannot be read; the same bytes are kept once.

    Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    at = iso(now)
    documents: tuple[Document, ...] = (loaded.graph, *loaded.nuggets.values())
    for document in documents:
        if document.broken:
            with suppress(StorageError, NotFoundError):
                keep_whole(home, document.path, document.broken, now)
            continue
        pages = document.pages if isinstance(document, GraphDocument) else None
        for name, page in pages.files.items() if pages is not None else ():
            if page.problem and page.data and pages is not None:
                where = str(pages.path(name))
                set_aside(
                    home, file=name, data=page.data, reason=page.problem, where=where, at=at, whole=True
                )
        file = str(document.path.relative_to(home))
        for place, problem in unread_places(document):
            what, where, raw = problem.what, problem.where, document.raws[place]
            set_aside(home, file=file, data=raw, reason=what, where=where, at=at, whole=False)


def keep_whole(home: Path, path: Path, reason: str, now: datetime, *, sound: bool = False) -> Path:
    """A record of a whole file as it stands; where its bytes lie. sound: see `Record`. Raises NotFoundError,
    StorageError, ReadOnlyError.
    """
    found = read_file(path)
    if found is None:
        raise NotFoundError("the file no longer exists", field="file", where=str(path))
    file = str(path.relative_to(home))
    record = set_aside(
        home, file=file, data=found[0], reason=reason, where=file, at=iso(now), whole=True, sound=sound
    )
    return record.path


def keep_before_rewriting(home: Path, rewritten: Iterable[Document], now: datetime) -> None:
    """A copy of each partly unreadable file that is about to be rewritten, before its first rewriting."""
    for document in rewritten:
        bad = {document.raws[place]: problem.what for place, problem in unread_places(document)}
        file = str(document.path.relative_to(home))
        whole = (record for record in records(home) if record.whole and record.file == file) if bad else ()
        # Once is enough while the same things in it are unreadable.
        if bad and not any(all(raw in data for raw in bad) for data in map(record_bytes, whole)):
            keep_whole(home, document.path, f"part of it cannot be read ({next(iter(bad.values()))})", now)


def unread_places(document: Document) -> Iterator[tuple[int, Problem]]:
    """Each place that cannot be read, in the order of the file, with its problem."""
    if isinstance(document, GraphDocument) and document.pages is not None:
        # The graph can be read, and has what was last read of a page that cannot be.
        document = document.pages.stored
    problems = [problem for problem in document.problems if problem.kind.unreadable]
    if problems:
        items = enumerate(zip(document.items, document.raws, strict=True))
        bad = (place for place, (item, raw) in items if item is None and raw not in document.later)
        yield from zip(bad, problems, strict=False)
