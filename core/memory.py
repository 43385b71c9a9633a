"""Memory: one folder of a coding agent's memory, opened. Every front talks to this object and to nothing below.

memory = Memory.open("~/.nuggets")
memory.recall("test command").answer
note, change_set = memory.change("tidied", lambda draft: edit_note(draft, id, content="..."))
memory.history.undo(change_set)
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from msgspec.structs import replace

from core import grounding
from core.errors import ConflictError, ErrorCode, Notice, NuggetsError, UnfinishedError
from core.folder import DATABASE_FILE, GRAPH_FILE, default_home, is_team_folder
from core.grounding import names_something
from core.model.change import PERSON, Author, ChangeKind, ChangeSet
from core.model.draft import Draft
from core.model.names import iso
from core.model.window import Window
from core.services.recall import RecallService
from core.services.saved_searches import SavedSearches
from core.services.search import Search
from core.settings import SETTINGS_FILE, load_settings
from core.storage.files.atomic import absolute_path, fingerprint
from core.storage.format.documents import read_folder
from core.storage.personal.page_homes import home_and_pages
from core.text.exact import encodable

if TYPE_CHECKING:
    import asyncio

    from core.exchange.plan import ImportResult as ImportResult
    from core.exchange.records import Format as Format
    from core.exchange.records import LeftOut as LeftOut
    from core.facts.recall import Recall
    from core.grounding.service import Grounding
    from core.model.judgement import Stale, Standing
    from core.model.note import Note
    from core.model.secrets import Holder as Holder
    from core.model.snapshot import Snapshot
    from core.projects import Project, Standpoint
    from core.reflection import ReflectionResult
    from core.search.conditions import Elsewhere
    from core.services.arrivals import Arrivals
    from core.services.exchange import Exchange
    from core.services.exchange import ExportFormat as ExportFormat
    from core.services.exchange import ExportResult as ExportResult
    from core.services.history import History
    from core.services.maintenance import Maintenance
    from core.services.promotion import Promoter
    from core.services.promotion import PromotionTarget as PromotionTarget
    from core.services.secrets import Masking as Masking
    from core.services.secrets import Secrets
    from core.settings import Settings
    from core.storage.exchange.sources import ReadSource as ReadSource
    from core.storage.format.documents import Document, Loaded
    from core.storage.format.page_writes import PagePreview as PagePreview
    from core.storage.journal.journal import Beside
    from core.storage.masking import Left as Left
    from core.storage.merge.files import MergeResult as MergeResult
    from core.storage.merge.three_way import Decide
    from core.storage.safety import Backup as Backup
    from core.storage.safety import Record as Record
    from core.storage.store import Store
    from core.verify import Finding as Finding


_Result = TypeVar("_Result")
# What remembers and puts right: the first frame of the app goes without it.
_PARTS: Final = {
    "history": ("core.services.history", "History"),
    "maintenance": ("core.services.maintenance", "Maintenance"),
    "exchange": ("core.services.exchange", "Exchange"),
    "promotion": ("core.services.promotion", "Promoter"),
    "secrets": ("core.services.secrets", "Secrets"),
    "grounding": ("core.grounding.service", "Grounding"),
    "arrivals": ("core.services.arrivals", "Arrivals"),
}
# How long reading waits for the lock when there is something to put into the log.
_SYNC_SECONDS: Final = 2.0
# A recall that cannot be counted and an undo that cannot be done lose nobody's text.
_NEVER_WAITING: Final = ("hit", "undo", "redo", "promotion")
# How long other writers are waited for to count a recall: an agent waits for the answer.
_HIT_SECONDS: Final = 0.3
# How often an edit is thought out again because the files moved on meanwhile.
_DRAFTS: Final = 5


class Memory:
    """A memory that can be read, searched, changed and watched. Safe to use from several threads: `guard` serialises
    what touches its files.

    `home` is its folder. `pages` is the folder of the Markdown pages that are its notes, None where notes lie in the
    home as well; `is_team` says whether they are a team's. `settings` holds what settings.toml and the environment say.
    `author` is the author of changes made through this object. `snapshot` is the memory as it was last loaded;
    immutable. `polling`: whether the watch only looks at the files now and then, since the system has no free watches.

    What has a subject of its own is a part, loaded when it is wanted: `search` finds notes, here and in a team's;
    `searches` are the saved ones; `history` is the log, undo, redo and conflicts; `maintenance` finds and repairs
    problems, restores, and merges conflict copies; `exchange` imports and exports; `promotion` writes often recalled
    notes into MEMORY.md; `secrets` finds and masks credentials; `grounding` holds notes against the code of their
    projects; `arrivals` takes in versions of this memory from other machines.
    """

    history: History
    maintenance: Maintenance
    exchange: Exchange
    promotion: Promoter
    secrets: Secrets
    grounding: Grounding
    arrivals: Arrivals

    def __init__(
        self,
        home: Path,
        *,
        author: Author = PERSON,
        clock: Callable[[], datetime] | None = None,
        ids: Callable[[], str] | None = None,
        tolerant: bool = False,
        window: Window | None = None,
        pages: Path | None = None,
    ) -> None:
        self.home = home
        self.pages = pages
        self.is_team = is_team_folder(pages)
        self.author = Author(author.kind, encodable(author.name))
        self.window = window or Window()
        self.clock = clock or (lambda: datetime.now(UTC))
        # Where none are given, what the log finds outside is named by what it is: see `Journal.ids`.
        self._given_ids = ids
        self.ids = ids or (lambda: os.urandom(4).hex())
        self.guard = threading.RLock()
        self.polling = False
        self.settings: Settings = load_settings(home)
        self._told_of: frozenset[str] = frozenset()
        self._settings_notice = ""
        self.searches = SavedSearches(self)
        # Of the files beside the notes, by name; the error's identity for one that cannot be looked at.
        self._versions: dict[str, object] = {}
        self._tolerant = tolerant
        self._store: Store | None = None
        self._first: Loaded | None = read_folder(
            home, self.settings.inference, tolerant=tolerant, pages=pages
        )
        self.snapshot: Snapshot = self._first.snapshot
        self.search = Search(self)
        self._project: Project | None = None
        self._standpoint: Standpoint | None = None
        self._projects: tuple[Snapshot | None, Mapping[str, str]] = (None, {})
        self.recalls = RecallService(
            self.search.own, draft=self.draft, apply=self.apply, guard=self.guard, clock=self.clock
        )
        self.recalls.stale = lambda texts: self.grounding.stale(texts, seconds=grounding.SECONDS_OF_AN_ANSWER)

    @property
    def store(self) -> Store:
        """What reads and writes the files."""
        if self._store is None:
            with self.guard:
                if self._store is None:
                    from core.storage.store import Store

                    first, self._first = self._first, None
                    self._store = Store(
                        self.home, self.settings, clock=self.clock, ids=self._given_ids, tolerant=self._tolerant,
                        loaded=first, pages=self.pages,
                    )  # fmt: skip
        return self._store

    def __getattr__(self, name: str) -> Any:
        if name not in _PARTS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        module, part = _PARTS[name]
        with self.guard:
            if name not in self.__dict__:
                self.__dict__[name] = getattr(import_module(module), part)(self)
        return self.__dict__[name]

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        author: Author = PERSON,
        clock: Callable[[], datetime] | None = None,
        ids: Callable[[], str] | None = None,
        reconcile: bool | None = True,
        tolerant: bool = False,
        window: Window | None = None,
    ) -> Self:
        """Opens the memory in a folder (default: NUGGETS_HOME, else ~/.nuggets).

        A folder that does not exist is an empty memory; the first change makes it. Opening changes no memory, with
        two exceptions: it finishes a write that a crash interrupted, and it restores a change that another program
        overwrote without having seen it. What other programs changed meanwhile goes into the log (`nuggets.db`).

        reconcile=False leaves that to the first change or `refresh`. Until then snapshot, answers and log already
        show the result, and reading writes nothing but counted recalls. None: until then they show the files as
        they are, which is quicker. clock, ids: for repeatable results; `ids` gives 8 new hexadecimal digits a call.
        tolerant: a note graph that cannot be read is a problem of the snapshot, as a broken fact file always is,
        and only facts are there. window: of another memory on the same folder, for one person who works in both.
        Raises BrokenFileError when the note graph cannot be read.
        """
        given = default_home() if path is None else Path(path).expanduser()
        home, pages = home_and_pages(absolute_path(given))
        memory = cls(home, author=author, clock=clock, ids=ids, tolerant=tolerant, window=window, pages=pages)
        if reconcile:
            memory.refresh()
        elif reconcile is not None:
            memory.refresh_read_only()
        return memory

    @property
    def folder(self) -> Path:
        """The folder that a person knows this memory by: that of its pages, else its home."""
        return self.pages or self.home

    def close(self) -> None:
        """Closes the files of the log. You can go on using the memory; it opens them again."""
        with self.guard:
            self.store.close()
        if "grounding" in self.__dict__:
            self.grounding.close()
        self.search.close()

    def now(self) -> str:
        """The present time, as files hold it."""
        return iso(self.clock())

    def stamp(self) -> tuple[str, str]:
        """A new id, and the present time."""
        return self.ids(), self.now()

    # Reading

    def refresh(self, *, patient: bool = True) -> bool:
        """Reads what changed in the files, and logs it. True when the snapshot is a new one.

        What another program reverted without having seen it is put back once the files are quiet; patient=True waits
        for that. Errors as in `open`; the last good snapshot stays then.
        """
        with self.guard:
            newer = self._refresh(_SYNC_SECONDS, patient=patient)
            self._read_files_beside()
            return newer

    def refresh_read_only(self) -> bool:
        """Brings the snapshot up to date and writes nothing: it shows the files as they are. What other programs did is
        logged by the next writer. True when the snapshot is a new one. Errors as in `refresh`.
        """
        with self.guard:
            former = self.snapshot
            self.snapshot = self.store.view()
            if self.store.log_is_damaged:
                # Left where it is, it would keep everything of the log from whoever asks.
                return self.refresh(patient=False) or self.snapshot is not former
            self._mark_opening()
            self._read_files_beside()
            return self.snapshot is not former

    def settle(self) -> None:
        """Brings the snapshot up to date for a change, which is thought out on what is put back for it."""
        self._refresh(_SYNC_SECONDS, writing=True)
        self._read_files_beside()

    def _refresh(self, seconds: float, *, patient: bool = False, writing: bool = False) -> bool:
        with self.guard:
            loaded = self.store.sync(seconds, patient=patient, writing=writing)
            self.with_sound_log(self._mark_opening)
            former, self.snapshot = self.snapshot, loaded
            return loaded is not former

    def _mark_opening(self) -> None:
        """Remembers where the log stands at first: what is made there later elsewhere is not undone unasked."""
        if self.window.opened_at is None:
            self.window.opened_at = self.store.last_seq

    def _read_files_beside(self) -> None:
        """Reads settings and saved searches again where their file is another one than when it was last read."""
        for file, read in (SETTINGS_FILE, self._read_settings), (self.searches.path, self.searches.reload):
            version: object
            try:
                version = fingerprint(self.home / file)
            except NuggetsError as error:
                version = error.identity
            # What stood there when the memory was opened is unknown: the first time reads it in any case.
            if file not in self._versions or version != self._versions[file]:
                self._versions[file] = version
                read()

    def _read_settings(self) -> None:
        self.settings = load_settings(self.home)
        problems = tuple(one.message for one in self.settings.problems)
        self._settings_notice = "; ".join(told for told in problems if told not in self._told_of)
        self._told_of = frozenset(problems)

    def take_notices(self) -> tuple[str, ...]:
        """What a person should know since the last call: what was restored, set aside or begun anew, and which
        settings and saved searches cannot be used.
        """
        said, self._settings_notice = self._settings_notice, ""
        of_settings = (Notice(said, code=ErrorCode.SETTINGS_UNSURE),) if said else ()
        told = (*self.store.take_notices(), *of_settings, *self.searches.take_notices())
        return (*told, *self.search.take_notices())

    def visited(self) -> str | None:
        """Records that a person looks at the memory now. Returns the time before that, None for never. Changes no
        memory.
        """
        with self.guard:
            return self.store.visited(self.now())

    def watch_events(
        self, stop: asyncio.Event | None = None, woken: Callable[[], None] = lambda: None
    ) -> AsyncIterator[Snapshot | NuggetsError]:
        """Yields each snapshot that is newer than the present one, whoever wrote it, until `stop` is set; the error,
        once, when the files become unreadable; and the same snapshot again when the settings, the saved searches or
        `polling` changed. woken: called before it looks at the files.
        """
        # What is newer is counted from this call, not from when the first event is waited for.
        return self._events(self.snapshot, stop, woken)

    async def _events(
        self, seen: Snapshot, stop: asyncio.Event | None, woken: Callable[[], None]
    ) -> AsyncIterator[Snapshot | NuggetsError]:
        import asyncio

        from core.storage.files.watch import watch_folder

        # An error that repeats is told once; () stands for none.
        failed, beside = tuple[object, ...](), self.files_beside
        async for told in watch_folder(self.home, stop or asyncio.Event(), self.pages):
            woken()
            if self.polling is told:
                self.polling = not told
                yield seen
            try:
                await asyncio.to_thread(self.refresh, patient=False)
            except NuggetsError as error:
                if error.identity != failed:
                    failed = error.identity
                    yield error
                continue
            if self.snapshot is not seen or failed or self.files_beside != beside:
                seen, failed, beside = self.snapshot, (), self.files_beside
                yield seen

    @property
    def files_beside(self) -> tuple[object, ...]:
        """What is held of the files beside the notes, compared by value."""
        return self.settings, self.searches.state

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

    # Changing

    def draft(self) -> Draft:
        """A draft over the present snapshot, with this memory's clock, ids and words for inference."""
        team = None
        if self.pages is not None:
            from core.storage.format.page_writes import team_names

            team = team_names(self.pages, self.snapshot)
        return Draft(
            self.snapshot, now=self.clock(), ids=self.ids, rules=self.settings.inference, author=self.author, team=team
        )  # fmt: skip

    def apply(self, change_set: ChangeSet, *, keep_time: bool = False) -> ChangeSet:
        """Writes a change set, rebased on the newest files, and returns it as applied.

        keep_time: log it at its own time instead of now, to tell a story of the past. An empty change set writes
        nothing. Raises ConflictError when something was changed in two ways: the change then waits in the log,
        under the id that the error names. Raises ReadOnlyError, BrokenFileError, LockTimeoutError or StorageError;
        nothing is written then.
        """
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
                self._read_files_beside()
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
        """Drafts an edit on the newest files and applies it. Returns what `edit` returned, and the change set.

        When the files changed in between so that both conflict, the edit is drafted again: `edit` may be called
        several times. Errors as in `apply`.

        author: another one than this memory's; then a conflict that drafting again does not solve waits nowhere.
        asked: whether this memory's author asked for it, so that their `undo` undoes it. beside: writes into other
        tables of the database in one transaction with the change, given the connection and the id of the entry; what
        it raises leaves nothing behind, and nothing calls it where no note changes. After an UnfinishedError it is
        written, and the notes follow when the memory is next opened.
        """

        def drafted(draft: Draft) -> tuple[_Result, ChangeSet]:
            result = edit(draft)
            return result, draft.change_set(reason, author=author or self.author, kind=kind)

        made_by = "" if asked or author is None else author.signature
        last = partial(self.apply_deciding, decide=None, made_by=made_by, beside=beside)
        with self.guard:
            self.settle()
            return self.apply_drafted(
                drafted, None if author is None else last, made_by, fresh=self.store.fresh, beside=beside
            )

    def change_file(self, edit: Callable[[Draft], str]) -> ChangeSet:
        """As `change`, for a file beside the notes; `edit` looks at nothing else and returns the reason."""

        def drafted(draft: Draft) -> tuple[None, ChangeSet]:
            reason = edit(draft)
            return None, draft.change_set(reason, author=self.author)

        with self.guard:
            return self.apply_drafted(drafted)[1]

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
                self.snapshot = self.store.loaded.snapshot
        raise AssertionError("the last try either returned or raised")

    def finish_changes(self) -> None:
        """Has a change that could not be finished be the newest in the log, before anything is taken back."""
        if self.store.viewed or not self.store.reconciled:
            self.settle()

    def page_preview(self, change_set: ChangeSet) -> tuple[PagePreview, ...]:
        """The pages that a change set would write or take away, where notes are pages; nothing is written. Errors as in
        `apply`.
        """
        with self.guard:
            return self.store.page_preview(change_set)

    def record_decision(self, reason: str, beside: Beside | None = None) -> ChangeSet:
        """Puts a decision into the log that touches no note, so that `undo` takes it back; the pipeline follows.

        beside: writes what was decided in one transaction with it, see `change`. Raises LockTimeoutError, StorageError,
        ReadOnlyError; nothing is decided then.
        """
        id, at = self.stamp()
        made = ChangeSet(id=id, at=at, author=self.author, reason=reason, kind="decision").encodable()
        with self.guard:
            self.refresh(patient=False)
            self.store.begin_log()
            made = self.store.note_down(made, self.author.signature, beside)
            self.window.made.append(made.id)
        return made

    def save_settings(self, changes: Mapping[str, Any]) -> ChangeSet:
        """Changes values in settings.toml, as one entry of the log that `undo` undoes; the rest of the file stays.

        changes: values by name, such as {"search.text_weight": 0.5}; None removes a value, so that the default
        counts. `settings` holds them afterwards. The change set is empty when nothing changed. Raises
        InvalidInputError for an unknown setting or a value that it cannot have, BrokenFileError for a file that
        cannot be read; errors as in `apply`.
        """

        def edit(draft: Draft) -> str:
            from core.storage.files.toml import changed_settings

            before, after = changed_settings(self.home, changes)
            if after != (before or b""):
                draft.put_file(SETTINGS_FILE, before, after)
            return f"set {', '.join(changes)}"

        return self.change_file(edit)

    # Beside the notes

    def elsewhere(self, since: str | None = None) -> Elsewhere:
        """What came from elsewhere: the notes that a sync brought or changed since an ISO 8601 time. None: a day ago.
        Where the log cannot be read, nothing arrived.
        """
        from core.search.conditions import NEW_WITHIN, Elsewhere

        def stale() -> frozenset[str]:
            """The notes that name code that moved or is gone."""
            found = self.stale_of(self.snapshot.visible).items()
            return frozenset(id for id, one in found if one.lost)

        arrived = self.arrivals.arrived_since(since or iso(self.clock() - NEW_WITHIN))
        return Elsewhere(arrived, self.projects, cache(stale))

    @property
    def projects(self) -> Mapping[str, str]:
        """The name of its project for each nugget that is not the person's; the same object for one snapshot."""
        from core.projects import known_projects, projects_of

        if self._projects[0] is not self.snapshot:
            found = (
                {} if self.pages is not None else projects_of(known_projects(str(self.home)), self.snapshot)
            )
            self._projects = self.snapshot, found
        return self._projects[1]

    # The project at hand

    def use_project(self, project: Project | None) -> None:
        """From now on recalls and searches are asked from a project: its own notes and the person's go first, and what
        another project says is never claimed. None: from nowhere, where all nuggets are alike. One that is named alone
        is looked up among those that the memory knows.
        """
        if project is not None and not project.root:
            from core.projects import project_named

            project = project_named(str(self.home), project.name)
        self._project, self._standpoint = project, None

    def note_written(self, note: Note, known: Collection[str]) -> None:
        """Puts down, for a note that was just written from the project at hand, what it names of the project's code,
        and that its nugget is the project's if it is new. known: the nuggets before that.
        """
        if self._project is None or self.pages is not None:
            return
        from core.projects import register

        with suppress(NuggetsError):
            register(str(self.home), self._project, note.nugget_name, known)
        self._standpoint = None
        if names_something(note.content):
            from core.grounding.service import text_of

            self.grounding.standings([text_of(note)], seconds=grounding.SECONDS_OF_AN_ANSWER)

    def stale_of(self, notes: Iterable[Note], *, seconds: float | None = None) -> Mapping[str, Stale]:
        """What notes name and their project no longer has as named, by the ids of those that do; see
        `Grounding.standings`. Those of a team are of the project at hand.
        """
        notes = [note for note in notes if names_something(f"{note.title} {note.content}")]
        if not notes or (self.pages is not None and not self.is_team):
            return {}
        from core.grounding.service import text_of

        beside, own = self.search.beside(), self.standpoint.nugget if self.standpoint else ""
        team = {note.id for note in notes if beside is not None and beside.joined.whose(note.id) == "team"}
        texts = (text_of(note) for note in notes)
        held = (text._replace(nugget=own) if text.id in team else text for text in texts)
        return self.grounding.stale(held, seconds=seconds)

    def stale_references(self, notes: Iterable[Note]) -> dict[str, tuple[Standing, ...]]:
        """The same, as much of it as is told before an answer is due."""
        found = self.stale_of(notes, seconds=grounding.SECONDS_OF_AN_ANSWER)
        return {id: one.references for id, one in found.items()}

    @property
    def project(self) -> Project | None:
        """The project at hand."""
        return self._project

    @property
    def standpoint(self) -> Standpoint | None:
        """The memory as it is now, seen from the project at hand; None for none."""
        kept = self._standpoint
        if kept is None or kept.snapshot is not self.snapshot:
            kept = self._standpoint = self.seen_from(self._project, self.snapshot)
        return kept

    def seen_from(self, project: Project | None, snapshot: Snapshot) -> Standpoint | None:
        """A snapshot of this memory, seen from a project; None for none."""
        if project is None:
            return None
        from core.projects import Standpoint, known_projects

        return Standpoint(project, known_projects(str(self.home)), snapshot)

    # Recall

    def recall(
        self,
        query: str,
        nugget: str | None = None,
        session: str = "",
        *,
        record: bool = True,
        syntax: bool = False,
        decode: bool = True,
    ) -> Recall:
        """Answers an agent: with the fact whose key the query means, else with the best fact or note of a search,
        where that is judged to answer.

        nugget: ask only this one (raises NotFoundError when it does not exist). session: a recall counts once per
        session; "" stands for NUGGETS_SESSION, else one id per process and day. record=False counts nothing.
        syntax: whether the query may hold more than words, as in `search`; without it the whole text is words.
        decode: whether the vectors are asked for an exact key as well, which loads numpy.
        Where it is not sure, `found` is False and `candidates` are the best notes, which do not count.
        """
        return self.recalls.recall(
            self.snapshot, query, nugget, session, record=record, syntax=syntax, decode=decode,
            beside=self.search.beside(), here=self.standpoint,
        )  # fmt: skip

    @property
    def uncounted_recalls(self) -> int:
        """How many recalls of this run were answered but could not be counted."""
        team = self.search.team
        return self.recalls.uncounted + (0 if team is None else team.uncounted_recalls)

    # Cleanup

    def reflect(
        self, *, dry_run: bool = False, unattended: bool = False, sure: bool = False, **wanted: Any
    ) -> ReflectionResult:
        """A cleanup pass, with the settings as its limits where none are given.

        wanted: as of `core.reflection.reflect`, such as accept, limit, nugget, progress. sure: propose nothing
        uncertain. unattended: for a run that nobody watches; it is sure, and does not repeat what a person undid.
        dry_run: propose and write nothing. The applied change set is in the result. Errors as in `apply`.
        """
        from core.reflection import reflect
        from core.reflection.proposals import RUNS, undone_changes

        # Nobody's edit waits for a proposal.
        with nullcontext() if dry_run else self.guard:
            with self.guard:
                self.refresh_read_only() if dry_run else self.refresh()
                runs = self.history.log(limit=RUNS, author="reflection") if unattended else ()
                back = undone_changes(runs, self.history.taken_back()) if runs else ()
                draft = self.draft()
            # What moved is for a person to see; a pass that nobody watches leaves it.
            stale = {} if sure or unattended else self.stale_of(draft.snapshot.visible)
            result = reflect(
                draft, self.settings.reflection, undone_changes=back, sure=sure or unattended, stale=stale, **wanted
            )  # fmt: skip
            if not dry_run:
                self.apply(result.change_set)
            return result


def merge_file(base: Path, ours: Path, theirs: Path) -> MergeResult:
    """Merges what `theirs` changed since `base` into `ours`: three versions of a graph.json or of a fact file.

    Where both sides changed one thing in two ways, `ours` stays and the result names the conflict. Raises
    BrokenFileError, ReadOnlyError, NotFoundError, StorageError; nothing is written then.
    """
    from core.storage.merge.files import merge_file

    return merge_file(base, ours, theirs)


def keep_undecided(path: Path, result: MergeResult) -> None:
    """Has what a merge left undecided wait in the log of the memory that a file belongs to; without a log there is
    nowhere to wait. Errors as in `Memory.open` and `Memory.apply`.
    """
    home = path.parent.parent if path.name == GRAPH_FILE.name else path.parent
    if (home / DATABASE_FILE).exists():
        memory = Memory.open(home)
        memory.arrivals.keep_undecided(result.theirs, result.conflicts)
        memory.close()
