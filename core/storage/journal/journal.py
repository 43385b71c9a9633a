"""The history of a memory: every change set that was ever applied, what is pending, and the baseline, which is what was
last seen of the files. All of it lies in the memory's database.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack

from core.errors import (
    AmbiguousError,
    ConflictError,
    NotFoundError,
    Notice,
    NuggetsError,
    Remedy,
    StorageError,
)
from core.folder import DATABASE_FILE
from core.model.change import Author, ChangeKind, ChangeSet, FileRepair
from core.model.change_parts import change_parts, referenced_parts
from core.model.entry import Conflict, Entry, EntryState
from core.model.names import iso
from core.settings import InferenceSettings
from core.storage.database import BUSY_SECONDS, DATABASE_ERRORS, Database, ForeignDatabaseError, may_write
from core.storage.files.atomic import Fingerprint, can_be_locked
from core.storage.format.codec import ItemError, read_fact
from core.storage.format.documents import (
    Document,
    GraphDocument,
    Loaded,
    assembled,
    remembered_graph,
    remembered_nugget,
    with_changes,
)
from core.storage.journal.baseline import (
    FileRows,
    SeenFile,
    file_rows,
    forget_file,
    named_items,
    seen_rows,
    write_baseline,
)
from core.storage.journal.codec import (
    ENTRY_COLUMNS,
    OUTSIDE,
    EntryFilters,
    Maker,
    Pending,
    Stage,
    by,
    delete_entry,
    entries_of,
    fold_recalls,
    insert_entry,
    items_of,
    names_words,
    read_change_set,
    read_maker,
    read_stages,
    touch,
    which_entries,
    write_change_set,
    write_conflict,
    write_stages,
)
from core.storage.journal.schema import HISTORY, BrokenJournalError, unreadable
from core.storage.merge.merge import rebase
from core.storage.merge.three_way import conflict_of, take_ours
from core.storage.safety import BACKUPS
from core.text.normalise import encodable

if TYPE_CHECKING:
    pass

# What is written into other tables with an entry, given the connection and the entry's id.
Beside = Callable[[sqlite3.Connection, str], None]
FOLDER_NAME: Final = "folder"
_WITHOUT_LOCKS: Final = "without locks"
_WRITTEN: Final = "the change itself is written, and the history records it when the memory is next opened"
# The second half says nothing new but to SQLite: the index of what is not done holds these, and no scan is needed.
_PENDING: Final = "state = 'pending' AND state <> 'done'"
_ANY: Final = f"EXISTS (SELECT 1 FROM entry WHERE {_PENDING})"
_FILES: Final = f"SELECT file, inode, size, mtime_ns, fields, {_ANY} FROM seen_file"
# So many of somebody's own entries are looked for at a time.
_MINE_AT_ONCE: Final = 200
# The fingerprint of no file.
_NEVER: Final = Fingerprint(0, 0, 0)


class Mark(NamedTuple):
    """One entry that was carried out. recall: it moved nothing but the counts of recalls."""

    seq: int
    id: str
    at: str
    recall: bool


@dataclass(frozen=True)
class Attribution:
    """Whom a difference between what was seen and the files is put down to, when it was no other program's."""

    author: Author
    kind: ChangeKind
    reason: str
    mends: tuple[FileRepair, ...] = ()


class Journal(Database):
    """The history of one folder. It is written only while the memory's lock is held, and closed until it is wanted.
    Several threads may read: one at a time, since SQLite crashes when a connection is closed that another thread is
    reading through.

    rules: by which metadata of notes is inferred. clock, ids: the time, and eight new hexadecimal digits. attribution:
    whom what is found changed is put down to; None for other programs. problem: why it cannot be read though there is
    one; None when it can, and when there is none.
    """

    def __init__(
        self,
        home: Path,
        rules: InferenceSettings | None = None,
        *,
        clock: Callable[[], datetime] | None = None,
        ids: Callable[[], str] | None = None,
        read_only: bool = False,
    ) -> None:
        super().__init__(home / DATABASE_FILE, HISTORY, read_only=read_only)
        self.home = home
        self.rules = rules or InferenceSettings()
        self.ids = ids or (lambda: os.urandom(4).hex())
        self.clock = clock or (lambda: datetime.now(UTC))
        self.attribution: Attribution | None = None
        self.problem: NuggetsError | None = None
        self._notices: dict[str, None] = {}
        # Why it could not be written, in words, until it can be; "" for nothing.
        self._not_written = ""
        # Whether what is open is this memory's.
        self._known = False
        # Whether what a crash left was cleared away since it was opened.
        self.is_settled = False
        # What is undone, as of an entry.
        self._undone: tuple[int, frozenset[str]] = (0, frozenset())
        # The files as they were last seen, when this object was there to see it.
        self._former: dict[Path, Document] = {}

    def at(self) -> str:
        """The time that entries made here bear."""
        return iso(self.clock())

    # What a person should know

    def tell(self, notice: str) -> None:
        """Keeps a notice until somebody asks, each once."""
        self._notices.setdefault(notice)

    def tell_error(self, error: NuggetsError) -> None:
        """Keeps what went wrong aside from what was asked for. What was kept safe of that is not known here."""
        self.tell(Notice.of(error))

    def tell_not_written(self, error: NuggetsError) -> None:
        """Keeps that the history cannot be written, until it can be."""
        self._not_written = Notice.of(error)

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call."""
        taken = tuple(dict.fromkeys([*self._notices, *filter(None, [self._not_written])]))
        self._notices, self._not_written = {}, ""
        return taken

    # Opening

    @property
    def is_open(self) -> bool:
        """Whether it can be asked: not before the first change of a memory that is empty or cannot be written."""
        return self._connection is not None

    def _connect(self) -> sqlite3.Connection:
        connection = super()._connect()
        connection.create_function("says", 2, names_words, deterministic=True)
        return connection

    def close(self) -> None:
        """Closes it until it is wanted again; what it saw of the files is read from it then."""
        super().close()
        self._known, self.is_settled, self._undone = False, False, (0, frozenset())
        self._former = {}

    def wanted(self, loaded: Loaded) -> bool:
        """Whether there is something to keep a history of, and a place to keep it."""
        return (bool(loaded.documents()) or self.path.exists()) and os.access(self.home, os.W_OK)

    def open(self, loaded: Loaded) -> None:
        """Opens it for writing, or begins one. A broken one is set aside with its bytes, and a new one begun. Under the
        lock. Raises StorageError, ReadOnlyError.
        """
        self._close_replaced()
        if self.is_open and self.read_only:
            self.close()
        try:
            if not self.is_open:
                if self.is_gone(loaded):
                    self._tell_gone()
                self._open_file()
            if not self._known:
                self._check_belongs(loaded)
            self._begin(loaded)
        except BrokenJournalError as error:
            self.start_over(error, loaded)
        self._not_written = ""

    def open_to_read(self) -> None:
        """Opens it where nothing may be written; `problem` says why when it cannot be read either."""
        self._close_replaced()
        if self.is_open or not os.path.lexists(self.path) or (self.path.exists() and self._is_missing):
            return
        try:
            self._open_file(read_only=True)
        except NuggetsError:
            pass
        except BrokenJournalError as error:
            self.close()
            self.problem = problem = unreadable(self.path, str(error))
            problem.damaged = not isinstance(error, ForeignDatabaseError)

    def start_over(self, error: BrokenJournalError, loaded: Loaded) -> None:
        """Sets a broken one aside and begins anew from the files as they are. Under the lock. Raises StorageError."""
        try:
            if notice := self.begin_anew(error):
                self.tell(notice)
            self.problem = None
            self._begin(loaded)
        except BrokenJournalError as again:
            raise StorageError(
                f"the history cannot be started ({again})", where=str(self.path), kept="nothing was written"
            ) from again

    def _open_file(self, *, read_only: bool = False) -> None:
        self.read_only = read_only or (self.path.is_file() and not may_write(self.path))
        try:
            self.connect()
        except NuggetsError as error:
            self.problem = error
            raise
        self.problem = None

    def _close_replaced(self) -> None:
        if self.is_open and self.replaced:
            self.close()
            if not self.path.exists():
                self._tell_gone()

    def is_gone(self, loaded: Loaded) -> bool:
        """Whether a memory that had a history has none any more."""
        # Only who keeps one makes backups; the lock is taken by others as well.
        return self._is_missing and (self.home / BACKUPS).is_dir() and bool(loaded.documents())

    def _tell_gone(self) -> None:
        self.tell(Notice("the history is missing; a new one starts now", where=str(self.path)))

    @property
    def _is_missing(self) -> bool:
        """Whether there is no file, or only an empty one in its place."""
        try:
            return self.path.stat().st_size == 0
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def _begin(self, loaded: Loaded) -> None:
        """Has it bear the number of its folder, and remember the files as they are if it knows none."""
        said = {} if self._known else {FOLDER_NAME: self._number}
        if said and not can_be_locked(self.home) and self.meta(_WITHOUT_LOCKS) is None:
            said[_WITHOUT_LOCKS] = "said"
            told = "this file system has no locks: change the memory from one machine at a time"
            self.tell(Notice(told, where=str(self.home)))
        said = {name: value for name, value in said.items() if self.meta(name) != value}
        if said:
            with self.transaction(lasting=False):
                for name, value in said.items():
                    self.keep_meta(name, value)
        self._known = True
        if not self.rows("SELECT 1 FROM seen_file LIMIT 1"):
            documents = loaded.documents()
            rows = [
                file_rows(self.name(path), None, document, fingerprint=document.fingerprint)
                for path, document in documents.items()
            ]
            with self.transaction() as connection:
                write_baseline(connection, rows)
            self._former = documents

    @property
    def _number(self) -> str:
        """What tells the folder from all others, a copy of it too."""
        found = self.home.stat()
        return f"{found.st_dev} {found.st_ino}"

    def _check_belongs(self, loaded: Loaded) -> None:
        """Raises ForeignDatabaseError where a history of another folder saw other notes and facts than this one has.

        A folder is known by its number in the file system. So a database that somebody put into another folder is
        looked at, as is that of a folder which was copied or moved; who changed all notes by hand loses no history.
        """
        if self.meta(FOLDER_NAME) == self._number:
            return
        if loaded.broken() or any(document.problems for document in loaded.documents().values()):
            return
        baseline = {file: one.fingerprint for file, one in self.seen_files().items()}
        now = {self.name(path): made for path, made in loaded.fingerprints().items()}
        if any(made is not None and made == now.get(file) for file, made in baseline.items()):
            return
        known = dict(_identity_of(item, raw) for item, raw in self.rows("SELECT item, raw FROM seen"))
        every = (named_items(document).items() for document in loaded.documents().values())
        held = dict(_identity_of(*one) for items in every for one in items)
        shared = sum(name in known and known[name] == value for name, value in held.items())
        # A history of long ago knows few of many notes, and one from before a great clearing many more than there are.
        if 2 * shared < min(len(known), len(held)):
            raise ForeignDatabaseError("belongs to another memory")

    @contextlib.contextmanager
    def busy_timeout(self, seconds: float | None) -> Iterator[None]:
        """Within this, waits no longer than that for another program that writes the database; None: as usual."""
        if not self.is_open or seconds is None:
            yield
            return
        try:
            self.rows(f"PRAGMA busy_timeout = {round(seconds * 1000)}")
            yield
        finally:
            with contextlib.suppress(sqlite3.Error, NuggetsError, BrokenJournalError):
                self.rows(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}")

    def rows(self, statement: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Any]:
        """What a SELECT gives. Raises BrokenJournalError, StorageError, LockTimeoutError, ReadOnlyError."""
        with self.turn:
            try:
                return (self._connection or self.connect()).execute(statement, values).fetchall()
            except DATABASE_ERRORS as error:
                raise self.meaning(error) from error

    # Writing entries

    def begin(
        self,
        change_set: ChangeSet,
        made_by: Maker,
        stages: Mapping[str, Stage],
        seq: int | None = None,
        beside: Beside | None = None,
    ) -> tuple[int, ChangeSet]:
        """Records durably what is about to be written: from here on the change will be in the files, whatever happens.
        Returns the entry's number, and the change set under the id that it has here.

        seq: the entry that is pending already, and gets the shape that it will have. beside: what else is written in
        the same transaction; what it raises leaves nothing behind.
        """
        with self.transaction() as connection:
            if seq is not None:
                body = write_change_set(change_set)
                connection.execute(
                    "UPDATE entry SET body = ?, size = ?, staged = ? WHERE seq = ?",
                    (body, len(body), write_stages(stages), seq),
                )
                touch(connection, seq, change_set)
                return seq, change_set
            seq, kept = insert_entry(connection, change_set, made_by, "pending", stages=stages)
            if beside is not None:
                beside(connection, kept.id)
            return seq, kept

    def abandon(self, seq: int) -> None:
        """Removes what `begin` recorded: nothing was written."""
        with self.transaction(lasting=False) as connection:
            delete_entry(connection, seq)

    def finish(
        self,
        seq: int | None,
        entry: ChangeSet,
        made_by: Maker,
        before: Loaded,
        after: Loaded | None = None,
        take_in_replaced: Callable[[sqlite3.Connection], None] | None = None,
    ) -> None:
        """Marks the entry (seq None: it is in the history already) as done and remembers that the files have it, in one
        step.

        after: the files as they were written, None for nothing. take_in_replaced: puts down what other programs
        wanted that wrote in the same instant, judged before the entry counts as done.

        When the history cannot be written any more, the entry stays pending and is reconciled at the next opening.
        """
        try:
            with self.errors():
                self.mark_written(seq, entry, before, after or before, take_in_replaced)
        except NuggetsError as error:
            self.tell(Notice(f"{error.what}; {_WRITTEN}", where=error.where, code=error.code))
        except BrokenJournalError as error:
            # The files hold the change already: it is the first entry of the new history.
            self.start_over(error, after or before)
            self.note_down(entry, made_by)

    def mark_written(
        self,
        seq: int | None,
        entry: ChangeSet,
        before: Loaded,
        after: Loaded,
        take_in_replaced: Callable[[sqlite3.Connection], None] | None = None,
    ) -> None:
        """What `finish` does here. Raises BrokenJournalError, StorageError."""
        old, new = before.documents(), after.documents()
        rows: list[FileRows] = []
        known: dict[str, SeenFile] | None = None
        behind = False
        with self.transaction(lasting=False) as connection:
            # Judged before this entry counts as done: whoever wrote them had not seen it.
            if take_in_replaced is not None:
                take_in_replaced(connection)
            for path, document in new.items():
                file, was = self.name(path), old.get(path)
                if was is not None and self._former.get(path) is not was:
                    known = self.seen_files() if known is None else known
                    if file not in known or not _is_version(was, known[file].fingerprint):
                        behind = True
                        continue
                if document is not was:
                    self._former[path] = document
                    rows.append(file_rows(file, was, document, fingerprint=document.fingerprint))
            if behind:
                rows += self._laid_over(connection, entry, before, after)
            write_baseline(connection, rows)
            for path in old.keys() - new.keys():
                forget_file(connection, self.name(path))
            if seq is not None:
                connection.execute("UPDATE entry SET state = 'done', staged = NULL WHERE seq = ?", (seq,))
                if entry.kind == "hit":
                    # Recalls of one caller become one entry.
                    fold_recalls(connection, seq)

    def _laid_over(
        self, connection: sqlite3.Connection, entry: ChangeSet, before: Loaded, after: Loaded
    ) -> Iterator[FileRows]:
        """What an entry did to files in which more is to be judged: the entry alone is remembered, whether this write
        made it or the files had it already. Whatever else is in them stays to be judged.
        """
        seen, touched = self.baseline(before), set(items_of(entry))
        old = seen.documents()
        changed = with_changes(seen, rebase(entry, seen.snapshot, take_ours))
        fresh = {path: one for path, one in after.documents().items() if path not in old}
        for path, document in {**changed.documents(), **fresh}.items():
            former = old.get(path)
            if former is document:
                continue
            was, items = named_items(former) if former is not None else None, named_items(document)
            only = {*items} & touched
            if was is not None:
                only = {name for name in {*was, *items} if was.get(name) != items.get(name)}
            if only:
                file = self.name(path)
                yield file_rows(file, seen_rows(connection, file), document, fingerprint=None, only=only)

    def record(
        self,
        connection: sqlite3.Connection,
        change_set: ChangeSet,
        made_by: Maker = OUTSIDE,
        *,
        state: EntryState = "done",
        conflict: Conflict | None = None,
    ) -> tuple[int, ChangeSet]:
        """Records, inside a transaction, a change that is in the files already or waits for a person. Recalls of one
        caller become one entry.
        """
        seq, kept = insert_entry(connection, change_set, made_by, state, conflict=conflict)
        fold_recalls(connection, seq)
        return seq, kept

    def note_down(self, change_set: ChangeSet, made_by: Maker, beside: Beside | None = None) -> ChangeSet:
        """Records a change that is in the files already. Returns it under the id that it has here. beside: as for
        `begin`.
        """
        with self.transaction() as connection:
            kept = self.record(connection, change_set, made_by)[1]
            if beside is not None:
                beside(connection, kept.id)
            return kept

    def note_down_mends(self, mine: Attribution) -> None:
        """Records an entry for files that changed without any note or fact."""
        told = ChangeSet(
            id=self.ids(), at=self.at(), author=mine.author, reason=mine.reason, kind=mine.kind, mends=mine.mends
        )  # fmt: skip
        self.note_down(told, by(mine.author.signature))

    def keep_conflict(self, change_set: ChangeSet, made_by: Maker, error: ConflictError | Conflict) -> str:
        """Records a change with a conflict, where it waits for a person. Returns the entry's id."""
        conflict = conflict_of(error) if isinstance(error, ConflictError) else error
        with self.transaction() as connection:
            return self.record(connection, change_set, made_by, state="conflict", conflict=conflict)[1].id

    def set_state(self, id: str, state: EntryState, conflict: ConflictError | None = None) -> None:
        """Gives an entry another state, and the conflict that it met."""
        with self.transaction() as connection:
            connection.execute("UPDATE entry SET state = ? WHERE id = ?", (state, id))
            if conflict is not None:
                told = write_conflict(conflict_of(conflict))
                connection.execute("UPDATE entry SET conflict = ? WHERE id = ?", (told, id))

    def clear(self) -> None:
        """Deletes every entry, but for one that is to be finished, and leaves no byte of them. What was last
        seen of the files stays, so that nothing is taken for a change from outside.
        """
        with self.transaction() as connection:
            connection.execute("DELETE FROM entry WHERE state <> 'pending'")
            connection.execute("DELETE FROM touched WHERE seq NOT IN (SELECT seq FROM entry)")
        self.vacuum()
        self.empty_log()
        self._undone = 0, frozenset()

    # Reading entries

    @property
    def last_seq(self) -> int:
        """The number of the newest entry, 0 for none."""
        found = self.rows("SELECT max(seq) FROM entry")[0][0]
        return int(found or 0)

    def is_pending(self, seq: int) -> bool:
        """Whether an entry is to be finished still, as far as can be told."""
        with contextlib.suppress(NuggetsError, BrokenJournalError):
            return bool(self.rows("SELECT 1 FROM entry WHERE seq = ? AND state = 'pending'", (seq,)))
        return True

    def pending_count(self) -> int:
        """How many entries' writing was cut off."""
        return int(self.rows(f"SELECT count(*) FROM entry WHERE {_PENDING}")[0][0])

    def pending(self) -> list[Pending]:
        """Entries whose writing was interrupted, oldest first. One with damaged bytes can never be finished and is
        given up.
        """
        rows = self.rows(f"SELECT seq, body, made_by, staged FROM entry WHERE {_PENDING} ORDER BY seq")
        found: list[Pending] = []
        for seq, body, made_by, staged in rows:
            try:
                found.append(Pending(seq, read_change_set(body), read_maker(made_by), read_stages(staged)))
            except ValueError:
                with self.transaction(lasting=False) as connection:
                    connection.execute("UPDATE entry SET state = 'settled' WHERE seq = ?", (seq,))
        return found

    def entries(self, **filters: Unpack[EntryFilters]) -> tuple[Entry, ...]:
        """Entries, newest first."""
        return self._entries(*which_entries(**filters))

    def _entries(self, which: str, values: Sequence[object] | Mapping[str, object] = ()) -> tuple[Entry, ...]:
        rows = self.rows(f"SELECT {ENTRY_COLUMNS} FROM entry {which}", values)
        return entries_of(rows, self.undone()) if rows else ()

    def entry(self, wanted: str) -> Entry:
        """The entry with this id, or with an id that begins so. Raises NotFoundError, AmbiguousError."""
        rows = self.rows(
            f"SELECT {ENTRY_COLUMNS} FROM entry WHERE id = ?1 OR (length(?1) > 0 AND substr(id, 1, length(?1)) = ?1) "
            "ORDER BY id = ?1 DESC, seq DESC LIMIT 5",
            (encodable(wanted),),
        )
        exact = [row for row in rows if row[1] == wanted]
        if not exact and len(rows) > 1:
            few = ", ".join(row[1] for row in rows[:4])
            raise AmbiguousError(
                f"matches several entries: {few}", remedy=Remedy("name-it", "more of the id"), where=wanted
            )
        found = entries_of((exact or rows)[:1], self.undone())
        if not found:
            raise NotFoundError("no such entry", field="entry", remedy=Remedy("log"), where=wanted)
        return found[0]

    def undone(self) -> frozenset[str]:
        """Ids of entries, and "id.part" of parts, that are undone at present."""
        known_to, known = self._undone
        last = self.last_seq
        if last != known_to:
            # What is pending may become a turn yet.
            pending = self.rows(f"SELECT min(seq) FROM entry WHERE {_PENDING}")[0][0]
            newer = "SELECT 1 FROM entry WHERE seq > ? AND about <> '' LIMIT 1"
            if not known_to or self.rows(newer, (known_to,)):
                known = frozenset(self._all_undone())
            self._undone = last if pending is None else pending - 1, known
        return known

    def _all_undone(self) -> Iterator[str]:
        # Few entries are about another one; their index is not what SQLite would take by itself.
        rows = self.rows(
            "SELECT about, kind FROM entry INDEXED BY entry_about "
            "WHERE about <> '' AND kind IN ('undo', 'redo') AND state = 'done' ORDER BY seq"
        )
        turns: dict[str, list[tuple[str, str]]] = {}
        for about, kind in rows:
            turns.setdefault(about.partition(".")[0], []).append((about, kind))
        for id, of_one in turns.items():
            yield from self._undone_of(id, of_one)

    def _undone_of(self, id: str, turns: list[tuple[str, str]]) -> Iterator[str]:
        if all(about == id for about, _ in turns):
            yield from [id] if turns[-1][1] == "undo" else []
            return
        rows = self.rows("SELECT body FROM entry WHERE id = ?", (id,))
        every = (
            frozenset(range(1, len(change_parts(read_change_set(rows[0][0]))) + 1)) if rows else frozenset()
        )
        gone: frozenset[int] = frozenset()
        for about, kind in turns:
            numbers = referenced_parts(about)
            touched = every if numbers is None else numbers
            gone = gone | touched if kind == "undo" else gone - touched
        yield from (f"{id}.{number}" for number in gone)
        if gone and gone >= every:
            yield id

    def turns(self, id: str) -> tuple[Entry, ...]:
        """The undo and redo entries of an entry or of its parts, newest first."""
        return self._entries(
            "WHERE about <> '' AND (about = ?1 OR substr(about, 1, ?2) = ?1 || '.') "
            "AND kind IN ('undo', 'redo') AND state = 'done' ORDER BY seq DESC",
            (id, len(id) + 1),
        )

    def mine(
        self, made_by: str, kinds: Iterable[str], passing: Collection[str] = (), *, up_to: int | None = None
    ) -> Iterator[Entry]:
        """The entries of somebody that are of these kinds, newest first, each read when it is asked for.

        passing: ids of entries that are passed over unread. up_to: the number of the newest one; None for all.
        """
        kinds = tuple(kinds)
        marks = ", ".join("?" for _ in kinds)
        before = (self.last_seq if up_to is None else up_to) + 1
        while rows := self.rows(
            f"SELECT seq, id FROM entry WHERE made_by = ? AND state = 'done' AND kind IN ({marks}) AND seq < ? "
            "ORDER BY seq DESC LIMIT ?",
            (made_by, *kinds, before, _MINE_AT_ONCE),
        ):
            for seq, id in rows:
                if id not in passing:
                    yield from self._entries("WHERE seq = ?", (seq,))
            before = rows[-1][0]

    def made_since(self, made_by: str, at: str) -> Iterator[ChangeSet]:
        """The change sets of somebody that are in the files since a time, newest first; damaged ones left out."""
        rows = self.rows(
            "SELECT body FROM entry WHERE made_by = ? AND state = 'done' AND at > ? ORDER BY seq DESC",
            (made_by, at),
        )
        for (body,) in rows:
            with contextlib.suppress(ValueError):
                yield read_change_set(body)

    def later(self, change_set: ChangeSet, seq: int) -> tuple[Entry, ...]:
        """Entries after number `seq` that touch the same things, recalls left out, newest first."""
        found: set[int] = set()
        for item in items_of(change_set):
            rows = self.rows("SELECT seq FROM touched WHERE item = ? AND seq > ?", (item, seq))
            found |= {row[0] for row in rows}
        marks = ", ".join(str(number) for number in sorted(found)[-50:])
        return self._entries(f"WHERE seq IN ({marks}) AND kind <> 'hit' AND state = 'done' ORDER BY seq DESC")

    def touching(self, item: str, limit: int = 1000) -> tuple[Entry, ...]:
        """The entries that touch one thing, newest first."""
        return self._entries(
            "JOIN touched USING (seq) WHERE item = ? AND state = 'done' ORDER BY touched.seq DESC LIMIT ?",
            (item, limit),
        )

    def meta(self, name: str) -> Any:
        """A value kept under a name, None for none."""
        rows = self.rows("SELECT value FROM meta WHERE name = ?", (name,))
        return rows[0][0] if rows else None

    def keep_meta(self, name: str, value: str) -> None:
        """Keeps a value under a name, inside a transaction."""
        self.connect().execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, value))

    def marks(self) -> list[Mark]:
        """Every entry that was carried out, newest first."""
        rows = self.rows("SELECT seq, id, at, kind FROM entry WHERE state = 'done' ORDER BY seq DESC")
        return [Mark(seq, id, at, kind == "hit") for seq, id, at, kind in rows]

    def change_sets(self, numbers: Collection[int]) -> Iterator[tuple[int, ChangeSet]]:
        """The change sets of entries by number; those that are gone or damaged are left out."""
        marked = ", ".join(str(int(number)) for number in numbers)
        for seq, body in self.rows(f"SELECT seq, body FROM entry WHERE seq IN ({marked})"):
            with contextlib.suppress(ValueError):
                yield seq, read_change_set(body)

    # The baseline

    def name(self, path: Path) -> str:
        """How a file is named here: by its place in the folder, else by its whole path."""
        return str(path.relative_to(self.home) if path.is_relative_to(self.home) else path)

    def seen_files(self) -> dict[str, SeenFile]:
        """Every file that was ever seen and not yet seen to be gone."""
        return {file: SeenFile(_made(*made), fields) for file, *made, fields, _ in self.rows(_FILES)}

    def moved(self, loaded: Loaded) -> set[str]:
        """Files that are not as they were last seen; those that cannot be read are passed over."""
        return self._moved(loaded, self.rows(_FILES))

    def in_step(self, loaded: Loaded) -> bool:
        """Whether it has seen the files as they are and no entry is to be finished. Makes no file."""
        self._close_replaced()
        try:
            if not self.is_open:
                if self._is_missing:
                    return False
                self._open_file()
            rows = self.rows(_FILES)
            finished = not rows[0][-1] if rows else not self.pending_count()
            return finished and not self._moved(loaded, rows)
        except BrokenJournalError:
            return False

    def _moved(self, loaded: Loaded, rows: Iterable[Any]) -> set[str]:
        broken = {self.name(path) for path in loaded.broken()}
        baseline = {file: _made(*made) for file, *made, _, _ in rows if file not in broken}
        now = {self.name(path): made for path, made in loaded.fingerprints().items()}
        known = {self.name(path): document.fingerprint for path, document in self._former.items()}

        moved = now.keys() - baseline.keys()
        for file, was in baseline.items():
            made, own = now.get(file), known.get(file)
            # Of a version that this process saw itself it knows more than is remembered.
            written_since = own is not None and own.same_data(was) and own != made
            if was is None or not was.same_data(made) or written_since:
                moved.add(file)
        return moved

    def gone_files(self, loaded: Loaded) -> set[str]:
        """Files that were seen and that somebody else removed. Pages come back by the note graph."""
        if loaded.graph.pages is not None:
            return set()
        there = {self.name(path) for path in {*loaded.documents(), *loaded.broken()}}
        return {file for (file,) in self.rows("SELECT file FROM seen_file")} - there

    def remember(self, loaded: Loaded) -> None:
        """Keeps the files as they are seen now, so that they need not be read from the rows."""
        self._former = loaded.documents()

    def baseline(self, loaded: Loaded) -> Loaded:
        """The folder as it was last seen; what did not change since is shared with `loaded`."""
        documents = loaded.documents()
        graph = loaded.graph if loaded.graph.broken else GraphDocument(path=loaded.graph.path)
        # A file that cannot be read now says nothing about what was in it.
        nuggets = {path: document for path, document in loaded.nuggets.items() if document.broken}
        for file, one in self.seen_files().items():
            path = self.home / file
            if path in nuggets or (path == graph.path and graph.broken):
                continue
            former = self._former.get(path)
            # Of what cannot be read more is remembered than the file showed.
            at_hand = (former if former is not None and not former.problems else None, documents.get(path))
            found = next((d for d in at_hand if d is not None and _is_version(d, one.fingerprint)), None)
            if found is None:
                found = self.remembered(path, one.head, loaded.graph)
            if isinstance(found, GraphDocument):
                graph = found
            else:
                nuggets[path] = found
        ordered = {path: nuggets[path] for path in sorted(nuggets, key=lambda path: path.name)}
        return assembled(self.home, graph, ordered, loaded)

    def remembered(self, path: Path, head: bytes, graph: GraphDocument | None) -> Document:
        """A file as it was last seen, with the last readable version of what cannot be read any more. head: see
        `SeenFile`.
        """
        rows = self.rows("SELECT raw FROM seen WHERE file = ? ORDER BY place", (self.name(path),))
        raws = [raw for (raw,) in rows]
        if graph is None or path != graph.path:
            return remembered_nugget(path, head, raws)
        # A version of no file, but of one that was there.
        return replace(remembered_graph(path, head, raws, self.rules, graph), fingerprint=_NEVER)


def _made(inode: int | None, size: int, mtime_ns: int) -> Fingerprint | None:
    return Fingerprint(inode, size, mtime_ns) if inode is not None else None


def _is_version(document: Document, made: Fingerprint | None) -> bool:
    """Whether a document is the version of its file that is known."""
    return made is document.fingerprint or (made is not None and made.same_data(document.fingerprint))


def _identity_of(item: str, raw: bytes) -> tuple[str, str]:
    """What tells a note or fact from others: a note's id was drawn by lot, while many memories know a fact's key."""
    if not item.startswith("n "):
        with contextlib.suppress(ItemError):
            return item, read_fact(raw).value
    return item, ""
