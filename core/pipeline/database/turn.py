"""Whose turn it is to bring the outbox over: of several processes one at a time, let go when its process ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from core.errors import ErrorCode, LockTimeoutError, StorageError
from core.storage.files.atomic import Lock, refused, wrong_kind

TURN_FILE: Final = ".nuggets.outbox.lock"


@contextmanager
def turn(home: Path, seconds: float) -> Iterator[bool]:
    """Within this, nobody else brings the outbox of this memory over; False when somebody does for all that time.

    seconds: how long it is waited for. Raises StorageError.
    """
    path = home / TURN_FILE
    wrong = wrong_kind(path)
    if wrong:
        raise StorageError(
            f"{wrong}: it cannot be locked",
            code=ErrorCode.WRONG_KIND_OF_FILE,
            where=str(path),
            kept="it was left alone",
        )
    lock = Lock(path)
    try:
        lock.acquire(seconds)
    except LockTimeoutError:
        yield False
        return
    except OSError as error:
        raise refused(path, "cannot be locked", error) from error
    try:
        yield True
    finally:
        lock.release()
