"""One tree of errors; each says what went wrong, where, what was kept safe and what to do."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

# So much of a name stands in a message: what is wrong with it is to be read as well.
_NAME_BEGINS, _NAME_ENDS = 200, 100


_FEW: Final = 4


def few_of(names: Sequence[str]) -> str:
    """The first few of some names, in a message, and how many more there are."""
    more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


class NuggetsError(Exception):
    """Base of every error that the engine raises on purpose.

    what: what happened, a short clause. where: the file, note or option it concerns.
    kept: what was kept safe. todo: the next step for a person. `exit_code` is what a
    command line returns for it.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", kept: str = "", todo: str = "") -> None:
        self.what = what
        self.where = where
        self.kept = kept
        self.todo = todo
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """The error as one line: where: what; what was kept safe; what to do."""
        head = f"{_in_short(self.where)}: {self.what}" if self.where else self.what
        return "; ".join(part for part in (head, self.kept, self.todo) if part).replace("\n", " ")


def _in_short(name: str) -> str:
    """A name, without its middle when it is long."""
    if len(name) <= _NAME_BEGINS + _NAME_ENDS:
        return name
    return f"{name[:_NAME_BEGINS]}…{name[-_NAME_ENDS:]}"


_FREE_SPACE: Final = "free space on the disk and try again"
_GIVE_ACCESS: Final = "look at who may read and write it"
_ALLOW_WRITING: Final = "its disk can only be read: allow writing there, or use a folder elsewhere"
_CHECK_DISK: Final = "the disk fails: copy the folder to another disk and check this one"
_ADVICE: Final = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: "your share of the disk is used up: free space and try again",
    errno.EACCES: _GIVE_ACCESS,
    errno.EPERM: _GIVE_ACCESS,
    errno.EROFS: _ALLOW_WRITING,
    errno.EIO: _CHECK_DISK,
}


def advice(error: BaseException, path: Path, otherwise: str = "") -> str:
    """The next step for a person when the system or SQLite refused a file: one for each reason, whoever meets it.

    otherwise: where the reason is none of those known.
    """
    if isinstance(error, OSError):
        return _ADVICE.get(error.errno or 0, otherwise)
    code = int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
    if not code:
        return otherwise
    import sqlite3

    if code == sqlite3.SQLITE_FULL:
        return _FREE_SPACE
    if code == sqlite3.SQLITE_PERM:
        return _GIVE_ACCESS
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY):
        # SQLite keeps the system's own reason to itself.
        fails = code == sqlite3.SQLITE_IOERR
        return _seen_on_disk(path) or (_CHECK_DISK if fails else _GIVE_ACCESS)
    return otherwise


def _seen_on_disk(path: Path) -> str:
    """What keeps a file from being used, as far as its disk and its permissions show it; "" for nothing."""
    try:
        disk = os.statvfs(path.parent)
    except (OSError, AttributeError):
        return ""
    if disk.f_flag & os.ST_RDONLY:
        return _ALLOW_WRITING
    # Some file systems count no inodes at all.
    if disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0):
        return _FREE_SPACE
    wanted = os.R_OK | os.W_OK
    allowed = os.access(path, wanted) if path.exists() else os.access(path.parent, wanted)
    return "" if allowed else _GIVE_ACCESS


@contextmanager
def partly_done(kept: str, todo: str = "") -> Iterator[None]:
    """Within this, work goes on of which a part is done: an error says what stands, in place of its own words.

    kept: what was kept safe, which is more than the call that failed knows of. todo: the next step, "" for its own.
    """
    try:
        yield
    except UnfinishedError:
        raise
    except (StorageError, LockTimeoutError, ReadOnlyError) as error:
        error.kept, error.todo = kept, todo or error.todo
        error.args = (error.message,)
        raise


class InvalidInputError(NuggetsError):
    """Something handed in cannot be accepted: a name, a value, an option."""


class NotFoundError(NuggetsError):
    """What was named or asked for does not exist."""

    exit_code = 1


class AmbiguousError(NuggetsError):
    """A name fits more than one thing."""


class BrokenFileError(NuggetsError):
    """A file of the memory cannot be read; its bytes were left as they are."""


class ReadOnlyError(NuggetsError):
    """The memory may be read but not written (a newer format, missing permission)."""


class LockTimeoutError(NuggetsError):
    """Another process kept the memory locked for too long."""


class StorageError(NuggetsError):
    """The operating system refused a read or a write. `damaged`: it gave the bytes, and they are none of ours."""

    damaged = False


class NotSyncedError(StorageError):
    """A file was replaced or removed, and the system then did not say that this is safe on disk."""


class UnfinishedError(StorageError):
    """A change was begun and could not be finished now. It is in the log, and whoever opens the memory next finishes
    it: it is not to be made again. `entry` is its id there.
    """

    entry = ""


class ConflictError(NuggetsError):
    """The same thing was changed in two ways. Nothing was written.

    base, ours and theirs hold the three values as text where there are any. `field` is the name of the note's
    or fact's field; "" when it is about the whole thing, deleted on one side for example. `entry` is the id under
    which the change waits in the log, "" when it does not.
    """

    exit_code = 3

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        kept: str = "",
        todo: str = "",
        base: str = "",
        ours: str = "",
        theirs: str = "",
        field: str = "",
    ) -> None:
        super().__init__(what, where=where, kept=kept, todo=todo)
        self.field = field
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.entry = ""
