"""A memory that can be searched: its hits, why they are hits, and how its kept searches stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from core.kept import KeepingMemory

if TYPE_CHECKING:
    from core.model.kept import KeptSearch
    from core.search import Explanation, Filters, Hit, SearchIndex, SearchResult
    from core.search.goldens import Verdict
    from core.search.index import Progress
    from core.services.search import SearchService
    from core.settings import SearchSettings, Settings


class SearchingMemory(KeepingMemory):
    """A memory with the index of its notes."""

    @cached_property
    def _search(self) -> SearchService:
        from core.services.search import SearchService

        return SearchService(self.home, self.settings.search, self._clock)

    def _take_settings(self, settings: Settings) -> None:
        super()._take_settings(settings)
        if "_search" in vars(self):
            self._search.use(settings.search)

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
