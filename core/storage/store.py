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
from core.model.change import Author, ChangeSet, FileMend
from core.model.entry import Conflict
from core.model.names import iso
from core.model.snapshot import Snapshot
from core.settings import Settings
from core.storage.committing import Applied, Committer
from core.storage.files.atomic import locked, make_folder, remove_file
from core.storage.format.reading import Loaded
from core.storage.journal.codec import concerned
from core.storage.journal.ledger import Ledger
from core.storage.journal.origins import by
from core.storage.journal.schema import BrokenLedgerError, unreadable
from core.storage.journal.session import Attribution, JournalSession
from core.storage.merge.deciding import Decide
from core.storage.reconcile.in_memory import reconcile_in_memory
from core.storage.reconcile.outside import is_quiet
from core.storage.recovery.mend_files import check_mends, mend_files, mendable, take_mends_back
from core.storage.recovery.second_files import SecondFile, second_files
from core.storage.safety.before_writing import LARGE, back_up, keep_unreadable, keep_whole
from core.storage.safety.quarantine import set_aside
from core.storage.writing import check_writable

_VISIT: Final = "last visit"
_GLANCE_SECONDS: Final = 0.01
_MENDING: Final = "nothing is lost: the quarantine holds the files repaired so far as they were"
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
        self._trace = JournalSession(home, self._settings, clock=self._clock, ids=ids)
        # What a read found, until something is written: the log beside what is not in it yet, and the files so.
        self._ids = ids
        self._view: JournalSession | None = None
        self._viewed: Loaded | None = None
        self._view_begun = 0
        # The day of which there is a backup for sure.
        self._backed_up_on: date | None = None
        # The files as a look found them in step with the ledger.
        self._in_step: Loaded | None = None
        self._committer = Committer(
            home, self._settings, self._trace, clock=self._clock, tolerant=tolerant, loaded=loaded
        )

    @property
    def ledger(self) -> Ledger | None:
        """The open ledger, for reads with what is not in it yet; None before the first change of a memory that is
        empty or cannot be written.
        """
        return self._trace.ledger if self._view is None else self._view.ledger

    @property
    def viewed(self) -> bool:
        """Whether the memory was only read so far."""
        return self._view is not None

    def view(self) -> Snapshot:
        """The memory as the next writer will leave it, reconciled in memory. Writes nothing. Errors as in `load`."""
        self.load()
        if self._trace.ledger is not None and not self._trace.ledger.read_only and self.settled:
            return self.present
        self._close_view()
        view = JournalSession(self.home, self._settings, clock=self._clock, ids=self._ids)
        view.log.open_to_read()
        with contextlib.suppress(NuggetsError, BrokenLedgerError):
            self._view_begun = view.ledger.last_seq if view.ledger is not None else 0
        self._view, self._viewed = view, reconcile_in_memory(view, self.loaded)
        return self._viewed.snapshot

    @property
    def last_seq(self) -> int:
        """The number of the newest entry that is in the log, 0 for none."""
        return self._trace.ledger.last_seq if self._view is None and self._trace.ledger else self._view_begun

    @property
    def log_is_damaged(self) -> bool:
        """Whether there is a damaged log, whose bytes can be set aside."""
        problem = self.log_problem
        damaged = isinstance(problem, StorageError) and problem.damaged
        return damaged and self._trace.log.wanted(self.loaded)

    def _close_view(self) -> None:
        if self._view is not None:
            self._view.log.close()
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
        """Lets the ledger's file go; the next use opens it again."""
        self._close_view()
        self._trace.log.close()

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call."""
        of_view = self._view.log.take_notices() if self._view is not None else ()
        return tuple(dict.fromkeys((*of_view, *self._trace.log.take_notices())))

    def look_around(self, seconds: float, patience: float = 0.0) -> Snapshot:
        """Compares the files with what the ledger last saw, settles what is to be settled, and loads.

        Does nothing but load where nothing may be written, or when somebody holds the lock for longer than `seconds`:
        whoever writes next does it. What is owed while another program keeps writing is waited for until `patience`
        seconds are over. Errors as in `load`.
        """
        self._close_view()
        self._in_step = None
        snapshot = self.load()
        if snapshot.read_only or not self._trace.log.wanted(self.loaded) or snapshot.graph_problem:
            if snapshot.graph_problem and not snapshot.read_only:
                self._keep_broken()
            return self.view()
        begun = time.monotonic()
        try:
            with self._trace.log.looked_over():
                if self._trace.log.in_step(self.loaded):
                    self._in_step = self.loaded
                    return snapshot
                while not self._trace.log.in_step(self.loaded):
                    with locked(self.home, seconds=seconds), self._trace.log.waiting(seconds):
                        self._committer.settle()
                    quiet = self._trace.quiet_seconds
                    end = begun + (max(patience, quiet + _GLANCE_SECONDS) if patience else 0.0)
                    if self.settled or time.monotonic() >= end:
                        break
                    while not is_quiet(self.loaded, quiet) and time.monotonic() < end:
                        time.sleep(_GLANCE_SECONDS)
                        self.load()
        except BrokenFileError:
            raise
        except LockTimeoutError:
            pass
        except BrokenLedgerError as broken:
            self._begin_ledger_anew(broken)
        except NuggetsError as error:
            self._trace.log.open_to_read()
            self._trace.log.tell_not_written(self.log_problem or error)
        return self.load()

    @property
    def fresh(self) -> bool:
        """Whether the last look found the files in step with the ledger, and nothing was done since: a change may be
        written on them without another look. What moved in between is found when they are exchanged.
        """
        return self._in_step is not None and self._committer.is_ready(self._in_step)

    @property
    def logs_begun(self) -> int:
        """How many logs were begun in the place of one that was gone or broken, while this was open."""
        return self._trace.log.begun

    @property
    def log_problem(self) -> NuggetsError | None:
        """Why the log cannot be read though there is one; None when it can, and when there is none."""
        return (self._view or self._trace).log.log_problem if self.ledger is None else None

    def _keep_broken(self) -> None:
        """Keeps the bytes of a note graph that cannot be read; what it means for the facts is told once it can."""
        try:
            with locked(self.home, seconds=1.0):
                keep_unreadable(self.home, self.loaded, self._clock())
        except NuggetsError as error:
            self._trace.notices.tell(error)

    def settle_now(self) -> tuple[JournalSession, Loaded]:
        """Under the memory's lock: the log and the files, in step with each other. Errors as in `apply`."""
        self._close_view()
        self._committer.settle()
        return self._trace, self.loaded

    @property
    def settled(self) -> bool:
        """Whether nothing is owed that this may put right: the ledger has seen the files as they are."""
        return self._view is not None or self._committer.settled

    def restore_for(self, change_set: ChangeSet) -> bool:
        """Restores what another program took back of the things that a change set touches. Whether the files are
        others now: then it was drafted on what is not to stand. Errors as in `apply`.
        """
        self._close_view()
        if self.settled:
            return False
        before = self.loaded
        try:
            with locked(self.home), self._trace.log.waiting(None), self._trace.log.looked_over():
                self._committer.settle(concerned(change_set))
        except BrokenLedgerError:
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
        with locked(self.home, seconds=seconds), self._trace.log.waiting(seconds):
            try:
                with self._trace.log.looked_over():
                    if not fresh:
                        check_writable(self.home, self.load(), change_set)
                        self._committer.settle(touched, counting=change_set.kind == "hit", loaded=True)
                    self._trace.log.bind()
                    without_backup = self._keep_safe(change_set)
                    done = self._committer.commit(
                        change_set, by(made_by), decide=decide, urgent=touched, insist=True, fresh=True
                    )
                if without_backup and not done.change_set.empty:
                    self._trace.notices.say(without_backup)
                return done
            except BrokenLedgerError as error:
                self._trace.log.begin_anew(error, self.loaded)
                return self._committer.commit(change_set, by(made_by), decide=decide)

    def _refuse_unwritable(self, change_set: ChangeSet) -> None:
        """Before anything is made for it; the files as they were last loaded tell it mostly."""
        try:
            check_writable(self.home, self.present, change_set)
        except NuggetsError:
            check_writable(self.home, self.load(), change_set)

    def _keep_safe(self, change_set: ChangeSet) -> str:
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
            back_up(self.home, change_set, now, self._settings.backups.keep)
            self._backed_up_on = now.astimezone().date()
        except NuggetsError as error:
            # A change that can be taken back from the log does not wait for a second safety net.
            why = f"no backup could be made ({error.what})"
            return Notice(f"{why}; the change itself is written and in the history", where=error.where)
        return ""

    def set_broken_ledger_aside(self, error: Exception) -> bool:
        """Whether an error came of a damaged ledger that was set aside now, and a new one begun: what was asked of it
        may be asked again. Raises StorageError for a damaged one that nothing may be written to.
        """
        ledger = self.ledger
        if ledger is None:
            return False
        try:
            with (self._view or self._trace).log.looked_over():
                raise error
        except BrokenLedgerError as broken:
            if ledger.read_only and not (self.viewed and self._trace.log.wanted(self.loaded)):
                raise unreadable(ledger.path, str(broken)) from error
            self._close_view()
            self._begin_ledger_anew(broken)
            return self.ledger is not ledger and self.ledger is not None
        except Exception:
            return False

    def _begin_ledger_anew(self, error: BrokenLedgerError) -> None:
        try:
            with locked(self.home):
                self._trace.log.begin_anew(error, self.loaded)
        except NuggetsError as refused:
            self._trace.notices.tell(refused)

    # Keeping and putting away

    def keep_conflict(self, change_set: ChangeSet, made_by: str, error: ConflictError | Conflict) -> str:
        """Puts a change that met a conflict into the log, where it waits for a person; the entry's id, "" for none."""
        if self.ledger is None:
            return ""
        try:
            with locked(self.home):
                return self._trace.keep_conflict(change_set, by(made_by), error)
        except (NuggetsError, BrokenLedgerError):
            return ""

    def note_down(self, change_set: ChangeSet, made_by: str) -> None:
        """Puts a change set into the log that had nothing left to write. Raises LockTimeoutError, StorageError."""
        if self.ledger is not None:
            with locked(self.home):
                self._record(change_set, made_by)

    def _record(self, change_set: ChangeSet, made_by: str) -> None:
        assert self.ledger is not None
        with self.ledger.transaction(durable=True) as connection:
            self.ledger.record(connection, change_set, by(made_by))

    def visited(self, at: str) -> str | None:
        """Keeps when a person looked at the memory, without making a log for it; when that was last, None for never."""
        ledger = self.ledger
        if ledger is None or ledger.read_only:
            return None
        try:
            before = ledger.meta(_VISIT)
            with ledger.transaction():
                ledger.keep_meta(_VISIT, at)
        except (NuggetsError, BrokenLedgerError):
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
            self._trace.notices.say(
                f"{second.path.name}: {second.used.path.name} now holds all of it; the file is kept as {kept}"
            )
            return kept

    def mendable(self) -> frozenset[str]:
        """Where notes and facts stand, as their problems say it, that `mend` puts back as they last could be read."""
        return mendable(self._trace, self.loaded)

    def mend(self, author: Author) -> bool:
        """Makes sound files of those that cannot be read, as a whole or in part: of what can be read in them and
        what was last seen there.

        Each broken file lies in the quarantine afterwards, with its exact bytes; what mending changed is in the log.
        Returns whether there were any. Raises LockTimeoutError, StorageError, ReadOnlyError.
        """
        self._close_view()
        self.load()
        if not self.loaded.snapshot.problems:
            return False
        with locked(self.home), partly_done(_MENDING, remedy=Repair("go-on")):
            self._trace.log.open(self.loaded)
            if not self.loaded.snapshot.graph_problem:
                self._committer.settle()
            mended = mend_files(self._trace, self.loaded, self._clock())
            if mended:
                names = ", ".join(mend.path for mend in mended)
                self._settle_as(Attribution(author, "repair", f"repaired {names}", tuple(mended)))
        return bool(mended)

    def _settle_as(self, mine: Attribution) -> None:
        """Puts what differs down to somebody of ours. There is an entry of it also when no note or fact changed."""
        self._trace.attribution = mine
        try:
            self._committer.settle()
            left = self._trace.attribution
        finally:
            self._trace.attribution = None
        if left.mends:
            self._trace.note_down(left)

    def is_mended(self, mends: Iterable[FileMend]) -> bool:
        """Whether files still are as mending left them."""
        try:
            check_mends(self.home, mends)
        except ConflictError:
            return False
        return True

    def unmend(self, undone: ChangeSet, made_by: str, *, told: bool) -> None:
        """Puts the bytes back that files held before they were mended. undone: the entry of the log that says so;
        told: whether it is there already, a crash having come before the files.

        Raises ConflictError for a file that is another one by now, LockTimeoutError, StorageError, ReadOnlyError;
        nothing is changed then.
        """
        self._close_view()
        with locked(self.home):
            self._committer.settle()
            check_mends(self.home, undone.mends)
            if not told:
                self._record(undone, made_by)
            with partly_done(_TURNING_BACK, remedy=Undo(undone.about, go_on=True)):
                take_mends_back(self.home, undone.mends, self._clock())

    def settle_conflict(self, id: str) -> None:
        """Marks a conflict as decided. Raises LockTimeoutError, StorageError."""
        assert self.ledger is not None
        with locked(self.home):
            self.ledger.settle(id, "settled")
