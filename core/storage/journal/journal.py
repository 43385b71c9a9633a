"""The journal: every change set ever applied, in one SQLite database beside the files."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Unpack

from core.errors import AmbiguousError, NotFoundError, Remedy
from core.model.change import ChangeSet
from core.model.change_parts import change_parts, referenced_parts
from core.model.entry import Conflict, Entry, EntryState
from core.storage.database import BUSY_SECONDS, DATABASE_ERRORS, Database
from core.storage.journal.codec import (
    ENTRY_COLUMNS,
    OUTSIDE,
    Maker,
    Pending,
    Stage,
    delete_entry,
    entries_of,
    fold_recalls,
    insert_entry,
    items_of,
    read_change_set,
    read_maker,
    read_stages,
    touch,
    write_change_set,
    write_conflict,
    write_stages,
)
from core.storage.journal.filters import EntryFilters, names_words, which_entries
from core.storage.journal.schema import HISTORY
from core.text.normalise import encodable

# What is written into other tables with an entry, given the connection and the entry's id.
Beside = Callable[[sqlite3.Connection, str], None]
_AT_ONCE: Final = 20
# Entries that are held once they were read: how many, and up to which size.
_REMEMBERED: Final = 400
_SMALL: Final = 1 << 16
# The second half says nothing new but to SQLite: the index of what is not done holds these, and no scan is needed.
_PENDING: Final = "state = 'pending' AND state <> 'done'"
PENDING_ENTRIES: Final = f"SELECT 1 FROM entry WHERE {_PENDING}"
# So many of somebody's own entries are looked for at a time.
_MINE_AT_ONCE: Final = 200


class Journal:
    """One open journal. Written only while the memory's lock is held. Several threads may read: one at a time, since
    SQLite crashes when a connection is closed that another thread is reading through.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Opens or makes the database; read_only: opens one that is there, and every writing of it is refused.

        Raises BrokenJournalError, StorageError, ReadOnlyError.
        """
        self.path = path
        self.database = Database(path, HISTORY, seconds=BUSY_SECONDS, read_only=read_only)
        self.read_only = self.database.read_only
        self._attach()

    def _attach(self) -> None:
        self._connection = self.database.connect()
        self._connection.create_function("says", 2, names_words, deterministic=True)
        # What is undone, as of an entry.
        self._undone: tuple[int, frozenset[str]] = (0, frozenset())

    def close(self) -> None:
        """Lets the database go, when nobody is reading."""
        self.database.close()

    @contextlib.contextmanager
    def busy_timeout(self, seconds: float) -> Iterator[None]:
        """Within this, waits no longer than that for another program that writes the database."""
        try:
            self.rows(f"PRAGMA busy_timeout = {round(seconds * 1000)}")
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}")

    @property
    def replaced(self) -> bool:
        """See `Database.replaced`."""
        return self.database.replaced

    def transaction(self, *, durable: bool = False) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """All or nothing. durable: on disk, also after a power cut, when this ends. Errors as in `rows`."""
        return self.database.transaction(lasting=durable)

    def rows(self, statement: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Any]:
        """What a SELECT gives. Raises BrokenJournalError, StorageError, LockTimeoutError, ReadOnlyError."""
        with self.database.turn:
            try:
                return self._connection.execute(statement, values).fetchall()
            except DATABASE_ERRORS as error:
                raise self.database.meaning(error) from error

    # Writing entries

    def begin(
        self,
        change_set: ChangeSet,
        made_by: Maker,
        stages: Mapping[str, Stage],
        beside: Beside | None = None,
    ) -> tuple[int, ChangeSet]:
        """Records durably what is about to be written. Returns its number, and the change set under its id here. From
        here on the change will be in the files. beside: what else is written in the same transaction; what it raises
        leaves nothing behind.
        """
        with self.transaction(durable=True) as connection:
            seq, kept = insert_entry(connection, change_set, made_by, "pending", stages=stages)
            if beside is not None:
                beside(connection, kept.id)
            return seq, kept

    def restage(self, seq: int, change_set: ChangeSet, stages: Mapping[str, Stage]) -> None:
        """Gives a pending entry the shape that it will have in the log."""
        body = write_change_set(change_set)
        with self.transaction(durable=True) as connection:
            connection.execute(
                "UPDATE entry SET body = ?, size = ?, staged = ? WHERE seq = ?",
                (body, len(body), write_stages(stages), seq),
            )
            touch(connection, seq, change_set)

    def abandon(self, seq: int) -> None:
        """Removes what `begin` recorded: nothing was written."""
        with self.transaction() as connection:
            delete_entry(connection, seq)

    def finish(self, connection: sqlite3.Connection, seq: int) -> None:
        """Marks an entry as being in the files, inside a transaction."""
        connection.execute("UPDATE entry SET state = 'done', staged = NULL WHERE seq = ?", (seq,))

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

    def set_state(self, id: str, state: EntryState, conflict: Conflict | None = None) -> None:
        """Gives an entry another state, and the conflict that it met."""
        with self.transaction(durable=True) as connection:
            connection.execute("UPDATE entry SET state = ? WHERE id = ?", (state, id))
            if conflict is not None:
                connection.execute(
                    "UPDATE entry SET conflict = ? WHERE id = ?", (write_conflict(conflict), id)
                )

    def clear(self) -> None:
        """Deletes every entry, but for one that is to be finished, and leaves no byte of them. What was last
        seen of the files stays, so that nothing is taken for a change from outside.
        """
        with self.transaction(durable=True) as connection:
            connection.execute("DELETE FROM entry WHERE state <> 'pending'")
            connection.execute("DELETE FROM touched WHERE seq NOT IN (SELECT seq FROM entry)")
        self.database.vacuum()
        self.database.empty_log()
        self._undone = 0, frozenset()

    # Reading entries

    @property
    def last_seq(self) -> int:
        """The number of the newest entry, 0 for none."""
        found = self.rows("SELECT max(seq) FROM entry")[0][0]
        return int(found or 0)

    def state_of(self, seq: int) -> EntryState | None:
        """How it stands with the entry of a number, None when there is none."""
        rows = self.rows("SELECT state FROM entry WHERE seq = ?", (seq,))
        return rows[0][0] if rows else None

    def pending_count(self) -> int:
        """How many entries' writing was cut off."""
        return int(self.rows(f"SELECT count(*) FROM entry WHERE {_PENDING}")[0][0])

    def pending(self) -> list[Pending]:
        """Entries whose writing was interrupted, oldest first. One with damaged bytes can never be finished and is
        given up.
        """
        rows = self.rows(f"SELECT seq, body, made_by, staged FROM entry WHERE {_PENDING} ORDER BY seq")
        found: list[Pending] = []
        for seq, body, by, staged in rows:
            try:
                found.append(Pending(seq, read_change_set(body), read_maker(by), read_stages(staged)))
            except ValueError:
                with self.transaction() as connection:
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
        self._connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, value))
