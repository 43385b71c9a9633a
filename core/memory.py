"""Memory: one folder of a coding agent's memory, opened. Every front talks to this object and to nothing below.

memory = Memory.open("~/.nuggets")
memory.recall("test command").answer
note, change_set = memory.change("tidied", lambda draft: edit_note(draft, id, content="..."))
memory.undo(change_set)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from core.errors import partly_done
from core.logged import of_the_log
from core.model.change import ChangeSet
from core.services.recall import RecallService
from core.services.search import SearchService
from core.watched import WatchedMemory

if TYPE_CHECKING:
    from core.daily import DailyResult
    from core.facts.recall import Recall
    from core.masking import Masker
    from core.masking import Masking as Masking
    from core.model.kept import KeptSearch
    from core.model.progress import Progress
    from core.model.secrets import Holder as Holder
    from core.promoting import Promoter
    from core.promoting import PromotionTarget as PromotionTarget
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult
    from core.rescue import Rescue, Resolved
    from core.search import Explanation, Filters, Hit, SearchIndex, SearchResult
    from core.search.goldens import Verdict
    from core.settings import SearchSettings
    from core.storage.backups import Backup as Backup
    from core.storage.masking_proof import Left as Left
    from core.storage.merge_files import MergeResult as MergeResult
    from core.storage.quarantine import Record as Record
    from core.verify.finding import Finding as Finding


_MENDED: Final = "the files that could not be read are mended, and all else is as it was"
_REPAIRED: Final = "what was repaired in notes and facts is in the log"


class Memory(WatchedMemory):
    """A memory that can be read, searched, changed and watched. Safe to use from several threads.

    `home` is its folder, `settings` what settings.toml and the environment say, `author` who changes made
    through this object are put down to.
    """

    # Settings and saved searches

    def save_settings(self, changes: Mapping[str, Any]) -> ChangeSet:
        """Changes values in settings.toml, as one entry of the log that `undo` takes back; the rest of the file stays.

        changes: values by name, such as {"search.text_weight": 0.5}; None takes a value out, so that the default
        counts. `settings` holds them afterwards. The change set is empty when they were so already. Raises
        InvalidInputError for no setting or a value that it cannot have, BrokenFileError for a file that cannot be
        read, errors as in `apply`.
        """
        return self._change_file(lambda draft: self._settings_file.change(draft, changes))

    @property
    def searches(self) -> tuple[KeptSearch, ...]:
        """The searches that are kept, in the order of the file. Empty for a file that cannot be read, of which
        `take_notices` tells; its bytes are in the quarantine then.
        """
        return self._saved_searches.searches

    @property
    def searches_problem(self) -> str:
        """What of the file of searches cannot be read, in words; "" for all well."""
        return self._saved_searches.problem

    def keep_search(self, search: KeptSearch, instead_of: str = "") -> ChangeSet:
        """Keeps a search under its name, as one entry of the log that `undo` takes back.

        instead_of: the name of the one that it takes the place of. Raises InvalidInputError for a search that makes no
        sense and a name that another one has, NotFoundError for a note that is not there; errors as in `apply`.
        """
        return self._change_file(lambda draft: self._saved_searches.save(draft, search, instead_of))

    def let_searches_go(self, names: Collection[str]) -> ChangeSet:
        """Lets kept searches go, as one entry of the log that `undo` takes back. Raises NotFoundError; errors as in
        `apply`.
        """
        return self._change_file(lambda draft: self._saved_searches.delete(draft, names))

    # Search

    @cached_property
    def _search(self) -> SearchService:
        return SearchService(self.home, lambda: self.settings.search, self._clock)

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

        text: words, and what `core.search.language` reads: "phrases", -exclusions, conditions such as tag:auth; any
        text at all is a query. limit: how many at most. filters: by default all visible notes. new_since: what
        is:new means, an ISO 8601 time; None: a day ago. stopped: asked now and then, once it says yes the search is
        given up. settings: other weights for this search alone. Every note that has something of the query is a hit;
        those that are less likely to answer come last and are not `sure`.
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

        syntax: whether the text may hold more than words; without it every text is words alone.
        """
        return self._search.result(self._snapshot, text, limit, filters, new_since, stopped, settings, syntax)

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

        shown: how many hits the asker sees; what the note would have needed is counted to the last of them.
        settings: other weights for this search alone. syntax: as in `search_result`.
        """
        return self._search.explain(
            self._snapshot, text, note_id, filters, new_since, shown, settings, syntax
        )

    def judge_searches(
        self,
        searches: Iterable[KeptSearch] | None = None,
        *,
        settings: SearchSettings | None = None,
        new_since: str | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> Iterator[Verdict]:
        """How it stands with kept searches (None: all of them), one after the other, each judged when it is asked for.

        settings: other weights for this judging alone. stopped: asked now and then, once it says yes there is no more.
        """
        wanted = self.searches if searches is None else searches
        return self._search.judge(self._snapshot, wanted, settings, new_since, stopped)

    def index(self, progress: Progress | None = None) -> SearchIndex:
        """The search index, brought up to the present snapshot. progress: told how many notes of how many are read,
        while a first index is built; what it raises ends the building.
        """
        return self._search.index(self._snapshot, progress)

    def prepare_search(self, stopped: Callable[[], bool] | None = None) -> int:
        """Does ahead what searches need: index, its cache, phase vectors. Meant for a thread in the background, again
        after changes. stopped: asked now and then. Returns how many vectors were made.
        """
        return self._search.prepare(self._snapshot, stopped)

    def keep_index(self) -> bool:
        """Writes the search index into the cache, where that is worth it; whether it was written."""
        return self._search.keep()

    # Recall

    @cached_property
    def _recall(self) -> RecallService:
        return RecallService(
            self._search, draft=self.draft, apply=self.apply, guard=self._guard, clock=self._clock
        )

    def recall(
        self,
        query: str,
        nugget: str | None = None,
        session: str = "",
        *,
        record: bool = True,
        syntax: bool = False,
    ) -> Recall:
        """What an agent is answered: the fact whose key the query means, else the best of facts and notes as a search
        ranks them, where that is judged to answer.

        nugget: look in this one alone (raises NotFoundError when there is no such nugget). session: one hit is
        counted per session; "" stands for NUGGETS_SESSION, else one id per process and day. record=False looks
        without counting. syntax: whether the query may hold more than words, as in `search`; without it every text
        is words alone. Where it is not sure, `found` is False and `candidates` are the best notes, counted nowhere.
        """
        return self._recall.recall(self._snapshot, query, nugget, session, record=record, syntax=syntax)

    @property
    def uncounted_recalls(self) -> int:
        """How many recalls of this run were answered and could not be counted."""
        return self._recall.uncounted

    # Putting right

    @of_the_log
    def verify(self, progress: Progress | None = None) -> tuple[Finding, ...]:
        """Everything that is not as it should be, each with what `repair` would do about it."""
        from core.verify.run import findings

        self.refresh()
        # Nobody's edit waits for the looking.
        found = findings(self._snapshot, progress)
        with self._guard:
            return self._rescue().findings(found)

    @of_the_log
    def repair(self) -> ChangeSet:
        """Mends what `verify` finds and can be mended without asking, as one change set. Errors as in `apply`.

        A file that cannot be read is first made sound, of what is legible in it and what was last seen there, and a
        note or fact that cannot be read is put back as it last could be; what that changed is an entry of its own,
        and the file as it was lies in the quarantine. A second file of a nugget is brought into the one that is used,
        and then lies there too.
        """
        with self._guard:
            last = {entry.id for entry in self.log(limit=1)}
            mended = self._store.mend(self.author.signature)
            if mended:
                self.refresh(patient=False)
            with partly_done(_MENDED) if mended else nullcontext():
                rescue = self._rescue()
                second, done = self.change("repaired what verify found", rescue.repair, kind="repair")
            with nullcontext() if done.empty else partly_done(_REPAIRED):
                rescue.set_aside(second, done)
            if second:
                self.refresh(patient=False)
            if done.empty and mended:
                newest = self.log(limit=1)
                if newest and newest[0].id not in last:
                    self.window.made.append(newest[0].id)
                    return newest[0].change_set
            return done

    def backups(self) -> tuple[Backup, ...]:
        """The backups of the folder, newest first."""
        with self._guard:
            return self._rescue().backups()

    @of_the_log
    def restoration(
        self, when: str | None = None, note: str | None = None, progress: Progress | None = None
    ) -> ChangeSet:
        """What makes the memory, or one note of it, as it was; `apply` writes it.

        when: the name of a backup or its beginning, or an ISO 8601 time; None: the newest backup. progress: told how
        many of a backup's notes are read. Raises NotFoundError, BrokenFileError.
        """
        # Nobody's edit waits for a proposal.
        with self._guard:
            self.refresh()
            present = self._snapshot
        return self._rescue().restoration(present, when, note, guard=self._guard, progress=progress)

    @of_the_log
    def resolve(self, *, dry_run: bool = False) -> Resolved:
        """Joins the conflict copies that sync tools left beside the files; each then lies in the quarantine.

        What both versions changed in two ways waits in the log. Errors as in `apply`.
        """
        with self._guard:
            self.refresh()
            return self._rescue().resolve(self._snapshot, self.apply, lambda: self._snapshot, dry_run=dry_run)

    def set_aside(self) -> tuple[Record, ...]:
        """What could not be read and is kept in the quarantine with its exact bytes, newest first."""
        from core.storage.quarantine import records

        return tuple(records(self.home))

    def _rescue(self) -> Rescue:
        from core.rescue import Rescue

        return Rescue(self._store, self.settings, self.author, self._clock, self._ids)

    # Secrets

    def secrets(self, progress: Progress | None = None) -> tuple[Holder, ...]:
        """Notes and facts that look as if they held a credential and were not said to hold none."""
        from core.model.secrets import holders

        return tuple(holders(self._snapshot, progress))

    @of_the_log
    def masking(self, ids: Collection[str] | None = None, kept: Collection[Holder] = ()) -> Masking:
        """What `mask_secrets` would do, everywhere; writes nothing. ids: of notes, or "nugget: key"; None: all of
        `secrets`. kept: what another store of the folder holds, and masks itself. Raises NotFoundError, StorageError,
        BrokenFileError.
        """
        with self._guard:
            self.refresh()
            return self._masker().preview(self._snapshot, ids, kept)

    @of_the_log
    def mask_secrets(self, masking: Masking) -> ChangeSet:
        """Masks what was previewed, in notes, facts, log, backups and all else of the folder; it cannot be undone.

        Returns the entry of the log, which holds the masked texts alone. When it is stopped in between, doing it again
        finishes it. Errors as in `apply`.
        """
        from core.storage.masking import GO_ON, HALFWAY

        with self._guard:
            self.refresh(patient=False)
            with partly_done(HALFWAY, GO_ON):
                done = self._masker().carry_out(masking)
            self._search.forget()
            self._unlogged = [masking.masks.change_set(one) for one in self._unlogged]
            self.refresh(patient=False)
            return done

    def masking_left(self, masking: Masking) -> tuple[Left, ...]:
        """The proof of a masking, for after it: every file of the folder, the cache, the unsaved texts and the
        MEMORY.md files that holds one of the values in some spelling, or that cannot be looked into. Writes nothing.
        """
        with self._guard:
            return self._masker().left(masking)

    def say_not_secret(self, ids: Collection[str]) -> ChangeSet:
        """Remembers in these notes and facts that what they hold now is no secret. Errors as in `change`."""
        from core.masking import say_not_secret

        return self.change("said to be no secret", lambda draft: say_not_secret(draft, ids))[1]

    def _masker(self) -> Masker:
        from core.masking import Masker

        return Masker(self._store, self.settings, self.author, lambda: (self._ids(), self._now()))

    # Reflection and promotion

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
        """A cleanup pass over at most `limit` notes (setting: 10). `accept`: apply only changes with these ids;
        `refuse`: remember these as refused. Other limits as in the settings when None. sure: propose nothing doubtful.
        unattended: for a run that nobody watches; sure, and it does not do again what was taken back of them.

        dry_run proposes and writes nothing. The applied change set is in the result. progress: told how many of the
        notes were looked through. Errors as in `apply`.
        """
        from core.reflection import reflect
        from core.reflection.taken_back import RUNS, taken_back

        # Nobody's edit waits for a proposal.
        with nullcontext() if dry_run else self._guard:
            with self._guard:
                self.refresh()
                runs = self.log(limit=RUNS, author="reflection") if unattended else ()
                back = taken_back(runs, self.taken_back()) if runs else ()
                draft = self.draft()
            result = reflect(
                draft,
                self.settings.reflection,
                accept=accept,
                refuse=refuse,
                taken_back=back,
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

    @of_the_log
    def promote(
        self,
        *,
        dry_run: bool = False,
        memory_dir: str | Path | None = None,
        cwd: str | Path | None = None,
        accept: Collection[str] | None = None,
        refuse: Collection[str] = (),
        progress: Progress | None = None,
    ) -> PromotionResult:
        """Brings often recalled notes into MEMORY.md. The target is `memory_dir`, else the project folder of
        `cwd` (else of the working directory), else the setting. `accept` and `refuse`: ids of entries, as
        `core.promotion.promote` reads them. progress: told how many of the notes that may stand there are looked
        at. Raises NotFoundError when there is no target, StorageError when the working directory is gone; errors as
        in `apply`.
        """
        # Nobody's edit waits for a proposal.
        with nullcontext() if dry_run else self._guard:
            with self._guard:
                self.refresh()
                promoter = self._promoter()
                project = str(cwd) if cwd is not None else None
                path = promoter.path(str(memory_dir) if memory_dir is not None else None, project)
            return promoter.promote(
                path, project, dry_run=dry_run, accept=accept, refuse=refuse, progress=progress
            )

    @of_the_log
    def promotion_targets(self, cwd: str | Path | None = None) -> tuple[PromotionTarget, ...]:
        """The MEMORY.md of the project of `cwd` (else of the working directory), then those written to before."""
        with self._guard:
            return self._promoter().targets(str(cwd) if cwd is not None else None)

    def _promoter(self) -> Promoter:
        from core.promoting import Promoter

        return Promoter(
            self.settings.promotion,
            self.author,
            draft=self.draft,
            apply=self._apply_drafted,
            ledger=lambda: self._store.ledger,
            now=self._now,
            guard=self._guard,
        )

    def daily_pass(self, *, if_due: bool = True, promote: bool | None = None) -> DailyResult:
        """Reflects as once a day, and promotes where `promote`, else the setting schedule.promotes, says so.

        Of several processes that find it due at the same moment one runs it. if_due=False: run it in any case, unless
        another process is at it. One part's error is in the result and keeps nothing of the other. Raises what keeps
        the memory from being read or its log from being written.
        """
        from core.daily import run_daily_pass

        return run_daily_pass(self, self._clock, if_due=if_due, promote=promote)


def merge_file(base: Path, ours: Path, theirs: Path) -> MergeResult:
    """Merges what `theirs` changed since `base` into `ours`: three versions of a graph.json or of a fact file.

    What both changed in two ways stays as in `ours` and is told of. Raises BrokenFileError, ReadOnlyError,
    NotFoundError, StorageError; nothing is written then.
    """
    from core.storage.merge_files import merge_file

    return merge_file(base, ours, theirs)
