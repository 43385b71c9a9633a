"""A lock by a file: the system's own, or, where the file system knows none, a second file that only one can make."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import LockTimeoutError

if TYPE_CHECKING:
    from filelock import BaseFileLock

HELD_SUFFIX: Final = ".held"
_FILE_MODE: Final = 0o600
# How often a lock that is held is asked for again: who asks rarely finds it taken by who came later.
_POLL_SECONDS: Final = 0.005
# What the system says of a file system, some shared folders among them, whose files cannot be locked.
_NO_LOCKS: Final = frozenset(
    (errno.ENOSYS, errno.ENOTSUP, getattr(errno, "EOPNOTSUPP", errno.ENOTSUP), errno.ENOLCK, errno.EINVAL)
)


class Lock:
    """The lock of a file, held by one at a time until `release`, or until its process ends.

    Where files cannot be locked, `<file>.held` stands while it is held and says by which process of which machine.
    One whose process has ended on this machine counts as released.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held = path.with_name(path.name + HELD_SUFFIX)
        self._lock: BaseFileLock | None = None

    def acquire(self, seconds: float, *, kept: str = "nothing was written") -> None:
        """Takes the lock, waiting at most so long for it. Raises LockTimeoutError, OSError."""
        from filelock import FileLock, SoftFileLock, Timeout

        lock: BaseFileLock = FileLock(self._path, mode=_FILE_MODE, thread_local=False, fallback_to_soft=False)
        todo = "try again when it is done"
        try:
            try:
                lock.acquire(timeout=seconds, poll_interval=_POLL_SECONDS)
            except OSError as error:
                if isinstance(error, Timeout) or error.errno not in _NO_LOCKS:
                    raise
                lock = SoftFileLock(self._held, mode=_FILE_MODE, thread_local=False)
                todo += (
                    f"; files here cannot be locked by the system, so if none is at work, remove {self._held}"
                )
                lock.acquire(timeout=seconds, poll_interval=_POLL_SECONDS)
        except Timeout as error:
            raise LockTimeoutError(
                f"another program has kept the memory locked for {seconds:g} s",
                where=str(self._path), kept=kept, todo=todo,
            ) from error  # fmt: skip
        self._lock = lock

    def release(self) -> None:
        """Lets it be taken by another. Raises OSError."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()
