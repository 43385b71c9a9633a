"""What this machine keeps of a sync, in the repository's own folder, which git never commits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from core.errors import ErrorCode, LockTimeoutError, NuggetsError, Remedy, StorageError
from core.model.names import parse_iso
from core.storage.files.atomic import make_folder, read_file, remove_file, replace_file, try_lock
from core.sync.git import KEPT, OF_THIS_MACHINE, Git, GitFolder, stopped

VERSION: Final = 1
# What does not go through is tried again at least so often, unless syncs are rarer anyway. In seconds.
_LONGEST_PAUSE: Final = 3600.0
LOCK_SECONDS: Final = 30.0
_HEAD: Final = "# nuggets sync: {}\n"
_MERGED: Final = (
    "graph.json merge=nuggets -text", "*.nugget.json merge=nuggets -text", "*.donna.json merge=nuggets -text",
)  # fmt: skip
# Files beside the memory that setting up makes or adds to, with its heading and lines. They are committed once, where a
# commit lacks them.
SETTINGS_FILES: Final = {
    ".gitignore": (_HEAD.format("what belongs to this machine alone"), OF_THIS_MACHINE),
    ".gitattributes": (_HEAD.format("git merges these files note by note"), _MERGED),
}


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """A commit that is being taken in. entry: the id under which the log will have it."""

    commit: str
    entry: str


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One memory's sync on this machine. remote: the name of git's remote, "" for none. synced: the commit that the
    remote had when it was last followed, "" for none. logged: the newest entry of the log at the last commit. entries:
    those of the log that brought what last came in.
    """

    version: int = VERSION
    remote: str = ""
    branch: str = ""
    machine: str = ""
    synced: str = ""
    logged: int = 0
    incoming: Incoming | None = None
    # Whether setting up made the remote, which goes again when it is taken back.
    added_remote: bool = False
    at: str = ""
    came_in: int = 0
    entries: tuple[str, ...] = ()
    offline: bool = False
    problem: str = ""
    # Of the error that stopped the last sync, beside what it says.
    where: str = ""
    safe: str = ""
    todo: str = ""


_DECODER: Final = msgspec.json.Decoder(Kept)


def _path(folder: GitFolder) -> Path:
    mark = f"-{hashlib.blake2b(folder.prefix.encode(errors='surrogateescape'), digest_size=6).hexdigest()}"
    return folder.own / f"sync{mark if folder.prefix else ''}.json"


def read_kept(folder: GitFolder) -> Kept | None:
    """What is kept; None where no sync is set up. Raises StorageError for a file that cannot be read."""
    path = _path(folder)
    found = read_file(path)
    if found is None:
        return None
    try:
        kept = _DECODER.decode(found[0])
    except msgspec.MsgspecError as error:
        raise StorageError(
            "cannot be read", where=str(path), kept=KEPT,
            todo="move the file away, then: nuggets sync init",
        ) from error  # fmt: skip
    if kept.version > VERSION:
        raise StorageError(
            "was written by a newer version", code=ErrorCode.NEWER_VERSION, where=str(path), kept=KEPT
        )
    return kept


def followed(git: Git) -> tuple[GitFolder, Kept]:
    """The repository around git's folder, and what is kept of its sync. Raises SyncError where none is set up,
    StorageError.
    """
    folder = GitFolder.of(git)
    kept = read_kept(folder) if folder is not None else None
    if folder is None or kept is None:
        todo = "nuggets sync init [REMOTE]"
        raise stopped("no sync is set up for this memory", ErrorCode.SYNC, str(git.folder), todo)
    return folder, kept


def write_kept(folder: GitFolder, kept: Kept | None) -> None:
    """Keeps it, in one step; None forgets it. Raises StorageError."""
    path = _path(folder)
    if kept is None:
        remove_file(path)
        return
    make_folder(folder.own)
    replace_file(path, msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n")


@contextmanager
def one_at_a_time(folder: GitFolder, seconds: float | None = None) -> Iterator[None]:
    """Holds what keeps two syncs of one repository apart. seconds: how long to wait for another one, by default
    LOCK_SECONDS. Raises LockTimeoutError.
    """
    make_folder(folder.own)
    lock = try_lock(folder.own / "sync.lock", LOCK_SECONDS if seconds is None else seconds)
    if lock is None:
        raise busy()
    try:
        yield
    finally:
        lock.release()


def busy() -> NuggetsError:
    """The error for whoever finds another sync at work."""
    return LockTimeoutError("another sync is running", kept=KEPT, remedy=Remedy("try-again"))


# When a memory is synced that nobody asks to sync


def last_sync(home: Path) -> str | None:
    """When the last sync of a memory ended, "" for never; None where none is set up. Raises SyncError, StorageError."""
    folder = GitFolder.of(Git(home))
    kept = read_kept(folder) if folder is not None else None
    return None if kept is None else kept.at


class Rhythm:
    """Tells when the next sync is due, by the last one, whoever ran it, and by what failed here."""

    def __init__(self) -> None:
        self._failures = 0
        self._failed_at: datetime | None = None

    def wait(self, every: float, last: str, now: datetime) -> float:
        """In how many seconds a sync is due that is due every so many seconds; 0 for now. last: see `last_sync`."""
        at, failed_at = parse_iso(last), self._failed_at
        if failed_at is not None and (at is None or at <= failed_at):
            return _left(failed_at, max(every, min(every * 2.0**self._failures, _LONGEST_PAUSE)), now)
        return 0.0 if at is None else _left(at, every, now)

    def ended(self, now: datetime, *, well: bool) -> None:
        """A sync ended; well: the remote was reached and nothing went wrong."""
        self._failures = 0 if well else min(self._failures + 1, 20)
        self._failed_at = None if well else now


def _left(since: datetime, seconds: float, now: datetime) -> float:
    gone = (now - since).total_seconds()
    # A clock that was set back says nothing.
    return max(0.0, seconds - gone) if gone >= 0 else 0.0
