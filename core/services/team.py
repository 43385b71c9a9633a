"""A team's memory beside a person's own: one search over both, or over one's own where the team's cannot be read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from core.errors import ErrorCode, Notice, NuggetsError
from core.model.joined import Joined, Whose, join
from core.services.search import SearchQuery, SearchService

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.snapshot import Snapshot
    from core.search import Explanation, Hit, SearchIndex, SearchResult
    from core.search.index import Progress
    from core.search.signals import Ranked, Signals, SignalSource

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

    memory: gives it as it is wanted, None where there is none to use now. own: searches one's own notes.
    """

    def __init__(self, memory: Callable[[], Memory | None], own: SearchService) -> None:
        self._open = memory
        self._own = own
        self._guard = threading.RLock()
        self._memory: Memory | None = None
        self._joined: Joined | None = None
        self._said: set[str] = set()
        self._notices: list[str] = []
        self._service = own.of_team()

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
        memory.refresh_read_only()
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
