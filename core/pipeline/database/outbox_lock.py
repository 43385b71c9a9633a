"""Whose turn it is to bring the outbox over: of several processes one at a time, let go when its process ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from core.storage.files.atomic import try_lock

LOCK_FILE: Final = ".nuggets.outbox.lock"


@contextmanager
def outbox_lock(home: Path, seconds: float) -> Iterator[bool]:
    """Within this, nobody else brings the outbox of this memory over; False when somebody does for all that time.

    seconds: how long it is waited for. Raises StorageError.
    """
    lock = try_lock(home / LOCK_FILE, seconds)
    if lock is None:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
