"""Files: what identifies a version of one, reading it whole, replacing it atomically, and the lock."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from core.errors import ErrorCode, LockTimeoutError, NotSyncedError, ReadOnlyError, StorageError, remedy_for
from core.folder import GRAPH_FILE, NOWHERE
from core.user_folders import STATE_VARIABLE

# How often a lock that is held is asked for again: who asks rarely finds it taken by who came later.
_POLL_SECONDS: Final = 0.005
# What the system says of a file system, some shared folders among them, whose files cannot be locked.
_NO_LOCKS: Final = frozenset(
    (errno.ENOSYS, errno.ENOTSUP, getattr(errno, "EOPNOTSUPP", errno.ENOTSUP), errno.ENOLCK, errno.EINVAL)
)


def can_be_locked(folder: Path) -> bool:
    """Whether SQLite can lock files of a folder. Where that cannot be told, they can."""
    try:
        import fcntl

        handle = os.open(folder / LOCK_NAME, os.O_RDWR)
    except (ImportError, OSError):
        return True
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _NO_LOCKS
    finally:
        os.close(handle)
    return True


class Lock:
    """The lock that the system keeps of a file, held by one at a time until `release`, or until its process ends. Where
    the file system knows no locks there is none: what is written there is checked all the same right before it is
    exchanged. `flock` of another program is the same.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._let_go: Callable[[], None] | None = None

    def acquire(self, seconds: float, *, kept: str = "nothing was written") -> None:
        """Takes the lock, waiting at most so long for one that stays held. Raises LockTimeoutError, and OSError, also
        where the folder is gone.
        """
        until = time.monotonic() + seconds
        while not (self._take_elsewhere() if os.name == "nt" else self._take()):
            if time.monotonic() >= until:
                raise LockTimeoutError(
                    f"another program has locked the memory for {seconds:g} s",
                    where=str(self._path), kept=kept, todo="try again when it is done",
                )  # fmt: skip
            time.sleep(_POLL_SECONDS)

    def _take(self) -> bool:
        import fcntl

        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            handle = os.open(self._path, flags, _FILE_MODE)
        except BlockingIOError:
            # Another program is asked for it by the system first.
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Who held it before may have removed the file: then this is the lock of nothing.
            if os.fstat(handle).st_nlink:
                self._let_go, handle = partial(_unlock, handle), -1
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EAGAIN):
                if error.errno not in _NO_LOCKS:
                    raise
                self._let_go = lambda: None
        finally:
            if handle >= 0:
                os.close(handle)
        return self._let_go is not None

    def _take_elsewhere(self) -> bool:
        from filelock import FileLock, Timeout

        # The library would make the folder, and one that was removed meanwhile would be back.
        os.stat(self._path.parent)
        lock = FileLock(self._path, mode=_FILE_MODE, thread_local=False, fallback_to_soft=False)
        with contextlib.suppress(Timeout):
            lock.acquire(timeout=0)
            self._let_go = lock.release
        return self._let_go is not None

    def release(self) -> None:
        """Lets it be taken by another. Raises OSError."""
        let_go, self._let_go = self._let_go, None
        if let_go is not None:
            let_go()


def _unlock(handle: int) -> None:
    import fcntl

    # A child that was forked meanwhile has the file open as well: closing it would not end the lock.
    try:
        fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)


LOCK_NAME: Final = ".nuggets.lock"
LOCK_SECONDS: Final = 15.0
_LEFTOVER: Final = re.compile(r"\.(?P<file>.+\.(?:json|toml|md|markdown))\.\d+-[0-9a-f]{8}\.tmp")
_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700
# No write takes so long: whoever made a temporary file that is older was killed.
_LEFT_SECONDS: Final = 3600.0
_KEPT: Final = "nothing was written"


class Fingerprint(NamedTuple):
    """What tells one version of a file from another without reading it."""

    inode: int
    size: int
    mtime_ns: int
    # Moves with every write, also where the other three are made to look as before. 0: not known.
    ctime_ns: int = 0

    def same_data(self, other: Fingerprint | None) -> bool:
        """Whether both are of one version whose file was at most renamed in between."""
        return other is not None and self[:3] == other[:3]


def fingerprint(path: Path) -> Fingerprint | None:
    """The file's fingerprint, None when there is no such file. Raises StorageError."""
    try:
        return _fingerprint(path.stat())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refused(path, "cannot be accessed", error) from error


def _fingerprint(found: os.stat_result) -> Fingerprint:
    return Fingerprint(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file at a path, which stay the same when it is written to; None where the system does
    not say.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def read_file(path: Path) -> tuple[bytes, Fingerprint] | None:
    """A file's bytes and the fingerprint of just these bytes; None for no file. Raises StorageError."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refused(path, "cannot be read", error) from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise StorageError(
                "is not a regular file",
                code=ErrorCode.WRONG_KIND_OF_FILE,
                where=str(path),
                kept="it is unchanged",
            )
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(), _fingerprint(found)
    except OSError as error:
        raise refused(path, "cannot be read", error) from error
    finally:
        os.close(handle)


def may_be_read(path: Path) -> bool:
    """Whether there is a file that the system lets us read, whatever it holds."""
    return path.is_file() and os.access(path, os.R_OK)


def working_directory() -> str:
    """The process's working directory. Raises StorageError when it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise StorageError(
            "the working directory no longer exists",
            kept=_KEPT,
            todo="go to a folder that exists and try again",
        ) from error


def absolute_path(path: Path) -> Path:
    """The path from the root of the file system on. Raises StorageError like `working_directory`, if relative."""
    return path if path.is_absolute() else Path(working_directory(), path)


def make_folder(path: Path, *, mode: int = _FOLDER_MODE) -> None:
    """Makes a folder, and its parents; an existing one stays as it is. mode: who may enter, by default its owner."""
    if path.is_relative_to(NOWHERE):
        raise StorageError(
            "there is no folder for history and backups, so it can only be read",
            code=ErrorCode.NO_PLACE,
            where=STATE_VARIABLE,
            kept="nothing was written",
            todo=f"set {STATE_VARIABLE} to a folder outside of this one",
        )
    try:
        path.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise refused(path, "the folder cannot be created", error) from error


class Staged(NamedTuple):
    """New content beside its target, safe on disk and ready to replace it."""

    temporary: Path
    path: Path
    fingerprint: Fingerprint


def stage_file(path: Path, *parts: bytes, mode: int = _FILE_MODE) -> Staged:
    """Writes new content to a temporary file in the target's folder and syncs it. Raises StorageError.

    This is the slow half of a replacement. Check other files after this and before `put_in_place`, so that little
    time lies between the check and the rename.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
            file.writelines(parts)
            file.flush()
            sync_handle(file.fileno())
            return Staged(temporary, path, _fingerprint(os.fstat(file.fileno())))
    except OSError as error:
        _discard(temporary)
        raise refused(path, "cannot be written", error) from error


def put_in_place(staged: Staged) -> Fingerprint:
    """Renames staged content over its target and syncs the folder. Raises StorageError, NotSyncedError."""
    try:
        rename(staged.temporary, staged.path)
    except OSError as error:
        _discard(staged.temporary)
        raise refused(staged.path, "cannot be written", error) from error
    with syncing(staged.path):
        sync_folder(staged.path.parent)
        return in_place(staged)


def in_place(staged: Staged) -> Fingerprint:
    """The fingerprint of staged content at its target: renaming changes the time of the last change."""
    found = fingerprint(staged.path)
    return found if found is not None and found.same_data(staged.fingerprint) else staged.fingerprint


def discard(staged: Iterable[Staged]) -> None:
    """Throws staged content away; what was put in place already stays."""
    for one in staged:
        _discard(one.temporary)


def _discard(temporary: Path) -> None:
    with contextlib.suppress(OSError):
        temporary.unlink()


def replace_file(path: Path, *parts: bytes, mode: int = _FILE_MODE) -> Fingerprint:
    """Replaces a file in one step: whoever reads sees all old bytes or all new ones, also after a power cut.

    parts: the new content, one after the other. Temporary file in the same folder, fsync, rename, fsync of the
    folder. Raises StorageError; the old file is then as it was, but for NotSyncedError: then the new one is there.
    """
    return put_in_place(stage_file(path, *parts, mode=mode))


def leftovers(home: Path, *others: Path) -> list[tuple[Path, Path]]:
    """Temporary files of killed writers, each with the file that it was made for. others: folders to look into."""
    found: list[tuple[Path, Path]] = []
    for folder in (home, home / GRAPH_FILE.parent, *others):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                named = _LEFTOVER.fullmatch(entry.name)
                if named:
                    found.append((folder / entry.name, folder / named["file"]))
    return found


def is_leftover(name: str) -> bool:
    """Whether a file of this name is a temporary file of a writer, killed or still running."""
    return name.endswith(".tmp") and _LEFTOVER.fullmatch(name) is not None


def has_leftovers(folder: Path) -> bool:
    """Whether there is such a file in a folder."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return any(is_leftover(entry.name) for entry in entries)
    return False


def remove_leftovers(home: Path, *others: Path) -> None:
    """Removes temporary files of killed writers. Call it only while holding the lock: then no writer of this program
    runs, and every such file is a leftover.
    """
    for temporary, _ in leftovers(home, *others):
        _discard(temporary)


def remove_leftovers_of(path: Path) -> None:
    """Removes temporary files that killed writers of this file left; no writer runs as long as these are old. They hold
    only new content, for `replace_file` never moves the old content into one.
    """
    named = re.compile(rf"\.{re.escape(path.name)}\.\d+-[0-9a-f]{{8}}\.tmp")
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            old = named.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            if old and time.time() - entry.stat().st_mtime > _LEFT_SECONDS:
                _discard(path.parent / entry.name)


def rename(source: Path, target: Path) -> None:
    """`os.replace`; on Windows a reader may hold the target for a moment, so a refusal is tried again."""
    for wait in (0.01, 0.05, 0.25, 1.0):
        try:
            os.replace(source, target)
        except PermissionError:
            if os.name != "nt":
                raise
            time.sleep(wait)
        else:
            return
    os.replace(source, target)


@contextlib.contextmanager
def syncing(path: Path) -> Iterator[None]:
    """Within this, the file has its new state already, so that a failure is a NotSyncedError."""
    try:
        yield
    except (OSError, StorageError) as error:
        said = error.what if isinstance(error, StorageError) else error.strerror or type(error).__name__
        raise NotSyncedError(
            f"may not be safe on disk yet ({said})", where=str(path), kept="the file itself was written"
        ) from error


def sync_folder(folder: Path) -> None:
    """Makes renames in a folder survive a power cut. Raises OSError."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        sync_handle(handle)
    finally:
        os.close(handle)


def sync_handle(handle: int) -> None:
    """Makes a file or folder survive a power cut, as far as its file system can: some know no fsync. Raises OSError."""
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            raise


def remove_file(path: Path) -> None:
    """Removes a file, if it is there. Raises StorageError, NotSyncedError."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise refused(path, "cannot be removed", error) from error
    with syncing(path):
        sync_folder(path.parent)


def write_target(home: Path, path: Path) -> Path:
    """Where a write to `path` really goes; a link that leads out of the folder is refused (ReadOnlyError)."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(home)):
        raise ReadOnlyError(
            f"is a link to {real}, outside the memory's folder",
            code=ErrorCode.LINK_OUT_OF_FOLDER,
            where=str(path),
            kept=_KEPT,
            todo="move the file itself into the folder",
        )
    return real


@contextlib.contextmanager
def locked(home: Path, *, seconds: float | None = None) -> Iterator[None]:
    """Holds the memory's one lock, which covers all its files, waiting at most `seconds` (LOCK_SECONDS) for it.

    Raises LockTimeoutError, StorageError.
    """
    lock = Lock(home / LOCK_NAME)
    with _locking(home / LOCK_NAME):
        lock.acquire(LOCK_SECONDS if seconds is None else seconds)
    try:
        yield
    finally:
        lock.release()


def try_lock(path: Path, seconds: float) -> Lock | None:
    """Takes the lock of a file; None when another process holds it all that time. Raises StorageError."""
    if wrong := wrong_kind(path):
        raise _unlockable(path, wrong)
    lock = Lock(path)
    try:
        with _locking(path):
            lock.acquire(seconds)
    except LockTimeoutError:
        return None
    return lock


@contextlib.contextmanager
def _locking(path: Path) -> Iterator[None]:
    """What the system refuses within this, as errors of ours."""
    try:
        yield
    except OSError as error:
        if wrong := wrong_kind(path):
            raise _unlockable(path, wrong) from error
        raise refused(path, "cannot be locked", error) from error


def _unlockable(path: Path, wrong: str) -> StorageError:
    return StorageError(
        f"{wrong}: it cannot be locked", code=ErrorCode.WRONG_KIND_OF_FILE, where=str(path), kept=_KEPT,
        todo="move it away and try again",
    )  # fmt: skip


def wrong_kind(path: Path) -> str:
    """What stands at a path where an ordinary file belongs, in words; "" for such a file and for nothing."""
    if path.is_symlink():
        return "is a link, not a file"
    if path.is_dir():
        return "is a folder, not a file"
    return "is not an ordinary file" if path.exists() and not path.is_file() else ""


def refused(path: Path, what: str, error: OSError) -> StorageError:
    """The error for a file that the system does not give or take."""
    said = error.strerror or type(error).__name__
    return StorageError(f"{what} ({said})", remedy=remedy_for(error, path), where=str(path), kept=_KEPT)
