"""When a memory is synced that nobody asks to sync: so often, and less often while it does not go through."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from core.model.names import parse_iso
from core.sync.git import GitFolder
from core.sync.kept import read_kept

# What does not go through is tried again at least so often, unless syncs are rarer anyway.
_LONGEST_PAUSE: Final = 3600.0


def last_sync(home: Path) -> str | None:
    """When the last sync of a memory ended, "" for never; None where none is set up. Raises SyncError, StorageError."""
    folder = GitFolder.of(home)
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
