"""Mends the files of a folder: whole ones that cannot be read, and single notes and facts in them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

from core.errors import ConflictError, ErrorCode, Notice
from core.model.change import FileMend
from core.storage.files.atomic import fingerprint, read_file, replace_file, write_target
from core.storage.format.documents import remembered_graph, remembered_nugget
from core.storage.format.reading import Loaded
from core.storage.journal.baseline import seen_files, seen_raws
from core.storage.journal.session import JournalSession
from core.storage.recovery.mending import mended_graph, mended_nugget
from core.storage.safety.before_writing import keep_whole, last_read, unread_places, with_last_read
from core.storage.safety.quarantine import QUARANTINE

_WHOLE: Final = "the whole file could not be read, and was repaired"
_PART: Final = "part of it could not be read, and was repaired"
_TAKEN_BACK: Final = "a repair that was undone"


def mendable(trace: JournalSession, loaded: Loaded) -> frozenset[str]:
    """Where notes and facts stand, as their problems say it, that cannot be read and of which the ledger knows the
    last version that could be.
    """
    documents = loaded.documents()
    return frozenset(
        problem.where
        for path, versions in _last_read(trace, loaded).items()
        for place, problem in unread_places(documents[path])
        if place in versions
    )


def mend_files(trace: JournalSession, loaded: Loaded, now: datetime) -> list[FileMend]:
    """Makes sound files of those that cannot be read, and puts notes and facts that cannot be read back as they were
    when they last could be. Each file lies in the quarantine first, with its exact bytes.

    Returns what was mended. Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    mended: list[FileMend] = []
    for path in sorted(loaded.broken()):
        parts = _whole(trace, path, loaded)
        kept = keep_whole(trace.home, path, _WHOLE, now)
        replace_file(write_target(trace.home, path), *parts)
        mended.append(_mend(trace, path, kept, parts))
    documents = loaded.documents()
    for path, versions in _last_read(trace, loaded).items():
        document = documents[path]
        parts = with_last_read(document, versions)
        kept = keep_whole(trace.home, path, _PART, now)
        # Another program may have written since: what it says now is not overwritten.
        if fingerprint(path) == document.fingerprint:
            replace_file(write_target(trace.home, path), *parts)
            mended.append(_mend(trace, path, kept, parts))
            for place, problem in unread_places(document):
                if place in versions:
                    trace.notices.say(
                        Notice(
                            "could not be read; its last readable version is restored", where=problem.where
                        )
                    )
    return mended


def _mend(trace: JournalSession, path: Path, kept: Path, parts: list[bytes]) -> FileMend:
    read = read_file(kept)
    before = hashlib.sha256(read[0] if read is not None else b"")
    after = hashlib.sha256()
    for part in parts:
        after.update(part)
    return FileMend(
        path=trace.baseline.name(path), kept=kept.name, before=before.hexdigest(), after=after.hexdigest()
    )


def take_mends_back(home: Path, mends: Iterable[FileMend], now: datetime) -> None:
    """Puts the bytes back that files held before they were mended; the sound versions go to the quarantine.

    Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    for mend in mends:
        path = home / mend.path
        keep_whole(home, path, _TAKEN_BACK, now, sound=True)
        replace_file(write_target(home, path), _bytes_before(home, mend))


def check_mends(home: Path, mends: Iterable[FileMend]) -> None:
    """Raises ConflictError unless every file is as mending left it, and what it was before is still kept."""
    for mend in mends:
        kept = home / QUARANTINE / mend.kept
        found = read_file(home / mend.path)
        if found is None or hashlib.sha256(found[0]).hexdigest() != mend.after:
            raise ConflictError(
                "the file has changed since its repair",
                code=ErrorCode.CHANGED_MEANWHILE,
                where=str(home / mend.path),
                kept="nothing was changed",
                todo=f"its earlier bytes are in {kept}",
            )
        if hashlib.sha256(_bytes_before(home, mend)).hexdigest() != mend.before:
            raise ConflictError(
                "the quarantine no longer holds its earlier bytes", where=str(kept),
                kept="nothing was changed",
            )  # fmt: skip


def _bytes_before(home: Path, mend: FileMend) -> bytes:
    read = read_file(home / QUARANTINE / mend.kept)
    return read[0] if read is not None else b""


def _last_read(trace: JournalSession, loaded: Loaded) -> dict[Path, dict[int, bytes]]:
    """By file and place the last readable bytes of each note or fact that cannot be read, where they are known."""
    if trace.ledger is None or loaded.snapshot.read_only:
        return {}
    seen = seen_files(trace.ledger)
    found: dict[Path, dict[int, bytes]] = {}
    for path, document in loaded.documents().items():
        one = seen.get(trace.baseline.name(path))
        if document.problems and one is not None:
            found[path] = last_read(
                document, trace.baseline.remembered(trace.ledger, path, one.head, loaded.graph), trace.rules
            )
    return {path: versions for path, versions in found.items() if versions}


def _whole(trace: JournalSession, path: Path, loaded: Loaded) -> list[bytes]:
    """A sound version, in parts, of a file that cannot be read as a whole."""
    assert trace.ledger is not None
    read = read_file(path)
    data = read[0] if read is not None else b""
    file = trace.baseline.name(path)
    raws = seen_raws(trace.ledger, file)
    seen = seen_files(trace.ledger).get(file)
    if path == loaded.graph.path:
        notes = remembered_graph(path, b"{}", raws, trace.rules, None).notes
        known = {note.id: raw for note, raw in zip(notes, raws, strict=True) if note is not None}
        return mended_graph(data, known, trace.rules)
    former = remembered_nugget(path, seen.head, raws) if seen is not None else None
    if former is None:
        return mended_nugget(path.name, data, {})
    facts = {f.key: raw for f, raw in zip(former.facts, former.raws, strict=True) if f is not None}
    return mended_nugget(path.name, data, facts, former.meta)
