"""The folder as one store: loads snapshots, reconciles, and applies change sets under the lock; nothing else writes.

A change set is rebased on the newest files, staged, put down in the journal as pending, and the files are exchanged.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from core.errors import (
    BrokenFileError,
    ConflictError,
    ErrorCode,
    LockTimeoutError,
    Notice,
    NuggetsError,
    Remedy,
    StorageError,
    UnfinishedError,
    partly_done,
)
from core.folder import GRAPH_FILE
from core.model.change import Author, ChangeSet, FileRepair
from core.model.compare import without_hollow
from core.model.entry import Conflict
from core.model.snapshot import Problem, Snapshot
from core.settings import Settings
from core.storage.files.atomic import (
    discard,
    has_leftovers,
    is_leftover,
    locked,
    make_folder,
    remove_file,
    remove_leftovers,
    stage_file,
    write_target,
)
from core.storage.files.exchange import put_instead
from core.storage.format.documents import Document, Loaded, read_folder
from core.storage.journal.codec import RESTORED, RESTORED_IN_PASSING, Maker, Pending, by, concerned
from core.storage.journal.journal import Beside, Journal
from core.storage.journal.schema import BrokenJournalError, unreadable
from core.storage.journal.session import Attribution, JournalSession
from core.storage.journal.unfinished import whole_of
from core.storage.merge.deciding import Collect, Decide, refuse, take_theirs
from core.storage.merge.rebase import rebase
from core.storage.reconcile.concurrent_writes import concurrent_changes, recover_concurrent_writes
from core.storage.reconcile.in_memory import reconcile_in_memory
from core.storage.reconcile.outside import (
    Due,
    Lost,
    is_quiet,
    log_lost,
    lost_files,
    note_outside,
    white_space_of,
)
from core.storage.safety.backup_before_write import (
    LARGE,
    backup_before_write,
    keep_before_rewriting,
    keep_unreadable,
    keep_whole,
)
from core.storage.writing import (
    Write,
    Written,
    check_writable,
    completed,
    is_due,
    prepare,
    rebased_file,
    store_pages,
    write_owed,
)

# What is wanted rarely is loaded then: every command opens a store.
if TYPE_CHECKING:
    from core.storage.format.page_writes import PagePreview
    from core.storage.format.pages import PageSet
    from core.storage.journal.carried import CarriedEntry

_VISIT: Final = "last visit"
_GLANCE_SECONDS: Final = 0.01
# How long a file that is gone is waited for: editors rename it away and write it anew.
_GONE_SECONDS: Final = 2.0
_REPAIRING: Final = "nothing is lost: the quarantine holds the files repaired so far as they were"
_TURNING_BACK: Final = "nothing is lost: the quarantine holds both versions of the file"


class Store:
    """One memory's folder. Not safe for several threads at once; `Memory` sees to that.

    clock and ids give the time and eight new hexadecimal digits for what the store itself puts into the log.
    """

    def __init__(
        self,
        home: Path,
        settings: Settings | None = None,
        *,
        clock: Callable[[], datetime] | None = None,
        ids: Callable[[], str] | None = None,
        tolerant: bool = False,
        loaded: Loaded | None = None,
        pages: Path | None = None,
    ) -> None:
        self.home = home
        self._settings = settings or Settings()
        self._clock = clock or (lambda: datetime.now(UTC))
        self._session = JournalSession(home, self._settings, clock=self._clock, ids=ids)
        # What a read found, until something is written: the log beside what is not in it yet, and the files so.
        self._ids = ids
        self._view: JournalSession | None = None
        self._viewed: Loaded | None = None
        self._view_begun = 0
        # The day of which there is a backup for sure.
        self._backed_up_on: date | None = None
        # The files as a look found them in step with the journal.
        self._in_step: Loaded | None = None
        self._committer = Committer(
            home, self._settings, self._session,
            clock=self._clock, tolerant=tolerant, loaded=loaded, pages=pages,
        )  # fmt: skip

    @property
    def journal(self) -> Journal | None:
        """The open journal; for a read, a copy that includes what is not logged yet. None before the first change of a
        memory that is empty or cannot be written.
        """
        return self._session.journal if self._view is None else self._view.journal

    @property
    def viewed(self) -> bool:
        """Whether the memory was only read so far."""
        return self._view is not None

    def view(self) -> Snapshot:
        """The memory as the next writer will leave it, reconciled in memory. Writes nothing. Errors as in `load`."""
        self.load()
        if self._session.journal is not None and not self._session.journal.read_only and self.reconciled:
            return self.present
        self._close_view()
        view = JournalSession(self.home, self._settings, clock=self._clock, ids=self._ids)
        view.file.open_to_read()
        with contextlib.suppress(NuggetsError, BrokenJournalError):
            self._committer.wait_for_lost(view)
            self._view_begun = view.journal.last_seq if view.journal is not None else 0
        self._view, self._viewed = view, reconcile_in_memory(view, self.loaded)
        return self._viewed.snapshot

    @property
    def last_seq(self) -> int:
        """The number of the newest entry that is in the log, 0 for none."""
        return (
            self._session.journal.last_seq
            if self._view is None and self._session.journal
            else self._view_begun
        )

    @property
    def log_is_damaged(self) -> bool:
        """Whether there is a damaged log, whose bytes can be set aside."""
        problem = self.log_problem
        damaged = isinstance(problem, StorageError) and problem.damaged
        return damaged and self._session.file.wanted(self.loaded)

    def _close_view(self) -> None:
        if self._view is not None:
            self._view.file.close()
            self._view, self._viewed = None, None

    @property
    def loaded(self) -> Loaded:
        """The files as they were last loaded."""
        return self._committer.current

    @property
    def read(self) -> Loaded:
        """The files behind `present`: what a read found, with what is to be restored."""
        return self._viewed or self.loaded

    @property
    def present(self) -> Snapshot:
        """The snapshot as it was last loaded."""
        return self.read.snapshot

    def load(self) -> Snapshot:
        """The snapshot of the files as they are now; the same object as before when no file changed.

        Reads only files whose fingerprint moved. Raises BrokenFileError for a note graph that cannot be read
        and StorageError when the system refuses; the last snapshot stays valid then. A tolerant store that never saw
        a good graph loads the facts alone.
        """
        return self._committer.load()

    def close(self) -> None:
        """Closes the journal's file; the next use opens it again."""
        self._close_view()
        self._session.file.close()

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call."""
        of_view = self._view.file.take_notices() if self._view is not None else ()
        return tuple(dict.fromkeys((*of_view, *self._session.file.take_notices())))

    def sync(self, seconds: float, patience: float = 0.0, *, restoring: bool = True) -> Snapshot:
        """Compares the files with the baseline, reconciles them, and loads.

        Only loads where nothing may be written, or when somebody holds the lock for longer than `seconds`; the next
        writer reconciles then. Waits up to `patience` seconds for another program to stop writing before it
        restores. restoring: False leaves that to whoever looks next. Errors as in `load`.
        """
        self._close_view()
        self._in_step = None
        snapshot = self.load()
        if snapshot.read_only or not self._session.file.wanted(self.loaded) or snapshot.graph_problem:
            if snapshot.graph_problem and not snapshot.read_only:
                self._keep_broken()
            return self.view()
        begun = time.monotonic()
        try:
            with self._session.file.detecting_damage():
                if self._session.file.in_step(self.loaded) and not self._committer.litters:
                    self._in_step = self.loaded
                    return snapshot
                while self._committer.litters or not self._session.file.in_step(self.loaded):
                    with locked(self.home, seconds=seconds), self._session.file.busy_timeout(seconds):
                        self._committer.reconcile(restoring=restoring)
                    quiet = self._session.quiet_seconds
                    end = begun + (max(patience, quiet + _GLANCE_SECONDS) if patience else 0.0)
                    if self.reconciled or time.monotonic() >= end:
                        break
                    while not is_quiet(self.loaded, quiet) and time.monotonic() < end:
                        time.sleep(_GLANCE_SECONDS)
                        self.load()
        except BrokenFileError:
            raise
        except LockTimeoutError:
            pass
        except BrokenJournalError as broken:
            self._begin_journal_anew(broken)
        except NuggetsError as error:
            self._session.file.open_to_read()
            self._session.file.report_not_written(self.log_problem or error)
        self.load()
        return self.view() if self._committer.lost.documents else self.present

    @property
    def fresh(self) -> bool:
        """Whether the last look found the files in step with the journal and nothing was written since: a change may
        be written without another look. The exchange of the files finds what changed in between.
        """
        return self._in_step is not None and self._committer.is_ready(self._in_step)

    @property
    def log_problem(self) -> NuggetsError | None:
        """Why the log cannot be read; None when it can, and when there is none."""
        return (self._view or self._session).file.log_problem if self.journal is None else None

    def _keep_broken(self) -> None:
        """Keeps the bytes of a note graph that cannot be read; what it means for the facts is told once it can."""
        try:
            with locked(self.home, seconds=1.0):
                keep_unreadable(self.home, self.loaded, self._clock())
        except NuggetsError as error:
            self._session.notices.add_error(error)

    def reconcile_now(self) -> tuple[JournalSession, Loaded]:
        """Brings log and files in step, under the memory's lock. Errors as in `apply`."""
        self._close_view()
        self._committer.reconcile()
        return self._session, self.loaded

    @property
    def reconciled(self) -> bool:
        """Whether there is nothing left to restore: the journal has seen the files as they are."""
        return self._view is not None or self._committer.reconciled

    def restore_for(self, change_set: ChangeSet) -> bool:
        """Restores what another program reverted of the things that a change set touches. True when that changed the
        files: the change set must be drafted again then. Errors as in `apply`.
        """
        self._close_view()
        if self.reconciled:
            return False
        before = self.loaded
        try:
            with (
                locked(self.home),
                self._session.file.busy_timeout(None),
                self._session.file.detecting_damage(),
            ):
                self._committer.reconcile(concerned(change_set))
        except BrokenJournalError:
            # Whoever writes sets it aside.
            return False
        return self.loaded is not before

    def page_preview(self, change_set: ChangeSet) -> tuple[PagePreview, ...]:
        """See `Memory.page_preview`."""
        from core.storage.format.page_writes import previewed

        loaded = self.loaded
        return previewed(loaded.graph, rebase(change_set, loaded.snapshot))

    def apply(
        self,
        change_set: ChangeSet,
        made_by: str = "person",
        decide: Decide | None = None,
        seconds: float | None = None,
        *,
        fresh: bool = False,
        spelling: Collection[Document] = (),
        exact: bool = False,
        beside: Beside | None = None,
    ) -> Applied:
        """Brings a change set onto the newest files and writes it; `made_by` says who sat at the keyboard, `decide`
        what stands where a thing was changed in two ways (None: that is an error). seconds: how long other writers
        are waited for (None: as long as is usual). fresh: see `fresh`, which this must be. spelling: see `prepare`.
        exact: changes of times alone are made as well, where `decide` is given. beside: what is written into other
        tables of the database in the transaction from which on the change counts as made.

        made_by: who sat at the keyboard. decide: which version wins where a thing was changed in two ways; None:
        that is an error. seconds: how long to wait for other writers; None: as usual. fresh: the value of `fresh`
        just now. Raises ConflictError, ReadOnlyError, BrokenFileError, LockTimeoutError, StorageError; nothing is
        written then. After an UnfinishedError the change is in the log, and the next opening finishes it.
        """
        self._close_view()
        if not fresh:
            self._refuse_unwritable(change_set)
            make_folder(self.home)
        touched = concerned(change_set)
        with locked(self.home, seconds=seconds), self._session.file.busy_timeout(seconds):
            try:
                with self._session.file.detecting_damage():
                    if not fresh:
                        check_writable(self.home, self.load(), change_set)
                        self._committer.reconcile(touched, counting=change_set.kind == "hit", loaded=True)
                    without_backup = self._backup_before_write(change_set)
                    done = self._committer.commit(
                        change_set, by(made_by), decide=decide, urgent=touched, insist=True, fresh=True,
                        spelling=spelling, exact=exact, beside=beside,
                    )  # fmt: skip
                if without_backup and not done.change_set.empty:
                    self._session.notices.add(without_backup)
                return done
            except BrokenJournalError as error:
                self._session.file.begin_anew(error, self.loaded)
                return self._committer.commit(change_set, by(made_by), decide=decide, beside=beside)

    def _refuse_unwritable(self, change_set: ChangeSet) -> None:
        """Before anything is made for it; the files as they were last loaded tell it mostly."""
        try:
            check_writable(self.home, self.present, change_set)
        except NuggetsError:
            check_writable(self.home, self.load(), change_set)

    def _backup_before_write(self, change_set: ChangeSet) -> str:
        """Makes a backup before a change when one is due.

        Returns what a person should know of a backup that could not be made, "" when all went well.
        """
        if change_set.kind == "hit":
            # Who only asked something waits for no copy of all files.
            return ""
        now = self._clock()
        if self._backed_up_on == now.astimezone().date() and change_set.size <= LARGE:
            return ""
        try:
            backup_before_write(self.home, change_set, now, self._settings.backups.keep)
            self._backed_up_on = now.astimezone().date()
        except NuggetsError as error:
            # A change that the log can undo does not wait for a backup.
            why = f"no backup could be made ({error.what})"
            return Notice(f"{why}; the change itself is written and in the history", where=error.where)
        return ""

    def quarantine_broken_journal(self, error: Exception) -> bool:
        """Whether an error came from a damaged journal, which is now set aside with a new one begun: the caller may
        try again. Raises StorageError for a damaged one that cannot be moved.
        """
        journal = self.journal
        if journal is None:
            return False
        try:
            with (self._view or self._session).file.detecting_damage():
                raise error
        except BrokenJournalError as broken:
            if journal.read_only and not (self.viewed and self._session.file.wanted(self.loaded)):
                raise unreadable(journal.path, str(broken)) from error
            self._close_view()
            self._begin_journal_anew(broken)
            return self.journal is not journal and self.journal is not None
        except Exception:
            return False

    def _begin_journal_anew(self, error: BrokenJournalError) -> None:
        try:
            with locked(self.home):
                self._session.file.begin_anew(error, self.loaded)
        except NuggetsError as refused:
            self._session.notices.add_error(refused)

    # Keeping and putting away

    def keep_conflict(self, change_set: ChangeSet, made_by: str, error: ConflictError | Conflict) -> str:
        """Puts a change with a conflict into the log, where it waits for a person. Returns the entry's id, "" for
        none.
        """
        if self.journal is None:
            return ""
        try:
            with locked(self.home):
                return self._session.keep_conflict(change_set, by(made_by), error)
        except (NuggetsError, BrokenJournalError):
            return ""

    def carry(
        self, before: Snapshot, entries: Sequence[CarriedEntry], after: Snapshot, *, id: str, at: str
    ) -> int:
        """Puts the history of another folder into the log of this memory, which is empty; how many entries; see
        `carried.carry`. Raises LockTimeoutError, StorageError, ReadOnlyError.
        """
        from core.storage.journal.carried import carry

        self._close_view()
        make_folder(self.home)
        with locked(self.home):
            self._committer.reconcile()
            self._session.file.open(self.loaded)
            present = self.loaded.snapshot
            if self.journal is None or present.notes or present.nuggets or present.problems:
                return 0
            return carry(self.journal, before, entries, after, id=id, at=at)

    def note_down(self, change_set: ChangeSet, made_by: str) -> None:
        """Puts a change set into the log that had nothing left to write. Raises LockTimeoutError, StorageError."""
        if self.journal is not None:
            with locked(self.home):
                self._record(change_set, made_by)

    def clear_history(self) -> None:
        """Empties the log. Raises LockTimeoutError, StorageError, ReadOnlyError."""
        with locked(self.home):
            self.reconcile_now()
            if self.journal is not None:
                self.journal.clear()

    def begin_log(self) -> None:
        """Has a log, also where nothing was changed so far. Raises LockTimeoutError, StorageError, ReadOnlyError."""
        self._close_view()
        if self.journal is not None and not self.journal.read_only:
            return
        make_folder(self.home)
        with locked(self.home):
            self._committer.reconcile()
            self._session.file.open(self.loaded)

    def _record(self, change_set: ChangeSet, made_by: str) -> None:
        assert self.journal is not None
        with self.journal.transaction(durable=True) as connection:
            self.journal.record(connection, change_set, by(made_by))

    def visited(self, at: str) -> str | None:
        """Records when a person looked at the memory, without creating a log for it. Returns the time before, None for
        never.
        """
        journal = self.journal
        if journal is None or journal.read_only:
            return None
        try:
            before = journal.meta(_VISIT)
            with journal.transaction():
                journal.keep_meta(_VISIT, at)
        except (NuggetsError, BrokenJournalError):
            return None
        return before if isinstance(before, str) else None

    def put_away(self, path: Path, reason: str) -> Path:
        """Moves a file that is no longer needed into the quarantine, bytes intact. Returns its new place. Raises
        LockTimeoutError, StorageError, ReadOnlyError.
        """
        with locked(self.home):
            kept = keep_whole(self.home, path, reason, self._clock(), sound=True)
            remove_file(path)
            return kept

    def repairable(self) -> frozenset[str]:
        """The notes and facts, by place, whose last readable version `repair` can restore."""
        from core.storage.recovery.repair_files import repairable

        return repairable(self._session, self.loaded)

    def repair(self, author: Author) -> bool:
        """Rebuilds files that cannot be read, as a whole or in part, from what can be read in them and from the
        baseline. The quarantine then keeps the exact bytes of each broken file, and the log holds the changes.

        Returns whether there were any. Raises LockTimeoutError, StorageError, ReadOnlyError.
        """
        from core.storage.recovery.repair_files import repair_files

        self._close_view()
        self.load()
        if not self.loaded.snapshot.problems:
            return False
        with locked(self.home), partly_done(_REPAIRING, remedy=Remedy("repair-go-on")):
            self._session.file.open(self.loaded)
            if not self.loaded.snapshot.graph_problem:
                self._committer.reconcile()
            repaired = repair_files(self._session, self.loaded, self._clock())
            if repaired:
                names = ", ".join(repair.path for repair in repaired)
                self._reconcile_as(Attribution(author, "repair", f"repaired {names}", tuple(repaired)))
        return bool(repaired)

    def _reconcile_as(self, mine: Attribution) -> None:
        """Puts what differs down to somebody of ours. There is an entry of it also when no note or fact changed."""
        self._session.attribution = mine
        try:
            self._committer.reconcile()
            left = self._session.attribution
        finally:
            self._session.attribution = None
        if left.mends:
            self._session.note_down(left)

    def is_repaired(self, mends: Iterable[FileRepair]) -> bool:
        """Whether files still are as the repair left them."""
        from core.storage.recovery.repair_files import check_repairs

        try:
            check_repairs(self.home, mends)
        except ConflictError:
            return False
        return True

    def revert_repair(self, undone: ChangeSet, made_by: str, *, recorded: bool) -> None:
        """Restores the bytes that files had before their repair.

        undone: the entry of the log that says so. recorded: whether it is in the log already, because of a crash in
        between. Raises ConflictError for a file that has changed since, LockTimeoutError, StorageError,
        ReadOnlyError; nothing is changed then.
        """
        from core.storage.recovery.repair_files import check_repairs, revert_repairs

        self._close_view()
        with locked(self.home):
            self._committer.reconcile()
            check_repairs(self.home, undone.mends)
            if not recorded:
                self._record(undone, made_by)
            with partly_done(_TURNING_BACK, remedy=Remedy("undo-go-on", undone.about)):
                revert_repairs(self.home, undone.mends, self._clock())

    def set_conflict_state(self, id: str, state: Literal["conflict", "settled"]) -> None:
        """Marks a conflict as resolved, or as waiting again. Raises LockTimeoutError, StorageError."""
        assert self.journal is not None
        with locked(self.home):
            self.journal.set_state(id, state)


_KEPT: Final = "nothing was written"
_UNFINISHED: Final = "it is in the history and finishes when the memory is next opened or changed"
_TRIES: Final = 20
_PATIENT_TRIES: Final = 4


class _BusyError(ConflictError):
    """Another program changed the files whenever we were about to."""


class Applied(NamedTuple):
    """What `Store.apply` did: the snapshots before and after, and the change set as it was really applied."""

    before: Snapshot
    after: Snapshot
    change_set: ChangeSet


class Committer:
    """Brings change sets onto the newest files and reconciles them. It holds the files as they were last
    loaded. All but `load` and `current` is called under the memory's lock.
    """

    def __init__(
        self,
        home: Path,
        settings: Settings,
        session: JournalSession,
        *,
        clock: Callable[[], datetime],
        tolerant: bool,
        loaded: Loaded | None,
        pages: Path | None,
    ) -> None:
        self.home = home
        # The folder of the pages that are the memory's notes, if they are.
        self._pages = pages
        self._tolerant = tolerant
        self._settings = settings
        self._rules = settings.inference
        self._clock = clock
        self._loaded = loaded
        self._problems_kept: tuple[Problem, ...] = ()
        # The journal with which everything was reconciled once: what was left of a crash before that is cleared away.
        self._reconciled_with: Journal | None = None
        # Whether a killed write left something, or somebody is writing.
        self._left_behind = True
        # Files that were gone and did not come back in time.
        self._waited_for: set[Path] = set()
        self._session = session

    def load(self) -> Snapshot:
        """See `Store.load`."""
        never_good = self._loaded is None or bool(self._loaded.graph.broken)
        names: list[str] = []
        self._loaded = read_folder(
            self.home,
            self._rules,
            self._loaded,
            tolerant=self._tolerant and never_good,
            names=names,
            pages=self._pages,
            owed=self._owed,
        )
        folders = (self.home / GRAPH_FILE.parent, *self._loaded.page_folders)
        self._left_behind = any(map(is_leftover, names)) or any(map(has_leftovers, folders))
        return self._loaded.snapshot

    @property
    def reconciled(self) -> bool:
        """Whether nothing is owed: the journal has seen the files as they are."""
        return (
            self._loaded is None or self._session.journal is None or self._session.file.in_step(self._loaded)
        )

    def _owed(self, pages: PageSet) -> Mapping[str, str | None]:
        from core.storage.journal.owed import pages_owed

        return pages_owed(self.home, pages)

    def _write_owed(self, pending: Pending) -> None:
        """Writes the pages of a change that was cut off behind the note graph. Raises StorageError, ReadOnlyError."""
        if self.current.graph.pages is None:
            return
        from core.storage.journal.owed import pages_of

        if write_owed(self.home, self.current, pages_of(self.home, pending)):
            self.load()

    @property
    def litters(self) -> bool:
        """Whether a killed write left something among the pages of another program."""
        return self._left_behind and bool(self.current.page_folders)

    @property
    def current(self) -> Loaded:
        """The files as they were last loaded."""
        assert self._loaded is not None
        return self._loaded

    # Writing

    def commit(
        self,
        change_set: ChangeSet,
        made_by: Maker,
        seq: int | None = None,
        *,
        decide: Decide | None = None,
        urgent: frozenset[str] | None = None,
        preceding: Sequence[ChangeSet] = (),
        insist: bool = False,
        fresh: bool = False,
        spelling: Collection[Document] = (),
        exact: bool = False,
        beside: Beside | None = None,
    ) -> Applied:
        """Rebases and writes until no other program comes between. seq: the entry that is pending already.

        preceding: what goes into the log right before it, when it is written. urgent: what comes between is reconciled
        first, these things above all; None: that was done, or is being done. insist: a program that saves more often
        than one can write does not keep this from being written; what it saves is taken in afterwards. fresh: the
        files were read just now. spelling: as of `prepare`. exact, beside: see `Store.apply`; what is written beside it
        stays, so that the entry then does as well and is finished later.
        """
        kept_beside = False
        for turn in range(_TRIES):
            known = self.current
            before = known.snapshot if fresh and not turn else self.load()
            if urgent is not None and self.current is not known:
                self.reconcile(urgent)
                before = self.current.snapshot
            elif self.lost.documents and not (fresh and not turn):
                break
            check_writable(self.home, before, change_set)
            try:
                effective = rebase(change_set, before, decide or refuse)
            except ConflictError as error:
                if not kept_beside:
                    raise
                raise UnfinishedError(error.what, where=error.where, kept=_UNFINISHED) from error
            if decide is not None and not exact:
                effective = without_hollow(effective)
            whole = (rebased_file(self.home, change) for change in effective.files)
            due = tuple(change for change in whole if is_due(self.home, change))
            effective = completed(self.current, msgspec.structs.replace(effective, files=due))
            if effective.empty:
                if seq is not None:
                    self._session.finish(seq, change_set, made_by, self.current)
                return Applied(before, before, effective)
            entry = effective if seq is None else whole_of(change_set, effective, before)
            insisting = insist and turn >= _PATIENT_TRIES
            done = self._write(effective, entry, made_by, seq, preceding, insisting, spelling, beside)
            if isinstance(done, int):
                seq, beside, kept_beside = done, None, True
            elif done is not None:
                entry, written = done
                self._loaded = written.loaded
                self._take_in(written)
                return Applied(before, self.current.snapshot, entry)
        if kept_beside:
            raise UnfinishedError(
                "another program keeps changing the files", where=str(self.home), kept=_UNFINISHED
            )
        raise _BusyError(
            "another program keeps changing the files",
            code=ErrorCode.LOCKED,
            remedy=Remedy("try-again"),
            where=str(self.home),
            kept=_KEPT,
        )

    def _write(
        self,
        effective: ChangeSet,
        entry: ChangeSet,
        made_by: Maker,
        seq: int | None,
        preceding: Sequence[ChangeSet],
        insisting: bool,
        spelling: Collection[Document],
        beside: Beside | None = None,
    ) -> tuple[ChangeSet, Written] | int | None:
        """One try. None when a file moved on under us before anything was written; the number of the entry where it
        stays all the same, since what was written beside it does. entry: what the log tells of it, which is more than
        `effective` where a part was written before.
        """
        loaded = self.current
        if loaded.snapshot.problems:
            keep_before_rewriting(self.home, loaded, effective, self._clock())
        write = prepare(self.home, loaded, effective, spelling)
        with self._staged(write):
            number, entry = self._session.begin(entry, made_by, write.stages(), seq, preceding, beside)
            written = None
            try:
                try:
                    written = write.carry_out(insisting=insisting)
                finally:
                    if written is None and not write.begun and seq is None and beside is None:
                        self._session.abandon(number, len(preceding))
            except StorageError as error:
                if seq is None and self._session.is_pending(number):
                    kept = f"the change is not lost: {_UNFINISHED}"
                    unfinished = UnfinishedError(error.what, where=error.where, kept=kept)
                    unfinished.entry = entry.id
                    raise unfinished from error
                raise
            if written is None:
                return None if beside is None else number
            self._session.finish(
                number, entry, made_by, loaded, written.loaded, self._concurrent_changes(written, loaded)
            )
            return entry, written

    @contextmanager
    def _staged(self, write: Write) -> Iterator[None]:
        try:
            yield
        except BaseException:
            if not write.begun:
                write.give_up()
            raise

    def _concurrent_changes(self, written: Written, loaded: Loaded) -> Callable[[], Iterable[ChangeSet]]:
        """What other programs wanted that wrote in the instant of our write, once it is asked."""
        return concurrent_changes(self._session, written, loaded) if written.concurrent_writes else tuple

    def _take_in(self, written: Written) -> None:
        """What another program put there in the instant of our rename is brought in on top."""
        if not written.concurrent_writes:
            return
        self._finish_pending()
        if not self._session.pending():
            for concurrent in written.concurrent_writes:
                concurrent.path.unlink(missing_ok=True)

    # Reconciling

    def reconcile(
        self,
        urgent: frozenset[str] = frozenset(),
        *,
        counting: bool = False,
        loaded: bool = False,
        restoring: bool = True,
    ) -> None:
        """Under the lock: finishes what a crash cut off, logs what came from outside, restores what was taken back.

        urgent: what is about to be changed. counting: only to count a recall, so that nothing else is restored.
        loaded: the files were read just now. restoring: False leaves what was taken back to whoever looks next.
        """
        if not loaded:
            self.load()
        if self._nothing_left and self.reconciled:
            return
        self._session.file.open(self.current)
        if self._left_behind:
            recover_concurrent_writes(self._session, self.current)
            remove_leftovers(self.home, *self.current.page_folders)
        self._session.mark_contained(self.current)
        problems = self.current.snapshot.problems
        if problems and problems != self._problems_kept:
            keep_unreadable(self.home, self.current, self._clock())
            self._problems_kept = problems
        self._reconciled_with = self._session.journal
        for _ in range(_TRIES):
            self._restore_lost()
            self._session.draw_ids_from(self.current)
            due = note_outside(self._session, self.current, urgent)
            if counting:
                due = self._only_for(urgent, due)
            self._finish_pending()
            if not restoring or (not due.restorations and due.white_space is None):
                self._store_pages()
                return
            for restoration in due.restorations:
                if not self._restore(restoration, due):
                    # It stays owed: whoever looks next tries again.
                    return
            if due.white_space is not None and not self._put_back(due.white_space):
                return

    @property
    def lost(self) -> Lost:
        """The files that are gone, as far as the journal can tell."""
        with contextlib.suppress(NuggetsError, BrokenJournalError):
            return lost_files(self._session, self.current)
        return Lost()

    def wait_for_lost(self, session: JournalSession) -> Lost:
        """Gives who removed files a moment to write them anew, once for the same files. Returns what stays gone."""
        end = time.monotonic() + _GONE_SECONDS
        while (lost := lost_files(session, self.current)).documents:
            paths = {document.path for document in lost.documents}
            if time.monotonic() >= end:
                self._waited_for = paths
            if paths <= self._waited_for:
                return lost
            time.sleep(_GLANCE_SECONDS)
            self.load()
        self._waited_for = set()
        return lost

    def _restore_lost(self) -> None:
        """Writes files that stay gone as they were last seen. Raises StorageError, ReadOnlyError."""
        while (lost := self.wait_for_lost(self._session)).documents:
            for document in lost.documents:
                make_folder(document.path.parent)
                staged = stage_file(write_target(self.home, document.path), *document.to_parts())
                try:
                    put_instead(staged, None)
                except FileExistsError:
                    # It is back in this very instant.
                    discard([staged])
                    lost = Lost()
            log_lost(self._session, lost)
            self._waited_for = set()
            self.load()

    def _store_pages(self) -> None:
        """Has the note graph hold the pages as they are now: what is deleted among them later is not lost."""
        loaded = self.current
        if not loaded.pages_to_store:
            return
        try:
            write = store_pages(self.home, loaded)
            with self._staged(write):
                written = write.carry_out()
        except NuggetsError as error:
            self._session.notices.add_error(error)
            return
        if written is not None:
            self._loaded = written.loaded
            self._session.finish(None, write.change_set, RESTORED, loaded, written.loaded)

    @property
    def _nothing_left(self) -> bool:
        """Whether what a crash may have left, and what cannot be read, is seen to already."""
        journal, problems = self._session.journal, self.current.snapshot.problems
        seen_to = not self._left_behind and (not problems or problems == self._problems_kept)
        return journal is not None and journal is self._reconciled_with and seen_to

    def is_ready(self, loaded: Loaded) -> bool:
        """Whether a change may be written on these files, which are in step with the journal, without settling."""
        return self._nothing_left and self.current is loaded

    @staticmethod
    def _only_for(urgent: frozenset[str], due: Due) -> Due:
        """What of it concerns these things; the rest is found again by the next change."""
        now = tuple(one for one in due.restorations if concerned(one) & urgent)
        return due._replace(restorations=now, white_space=white_space_of(due.white_space, urgent))

    def _finish_pending(self) -> None:
        for pending in self._session.pending():
            met = Collect(take_theirs)
            try:
                self._write_owed(pending)
                self.commit(pending.change_set, pending.made_by, pending.seq, decide=met)
                if met.conflicts:
                    self._session.keep_conflict(pending.change_set, pending.made_by, met.conflicts[0])
            except _BusyError:
                # It stays pending: whoever looks next finishes it.
                return
            except ConflictError as error:
                self._session.put_off(pending, error)
            except NuggetsError as error:
                reason = pending.change_set.reason
                self._session.notices.add(
                    Notice(
                        f"{error.what}; a change is not finished yet ({reason}): {_UNFINISHED}",
                        where=error.where,
                        code=error.code,
                    )
                )

    def _restore(self, restoration: ChangeSet, due: Due) -> bool:
        """False when the system refused it."""
        try:
            taken_back = due.taken_back(restoration)
            restored = self.commit(
                restoration, due.made_by, preceding=taken_back, insist=due.made_by == RESTORED_IN_PASSING
            )
        except _BusyError:
            return True
        except ConflictError:
            # The files moved on: what is lost is judged anew.
            return True
        except NuggetsError as error:
            self._session.notices.add_error(error)
            return False
        if restoration.kind != "hit" and not restored.change_set.empty and not due.silent:
            self._session.notices.add(
                f"{restoration.reason}; if you meant it otherwise, undo {restored.change_set.id}"
            )
        return True

    def _put_back(self, white_space: ChangeSet) -> bool:
        """Writes texts as the journal last saw them, where they lost nothing but white space; whether it could."""
        try:
            effective = rebase(white_space, self.load())
            loaded = self.current
            if effective.empty:
                return False
            if loaded.snapshot.problems:
                keep_before_rewriting(self.home, loaded, effective, self._clock())
            write = prepare(self.home, loaded, effective)
            written = None
            with self._staged(write):
                written = write.carry_out()
            if written is None:
                return True
            self._loaded = written.loaded
            self._session.finish(
                None, effective, RESTORED, loaded, written.loaded, self._concurrent_changes(written, loaded)
            )
            self._take_in(written)
        except NuggetsError:
            return False
        return True
