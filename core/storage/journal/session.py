"""The journal's part in reading and writing a folder: opens it, and records what happens while files change."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from core.errors import ConflictError, Notice, NuggetsError, StorageError
from core.folder import DATABASE_FILE
from core.model.change import Author, ChangeKind, ChangeSet, FileRepair
from core.model.entry import Conflict
from core.model.names import iso
from core.settings import Settings
from core.storage.database import Database, ForeignDatabaseError
from core.storage.files.atomic import can_be_locked
from core.storage.format.documents import Loaded, with_changes
from core.storage.journal.baseline import (
    Baseline,
    baseline_files,
    forget_file,
    is_version,
    named_items,
    record_baseline,
    record_few,
)
from core.storage.journal.belonging import check_belongs, mark
from core.storage.journal.codec import Maker, Pending, Stage, by, fold_recalls, items_of
from core.storage.journal.journal import Beside, Journal
from core.storage.journal.schema import HISTORY, BrokenJournalError, unreadable
from core.storage.merge.deciding import conflict_of, take_ours
from core.storage.merge.rebase import rebase
from core.storage.safety.backups import BACKUPS

_WITHOUT_LOCKS: Final = "without locks"


class Notices:
    """Notices, each once, in the order in which they came."""

    def __init__(self) -> None:
        self._notices: list[str] = []

    def add(self, notice: str) -> None:
        """Keeps a notice until somebody asks."""
        if notice not in self._notices:
            self._notices.append(notice)

    def add_error(self, error: NuggetsError) -> None:
        """Keeps what went wrong aside from what was asked for. What was kept safe of that is not known here."""
        self.add(Notice.of(error))

    def take(self, *others: str) -> tuple[str, ...]:
        """The notices since the last call, with others after them; each once."""
        taken = tuple(dict.fromkeys([*self._notices, *filter(None, others)]))
        self._notices = []
        return taken


class JournalFile:
    """The journal's file. All but `wanted` and `in_step` is called under the memory's lock.

    notices: what a person should be told of it. baseline: what it last saw of the files.
    """

    def __init__(
        self,
        home: Path,
        *,
        clock: Callable[[], datetime],
        ids: Callable[[], str],
        notices: Notices,
        baseline: Baseline,
    ) -> None:
        self.home = home
        self.journal: Journal | None = None
        # Why there is no journal though the memory has one; None when it could be opened or there is none.
        self.log_problem: NuggetsError | None = None
        # Why it could not be written, in words, until it can be; "" for nothing.
        self._not_written = ""
        # Whether the open journal is this memory's.
        self._known = False
        self._clock = clock
        self._ids = ids
        self._notices = notices
        self._baseline = baseline

    @property
    def _path(self) -> Path:
        return self.home / DATABASE_FILE

    def report_not_written(self, error: NuggetsError) -> None:
        """Keeps that the log cannot be written, until it can be."""
        self._not_written = Notice.of(error)

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call."""
        not_written, self._not_written = self._not_written, ""
        return self._notices.take(not_written)

    def wanted(self, loaded: Loaded) -> bool:
        """Whether there is something to keep a journal of, and a place to keep it."""
        there = bool(loaded.documents()) or self._path.exists()
        return there and os.access(self.home, os.W_OK)

    def in_step(self, loaded: Loaded) -> bool:
        """Whether the journal has seen the files as they are and nothing waits in it. Makes no file."""
        self._close_replaced()
        try:
            if self.journal is None:
                if self._missing:
                    return False
                self._open_file()
            assert self.journal is not None
            return self._baseline.in_step(loaded, self.journal)
        except BrokenJournalError:
            return False

    def open(self, loaded: Loaded) -> None:
        """Opens the journal or begins one. A broken one is set aside with its bytes, and a new one begun.

        Raises StorageError, ReadOnlyError.
        """
        self._close_replaced()
        if self.journal is not None and self.journal.read_only:
            self.close()
        try:
            if self.journal is None:
                if self.gone(loaded):
                    self._report_gone()
                self._open_file()
            assert self.journal is not None
            if not self._known:
                check_belongs(self.journal, self.home, loaded)
                mark(self.journal, self.home)
                self._known = True
                self._say_without_locks()
            if not baseline_files(self.journal):
                self._baseline.begin(self.journal, loaded)
        except BrokenJournalError as error:
            self.begin_anew(error, loaded)
        self._not_written = ""

    def _say_without_locks(self) -> None:
        """Says once of a memory that its file system has no locks."""
        assert self.journal is not None
        if not can_be_locked(self.home) and self.journal.meta(_WITHOUT_LOCKS) is None:
            with self.journal.transaction():
                self.journal.keep_meta(_WITHOUT_LOCKS, "said")
            said = "this file system has no locks: change the memory from one machine at a time"
            self._notices.add(Notice(said, where=str(self.home)))

    @contextmanager
    def busy_timeout(self, seconds: float | None) -> Iterator[None]:
        """Within this, waits no longer than that for another program that writes the journal; None: as usual."""
        with self.journal.busy_timeout(seconds) if self.journal and seconds is not None else nullcontext():
            yield

    def _open_file(self) -> None:
        try:
            self.journal = Journal(self._path)
        except NuggetsError as error:
            self.log_problem = error
            raise
        self.log_problem = None

    def open_to_read(self) -> None:
        """Opens the journal where nothing may be written; `log_problem` says why when it cannot be read either."""
        self._close_replaced()
        empty = self._path.exists() and self._missing
        if self.journal is not None or empty or not os.path.lexists(self._path):
            return
        try:
            self.journal = Journal(self._path, read_only=True)
            self.log_problem = None
        except NuggetsError as error:
            self.log_problem = error
        except BrokenJournalError as error:
            self.keep_problem(error)

    def keep_problem(self, error: BrokenJournalError) -> None:
        """Keeps why the journal cannot be read, and closes it."""
        self.close()
        problem = unreadable(self._path, str(error))
        problem.damaged = not isinstance(error, ForeignDatabaseError)
        self.log_problem = problem

    @property
    def _missing(self) -> bool:
        """Whether there is no journal, or only an empty file in its place."""
        try:
            return self._path.stat().st_size == 0
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def gone(self, loaded: Loaded) -> bool:
        """Whether a memory that had a log has none any more."""
        # Only who keeps a log makes backups; the lock is taken by others as well.
        return self._missing and (self.home / BACKUPS).is_dir() and bool(loaded.documents())

    def _report_gone(self) -> None:
        """Tells that a memory that had a log has none any more."""
        self._notices.add(Notice("the history is missing; a new one starts now", where=str(self._path)))

    @contextmanager
    def detecting_damage(self) -> Iterator[None]:
        """Within this, an error that damaged values in the journal cause becomes a BrokenJournalError."""
        with self.journal.database.errors() if self.journal is not None else nullcontext():
            yield

    def begin_anew(self, error: BrokenJournalError, loaded: Loaded) -> None:
        """Sets a broken journal aside and begins a new one from the files as they are. Raises StorageError."""
        broken = self.journal.database if self.journal is not None else Database(self._path, HISTORY)
        try:
            with closing(broken):
                if notice := broken.begin_anew(error):
                    self._notices.add(notice)
            self.close()
            self.log_problem = None
            self.journal = Journal(self._path)
            mark(self.journal, self.home)
            self._known = True
            if not baseline_files(self.journal):
                self._baseline.begin(self.journal, loaded)
        except BrokenJournalError as again:
            raise StorageError(
                f"the history cannot be started ({again})",
                where=str(self._path),
                kept="nothing was written",
            ) from again

    def close(self) -> None:
        """Closes the journal until it is wanted again."""
        if self.journal is not None:
            self.journal.close()
            self.journal = None
            self._known = False
            self._baseline.forget()

    def _close_replaced(self) -> None:
        if self.journal is not None and self.journal.replaced:
            self.close()
            if not self._path.exists():
                self._report_gone()


@dataclass(frozen=True)
class Attribution:
    """Whom a difference between what was seen and the files is put down to, when it was no other program's."""

    author: Author
    kind: ChangeKind
    reason: str
    mends: tuple[FileRepair, ...] = ()


class JournalSession:
    """Keeps the journal of one folder. All that is defined here is called under the memory's lock.

    log: the journal's file. baseline: what it last saw of the files. notices: what a person should be told.
    """

    def __init__(
        self,
        home: Path,
        settings: Settings,
        *,
        clock: Callable[[], datetime],
        ids: Callable[[], str] | None,
    ) -> None:
        self.home = home
        # A new id for an entry that is made here.
        self.ids = ids or (lambda: os.urandom(4).hex())
        self.rules = settings.inference
        self._clock = clock
        self.notices = Notices()
        self.baseline = Baseline(home, settings.inference)
        self.file = JournalFile(home, clock=clock, ids=self.ids, notices=self.notices, baseline=self.baseline)
        self.attribution: Attribution | None = None

    @property
    def journal(self) -> Journal | None:
        """The open journal; None before the first change of a memory that is empty or cannot be written."""
        return self.file.journal

    def now(self) -> datetime:
        """The time."""
        return self._clock()

    def at(self) -> str:
        """The time that entries made here bear."""
        return iso(self._clock())

    # One write

    def begin(
        self,
        effective: ChangeSet,
        made_by: Maker,
        stages: Mapping[str, Stage],
        seq: int | None,
        beside: Beside | None = None,
    ) -> tuple[int, ChangeSet]:
        """The commit point: from here on the change set will be in the files, whatever happens. beside: see
        `Journal.begin`.

        Returns the entry's number, and the change set under the id that it has in the journal.
        """
        assert self.journal is not None
        if seq is None:
            return self.journal.begin(effective, made_by, stages, beside)
        self.journal.restage(seq, effective, stages)
        return seq, effective

    def is_pending(self, seq: int) -> bool:
        """Whether an entry is to be finished still, as far as can be told."""
        assert self.journal is not None
        try:
            return self.journal.state_of(seq) == "pending"
        except (NuggetsError, BrokenJournalError):
            return True

    def abandon(self, seq: int) -> None:
        """Nothing was written after all."""
        assert self.journal is not None
        self.journal.abandon(seq)

    def finish(
        self,
        seq: int | None,
        entry: ChangeSet,
        made_by: Maker,
        before: Loaded,
        after: Loaded | None = None,
        take_in_replaced: Callable[[sqlite3.Connection], None] | None = None,
    ) -> None:
        """Marks the entry (seq None: it is in the log already) as done and remembers that the files have it, in one
        step.

        after: the files as they were written, None for nothing. take_in_replaced: puts down what other programs
        wanted that wrote in the same instant, judged before the entry counts as done.

        When the journal cannot be written any more, the entry stays pending and is reconciled at the next opening.
        """
        assert self.journal is not None
        try:
            with self.file.detecting_damage():
                self.mark_written(self.journal, seq, entry, before, after or before, take_in_replaced)
        except NuggetsError as error:
            self.notices.add(Notice(f"{error.what}; {_WRITTEN}", where=error.where, code=error.code))
        except BrokenJournalError as error:
            # The files hold the change already: it is the first entry of the new journal.
            self.file.begin_anew(error, after or before)
            with self.journal.transaction(durable=True) as connection:
                self.journal.record(connection, entry, made_by)

    def mark_written(
        self,
        journal: Journal,
        seq: int | None,
        entry: ChangeSet,
        before: Loaded,
        after: Loaded,
        take_in_replaced: Callable[[sqlite3.Connection], None] | None = None,
    ) -> None:
        """What `finish` does in the journal. Raises BrokenJournalError, StorageError."""
        known = baseline_files(journal)
        old, new = before.documents(), after.documents()
        behind = False
        with journal.transaction() as connection:
            # Judged before this entry counts as done: whoever wrote them had not seen it.
            if take_in_replaced is not None:
                take_in_replaced(connection)
            for path, document in new.items():
                file, was = self.baseline.name(path), old.get(path)
                one = known.get(file)
                seen = self.baseline.is_remembered(path, was)
                if was is not None and not seen and (one is None or not is_version(was, one.fingerprint)):
                    behind = True
                elif document is not was:
                    self.baseline.put(path, document)
                    if was is None or not record_few(connection, file, was, document):
                        held = named_items(was) if was is not None else {}
                        record_baseline(connection, file, document, held, fingerprint=document.fingerprint)
            if behind:
                self._lay_over_baseline(connection, journal, entry, before, after)
            for path in old.keys() - new.keys():
                forget_file(connection, self.baseline.name(path))
            if seq is not None:
                journal.finish(connection, seq)
                if entry.kind == "hit":
                    # Recalls of one caller become one entry.
                    fold_recalls(connection, seq)

    def _lay_over_baseline(
        self,
        connection: sqlite3.Connection,
        journal: Journal,
        entry: ChangeSet,
        before: Loaded,
        after: Loaded,
    ) -> None:
        """Remembers what an entry did to files in which more is to be judged: the entry alone, whether this write made
        it or the files had it already. Whatever else is in them stays to be judged.
        """
        seen = self.baseline.load(journal, before)
        self._remember_some(connection, seen, with_changes(seen, rebase(entry, seen.snapshot, take_ours)))
        self._remember_some(connection, seen, after, set(items_of(entry)), new=True)

    def _remember_some(
        self,
        connection: sqlite3.Connection,
        was: Loaded,
        now: Loaded,
        names: Collection[str] | None = None,
        *,
        new: bool = False,
    ) -> None:
        """Remembers what differs in files that have more to be judged. new: of files that were never seen alone, and
        `names` of what is in them.
        """
        old = was.documents()
        for path, document in now.documents().items():
            former = old.get(path)
            if former is document or (former is None) is not new:
                continue
            items = named_items(document)
            only = (
                _differing(named_items(former), items) if former is not None else {*items} & {*(names or ())}
            )
            if only:
                file = self.baseline.name(path)
                record_baseline(connection, file, document, None, fingerprint=None, only=only)

    # After a crash

    def pending(self) -> list[Pending]:
        """Entries that are not known to be in the files."""
        return self.journal.pending() if self.journal is not None else []

    def note_down(self, mine: Attribution) -> None:
        """Records an entry for a file that changed without any note or fact."""
        assert self.journal is not None
        told = ChangeSet(
            id=self.ids(),
            at=self.at(),
            author=mine.author,
            reason=mine.reason,
            kind=mine.kind,
            mends=mine.mends,
        )
        with self.journal.transaction(durable=True) as connection:
            self.journal.record(connection, told, by(mine.author.signature))

    def put_off(self, pending: Pending, error: ConflictError) -> None:
        """A pending entry that met a conflict waits for a person from now on."""
        assert self.journal is not None
        self.journal.set_state(pending.change_set.id, "conflict", conflict_of(error))

    def keep_conflict(self, change_set: ChangeSet, made_by: Maker, error: ConflictError | Conflict) -> str:
        """Puts a change set with a conflict into the log, where it waits for a person. Returns the entry's id."""
        assert self.journal is not None
        conflict = conflict_of(error) if isinstance(error, ConflictError) else error
        with self.journal.transaction(durable=True) as connection:
            _, kept = self.journal.record(
                connection, change_set, made_by, state="conflict", conflict=conflict
            )
        return kept.id


_WRITTEN: Final = "the change itself is written, and the history records it when the memory is next opened"


def _differing(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> set[str]:
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}
