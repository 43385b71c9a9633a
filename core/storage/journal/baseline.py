"""The baseline: the bytes of every note and fact as the journal last saw them; what differs came from outside."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import eq
from pathlib import Path
from typing import Final

from core.model.fact import Fact
from core.model.note import Note
from core.settings import InferenceSettings
from core.storage.files.atomic import Fingerprint
from core.storage.format.documents import (
    Document,
    GraphDocument,
    Loaded,
    NuggetDocument,
    assembled,
    id_of,
    remembered_graph,
    remembered_nugget,
)
from core.storage.journal.codec import fact_item, note_item
from core.storage.journal.journal import PENDING_ENTRIES, Journal

_NOT_IN_STEP: Final = (None, None, None)
_FEW: Final = 4
# What could not be read for a while is still remembered as it was before.
_INSERT: Final = (
    "INSERT INTO seen (file, item, place, raw) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (file, item) DO UPDATE SET place = excluded.place, raw = excluded.raw"
)


@dataclass(frozen=True)
class BaselineFile:
    """One file as it was last seen. `fingerprint` is None while something in it waits to be reconciled."""

    fingerprint: Fingerprint | None
    head: bytes


def named_items(document: Document) -> dict[str, bytes]:
    """The document's notes or facts, each as its bytes under its name, in order. What cannot be read is none: its bytes
    stay in the file, and a file may hold millions of such pieces.
    """
    nugget = _nugget(document)
    pairs = zip(document.items, document.raws, strict=True)
    return {_name(nugget, item): raw for item, raw in pairs if item is not None}


def _nugget(document: Document) -> str:
    return document.meta.name if isinstance(document, NuggetDocument) else ""


def _name(nugget: str, item: Note | Fact) -> str:
    return note_item(item.id) if isinstance(item, Note) else fact_item(nugget, item.key)


def head(document: Document) -> bytes:
    """The file without its notes or facts."""
    return b"".join(document.emptied.to_parts())


def baseline_files(journal: Journal) -> dict[str, BaselineFile]:
    """Every file that was ever seen and not yet seen to be gone."""
    return baseline_and_done(journal)[0]


def baseline_and_done(journal: Journal) -> tuple[dict[str, BaselineFile], bool]:
    """As `baseline_files`, and whether no entry is to be finished; asked of the journal at once."""
    rows = journal.rows(
        f"SELECT file, inode, size, mtime_ns, fields, EXISTS ({PENDING_ENTRIES}) FROM seen_file"
    )
    baseline = {
        file: BaselineFile(Fingerprint(inode, size, mtime) if inode is not None else None, fields)
        for file, inode, size, mtime, fields, _ in rows
    }
    return baseline, not rows[0][5] if rows else not journal.pending_count()


def baseline_raws(journal: Journal, file: str) -> list[bytes]:
    """The bytes of the file's notes or facts as they were last seen, in order."""
    return [row[0] for row in journal.rows("SELECT raw FROM seen WHERE file = ? ORDER BY place", (file,))]


def record_baseline(
    connection: sqlite3.Connection,
    file: str,
    document: Document,
    before: Mapping[str, bytes] | None,
    *,
    fingerprint: Fingerprint | None,
    only: Collection[str] | None = None,
    keep: Collection[str] = (),
) -> None:
    """Remembers a file as it is now. before: what was seen there until now, None when that is not at hand.

    fingerprint: the version; None while something in it waits to be reconciled. only: remembers these names alone.
    keep: names whose former bytes stay remembered.
    """
    now = named_items(document)
    if before is None:
        rows = connection.execute("SELECT item, raw FROM seen WHERE file = ? ORDER BY place", (file,))
        before = dict(rows.fetchall())
    if only is not None:
        keep = {name for name in {*before, *now} if name not in only}
    gone = [name for name in before if name not in now and name not in keep]
    connection.executemany("DELETE FROM seen WHERE file = ? AND item = ?", ((file, name) for name in gone))
    changed = [
        (raw, file, name)
        for name, raw in now.items()
        if name in before and before[name] is not raw and before[name] != raw and name not in keep
    ]
    connection.executemany("UPDATE seen SET raw = ? WHERE file = ? AND item = ?", changed)
    _insert_new(connection, file, now, before, keep)
    _put_version(connection, file, document, fingerprint)


def _put_version(
    connection: sqlite3.Connection, file: str, document: Document, fingerprint: Fingerprint | None
) -> None:
    connection.execute(
        "INSERT INTO seen_file (file, inode, size, mtime_ns, fields) VALUES (?, ?, ?, ?, ?) ON CONFLICT (file) "
        "DO UPDATE SET inode = excluded.inode, size = excluded.size, mtime_ns = excluded.mtime_ns, "
        "fields = excluded.fields",
        (file, *(fingerprint or _NOT_IN_STEP)[:3], head(document)),
    )


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


def record_version(connection: sqlite3.Connection, file: str, document: Document) -> None:
    """Remembers the version of a file in which nothing changed."""
    _put_version(connection, file, document, document.fingerprint)


def record_few(connection: sqlite3.Connection, file: str, was: Document, now: Document) -> bool:
    """As `record_baseline` for a file that was last seen as `was`, when a few things in it changed and nothing moved.

    False, and nothing is done, when it is more than that. Naming ten thousand notes costs as much as writing them.
    """
    old_count, new_count = len(was.raws), len(now.raws)
    changed = _changed_places(was, now)
    if new_count < old_count or len(changed) + new_count - old_count > _FEW:
        return False
    before, after = was.items, now.items
    for place in changed:
        one, other = before[place], after[place]
        if one is None or other is None or id_of(one) != id_of(other):
            return False
    added = [item for item in after[old_count:] if item is not None]
    if len(added) < new_count - old_count:
        return False
    nugget = _nugget(now)
    connection.executemany(
        "UPDATE seen SET raw = ? WHERE file = ? AND item = ?",
        [(now.raws[place], file, _name(nugget, item)) for place in changed if (item := after[place])],
    )
    new = zip(added, now.raws[old_count:], strict=True)
    _append(connection, file, [(_name(nugget, item), raw) for item, raw in new])
    _put_version(connection, file, now, now.fingerprint)
    return True


def _changed_places(was: Document, now: Document) -> Sequence[int]:
    """The places of what is another in both; more than a few need not be all."""
    # What did not change is most often the same object; telling that here takes a thousandth of a loop's time.
    alike = list(map(eq, was.raws, now.raws))
    found: list[int] = []
    with contextlib.suppress(ValueError):
        while len(found) <= _FEW:
            found.append(alike.index(False, found[-1] + 1 if found else 0))
    return found


def _insert_new(
    connection: sqlite3.Connection,
    file: str,
    now: Mapping[str, bytes],
    before: Mapping[str, bytes],
    keep: Collection[str],
) -> None:
    names = list(now)
    stayed = [name for name in before if name in now]
    # New ones at the end, the others in their old order, is by far the commonest: nobody has to move then.
    appended = names[: len(stayed)] == stayed
    new = [(name, raw) for name, raw in now.items() if name not in before and name not in keep]
    _append(connection, file, new)
    if not appended:
        connection.executemany(
            "UPDATE seen SET place = ? WHERE file = ? AND item = ?",
            ((place, file, name) for place, name in enumerate(names)),
        )


def _append(connection: sqlite3.Connection, file: str, named: Iterable[tuple[str, bytes]]) -> None:
    named = tuple(named)
    if not named:
        return
    last = connection.execute("SELECT max(place) FROM seen WHERE file = ?", (file,)).fetchone()[0]
    start = 0 if last is None else last + 1
    connection.executemany(
        _INSERT, ((file, name, place, raw) for place, (name, raw) in enumerate(named, start))
    )


def forget_file(connection: sqlite3.Connection, file: str) -> None:
    """Remembers that a file is gone."""
    connection.execute("DELETE FROM seen WHERE file = ?", (file,))
    connection.execute("DELETE FROM seen_file WHERE file = ?", (file,))


# The fingerprint of no file.
NEVER: Final = Fingerprint(0, 0, 0)


class Baseline:
    """What one journal last saw of the files, as far as this process was there to see it, else as the journal tells."""

    def __init__(self, home: Path, rules: InferenceSettings) -> None:
        self.home = home
        self.rules = rules
        # The files as the journal last saw them, when this object was there to see it.
        self._former: dict[Path, Document] = {}
        self._last_seen: Loaded | None = None

    def forget(self) -> None:
        """The journal was closed: what it saw is read from it the next time."""
        self._former = {}
        self._last_seen = None

    def begin(self, journal: Journal, loaded: Loaded) -> None:
        """Has a new journal remember the files as they are."""
        documents = loaded.documents()
        with journal.transaction(durable=True) as connection:
            for path, document in documents.items():
                record_baseline(connection, self.name(path), document, {}, fingerprint=document.fingerprint)
        self._former = documents

    def remember(self, loaded: Loaded) -> None:
        """Keeps the files as the journal has seen them now, so that they need not be read from it."""
        self._former = loaded.documents()
        self._last_seen = loaded

    def is_remembered(self, path: Path, document: Document | None) -> bool:
        """Whether a document is the very one that the journal has seen, or that is to be written."""
        return document is not None and self._former.get(path) is document

    def put(self, path: Path, document: Document) -> None:
        """Keeps one file as the journal has seen it now."""
        self._former[path] = document

    def name(self, path: Path) -> str:
        """How the journal names a file."""
        return str(path.relative_to(self.home))

    def moved(self, loaded: Loaded, journal: Journal) -> set[str]:
        """Files that are not as they were last seen; those that cannot be read are passed over."""
        return self._moved(loaded, baseline_files(journal))

    def gone(self, loaded: Loaded, journal: Journal) -> set[str]:
        """Files that were seen and that somebody else removed. Pages come back by the note graph."""
        if loaded.graph.pages is not None:
            return set()
        there = {self.name(path) for path in {*loaded.documents(), *loaded.broken()}}
        return {file for (file,) in journal.rows("SELECT file FROM seen_file")} - there

    def in_step(self, loaded: Loaded, journal: Journal) -> bool:
        """Whether no file moved, and no entry is to be finished."""
        baseline, finished = baseline_and_done(journal)
        return finished and not self._moved(loaded, baseline)

    def _moved(self, loaded: Loaded, known_files: Mapping[str, BaselineFile]) -> set[str]:
        broken = {self.name(path) for path in loaded.broken()}
        baseline = {file: one.fingerprint for file, one in known_files.items() if file not in broken}
        now = {self.name(path): made for path, made in loaded.fingerprints().items()}
        known = {self.name(path): document.fingerprint for path, document in self._former.items()}

        def same(file: str) -> bool:
            was, made, own = baseline[file], now.get(file), known.get(file)
            # Of a version that this process saw itself it knows more than the journal remembers.
            written_since = own is not None and own.same_data(was) and own != made
            return was is not None and was.same_data(made) and not written_since

        return {file for file in {*baseline, *now} if file not in baseline or not same(file)}

    def load(self, journal: Journal, loaded: Loaded) -> Loaded:
        """The folder as the journal last saw it; what did not change since is shared with `loaded`."""
        documents = loaded.documents()
        graph = loaded.graph if loaded.graph.broken else GraphDocument(path=loaded.graph.path)
        # A file that cannot be read now says nothing about what was in it.
        nuggets = {path: document for path, document in loaded.nuggets.items() if document.broken}
        for file, one in baseline_files(journal).items():
            path = self.home / file
            if path in nuggets or (path == graph.path and graph.broken):
                continue
            former = self._former.get(path)
            # Of what cannot be read the journal remembers more than the file showed.
            at_hand = (former if former is not None and not former.problems else None, documents.get(path))
            found = next((d for d in at_hand if d is not None and is_version(d, one.fingerprint)), None)
            if found is None:
                found = self.remembered(journal, path, one.head, loaded.graph)
            if isinstance(found, GraphDocument):
                graph = found
            else:
                nuggets[path] = found
        ordered = {path: nuggets[path] for path in sorted(nuggets, key=lambda path: path.name)}
        last = self._last_seen
        if last is not None and last.graph is graph and _same(last.nuggets, ordered):
            return last
        return assembled(self.home, graph, ordered, loaded)

    def remembered(self, journal: Journal, path: Path, head: bytes, graph: GraphDocument) -> Document:
        """A file as the journal holds it, with the last readable version of what cannot be read any more."""
        raws = baseline_raws(journal, self.name(path))
        if path != graph.path:
            return remembered_nugget(path, head, raws)
        # A version of no file, but of one that was there.
        return replace(remembered_graph(path, head, raws, self.rules, graph), fingerprint=NEVER)


def is_version(document: Document, made: Fingerprint | None) -> bool:
    """Whether a document is the version of its file that the journal knows."""
    return made is document.fingerprint or (made is not None and made.same_data(document.fingerprint))


def _same(some: Mapping[Path, Document], others: Mapping[Path, Document]) -> bool:
    """Whether both hold the very same documents."""
    return some.keys() == others.keys() and all(some[path] is others[path] for path in some)
