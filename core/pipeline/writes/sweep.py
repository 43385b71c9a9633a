"""Deletes what has been kept long enough: some rows in each transaction, so that nobody waits for one.

Killed between two of them, it has lost nothing, and the next run goes on.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple

from core.errors import NuggetsError, partly_done
from core.pipeline.database import meta
from core.pipeline.database.connection import Database
from core.pipeline.database.expired import PLAIN, Expired, Key
from core.pipeline.database.tables import Tables
from core.pipeline.retention import BATCH, Kind, Windows, cutoff
from core.pipeline.transaction_guard import assert_outside_transaction
from core.storage.database import in_one_step

if TYPE_CHECKING:
    from core.model.snapshot import Snapshot

# Of a batch so many rows go between two looks at the clock, and so many milliseconds it may take.
_SLICE: Final = 10
_HOLD_MS: Final = 10.0
# A rehearsal takes all rows at once.
_ALL: Final = 10_000_000
# So many keys of rows are read at a time: those that stay are passed over once for each.
_KEYS: Final = 20_000
_GONE: Final = "some of what is old is deleted, and the next sweep goes on"
# The kinds whose rows go by themselves, in their order.
_STEPS: Final = tuple(kind for kind in Kind if kind in PLAIN)

# Of notes, by their ids, those that are shown, and those whose texts must stay all the same.
Standing = Callable[[Collection[str]], tuple[frozenset[str], frozenset[str]]]


class Pace(NamedTuple):
    """How a sweep goes about its work. seconds: for all of it at most, None for no limit. timer: seconds that only
    grow. rest: called between two transactions with how many seconds the last one took. batch: rows of one transaction
    at most; slice: of them between two looks at the clock.
    """

    seconds: float | None = None
    timer: Callable[[], float] = time.perf_counter
    rest: Callable[[float], None] = time.sleep
    batch: int = BATCH
    slice: int = _SLICE


class Removal(NamedTuple):
    """What the removal of a text did. notes: that it hid; waited: whether the text waited to be read."""

    notes: tuple[str, ...] = ()
    waited: bool = False


class Swept(NamedTuple):
    """What a sweep deleted. restored: removed texts of which a note is shown again. whole: nothing is left to do."""

    counts: Mapping[Kind, int]
    restored: int
    whole: bool


def sweep(
    database: Database, windows: Windows, standing: Standing, *, now: int, pace: Pace | None = None
) -> Swept:
    """Deletes all rows that are over, as far as the time goes. now: epoch ms. Raises StorageError, LockTimeoutError."""
    run = _Run(
        lambda: database.reading,
        lambda: database.write(lasting=False),
        windows,
        standing,
        now,
        pace or Pace(),
    )
    try:
        with database.errors():
            done = run.whole()
            if done.whole:
                with database.write(lasting=False) as writer:
                    writer.meta.put(meta.SWEPT, now)
            return done
    except NuggetsError:
        with partly_done(_GONE) if run.wrote else nullcontext():
            raise


def rehearse(database: Database, windows: Windows, standing: Standing, *, now: int) -> Swept:
    """What `sweep` would delete now: it is deleted from a copy, all at once, since nobody waits for that."""
    with _copy(database) as tables:
        return _Run(
            lambda: tables,
            lambda: _transaction(tables),
            windows,
            standing,
            now,
            Pace(None, time.perf_counter, lambda seconds: None, _ALL, _ALL),
        ).whole()


@contextmanager
def _copy(database: Database) -> Iterator[Tables]:
    # SQLite keeps it in memory while it is small, else in a file of its own that goes with the connection.
    with closing(sqlite3.connect("", isolation_level=None)) as copy:
        database.reading.connection.backup(copy)
        copy.row_factory = sqlite3.Row
        copy.execute("PRAGMA foreign_keys = ON")
        # It goes with this call: nothing of it needs to be safe, or taken back.
        for speed in ("synchronous = OFF", "journal_mode = OFF", "cache_size = -64000"):
            copy.execute(f"PRAGMA {speed}")
        yield Tables(copy)


@contextmanager
def _transaction(tables: Tables) -> Iterator[Tables]:
    with in_one_step(tables.connection):
        yield tables


class _Run:
    """One sweep. reading: the tables as they are; writing: one transaction."""

    def __init__(
        self,
        reading: Callable[[], Tables],
        writing: Callable[[], AbstractContextManager[Tables]],
        windows: Windows,
        standing: Standing,
        now: int,
        pace: Pace,
    ) -> None:
        self._reading = reading
        self._writing = writing
        self._windows = windows
        self._standing = standing
        self._now = now
        self._pace = pace
        self._ends = None if pace.seconds is None else pace.timer() + pace.seconds
        self._counts: Counter[Kind] = Counter()
        self._restored = 0
        self.wrote = False

    def whole(self) -> Swept:
        """Begins with what was removed, and then deletes kind by kind."""
        finished = self._clear_texts() and self._clear_documents() and all(map(self._clear, _STEPS))
        return Swept({kind: self._counts[kind] for kind in Kind}, self._restored, finished)

    @property
    def _over(self) -> bool:
        return self._ends is not None and self._pace.timer() >= self._ends

    def _before(self, kind: Kind) -> int:
        return cutoff(self._now, self._windows.days(kind))

    def _clear_texts(self) -> bool:
        """Deletes removed texts; one of which a note is shown again is no longer removed. A text may go only after one
        that repeats it, so it is looked at as long as any was deleted.
        """
        before, done, after = self._before(Kind.TEXTS), 0, ""
        while True:
            found = self._reading().expired.removed_texts(before, after, self._pace.batch)
            if not found:
                if self._counts[Kind.TEXTS] == done:
                    return True
                done, after = self._counts[Kind.TEXTS], ""
                continue
            if self._over:
                return False
            after = found[-1].id
            notes = {note for one in found for note in one.notes}
            shown, kept = self._standing(notes) if notes else (frozenset(), frozenset())
            back = [one.id for one in found if not shown.isdisjoint(one.notes)]
            if back:
                with self._timed() as writer:
                    self._restored += sum(restore_text(writer, id, shown, self._now) for id in back)
            going = tuple(one.id for one in found if (shown | kept).isdisjoint(one.notes))
            if not self._drop(going, lambda rows, ids: rows.drop_texts(ids, before, self._now)):
                return False

    def _clear_documents(self) -> bool:
        before = self._before(Kind.DOCUMENTS)
        while found := self._reading().expired.removed_documents(before, self._pace.batch):
            if not self._drop(found, lambda rows, ids: rows.drop_documents(ids, before, self._now)):
                return False
        return True

    def _clear(self, kind: Kind) -> bool:
        """Deletes rows of a kind until none is left or the time is over; whether none is left."""
        before, done = self._before(kind), None
        # What is needed again by the time it is to be deleted stays, and comes back as the same page.
        while (found := self._reading().expired.due(kind, before, _KEYS)) and found != done:
            done = found
            if not self._drop(found, lambda rows, keys: rows.drop(kind, keys, before)):
                return False
        return True

    def _drop(self, keys: Sequence[Key], drop: Callable[[Expired, Sequence[Key]], Counter[Kind]]) -> bool:
        """Deletes rows by their keys, in each transaction for as long as one may take; False when the time is over."""
        while keys:
            if self._over:
                return False
            with self._timed() as writer:
                ends, done = self._pace.timer() + _HOLD_MS / 1000, 0
                most = min(len(keys), self._pace.batch)
                while done < most and not (done and self._pace.timer() >= ends):
                    size = min(self._pace.slice, most - done)
                    self._counts += drop(writer.expired, keys[done : done + size])
                    done += size
            keys = keys[done:]
        return True

    @contextmanager
    def _timed(self) -> Iterator[Tables]:
        """One transaction, and a rest for others after it, as long as it took."""
        assert_outside_transaction("sweeping")
        began = self._pace.timer()
        with self._writing() as writer:
            yield writer
        self.wrote = True
        self._pace.rest(self._pace.timer() - began)


def shown_notes(snapshot: Snapshot, ids: Collection[str]) -> frozenset[str]:
    """Those of some notes that are there and not hidden."""
    return frozenset(id for id in ids if (note := snapshot.by_id.get(id)) is not None and not note.hidden)


def restore_text(
    writer: Tables,
    raw_id: str,
    shown: Collection[str],
    now: int,
    by: str = "person",
    attempts: int = 3,
    *,
    waits: bool = True,
) -> bool:
    """Takes the removal of a text back, and lets those of its facts stand whose notes are shown; one that waited to be
    read then waits again. False where it is not removed, or is deleted. attempts: of its job; waits:
    False for one that need not be read.
    """
    if not writer.expired.unbury(raw_id):
        return False
    if waits and removal_of(writer, raw_id).waited:
        writer.raw.set_status(raw_id, "queued")
        writer.jobs.enqueue(type="extract", target=raw_id, max_attempts=attempts, now=now)
    for fact in writer.facts.of_raw(raw_id):
        if fact.note_id in shown and fact.status != "active":
            writer.facts.let_stand(fact.note_id, True)
    writer.history.append(at=now, event="text_restored", changed_by=by, raw_id=raw_id)
    return True


def removal_of(reader: Tables, raw_id: str) -> Removal:
    """What the removal of a text did, with those before it that were cut short."""
    notes: list[str] = []
    waited = False
    for row in reader.history.history_of(raw_id):
        said = row.metadata.get("notes")
        if row.event == "text_restored":
            notes, waited = [], False
        elif row.event in ("text_removal_begun", "text_removed"):
            notes += map(str, said) if isinstance(said, list) else ()
            waited = bool(row.metadata.get("waited"))
    return Removal(tuple(dict.fromkeys(notes)), waited)
