"""Backups: compressed copies of the folder's files, made before the first write of a day and before large changes."""

from __future__ import annotations

import contextlib
import io
import re
import zipfile
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, cast

from core.errors import BrokenFileError, NotFoundError, Remedy, StorageError
from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.names import iso
from core.model.progress import Progress
from core.model.saved_search import SEARCHES_FILE
from core.model.snapshot import Snapshot
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
    GraphDocument,
    assembled,
    nugget_files,
    read_graph,
    read_nugget,
    unreadable_nugget,
)

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
