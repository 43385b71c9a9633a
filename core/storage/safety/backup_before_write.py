"""Keeps copies before a write: backups before large changes, and every unreadable file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import NotFoundError, StorageError
from core.model.change import ChangeSet
from core.model.fact import Fact
from core.model.names import iso
from core.model.note import Note
from core.model.snapshot import Problem
from core.settings import InferenceSettings
from core.storage.files.atomic import read_file
from core.storage.format.codec import unreadable_name
from core.storage.format.documents import Document, GraphDocument, Loaded, id_of
from core.storage.safety.backups import due_today, make_backup, prune
from core.storage.safety.quarantine import record_bytes, records, set_aside

if TYPE_CHECKING:
    from core.storage.format.pages import PageSet

LARGE: Final = 20


def backup_before_write(home: Path, change_set: ChangeSet, now: datetime, keep: int) -> None:
    """A copy of all files before the first write of a day, and before a change of more than 20 things.

    keep: how many of each kind stay. Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    large = change_set.size > LARGE
    today = due_today(home, now)
    if not large and not today:
        return
    make_backup(home, at=now, reason="day" if today else "bulk")
    prune(home, keep)


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
        if isinstance(document, GraphDocument) and document.pages is not None:
            _keep_unreadable_pages(home, document.pages, now)
        for place, problem in unread_places(document):
            raw = document.raws[place]
            set_aside(
                home, file=file, data=raw, reason=problem.what, where=problem.where, at=iso(now), whole=False
            )


def _keep_unreadable_pages(home: Path, pages: PageSet, now: datetime) -> None:
    for name, file in pages.files.items():
        if file.problem and file.data:
            where = str(pages.path(name))
            set_aside(
                home, file=name, data=file.data, reason=file.problem, where=where, at=iso(now), whole=True
            )


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


_Items = Sequence[Note | Fact | None]


def last_read(document: Document, baseline: Document, rules: InferenceSettings) -> dict[int, bytes]:
    """For each place of `document` that cannot be read the bytes that were last read there, where they are known.

    baseline: the file as the journal remembers it, with the last readable versions of things that cannot be read now.
    """
    now = document.items
    known: dict[str, bytes] = {}
    for item, raw in zip(baseline.items, baseline.raws, strict=True):
        if item is not None:
            known.setdefault(id_of(item), raw)
    there = {id_of(item) for item in now if item is not None}
    missing = {name: raw for name, raw in known.items() if name not in there}
    kind = Note if isinstance(document, GraphDocument) else Fact
    found: dict[int, bytes] = {}
    nameless: list[int] = []
    for place, item in enumerate(now):
        if not missing:
            break
        if item is not None or document.raws[place] in document.later:
            continue
        name = unreadable_name(document.raws[place], kind, rules) or ""
        if name in missing:
            found[place] = missing.pop(name)
        elif not name and kind is Fact:
            nameless.append(place)
    order = list(known)
    for place in nameless:
        standing = _standing_at(place, now, order, missing)
        if standing is not None:
            found[place] = missing.pop(standing)
    return found


def _standing_at(place: int, now: _Items, order: list[str], missing: Mapping[str, bytes]) -> str | None:
    """The name of what is missing and stood behind the same neighbour as what cannot be told by its name."""
    behind = next((id_of(item) for item in reversed(now[:place]) if item is not None), None)
    if behind is not None and behind not in order:
        return None
    following = order[order.index(behind) + 1 :] if behind is not None else order
    for name in following:
        if name in missing:
            return name
        if any(item is not None and id_of(item) == name for item in now):
            return None
    return None


def with_last_read(document: Document, versions: Mapping[int, bytes]) -> list[bytes]:
    """The file, in parts, with other bytes at some places; b"" for nothing there."""
    raws = (versions.get(place, raw) for place, raw in enumerate(document.raws))
    return replace(document, raws=tuple(filter(None, raws))).to_parts()


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
