"""Holds the present snapshot of a memory and is the one way to change it, under one guard."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial, wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, Protocol, TypeVar, cast

from msgspec.structs import replace

from core.errors import ConflictError, Notice, NuggetsError, UnfinishedError
from core.model.change import Author, ChangeKind, ChangeSet
from core.model.draft import Draft
from core.model.names import iso
from core.model.snapshot import Snapshot
from core.model.window import Window
from core.settings import Settings
from core.storage.files.atomic import Fingerprint, fingerprint
from core.storage.format.documents import read_folder
from core.storage.journal.journal import Beside

if TYPE_CHECKING:
    from core.model.draft import TeamNames
    from core.storage.format.documents import Document, Loaded
    from core.storage.format.pages import PageSet
    from core.storage.merge.deciding import Decide
    from core.storage.store import Store

# How long reading waits for the lock when there is something to put into the log.
_SYNC_SECONDS: Final = 2.0
# A recall that cannot be counted and an undo that cannot be done lose nobody's text.
_NEVER_WAITING: Final = ("hit", "undo", "redo", "promotion")
# How long other writers are waited for to count a recall: an agent waits for the answer.
_HIT_SECONDS: Final = 0.3
# How often an edit is thought out again because the files moved on meanwhile.
_DRAFTS: Final = 5
_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


class FileListener(Protocol):
    """A part that reads one file of the folder.

    path: the file, from the memory's folder. state: what it holds of it, compared by value: whoever watches the memory
    is told when it is another.
    """

    @property
    def path(self) -> str: ...

    @property
    def state(self) -> object: ...

    def reload(self) -> None:
        """Reads the file again: it is another one than before."""

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call."""


class _Holder(Protocol):
    _repository: Repository


_Part = TypeVar("_Part", bound=_Holder)
_Method = Callable[Concatenate[_Part, _Arguments], _Result]


def of_the_log(method: _Method[_Part, _Arguments, _Result]) -> _Method[_Part, _Arguments, _Result]:
    """A method of a part of a memory that reads the log. It runs once more where the log was damaged and begun anew."""

    @wraps(method)
    def call(self: _Part, *args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        return self._repository.with_sound_log(lambda: method(self, *args, **named))

    # A method for mypy, which takes what `wraps` gives for something else.
    return cast("_Method[_Part, _Arguments, _Result]", call)


def guarded(method: _Method[_Part, _Arguments, _Result]) -> _Method[_Part, _Arguments, _Result]:
    """As `of_the_log`, with the guard held."""

    @wraps(method)
    def held(self: _Part, *args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        with self._repository.guard:
            return method(self, *args, **named)

    return of_the_log(cast("_Method[_Part, _Arguments, _Result]", held))


class Repository:
    """The files of one memory and their log. Safe to use from several threads: `guard` serialises them.

    settings: returns those in force. listeners: each is called when its file changed.
    """

    def __init__(
        self,
        home: Path,
        *,
        author: Author,
        window: Window,
        clock: Callable[[], datetime],
        ids: Callable[[], str] | None,
        tolerant: bool,
        settings: Callable[[], Settings],
        listeners: Sequence[FileListener],
        pages: Path | None = None,
    ) -> None:
        self.home = home
        # The folder of the pages that are the notes, where they are.
        self.pages = pages
        self.author = author
        self.window = window
        self.clock = clock
        # Where none are given, what the log finds outside is named by what it is: see `JournalSession.ids`.
        self._given_ids = ids
        self.ids = ids or (lambda: os.urandom(4).hex())
        self.guard = threading.RLock()
        # Whether the watch only looks at the files now and then.
        self.polling = False
        # Gives the settings in force.
        self.settings = settings
        self._listeners = listeners
        # Of the listeners' files, by name; the reason in words for one that cannot be looked at.
        self._versions: dict[str, Fingerprint | tuple[object, ...] | None] = {}
        self._notices: list[Notice] = []
        first = read_folder(home, settings().inference, tolerant=tolerant, pages=pages, owed=self._owed)
        self._first: Loaded | None = first
        self._tolerant = tolerant
        self._store: Store | None = None
        # The memory as it was last loaded.
        self.snapshot: Snapshot = first.snapshot

    # The first frame of the app needs the snapshot alone: what writes and remembers is loaded when it is wanted.

    @property
    def store(self) -> Store:
        """What reads and writes the files."""
        if self._store is None:
            with self.guard:
                if self._store is None:
                    self._store = self._opened()
        return self._store

    def _owed(self, pages: PageSet) -> Mapping[str, str | None]:
        from core.storage.journal.owed import pages_owed

        return pages_owed(self.home, pages)

    def _opened(self) -> Store:
        from core.storage.store import Store

        first, self._first = self._first, None
        return Store(
            self.home,
            self.settings(),
            clock=self.clock,
            ids=self._given_ids,
            tolerant=self._tolerant,
            loaded=first,
            pages=self.pages,
        )

    def close(self) -> None:
        """See `Memory.close`."""
        with self.guard:
            self.store.close()

    def refresh(self, *, patient: bool = True) -> bool:
        """See `Memory.refresh`."""
        with self.guard:
            newer = self._refresh(_SYNC_SECONDS, patient=patient)
            self._notify_listeners()
            return newer

    def refresh_read_only(self) -> bool:
        """Brings the snapshot up to date and writes nothing: it shows the files as they are. What other programs did is
        logged by the next writer.

        True when the snapshot is a new one. Errors as in `refresh`.
        """
        with self.guard:
            former = self.snapshot
            self.snapshot = self.store.view()
            if self.store.log_is_damaged:
                # Left where it is, it would keep everything of the log from whoever asks.
                return self.refresh(patient=False) or self.snapshot is not former
            self._mark_opening()
            self._notify_listeners()
            return self.snapshot is not former

    def _settle(self) -> None:
        """Brings the snapshot up to date for a change, which is thought out on what is put back for it."""
        self._refresh(_SYNC_SECONDS, writing=True)
        self._notify_listeners()

    def _notify_listeners(self) -> None:
        """Has each listener read its file again that is another one than when it was last told."""
        for listener in self._listeners:
            version: Fingerprint | tuple[object, ...] | None
            try:
                version = fingerprint(self.home / listener.path)
            except NuggetsError as error:
                version = error.identity
            # What stood there when the listener was made is unknown: the first time tells it in any case.
            if listener.path not in self._versions or version != self._versions[listener.path]:
                self._versions[listener.path] = version
                listener.reload()

    def _refresh(self, seconds: float, *, patient: bool = False, writing: bool = False) -> bool:
        with self.guard:
            loaded = self.store.sync(seconds, patient=patient, writing=writing)
            self.with_sound_log(self._mark_opening)
            return self._adopt(loaded)

    def _mark_opening(self) -> None:
        """Remembers where the log stands at first: what is made there later elsewhere is not undone unasked."""
        if self.window.opened_at is None:
            self.window.opened_at = self.store.last_seq

    def with_sound_log(self, read: Callable[[], _Result]) -> _Result:
        """The result of `read`, which reads the log. When the log turns out to be damaged, it is set aside and a new
        one begun, and `read` runs once more.
        """
        try:
            return read()
        except NuggetsError:
            raise
        except Exception as error:
            with self.guard:
                if not self.store.quarantine_broken_journal(error):
                    raise
        return read()

    def _adopt(self, loaded: Snapshot) -> bool:
        former, self.snapshot = self.snapshot, loaded
        return loaded is not former

    def take_notices(self) -> tuple[str, ...]:
        """See `Memory.take_notices`."""
        told = (listener.take_notices() for listener in self._listeners)
        own, self._notices = self._notices, []
        return (*self.store.take_notices(), *dict.fromkeys(own), *chain.from_iterable(told))

    def visited(self) -> str | None:
        """See `Memory.visited`."""
        with self.guard:
            return self.store.visited(self.now())

    def now(self) -> str:
        """The present time, as files hold it."""
        return iso(self.clock())

    def stamp(self) -> tuple[str, str]:
        """A new id, and the present time."""
        return self.ids(), self.now()

    def reconcile(self) -> None:
        """Has a change that could not be finished be the newest in the log, before anything is taken back."""
        if self.store.viewed or not self.store.reconciled:
            self._settle()

    def listener_states(self) -> list[object]:
        """What the listeners hold of their files, compared by value."""
        return [listener.state for listener in self._listeners]

    # Changing

    def draft(self) -> Draft:
        """A draft over the present snapshot, with this memory's clock, ids and words for inference."""
        rules = self.settings().inference
        return Draft(
            self.snapshot,
            now=self.clock(),
            ids=self.ids,
            rules=rules,
            author=self.author,
            team=None if self.pages is None else self._team_names(self.pages),
        )

    def _team_names(self, pages: Path) -> TeamNames | None:
        from core.storage.format.page_writes import team_names

        return team_names(pages, self.snapshot)

    def apply(self, change_set: ChangeSet, *, keep_time: bool = False) -> ChangeSet:
        """See `Memory.apply`."""
        if not keep_time:
            # It happens now, however long a person looked at the preview.
            change_set = replace(change_set, at=max(change_set.at, self.now()))
        change_set = change_set.encodable()
        try:
            return self.apply_deciding(change_set, None)
        except ConflictError as error:
            if change_set.kind not in _NEVER_WAITING:
                with self.guard:
                    error.entry = self.store.keep_conflict(change_set, self.author.signature, error)
            raise

    def apply_deciding(
        self,
        change_set: ChangeSet,
        decide: Decide | None,
        made_by: str = "",
        *,
        fresh: bool = False,
        spelling: Collection[Document] = (),
        exact: bool = False,
        beside: Beside | None = None,
    ) -> ChangeSet:
        """As `apply`, but what conflicts waits nowhere. decide, made_by, fresh, spelling, exact, beside: as of
        `Store.apply`; made_by "" for the author.
        """
        if change_set.empty:
            return change_set
        change_set = change_set.encodable()
        with self.guard:
            counting, viewed = change_set.kind == "hit", self.store.viewed
            seconds = _HIT_SECONDS if counting else None
            if self.store.journal is None or (viewed and not counting):
                self._refresh(_SYNC_SECONDS if seconds is None else seconds, writing=not counting)
            # What the pipeline brings in unasked is nobody's to take back by pressing undo.
            asked = made_by in ("", self.author.signature) and change_set.kind != "hit"
            signature = made_by or self.author.signature
            try:
                done = self.store.apply(
                    change_set, signature, decide, seconds,
                    fresh=fresh, spelling=spelling, exact=exact, beside=beside,
                )  # fmt: skip
            except UnfinishedError as error:
                if asked:
                    self.window.made.append(error.entry)
                raise
            self.snapshot = done.after
            if asked and not done.change_set.empty:
                self.window.made.append(done.change_set.id)
            if done.change_set.files:
                self._notify_listeners()
            return done.change_set

    def change(
        self,
        reason: str,
        edit: Callable[[Draft], _Result],
        *,
        kind: ChangeKind = "edit",
        author: Author | None = None,
        asked: bool = True,
        beside: Beside | None = None,
    ) -> tuple[_Result, ChangeSet]:
        """See `Memory.change`; with another author, see `Memory.bring_in`."""

        def drafted(draft: Draft) -> tuple[_Result, ChangeSet]:
            result = edit(draft)
            return result, draft.change_set(reason, author=author or self.author, kind=kind)

        made_by = "" if asked or author is None else author.signature
        apply = partial(self.apply_deciding, decide=None, made_by=made_by, beside=beside)
        brought = None if author is None else apply
        with self.guard:
            self._settle()
            return self.apply_drafted(drafted, brought, made_by, fresh=self.store.fresh, beside=beside)

    def change_file(self, edit: Callable[[Draft], str]) -> ChangeSet:
        """As `change`, for a file beside the notes; `edit` looks at nothing else and returns the reason."""

        def drafted(draft: Draft) -> tuple[None, ChangeSet]:
            reason = edit(draft)
            return None, draft.change_set(reason, author=self.author)

        with self.guard:
            return self.apply_drafted(drafted)[1]

    def record_decision(self, id: str, reason: str) -> ChangeSet:
        """See `Memory.record_decision`."""
        made = ChangeSet(id=id, at=self.now(), author=self.author, reason=reason, kind="decision")
        made = made.encodable()
        with self.guard:
            self.refresh(patient=False)
            self.store.begin_log()
            self.store.note_down(made, self.author.signature)
            self.window.made.append(id)
        return made

    def apply_drafted(
        self,
        drafted: Callable[[Draft], tuple[_Result, ChangeSet]],
        at_last: Callable[[ChangeSet], ChangeSet] | None = None,
        made_by: str = "",
        *,
        fresh: bool = False,
        beside: Beside | None = None,
    ) -> tuple[_Result, ChangeSet]:
        """Applies what is drafted over the present snapshot, and over a newer one when both conflict; see `change`.

        at_last: how the last try is applied; None: as `apply` does. made_by: see `Store.apply`, "" for the author.
        fresh: the files were just read, as `Store.fresh` says. beside: see `Store.apply`.
        """
        for left in reversed(range(_DRAFTS)):
            result, change_set = drafted(self.draft())
            # Only the lock can tell apart two programs that create a nugget of one name at once.
            fresh = fresh and self.store.fresh and not change_set.nuggets
            if not left:
                return result, (at_last or self.apply)(change_set)
            try:
                return result, self.apply_deciding(change_set, None, made_by, fresh=fresh, beside=beside)
            except ConflictError:
                fresh = False
                # The very state that it met, with what was restored for its sake.
                self._adopt(self.store.present)
        raise AssertionError("the last try either returned or raised")
