"""Repairs the files of a folder: whole ones that cannot be read, and single notes and facts in them that cannot be."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from core.errors import ConflictError, ErrorCode, Notice
from core.folder import QUARANTINE
from core.model.change import FileRepair
from core.model.fact import NuggetMeta
from core.storage.files.atomic import fingerprint, read_file, replace_file, write_target
from core.storage.format.documents import (
    Document,
    GraphDocument,
    Loaded,
    new_nugget,
    nugget_of_file,
)
from core.storage.journal.journal import Journal
from core.storage.recovery.rebuild import pieces_of, rebuilt, woven
from core.storage.safety.backup_before_write import keep_whole, unread_places

_WHOLE: Final = "the whole file could not be read, and was repaired"
_PART: Final = "part of it could not be read, and was repaired"
_TAKEN_BACK: Final = "a repair that was undone"


def repairable(journal: Journal, loaded: Loaded) -> frozenset[str]:
    """Where notes and facts stand, as their problems say it, that cannot be read and of which the journal knows the
    last version that could be.
    """
    return frozenset(
        problem.where
        for path, (_, replaced) in _last_read(journal, loaded).items()
        for place, problem in unread_places(loaded.documents()[path])
        if place in replaced
    )


def repair_files(journal: Journal, loaded: Loaded, now: datetime) -> list[FileRepair]:
    """Makes sound files of those that cannot be read, and puts notes and facts that cannot be read back as they were
    when they last could be. Each file lies in the quarantine first, with its exact bytes.

    Returns what was repaired. Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    repaired: list[FileRepair] = []
    for path in sorted(filter(os.path.lexists, loaded.broken())):
        read = read_file(path)
        parts = rebuilt(
            read[0] if read is not None else b"", _last_seen(journal, path, loaded), journal.rules
        )
        kept = keep_whole(journal.home, path, _WHOLE, now)
        replace_file(write_target(journal.home, path), *parts)
        repaired.append(_file_repair(journal, path, kept, parts))
    for path, (raws, replaced) in _last_read(journal, loaded).items():
        document = loaded.documents()[path]
        parts = replace(document, raws=tuple(raws)).to_parts()
        kept = keep_whole(journal.home, path, _PART, now)
        # Another program may have written since: what it says now is not overwritten.
        if fingerprint(path) != document.fingerprint:
            continue
        replace_file(write_target(journal.home, path), *parts)
        repaired.append(_file_repair(journal, path, kept, parts))
        said = "could not be read; its last readable version is restored"
        for place, problem in unread_places(document):
            if place in replaced:
                journal.tell(Notice(said, where=problem.where))
    return repaired


def _file_repair(journal: Journal, path: Path, kept: Path, parts: list[bytes]) -> FileRepair:
    before, after = _digest(_bytes_of(kept)), _digest(b"".join(parts))
    return FileRepair(path=journal.name(path), kept=kept.name, before=before, after=after)


def revert_repairs(home: Path, mends: Iterable[FileRepair], now: datetime) -> None:
    """Puts the bytes back that files held before they were repaired; the sound versions go to the quarantine.

    Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    for repair in mends:
        path = home / repair.path
        keep_whole(home, path, _TAKEN_BACK, now, sound=True)
        replace_file(write_target(home, path), _bytes_of(home / QUARANTINE / repair.kept))


def check_repairs(home: Path, mends: Iterable[FileRepair]) -> None:
    """Raises ConflictError unless every file is as the repair left it, and what it was before is still kept."""
    for repair in mends:
        kept = home / QUARANTINE / repair.kept
        if _digest(_bytes_of(home / repair.path)) != repair.after:
            raise ConflictError(
                "the file has changed since its repair",
                code=ErrorCode.CHANGED_MEANWHILE,
                where=str(home / repair.path),
                kept="nothing was changed",
                todo=f"its earlier bytes are in {kept}",
            )
        if _digest(_bytes_of(kept)) != repair.before:
            raise ConflictError(
                "the quarantine no longer holds its earlier bytes", where=str(kept),
                kept="nothing was changed",
            )  # fmt: skip


def _bytes_of(path: Path) -> bytes:
    read = read_file(path)
    return read[0] if read is not None else b""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _last_read(journal: Journal, loaded: Loaded) -> dict[Path, tuple[list[bytes], set[int]]]:
    """The files in which what cannot be read is known as it last could be: their notes or facts with those versions
    among them, and their places.
    """
    if not journal.is_open or loaded.snapshot.read_only:
        return {}
    baseline, found = journal.seen_files(), {}
    for path, document in loaded.documents().items():
        one = baseline.get(journal.name(path))
        if document.problems and one is not None:
            former = journal.remembered(path, one.head, loaded.graph)
            raws, replaced = woven(pieces_of(document), former, missing=False)
            if replaced:
                found[path] = raws, replaced
    return found


def _last_seen(journal: Journal, path: Path, loaded: Loaded) -> Document:
    """A file that cannot be read as a whole as the journal last saw it, or an empty one of its kind."""
    known = journal.seen_files().get(journal.name(path))
    if known is not None:
        return journal.remembered(path, known.head, loaded.graph)
    if path == loaded.graph.path:
        return GraphDocument(path=path)
    return new_nugget(path, NuggetMeta(name=nugget_of_file(path.name)))
