"""Repairs the files of a folder: whole ones that cannot be read, single notes and facts in them that cannot be, and
those that bear the name of an earlier one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final

import msgspec

from core.errors import ConflictError, ErrorCode, Notice
from core.model.change import FileRepair
from core.model.fact import Fact, NuggetMeta
from core.model.names import note_id
from core.model.note import Note
from core.model.note import replace as note_with
from core.storage.files.atomic import fingerprint, read_file, replace_file, write_target
from core.storage.format.codec import write_fact, write_note
from core.storage.format.documents import (
    GRAPH_VERSION,
    Document,
    GraphDocument,
    Loaded,
    id_of,
    new_nugget,
    nugget_of_file,
    remembered_graph,
    remembered_nugget,
)
from core.storage.journal.baseline import baseline_files, baseline_raws
from core.storage.journal.session import JournalSession
from core.storage.recovery.rebuild import rebuilt
from core.storage.safety.backup_before_write import keep_whole, last_read, unread_places, with_last_read
from core.storage.safety.quarantine import QUARANTINE
from core.text.normalise import squeeze

_WHOLE: Final = "the whole file could not be read, and was repaired"
_PART: Final = "part of it could not be read, and was repaired"
_SHARED: Final = "some of it had the id or key of something else in it, and got its own"
_TAKEN_BACK: Final = "a repair that was undone"


def repairable(session: JournalSession, loaded: Loaded) -> frozenset[str]:
    """Where notes and facts stand, as their problems say it, that cannot be read and of which the journal knows the
    last version that could be, or that bear the name of an earlier one.
    """
    documents = loaded.documents()
    last_read = (
        problem.where
        for path, versions in _last_read(session, loaded).items()
        for place, problem in unread_places(documents[path])
        if place in versions
    )
    shared = (
        problem.where
        for document in _with_shared_names(loaded)
        for problem in document.problems
        if not problem.kind.unreadable
    )
    return frozenset((*last_read, *shared))


def repair_files(session: JournalSession, loaded: Loaded, now: datetime) -> list[FileRepair]:
    """Makes sound files of those that cannot be read, puts notes and facts that cannot be read back as they were when
    they last could be, and gives those that bear the name of an earlier one a name of their own. Each file lies in the
    quarantine first, with its exact bytes.

    Returns what was repaired. Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    repaired: list[FileRepair] = []
    for path in sorted(filter(os.path.lexists, loaded.broken())):
        parts = _whole(session, path, loaded)
        kept = keep_whole(session.home, path, _WHOLE, now)
        replace_file(write_target(session.home, path), *parts)
        repaired.append(_file_repair(session, path, kept, parts))
    documents = loaded.documents()
    changed = _last_read(session, loaded)
    for document in _with_shared_names(loaded):
        changed[document.path] = changed.get(document.path, {}) | _own_names(session, document)
    for path, versions in changed.items():
        document = documents[path]
        parts = with_last_read(document, versions)
        kept = keep_whole(session.home, path, _PART if any(unread_places(document)) else _SHARED, now)
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


def _with_shared_names(loaded: Loaded) -> list[Document]:
    """The files in which notes or facts bear the name of an earlier one, where they may be written."""
    if loaded.snapshot.read_only or loaded.graph.pages is not None:
        return []
    return [document for document in loaded.documents().values() if document.later]


def _own_names(session: JournalSession, document: Document) -> dict[int, bytes]:
    """By place, the bytes of each note or fact that bears the name of an earlier one, under a name of its own; b"" for
    one that says no more than that: it goes.
    """
    pairs = list(zip(document.items, document.raws, strict=True))
    said = {id_of(one): {_said(one, raw)} for one, raw in pairs if one is not None}
    taken = {*said, *(document.set_aside if isinstance(document, GraphDocument) else ())}
    numbers: dict[str, Iterator[int]] = {}
    found: dict[int, bytes] = {}
    for place, (item, raw) in enumerate(pairs):
        one = document.later.get(raw) if item is None else None
        if one is None:
            continue
        name, text = id_of(one), _said(one, raw)
        if text in said[name]:
            found[place] = b""
            continue
        said[name].add(text)
        if isinstance(one, Fact):
            drawn = (f"{name} ({number})".strip() for number in numbers.setdefault(name, count(2)))
        else:
            drawn = (note_id(one.kind, one.nugget_name, session.ids()) for _ in count())
        own = next(each for each in drawn if each not in taken)
        taken.add(own)
        found[place] = _renamed(one, raw, own)
    return found


def _said(one: Note | Fact, raw: bytes) -> bytes | str:
    return squeeze(one.value) if isinstance(one, Fact) else raw


def _renamed(one: Note | Fact, raw: bytes, name: str) -> bytes:
    if isinstance(one, Fact):
        return write_fact(msgspec.structs.replace(one, key=name), one, raw)
    return write_note(note_with(one, id=name), one, raw)


def _whole(session: JournalSession, path: Path, loaded: Loaded) -> list[bytes]:
    """A sound version, in parts, of a file that cannot be read as a whole."""
    assert session.journal is not None
    read = read_file(path)
    file = session.baseline.name(path)
    raws = baseline_raws(session.journal, file)
    baseline = baseline_files(session.journal).get(file)
    former: Document
    if path == loaded.graph.path:
        head = baseline.head if baseline is not None else b'{"version": %d, "notes": []}' % GRAPH_VERSION
        former = remembered_graph(path, head, raws, session.rules, None)
    elif baseline is not None:
        former = remembered_nugget(path, baseline.head, raws)
    else:
        former = new_nugget(path, NuggetMeta(name=nugget_of_file(path.name)))
    return rebuilt(read[0] if read is not None else b"", former, session.rules)
