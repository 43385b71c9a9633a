"""The baseline's rows: the bytes of every note and fact as the history last saw them; what differs came from outside.

All that writes is called within a transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import eq
from typing import Final, NamedTuple

from core.model.fact import Fact
from core.model.note import Note
from core.storage.files.atomic import Fingerprint
from core.storage.format.documents import Document, GraphDocument, NuggetDocument
from core.storage.journal.codec import fact_item, note_item, write_rows

_NOT_IN_STEP: Final = (None, None, None)
# A new one comes last; what could not be read for a while keeps the place that it had.
_ITEM: Final = "(?, ?, (SELECT coalesce(max(place), -1) + ? FROM seen WHERE file = ?), ?)"


class SeenFile(NamedTuple):
    """One file as it was last seen. fingerprint: None while something in it waits to be reconciled. head: the file
    without its notes or facts.
    """

    fingerprint: Fingerprint | None
    head: bytes


class FileRows(NamedTuple):
    """What is to be written of one file. fingerprint: as of `SeenFile`. gone, put: its notes and facts by name. order:
    all of them, where some stand elsewhere than they did.
    """

    file: str
    head: bytes
    fingerprint: Fingerprint | None
    gone: Collection[str] = ()
    put: Mapping[str, bytes] = {}
    order: Sequence[str] = ()


def named_items(document: Document, start: int = 0, end: int | None = None) -> dict[str, bytes]:
    """The document's notes or facts, each as its bytes under its name, in order. What cannot be read is none: its bytes
    stay in the file, and a file may hold millions of such pieces. start, end: the places of those that are wanted.
    """
    nugget = document.meta.name if isinstance(document, NuggetDocument) else ""
    pairs = zip(document.items[start:end], document.raws[start:end], strict=True)
    return {_name(nugget, item): raw for item, raw in pairs if item is not None}


def _name(nugget: str, item: Note | Fact) -> str:
    return note_item(item.id) if isinstance(item, Note) else fact_item(nugget, item.key)


def kept_names(document: Document, before: Mapping[str, bytes]) -> frozenset[str]:
    """Names whose bytes stay remembered as they were seen `before`, although the file does not show them now.

    A note stays while its id is set aside. Of a fact file in which something cannot be read every fact stays that is
    not there: any of them may be the one that cannot be read, and none is called removed until the file is whole.
    """
    if not any(problem.kind.unreadable for problem in document.problems):
        return frozenset()
    now = named_items(document)
    missing = frozenset(name for name in before if name not in now)
    if isinstance(document, GraphDocument):
        return missing & {note_item(id) for id in document.set_aside}
    return missing


def file_rows(
    file: str,
    was: Document | Mapping[str, bytes] | None,
    now: Document,
    *,
    fingerprint: Fingerprint | None,
    only: Collection[str] | None = None,
) -> FileRows:
    """What makes the rows of a file say what it is now. was: as it was last seen, or its rows; None for nothing.
    only: names of what is remembered; all else stays as it is.
    """
    if isinstance(was, GraphDocument | NuggetDocument):
        start, behind = _alike(was, now)
        before = named_items(was, start, len(was.raws) - behind)
        after = named_items(now, start, len(now.raws) - behind)
    else:
        start, behind, before, after = 0, 0, dict(was or {}), named_items(now)
    gone = [name for name in before if name not in after and (only is None or name in only)]
    put = {
        name: raw for name, raw in after.items() if (only is None or name in only) and before.get(name) != raw
    }
    stayed = [name for name in before if name in after]
    # New ones at the end, the others in their old order, is by far the commonest: nobody has to move then.
    appended = list(after)[: len(stayed)] == stayed and not (behind and len(after) > len(stayed))
    order = [] if appended else list(named_items(now))
    return FileRows(file, b"".join(now.emptied.to_parts()), fingerprint, gone, put, order)


def _alike(was: Document, now: Document) -> tuple[int, int]:
    """How many of the first and of the last notes or facts are the same in both.

    Naming ten thousand notes costs as much as writing them, and what did not change is most often the same object.
    """
    if was.problems or now.problems or type(was) is not type(now):
        return 0, 0
    if isinstance(was, NuggetDocument) and isinstance(now, NuggetDocument) and was.meta.name != now.meta.name:
        return 0, 0
    most = min(len(was.raws), len(now.raws))
    start = _leading(map(eq, was.raws, now.raws), most)
    return start, _leading(map(eq, reversed(was.raws), reversed(now.raws)), most - start)


def _leading(alike: Iterable[bool], most: int) -> int:
    found = list(alike)[:most]
    return found.index(False) if False in found else len(found)


def write_baseline(connection: sqlite3.Connection, files: Sequence[FileRows]) -> None:
    """Remembers files as they are now."""
    for one in files:
        named = ((one.file, name) for name in one.gone)
        connection.executemany("DELETE FROM seen WHERE file = ? AND item = ?", named)
    rows = [
        (one.file, name, place, one.file, raw)
        for one in files
        for place, (name, raw) in enumerate(one.put.items(), 1)
    ]
    insert = "INSERT INTO seen (file, item, place, raw) VALUES"
    write_rows(connection, insert, _ITEM, rows, "ON CONFLICT (file, item) DO UPDATE SET raw = excluded.raw")
    for one in files:
        placed = ((place, one.file, name) for place, name in enumerate(one.order))
        connection.executemany("UPDATE seen SET place = ? WHERE file = ? AND item = ?", placed)
    versions = [(one.file, *(one.fingerprint or _NOT_IN_STEP)[:3], one.head) for one in files]
    insert = "INSERT OR REPLACE INTO seen_file (file, inode, size, mtime_ns, fields) VALUES"
    write_rows(connection, insert, "(?, ?, ?, ?, ?)", versions)


def seen_rows(connection: sqlite3.Connection, file: str) -> dict[str, bytes]:
    """A file's notes or facts by name, as they were last seen, in order."""
    rows = connection.execute("SELECT item, raw FROM seen WHERE file = ? ORDER BY place", (file,))
    return dict(rows.fetchall())


def forget_file(connection: sqlite3.Connection, file: str) -> None:
    """Remembers that a file is gone."""
    connection.execute("DELETE FROM seen WHERE file = ?", (file,))
    connection.execute("DELETE FROM seen_file WHERE file = ?", (file,))
