"""One edit on disk: reload what moved, merge, journal the change as pending, exchange each file, journal it as done.

All of it happens under the memory's lock, which other programs do not know. So what each exchange replaced is looked
at: another version than the one that was merged is merged in at once, and for a while whatever somebody still writes
into a file that was replaced.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from core.errors import (
    ConflictError,
    ErrorCode,
    Notice,
    NotSyncedError,
    NuggetsError,
    Remedy,
    StorageError,
    UnfinishedError,
)
from core.folder import GRAPH_FILE
from core.model.change import OURSELVES, ChangeSet, FileChange
from core.model.compare import without_hollow
from core.model.snapshot import Problem, Snapshot
from core.settings import InferenceSettings
from core.storage.files.atomic import (
    Fingerprint,
    Staged,
    discard,
    fingerprint,
    has_leftovers,
    in_place,
    is_leftover,
    make_folder,
    remove_file,
    remove_leftovers,
    replace_file,
    stage_file,
    write_target,
)
from core.storage.files.exchange import Replaced, put_instead, take_away
from core.storage.format.documents import (
    Document,
    GraphDocument,
    Loaded,
    PageDocument,
    assembled,
    nugget_files,
    read_folder,
)
from core.storage.journal.codec import RESTORED, Maker, Pending, Stage
from core.storage.journal.journal import Beside, Journal
from core.storage.journal.schema import BrokenJournalError
from core.storage.journal.session import JournalSession
from core.storage.journal.unfinished import whole_of
from core.storage.merge.deciding import Collect, Decide, refuse, take_theirs
from core.storage.merge.rebase import rebase
from core.storage.writing import (
    check_writable,
    completed,
    content_of,
    is_due,
    name_of,
    page_steps,
    prepare,
    rebased_file,
)

if TYPE_CHECKING:
    from core.storage.format.pages import PageSet
    from core.storage.outside import Due

_KEPT: Final = "nothing was written"
_UNFINISHED: Final = "it is in the history and finishes when the memory is next opened or changed"
_NOTHING: Final = ChangeSet(id="", at="", author=OURSELVES, reason="", kind="restore")
_NO_VERSION: Final = Fingerprint(0, 0, 0)
# How often a change is brought onto newer files, and after how often it is written although they move on.
_TRIES: Final = 20
_PATIENT_TRIES: Final = 4
# How long a file that is gone is waited for: editors rename it away and write it anew.
_GONE_SECONDS: Final = 2.0
_GLANCE_SECONDS: Final = 0.01
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


class Committer:
    """Brings change sets onto the newest files. It holds the files as they were last loaded.

    All but `load` and `current` is called under the memory's lock. pages: the folder of the pages that are the
    memory's notes, if they are.
    """

    def __init__(
        self,
        home: Path,
        rules: InferenceSettings,
        session: JournalSession,
        *,
        clock: Callable[[], datetime],
        tolerant: bool,
        loaded: Loaded | None,
        pages: Path | None,
    ) -> None:
        self.home = home
        self._pages = pages
        self._tolerant = tolerant
        self._rules = rules
        self._clock = clock
        self._loaded = loaded
        self._problems_kept: tuple[Problem, ...] = ()
        # The journal with which everything was reconciled once: what was left of a crash before that is cleared away.
        self._reconciled_with: Journal | None = None
        # Whether a killed write left something, or somebody is writing.
        self._left_behind = True
        # Files that were gone and did not come back in time.
        self._waited_for: set[Path] = set()
        self._replaced: list[_Held] = []
        self._session = session

    # The files

    @property
    def current(self) -> Loaded:
        """The files as they were last loaded."""
        assert self._loaded is not None
        return self._loaded

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

    def _owed(self, pages: PageSet) -> Mapping[str, str | None]:
        from core.storage.journal.owed import pages_owed

        return pages_owed(self.home, pages)

    @property
    def reconciled(self) -> bool:
        """Whether nothing is owed: the journal has seen the files as they are."""
        return (
            self._loaded is None or self._session.journal is None or self._session.file.in_step(self._loaded)
        )

    @property
    def unsettled(self) -> bool:
        """Whether there is something to look at beside the files: litter of a killed write among the pages of another
        program, or a file that was replaced and written into since.
        """
        if self._replaced:
            now = time.monotonic()
            for old in [
                one for one in self._replaced if one.replaced.until < now and not one.replaced.written
            ]:
                self._let_go(old)
            if any(one.replaced.written for one in self._replaced):
                return True
        return self._left_behind and bool(self.current.page_folders)

    def is_ready(self, loaded: Loaded) -> bool:
        """Whether a change may be written on these files, which are in step with the journal, without settling."""
        return self._nothing_left and self.current is loaded

    @property
    def _nothing_left(self) -> bool:
        """Whether what a crash may have left, and what cannot be read, is seen to already."""
        journal, problems = self._session.journal, self.current.snapshot.problems
        seen_to = not self._left_behind and (not problems or problems == self._problems_kept)
        return journal is not None and journal is self._reconciled_with and seen_to

    def close(self) -> None:
        """Lets go what was replaced."""
        for held in list(self._replaced):
            self._let_go(held)

    def _let_go(self, held: _Held) -> None:
        self._replaced.remove(held)
        held.replaced.close()

    # One change

    def commit(
        self,
        change_set: ChangeSet,
        made_by: Maker,
        seq: int | None = None,
        *,
        decide: Decide | None = None,
        settling: bool = False,
        insist: bool = False,
        fresh: bool = False,
        judged: bool = False,
        spelling: Collection[Document] = (),
        exact: bool = False,
        beside: Beside | None = None,
    ) -> Applied:
        """Rebases and writes until no other program comes between. seq: the entry that is pending already.

        settling: what comes between is reconciled first. insist: a program that saves more often than one can write
        does not keep this from being written; what it saves is merged in afterwards. fresh: the files were read just
        now; judged: and the journal has seen them. spelling: as of `prepare`. exact, beside: see `Store.apply`. What
        was written beside the entry stays, so that the entry does as well: whatever keeps the files from being written
        then is an UnfinishedError.
        """
        beside_id = ""
        for turn in range(_TRIES):
            try:
                known = self.current
                if turn or not fresh:
                    self.load()
                    if settling and not beside_id and self.current is not known:
                        self.reconcile(writing=True)
                    elif self.lost:
                        break
                due = None if judged and not turn else self._judge()
                # A recall writes its count alone.
                if due is None or change_set.kind == "hit":
                    base = self.current
                elif self.current.graph.pages is not None and not due.back.empty:
                    # What is put back into pages is written by itself.
                    self._put_back(due.back)
                    continue
                else:
                    base = due.target
                before = base.snapshot
                check_writable(self.home, before, change_set)
                effective = rebase(change_set, before, decide or refuse)
                if decide is not None and not exact:
                    effective = without_hollow(effective)
                whole = (rebased_file(self.home, change) for change in effective.files)
                files = tuple(change for change in whole if is_due(self.home, change))
                effective = completed(base, msgspec.structs.replace(effective, files=files))
                if effective.empty:
                    if seq is not None:
                        self._session.finish(seq, change_set, made_by, base)
                    return Applied(before, self.current.snapshot, effective)
                entry = effective if seq is None else whole_of(change_set, effective, before)
                insisting = insist and turn >= _PATIENT_TRIES
                number, entry, done = self._write(
                    base, effective, entry, made_by, seq, insisting, spelling, beside
                )
            except UnfinishedError:
                raise
            except NuggetsError as error:
                if not beside_id:
                    raise
                raise self._unfinished(error, beside_id) from error
            if done:
                return Applied(before, self.current.snapshot, entry)
            if beside is not None:
                seq, beside, beside_id = number, None, entry.id
        busy = BusyError(
            "another program keeps changing the files",
            code=ErrorCode.LOCKED,
            remedy=Remedy("try-again"),
            where=str(self.home),
            kept=_KEPT,
        )
        raise self._unfinished(busy, beside_id) if beside_id else busy

    @staticmethod
    def _unfinished(error: NuggetsError, entry: str) -> UnfinishedError:
        unfinished = UnfinishedError(
            error.what, where=error.where, kept=f"the change is not lost: {_UNFINISHED}"
        )
        unfinished.entry = entry
        return unfinished

    def _judge(self) -> Due:
        """What the files are to say."""
        from core.storage.outside import take_in

        return take_in(self._session, self.current, final=False)

    def _write(
        self,
        base: Loaded,
        effective: ChangeSet,
        entry: ChangeSet,
        made_by: Maker,
        seq: int | None,
        insisting: bool,
        spelling: Collection[Document],
        beside: Beside | None,
    ) -> tuple[int, ChangeSet, bool]:
        """One try. The entry of the log as it was put down, and whether it was written: not when a file moved on under
        us before. The entry is dropped then, unless something was written beside it. base: the files with what is to
        be put back into them, which is written along. entry: what the log tells, which is more than `effective` where
        a part was written before.
        """
        steps, going = prepare(self.home, base, effective, spelling)
        if base is not self.current:
            planned, now = {step.path for step in steps}, self.current.documents()
            back = (document for path, document in base.documents().items() if document is not now.get(path))
            steps = [*steps, *(document for document in back if document.path not in planned)]
        self._keep_before_rewriting(base, steps)
        write = Write(self.home, base, effective, steps, going)
        with write.staged_files():
            number, entry = self._session.begin(entry, made_by, write.stages(), seq, beside)
            written = None
            try:
                try:
                    written = write.carry_out(insisting=insisting)
                finally:
                    if written is None and not write.begun and seq is None and beside is None:
                        self._session.abandon(number)
            except StorageError as error:
                if seq is None and self._session.is_pending(number):
                    raise self._unfinished(error, entry.id) from error
                raise
            if written is not None:
                self.finish(number, entry, made_by, base, written)
            return number, entry, written is not None

    def _keep_before_rewriting(self, loaded: Loaded, steps: Iterable[Document | PageDocument]) -> None:
        if loaded.snapshot.problems:
            from core.storage.safety.backup_before_write import keep_before_rewriting

            rewritten = [loaded.documents().get(step.path) for step in steps]
            keep_before_rewriting(self.home, [one for one in rewritten if one is not None], self._clock())

    def finish(
        self, seq: int | None, entry: ChangeSet, made_by: Maker, before: Loaded, written: Written
    ) -> bool:
        """Journals a write as done, and merges what other programs wrote in the instant of it; whether any did.

        seq: as of `JournalSession.finish`.
        """
        held = [_Held(replaced, path, before, seq) for path, replaced in written.replaced]
        moved = [one for one in held if one.replaced.moved]
        take_in = partial(self._take_in_replaced, moved) if moved else None
        self._session.finish(seq, entry, made_by, before, written.loaded, take_in)
        self._loaded = written.loaded
        for one in held:
            one.replaced.forget()
        self._replaced += held
        for old in self._replaced[:-_HELD]:
            self._let_go(old)
        if moved:
            self._finish_pending()
        return bool(moved)

    def _take_in_replaced(self, held: Iterable[_Held], connection: sqlite3.Connection) -> None:
        """Has what other programs wanted wait as pending whose versions were replaced."""
        from core.storage.outside import take_slipped

        for one in held:
            data = one.replaced.read(_is_json if one.path.suffix == ".json" else bool)
            take_slipped(self._session, connection, one.path, data, one.before, one.seq)

    def _look_once_more(self) -> None:
        """Merges what somebody wrote into a file after it was replaced."""
        written = [held for held in self._replaced if held.replaced.written]
        if written and (journal := self._session.journal) is not None:
            with journal.transaction(durable=True) as connection:
                self._take_in_replaced(written, connection)

    # What was left, and what other programs did

    def reconcile(self, *, writing: bool = False, loaded: bool = False) -> None:
        """Finishes what a crash cut off, logs what came from outside, and puts back what old copies reverted once the
        files are quiet. writing: something is about to be written, so that is done at once. loaded: the files were
        read just now.
        """
        if not loaded:
            self.load()
        if self._nothing_left and self.reconciled and not self.unsettled:
            return
        self._session.file.open(self.current)
        if self._left_behind:
            from core.storage.outside import recover_slipped

            recover_slipped(self._session, self.current)
            remove_leftovers(self.home, *self.current.page_folders)
        problems = self.current.snapshot.problems
        if problems and problems != self._problems_kept:
            from core.storage.safety.backup_before_write import keep_unreadable

            keep_unreadable(self.home, self.current, self._clock())
            self._problems_kept = problems
        self._reconciled_with = self._session.journal
        self._look_once_more()
        for _ in range(_TRIES):
            self._restore_lost()
            if not self.reconciled:
                back = self._take_in(writing)
                self._finish_pending()
                if back is not None:
                    if self._put_back(back):
                        continue
                    return
            break
        self._store_pages()

    def _take_in(self, writing: bool) -> ChangeSet | None:
        """Judges what came from outside; what is to be put back now, None for nothing."""
        from core.storage.outside import QUIET_SECONDS, take_in

        end = time.monotonic() + QUIET_SECONDS
        while True:
            final = self.quiet or time.monotonic() >= end
            due = take_in(self._session, self.current, final=final)
            if final or not (due.waits and writing):
                return due.back if (writing or self.quiet) and not due.back.empty else None
            # The rest of the save shows what it is.
            time.sleep(_GLANCE_SECONDS)
            self.load()

    def _put_back(self, back: ChangeSet) -> bool:
        """Writes what the journal remembers and the files do not say; whether to look at the files again."""
        try:
            loaded = self.current
            effective = completed(loaded, rebase(back, self.load(), take_theirs))
            if self.current is not loaded:
                return True
            steps, going = prepare(self.home, loaded, effective)
            self._keep_before_rewriting(loaded, steps)
            write = Write(self.home, loaded, effective, steps, going)
            with write.staged_files():
                written = write.carry_out()
            if written is not None:
                self.finish(None, effective, RESTORED, loaded, written)
        except NuggetsError as error:
            # Whoever looks next tries again.
            self._session.notices.add_error(error)
            return False
        return True

    def _finish_pending(self) -> None:
        for pending in self._session.pending():
            met = Collect(take_theirs)
            try:
                self._write_owed(pending)
                self.commit(pending.change_set, pending.made_by, pending.seq, decide=met)
                if met.conflicts:
                    self._session.keep_conflict(pending.change_set, pending.made_by, met.conflicts[0])
            except BusyError:
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

    def _write_owed(self, pending: Pending) -> None:
        """Writes the pages of a change that was cut off behind the note graph. Raises StorageError, ReadOnlyError."""
        pages = self.current.graph.pages
        if pages is None:
            return
        from core.storage.format.page_writes import owed_pages
        from core.storage.journal.owed import pages_of

        plain = replace(pages, owed={})
        steps, going = page_steps(plain, owed_pages(plain, pages_of(self.home, pending)))
        if not steps:
            return
        write = Write(self.home, self.current, _NOTHING, steps, going)
        with write.staged_files():
            written = write.carry_out()
        for path, replaced in written.replaced if written is not None else ():
            if replaced.moved:
                # Another program wrote it in this very instant: its version counts, and ours is in the history.
                replace_file(write.targets[path], replaced.read(lambda data: True))
            replaced.close()
        self.load()

    def _store_pages(self) -> None:
        """Has the note graph hold the pages as they are now: what is deleted among them later is not lost."""
        loaded = self.current
        if not loaded.pages_to_store:
            return
        try:
            make_folder(self.home)
            write = Write(self.home, loaded, _NOTHING, [loaded.graph])
            with write.staged_files():
                written = write.carry_out()
        except NuggetsError as error:
            self._session.notices.add_error(error)
            return
        if written is not None:
            self.finish(None, _NOTHING, RESTORED, loaded, written)

    @property
    def quiet(self) -> bool:
        """Whether nobody has written to the files for a while."""
        from core.storage.outside import is_quiet

        return is_quiet(self.current)

    # Files that are gone

    @property
    def lost(self) -> tuple[Document, ...]:
        """The files that are gone, as far as the journal can tell."""
        with contextlib.suppress(NuggetsError, BrokenJournalError):
            return self._lost()
        return ()

    def _lost(self) -> tuple[Document, ...]:
        journal = self._session.journal
        if journal is None or not self._session.baseline.gone(self.current, journal):
            return ()
        from core.storage.outside import lost_files

        return lost_files(self._session, self.current)

    def wait_for_lost(self) -> tuple[Document, ...]:
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
        while lost := self.wait_for_lost():
            from core.storage.outside import log_lost

            without, back = self.current, []
            for document in lost:
                make_folder(document.path.parent)
                staged = stage_file(write_target(self.home, document.path), *document.to_parts())
                try:
                    put_instead(staged, None)
                    back.append(document)
                except FileExistsError:
                    # It is back in this very instant.
                    discard([staged])
            log_lost(self._session, without, back)
            self._waited_for = set()
            self.load()


@dataclass(frozen=True)
class Written:
    """What stands in the files after a write, and what was replaced there, by path."""

    loaded: Loaded
    replaced: tuple[tuple[Path, Replaced], ...] = ()


@dataclass
class Write:
    """One write: once it is staged, new versions are safe on disk beside their files, and those are as they were.

    steps: the new versions, in order. going: those of them that are removed instead.
    """

    home: Path
    loaded: Loaded
    change_set: ChangeSet
    steps: Sequence[Document | PageDocument] = field(default_factory=list)
    going: frozenset[Path] = frozenset()
    targets: dict[Path, Path] = field(default_factory=dict)
    staged: dict[Path, Staged] = field(default_factory=dict)
    # What was put in place: from the first file on the rest has to follow.
    placed: set[Path] = field(default_factory=set)

    @property
    def begun(self) -> bool:
        """Whether a file was put in place."""
        return bool(self.placed)

    @contextmanager
    def staged_files(self) -> Iterator[None]:
        """Within this the new versions are safe on disk; nothing is left behind when nothing is written. Raises
        StorageError, ReadOnlyError.
        """
        self.targets = {step.path: write_target(self._root(step), step.path) for step in self.steps}
        try:
            for step in self.steps:
                if step.path not in self.going:
                    if step.on_disk is None:
                        make_folder(step.path.parent)
                    mode = {"mode": step.mode} if isinstance(step, PageDocument) else {}
                    self.staged[step.path] = stage_file(self.targets[step.path], *step.to_parts(), **mode)
            yield
        except BaseException:
            if not self.begun:
                discard(self.staged.values())
            raise

    def _root(self, step: Document | PageDocument) -> Path:
        pages = self.loaded.graph.pages
        return pages.folder if isinstance(step, PageDocument) and pages is not None else self.home

    def stages(self) -> dict[str, Stage]:
        """For each file the version that was read and the one that is to follow."""
        return {
            name_of(self.home, step.path): Stage(
                step.on_disk, self.staged[step.path].fingerprint if step.path in self.staged else None
            )
            for step in self.steps
        }

    def carry_out(self, *, insisting: bool = False) -> Written | None:
        """Puts the new versions in place. None when a file moved on before anything was written.

        insisting: also then, if what stands there by now can be got hold of. Raises StorageError; `begun` says
        whether something was written by then.
        """
        written: dict[Path, Fingerprint] = {}
        replaced: list[tuple[Path, Replaced]] = []
        try:
            # Another program may not know our lock: the last look at the files comes right before the renames.
            moved = any(fingerprint(step.path) != step.on_disk for step in self.steps)
            if moved and (self.going or not insisting):
                return None
            for step in self.steps:
                try:
                    with self._placing(step.path):
                        other = self._place(step, moved=moved and not written)
                except FileExistsError:
                    if not self.begun:
                        return None
                    with self._placing(step.path):
                        other = put_instead(self.staged[step.path], _NO_VERSION)
                if step.path not in self.going:
                    written[step.path] = in_place(self.staged[step.path])
                if other is not None:
                    replaced.append((step.path, other))
        finally:
            # Where a file was exchanged, what it replaced lies there now.
            discard(one for path, one in self.staged.items() if path not in self.placed)
        for change in self.change_set.files:
            with self._placing(self.home / change.path):
                _write_whole(self.home, change)
        return Written(self._after(written), tuple(replaced))

    def _place(self, step: Document | PageDocument, *, moved: bool) -> Replaced | None:
        if step.path not in self.going:
            return put_instead(self.staged[step.path], step.on_disk, moved=moved)
        if isinstance(step, PageDocument):
            return take_away(self.targets[step.path], step.fingerprint)
        remove_file(self.targets[step.path])
        return None

    @contextmanager
    def _placing(self, path: Path) -> Iterator[None]:
        try:
            yield
        except NotSyncedError:
            self.placed.add(path)
            raise
        self.placed.add(path)

    def _after(self, written: Mapping[Path, Fingerprint]) -> Loaded:
        nuggets, graph = dict(self.loaded.nuggets), self.loaded.graph
        for step in self.steps:
            if step.path in written and not isinstance(step, PageDocument):
                made = replace(step, fingerprint=written[step.path])
                if isinstance(made, GraphDocument):
                    graph = made
                else:
                    nuggets[step.path] = made
        if self.going or nuggets.keys() != self.loaded.nuggets.keys():
            nuggets = {path: nuggets[path] for path in nugget_files(self.home) if path in nuggets}
        pages = self.loaded.graph.pages
        if pages is not None and graph is not self.loaded.graph:
            from core.storage.format.pages import with_written_pages

            made_pages = {
                step.path: replace(step, fingerprint=written[step.path]) if step.path in written else None
                for step in self.steps
                if isinstance(step, PageDocument)
            }
            graph = with_written_pages(graph, pages, made_pages)
        return assembled(self.home, graph, nuggets, self.loaded)


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _write_whole(home: Path, change: FileChange) -> None:
    path = Path(os.path.realpath(home / change.path))
    if change.after is None:
        # What another program wrote there since it was looked at stays.
        if content_of(path) == change.before:
            remove_file(path)
        return
    make_folder(path.parent)
    mode = (path.stat().st_mode & 0o777) if path.exists() else 0o600
    replace_file(path, change.after, mode=mode)
