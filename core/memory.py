"""Memory: one folder of a coding agent's memory, opened. Every front talks to this object and to nothing below.

memory = Memory.open("~/.nuggets")
memory.recall("test command").answer
note, change_set = memory.change("tidied", lambda draft: edit_note(draft, id, content="..."))
memory.history.undo(change_set)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from core.errors import NuggetsError
from core.folder import DATABASE_FILE, GRAPH_FILE, default_home
from core.model.change import PERSON, Author, ChangeKind, ChangeSet
from core.model.names import iso
from core.model.window import Window
from core.services.recall import RecallService
from core.services.repository import Repository
from core.services.saved_searches import SavedSearches
from core.services.search import SearchQuery, SearchService, own_first
from core.services.settings_file import SettingsFile
from core.storage.files.atomic import absolute_path
from core.storage.personal.page_homes import home_and_pages
from core.team_folder import is_team_folder
from core.text.exact import encodable

if TYPE_CHECKING:
    import asyncio

    from core.daily import DailyResult
    from core.exchange.plan import ImportResult as ImportResult
    from core.exchange.records import Format as Format
    from core.exchange.records import LeftOut as LeftOut
    from core.facts.recall import Recall
    from core.model.draft import Draft
    from core.model.judgement import OpenChanges
    from core.model.note import Note
    from core.model.progress import Progress
    from core.model.secrets import Holder as Holder
    from core.model.snapshot import Snapshot
    from core.projects import Project, Standpoint
    from core.reflection import ReflectionResult
    from core.search import Explanation, Filters, Hit, SearchIndex, SearchResult
    from core.search.conditions import Elsewhere
    from core.search.passages import PassageSource
    from core.search.signals import SignalSource
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
    from core.services.team import JoinedSearch, Team
    from core.settings import SearchSettings, Settings
    from core.storage.exchange.sources import ReadSource as ReadSource
    from core.storage.format.page_writes import PagePreview as PagePreview
    from core.storage.journal.journal import Beside
    from core.storage.masking.search import Left as Left
    from core.storage.merge.files import MergeResult as MergeResult
    from core.storage.safety.backups import Backup as Backup
    from core.storage.safety.quarantine import Record as Record
    from core.verify import Finding as Finding


_Result = TypeVar("_Result")


class Memory:
    """A memory that can be read, searched, changed and watched. Safe to use from several threads.

    `home` is its folder. `pages` is the folder of the Markdown pages that are its notes, None where notes lie in the
    home as well; `is_team` says whether they are a team's. `settings` holds what settings.toml and the environment say.
    `author` is the author of changes made through this object. What has a subject of its own is a part: `history`,
    `maintenance`, `exchange`, `promotion`, `secrets`, `arrivals`, `searches`.
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
        pages: Path | None = None,
    ) -> None:
        self.home = home
        self.pages = pages
        self.is_team = is_team_folder(pages)
        self.author = author = Author(author.kind, encodable(author.name))
        self.window = window or Window()
        self._clock = clock or (lambda: datetime.now(UTC))
        self._settings_file = SettingsFile(home)
        self.searches = SavedSearches(home, lambda edit: self._repository.change_file(edit))
        self._repository = Repository(
            home,
            author=author,
            window=self.window,
            clock=self._clock,
            ids=ids,
            tolerant=tolerant,
            settings=lambda: self.settings,
            listeners=(self._settings_file, self.searches),
            pages=pages,
        )
        self._guard = self._repository.guard
        self._search = SearchService(
            home, lambda: self.settings.search, self._clock, lambda: self.settings.synonyms
        )
        self._search.elsewhere = self.elsewhere
        self._team: Team | None = None
        self._project: Project | None = None
        self._standpoint: Standpoint | None = None
        self._projects: tuple[Snapshot | None, Mapping[str, str]] = (None, {})
        self._recall = RecallService(
            self._search,
            draft=self._repository.draft,
            apply=self._repository.apply,
            guard=self._guard,
            clock=self._clock,
        )

    # What remembers and puts right is loaded when it is wanted: the first frame of the app goes without it.

    @cached_property
    def history(self) -> History:
        """The log: what ever changed, who changed it, undo, redo and conflicts."""
        from core.services.history import History

        return History(self._repository)

    @cached_property
    def maintenance(self) -> Maintenance:
        """What finds and repairs problems, restores, and merges conflict copies."""
        from core.services.maintenance import Maintenance

        return Maintenance(self._repository)

    @cached_property
    def exchange(self) -> Exchange:
        """Import and export."""
        from core.services.exchange import Exchange

        return Exchange(self._repository, lambda: self.settings)

    @cached_property
    def promotion(self) -> Promoter:
        """What writes often recalled notes into MEMORY.md files, and knows of them."""
        from core.services.promotion import Promoter

        return Promoter(self, self._repository)

    @cached_property
    def secrets(self) -> Secrets:
        """The credentials in this memory: found, and masked."""
        from core.services.secrets import Secrets

        return Secrets(self._repository, self._search)

    @cached_property
    def arrivals(self) -> Arrivals:
        """Versions of this memory from other machines: what reads, compares and takes them in."""
        from core.services.arrivals import Arrivals

        return Arrivals(self._repository)

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
            memory._repository.refresh_read_only()
        return memory

    def use_signals(self, source: SignalSource) -> None:
        """From now on searches and recalls count what a source knows of the notes beside their words."""
        self._search.signals = source

    def use_passages(self, source: PassageSource) -> None:
        """From now on searches and recalls find parts of documents beside the notes, as a source knows them."""
        self._search.passages = source

    def use_team(self, team: Memory | Callable[[], Memory | None]) -> None:
        """From now on searches and recalls look at a team's notes as well. They are never part of this memory: no
        change, no cleanup and no promotion of it sees them. A recall that one of them answers counts in the team's
        memory.

        team: their memory, or what gives it each time it is wanted; None where there is none to use now.
        """
        from core.services.team import Team

        self._team = Team(
            team if callable(team) else lambda: team,
            self._search,
            lambda: self.settings.search,
            self._clock,
            lambda: self.settings.synonyms,
        )

    @property
    def team(self) -> Memory | None:
        """The team's memory beside this one; None where there is none that can be opened."""
        return None if self._team is None else self._team.memory

    def with_team(self) -> JoinedSearch | None:
        """The notes of this memory and of the team's, as the team's files are now; None where there is no team's memory
        that can be read.
        """
        return None if self._team is None else self._team.beside(self.snapshot)

    @property
    def searched(self) -> Snapshot:
        """The notes that a search looks at: this memory's, and the team's behind them."""
        beside = self.with_team()
        return self.snapshot if beside is None else beside.snapshot

    def named(self, text: str) -> Note:
        """The note of `searched` that a text names, of this memory's if it has such a one. Errors as
        `Snapshot.resolve`.
        """
        beside = self.with_team()
        return self.snapshot.resolve(text) if beside is None else beside.joined.resolve(text)

    def holding(self, text: str) -> tuple[Memory, Note]:
        """The note that a text names, as `Snapshot.resolve` reads it, and the memory that has it: this one, else the
        team's. Errors as there.
        """
        beside = self.with_team()
        if beside is None:
            return self, self.snapshot.resolve(text)
        note = beside.joined.resolve(text)
        if beside.joined.whose(note.id) != "team":
            return self, note
        return beside.memory, beside.joined.team.note(beside.joined.in_team[note.id])

    def document_text(self, document_id: str) -> str:
        """The whole text of a document that a search found a part of; "" where it cannot be read."""
        source = self._search.passages
        return "" if source is None else source.document_text(document_id)

    def use_open_changes(self, source: OpenChanges) -> None:
        """From now on recalls say which changes of what answers wait for a person, as a source knows them."""
        self._recall.changes = source

    @property
    def folder(self) -> Path:
        """The folder that a person knows this memory by: that of its pages, else its home."""
        return self.pages or self.home

    def close(self) -> None:
        """Closes the files of the log. You can go on using the memory; it opens them again."""
        self._repository.close()
        if self._team is not None:
            self._team.close()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings_file.settings

    @property
    def snapshot(self) -> Snapshot:
        """The memory as it was last loaded; immutable."""
        return self._repository.snapshot

    def refresh(self, *, patient: bool = True) -> bool:
        """Reads what changed in the files, and logs it. True when the snapshot is a new one.

        Restores a change of ours that another program overwrote without having seen it. While that program keeps
        saving, patient=True waits up to half a second for a pause. Errors as in `open`; the last good snapshot
        stays then.
        """
        return self._repository.refresh(patient=patient)

    def refresh_read_only(self) -> bool:
        """Reads what changed in the files, and writes nothing: the snapshot is as the next change will leave it. True
        when it is a new one. Errors as in `refresh`.
        """
        return self._repository.refresh_read_only()

    def take_notices(self) -> tuple[str, ...]:
        """What a person should know since the last call: what was restored, set aside or begun anew, and which
        settings and saved searches cannot be used.
        """
        return (*self._repository.take_notices(), *self.take_team_notices())

    def take_team_notices(self) -> tuple[str, ...]:
        """The part of `take_notices` that is about the team's notes."""
        return () if self._team is None else self._team.take_notices()

    def visited(self) -> str | None:
        """Records that a person looks at the memory now. Returns the time before that, None for never. Changes no
        memory.
        """
        return self._repository.visited()

    def watch(self, stop: asyncio.Event | None = None) -> AsyncIterator[Snapshot]:
        """Yields each snapshot that is newer than the present one, whoever wrote it, until `stop` is set. Yields the
        same snapshot again when the settings, the saved searches or `polling` changed.

        Passes over a state that cannot be read; `watch_events` yields its error.
        """
        from core.services.watching import snapshots

        return snapshots(self.watch_events(stop))

    def watch_events(
        self, stop: asyncio.Event | None = None, woken: Callable[[], None] = lambda: None
    ) -> AsyncIterator[Snapshot | NuggetsError]:
        """As `watch`, and yields the error, once, when the files become unreadable. woken: called before it looks at
        the files.
        """
        from core.services.watching import events

        # What is newer is counted from this call, not from when the first event is waited for.
        return events(self._repository, self.snapshot, stop, woken)

    @property
    def polling(self) -> bool:
        """Whether `watch` only looks at the files now and then, since the system has no free watches."""
        return self._repository.polling

    # Changing

    def draft(self) -> Draft:
        """A draft over the present snapshot, with this memory's clock, ids and words for inference."""
        return self._repository.draft()

    def apply(self, change_set: ChangeSet, *, keep_time: bool = False) -> ChangeSet:
        """Writes a change set, rebased on the newest files, and returns it as applied.

        keep_time: log it at its own time instead of now, to tell a story of the past. An empty change set writes
        nothing. Raises ConflictError when something was changed in two ways: the change then waits in the log,
        under the id that the error names. Raises ReadOnlyError, BrokenFileError, LockTimeoutError or StorageError;
        nothing is written then.
        """
        return self._repository.apply(change_set, keep_time=keep_time)

    def change(
        self, reason: str, edit: Callable[[Draft], _Result], *, kind: ChangeKind = "edit"
    ) -> tuple[_Result, ChangeSet]:
        """Drafts an edit on the newest files and applies it. Returns what `edit` returned, and the change set.

        When the files changed in between so that both conflict, the edit is drafted again: `edit` may be called
        several times. Errors as in `apply`.
        """
        return self._repository.change(reason, edit, kind=kind)

    def page_preview(self, change_set: ChangeSet) -> tuple[PagePreview, ...]:
        """The pages that a change set would write or take away, where notes are pages; nothing is written. Errors as in
        `apply`.
        """
        with self._guard:
            return self._repository.store.page_preview(change_set)

    def bring_in(
        self, reason: str, edit: Callable[[Draft], _Result], *, author: Author, asked: bool, beside: Beside
    ) -> tuple[_Result, ChangeSet]:
        """As `change`, but by another author, with what is written into other tables of the database in one transaction
        with it. A conflict that drafting again does not solve is raised, and nothing waits in the log.

        asked: whether this memory's author asked for it, so that their `undo` undoes it. beside: given the connection
        and the id of the entry; what it raises leaves nothing behind, and nothing calls it where no note changes. After
        an UnfinishedError it is written, and the notes follow when the memory is next opened.
        """
        return self._repository.change(reason, edit, author=author, asked=asked, beside=beside)

    def record_decision(self, id: str, reason: str) -> ChangeSet:
        """Puts a decision into the log that touches no note, so that `undo` takes it back; the pipeline follows.

        id: of the entry, 8 hexadecimal digits that no entry has. Raises LockTimeoutError, StorageError, ReadOnlyError.
        """
        return self._repository.record_decision(id, reason)

    def elsewhere(self, since: str | None = None) -> Elsewhere:
        """What came from elsewhere: the notes that a sync brought or changed since an ISO 8601 time. None: a day ago.
        Where the log cannot be read, nothing arrived.
        """
        from core.search.conditions import NEW_WITHIN, Elsewhere

        arrived = self.arrivals.arrived_since(since or iso(self._clock() - NEW_WITHIN))
        return Elsewhere(arrived, self.projects)

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

    # Settings

    def save_settings(self, changes: Mapping[str, Any]) -> ChangeSet:
        """Changes values in settings.toml, as one entry of the log that `undo` undoes; the rest of the file stays.

        changes: values by name, such as {"search.text_weight": 0.5}; None removes a value, so that the default
        counts. `settings` holds them afterwards. The change set is empty when nothing changed. Raises
        InvalidInputError for an unknown setting or a value that it cannot have, BrokenFileError for a file that
        cannot be read; errors as in `apply`.
        """
        return self._repository.change_file(lambda draft: self._settings_file.change(draft, changes))

    # Search

    def search(
        self,
        text: str,
        limit: int = 10,
        filters: Filters | None = None,
        *,
        new_since: str | None = None,
        stopped: Callable[[], bool] | None = None,
        settings: SearchSettings | None = None,
    ) -> tuple[Hit, ...]:
        """The best notes over all nuggets, best first, each with `.note`, `.score` and `.breakdown`.

        text: words and what `core.search.query_syntax` reads: "phrases", -exclusions, conditions such as tag:auth;
        any text is a query. limit: how many at most. filters: by default all visible notes. new_since: an ISO 8601
        time for is:new; None: a day ago. stopped: asked now and then; once it says yes, the search ends. settings:
        other weights for this search alone. Every note that shares something with the query is a hit; less likely
        ones come last and are not `sure`.
        """
        return self.search_result(
            text, limit, filters, new_since=new_since, stopped=stopped, settings=settings
        ).hits

    def search_result(
        self,
        text: str,
        limit: int = 10,
        filters: Filters | None = None,
        *,
        new_since: str | None = None,
        stopped: Callable[[], bool] | None = None,
        settings: SearchSettings | None = None,
        syntax: bool = True,
    ) -> SearchResult:
        """The hits of `search` with one judgement of them all: whether the best one answers.

        syntax: whether the text may hold more than words; without it the whole text is words.
        """
        query = SearchQuery(text, filters, new_since, settings, syntax)
        here = self.standpoint
        if here is None or not here.foreign or (filters and filters.nugget) or here.meant(text):
            return self._search_result(query, limit, stopped)
        return own_first(here, query, limit, lambda query, limit: self._search_result(query, limit, stopped))

    def _search_result(
        self, query: SearchQuery, limit: int, stopped: Callable[[], bool] | None
    ) -> SearchResult:
        beside = self.with_team()
        search = partial(self._search.result, self.snapshot) if beside is None else beside.result
        return search(query, limit, stopped)

    def answer(self, text: str, filters: Filters, found: SearchResult) -> Recall:
        """What a search answers, as a recall of the same words does where no condition asks for more; uncounted."""
        from core.facts.recall import Recall
        from core.search.query_syntax import parse_question
        from core.search.results import Filters

        question = parse_question(text)
        if question.narrow or not question.words or filters != Filters(nugget=filters.nugget):
            return Recall(judgement=found.judgement)
        return self.recall(text, filters.nugget, record=False, syntax=True, decode=False)

    def explain(
        self,
        text: str,
        note_id: str,
        filters: Filters | None = None,
        *,
        new_since: str | None = None,
        shown: int = 10,
        settings: SearchSettings | None = None,
        syntax: bool = True,
    ) -> Explanation | None:
        """Why a note stands where it does in a search, or why it is no hit. None for no such note.

        shown: how many hits the asker sees; `needed` is the score of the last of them. settings: other weights for
        this search alone. syntax: as in `search_result`.
        """
        beside = self.with_team()
        explain = partial(self._search.explain, self.snapshot) if beside is None else beside.explain
        return explain(SearchQuery(text, filters, new_since, settings, syntax), note_id, shown)

    def index(self, progress: Progress | None = None) -> SearchIndex:
        """The search index of this memory and the team's, brought up to their present notes. progress: called with how
        many notes of how many are read while a first index is built; an exception from it ends the building.
        """
        beside = self.with_team()
        return self._search.index(self.snapshot, progress) if beside is None else beside.index(progress)

    def keep_index(self) -> bool:
        """Writes the search index into the cache where that is worth it. Returns whether it was written."""
        return self._search.keep() if self._team is None else self._team.keep_index()

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

    def claim_nugget(self, nugget: str, known: Collection[str]) -> None:
        """Puts down that a nugget was first written from the project at hand. known: the nuggets before that."""
        if self._project is not None and self.pages is None:
            from core.projects import register

            with suppress(NuggetsError):
                register(str(self.home), self._project, nugget, known)
            self._standpoint = None

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
        return self._recall.recall(
            self.snapshot,
            query,
            nugget,
            session,
            record=record,
            syntax=syntax,
            decode=decode,
            beside=self.with_team(),
            here=self.standpoint,
        )

    def count_recall(self, note_id: str, session: str) -> None:
        """Counts that a note answered a recall, once a session, where that is possible."""
        self._recall.count(self.snapshot, note_id, session)

    @property
    def uncounted_recalls(self) -> int:
        """How many recalls of this run were answered but could not be counted."""
        team = None if self._team is None else self._team.memory
        return self._recall.uncounted + (0 if team is None else team.uncounted_recalls)

    # Cleanup

    def reflect(
        self,
        *,
        dry_run: bool = False,
        accept: Collection[str] | None = None,
        refuse: Collection[str] = (),
        unattended: bool = False,
        sure: bool = False,
        limit: int | None = None,
        max_archived: int | None = None,
        max_merged: int | None = None,
        nugget: str | None = None,
        scope: str | None = None,
        type: str | None = None,
        subject: str | None = None,
        progress: Progress | None = None,
    ) -> ReflectionResult:
        """A cleanup pass over at most `limit` notes (setting: 10).

        accept: apply only changes with these ids; refuse: remember these as refused. Other limits as in the
        settings when None. sure: propose nothing uncertain. unattended: for a run that nobody watches; it is sure,
        and does not repeat what a person undid. dry_run: propose and write nothing. progress: called with how many
        of the notes are looked through. The applied change set is in the result. Errors as in `apply`.
        """
        from core.reflection import reflect
        from core.reflection.proposals import RUNS, undone_changes

        # Nobody's edit waits for a proposal.
        with nullcontext() if dry_run else self._guard:
            with self._guard:
                self._repository.refresh_read_only() if dry_run else self.refresh()
                runs = self.history.log(limit=RUNS, author="reflection") if unattended else ()
                back = undone_changes(runs, self.history.taken_back()) if runs else ()
                draft = self.draft()
            result = reflect(
                draft,
                self.settings.reflection,
                accept=accept,
                refuse=refuse,
                undone_changes=back,
                sure=sure or unattended,
                limit=limit,
                max_archived=max_archived,
                max_merged=max_merged,
                nugget=nugget,
                scope=scope,
                type=type,
                subject=subject,
                progress=progress,
            )
            if not dry_run:
                self.apply(result.change_set)
            return result

    def daily_pass(self, *, if_due: bool = True, promote: bool | None = None) -> DailyResult:
        """Runs the daily reflection, and promotes where `promote`, else the setting schedule.promotes, says so.

        When several processes find it due at the same moment, one of them runs it. if_due=False: run it in any
        case, unless another process runs it now. An error of one part is in the result and does not stop the other.
        Raises what keeps the memory from being read or its log from being written.
        """
        from core.daily import run_daily_pass

        return run_daily_pass(self, self._clock, if_due=if_due, promote=promote)


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
