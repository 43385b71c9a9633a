"""The folder as one store: loads snapshots, reconciles, and applies change sets under the lock; nothing else writes.

A change set is rebased on the newest files, staged, put down in the journal as pending, and the files are exchanged.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from core.errors import (
    BrokenFileError,
    ConflictError,
    LockTimeoutError,
    Notice,
    NuggetsError,
    Remedy,
    StorageError,
    partly_done,
)
from core.folder import DATABASE_FILE
from core.model.change import Author, ChangeSet, FileRepair
from core.model.entry import Conflict
from core.model.snapshot import Snapshot
from core.settings import Settings
from core.storage.commit import Applied, Committer, Written
from core.storage.files.atomic import (
    locked,
    make_folder,
    remove_file,
)
from core.storage.format.documents import Document, Loaded
from core.storage.journal.codec import by
from core.storage.journal.journal import Beside, Journal
from core.storage.journal.schema import BrokenJournalError, unreadable
from core.storage.journal.session import Attribution, JournalSession
from core.storage.merge.deciding import Decide
from core.storage.merge.rebase import rebase
from core.storage.safety.backup_before_write import (
    LARGE,
    backup_before_write,
    keep_unreadable,
    keep_whole,
)
from core.storage.writing import check_writable

# What is wanted rarely is loaded then: every command opens a store.
if TYPE_CHECKING:
    from core.storage.format.page_writes import PagePreview
    from core.storage.journal.carried import CarriedEntry

_VISIT: Final = "last visit"
_GLANCE_SECONDS: Final = 0.01
# How long it is waited for that nobody writes any more.
_LONGEST_PATIENCE: Final = 3.0
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
        # The day of which there is a backup for sure.
        self._backed_up_on: date | None = None
        # The files as a look found them in step with the journal.
        self._in_step: Loaded | None = None
        self._committer = Committer(
            home, self._settings.inference, self._session,
            clock=self._clock, tolerant=tolerant, loaded=loaded, pages=pages,
        )  # fmt: skip

    @property
    def journal(self) -> Journal | None:
        """The open journal; None before the first change of a memory that is empty or cannot be written."""
        return self._session.journal

    @property
    def viewed(self) -> bool:
        """Whether the memory was only read so far."""
        return self.journal is not None and self.journal.read_only

    def view(self) -> Snapshot:
        """The memory as the files show it; writes nothing. A file that is gone is waited for. Errors as in `load`."""
        self.load()
        self._session.file.open_to_read()
        if self.journal is None and self._session.file.gone(self.loaded):
            path = self.home / DATABASE_FILE
            self._session.notices.add(f"{path}: the history is missing; the next change starts a new one")
        with contextlib.suppress(NuggetsError, BrokenJournalError):
            self._committer.wait_for_lost()
        return self.present

    @property
    def last_seq(self) -> int:
        """The number of the newest entry that is in the log, 0 for none."""
        return self.journal.last_seq if self.journal is not None else 0

    @property
    def log_is_damaged(self) -> bool:
        """Whether there is a damaged log, whose bytes can be set aside."""
        problem = self.log_problem
        damaged = isinstance(problem, StorageError) and problem.damaged
        return damaged and self._session.file.wanted(self.loaded)

    @property
    def loaded(self) -> Loaded:
        """The files as they were last loaded."""
        return self._committer.current

    @property
    def present(self) -> Snapshot:
        """The snapshot as it was last loaded."""
        return self.loaded.snapshot

    def load(self) -> Snapshot:
        """The snapshot of the files as they are now; the same object as before when no file changed.

        Reads only files whose fingerprint moved. Raises BrokenFileError for a note graph that cannot be read
        and StorageError when the system refuses; the last snapshot stays valid then. A tolerant store that never saw
        a good graph loads the facts alone.
        """
        return self._committer.load()

    def close(self) -> None:
        """Closes the journal's file; the next use opens it again."""
        self._committer.close()
        self._session.file.close()

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call."""
        return self._session.file.take_notices()

    def sync(self, seconds: float, *, writing: bool = False, patient: bool = False) -> Snapshot:
        """Compares the files with the baseline, logs what other programs did, and loads.

        What an old copy reverted is put back once the files are quiet; writing: at once, since something is about to be
        written. patient: waits for that. Only loads where nothing may be written, or when somebody holds the lock for
        longer than `seconds`; the next writer does it then. Errors as in `load`.
        """
        self._in_step = None
        snapshot = self.load()
        if snapshot.read_only or not self._session.file.wanted(self.loaded) or snapshot.graph_problem:
            if snapshot.graph_problem and not snapshot.read_only:
                self._keep_broken()
            return self.view()
        try:
            with self._session.file.detecting_damage():
                if self._session.file.in_step(self.loaded) and not self._committer.unsettled:
                    self._in_step = self.loaded
                    return snapshot
                self._reconcile(seconds, writing=writing)
                end = time.monotonic() + _LONGEST_PATIENCE
                while patient and not self.reconciled and time.monotonic() < end:
                    time.sleep(_GLANCE_SECONDS)
                    before = self.loaded
                    self.load()
                    if self.loaded is not before or self._committer.quiet:
                        self._reconcile(seconds)
        except BrokenFileError:
            raise
        except LockTimeoutError:
            pass
        except BrokenJournalError as broken:
            self._begin_journal_anew(broken)
        except NuggetsError as error:
            self._session.file.open_to_read()
            self._session.file.report_not_written(self.log_problem or error)
        return self.load()

    def _reconcile(self, seconds: float, *, writing: bool = False) -> None:
        with locked(self.home, seconds=seconds), self._session.file.busy_timeout(seconds):
            self._committer.reconcile(writing=writing)

    @property
    def fresh(self) -> bool:
        """Whether the last look found the files in step with the journal and nothing was written since: a change may
        be written without another look. The exchange of the files finds what changed in between.
        """
        return self._in_step is not None and self._committer.is_ready(self._in_step)

    @property
    def log_problem(self) -> NuggetsError | None:
        """Why the log cannot be read; None when it can, and when there is none."""
        return self._session.file.log_problem if self.journal is None else None

    def _keep_broken(self) -> None:
        """Keeps the bytes of a note graph that cannot be read; what it means for the facts is told once it can."""
        try:
            with locked(self.home, seconds=1.0):
                keep_unreadable(self.home, self.loaded, self._clock())
        except NuggetsError as error:
            self._session.notices.add_error(error)

    def reconcile_now(self) -> tuple[JournalSession, Loaded]:
        """Brings log and files in step, under the memory's lock. Errors as in `apply`."""
        self._committer.reconcile(writing=True)
        return self._session, self.loaded

    def finish(self, entry: ChangeSet, made_by: str, before: Loaded, written: Written) -> bool:
        """Remembers files that were written without an entry, and merges what came between; whether something did."""
        moved = self._committer.finish(None, entry, by(made_by), before, written)
        self._committer.close()
        return moved

    @property
    def reconciled(self) -> bool:
        """Whether there is nothing left to restore: the journal has seen the files as they are."""
        return self._committer.reconciled

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
        if not fresh:
            self._refuse_unwritable(change_set)
            make_folder(self.home)
        with locked(self.home, seconds=seconds), self._session.file.busy_timeout(seconds):
            try:
                with self._session.file.detecting_damage():
                    if not fresh:
                        check_writable(self.home, self.load(), change_set)
                        self._settle(change_set)
                    without_backup = self._backup_before_write(change_set)
                    done = self._committer.commit(
                        change_set, by(made_by), decide=decide, settling=change_set.kind != "hit", insist=True,
                        fresh=True, judged=fresh, spelling=spelling, exact=exact, beside=beside,
                    )  # fmt: skip
                if without_backup and not done.change_set.empty:
                    self._session.notices.add(without_backup)
                return done
            except BrokenJournalError as error:
                self._session.file.begin_anew(error, self.loaded)
                return self._committer.commit(change_set, by(made_by), decide=decide, beside=beside)

    def _settle(self, change_set: ChangeSet) -> None:
        """Brings log and files in step before a change. A recall only counts, and leaves that to the next change."""
        if change_set.kind != "hit":
            self._committer.reconcile(writing=True, loaded=True)
        else:
            self._session.file.open(self.loaded)

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
            with self._session.file.detecting_damage():
                raise error
        except BrokenJournalError as broken:
            if journal.read_only and not self._session.file.wanted(self.loaded):
                raise unreadable(journal.path, str(broken)) from error
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
                self._open_to_write()
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
                self._open_to_write()
                self._record(change_set, made_by)

    def clear_history(self) -> None:
        """Empties the log. Raises LockTimeoutError, StorageError, ReadOnlyError."""
        with locked(self.home):
            self.reconcile_now()
            if self.journal is not None:
                self.journal.clear()

    def begin_log(self) -> None:
        """Has a log, also where nothing was changed so far. Raises LockTimeoutError, StorageError, ReadOnlyError."""
        if self.journal is not None and not self.journal.read_only:
            return
        make_folder(self.home)
        with locked(self.home):
            self._open_to_write()

    def _open_to_write(self) -> None:
        """Has the log open for writing, where it was opened to be read. Under the lock."""
        if self.journal is None or self.journal.read_only:
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
            self._open_to_write()
            self.journal.set_state(id, state)
