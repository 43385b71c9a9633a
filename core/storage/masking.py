"""Masks credentials in the files and the history of a folder, and searches its files for what still holds a value."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import io
import os
import re
import sqlite3
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec

from core.errors import ConflictError, ErrorCode, NuggetsError
from core.folder import DATABASE_FILE, QUARANTINE
from core.model.change import PERSON, ChangeSet, FactChange, NoteChange
from core.model.masks import Masks
from core.model.saved_search import SEARCHES_FILE
from core.settings import SETTINGS_FILE, InferenceSettings
from core.storage.database import BUSY_SECONDS, DATABASE_ERRORS, SIDE_FILES
from core.storage.files import atomic
from core.storage.files.atomic import read_file
from core.storage.files.side_folders import names_in
from core.storage.format.codec import ItemError, read_note, write_note
from core.storage.format.documents import Document, GraphDocument, read_graph, read_nugget
from core.storage.journal import codec
from core.storage.journal.schema import HISTORY_TABLES
from core.storage.merge.copies import conflict_copies
from core.storage.safety import BACKUPS, DAMAGE, RECORD
from core.storage.writing import Write

if TYPE_CHECKING:
    from core.storage.format.documents import Loaded
    from core.storage.journal.journal import Journal
    from core.storage.store import Store

_ZLIB: Final = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_LARGEST: Final = 1 << 30
_LARGEST_PRESSED: Final = 64_000_000

Row = Mapping[str, Any]
# Given a table, the key of a row, and the columns that change.
WriteRow = Callable[[str, Row, Row], object]


def mask_rows(
    ask: Callable[[str], Sequence[Any]],
    masked: Callable[[str, Row], Row],
    write: WriteRow | None = None,
    tables: Iterable[str] | None = None,
) -> Counter[str]:
    """Writes each row of the tables that `masked` makes another one of; how many there are of each table.

    ask: answers a query with rows. write: None only counts. tables: all by default, but SQLite's own.
    """
    counts: Counter[str] = Counter()
    for table in own_tables(ask) if tables is None else tables:
        columns = ask(f"PRAGMA table_info({table})")
        names = [column[1] for column in columns]
        keys = [column[1] for column in columns if column[5]] or ["rowid"]
        for values in ask(f"SELECT {', '.join([*names, *keys])} FROM {table}"):
            row = dict(zip(names, values, strict=False))
            changes = {name: told for name, told in masked(table, row).items() if told != row[name]}
            if changes:
                counts[table] += 1
                if write is not None:
                    write(table, dict(zip(keys, values[len(names) :], strict=True)), changes)
    return counts


def own_tables(ask: Callable[[str], Sequence[Any]]) -> list[str]:
    """The tables without those that SQLite keeps for itself and for full-text indexes."""
    rows = ask("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")
    return [row[0] for row in rows if not row[0].startswith("sqlite_")]


def update_row(connection: sqlite3.Connection, clash: str, table: str, key: Row, changes: Row) -> None:
    """Changes columns of one row. clash: what becomes of a row that would be the same, in SQL's words."""
    columns = ", ".join(f"{name} = ?" for name in changes)
    where = " AND ".join(f"{name} IS ?" for name in key)
    values = (*changes.values(), *key.values())
    connection.execute(f"UPDATE OR {clash} {table} SET {columns} WHERE {where}", values)


def masked_cell(cell: Any, masks: Masks) -> Any:
    """A cell of a table, pressed or not, with the values masked; the same one when it holds none."""
    if isinstance(cell, str):
        return masks.data(cell.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    if not isinstance(cell, bytes):
        return cell
    with contextlib.suppress(zlib.error):
        text = zlib.decompress(cell) if _ZLIB.match(cell) else cell
        told = masks.data(text)
        return cell if told == text else told if text is cell else zlib.compress(told)
    return masks.data(cell)


class Left(NamedTuple):
    """A file that holds a value after all, or that cannot be looked into."""

    path: Path
    why: Literal["holds", "unreadable"]


def files_left(folders: Iterable[Path], masks: Masks) -> Iterator[Left]:
    """The files under these folders that hold a value, or that cannot be looked into. Never raises."""
    refused: list[OSError] = []
    for folder in folders:
        for within, _, names in os.walk(folder, onerror=refused.append):
            found = (file_left(Path(within, name), masks) for name in sorted(names))
            yield from (left for left in found if left is not None)
    for error in refused:
        if not isinstance(error, FileNotFoundError):
            yield Left(Path(error.filename), "unreadable")


def file_left(path: Path, masks: Masks) -> Left | None:
    """The same for one file. It is read as what it is: text, an archive, a database row by row."""
    try:
        # The index of a log of writes holds numbers alone, a socket nothing.
        if path.is_symlink() or not path.is_file() or path.name.endswith("-shm"):
            return None
        if path.name == DATABASE_FILE:
            holds = _database_holds(path, masks, "ro")
        else:
            if path.stat().st_size > _LARGEST:
                return Left(path, "unreadable")
            found = read_file(path)
            data = found[0] if found is not None else b""
            holds = _holds(data, masks)
            if not holds and data.startswith(b"SQLite format 3\0"):
                holds = _database_holds(path, masks, "ro&immutable=1")
    except (*DATABASE_ERRORS, *DAMAGE, NuggetsError):
        # One that is gone by now holds nothing.
        return Left(path, "unreadable") if os.path.lexists(path) else None
    return Left(path, "holds") if holds else None


def _holds(data: bytes, masks: Masks) -> bool:
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(_holds(archive.read(name), masks) for name in archive.namelist())
    if data.startswith(b"\x1f\x8b"):
        return masks.holds(gzip.decompress(data))
    if b"\0" in data or _ZLIB.match(data):
        # An object of git, a pack of them, a log of writes: what stands pressed in it is looked at, too.
        return masks.stands_in(data) or any(map(masks.stands_in, _unpressed(data)))
    return masks.holds(data)


def _unpressed(data: bytes) -> Iterator[bytes]:
    for found in _ZLIB.finditer(data):
        with contextlib.suppress(zlib.error):
            yield zlib.decompressobj().decompress(memoryview(data)[found.start() :], _LARGEST_PRESSED)


def _database_holds(path: Path, masks: Masks, mode: str) -> bool:
    # One in use through SQLite alone: closing the file would take away the locks that this process has on it.
    address = f"{path.absolute().as_uri()}?mode={mode}"
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as reader:
        tables = own_tables(lambda query: reader.execute(query).fetchall())
        reader.text_factory = bytes
        cells = (cell for table in tables for row in reader.execute(f"SELECT * FROM {table}") for cell in row)
        # What was deleted lies in the pages still.
        return any(masked_cell(cell, masks) != cell for cell in cells) or masks.stands_in(reader.serialize())


What = Literal["file", "log", "backup", "quarantine", "copy", "page", "pipeline", "untouched"]
_DELETED: Final[dict[str, What]] = {BACKUPS: "backup", QUARANTINE: "quarantine"}
_TRIES: Final = 20
REASON: Final = "masked a secret"
# What an error says in the midst of it.
HALFWAY: Final = "some of it may be masked already; nothing else was changed"
GO_ON: Final = "mask again to finish it"


@dataclass(frozen=True)
class Place:
    """Where credentials stand. count: of how many things (entries of the history, notes and facts, rows of a table).

    what: "untouched" for what is not masked, since it is not ours or cannot be read. part: of a database, its table.
    deleted: it is not masked but deleted.
    """

    what: What
    path: Path
    count: int = 1
    part: str = ""
    deleted: bool = False


# Notes, facts and their files


def _masked_raw(raw: bytes, is_note: bool, masks: Masks, rules: InferenceSettings) -> bytes:
    """The bytes of a note or fact with the values masked; of a note, its tags and vector's recipe in step."""
    if is_note and masks.may_hold(raw):
        with contextlib.suppress(ItemError):
            note = read_note(raw, rules)
            told = masks.note(note)
            raw = raw if told is note else write_note(told, note, raw)
    return masks.data(raw)


def _masked_document(document: Document, masks: Masks, rules: InferenceSettings) -> Document:
    """A file with the values masked in it; the same one when it holds none."""
    is_graph = isinstance(document, GraphDocument)
    raws = tuple(_masked_raw(raw, is_graph, masks, rules) for raw in document.raws)
    listed = "notes" if is_graph else "facts"
    fields = {name: value if name == listed else masks.data(value) for name, value in document.fields.items()}
    if raws == document.raws and fields == document.fields:
        return document
    data = b"".join(dataclasses.replace(document, raws=raws, fields=fields).to_parts())
    if not isinstance(document, GraphDocument):
        return read_nugget(document.path, data, document.fingerprint)
    made = read_graph(document.path, data, document.fingerprint, rules)
    if document.pages is None:
        return made
    known = zip(document.notes, made.notes, strict=True)
    notes = tuple(None if former is None else note for former, note in known)
    return dataclasses.replace(document, raws=made.raws, fields=made.fields, items=notes)


# The history


def _mask_rows(
    journal: Journal, masks: Masks, rules: InferenceSettings, write: WriteRow | None = None
) -> Counter[str]:
    def masked(table: str, row: Row) -> Row:
        told = {name: masked_cell(value, masks) for name, value in row.items()}
        if table == "entry":
            body = _masked_body(row["body"], masks)
            told |= {"body": body, "size": len(body) if body != row["body"] else row["size"]}
        elif table == "seen":
            told["raw"] = _masked_raw(row["raw"], row["item"].startswith("n "), masks, rules)
        return told

    return mask_rows(journal.rows, masked, write, HISTORY_TABLES)


def _masked_body(body: bytes, masks: Masks) -> bytes:
    """A change set's bytes, pressed or not, with the values masked; the same bytes when it holds none."""
    with contextlib.suppress(ValueError):
        # Read whole: files stand in it in base64.
        change_set = codec.read_change_set(body)
        masked = masks.change_set(change_set)
        body = body if masked is change_set else codec.write_change_set(masked)
    return bytes(masked_cell(body, masks))


def _mask_journal(journal: Journal, masks: Masks, rules: InferenceSettings) -> None:
    """Masks the values in every row, in one step, and makes the database anew, so that nothing of them is left in the
    file or beside it. Raises StorageError, BrokenJournalError.
    """
    journal.rows("PRAGMA secure_delete = ON")
    with journal.transaction() as connection:
        # Of two that are the same once they are masked, one stays.
        _mask_rows(journal, masks, rules, partial(update_row, connection, "REPLACE"))
    journal.vacuum()
    journal.empty_log()


# What stands beside notes and facts


def _beside(home: Path, loaded: Loaded, masks: Masks) -> Iterator[tuple[Place, bytes | None]]:
    """The files that hold a value, and what is to stand in each; None for one that is deleted."""
    kept = [
        (what, home / folder / name) for folder, what in _DELETED.items() for name in names_in(home / folder)
    ]
    # Whoever has the lock writes none of them.
    kept += [("copy", temporary) for temporary, _ in atomic.leftovers(home)]
    left = (file_left(path, masks) for _, path in kept)
    held = {str(one.path).removesuffix(RECORD) for one in left if one is not None and one.why == "holds"}
    for what, path in kept:
        # Bytes and their record go together.
        if str(path).removesuffix(RECORD) in held:
            yield Place(what, path, deleted=True), None
    copies = {copy.path for copy in conflict_copies(home)} | loaded.broken()
    for path in (*sorted(copies), home / SETTINGS_FILE, home / SEARCHES_FILE):
        found = atomic.read_file(path)
        told = masks.data(found[0]) if found is not None else b""
        if found is not None and told != found[0]:
            yield Place("copy", path), told
    pages = loaded.graph.pages
    for name, file in sorted(pages.files.items()) if pages is not None else ():
        # The pages that are the notes, in the folder of another program.
        if pages is not None and file.text is not None and masks.text(file.text) != file.text:
            yield Place("file", pages.path(name)), masks.text(file.text).encode()


def _mask_beside(home: Path, loaded: Loaded, masks: Masks) -> None:
    for place, data in _beside(home, loaded, masks):
        pages = loaded.graph.pages
        target = atomic.write_target(pages.folder if place.what == "file" and pages else home, place.path)
        if data is None:
            target.unlink(missing_ok=True)
        else:
            atomic.replace_file(target, data, mode=target.stat().st_mode & 0o777)


# All of it


def places(store: Store, masks: Masks, rules: InferenceSettings) -> tuple[Place, ...]:
    """Where the values stand in the folder at present; writes nothing. Raises StorageError, BrokenJournalError."""
    loaded, journal, git = store.loaded, store.journal, store.home / ".git"
    found = [place for place, _ in _beside(store.home, loaded, masks)]
    for document in loaded.documents().values():
        told = _masked_document(document, masks, rules)
        if told is not document:
            count = sum(one != other for one, other in zip(document.raws, told.raws, strict=False))
            found.append(Place("file", document.path, count))
    known = {place.path for place in found}
    if journal is not None:
        known |= {journal.path.with_name(journal.path.name + side) for side in SIDE_FILES}
        counts = _mask_rows(journal, masks, rules)
        found += [Place("log", journal.path, counts["entry"])] if counts else []
    left = [one.path for one in files_left([store.home], masks) if not one.path.is_relative_to(git)]
    # What former commits hold is masked by nobody.
    left += [git] if git.exists() else []
    return (*found, *(Place("untouched", path) for path in left if path not in known))


def mask_folder(
    store: Store, masks: Masks, rules: InferenceSettings, told: ChangeSet, made_by: str
) -> ChangeSet:
    """Masks the values everywhere in the folder; `told` becomes the entry of the history, with what of it was changed.

    Under the memory's lock. The entry has the masked text on both sides, so that nothing brings the values back.
    Raises ConflictError when another program keeps changing the files, ReadOnlyError, StorageError, LockTimeoutError;
    doing it again then finishes it.
    """
    for _ in range(_TRIES):
        with atomic.locked(store.home):
            journal, loaded = store.reconcile_now()
            if journal.is_open:
                _mask_journal(journal, masks, rules)
            _mask_beside(store.home, loaded, masks)
            pairs = ((one, _masked_document(one, masks, rules)) for one in loaded.documents().values())
            changed = [told for document, told in pairs if told is not document]
            if not changed:
                return told
            # The note graph last: in it stands what is looked for when this is stopped in between.
            changed.sort(key=lambda document: isinstance(document, GraphDocument))
            write = Write(store.home, loaded, ChangeSet(id="", at="", author=PERSON, reason=""), changed)
            with write.staged_files():
                written = write.carry_out()
            if written is None:
                continue
            entry = _entry(told, loaded, masks)
            moved = store.finish(entry, made_by, loaded, written)
            if not moved:
                # What was replaced holds them still, where the system refused to remove it.
                atomic.remove_leftovers(store.home)
            if journal.is_open:
                entry = journal.note_down(entry, codec.by(made_by))
                if moved:
                    # What another program wrote in that very instant may hold them again.
                    store.reconcile_now()
                    _mask_journal(journal, masks, rules)
                    continue
            return entry
    raise ConflictError(
        "another program keeps changing the files", code=ErrorCode.LOCKED, where=str(store.home),
        kept="the history is masked, the notes not yet", todo="mask again",
    )  # fmt: skip


def _entry(told: ChangeSet, loaded: Loaded, masks: Masks) -> ChangeSet:
    """The entry for what was masked: each note and fact as it is now, before and after."""
    notes = [masked for note in loaded.snapshot.notes if (masked := masks.note(note)) is not note]
    facts = [
        FactChange(nugget=nugget.name, key=now.key, before=now, after=now)
        for nugget in loaded.snapshot.nuggets
        for fact in nugget.facts
        if (now := masks.fact(fact)) is not fact
    ]
    changes = tuple(NoteChange(id=note.id, before=note, after=note) for note in notes)
    return msgspec.structs.replace(told, notes=changes, facts=tuple(facts))
