"""Repairs the files of a folder: whole ones that cannot be read, and single notes and facts in them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

from core.errors import ConflictError, ErrorCode, Notice
from core.model.change import FileRepair
from core.storage.files.atomic import fingerprint, read_file, replace_file, write_target
from core.storage.format.documents import Loaded, remembered_graph, remembered_nugget
from core.storage.journal.baseline import baseline_files, baseline_raws
from core.storage.journal.session import JournalSession
from core.storage.recovery.repaired import repaired_graph, repaired_nugget
from core.storage.safety.backup_before_write import keep_whole, last_read, unread_places, with_last_read
from core.storage.safety.quarantine import QUARANTINE

_WHOLE: Final = "the whole file could not be read, and was repaired"
_PART: Final = "part of it could not be read, and was repaired"
_TAKEN_BACK: Final = "a repair that was undone"


def repairable(session: JournalSession, loaded: Loaded) -> frozenset[str]:
    """Where notes and facts stand, as their problems say it, that cannot be read and of which the journal knows the
    last version that could be.
    """
    documents = loaded.documents()
    return frozenset(
        problem.where
        for path, versions in _last_read(session, loaded).items()
        for place, problem in unread_places(documents[path])
        if place in versions
    )


def repair_files(session: JournalSession, loaded: Loaded, now: datetime) -> list[FileRepair]:
    """Makes sound files of those that cannot be read, and puts notes and facts that cannot be read back as they were
    when they last could be. Each file lies in the quarantine first, with its exact bytes.

    Returns what was repaired. Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    repaired: list[FileRepair] = []
    for path in sorted(filter(os.path.lexists, loaded.broken())):
        parts = _whole(session, path, loaded)
        kept = keep_whole(session.home, path, _WHOLE, now)
        replace_file(write_target(session.home, path), *parts)
        repaired.append(_file_repair(session, path, kept, parts))
    documents = loaded.documents()
    for path, versions in _last_read(session, loaded).items():
        document = documents[path]
        parts = with_last_read(document, versions)
        kept = keep_whole(session.home, path, _PART, now)
        # Another program may have written since: what it says now is not overwritten.
        if fingerprint(path) == document.fingerprint:
            replace_file(write_target(session.home, path), *parts)
            repaired.append(_file_repair(session, path, kept, parts))
            for place, problem in unread_places(document):
                if place in versions:
                    session.notices.add(
                        Notice(
                            "could not be read; its last readable version is restored", where=problem.where
                        )
                    )
    return repaired


def _file_repair(session: JournalSession, path: Path, kept: Path, parts: list[bytes]) -> FileRepair:
    read = read_file(kept)
    before = hashlib.sha256(read[0] if read is not None else b"")
    after = hashlib.sha256()
    for part in parts:
        after.update(part)
    return FileRepair(
        path=session.baseline.name(path), kept=kept.name, before=before.hexdigest(), after=after.hexdigest()
    )


def revert_repairs(home: Path, mends: Iterable[FileRepair], now: datetime) -> None:
    """Puts the bytes back that files held before they were repaired; the sound versions go to the quarantine.

    Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    for repair in mends:
        path = home / repair.path
        keep_whole(home, path, _TAKEN_BACK, now, sound=True)
        replace_file(write_target(home, path), _bytes_before(home, repair))


def check_repairs(home: Path, mends: Iterable[FileRepair]) -> None:
    """Raises ConflictError unless every file is as the repair left it, and what it was before is still kept."""
    for repair in mends:
        kept = home / QUARANTINE / repair.kept
        found = read_file(home / repair.path)
        if found is None or hashlib.sha256(found[0]).hexdigest() != repair.after:
            raise ConflictError(
                "the file has changed since its repair",
                code=ErrorCode.CHANGED_MEANWHILE,
                where=str(home / repair.path),
                kept="nothing was changed",
                todo=f"its earlier bytes are in {kept}",
            )
        if hashlib.sha256(_bytes_before(home, repair)).hexdigest() != repair.before:
            raise ConflictError(
                "the quarantine no longer holds its earlier bytes", where=str(kept),
                kept="nothing was changed",
            )  # fmt: skip


def _bytes_before(home: Path, repair: FileRepair) -> bytes:
    read = read_file(home / QUARANTINE / repair.kept)
    return read[0] if read is not None else b""


def _last_read(session: JournalSession, loaded: Loaded) -> dict[Path, dict[int, bytes]]:
    """By file and place the last readable bytes of each note or fact that cannot be read, where they are known."""
    if session.journal is None or loaded.snapshot.read_only:
        return {}
    baseline = baseline_files(session.journal)
    found: dict[Path, dict[int, bytes]] = {}
    for path, document in loaded.documents().items():
        one = baseline.get(session.baseline.name(path))
        if document.problems and one is not None:
            found[path] = last_read(
                document,
                session.baseline.remembered(session.journal, path, one.head, loaded.graph),
                session.rules,
            )
    return {path: versions for path, versions in found.items() if versions}


def _whole(session: JournalSession, path: Path, loaded: Loaded) -> list[bytes]:
    """A sound version, in parts, of a file that cannot be read as a whole."""
    assert session.journal is not None
    read = read_file(path)
    data = read[0] if read is not None else b""
    file = session.baseline.name(path)
    raws = baseline_raws(session.journal, file)
    baseline = baseline_files(session.journal).get(file)
    if path == loaded.graph.path:
        notes = remembered_graph(path, b"{}", raws, session.rules, None).notes
        known = {note.id: raw for note, raw in zip(notes, raws, strict=True) if note is not None}
        return repaired_graph(data, known, session.rules)
    former = remembered_nugget(path, baseline.head, raws) if baseline is not None else None
    if former is None:
        return repaired_nugget(path.name, data, {})
    facts = {f.key: raw for f, raw in zip(former.facts, former.raws, strict=True) if f is not None}
    return repaired_nugget(path.name, data, facts, former.meta)
