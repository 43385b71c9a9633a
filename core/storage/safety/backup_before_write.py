"""Keeps copies before a write: backups before large changes, and every unreadable file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from core.errors import NotFoundError, StorageError
from core.model.change import ChangeSet
from core.model.names import iso
from core.model.snapshot import Problem
from core.storage.files.atomic import read_file
from core.storage.format.documents import Document, GraphDocument, Loaded
from core.storage.safety.backups import due_today, make_backup, prune
from core.storage.safety.quarantine import record_bytes, records, set_aside

LARGE: Final = 20


def backup_before_write(home: Path, change_set: ChangeSet, now: datetime, keep: int) -> None:
    """A copy of all files before the first write of a day, and before a change of more than 20 things.

    keep: how many of each kind stay. Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    today = due_today(home, now)
    if today or change_set.size > LARGE:
        make_backup(home, at=now, reason="day" if today else "bulk")
        prune(home, keep)


def keep_unreadable(home: Path, loaded: Loaded, now: datetime) -> None:
    """A record with the exact bytes of each note, fact and file that cannot be read; the same bytes are kept once.

    Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    at = iso(now)
    documents: tuple[Document, ...] = (loaded.graph, *loaded.nuggets.values())
    for document in documents:
        if document.broken:
            with suppress(StorageError, NotFoundError):
                keep_whole(home, document.path, document.broken, now)
            continue
        pages = document.pages if isinstance(document, GraphDocument) else None
        for name, page in pages.files.items() if pages is not None else ():
            if page.problem and page.data and pages is not None:
                where = str(pages.path(name))
                set_aside(
                    home, file=name, data=page.data, reason=page.problem, where=where, at=at, whole=True
                )
        file = str(document.path.relative_to(home))
        for place, problem in unread_places(document):
            what, where, raw = problem.what, problem.where, document.raws[place]
            set_aside(home, file=file, data=raw, reason=what, where=where, at=at, whole=False)


def keep_whole(home: Path, path: Path, reason: str, now: datetime, *, sound: bool = False) -> Path:
    """A record of a whole file as it stands; where its bytes lie. sound: see `Record`. Raises NotFoundError,
    StorageError, ReadOnlyError.
    """
    found = read_file(path)
    if found is None:
        raise NotFoundError("the file no longer exists", field="file", where=str(path))
    file = str(path.relative_to(home))
    record = set_aside(
        home, file=file, data=found[0], reason=reason, where=file, at=iso(now), whole=True, sound=sound
    )
    return record.path


def keep_before_rewriting(home: Path, rewritten: Iterable[Document], now: datetime) -> None:
    """A copy of each partly unreadable file that is about to be rewritten, before its first rewriting."""
    for document in rewritten:
        bad = {document.raws[place]: problem.what for place, problem in unread_places(document)}
        file = str(document.path.relative_to(home))
        whole = (record for record in records(home) if record.whole and record.file == file) if bad else ()
        # Once is enough while the same things in it are unreadable.
        if bad and not any(all(raw in data for raw in bad) for data in map(record_bytes, whole)):
            keep_whole(home, document.path, f"part of it cannot be read ({next(iter(bad.values()))})", now)


def unread_places(document: Document) -> Iterator[tuple[int, Problem]]:
    """Each place that cannot be read, in the order of the file, with its problem."""
    if isinstance(document, GraphDocument) and document.pages is not None:
        # The graph can be read, and has what was last read of a page that cannot be.
        document = document.pages.stored
    problems = [problem for problem in document.problems if problem.kind.unreadable]
    if problems:
        items = enumerate(zip(document.items, document.raws, strict=True))
        bad = (place for place, (item, raw) in items if item is None and raw not in document.later)
        yield from zip(bad, problems, strict=False)
