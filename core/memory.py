"""Memory: one folder of a coding agent's memory, opened. Every front talks to this object and to nothing below.

memory = Memory.open("~/.nuggets")
memory.recall("test command").answer
note, change_set = memory.change("tidied", lambda draft: edit_note(draft, id, content="..."))
memory.undo(change_set)
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import AsyncIterator, Callable, Collection
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import ConflictError, NotFoundError, NuggetsError
from core.logged import LoggedMemory
from core.model.change import PERSON, Author, ChangeSet
from core.model.snapshot import Snapshot
from core.storage.files import absolute_path, read_file, working_directory

if TYPE_CHECKING:
    import asyncio

    from core.facts.notes import NoteIndex
    from core.facts.recall import Recall, Recaller
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult
    from core.rescue import Rescue
    from core.rescue import Resolved as Resolved
    from core.search import Filters, Hit, SearchIndex
    from core.storage.backups import Backup as Backup
    from core.storage.merge_files import MergeResult as MergeResult
    from core.storage.quarantine import Record as Record
    from core.verify.finding import Finding as Finding

SESSION_VARIABLE: Final = "NUGGETS_SESSION"
_PROMOTE_TRIES: Final = 3


class Memory(LoggedMemory):
    """A memory that can be read, searched, changed and watched. Safe to use from several threads.

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
    ) -> None:
        super().__init__(home, author=author, clock=clock, ids=ids, tolerant=tolerant)
        self._index_guard = threading.Lock()
        self._index: SearchIndex | None = None
        self._recaller: Recaller | None = None
        self._note_index: NoteIndex | None = None
        self.uncounted_recalls = 0

    # Putting right

    def verify(self) -> tuple[Finding, ...]:
        """Everything that is not as it should be, each with what `repair` would do about it."""
        with self._guard:
            self.refresh()
            return self._rescue().findings(self._snapshot)

    def repair(self) -> ChangeSet:
        """Mends what `verify` finds and can be mended without asking, as one change set. Errors as in `apply`.

        A file that cannot be read is first made sound, of what is legible in it and what was last seen there, and a
        note or fact that cannot be read is put back as it last could be; what that changed is an entry of its own,
        and the file as it was lies in the quarantine.
        """
        from core.verify.run import repair

        with self._guard:
            last = {entry.id for entry in self.log(limit=1)}
            mended = self._store.mend(self.author.signature)
            if mended:
                self.refresh(patient=False)
            done = self.change("repaired what verify found", repair, kind="repair")[1]
            if done.empty and mended:
                newest = self.log(limit=1)
                return newest[0].change_set if newest and newest[0].id not in last else done
            return done

    def backups(self) -> tuple[Backup, ...]:
        """The backups of the folder, newest first."""
        with self._guard:
            return self._rescue().backups()

    def restoration(self, when: str | None = None, note: str | None = None) -> ChangeSet:
        """What makes the memory, or one note of it, as it was; `apply` writes it.

        when: the name of a backup or its beginning, or an ISO 8601 time; None: the newest backup. Raises
        NotFoundError, BrokenFileError.
        """
        with self._guard:
            self.refresh()
            return self._rescue().restoration(self._snapshot, when, note)

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

    # Recall and search

    def recall(
        self, query: str, nugget: str | None = None, session: str = "", *, record: bool = True
    ) -> Recall:
        """What an agent is answered: the fact whose key the query means, else the best note of the graph.

        nugget: look in this one alone (raises NotFoundError when there is no such nugget). session: one hit is
        counted per session; "" stands for NUGGETS_SESSION, else one id per process and day. record=False looks
        without counting. `found` is False for a query that nothing matches.
        """
        with self._guard:
            if nugget is not None and nugget not in self._snapshot.nugget_names:
                self._snapshot.nugget(nugget)
            found = self._recall_engine().recall(self._snapshot, query, nugget)
            if not found.found:
                found = self._recall_from_graph(query, nugget, found)
            if record and found.found:
                self._record(found, session or self._default_session())
            return found

    def _recall_engine(self) -> Recaller:
        if self._recaller is None:
            from core.facts.recall import Recaller

            self._recaller = Recaller()
        return self._recaller

    def _recall_from_graph(self, query: str, nugget: str | None, missed: Recall) -> Recall:
        from core.facts.notes import NoteIndex
        from core.facts.recall import Match
        from core.facts.wording import read_query

        if self._note_index is None:
            self._note_index = NoteIndex()
        self._note_index.update(self._snapshot.notes)
        match = self._note_index.best(read_query(query), nugget)
        if match is None:
            return missed
        note = match.note
        return msgspec.structs.replace(
            missed,
            answer=note.content,
            confidence=note.confidence,
            certainty=match.strength * min(1.0, max(0.0, note.confidence)),
            found=True,
            key=note.key if note.is_fact else note.title,
            match=Match("graph", match.strength),
            nugget_name=note.nugget_name,
            via="graph",
            note_id=note.id,
        )

    def _record(self, found: Recall, session: str) -> None:
        """Counts a recall. An answer is never withheld because it could not be counted."""
        from core.facts.edits import record_hit

        draft = self.draft()
        note = draft.note(found.note_id) if found.note_id else None
        key = found.key if found.via == "facts" or (note is not None and note.is_fact) else None
        if not record_hit(draft, found.nugget_name, key, found.note_id, session):
            return
        reason = f"recalled {found.key}"
        try:
            self.apply(draft.change_set(reason, author=Author("agent", session), kind="hit"))
        except NuggetsError:
            self.uncounted_recalls += 1

    def _default_session(self) -> str:
        given = os.environ.get(SESSION_VARIABLE, "").strip()
        return given or f"process-{os.getpid()}-{self._clock():%Y-%m-%d}"

    def search(self, text: str, limit: int = 10, filters: Filters | None = None) -> tuple[Hit, ...]:
        """The best notes over all nuggets, best first, each with `.note`, `.score` and `.breakdown`.

        limit: how many at most. filters: by default all visible notes. No hit for a text that nothing matches.
        """
        return self.index().search(text, limit, filters, self.settings.search)

    def explain(self, text: str, note_id: str, filters: Filters | None = None) -> Hit | None:
        """The breakdown of one note for a search, also when it is not among the hits. None for no such note."""
        return self.index().explain(text, note_id, filters, self.settings.search)

    def index(self) -> SearchIndex:
        """The search index, brought up to the present snapshot."""
        from core.search import SearchIndex

        # A lock of its own: a first build takes seconds on a large memory, and nobody's edit waits for it.
        with self._index_guard:
            if self._index is None:
                self._index = SearchIndex()
            self._index.update(self._snapshot)
            return self._index

    # Reflection and promotion

    def reflect(
        self,
        *,
        dry_run: bool = False,
        accept: Collection[str] | None = None,
        limit: int | None = None,
        nugget: str | None = None,
        scope: str | None = None,
        type: str | None = None,
        subject: str | None = None,
    ) -> ReflectionResult:
        """A cleanup pass over at most `limit` notes (setting: 10). `accept`: apply only changes with these ids.

        dry_run proposes and writes nothing. The applied change set is in the result. Errors as in `apply`.
        """
        from core.reflection import reflect

        with self._guard:
            self.refresh()
            result = reflect(
                self.draft(),
                self.settings.reflection,
                accept=accept,
                limit=limit,
                nugget=nugget,
                scope=scope,
                type=type,
                subject=subject,
            )
            if not dry_run:
                self.apply(result.change_set)
            return result

    def promote(
        self,
        *,
        dry_run: bool = False,
        memory_dir: str | Path | None = None,
        cwd: str | Path | None = None,
    ) -> PromotionResult:
        """Brings often recalled notes into MEMORY.md. The target is `memory_dir`, else the project folder of
        `cwd` (else of the working directory), else the setting. Raises NotFoundError when there is none of them,
        StorageError when the working directory is gone; errors as in `apply`.
        """
        from core.promotion import promote, target_path

        with self._guard:
            self.refresh()
            path = target_path(
                memory_dir=str(memory_dir) if memory_dir is not None else None,
                cwd="" if memory_dir else str(cwd if cwd is not None else working_directory()),
                home_dir=str(Path.home()),
                settings=self.settings.promotion,
                exists=os.path.isdir,
            )
            if path is None:
                raise NotFoundError(
                    "no MEMORY.md to promote to",
                    kept="nothing was written",
                    todo="name its folder (--memory-dir), or set promotion.memory_dir in settings.toml",
                )
            path = str(absolute_path(Path(path)))
            for attempt in range(_PROMOTE_TRIES):
                found = read_file(Path(path))
                result = promote(
                    self.draft(),
                    found[0] if found else None,
                    path,
                    self.settings.promotion,
                    author=self.author,
                )
                if dry_run:
                    return result
                try:
                    self.apply(result.change_set)
                    return result
                except ConflictError:
                    if attempt == _PROMOTE_TRIES - 1:
                        raise
        raise AssertionError("the last try either returned or raised")

    # Watching

    def watch(self, stop: asyncio.Event | None = None) -> AsyncIterator[Snapshot]:
        """Yields each snapshot that is newer than the present one, whoever wrote it, until `stop` is set.

        A state that cannot be read is passed over; `watch_events` tells of it.
        """
        return self._snapshots(self.watch_events(stop))

    async def _snapshots(self, events: AsyncIterator[Snapshot | NuggetsError]) -> AsyncIterator[Snapshot]:
        async for event in events:
            if isinstance(event, Snapshot):
                yield event

    def watch_events(self, stop: asyncio.Event | None = None) -> AsyncIterator[Snapshot | NuggetsError]:
        """As `watch`, and yields the error, once, when the files become unreadable."""
        # What is newer is counted from this call, not from when the first event is waited for.
        return self._events(self._snapshot, stop)

    async def _events(
        self, seen: Snapshot, stop: asyncio.Event | None
    ) -> AsyncIterator[Snapshot | NuggetsError]:
        import asyncio

        from core.storage.watch import watch_folder

        failed = ""
        async for _ in watch_folder(self.home, stop or asyncio.Event()):
            try:
                await asyncio.to_thread(self.refresh, patient=False)
            except NuggetsError as error:
                if error.message != failed:
                    failed = error.message
                    yield error
                continue
            if self._snapshot is not seen or failed:
                seen, failed = self._snapshot, ""
                yield seen
            if not self._store.settled:
                # What was taken back shows at once, and a moment later it is restored.
                with contextlib.suppress(NuggetsError):
                    await asyncio.to_thread(self.refresh)
                if self._snapshot is not seen:
                    seen = self._snapshot
                    yield seen


def merge_file(base: Path, ours: Path, theirs: Path) -> MergeResult:
    """Merges what `theirs` changed since `base` into `ours`: three versions of a graph.json or of a fact file.

    What both changed in two ways stays as in `ours` and is told of. Raises BrokenFileError, ReadOnlyError,
    NotFoundError, StorageError; nothing is written then.
    """
    from core.storage.merge_files import merge_file

    return merge_file(base, ours, theirs)
