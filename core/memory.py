"""Memory: one folder of a coding agent's memory, opened. Every front talks to this object and to nothing below.

memory = Memory.open("~/.nuggets")
memory.recall("test command").answer
note, change_set = memory.change("tidied", lambda draft: edit_note(draft, id, content="..."))
memory.undo(change_set)
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from core.errors import ConflictError, NotFoundError, NuggetsError
from core.facts.edits import record_hit
from core.folder import default_home
from core.model.change import PERSON, Author, ChangeKind, ChangeSet
from core.model.draft import Draft
from core.model.names import iso
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.settings import Settings, load_settings
from core.storage.compare import outside_changes
from core.storage.files import absolute_path, read_file, working_directory
from core.storage.store import Store
from core.text.tokens import stems

if TYPE_CHECKING:
    import asyncio

    from core.facts.recall import Recall, Recaller
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult
    from core.search import Filters, Hit, SearchIndex

SESSION_VARIABLE: Final = "NUGGETS_SESSION"
_OTHER_PROGRAM: Final = Author("program")
_PROMOTE_TRIES: Final = 3
# A note answers a recall when it holds more than half of the query's words: one word of two is chance.
_RECALL_COVERAGE: Final = 0.6
_RECALL_LOOKS_AT: Final = 5
_FIRST_WORD_CHARACTER: Final = 0x2E80
_Result = TypeVar("_Result")


class Memory:
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
    ) -> None:
        self.home = home
        self.author = author
        self.settings: Settings = load_settings(home)
        self._clock = clock or (lambda: datetime.now(UTC))
        self._ids = ids or (lambda: secrets.token_hex(4))
        self._store = Store(home, self.settings.inference)
        self._guard = threading.RLock()
        self._index_guard = threading.Lock()
        self._history: list[ChangeSet] = []
        self._index: SearchIndex | None = None
        self._recaller: Recaller | None = None
        self._snapshot = self._store.load()
        self.uncounted_recalls = 0

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        author: Author = PERSON,
        clock: Callable[[], datetime] | None = None,
        ids: Callable[[], str] | None = None,
    ) -> Memory:
        """Opens the memory in a folder (default: NUGGETS_HOME, else ~/.nuggets). Writes nothing, makes nothing.

        A folder that does not exist is an empty memory; the first change makes it. `clock` and `ids` (8 new
        hexadecimal digits a call) may be given for repeatable results. Raises BrokenFileError when the note
        graph or the settings cannot be read; a broken fact file is a problem of the snapshot.
        """
        home = default_home() if path is None else Path(path).expanduser()
        return cls(absolute_path(home), author=author, clock=clock, ids=ids)

    @property
    def snapshot(self) -> Snapshot:
        """The memory as it was last loaded; immutable."""
        return self._snapshot

    @property
    def history(self) -> tuple[ChangeSet, ...]:
        """Change sets of this run, oldest first: made through this object, or by other programs meanwhile."""
        return tuple(self._history)

    def refresh(self) -> bool:
        """Reads what changed in the files. True when the snapshot is a new one. Errors as in `open`;
        the last good snapshot stays then.
        """
        with self._guard:
            return self._adopt(self._store.load())

    def _adopt(self, loaded: Snapshot) -> bool:
        former = self._snapshot
        if loaded is former:
            return False
        outside = outside_changes(former, loaded, id=self._ids(), at=self._now(), author=_OTHER_PROGRAM)
        if not outside.empty:
            self._history.append(outside)
        self._snapshot = loaded
        return True

    def _now(self) -> str:
        return iso(self._clock())

    # Changing

    def draft(self) -> Draft:
        """A draft over the present snapshot, with this memory's clock, ids and words for inference."""
        return Draft(self._snapshot, now=self._clock(), ids=self._ids, rules=self.settings.inference)

    def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Writes a change set, rebased on the newest files, and returns it as it was really applied.

        An empty one writes nothing. Raises ConflictError when something was changed in two ways, ReadOnlyError,
        BrokenFileError, LockTimeoutError or StorageError; nothing is written then.
        """
        if change_set.empty:
            return change_set
        with self._guard:
            done = self._store.apply(change_set)
            self._adopt(done.before)
            self._snapshot = done.after
            if not done.change_set.empty:
                self._history.append(done.change_set)
            return done.change_set

    def change(
        self, reason: str, edit: Callable[[Draft], _Result], *, kind: ChangeKind = "edit"
    ) -> tuple[_Result, ChangeSet]:
        """Drafts an edit on the newest files and applies it; what `edit` returned, and the change set."""
        with self._guard:
            self.refresh()
            draft = self.draft()
            result = edit(draft)
            return result, self.apply(draft.change_set(reason, author=self.author, kind=kind))

    def undo(self, change_set: ChangeSet) -> ChangeSet:
        """Takes a change set back, as a new change set; what came later on other fields stays.

        Raises ConflictError when something that came later stands in the way.
        """
        inverse = change_set.inverse(
            id=self._ids(), at=self._now(), author=self.author, reason=f"took back: {change_set.reason}"
        )
        return self.apply(inverse)

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
        from core.facts.recall import Match
        from core.search import Filters

        for hit in self.search(query, _RECALL_LOOKS_AT, Filters(nugget=nugget)):
            strength = _coverage(query, hit.note)
            if strength < _RECALL_COVERAGE:
                continue
            return msgspec.structs.replace(
                missed,
                answer=hit.note.content,
                confidence=hit.note.confidence,
                certainty=strength * min(1.0, max(0.0, hit.note.confidence)),
                found=True,
                key=hit.note.title,
                match=Match("graph", strength),
                nugget_name=hit.note.nugget_name,
                via="graph",
                note_id=hit.note.id,
            )
        return missed

    def _record(self, found: Recall, session: str) -> None:
        """Counts a recall. An answer is never withheld because it could not be counted."""
        draft = self.draft()
        key = found.key if found.via == "facts" else None
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
                await asyncio.to_thread(self.refresh)
            except NuggetsError as error:
                if error.message != failed:
                    failed = error.message
                    yield error
                continue
            if self._snapshot is not seen or failed:
                seen, failed = self._snapshot, ""
                yield seen


def _coverage(query: str, note: Note) -> float:
    """Share of the query's stems that the note's title, content and tags hold, in [0, 1].

    A lone letter, digit or sign names nothing; a single Chinese or Japanese character is a word.
    """
    wanted = {word for word in stems(query) if len(word) > 1 or ord(word) >= _FIRST_WORD_CHARACTER}
    if not wanted:
        return 0.0
    return len(wanted & set(stems(f"{note.title}\n{note.content}\n{' '.join(note.tags)}"))) / len(wanted)
