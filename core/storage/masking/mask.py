"""Masking in place: credentials taken out of a memory's files, its log, its backups and all else beside them.

What was kept of former times is masked first, the notes and facts last: whoever is stopped in between finds the
credential in a note still, and does it all again. Each file is replaced in one step.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol

import msgspec

from core.errors import BrokenFileError, ConflictError, ErrorCode, NuggetsError
from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.change import PERSON, ChangeSet, FactChange, NoteChange
from core.model.fact import Fact
from core.model.masks import Masks
from core.model.note import Note
from core.model.saved_search import SEARCHES_FILE
from core.settings import SETTINGS_FILE, InferenceSettings
from core.storage.files.atomic import (
    LOCK_NAME,
    leftovers,
    locked,
    read_file,
    remove_leftovers,
    replace_file,
    write_target,
)
from core.storage.files.side_folders import names_in, remove_half_written
from core.storage.files.sqlite import SIDE_FILES
from core.storage.format.documents import Document, GraphDocument, read_graph, read_nugget
from core.storage.journal.codec import by
from core.storage.journal.schema import JOURNAL_FILE
from core.storage.masking.journal import changed_rows, mask_journal, masked_raw
from core.storage.masking.proof import blanked_database, file_left, is_database
from core.storage.merge.conflict_copies import bad_copies, conflict_copies
from core.storage.reconcile.concurrent_writes import concurrent_changes
from core.storage.safety.backups import BACKUPS, DAMAGE
from core.storage.safety.quarantine import QUARANTINE, RECORD
from core.storage.writing import Write

if TYPE_CHECKING:
    from core.storage.format.documents import Loaded
    from core.storage.journal.journal import Journal
    from core.storage.store import Store

What = Literal["file", "log", "backup", "quarantine", "copy", "page", "pipeline", "untouched"]
# Another floor's, which masks it.
_PIPELINE: Final = "pipeline.db"
_TRIES: Final = 20
_LARGEST: Final = 64_000_000
REASON: Final = "masked a secret"
# What an error says in the midst of it.
HALFWAY: Final = "some of it may be masked already; nothing else was changed"
GO_ON: Final = "mask again to finish it"


@dataclass(frozen=True)
class Place:
    """Where credentials stand. count: of how many things (entries of the log, notes and facts, files in a backup).

    what: "untouched" for what is not masked, since it is not ours or cannot be read. part: of a database, its table.
    """

    what: What
    path: Path
    count: int = 1
    part: str = ""


class Scrubbed(Protocol):
    """A store of the folder that may hold credentials: it tells where they stand, and takes them out of itself."""

    def places(self, masks: Masks) -> Iterable[Place]:
        """Where the values stand at present; writes nothing."""

    def scrub(self, masks: Masks) -> None:
        """Takes the values out for good. Doing it again finishes what was stopped."""


# A place with the bytes that are to stand there; None where it is left alone.
_Rewrites = Iterator[tuple[Place, bytes | None]]


@dataclass(frozen=True)
class _Files:
    """Files of one kind, each replaced in one step. rewrites: what is to stand in them with values masked."""

    home: Path
    rewrites: Callable[[Masks], _Rewrites]

    def places(self, masks: Masks) -> Iterator[Place]:
        return (place for place, _ in self.rewrites(masks))

    def scrub(self, masks: Masks) -> None:
        for place, data in self.rewrites(masks):
            if data is not None:
                target = write_target(self.home, place.path)
                replace_file(target, data, mode=target.stat().st_mode & 0o777)


@dataclass(frozen=True)
class _Log:
    """The log of changes."""

    journal: Journal
    rules: InferenceSettings

    def places(self, masks: Masks) -> Iterator[Place]:
        tables = [table for table, _, _ in changed_rows(self.journal, masks, self.rules)]
        if tables:
            yield Place("log", self.journal.path, tables.count("entry"))

    def scrub(self, masks: Masks) -> None:
        mask_journal(self.journal, masks, self.rules)


def masked_document(document: Document, masks: Masks, rules: InferenceSettings) -> Document:
    """A file with the values masked in it; the same one when it holds none."""
    item = Note if isinstance(document, GraphDocument) else Fact
    raws = tuple(masked_raw(raw, item, masks, rules) for raw in document.raws)
    listed = "notes" if isinstance(document, GraphDocument) else "facts"
    fields = {name: value if name == listed else masks.json(value) for name, value in document.fields.items()}
    if raws == document.raws and fields == document.fields:
        return document
    data = b"".join(dataclasses.replace(document, raws=raws, fields=fields).to_parts())
    if isinstance(document, GraphDocument):
        made = read_graph(document.path, data, document.fingerprint, rules)
        if document.pages is None:
            return made
        known = zip(document.notes, made.notes, strict=True)
        notes = tuple(None if former is None else note for former, note in known)
        return dataclasses.replace(document, raws=made.raws, fields=made.fields, notes=notes)
    return read_nugget(document.path, data, document.fingerprint)


def masked_file(name: str, data: bytes, masks: Masks, rules: InferenceSettings) -> bytes:
    """The bytes of a graph.json or a fact file, whole or broken, or of any text, with the values masked."""
    if not masks.may_hold(data):
        return data
    document: Document | None = None
    try:
        if name.endswith(GRAPH_FILE.name):
            document = read_graph(Path(name), data, None, rules)
        elif name.endswith(FACT_SUFFIXES):
            document = read_nugget(Path(name), data, None)
    except BrokenFileError:
        document = None
    if document is not None and not document.broken:
        told = masked_document(document, masks, rules)
        if told is not document:
            return masks.data(b"".join(told.to_parts()))
    return masks.data(data)


# What is kept of former times


def _backups(home: Path, masks: Masks, rules: InferenceSettings) -> _Rewrites:
    for name in names_in(home / BACKUPS):
        path = home / BACKUPS / name
        found = read_file(path) if name.endswith(".zip") else None
        if found is None:
            continue
        try:
            told = _masked_zip(found[0], masks, rules)
        except DAMAGE:
            yield Place("untouched", path), None
            continue
        if told is not None:
            yield Place("backup", path, told[1]), told[0]


def _masked_zip(data: bytes, masks: Masks, rules: InferenceSettings) -> tuple[bytes, int] | None:
    buffer, count = io.BytesIO(), 0
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            told = masked_file(entry.filename, content, masks, rules)
            count += told != content
            new.writestr(entry, told, compresslevel=1)
    return (buffer.getvalue(), count) if count else None


def _quarantined(home: Path, masks: Masks, rules: InferenceSettings) -> _Rewrites:
    folder = home / QUARANTINE
    digests: dict[bytes, bytes] = {}
    names = names_in(folder)
    # The bytes first, then the records with their digests.
    for name in sorted(names, key=lambda name: name.endswith(RECORD)):
        found = read_file(folder / name)
        if found is None:
            continue
        told = masked_file(name, found[0], masks, rules)
        if is_database(name):
            # A broken log, or texts that were submitted. Its pages stay where they are, since it may be saved yet.
            told = blanked_database(found[0], masks)
        for former, digest in digests.items() if name.endswith(RECORD) else ():
            told = told.replace(former, digest)
        if told != found[0]:
            digests[hashlib.sha256(found[0]).hexdigest().encode()] = hashlib.sha256(told).hexdigest().encode()
            yield Place("quarantine", folder / name), told


def _copies(home: Path, loaded: Loaded, masks: Masks, rules: InferenceSettings) -> _Rewrites:
    paths = {copy.path for copy in (*conflict_copies(home), *bad_copies(home))} | loaded.broken()
    # What a crash left of a write of ours; whoever has the lock writes none.
    paths |= {temporary for temporary, _ in leftovers(home)}
    for path in sorted(paths):
        found = read_file(path)
        told = masked_file(path.name, found[0], masks, rules) if found is not None else b""
        if found is not None and told != found[0]:
            yield Place("copy", path), told


def _pages(loaded: Loaded, masks: Masks) -> _Rewrites:
    """The pages that are the notes, in the folder of another program."""
    pages = loaded.graph.pages
    if pages is None:
        return
    for name, file in sorted(pages.files.items()):
        if file.text is None:
            if masks.holds(file.data):
                yield Place("untouched", pages.path(name)), None
            continue
        told = masks.text(file.text)
        if told != file.text:
            yield Place("file", pages.path(name)), told.encode()


def _settings(home: Path, masks: Masks) -> _Rewrites:
    """What is typed to be kept: settings, and searches, which bear the titles of notes."""
    for name in (SETTINGS_FILE, SEARCHES_FILE):
        found = read_file(home / name)
        told = masks.data(found[0]) if found is not None else b""
        if found is not None and told != found[0]:
            yield Place("copy", home / name), told


def _untouched(home: Path, known: set[Path], masks: Masks) -> Iterator[Place]:
    """Files in the folder that are nobody's we know and hold a value."""
    ours = {name + side for name in (JOURNAL_FILE, _PIPELINE) for side in SIDE_FILES} | {LOCK_NAME}
    if (home / _PIPELINE).exists() and file_left(home / _PIPELINE, masks) is not None:
        yield Place("untouched", home / _PIPELINE)
    for folder, names, files in os.walk(home):
        if ".git" in names:
            yield Place("untouched", Path(folder, ".git"))
        names[:] = [name for name in names if name not in (".git", BACKUPS, QUARANTINE)]
        for name in files:
            path = Path(folder, name)
            if path in known or (Path(folder) == home and name in ours):
                continue
            try:
                if path.stat().st_size <= _LARGEST and (found := read_file(path)) and masks.holds(found[0]):
                    yield Place("untouched", path)
            except (OSError, NuggetsError):
                continue


# All of it


def _kept(
    home: Path, loaded: Loaded, journal: Journal | None, rules: InferenceSettings
) -> tuple[Scrubbed, ...]:
    """What is kept of former times, and beside the notes and facts."""
    rewrites: tuple[Callable[[Masks], _Rewrites], ...] = (
        lambda masks: _backups(home, masks, rules),
        lambda masks: _quarantined(home, masks, rules),
        lambda masks: _copies(home, loaded, masks, rules),
        lambda masks: _settings(home, masks),
    )
    file = () if journal is None else (_Log(journal, rules),)
    pages = loaded.graph.pages
    beside = () if pages is None else (_Files(pages.folder, lambda masks: _pages(loaded, masks)),)
    return (*file, *(_Files(home, one) for one in rewrites), *beside)


class Folder:
    """The notes and facts, and all that is kept beside them in their folder; these first, the notes last.

    told: becomes the entry of the log, with what of it was changed; the entry is `done` then.
    """

    def __init__(self, store: Store, rules: InferenceSettings, told: ChangeSet, made_by: str) -> None:
        self.done = told
        self._store = store
        self._rules = rules
        self._made_by = made_by

    def places(self, masks: Masks) -> tuple[Place, ...]:
        """Where the values stand at present; writes nothing. Raises StorageError, BrokenJournalError."""
        loaded, home = self._store.loaded, self._store.home
        kept = _kept(home, loaded, self._store.journal, self._rules)
        places = [place for one in kept for place in one.places(masks)]
        for document in loaded.documents().values():
            told = masked_document(document, masks, self._rules)
            if told is not document:
                count = sum(one != other for one, other in zip(document.raws, told.raws, strict=False))
                places.append(Place("file", document.path, count))
        known = {place.path for place in places} | set(loaded.documents())
        return (*places, *_untouched(home, known, masks))

    def scrub(self, masks: Masks) -> None:
        """Masks the values everywhere in the folder, under the memory's lock; see `mask_folder`."""
        self.done = mask_folder(self._store, masks, self._rules, self.done, self._made_by)


def mask_folder(
    store: Store, masks: Masks, rules: InferenceSettings, told: ChangeSet, made_by: str
) -> ChangeSet:
    """Masks the values everywhere in the folder; `told` becomes the entry of the log, with what of it was changed.

    Under the memory's lock. The entry has the masked text on both sides, so that nothing brings the values back.
    Raises ConflictError when another program keeps changing the files, ReadOnlyError, StorageError, LockTimeoutError;
    doing it again then finishes it.
    """
    for _ in range(_TRIES):
        with locked(store.home):
            session, loaded = store.reconcile_now()
            for name in (BACKUPS, QUARANTINE):
                remove_half_written(store.home / name)
            for kept in _kept(store.home, loaded, session.journal, rules):
                kept.scrub(masks)
            changed = _changed(loaded, masks, rules)
            if not changed:
                return told
            written = _staged(store.home, loaded, changed).carry_out()
            if written is None:
                continue
            entry = _entry(told, loaded, masks)
            session.finish(
                None, entry, by(made_by), loaded, written.loaded, concurrent_changes(session, written, loaded)
            )
            if not written.concurrent_writes:
                # What was replaced holds them still, where the system refused to remove it.
                remove_leftovers(store.home)
            if session.journal is not None:
                with session.journal.transaction(durable=True) as connection:
                    _, entry = session.journal.record(connection, entry, by(made_by))
                if written.concurrent_writes:
                    # What another program wrote in that very instant may hold them again.
                    store.reconcile_now()
                    mask_journal(session.journal, masks, rules)
                    continue
            return entry
    raise ConflictError(
        "another program keeps changing the files", code=ErrorCode.BUSY, where=str(store.home),
        kept="the history and the backups are masked, the notes not yet", todo="mask again",
    )  # fmt: skip


def _changed(loaded: Loaded, masks: Masks, rules: InferenceSettings) -> list[Document]:
    pairs = ((document, masked_document(document, masks, rules)) for document in loaded.documents().values())
    found = [told for document, told in pairs if told is not document]
    # The note graph last: in it stands what is looked for when this is stopped in between.
    return sorted(found, key=lambda document: isinstance(document, GraphDocument))


def _staged(home: Path, loaded: Loaded, steps: list[Document]) -> Write:
    nothing = ChangeSet(id="", at="", author=PERSON, reason="")
    write = Write(home, loaded, nothing, steps)
    write.stage()
    return write


def _entry(told: ChangeSet, loaded: Loaded, masks: Masks) -> ChangeSet:
    """The entry for what was masked: each note and fact as it is now, before and after."""
    notes, facts = [], []
    for note in loaded.snapshot.notes:
        now = masks.note(note)
        if now is not note:
            notes.append(NoteChange(id=now.id, before=now, after=now))
    for nugget in loaded.snapshot.nuggets:
        for fact in nugget.facts:
            held = masks.fact(fact)
            if held is not fact:
                facts.append(FactChange(nugget=nugget.name, key=held.key, before=held, after=held))
    return msgspec.structs.replace(told, notes=tuple(notes), facts=tuple(facts))
