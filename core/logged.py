"""A memory's files and their log: opened, read again as they change, changed, and taken back."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from functools import cached_property, wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, Final, Literal, ParamSpec, Self, TypeVar, cast

from core.errors import ConflictError, InvalidInputError, NuggetsError, UnfinishedError
from core.folder import default_home
from core.model.change import PERSON, PROGRAM, Author, ChangeKind, ChangeSet
from core.model.draft import Draft
from core.model.entry import Entry
from core.model.names import iso, parse_iso
from core.model.snapshot import Snapshot
from core.model.window import Window
from core.services.listener import FileListener
from core.services.saved_searches import SavedSearches
from core.services.settings_file import SettingsFile
from core.settings import Settings
from core.storage.files import absolute_path
from core.storage.reading import read_folder

if TYPE_CHECKING:
    from core.history import History
    from core.model.progress import Progress
    from core.storage.merging import Decide
    from core.storage.reading import Loaded
    from core.storage.store import Store
    from core.timeline import Timeline

# How long reading waits for the lock when there is something to put into the log.
_LOOK_SECONDS: Final = 2.0
# How long it waits for a program that saves again and again, when that program has taken something back.
_PATIENCE_SECONDS: Final = 0.5
# A recall that cannot be counted and an undo that cannot be done lose nobody's text.
_NEVER_WAITING: Final = ("hit", "undo", "redo", "promotion")
# How long other writers are waited for to count a recall: an agent waits for the answer.
_HIT_SECONDS: Final = 0.3
# How often an edit is thought out again because the files moved on meanwhile.
_DRAFTS: Final = 5
_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")
_Self = TypeVar("_Self", bound="LoggedMemory")


def of_the_log(
    method: Callable[Concatenate[_Self, _Arguments], _Result],
) -> Callable[Concatenate[_Self, _Arguments], _Result]:
    """A method that reads the log: when it comes upon damage, the log is set aside, and the method called once more
    with the one that was begun in its place.
    """

    @wraps(method)
    def call(self: _Self, *args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        try:
            return method(self, *args, **named)
        except NuggetsError:
            raise
        except Exception as error:
            if not self._set_broken_log_aside(error):
                raise
        return method(self, *args, **named)

    # A method for mypy, which takes what `wraps` gives for something else.
    return cast("Callable[Concatenate[_Self, _Arguments], _Result]", call)


class LoggedMemory:
    """A memory's files and their log. Safe to use from several threads.

    `home` is its folder, `settings` what settings.toml and the environment say, `author` who changes made
    through this object are put down to.
    """

    def __init__(
        self,
        home: Path,
        *,
        author: Author = PERSON,
        clock: Callable[[], datetime] | None = None,
        ids: Callable[[], str] | None = None,
        tolerant: bool = False,
        window: Window | None = None,
    ) -> None:
        self.home = home
        self.author = author
        self.window = window or Window()
        self._clock = clock or (lambda: datetime.now(UTC))
        self._settings_file = SettingsFile(home)
        self._saved_searches = SavedSearches(home, lambda: self._clock())
        self._listeners: tuple[FileListener, ...] = (self._settings_file, self._saved_searches)
        self._ids = ids or (lambda: secrets.token_hex(4))
        self._guard = threading.RLock()
        # Where no log can be written: what other programs changed meanwhile.
        self._unlogged: list[ChangeSet] = []
        first = read_folder(home, self.settings.inference, tolerant=tolerant)
        self._first: Loaded | None = first
        self._tolerant = tolerant
        self._snapshot = first.snapshot
        # The last entry of earlier runs, and in which log it stands; None before there is one.
        self._begun: tuple[int, int] | None = None

    # The first frame of the app needs the snapshot alone: what writes and remembers is loaded when it is wanted.

    @cached_property
    def _store(self) -> Store:
        from core.storage.store import Store

        first, self._first = self._first, None
        return Store(
            self.home,
            self.settings,
            clock=self._clock,
            ids=self._ids,
            tolerant=self._tolerant,
            loaded=first,
        )

    @cached_property
    def _log(self) -> History:
        from core.history import History

        return History(
            self._store, self.author, self._apply_deciding, lambda: (self._ids(), self._now()), self.window
        )

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        author: Author = PERSON,
        clock: Callable[[], datetime] | None = None,
        ids: Callable[[], str] | None = None,
        settle: bool = True,
        tolerant: bool = False,
        window: Window | None = None,
    ) -> Self:
        """Opens the memory in a folder (default: NUGGETS_HOME, else ~/.nuggets).

        A folder that does not exist is an empty memory; the first change makes it. Opening changes no memory, but
        for two cases: a write that a crash cut off is finished, and a change that another program took back
        without meaning to is restored. What other programs changed meanwhile goes into the log (`ledger.db`).
        settle=False leaves that to the first `refresh`. `clock` and `ids` (8 new hexadecimal digits a call) may be
        given for repeatable results. Raises BrokenFileError when the note graph cannot be read; a
        broken fact file is a problem of the snapshot. tolerant: so is a note graph that cannot be read, and the facts
        alone are there. window: of another memory on the same folder, through which one person works.
        """
        home = default_home() if path is None else Path(path).expanduser()
        memory = cls(
            absolute_path(home), author=author, clock=clock, ids=ids, tolerant=tolerant, window=window
        )
        if settle:
            memory.refresh()
        return memory

    def close(self) -> None:
        """Lets the files of the log go. The memory may be used on; it opens them again."""
        with self._guard:
            self._store.close()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings_file.settings

    @property
    def snapshot(self) -> Snapshot:
        """The memory as it was last loaded; immutable."""
        return self._snapshot

    @property
    def history(self) -> tuple[ChangeSet, ...]:
        """Change sets of this run, oldest first: made through this object, or by other programs meanwhile. They are
        read from the log; what went to an archive of it is left out. Raises StorageError.
        """
        with self._guard:
            if self._begun is None:
                return tuple(self._unlogged)
            if self._store.ledger is None:
                self.refresh(patient=False)
            return (*self._unlogged, *self._logged())

    @of_the_log
    def _logged(self) -> Iterator[ChangeSet]:
        assert self._begun is not None
        after, log = self._begun
        entries = self._log.log(after=after if log == self._store.logs_begun else 0)
        return (entry.change_set for entry in reversed(entries) if entry.state == "done")

    def refresh(self, *, patient: bool = True) -> bool:
        """Reads what changed in the files, and puts it into the log. True when the snapshot is a new one.

        A change of ours that another program took back without having seen it is restored; while that program keeps
        saving, patient=True waits up to half a second for it to pause. Errors as in `open`; the last good snapshot
        stays then.
        """
        with self._guard:
            newer = self._refresh(_LOOK_SECONDS, _PATIENCE_SECONDS if patient else 0.0)
            for listener in self._listeners:
                listener.look()
            return newer

    def _refresh(self, seconds: float, patience: float = 0.0) -> bool:
        with self._guard:
            loaded = self._store.look_around(seconds, patience)
            self._mark_begin()
            if self.window.opened_at is None and (self._begun is not None or self._store.ledger is None):
                self.window.opened_at = self._begun[0] if self._begun is not None else 0
            return self._adopt(loaded)

    @of_the_log
    def _mark_begin(self) -> None:
        """Remembers where the log stands at first: that of earlier runs is no history of this one."""
        ledger = self._store.ledger
        if self._begun is None and ledger is not None and not ledger.read_only:
            self._begun = ledger.last_seq, self._store.logs_begun

    @property
    def log_problem(self) -> NuggetsError | None:
        """Why the log cannot be read though there is one; None when it can, and when there is none yet."""
        with self._guard:
            return self._store.log_problem

    def _set_broken_log_aside(self, error: Exception) -> bool:
        with self._guard:
            return self._store.set_broken_ledger_aside(error)

    def _adopt(self, loaded: Snapshot) -> bool:
        former = self._snapshot
        self._snapshot = loaded
        ledger = self._store.ledger
        if loaded is not former and (ledger is None or ledger.read_only):
            from core.storage.compare import outside_changes

            self._unlogged += outside_changes(former, loaded, ids=self._ids, at=self._now(), author=PROGRAM)
        return loaded is not former

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call: what was restored, set aside or begun anew."""
        told = (listener.take_notices() for listener in self._listeners)
        return (*self._store.take_notices(), *chain.from_iterable(told))

    def visited(self) -> str | None:
        """Keeps that a person looks at the memory just now; when that was last, None for never. Changes no memory."""
        with self._guard:
            return self._store.visited(self._now())

    def _now(self) -> str:
        return iso(self._clock())

    # Changing

    def draft(self) -> Draft:
        """A draft over the present snapshot, with this memory's clock, ids and words for inference."""
        return Draft(self._snapshot, now=self._clock(), ids=self._ids, rules=self.settings.inference)

    def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Writes a change set, rebased on the newest files, and returns it as it was really applied.

        An empty one writes nothing. Raises ConflictError when something was changed in two ways (the change then
        waits in the log, under the id that the error names), ReadOnlyError, BrokenFileError, LockTimeoutError or
        StorageError; nothing is written then.
        """
        try:
            return self._apply_deciding(change_set, None)
        except ConflictError as error:
            if change_set.kind not in _NEVER_WAITING:
                error.entry = self._store.keep_conflict(change_set, self.author.signature, error)
            raise

    def _apply_deciding(self, change_set: ChangeSet, decide: Decide | None, made_by: str = "") -> ChangeSet:
        if change_set.empty:
            return change_set
        with self._guard:
            seconds = _HIT_SECONDS if change_set.kind == "hit" else None
            if self._store.ledger is None:
                self._refresh(_LOOK_SECONDS if seconds is None else seconds)
            # What the pipeline brings in unasked is nobody's to take back by pressing undo.
            asked = made_by in ("", self.author.signature) and change_set.kind != "hit"
            try:
                done = self._store.apply(change_set, made_by or self.author.signature, decide, seconds)
            except UnfinishedError as error:
                if asked:
                    self.window.made.append(error.entry)
                raise
            self._snapshot = done.after
            if self._begun is None:
                self._begun = 0, self._store.logs_begun
            if asked and not done.change_set.empty:
                self.window.made.append(done.change_set.id)
            written = {change.path for change in done.change_set.files}
            for listener in self._listeners:
                if listener.path in written:
                    listener.look(written=True)
            return done.change_set

    def change(
        self, reason: str, edit: Callable[[Draft], _Result], *, kind: ChangeKind = "edit"
    ) -> tuple[_Result, ChangeSet]:
        """Drafts an edit on the newest files and applies it; what `edit` returned, and the change set.

        When the files moved on between the two such that both conflict, the edit is drafted anew: `edit` may be called
        several times. Errors as in `apply`.
        """

        def drafted(draft: Draft) -> tuple[_Result, ChangeSet]:
            result = edit(draft)
            return result, draft.change_set(reason, author=self.author, kind=kind)

        with self._guard:
            self.refresh(patient=False)
            return self._apply_drafted(drafted)

    def _change_file(self, edit: Callable[[Draft], str]) -> ChangeSet:
        """As `change`, of a file beside the notes; `edit` returns the reason."""

        def drafted(draft: Draft) -> tuple[None, ChangeSet]:
            reason = edit(draft)
            return None, draft.change_set(reason, author=self.author)

        with self._guard:
            return self._apply_drafted(drafted)[1]

    def bring_in(
        self, reason: str, edit: Callable[[Draft], _Result], *, author: Author, asked: bool
    ) -> tuple[_Result, ChangeSet]:
        """As `change`, put down to somebody else, for whom what cannot be written is safe elsewhere: a conflict that
        drafting anew does not end is raised, and nothing waits in the log.

        asked: whether this memory's author asked for it, so that their `undo` takes it back.
        """

        def drafted(draft: Draft) -> tuple[_Result, ChangeSet]:
            result = edit(draft)
            return result, draft.change_set(reason, author=author)

        made_by = "" if asked else author.signature
        with self._guard:
            self.refresh(patient=False)
            return self._apply_drafted(
                drafted, lambda change_set: self._apply_deciding(change_set, None, made_by), made_by
            )

    def _apply_drafted(
        self,
        drafted: Callable[[Draft], tuple[_Result, ChangeSet]],
        at_last: Callable[[ChangeSet], ChangeSet] | None = None,
        made_by: str = "",
    ) -> tuple[_Result, ChangeSet]:
        """Applies what is drafted over the present snapshot, and over a newer one when both conflict; see `change`.

        at_last: how the last try is applied; None: as `apply` does. made_by: see `Store.apply`, "" for the author.
        """
        for left in reversed(range(_DRAFTS)):
            result, change_set = drafted(self.draft())
            if not left:
                return result, (at_last or self.apply)(change_set)
            try:
                return result, self._apply_deciding(change_set, None, made_by)
            except ConflictError:
                # The very state that it met, with what was restored for its sake.
                self._adopt(self._store.present)
        raise AssertionError("the last try either returned or raised")

    # The log

    @of_the_log
    def log(
        self,
        *,
        limit: int | None = 100,
        author: str | Collection[str] | None = None,
        kind: str | Collection[str] | None = None,
        note: str | None = None,
        run: str | None = None,
        text: str | None = None,
        since: str | None = None,
        until: str | None = None,
        before: int | None = None,
        after: int | None = None,
    ) -> tuple[Entry, ...]:
        """Everything that ever changed, newest first. author: kinds ("person", "agent", "program", ...) or names. kind:
        of change sets. note: the id of a note. run: the id of an entry, with what took it back or settled it. text:
        words that all stand in reason, titles, keys or paths. since, until: ISO 8601 times. before, after: the numbers
        (`seq`) of entries, to read on from there.
        """
        with self._guard:
            return self._log.log(
                limit=limit, author=author, kind=kind, note=note, run=run, text=text, since=since, until=until,
                before=before, after=after,
            )  # fmt: skip

    @of_the_log
    def newest_in_log(self) -> int:
        """The number (`seq`) of the newest entry, 0 for none; no entry is read for it. Raises StorageError."""
        with self._guard:
            return self._log.newest()

    @of_the_log
    def makers(self, note_id: str) -> tuple[tuple[Author, str], ...]:
        """Who changed a note and when, oldest first, recalls left out. Raises StorageError."""
        with self._guard:
            return self._log.makers(note_id)

    @of_the_log
    def log_counts(self) -> tuple[tuple[str, str, str, int], ...]:
        """How many entries there are of each kind and name of author and kind of change set. Raises StorageError."""
        with self._guard:
            return self._log.counts()

    @of_the_log
    def timeline(self) -> Timeline:
        """Every state of the memory as far back as the log reaches. Reads alone. Errors as in `refresh`, and
        StorageError for a log that cannot be read.
        """
        from core.timeline import timeline_of

        with self._guard:
            self.refresh(patient=False)
            if self._store.log_problem is not None:
                raise self._store.log_problem
            return timeline_of(self._snapshot, self.home, lambda: self._store.ledger, self._guard)

    def at(self, when: str) -> Snapshot:
        """The memory as it was at an ISO 8601 time. Raises NotFoundError, which says how far back the log reaches,
        InvalidInputError for what is no time; other errors as `timeline`.
        """
        moment = parse_iso(when)
        if moment is None:
            raise InvalidInputError("is no time", where=repr(when[:80]), todo="give an ISO 8601 time")
        timeline = self.timeline()
        return timeline.at(timeline.position_at(iso(moment)))

    def going_back(
        self, wanted: Snapshot, words: str, note: str | None = None, progress: Progress | None = None
    ) -> ChangeSet:
        """What makes the memory, or one note of it, as it is in `wanted`; `apply` writes it. words: what that state is
        called in the log. progress and errors as `core.restore.restoration`.
        """
        from core.restore import reason_of, restoration

        with self._guard:
            self.refresh()
            present, id = self._snapshot, self._ids()
        # Nobody's edit waits for a proposal.
        return restoration(
            present, wanted, note=note, id=id, at=self._now(), author=self.author, reason=reason_of(words, note),
            progress=progress,
        )  # fmt: skip

    @of_the_log
    def entry(self, id: str) -> Entry:
        """The entry with this id or the beginning of one. Raises NotFoundError, AmbiguousError."""
        with self._guard:
            return self._log.entry(id)

    @of_the_log
    def undo(self, what: ChangeSet | str | None = None, part: int | None = None) -> ChangeSet:
        """Takes back an entry of the log by whomever, or one part of it (`part`, or "<id>.<number>"), as a new change
        set; what came later on other fields stays. None: the last change of this memory's author,
        made through this window or before it was opened.

        Raises NotFoundError, InvalidInputError, and ConflictError that says what stands in the way.
        """
        with self._guard:
            self._catch_up()
            return self._log.undo(what, part)

    @of_the_log
    def redo(self, what: str | None = None) -> ChangeSet:
        """Does again what was taken back; None: what this author took back last. Errors as in `undo`."""
        with self._guard:
            self._catch_up()
            return self._log.redo(what)

    def _catch_up(self) -> None:
        """Has a change that could not be finished be the newest in the log, before anything is taken back."""
        if not self._store.settled:
            self.refresh(patient=False)

    @of_the_log
    def taken_back(self) -> frozenset[str]:
        """Ids of entries, and "<id>.<number>" of parts, that are taken back at present."""
        with self._guard:
            return self._log.taken_back()

    @of_the_log
    def conflicts(self) -> tuple[Entry, ...]:
        """Changes that met a conflict and wait for a person, newest first."""
        with self._guard:
            return self._log.conflicts()

    @of_the_log
    def settle_conflict(self, id: str, take: Literal["ours", "theirs"], text: str | None = None) -> ChangeSet:
        """Settles a conflict of the log; see `History.settle`. Returns what was written."""
        with self._guard:
            return self._log.settle(id, take, text)

    def settle_all_conflicts(self, take: Literal["ours", "theirs"]) -> tuple[ChangeSet, ...]:
        """Settles every conflict that waits in the same way, oldest first; what was written for each.

        One that cannot be settled goes on waiting, and the first error of that kind is raised once all were tried.
        """
        done: list[ChangeSet] = []
        refused: NuggetsError | None = None
        for entry in reversed(self.conflicts()):
            try:
                done.append(self.settle_conflict(entry.id, take))
            except ConflictError as error:
                refused = refused or error
        if refused is not None:
            raise refused
        return tuple(done)
