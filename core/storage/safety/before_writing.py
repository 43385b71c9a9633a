"""What is kept before it can be lost: backups before large changes, and a copy of everything that cannot be read."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from core.errors import ErrorCode, NotFoundError, StorageError
from core.model.change import ChangeSet
from core.model.names import iso
from core.storage.files.atomic import read_file
from core.storage.format.documents import Document, GraphDocument
from core.storage.format.reading import Loaded
from core.storage.safety.backups import due_today, make_backup, prune
from core.storage.safety.quarantine import record_bytes, records, set_aside
from core.storage.safety.unread import unread_places

_LARGE: Final = 20


def back_up(home: Path, change_set: ChangeSet, now: datetime, keep: int) -> None:
    """A copy of all files before the first write of a day, and before a change of more than 20 things.

    keep: how many of each kind stay. Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    large = is_large(change_set)
    today = due_today(home, now)
    if not large and not today:
        return
    make_backup(home, at=now, reason="day" if today else "bulk")
    prune(home, keep)


def is_large(change_set: ChangeSet) -> bool:
    """Whether there is to be a backup before a change in any case."""
    return change_set.size > _LARGE


def keep_unreadable(home: Path, loaded: Loaded, now: datetime) -> None:
    """A record with the exact bytes of each note, fact and file that cannot be read; the same bytes are kept once.

    Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    for document in _all(loaded):
        file = str(document.path.relative_to(home))
        if document.broken:
            with suppress(StorageError, NotFoundError):
                keep_whole(home, document.path, document.broken, now)
            continue
        for place, problem in unread_places(document):
            raw = document.raws[place]
            set_aside(
                home, file=file, data=raw, reason=problem.what, where=problem.where, at=iso(now), whole=False
            )


def keep_whole(home: Path, path: Path, reason: str, now: datetime, *, sound: bool = False) -> Path:
    """A record of a whole file as it stands; where its bytes lie. sound: see `Record`. Raises NotFoundError,
    StorageError, ReadOnlyError.
    """
    found = read_file(path)
    if found is None:
        raise NotFoundError("there is no such file any more", code=ErrorCode.NO_SUCH_FILE, where=str(path))
    file = str(path.relative_to(home))
    record = set_aside(
        home, file=file, data=found[0], reason=reason, where=file, at=iso(now), whole=True, sound=sound
    )
    return record.path


def keep_before_rewriting(home: Path, loaded: Loaded, change_set: ChangeSet, now: datetime) -> None:
    """A copy of each partly unreadable file that a change set is about to rewrite, before its first rewriting."""
    touched = {change.nugget for change in change_set.facts}
    for document in _all(loaded):
        rewritten = (
            bool(change_set.notes) if isinstance(document, GraphDocument) else document.meta.name in touched
        )
        bad = [problem.what for _, problem in unread_places(document)]
        if rewritten and bad and not _was_kept_whole(home, document):
            keep_whole(home, document.path, f"part of it cannot be read ({bad[0]})", now)


def _all(loaded: Loaded) -> tuple[Document, ...]:
    return loaded.graph, *loaded.nuggets.values()


def _was_kept_whole(home: Path, document: Document) -> bool:
    """Whether a copy of the file was made already while the same things in it were unreadable."""
    file = str(document.path.relative_to(home))
    raws = [document.raws[place] for place, _ in unread_places(document)]
    for record in records(home):
        if record.whole and record.file == file:
            data = record_bytes(record)
            if all(raw in data for raw in raws):
                return True
    return False
