"""A team's memory beside a person's own: one search over both, or over one's own where the team's cannot be read."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

from core.errors import ErrorCode, Notice, NuggetsError
from core.folder import GRAPH_FILE
from core.model.joined import Joined, Whose, join
from core.services.search import SearchQuery, SearchService
from core.settings import SearchSettings, Synonyms
from core.storage.cache import TEAM_INDEX_NAME

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.snapshot import Snapshot
    from core.search import Explanation, Hit, SearchIndex, SearchResult
    from core.search.index import Progress
    from core.search.signals import Ranked, Signals, SignalSource

# Pages lie no deeper in their folder.
_DEPTH: Final = 3
_Result = TypeVar("_Result")


class _OfOwn:
    """What a source knows of one's own notes. It never sees a team's note: nobody here wrote that."""

    def __init__(self, source: SignalSource, whose: Callable[[str], Whose]) -> None:
        self._source = source
        self._whose = whose

    def signals(self, text: str, ranked: Sequence[Ranked]) -> Signals:
        """See `SignalSource`."""
        said = self._source.signals(text, [one for one in ranked if self._whose(one.note.id) != "team"])
        theirs = [id for id in said.of_notes if self._whose(id) == "team"]
        if not theirs:
            return said
        return said._replace(of_notes={id: one for id, one in said.of_notes.items() if id not in theirs})


@dataclass(frozen=True)
class JoinedSearch:
    """Own notes and a team's as they were at one moment, with the search over both. memory: the team's."""

    joined: Joined
    memory: Memory
    _service: SearchService

    @property
    def snapshot(self) -> Snapshot:
        """The notes of both."""
        return self.joined.snapshot

    def index(self, progress: Progress | None = None) -> SearchIndex:
        """See `SearchService.index`."""
        return self._service.index(self.snapshot, progress)

    def result(
        self, query: SearchQuery, limit: int, stopped: Callable[[], bool] | None = None
    ) -> SearchResult:
        """See `Memory.search_result`."""
        found = self._service.result(self.snapshot, query, limit, stopped, self.joined.whose)
        return replace(found, hits=tuple(map(self._marked, found.hits)))

    def explain(self, query: SearchQuery, note_id: str, shown: int) -> Explanation | None:
        """See `Memory.explain`."""
        found = self._service.explain(self.snapshot, query, note_id, shown, self.joined.whose)
        return None if found is None else replace(found, hit=self._marked(found.hit))

    def _marked(self, hit: Hit) -> Hit:
        return replace(hit, whose=self.joined.whose(hit.note.id))


class Team:
    """The team's memory beside a person's own. Safe to use from several threads.

    memory: gives it as it is wanted, None where there is none to use now. given: whether it was open before. own:
    searches one's own notes. settings, clock, synonyms: as of `SearchService`.
    """

    def __init__(
        self,
        memory: Callable[[], Memory | None],
        own: SearchService,
        settings: Callable[[], SearchSettings],
        clock: Callable[[], datetime],
        synonyms: Callable[[], Synonyms],
        given: bool = False,
    ) -> None:
        # Its files may have moved on since somebody opened it.
        self._may_be_old = given
        self._open = memory
        self._own = own
        self._guard = threading.RLock()
        self._memory: Memory | None = None
        self._seen: object = None
        self._joined: Joined | None = None
        self._said: set[str] = set()
        self._notices: list[str] = []
        self._service = SearchService(own.home, settings, clock, synonyms, TEAM_INDEX_NAME)

    @property
    def memory(self) -> Memory | None:
        """The team's memory; None where there is none, or it cannot be opened."""
        with self._guard:
            self._memory = self._tried(self._open)
            return self._memory

    def beside(self, own: Snapshot) -> JoinedSearch | None:
        """Own notes and the team's, as the files of the team are now. None where there is no team's memory, or it
        cannot be read: then only one's own notes are there, and `take_notices` says so.
        """
        with self._guard:
            memory = self.memory
            team = None if memory is None else self._tried(lambda: self._current(memory))
            if memory is None or team is None:
                return None
            if self._joined is None or self._joined.own is not own or self._joined.team is not team:
                self._joined = join(own, team)
            joined = self._joined
            source = self._own.signals
            self._service.signals = None if source is None else _OfOwn(source, joined.whose)
            self._service.passages = self._own.passages
            self._service.elsewhere = self._own.elsewhere
            return JoinedSearch(joined, memory, self._service)

    def take_notices(self) -> tuple[str, ...]:
        """What a person should know of the team's notes, each once."""
        with self._guard:
            told, self._notices = tuple(self._notices), []
            return told

    def keep_index(self) -> bool:
        """Keeps what was read for the next search; whether anything was written."""
        kept = self._own.keep()
        return self._service.keep() or kept

    def close(self) -> None:
        """Closes the files of the team's memory; it is opened again when it is wanted."""
        with self._guard:
            if self._memory is not None:
                self._memory.close()

    def _current(self, memory: Memory) -> Snapshot:
        seen = tuple(_look(memory))
        if self._may_be_old or (self._seen is not None and seen != self._seen):
            memory.refresh_read_only()
        self._seen, self._may_be_old = seen, False
        unread = memory.snapshot.problems
        if unread:
            more = f", and {len(unread) - 1} more" if len(unread) > 1 else ""
            # One page that an error names is not told once more beside it.
            page = Notice(f"{unread[0].what} (of the team's notes)", where=unread[0].where)
            self._say(page if not more else f"the team's notes: {unread[0].where}: {unread[0].what}{more}")
        return memory.snapshot

    def _tried(self, call: Callable[[], _Result]) -> _Result | None:
        """What a call of the team's memory gives. Whatever is wrong with it, one's own memory goes on."""
        try:
            return call()
        except NuggetsError as error:
            asks = error.code == ErrorCode.NOT_TRUSTED
            self._say(str(error) if asks else f"the team's notes: {error}")
        except (OSError, ValueError, RecursionError) as error:
            self._say(f"the team's notes cannot be read: {error}")
        return None

    def _say(self, notice: str) -> None:
        if notice not in self._said:
            self._said.add(notice)
            self._notices.append(notice)


def _look(memory: Memory) -> Iterator[tuple[object, ...]]:
    """What tells the files of a memory from what they were: cheaper than to read any."""
    yield _stats(os.path.join(memory.home, GRAPH_FILE))
    if memory.pages is not None:
        yield from _look_into(os.fspath(memory.pages), _DEPTH)


def _look_into(folder: str, depth: int) -> Iterator[tuple[object, ...]]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield folder, error.errno
        return
    for entry in found:
        yield _stats(entry.path)
        if depth > 1 and entry.is_dir(follow_symlinks=False):
            yield from _look_into(entry.path, depth - 1)


def _stats(path: str) -> tuple[object, ...]:
    try:
        at = os.stat(path)
    except OSError as error:
        return path, error.errno
    return path, at.st_mtime_ns, at.st_ctime_ns, at.st_size, at.st_ino
