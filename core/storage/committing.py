"""How change sets reach the files: rebased, staged, put down as pending, exchanged; and reconciled first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from core.errors import (
    ConflictError,
    ErrorCode,
    Notice,
    NuggetsError,
    StorageError,
    TryAgain,
    UnfinishedError,
)
from core.folder import GRAPH_FILE
from core.model.change import ChangeSet
from core.model.snapshot import Problem, Snapshot
from core.settings import Settings
from core.storage.files.atomic import has_leftovers, is_leftover, remove_leftovers
from core.storage.format.reading import Loaded, read_folder
from core.storage.journal.codec import concerned
from core.storage.journal.journal import Journal
from core.storage.journal.origins import RESTORED, RESTORED_IN_PASSING, Maker
from core.storage.journal.session import JournalSession
from core.storage.journal.unfinished import whole_of
from core.storage.merge.compare import without_hollow
from core.storage.merge.deciding import Collect, Decide, refuse, take_theirs
from core.storage.merge.rebase import rebase
from core.storage.reconcile.concurrent_writes import concurrent_changes, recover_concurrent_writes
from core.storage.reconcile.outside import Due, note_outside
from core.storage.safety.backup_before_write import keep_before_rewriting, keep_unreadable
from core.storage.writing import Write, Written, check_writable, is_due, prepare, rebased_file

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
    ) -> None:
        self.home = home
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
        self._session = session

    def load(self) -> Snapshot:
        """See `Store.load`."""
        never_good = self._loaded is None or bool(self._loaded.graph.broken)
        names: list[str] = []
        self._loaded = read_folder(
            self.home, self._rules, self._loaded, tolerant=self._tolerant and never_good, names=names
        )
        self._left_behind = any(map(is_leftover, names)) or has_leftovers(self.home / GRAPH_FILE.parent)
        return self._loaded.snapshot

    @property
    def reconciled(self) -> bool:
        """Whether nothing is owed: the journal has seen the files as they are."""
        return (
            self._loaded is None or self._session.journal is None or self._session.file.in_step(self._loaded)
        )

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
    ) -> Applied:
        """Rebases and writes until no other program comes between. seq: the entry that is pending already.

        preceding: what goes into the log right before it, when it is written. urgent: what comes between is reconciled
        first, these things above all; None: that was done, or is being done. insist: a program that saves more often
        than one can write does not keep this from being written; what it saves is taken in afterwards. fresh: the
        files were read just now.
        """
        for turn in range(_TRIES):
            known = self.current
            before = known.snapshot if fresh and not turn else self.load()
            if urgent is not None and self.current is not known:
                self.reconcile(urgent)
                before = self.current.snapshot
            check_writable(self.home, before, change_set)
            effective = rebase(change_set, before, decide or refuse)
            if decide is not None:
                effective = without_hollow(effective)
            whole = (rebased_file(self.home, change) for change in effective.files)
            due = tuple(change for change in whole if is_due(self.home, change))
            effective = msgspec.structs.replace(effective, files=due)
            if effective.empty:
                if seq is not None:
                    self._session.finish(seq, change_set, made_by, self.current)
                return Applied(before, before, effective)
            entry = effective if seq is None else whole_of(change_set, effective, before)
            done = self._write(effective, entry, made_by, seq, preceding, insist and turn >= _PATIENT_TRIES)
            if done is not None:
                entry, written = done
                self._loaded = written.loaded
                self._take_in(written)
                return Applied(before, self.current.snapshot, entry)
        raise _BusyError(
            "another program keeps changing the files",
            code=ErrorCode.BUSY,
            remedy=TryAgain(),
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
    ) -> tuple[ChangeSet, Written] | None:
        """One try. None when a file moved on under us before anything was written. entry: what the log tells of it,
        which is more than `effective` where a part was written before.
        """
        loaded = self.current
        if loaded.snapshot.problems:
            keep_before_rewriting(self.home, loaded, effective, self._clock())
        write = prepare(self.home, loaded, effective)
        with self._staged(write):
            number, entry = self._session.begin(entry, made_by, write.stages(), seq, preceding)
            written = None
            try:
                try:
                    written = write.carry_out(insisting=insisting)
                finally:
                    if written is None and not write.begun and seq is None:
                        self._session.abandon(number, len(preceding))
            except StorageError as error:
                if seq is None and self._session.is_pending(number):
                    kept = f"the change is not lost: {_UNFINISHED}"
                    unfinished = UnfinishedError(error.what, where=error.where, kept=kept)
                    unfinished.entry = entry.id
                    raise unfinished from error
                raise
            if written is None:
                return None
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
        self, urgent: frozenset[str] = frozenset(), *, counting: bool = False, loaded: bool = False
    ) -> None:
        """Under the lock: finishes what a crash cut off, logs what came from outside, restores what was taken back.

        urgent: what is about to be changed. counting: only to count a recall, so that nothing else is restored.
        loaded: the files were read just now.
        """
        if not loaded:
            self.load()
        if self._nothing_left and self.reconciled:
            return
        self._session.file.open(self.current)
        recover_concurrent_writes(self._session, self.current)
        remove_leftovers(self.home)
        self._session.mark_contained(self.current)
        problems = self.current.snapshot.problems
        if problems and problems != self._problems_kept:
            keep_unreadable(self.home, self.current, self._clock())
            self._problems_kept = problems
        self._reconciled_with = self._session.journal
        for _ in range(_TRIES):
            self._session.draw_ids_from(self.current)
            due = note_outside(self._session, self.current, urgent)
            if counting:
                due = self._only_for(urgent, due)
            self._finish_pending()
            if not due.restorations and due.white_space is None:
                return
            for restoration in due.restorations:
                if not self._restore(restoration, due):
                    # It stays owed: whoever looks next tries again.
                    return
            if due.white_space is not None and not self._put_back(due.white_space):
                return

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
        return due._replace(restorations=now, white_space=None)

    def _finish_pending(self) -> None:
        for pending in self._session.pending():
            met = Collect(take_theirs)
            try:
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
