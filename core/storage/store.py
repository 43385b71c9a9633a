"""The folder as one store: it loads snapshots, reconciles, and applies change sets; nothing else writes.

One edit on disk, under the memory's lock: reload what moved, merge, journal the change as pending, exchange each file
and look at what was replaced, journal it as done. Other programs do not know the lock. So another version than the one
that was merged is merged in at once, and for a while whatever somebody still writes into a file that was replaced.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from functools import partial
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
from core.folder import DATABASE_FILE, GRAPH_FILE
from core.model.change import OURSELVES, Author, ChangeSet, FileRepair
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
    replace_file,
    stage_file,
    write_target,
)
from core.storage.files.exchange import Replaced, put_instead
from core.storage.format.documents import Document, Loaded, PageDocument, read_folder
from core.storage.journal.codec import RESTORED, Maker, by
from core.storage.journal.journal import Attribution, Beside, Journal
from core.storage.journal.schema import BrokenJournalError, unreadable
from core.storage.merge.merge import rebase
from core.storage.merge.three_way import Collect, Decide, refuse, take_theirs
from core.storage.safety import LARGE, backup_before_write, keep_before_rewriting, keep_unreadable, keep_whole
from core.storage.writing import (
    Write,
    Written,
    check_writable,
    completed,
    is_due,
    is_json,
    page_steps,
    prepare,
    rebased_file,
    whole_of,
)

# What is wanted rarely is loaded then: every command opens a store.
if TYPE_CHECKING:
    from core.storage.format.page_writes import PagePreview
    from core.storage.format.pages import PageSet
    from core.storage.journal.carried import CarriedEntry
    from core.storage.outside import Due

_VISIT: Final = "last visit"
_KEPT: Final = "nothing was written"
_UNFINISHED: Final = "it is in the history and finishes when the memory is next opened or changed"
_REPAIRING: Final = "nothing is lost: the quarantine holds the files repaired so far as they were"
_TURNING_BACK: Final = "nothing is lost: the quarantine holds both versions of the file"
_NOTHING: Final = ChangeSet(id="", at="", author=OURSELVES, reason="", kind="restore")
# How often a change is brought onto newer files, and after how often it is written although they move on.
_TRIES: Final = 20
_PATIENT_TRIES: Final = 4
_GLANCE_SECONDS: Final = 0.01
# How long it is waited for that nobody writes any more.
_LONGEST_PATIENCE: Final = 3.0
# How long a file that is gone is waited for: editors rename it away and write it anew.
_GONE_SECONDS: Final = 2.0
# So many files that were replaced are held open.
_HELD: Final = 8


class BusyError(ConflictError):
    """Another program changed the files whenever we were about to."""


class Applied(NamedTuple):
    """What a commit did: the snapshots before and after, and the change set as it was really applied."""

    before: Snapshot
    after: Snapshot
    change_set: ChangeSet


class _Held(NamedTuple):
    """A file that was replaced of late. before: the files as they were. seq: the entry that was written."""

    replaced: Replaced
    path: Path
    before: Loaded
    seq: int | None


class _Edit(NamedTuple):
    """What is to be written, and how; see `Store.apply`. seq: the entry that is pending already. insist: a program that
    saves more often than one can write does not keep this from being written; what it saves is merged in afterwards.
    """

    change_set: ChangeSet
    made_by: Maker
    decide: Decide | None = None
    seq: int | None = None
    beside: Beside | None = None
    spelling: Collection[Document] = ()
    exact: bool = False
    insist: bool = False


class Store:
    """One memory's folder. Not safe for several threads at once; `Memory` sees to that.

    clock and ids give the time and eight new hexadecimal digits for what the store itself puts into the history.
    pages: the folder of the pages that are the memory's notes, if they are.
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
        self._journal = Journal(home, self._settings.inference, clock=self._clock, ids=ids)
        self._tolerant, self._loaded, self._pages = tolerant, loaded, pages
        # The day of which there is a backup for sure.
        self._backed_up_on: date | None = None
        # The files as a look found them in step with the journal.
        self._in_step: Loaded | None = None
        self._problems_kept: tuple[Problem, ...] = ()
        # Whether a killed write left something, or somebody is writing.
        self._left_behind = True
        # Files that were gone and did not come back in time.
        self._waited_for: set[Path] = set()
        self._replaced: list[_Held] = []

    # The files

    @property
    def journal(self) -> Journal | None:
        """The open journal; None before the first change of a memory that is empty or cannot be written."""
        return self._journal if self._journal.is_open else None

    @property
    def loaded(self) -> Loaded:
        """The files as they were last loaded."""
        assert self._loaded is not None
        return self._loaded

    @property
    def viewed(self) -> bool:
        """Whether the memory was only read so far."""
        return self._journal.is_open and self._journal.read_only

    @property
    def last_seq(self) -> int:
        """The number of the newest entry that is in the log, 0 for none."""
        return self._journal.last_seq if self._journal.is_open else 0

    @property
    def log_problem(self) -> NuggetsError | None:
        """Why the log cannot be read; None when it can, and when there is none."""
        return self._journal.problem if not self._journal.is_open else None

    @property
    def log_is_damaged(self) -> bool:
        """Whether there is a damaged log, whose bytes can be set aside."""
        problem = self.log_problem
        damaged = isinstance(problem, StorageError) and problem.damaged
        return damaged and self._journal.wanted(self.loaded)

    def load(self) -> Snapshot:
        """The snapshot of the files as they are now; the same object as before when no file changed.

        Reads only files whose fingerprint moved. Raises BrokenFileError for a note graph that cannot be read
        and StorageError when the system refuses; the last snapshot stays valid then. A tolerant store that never saw
        a good graph loads the facts alone.
        """
        never_good = self._loaded is None or bool(self._loaded.graph.broken)
        names: list[str] = []
        self._loaded = read_folder(
            self.home, self._settings.inference, self._loaded, tolerant=self._tolerant and never_good,
            names=names, pages=self._pages,
        )  # fmt: skip
        folders = (self.home / GRAPH_FILE.parent, *self._loaded.page_folders)
        self._left_behind = any(map(is_leftover, names)) or any(map(has_leftovers, folders))
        return self._loaded.snapshot

    def view(self) -> Snapshot:
        """The memory as the files show it; writes nothing. A file that is gone is waited for. Errors as in `load`."""
        self.load()
        self._journal.open_to_read()
        if not self._journal.is_open and self._journal.is_gone(self.loaded):
            path = self.home / DATABASE_FILE
            self._journal.tell(f"{path}: the history is missing; the next change starts a new one")
        with contextlib.suppress(NuggetsError, BrokenJournalError):
            self._wait_for_lost()
        return self.loaded.snapshot

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call."""
        return self._journal.take_notices()

    def close(self) -> None:
        """Closes the journal's file, and lets go what was replaced; the next use opens it again."""
        self._let_go(self._replaced)
        self._journal.close()

    # One look at what others did

    def sync(self, seconds: float, *, writing: bool = False, patient: bool = False) -> Snapshot:
        """Compares the files with the baseline, logs what other programs did, and loads.

        What an old copy reverted is put back once the files are quiet; writing: at once, since something is about to be
        written. patient: waits for that. Only loads where nothing may be written, or when somebody holds the lock for
        longer than `seconds`; the next writer does it then. Errors as in `load`.
        """
        self._in_step = None
        snapshot = self.load()
        if snapshot.read_only or not self._journal.wanted(self.loaded) or snapshot.graph_problem:
            if snapshot.graph_problem and not snapshot.read_only:
                self._keep_broken()
            return self.view()
        try:
            with self._journal.errors():
                if self._journal.in_step(self.loaded) and not self._unsettled:
                    self._in_step = self.loaded
                    return snapshot
                self._reconcile_locked(seconds, writing=writing)
                end = time.monotonic() + _LONGEST_PATIENCE
                while patient and not self.reconciled and time.monotonic() < end:
                    time.sleep(_GLANCE_SECONDS)
                    before = self.loaded
                    self.load()
                    if self.loaded is not before or self._quiet:
                        self._reconcile_locked(seconds)
        except BrokenFileError:
            raise
        except LockTimeoutError:
            pass
        except BrokenJournalError as broken:
            self._begin_journal_anew(broken)
        except NuggetsError as error:
            self._journal.open_to_read()
            self._journal.tell_not_written(self.log_problem or error)
        return self.loaded.snapshot

    def _reconcile_locked(self, seconds: float, *, writing: bool = False) -> None:
        with locked(self.home, seconds=seconds), self._journal.busy_timeout(seconds):
            self.reconcile(writing=writing)

    def _keep_broken(self) -> None:
        """Keeps the bytes of a note graph that cannot be read; what it means for the facts is told once it can."""
        try:
            with locked(self.home, seconds=1.0):
                keep_unreadable(self.home, self.loaded, self._clock())
        except NuggetsError as error:
            self._journal.tell_error(error)

    @property
    def reconciled(self) -> bool:
        """Whether there is nothing left to restore: the journal has seen the files as they are."""
        return self._loaded is None or not self._journal.is_open or self._journal.in_step(self._loaded)

    @property
    def fresh(self) -> bool:
        """Whether the last look found the files in step with the journal and nothing was written since: a change may
        be written without another look. The exchange of the files finds what changed in between.
        """
        return self._in_step is not None and self._nothing_left and self._in_step is self._loaded

    @property
    def _nothing_left(self) -> bool:
        """Whether what a crash may have left, and what cannot be read, is seen to already."""
        problems = self.loaded.snapshot.problems
        seen_to = not self._left_behind and (not problems or problems == self._problems_kept)
        return seen_to and self._journal.is_settled

    @property
    def _unsettled(self) -> bool:
        """Whether there is something to look at beside the files: litter of a killed write among the pages of another
        program, or a file that was replaced and written into since.
        """
        now = time.monotonic()
        self._let_go([one for one in self._replaced if one.replaced.until < now and not one.replaced.written])
        written = any(one.replaced.written for one in self._replaced)
        return written or (self._left_behind and bool(self.loaded.page_folders))

    @property
    def _quiet(self) -> bool:
        """Whether nobody has written to the files for a while."""
        from core.storage.outside import is_quiet

        return is_quiet(self.loaded)

    # One edit

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
        """Brings a change set onto the newest files and writes it.

        made_by: who sat at the keyboard. decide: which version wins where a thing was changed in two ways; None:
        that is an error. seconds: how long to wait for other writers; None: as usual. fresh: the value of `fresh`
        just now. spelling: see `prepare`. exact: changes of times alone are made as well, where `decide` is given.
        beside: what is written into other tables of the database in the transaction from which on the change counts
        as made. Raises ConflictError, ReadOnlyError, BrokenFileError, LockTimeoutError, StorageError; nothing is
        written then. After an UnfinishedError the change is in the log, and the next opening finishes it.
        """
        if not fresh:
            self._refuse_unwritable(change_set)
            make_folder(self.home)
        with locked(self.home, seconds=seconds), self._journal.busy_timeout(seconds):
            try:
                with self._journal.errors():
                    if not fresh:
                        check_writable(self.home, self.load(), change_set)
                        if change_set.kind == "hit":
                            # A recall only counts, and leaves what others did to the next change.
                            self._journal.open(self.loaded)
                        else:
                            self.reconcile(writing=True, loaded=True)
                    without_backup = self._backup_before_write(change_set)
                    edit = _Edit(change_set, by(made_by), decide, None, beside, spelling, exact, True)
                    done = self._commit(edit, settling=change_set.kind != "hit", fresh=True, judged=fresh)
                if without_backup and not done.change_set.empty:
                    self._journal.tell(without_backup)
                return done
            except BrokenJournalError as error:
                self._journal.start_over(error, self.loaded)
                return self._commit(_Edit(change_set, by(made_by), decide, None, beside))

    def _refuse_unwritable(self, change_set: ChangeSet) -> None:
        """Before anything is made for it; the files as they were last loaded tell it mostly."""
        try:
            check_writable(self.home, self.loaded.snapshot, change_set)
        except NuggetsError:
            check_writable(self.home, self.load(), change_set)

    def _backup_before_write(self, change_set: ChangeSet) -> str:
        """Makes a backup before a change when one is due.

        Returns what a person should know of a backup that could not be made, "" when all went well.
        """
        now = self._clock()
        backed_up = self._backed_up_on == now.astimezone().date() and change_set.size <= LARGE
        # Who only asked something waits for no copy of all files.
        if backed_up or change_set.kind == "hit":
            return ""
        try:
            backup_before_write(self.home, change_set, now, self._settings.backups.keep)
            self._backed_up_on = now.astimezone().date()
        except NuggetsError as error:
            # A change that the log can undo does not wait for a backup.
            why = f"no backup could be made ({error.what})"
            return Notice(f"{why}; the change itself is written and in the history", where=error.where)
        return ""

    def _commit(
        self, edit: _Edit, *, settling: bool = False, fresh: bool = False, judged: bool = False
    ) -> Applied:
        """Rebases and writes until no other program comes between.

        settling: what comes between is reconciled first. fresh: the files were read just now; judged: and the journal
        has seen them. What was written beside the entry stays, so that the entry does as well: whatever keeps the files
        from being written then is an UnfinishedError.
        """
        change_set = edit.change_set
        kept = ""
        for turn in range(_TRIES):
            try:
                known = self.loaded
                if turn or not fresh:
                    self.load()
                    if settling and not kept and self.loaded is not known:
                        self.reconcile(writing=True)
                    elif self._lost():
                        break
                base = self.loaded
                # A recall writes its count alone.
                due = None if judged and not turn else self._judge()
                if due is not None and change_set.kind != "hit":
                    if base.graph.pages is not None and not due.back.empty:
                        # What is put back into pages is written by itself.
                        self._put_back(due.back)
                        continue
                    base = due.target
                check_writable(self.home, base.snapshot, change_set)
                effective = rebase(change_set, base.snapshot, edit.decide or refuse)
                if edit.decide is not None and not edit.exact:
                    effective = without_hollow(effective)
                whole = (rebased_file(self.home, change) for change in effective.files)
                files = tuple(change for change in whole if is_due(self.home, change))
                effective = completed(base, msgspec.structs.replace(effective, files=files))
                if effective.empty:
                    if edit.seq is not None:
                        self._journal.finish(edit.seq, change_set, edit.made_by, base)
                    return Applied(base.snapshot, self.loaded.snapshot, effective)
                number, entry, done = self._write(edit, base, effective, insisting=turn >= _PATIENT_TRIES)
            except NuggetsError as error:
                if not kept or isinstance(error, UnfinishedError):
                    raise
                raise _unfinished(error, kept) from error
            if done:
                return Applied(base.snapshot, self.loaded.snapshot, entry)
            if edit.beside is not None:
                edit, kept = edit._replace(seq=number, beside=None), entry.id
        busy = BusyError(
            "another program keeps changing the files", code=ErrorCode.LOCKED, remedy=Remedy("try-again"),
            where=str(self.home), kept=_KEPT,
        )  # fmt: skip
        raise _unfinished(busy, kept) if kept else busy

    def _judge(self) -> Due:
        """What the files are to say."""
        from core.storage.outside import take_in

        return take_in(self._journal, self.loaded, final=False)

    def _write(
        self, edit: _Edit, base: Loaded, effective: ChangeSet, *, insisting: bool
    ) -> tuple[int, ChangeSet, bool]:
        """One try. The entry of the log as it was put down, and whether it was written: not when a file moved on under
        us before. The entry is dropped then, unless something was written beside it. base: the files with what is to
        be put back into them, which is written along. effective: what the edit comes to on them, and the log tells; of
        one that is pending the log tells what was written before as well.
        """
        seq, droppable = edit.seq, edit.seq is None and edit.beside is None
        entry = effective if seq is None else whole_of(edit.change_set, effective, base.snapshot)
        steps, going = prepare(self.home, base, effective, edit.spelling)
        if base is not self.loaded:
            planned, now = {step.path for step in steps}, self.loaded.documents()
            back = (document for path, document in base.documents().items() if document is not now.get(path))
            steps = [*steps, *(document for document in back if document.path not in planned)]
        self._keep_before_rewriting(base, steps)
        write = Write(self.home, base, effective, steps, going)
        with write.staged_files():
            number, entry = self._journal.begin(entry, edit.made_by, write.stages(), seq, edit.beside)
            written = None
            try:
                try:
                    written = write.carry_out(insisting=insisting and edit.insist)
                finally:
                    if written is None and not write.placed and droppable:
                        self._journal.abandon(number)
            except StorageError as error:
                if seq is None and self._journal.is_pending(number):
                    raise _unfinished(error, entry.id) from error
                raise
            if written is not None:
                self._finish(number, entry, edit.made_by, base, written)
            return number, entry, written is not None

    def _keep_before_rewriting(self, loaded: Loaded, steps: Iterable[Document | PageDocument]) -> None:
        if loaded.snapshot.problems:
            rewritten = [loaded.documents().get(step.path) for step in steps]
            keep_before_rewriting(self.home, [one for one in rewritten if one is not None], self._clock())

    def _finish(
        self, seq: int | None, entry: ChangeSet, made_by: Maker, before: Loaded, written: Written
    ) -> bool:
        """Journals a write as done, and merges what other programs wrote in the instant of it; whether any did.

        seq: as of `Journal.finish`.
        """
        held = [_Held(replaced, path, before, seq) for path, replaced in written.replaced]
        moved = [one for one in held if one.replaced.moved]
        take_in = partial(self._take_in_replaced, moved) if moved else None
        self._journal.finish(seq, entry, made_by, before, written.loaded, take_in)
        self._loaded = written.loaded
        for one in held:
            one.replaced.forget()
        self._replaced += held
        self._let_go(self._replaced[:-_HELD])
        if moved:
            self._finish_pending()
        return bool(moved)

    def _take_in_replaced(self, held: Iterable[_Held], connection: sqlite3.Connection) -> None:
        """Has what other programs wanted wait as pending whose versions were replaced."""
        from core.storage.outside import take_slipped

        for one in held:
            data = one.replaced.read(is_json if one.path.suffix == ".json" else bool)
            take_slipped(self._journal, connection, one.path, data, one.before, one.seq)

    def _let_go(self, held: Sequence[_Held]) -> None:
        for one in list(held):
            self._replaced.remove(one)
            one.replaced.close()

    # What was left, and what other programs did

    def reconcile(self, *, writing: bool = False, loaded: bool = False) -> None:
        """Finishes what a crash cut off, logs what came from outside, and puts back what old copies reverted once the
        files are quiet. Under the lock.

        writing: something is about to be written, so that is done at once. loaded: the files were read just now.
        """
        if not loaded:
            self.load()
        if self._nothing_left and self.reconciled and not self._unsettled:
            return
        self._journal.open(self.loaded)
        if self._left_behind:
            from core.storage.outside import recover_slipped

            recover_slipped(self._journal, self.loaded)
            remove_leftovers(self.home, *self.loaded.page_folders)
        if (pages := self.loaded.graph.pages) is not None and self._journal.pending_count():
            self._write_owed(pages)
        problems = self.loaded.snapshot.problems
        if problems and problems != self._problems_kept:
            keep_unreadable(self.home, self.loaded, self._clock())
            self._problems_kept = problems
        self._journal.is_settled = True
        if written := [held for held in self._replaced if held.replaced.written]:
            with self._journal.transaction() as connection:
                self._take_in_replaced(written, connection)
        for _ in range(_TRIES):
            self._restore_lost()
            back = self._take_in(writing)
            self._finish_pending()
            if back is None:
                break
            if not self._put_back(back):
                return
        self._store_pages()

    def _take_in(self, writing: bool) -> ChangeSet | None:
        """Judges what came from outside; what is to be put back now, None for nothing."""
        from core.storage.outside import QUIET_SECONDS, take_in

        end = time.monotonic() + QUIET_SECONDS
        while True:
            final = self._quiet or time.monotonic() >= end
            due = take_in(self._journal, self.loaded, final=final)
            if final or not (due.waits and writing):
                return due.back if (writing or self._quiet) and not due.back.empty else None
            # The rest of the save shows what it is.
            time.sleep(_GLANCE_SECONDS)
            self.load()

    def _put_back(self, back: ChangeSet) -> bool:
        """Writes what the journal remembers and the files do not say; whether to look at the files again."""
        try:
            loaded = self.loaded
            effective = completed(loaded, rebase(back, self.load(), take_theirs))
            if self.loaded is not loaded:
                return True
            steps, going = prepare(self.home, loaded, effective)
            self._keep_before_rewriting(loaded, steps)
            self._write_unlogged(Write(self.home, loaded, effective, steps, going))
        except NuggetsError as error:
            # Whoever looks next tries again.
            self._journal.tell_error(error)
            return False
        return True

    def _write_unlogged(self, write: Write) -> None:
        """Writes what the journal has already."""
        with write.staged_files():
            written = write.carry_out()
        if written is not None:
            self._finish(None, write.change_set, RESTORED, write.loaded, written)

    def _finish_pending(self) -> None:
        for pending in self._journal.pending():
            met = Collect(take_theirs)
            try:
                self._commit(_Edit(pending.change_set, pending.made_by, met, pending.seq))
                if met.conflicts:
                    self._journal.keep_conflict(pending.change_set, pending.made_by, met.conflicts[0])
            except BusyError:
                # It stays pending: whoever looks next finishes it.
                return
            except ConflictError as error:
                # It waits for a person from now on.
                self._journal.set_state(pending.change_set.id, "conflict", error)
            except NuggetsError as error:
                said = (
                    f"{error.what}; a change is not finished yet ({pending.change_set.reason}): {_UNFINISHED}"
                )
                self._journal.tell(Notice(said, where=error.where, code=error.code))

    def _write_owed(self, pages: PageSet) -> None:
        """Writes the pages of changes that were cut off behind the note graph, which would be taken for another
        program's older versions. What cannot be written yet is told by who finishes the change.
        """
        from core.storage.format.page_writes import owed_pages

        for pending in self._journal.pending():
            read = {self.home / file: stage.read for file, stage in pending.stages.items()}
            steps, going = page_steps(pages, owed_pages(pages, pending.change_set, read))
            if not steps:
                continue
            write = Write(self.home, self.loaded, _NOTHING, steps, going)
            with contextlib.suppress(NuggetsError), write.staged_files():
                written = write.carry_out()
                for path, replaced in written.replaced if written is not None else ():
                    if replaced.moved:
                        # Another program wrote it in this very instant: its version counts, ours is in the history.
                        replace_file(write.targets[path], replaced.read(lambda data: True))
                    replaced.close()
        self.load()

    def _store_pages(self) -> None:
        """Has the note graph hold the pages as they are now: what is deleted among them later is not lost."""
        if self.loaded.pages_to_store:
            try:
                make_folder(self.home)
                self._write_unlogged(Write(self.home, self.loaded, _NOTHING, [self.loaded.graph]))
            except NuggetsError as error:
                self._journal.tell_error(error)

    # Files that are gone

    def _lost(self) -> tuple[Document, ...]:
        """The files that are gone."""
        if not self._journal.is_open or not self._journal.gone_files(self.loaded):
            return ()
        from core.storage.outside import lost_files

        return lost_files(self._journal, self.loaded)

    def _wait_for_lost(self) -> tuple[Document, ...]:
        """Gives who removed files a moment to write them anew, once for the same files. Returns what stays gone."""
        end = time.monotonic() + _GONE_SECONDS
        while lost := self._lost():
            paths = {document.path for document in lost}
            if time.monotonic() >= end:
                self._waited_for = paths
            if paths <= self._waited_for:
                return lost
            time.sleep(_GLANCE_SECONDS)
            self.load()
        self._waited_for = set()
        return ()

    def _restore_lost(self) -> None:
        """Writes files that stay gone as they were last seen. Raises StorageError, ReadOnlyError."""
        while lost := self._wait_for_lost():
            from core.storage.outside import log_lost

            without, back = self.loaded, []
            for document in lost:
                make_folder(document.path.parent)
                staged = stage_file(write_target(self.home, document.path), *document.to_parts())
                try:
                    put_instead(staged, None)
                    back.append(document)
                except FileExistsError:
                    # It is back in this very instant.
                    discard([staged])
            log_lost(self._journal, without, back)
            self._waited_for = set()
            self.load()

    # A damaged journal

    def quarantine_broken_journal(self, error: Exception) -> bool:
        """Whether an error came from a damaged journal, which is now set aside with a new one begun: the caller may
        try again. Raises StorageError for a damaged one that cannot be moved.
        """
        if not self._journal.is_open:
            return False
        try:
            with self._journal.errors():
                raise error
        except BrokenJournalError as broken:
            if self._journal.read_only and not self._journal.wanted(self.loaded):
                raise unreadable(self._journal.path, str(broken)) from error
            return self._begin_journal_anew(broken)
        except Exception:
            return False

    def _begin_journal_anew(self, error: BrokenJournalError) -> bool:
        try:
            with locked(self.home):
                self._journal.start_over(error, self.loaded)
                return True
        except NuggetsError as refused:
            self._journal.tell_error(refused)
            return False

    # Keeping and putting away

    def reconcile_now(self) -> tuple[Journal, Loaded]:
        """Brings log and files in step, under the memory's lock. Errors as in `apply`."""
        self.reconcile(writing=True)
        return self._journal, self.loaded

    def finish(self, entry: ChangeSet, made_by: str, before: Loaded, written: Written) -> bool:
        """Remembers files that were written without an entry, and merges what came between; whether something did."""
        moved = self._finish(None, entry, by(made_by), before, written)
        self._let_go(self._replaced)
        return moved

    def page_preview(self, change_set: ChangeSet) -> tuple[PagePreview, ...]:
        """See `Memory.page_preview`."""
        from core.storage.format.page_writes import previewed

        loaded = self.loaded
        return previewed(loaded.graph, rebase(change_set, loaded.snapshot))

    def keep_conflict(self, change_set: ChangeSet, made_by: str, error: ConflictError | Conflict) -> str:
        """Puts a change with a conflict into the log, where it waits for a person. Returns the entry's id, "" for
        none.
        """
        with contextlib.suppress(NuggetsError, BrokenJournalError):
            if self._journal.is_open:
                with locked(self.home):
                    self._open_to_write()
                    return self._journal.keep_conflict(change_set, by(made_by), error)
        return ""

    def set_conflict_state(self, id: str, state: Literal["conflict", "settled"]) -> None:
        """Marks a conflict as resolved, or as waiting again. Raises LockTimeoutError, StorageError."""
        with locked(self.home):
            self._open_to_write()
            self._journal.set_state(id, state)

    def carry(
        self, before: Snapshot, entries: Sequence[CarriedEntry], after: Snapshot, *, id: str, at: str
    ) -> int:
        """Puts the history of another folder into the log of this memory, which is empty; how many entries; see
        `carried.carry`. Raises LockTimeoutError, StorageError, ReadOnlyError.
        """
        from core.storage.journal.carried import carry

        make_folder(self.home)
        with locked(self.home):
            self.reconcile()
            self._journal.open(self.loaded)
            present = self.loaded.snapshot
            if present.notes or present.nuggets or present.problems:
                return 0
            return carry(self._journal, before, entries, after, id=id, at=at)

    def note_down(self, change_set: ChangeSet, made_by: str, beside: Beside | None = None) -> ChangeSet:
        """Puts a change set into the log that had nothing left to write; as it stands there. beside: as for `apply`.
        Raises LockTimeoutError, StorageError.
        """
        if not self._journal.is_open:
            return change_set
        with locked(self.home):
            self._open_to_write()
            return self._journal.note_down(change_set, by(made_by), beside)

    def clear_history(self) -> None:
        """Empties the log. Raises LockTimeoutError, StorageError, ReadOnlyError."""
        with locked(self.home):
            self.reconcile(writing=True)
            if self._journal.is_open:
                self._journal.clear()

    def begin_log(self) -> None:
        """Has a log, also where nothing was changed so far. Raises LockTimeoutError, StorageError, ReadOnlyError."""
        if not self._journal.is_open or self._journal.read_only:
            make_folder(self.home)
            with locked(self.home):
                self._open_to_write()

    def _open_to_write(self) -> None:
        """Has the log open for writing, where it was opened to be read. Under the lock."""
        if not self._journal.is_open or self._journal.read_only:
            self.reconcile()
            self._journal.open(self.loaded)

    def visited(self, at: str) -> str | None:
        """Records when a person looked at the memory, without creating a log for it. Returns the time before, None for
        never.
        """
        if not self._journal.is_open or self._journal.read_only:
            return None
        try:
            before = self._journal.meta(_VISIT)
            with self._journal.transaction(lasting=False):
                self._journal.keep_meta(_VISIT, at)
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

    # Repairs

    def repairable(self) -> frozenset[str]:
        """The notes and facts, by place, whose last readable version `repair` can restore."""
        from core.storage.recovery import repairable

        return repairable(self._journal, self.loaded)

    def repair(self, author: Author) -> bool:
        """Rebuilds files that cannot be read, as a whole or in part, from what can be read in them and from the
        baseline. The quarantine then keeps the exact bytes of each broken file, and the log holds the changes.

        Returns whether there were any. Raises LockTimeoutError, StorageError, ReadOnlyError.
        """
        from core.storage.recovery import repair_files

        if not self.load().problems:
            return False
        with locked(self.home), partly_done(_REPAIRING, remedy=Remedy("repair-go-on")):
            self._journal.open(self.loaded)
            if not self.loaded.snapshot.graph_problem:
                self.reconcile()
            repaired = repair_files(self._journal, self.loaded, self._clock())
            if repaired:
                names = ", ".join(repair.path for repair in repaired)
                self._reconcile_as(Attribution(author, "repair", f"repaired {names}", tuple(repaired)))
        return bool(repaired)

    def _reconcile_as(self, mine: Attribution) -> None:
        """Puts what differs down to somebody of ours. There is an entry of it also when no note or fact changed."""
        self._journal.attribution = mine
        try:
            self.reconcile()
            left = self._journal.attribution
        finally:
            self._journal.attribution = None
        if left.mends:
            self._journal.note_down_mends(left)

    def is_repaired(self, mends: Iterable[FileRepair]) -> bool:
        """Whether files still are as the repair left them."""
        from core.storage.recovery import check_repairs

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
        from core.storage.recovery import check_repairs, revert_repairs

        with locked(self.home):
            self.reconcile()
            check_repairs(self.home, undone.mends)
            if not recorded:
                self._journal.note_down(undone, by(made_by))
            with partly_done(_TURNING_BACK, remedy=Remedy("undo-go-on", undone.about)):
                revert_repairs(self.home, undone.mends, self._clock())


def _unfinished(error: NuggetsError, entry: str) -> UnfinishedError:
    unfinished = UnfinishedError(
        error.what, where=error.where, kept=f"the change is not lost: {_UNFINISHED}"
    )  # fmt: skip
    unfinished.entry = entry
    return unfinished
