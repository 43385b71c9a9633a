"""The search of one memory: brings its index up to each snapshot, and answers queries."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from core.model.snapshot import Snapshot
from core.settings import SearchSettings, Synonyms

if TYPE_CHECKING:
    from core.model.joined import Whose
    from core.projects import Standpoint
    from core.search import Explanation, Filters, SearchIndex, SearchResult
    from core.search.conditions import Elsewhere
    from core.search.index import Progress, QuestionFilters
    from core.search.passages import PassageSource
    from core.search.signals import SignalSource

# Of the way in which notes are read: what another version kept is not read.
VERSION: Final = "search-4"
_PROJECT: Final = re.compile(r"(?<!\S)-?project:", re.IGNORECASE)
# So many notes are read again at the next start sooner than their file is written.
_WORTH_KEEPING: Final = 200


def _yours(note_id: str) -> Whose:
    return "yours"


def _nothing(new_since: str | None) -> Elsewhere:
    from core.search.conditions import Elsewhere

    return Elsewhere()


class SearchQuery(msgspec.Struct, frozen=True):
    """What is searched for, and how; see `Memory.search_result`."""

    text: str
    filters: Filters | None = None
    new_since: str | None = None
    settings: SearchSettings | None = None
    syntax: bool = True


def own_first(
    here: Standpoint, query: SearchQuery, limit: int, search: Callable[[SearchQuery, int], SearchResult]
) -> SearchResult:
    """The hits of the project at hand and of the person, then those of other projects, none of which is sure."""
    from core.search import Filters

    admitted = replace(query.filters or Filters(), other_than=here.foreign)
    own = search(msgspec.structs.replace(query, filters=admitted), limit)
    room = limit - len(own.hits)
    if not room:
        return own
    others = [hit for hit in search(query, limit + len(own.hits)).hits if here.owner_of(hit.note.nugget_name)]
    marked = tuple(
        replace(hit, rank=rank, sure=False, project=here.owner_of(hit.note.nugget_name))
        for rank, hit in enumerate(others[:room], len(own.hits) + 1)
    )
    nothing = own.judgement == "nothing" and marked
    return replace(own, hits=own.hits + marked, judgement="not sure" if nothing else own.judgement)


class SearchService:
    """Answers searches of a memory. Safe to use from several threads; a search never waits for an edit.

    settings: gives those in force. clock: the time as the person reads it. synonyms: gives the person's own words.
    kept_as: the name of the file in the cache of `home` that the index begins with; None: one's own.
    """

    def __init__(
        self,
        home: Path,
        settings: Callable[[], SearchSettings],
        clock: Callable[[], datetime],
        synonyms: Callable[[], Synonyms] = lambda: (),
        kept_as: str | None = None,
    ) -> None:
        self._kept_as = kept_as
        self.home = home
        self._settings = settings
        self._synonyms = synonyms
        self._clock = clock
        # Who knows more of the notes than their words; None for nobody.
        self.signals: SignalSource | None = None
        # Gives what came from elsewhere since a time; see `Memory.elsewhere`.
        self.elsewhere: Callable[[str | None], Elsewhere] = _nothing
        # Who knows of documents; None for nobody.
        self.passages: PassageSource | None = None
        # Whether the cache's folder is there and ours; None: nobody asked yet.
        self._mine: bool | None = None
        self._guard = threading.Lock()
        self._index: SearchIndex | None = None

    # The file that the index is kept in; None where there is to be none.
    @cached_property
    def _cache(self) -> Path | None:
        from core.storage.cache import INDEX_NAME, cache_folder

        folder = cache_folder(self.home, os.environ)
        return None if folder is None else folder / (self._kept_as or INDEX_NAME)

    def of_team(self) -> SearchService:
        """Another one, for the notes of this memory and of a team's together."""
        from core.storage.cache import TEAM_INDEX_NAME

        return SearchService(self.home, self._settings, self._clock, self._synonyms, TEAM_INDEX_NAME)

    def forget(self) -> None:
        """Drops all that is held of the notes, and what is known of the cache; the next search begins anew."""
        with self._guard:
            self._index = None
            self._mine = None

    def result(
        self,
        snapshot: Snapshot,
        query: SearchQuery,
        limit: int,
        stopped: Callable[[], bool] | None = None,
        whose: Callable[[str], Whose] = _yours,
    ) -> SearchResult:
        """See `Memory.search_result`. whose: a note of the snapshot is, by its id."""
        from core.search.index import search_question

        index = self.index(snapshot)
        wanted = self._question_filters(index, query, whose)
        return search_question(index, snapshot, wanted, limit, query.settings or self._settings(), stopped)

    def explain(
        self,
        snapshot: Snapshot,
        query: SearchQuery,
        note_id: str,
        shown: int,
        whose: Callable[[str], Whose] = _yours,
    ) -> Explanation | None:
        """See `Memory.explain`. whose: as in `result`."""
        from core.search.index import explain_question

        index = self.index(snapshot)
        wanted = self._question_filters(index, query, whose)
        return explain_question(index, snapshot, wanted, note_id, query.settings or self._settings(), shown)

    def _question_filters(
        self, index: SearchIndex, query: SearchQuery, whose: Callable[[str], Whose]
    ) -> QuestionFilters:
        from core.search.conditions import Asked
        from core.search.index import question_filters
        from core.search.query_syntax import parse_question, plain_question
        from core.text.tokens import fold

        # Dates in a query are meant as the clock of the person shows them.
        now = self._clock().astimezone()
        text, since = query.text, query.new_since
        question = parse_question(text, index.excludes) if query.syntax else plain_question(text)
        # Nothing is looked up for a question that does not ask for it.
        elsewhere = (self.elsewhere if question.asks_elsewhere else _nothing)(since)
        names = {fold(name) for name in elsewhere.projects.values()}
        named = {fold(one) for each in question.conditions if each.field == "project" for one in each.values}
        if named and named.isdisjoint(names):
            # "project:port" is how keys of facts are written as well.
            question = parse_question(_PROJECT.sub("project ", text), index.excludes)
        return question_filters(question, Asked(now, since, whose, elsewhere), query.filters)

    def index(self, snapshot: Snapshot, progress: Progress | None = None) -> SearchIndex:
        """The search index, brought up to a snapshot: from the cache at first, where there is one. progress: as
        `SearchIndex.update` takes it.
        """
        # A lock of its own: a first build takes seconds on a large memory, and nobody's edit waits for it.
        with self._guard:
            if self._index is None:
                self._index = self._opened(snapshot, progress)
            self._index.synonyms, self._index.signals = self._synonyms(), self.signals
            self._index.passages = self.passages
            self._index.update(snapshot, progress)
            return self._index

    def keep(self, least: int = _WORTH_KEEPING) -> bool:
        """Writes the index into the cache when so many notes were read since; whether it was written."""
        index = self._index
        if index is None or self._cache is None or index.read_anew < least:
            return False
        from core.storage.cache import claim_cache_folder, write_cache

        if self._mine is None:
            self._mine = claim_cache_folder(self._cache.parent)
        return self._mine and write_cache(self._cache, VERSION, index.blocks())

    def _opened(self, snapshot: Snapshot, progress: Progress | None) -> SearchIndex:
        from core.search import SearchIndex

        index = SearchIndex()
        if self._cache is not None:
            from core.storage.cache import read_cache

            blocks = read_cache(self._cache, VERSION)
            if blocks:
                index.restore(blocks, snapshot, progress)
        return index
