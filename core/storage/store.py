"""The folder as one store: loads snapshots and applies change sets under the lock; nothing else writes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from core.errors import (
    BrokenFileError,
    ConflictError,
    LockTimeoutError,
    Notice,
    NuggetsError,
    Repair,
    StorageError,
    Undo,
    partly_done,
)
from core.model.change import Author, ChangeSet, FileRepair
from core.model.entry import Conflict
from core.model.names import iso
from core.model.snapshot import Snapshot
from core.settings import Settings
from core.storage.committing import Applied, Committer
from core.storage.files.atomic import locked, make_folder, remove_file
from core.storage.format.reading import Loaded
from core.storage.journal.codec import concerned
from core.storage.journal.journal import Journal
from core.storage.journal.origins import by
from core.storage.journal.schema import BrokenJournalError, unreadable
from core.storage.journal.session import Attribution, JournalSession
from core.storage.merge.deciding import Decide
from core.storage.reconcile.in_memory import reconcile_in_memory
from core.storage.reconcile.outside import is_quiet
from core.storage.recovery.repair_files import check_repairs, repair_files, repairable, revert_repairs
from core.storage.recovery.second_files import SecondFile, second_files
from core.storage.safety.backup_before_write import LARGE, backup_before_write, keep_unreadable, keep_whole
from core.storage.safety.quarantine import set_aside
from core.storage.writing import check_writable

_VISIT: Final = "last visit"
_GLANCE_SECONDS: Final = 0.01
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
            home, self._settings, self._session, clock=self._clock, tolerant=tolerant, loaded=loaded
        )

    @property
    def journal(self) -> Journal | None:
        """The open journal, for reads with what is not in it yet; None before the first change of a memory that is
        empty or cannot be written.
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
    def present(self) -> Snapshot:
        """The snapshot as it was last loaded."""
        return (self._viewed or self.loaded).snapshot

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

    def sync(self, seconds: float, patience: float = 0.0) -> Snapshot:
        """Compares the files with what the journal last saw, reconciles them, and loads.

        Does nothing but load where nothing may be written, or when somebody holds the lock for longer than `seconds`:
        whoever writes next does it. What is owed while another program keeps writing is waited for until `patience`
        seconds are over. Errors as in `load`.
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
                if self._session.file.in_step(self.loaded):
                    self._in_step = self.loaded
                    return snapshot
                while not self._session.file.in_step(self.loaded):
                    with locked(self.home, seconds=seconds), self._session.file.busy_timeout(seconds):
                        self._committer.reconcile()
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
        return self.load()

    @property
    def fresh(self) -> bool:
        """Whether the last look found the files in step with the journal, and nothing was done since: a change may be
        written on them without another look. What moved in between is found when they are exchanged.
        """
        return self._in_step is not None and self._committer.is_ready(self._in_step)

    @property
    def logs_begun(self) -> int:
        """How many logs were begun in the place of one that was gone or broken, while this was open."""
        return self._session.file.begun

    @property
    def log_problem(self) -> NuggetsError | None:
        """Why the log cannot be read though there is one; None when it can, and when there is none."""
        return (self._view or self._session).file.log_problem if self.journal is None else None

    def _keep_broken(self) -> None:
        """Keeps the bytes of a note graph that cannot be read; what it means for the facts is told once it can."""
        try:
            with locked(self.home, seconds=1.0):
                keep_unreadable(self.home, self.loaded, self._clock())
        except NuggetsError as error:
            self._session.notices.add_error(error)

    def reconcile_now(self) -> tuple[JournalSession, Loaded]:
        """Under the memory's lock: the log and the files, in step with each other. Errors as in `apply`."""
        self._close_view()
        self._committer.reconcile()
        return self._session, self.loaded

    @property
    def reconciled(self) -> bool:
        """Whether nothing is owed that this may put right: the journal has seen the files as they are."""
        return self._view is not None or self._committer.reconciled

    def restore_for(self, change_set: ChangeSet) -> bool:
        """Restores what another program took back of the things that a change set touches. Whether the files are
        others now: then it was drafted on what is not to stand. Errors as in `apply`.
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

    def apply(
        self,
        change_set: ChangeSet,
        made_by: str = "person",
        decide: Decide | None = None,
        seconds: float | None = None,
        *,
        fresh: bool = False,
    ) -> Applied:
        """Brings a change set onto the newest files and writes it; `made_by` says who sat at the keyboard, `decide`
        what stands where a thing was changed in two ways (None: that is an error). seconds: how long other writers
        are waited for (None: as long as is usual). fresh: see `fresh`, which this must be.

        Raises ConflictError, ReadOnlyError, BrokenFileError, LockTimeoutError, StorageError; nothing is written then,
        but for UnfinishedError: then it is in the log, and finished by whoever opens the memory next.
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
                    self._session.file.bind()
                    without_backup = self._backup_before_write(change_set)
                    done = self._committer.commit(
                        change_set, by(made_by), decide=decide, urgent=touched, insist=True, fresh=True
                    )
                if without_backup and not done.change_set.empty:
                    self._session.notices.add(without_backup)
                return done
            except BrokenJournalError as error:
                self._session.file.begin_anew(error, self.loaded)
                return self._committer.commit(change_set, by(made_by), decide=decide)

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
            # A change that can be taken back from the log does not wait for a second safety net.
            why = f"no backup could be made ({error.what})"
            return Notice(f"{why}; the change itself is written and in the history", where=error.where)
        return ""

    def quarantine_broken_journal(self, error: Exception) -> bool:
        """Whether an error came of a damaged journal that was set aside now, and a new one begun: what was asked of it
        may be asked again. Raises StorageError for a damaged one that nothing may be written to.
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
        """Puts a change that met a conflict into the log, where it waits for a person; the entry's id, "" for none."""
        if self.journal is None:
            return ""
        try:
            with locked(self.home):
                return self._session.keep_conflict(change_set, by(made_by), error)
        except (NuggetsError, BrokenJournalError):
            return ""

    def note_down(self, change_set: ChangeSet, made_by: str) -> None:
        """Puts a change set into the log that had nothing left to write. Raises LockTimeoutError, StorageError."""
        if self.journal is not None:
            with locked(self.home):
                self._record(change_set, made_by)

    def _record(self, change_set: ChangeSet, made_by: str) -> None:
        assert self.journal is not None
        with self.journal.transaction(durable=True) as connection:
            self.journal.record(connection, change_set, by(made_by))

    def visited(self, at: str) -> str | None:
        """Keeps when a person looked at the memory, without making a log for it; when that was last, None for never."""
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
        """Moves a file of the folder that has served its purpose into the quarantine, bytes intact; where it lies now.

        Raises LockTimeoutError, StorageError, ReadOnlyError.
        """
        with locked(self.home):
            kept = keep_whole(self.home, path, reason, self._clock(), sound=True)
            remove_file(path)
            return kept

    def second_files(self) -> list[SecondFile]:
        """The second files of nuggets that repairing can bring into them and set aside."""
        return second_files(self.loaded)

    def keep_second(self, second: SecondFile, data: bytes) -> Path:
        """Keeps what a second file held that was taken out of the folder, in the quarantine too; where it lies.

        Raises LockTimeoutError, StorageError, ReadOnlyError.
        """
        with locked(self.home):
            why = f"a second file of the nugget {second.document.meta.name}, brought into {second.used.path.name}"
            file, at = str(second.path.relative_to(self.home)), iso(self._clock())
            kept = set_aside(
                self.home, file=file, data=data, reason=why, where=file, at=at, whole=True, sound=True
            ).path
            self._session.notices.add(
                f"{second.path.name}: {second.used.path.name} now holds all of it; the file is kept as {kept}"
            )
            return kept

    def repairable(self) -> frozenset[str]:
        """Where notes and facts stand, as their problems say it, that `repair` puts back as they last could be read."""
        return repairable(self._session, self.loaded)

    def repair(self, author: Author) -> bool:
        """Makes sound files of those that cannot be read, as a whole or in part: of what can be read in them and
        what was last seen there.

        Each broken file lies in the quarantine afterwards, with its exact bytes; what the repair changed is in the log.
        Returns whether there were any. Raises LockTimeoutError, StorageError, ReadOnlyError.
        """
        self._close_view()
        self.load()
        if not self.loaded.snapshot.problems:
            return False
        with locked(self.home), partly_done(_REPAIRING, remedy=Repair("go-on")):
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
        try:
            check_repairs(self.home, mends)
        except ConflictError:
            return False
        return True

    def revert_repair(self, undone: ChangeSet, made_by: str, *, recorded: bool) -> None:
        """Puts the bytes back that files held before they were repaired. undone: the entry of the log that says so;
        recorded: whether it is there already, a crash having come before the files.

        Raises ConflictError for a file that is another one by now, LockTimeoutError, StorageError, ReadOnlyError;
        nothing is changed then.
        """
        self._close_view()
        with locked(self.home):
            self._committer.reconcile()
            check_repairs(self.home, undone.mends)
            if not recorded:
                self._record(undone, made_by)
            with partly_done(_TURNING_BACK, remedy=Undo(undone.about, go_on=True)):
                revert_repairs(self.home, undone.mends, self._clock())

    def resolve_conflict(self, id: str) -> None:
        """Marks a conflict as decided. Raises LockTimeoutError, StorageError."""
        assert self.journal is not None
        with locked(self.home):
            self.journal.set_state(id, "settled")
