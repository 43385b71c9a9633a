"""Backups: compressed copies of the folder's files, made before the first write of a day and before large changes."""

from __future__ import annotations

import contextlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping
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
    NuggetDocument,
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
_LEFT_OUT: Final = "left-out.json"
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


def make_backup(
    home: Path, *, at: datetime, reason: Reason, files: Mapping[str, Iterable[bytes]] | None = None
) -> Backup | None:
    """Copies the memory's files, byte for byte and also broken ones, into one new archive that is safe on disk.

    at: now, with its time zone. reason: "day" for the first write of a day, "bulk" before a large change. files:
    bytes in parts that the caller has just read, by the file's name relative to the folder; all others are read.
    A file that the system does not give out is left out, and named in the archive. None when there is no file.
    Only to be called while holding the memory's lock. Raises StorageError, and ReadOnlyError when the folder of
    the backups is a link that leads out of the memory's folder.
    """
    contents, left_out = _contents(home, files or {})
    if not contents and not left_out:
        return None
    folder = side_folder(home, BACKUPS)
    remove_half_written(folder)
    path = folder / _free_name(folder, at, reason)
    replace_file(path, _archive(contents, left_out, at), mode=_FILE_MODE)
    found = _backup(path)
    assert found is not None
    return found


def _contents(home: Path, at_hand: Mapping[str, Iterable[bytes]]) -> tuple[dict[str, bytes], dict[str, str]]:
    """The files' bytes by name, and for each file that cannot be read the reason."""
    names = [_GRAPH, *(path.name for path in nugget_files(home)), SETTINGS_FILE, SEARCHES_FILE]
    contents: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    for name in dict.fromkeys([*names, *at_hand]):
        if name in at_hand:
            contents[name] = b"".join(at_hand[name])
            continue
        try:
            found = read_file(home / name)
        except StorageError as error:
            left_out[name] = error.what
        else:
            if found is not None:
                contents[name] = found[0]
    return contents, left_out


def _archive(contents: Mapping[str, bytes], left_out: Mapping[str, str], at: datetime) -> bytes:
    buffer = io.BytesIO()
    moment = max(at.astimezone(UTC).timetuple()[:6], _OLDEST)
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {**contents, **_left_out_list(left_out)}.items():
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = _FILE_MODE << 16
            archive.writestr(entry, data, compresslevel=_LEVEL)
    return buffer.getvalue()


def _left_out_list(left_out: Mapping[str, str]) -> dict[str, bytes]:
    return {_LEFT_OUT: json.dumps(left_out).encode()} if left_out else {}


def _free_name(folder: Path, at: datetime, reason: Reason) -> str:
    made = stamp(at)
    same = [int(_parsed(name)["number"] or 1) for name in _names(folder) if name.startswith(made)]
    number = f"_{max(same) + 1:03d}" if same else ""
    return f"{made}{number}-{reason}.zip"


def _names(folder: Path) -> list[str]:
    return [name for name in names_in(folder) if _NAME.fullmatch(name)]


def _parsed(name: str) -> re.Match[str]:
    found = _NAME.fullmatch(name)
    assert found is not None
    return found


def backups(home: Path) -> list[Backup]:
    """The backups of a memory, newest first; none when their folder is not there. Other files are passed over."""
    folder = home / BACKUPS
    named = [(name, _parsed(name)) for name in _names(folder)]
    named.sort(key=lambda item: (item[1]["stamp"], int(item[1]["number"] or 1)), reverse=True)
    found = (_backup(folder / name) for name, _ in named)
    return [backup for backup in found if backup is not None]


def _backup(path: Path) -> Backup | None:
    parsed = _parsed(path.name)
    at = moment_of(parsed["stamp"])
    with contextlib.suppress(OSError):
        size = path.stat().st_size
        return Backup(path, iso(at), cast("Reason", parsed["reason"]), size) if at is not None else None
    return None


def prune(home: Path, keep: int) -> list[Backup]:
    """Removes all but the newest `keep` (at least 1) of each kind apart, so that a busy afternoon leaves the daily
    ones; gives what was removed. What the system refuses to remove stays.

    Only to be called while holding the memory's lock. Raises ReadOnlyError for a folder that is a link leading out.
    """
    folder = write_target(home, home / BACKUPS)
    remove_half_written(folder)
    removed: list[Backup] = []
    for kind in _WORDS:
        of_kind = [backup for backup in backups(home) if backup.kind == kind]
        for backup in of_kind[max(1, keep) :]:
            with contextlib.suppress(OSError):
                backup.path.unlink(missing_ok=True)
                removed.append(backup)
    return removed


def due_today(home: Path, now: datetime) -> bool:
    """Whether no daily backup was made yet on the day that it is here, by the local clock. now: with its time zone."""
    today = now.astimezone().date()
    # Asked before every write: the names alone tell it.
    named = (_parsed(name) for name in _names(home / BACKUPS))
    made = (moment_of(parsed["stamp"]) for parsed in named if parsed["reason"] == "day")
    return all(at is None or at.astimezone().date() != today for at in made)


def read_backup(path: Path, rules: InferenceSettings, progress: Progress | None = None) -> Snapshot:
    """The memory as a backup holds it. A fact file that is broken in it, or was left out, is a problem of the snapshot.

    progress: told how many of its notes are read. Raises NotFoundError for no such backup, BrokenFileError for one
    that is damaged or whose note graph cannot be read, StorageError.
    """
    members = _members(path)
    graph_data = members.get(_GRAPH)
    if isinstance(graph_data, _Unreadable):
        raise _broken(path, f"the note graph in this backup {graph_data.what}")
    graph = GraphDocument(path=path / _GRAPH)
    if graph_data is not None:
        graph = _graph(path, graph_data, rules, progress)
    # As in the folder itself: of two files of one nugget that counts whose ending comes first.
    names = [name for suffix in FACT_SUFFIXES for name in sorted(members) if name.endswith(suffix)]
    nuggets = {path / name: _nugget(path / name, members[name]) for name in names if _is_plain(name)}
    return assembled(path.parent.parent, graph, nuggets).snapshot


def file_in_backup(path: Path, name: str) -> bytes | None:
    """The bytes of one file as a backup holds them, None when it is not in it. name: relative to the folder.

    Raises NotFoundError for no such backup, BrokenFileError for one that is damaged, StorageError.
    """
    found = _members(path, only=name).get(name)
    if isinstance(found, _Unreadable):
        raise _broken(path, f"{name} in this backup {found.what}")
    return found


@dataclass(frozen=True)
class _Unreadable:
    """A file that was left out of a backup, or is damaged in it; `what` continues "the file ..."."""

    what: str


def _members(path: Path, only: str = "") -> dict[str, bytes | _Unreadable]:
    """All files of a backup, or the one that is asked for, by name. Raises as `file_in_backup`."""
    found = read_file(path)
    if found is None:
        raise NotFoundError("no such backup", field="file", remedy=Remedy("restore"), where=str(path))
    members: dict[str, bytes | _Unreadable] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(found[0])) as archive:
            names = archive.namelist()
            for name in names:
                if not only or name in (only, _LEFT_OUT):
                    members[name] = _member(archive, name)
    except DAMAGE as error:
        raise _broken(path, f"this backup is damaged ({error})") from error
    return members | _left_out(members.pop(_LEFT_OUT, b"{}"))


def _member(archive: zipfile.ZipFile, name: str) -> bytes | _Unreadable:
    try:
        return archive.read(name)
    except DAMAGE as error:
        return _Unreadable(f"is damaged ({error})")


def _left_out(told: bytes | _Unreadable) -> dict[str, _Unreadable]:
    try:
        reasons = json.loads(told) if isinstance(told, bytes) else {}
    except (ValueError, RecursionError):
        reasons = {}
    named = reasons.items() if isinstance(reasons, dict) else ()
    return {str(name): _Unreadable(f"was left out because it {why}") for name, why in named}


def _is_plain(name: str) -> bool:
    return "/" not in name and not name.startswith(".")


def _graph(path: Path, data: bytes, rules: InferenceSettings, progress: Progress | None) -> GraphDocument:
    try:
        return read_graph(path / _GRAPH, data, None, rules, progress=progress)
    except BrokenFileError as error:
        raise _broken(path, f"in this backup {error.what}") from error


def _nugget(path: Path, data: bytes | _Unreadable) -> NuggetDocument:
    return (
        unreadable_nugget(path, data.what) if isinstance(data, _Unreadable) else read_nugget(path, data, None)
    )


def _broken(path: Path, what: str) -> BrokenFileError:
    return BrokenFileError(what, where=str(path), kept="nothing was changed", todo="choose another backup")
