"""The search of one memory: an index that is brought up to each snapshot, over one's own notes or those of a team's
beside them.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import msgspec

from core.errors import ErrorCode, Notice, NuggetsError
from core.settings import SearchSettings, Synonyms

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.memory import Memory
    from core.model.joined import Joined, Whose
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.search import Explanation, Filters, Hit, SearchIndex, SearchResult
    from core.search.conditions import Elsewhere
    from core.search.index import Progress, QuestionFilters
    from core.search.passages import PassageSource
    from core.search.results import FoundPassage
    from core.search.signals import Ranked, Signals, SignalSource

_Result = TypeVar("_Result")
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


class Knows(Protocol):
    """Who knows more of notes than their words, and of documents: both `SignalSource` and `PassageSource`."""

    def signals(self, text: str, ranked: Sequence[Ranked]) -> Signals: ...
    def passages(self, text: str, most: int) -> Sequence[FoundPassage]: ...
    def document_text(self, document_id: str) -> str: ...


class SearchQuery(msgspec.Struct, frozen=True):
    """What is searched for, and how; see `Search.result`."""

    text: str
    filters: Filters | None = None
    new_since: str | None = None
    settings: SearchSettings | None = None
    syntax: bool = True


class SearchService:
    """Answers searches of snapshots, one index for all of them. Safe to use from several threads; a search never waits
    for an edit.

    settings: gives those in force. clock: the time as the person reads it. synonyms: gives the person's own words.
    team: whether the notes are a team's as well, whose index has a file of its own in the cache of `home`.
    """

    def __init__(
        self,
        home: Path,
        settings: Callable[[], SearchSettings],
        clock: Callable[[], datetime],
        synonyms: Callable[[], Synonyms] = lambda: (),
        team: bool = False,
    ) -> None:
        self.home = home
        # Gives who knows more of the notes than their words, and who knows of documents; None for nobody.
        self.known: Callable[[], tuple[SignalSource | None, PassageSource | None]] = lambda: (None, None)
        # Gives what came from elsewhere since a time; see `Memory.elsewhere`.
        self.elsewhere: Callable[[str | None], Elsewhere] = _nothing
        self._settings, self._clock, self._synonyms, self._of_team = settings, clock, synonyms, team
        # Whether the cache's folder is there and ours; None: nobody asked yet.
        self._mine: bool | None = None
        # A lock of its own: a first build takes seconds on a large memory, and nobody's edit waits for it.
        self._guard = threading.Lock()
        self._index: SearchIndex | None = None

    # The file that the index is kept in; None where there is to be none.
    @cached_property
    def _cache(self) -> Path | None:
        from core.storage.cache import INDEX_NAME, TEAM_INDEX_NAME, cache_folder

        folder = cache_folder(self.home, os.environ)
        return None if folder is None else folder / (TEAM_INDEX_NAME if self._of_team else INDEX_NAME)

    def result(
        self,
        snapshot: Snapshot,
        query: SearchQuery,
        limit: int,
        stopped: Callable[[], bool] | None = None,
        whose: Callable[[str], Whose] = _yours,
    ) -> SearchResult:
        """See `Search.result`. whose: a note of the snapshot is, by its id."""
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
        """See `Search.explain`. whose: as in `result`."""
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
        now, text, since = self._clock().astimezone(), query.text, query.new_since
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
        with self._guard:
            if self._index is None:
                from core.search import SearchIndex

                index = SearchIndex()
                if self._cache is not None:
                    from core.storage.cache import read_cache

                    blocks = read_cache(self._cache, VERSION)
                    if blocks:
                        index.restore(blocks, snapshot, progress)
                self._index = index
            self._index.synonyms = self._synonyms()
            self._index.signals, self._index.passages = self.known()
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

    def forget(self) -> None:
        """Drops all that is held of the notes, and what is known of the cache; the next search begins anew."""
        with self._guard:
            self._index = None
            self._mine = None


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
        """See `Search.index`."""
        return self._service.index(self.snapshot, progress)

    def result(
        self, query: SearchQuery, limit: int, stopped: Callable[[], bool] | None = None
    ) -> SearchResult:
        """See `Search.result`."""
        found = self._service.result(self.snapshot, query, limit, stopped, self.joined.whose)
        return replace(found, hits=tuple(map(self._marked, found.hits)))

    def explain(self, query: SearchQuery, note_id: str, shown: int) -> Explanation | None:
        """See `Search.explain`."""
        found = self._service.explain(self.snapshot, query, note_id, shown, self.joined.whose)
        return None if found is None else replace(found, hit=self._marked(found.hit))

    def _marked(self, hit: Hit) -> Hit:
        return replace(hit, whose=self.joined.whose(hit.note.id))


class Search:
    """The search of one memory and of a team's notes beside it. Safe to use from several threads.

    signals: who knows more of one's own notes than their words. passages: who knows of documents. None for nobody but
    what `pipeline` gives, which may know both.
    """

    def __init__(self, memory: Memory) -> None:
        given = memory.home, lambda: memory.settings.search, memory.clock, lambda: memory.settings.synonyms
        self._memory = memory
        self.own, self._both = SearchService(*given), SearchService(*given, team=True)
        self.signals: SignalSource | None = None
        self.passages: PassageSource | None = None
        self.pipeline: Callable[[], Knows | None] = lambda: None
        for service in (self.own, self._both):
            service.elsewhere = memory.elsewhere
        self.own.known, self._both.known = self._known, self._known_of_own
        self._open: Callable[[], Memory | None] | None = None
        self._guard = threading.RLock()
        self._team: Memory | None = None
        self._joined: Joined | None = None
        self._said: set[str] = set()
        self._notices: list[str] = []

    def __call__(
        self, text: str, limit: int = 10, filters: Filters | None = None, **more: Any
    ) -> tuple[Hit, ...]:
        """The best notes over all nuggets, best first, each with `.note`, `.score` and `.breakdown`. Arguments as of
        `result`.
        """
        return self.result(text, limit, filters, **more).hits

    def result(
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
        """The best notes with one judgement of them all: whether the best one answers. In a project those of others
        come last, and none of them is sure.

        text: words and what `core.search.query_syntax` reads: "phrases", -exclusions, conditions such as tag:auth;
        any text is a query. limit: how many at most. filters: by default all visible notes. new_since: an ISO 8601
        time for is:new; None: a day ago. stopped: asked now and then; once it says yes, the search ends. settings:
        other weights for this search alone. syntax: whether the text may hold more than words. Every note that shares
        something with the query is a hit; less likely ones come last and are not `sure`.
        """
        query, beside, here = (
            SearchQuery(text, filters, new_since, settings, syntax),
            self.beside(),
            self._memory.standpoint,
        )

        def search(query: SearchQuery, limit: int) -> SearchResult:
            if beside is not None:
                return beside.result(query, limit, stopped)
            return self.own.result(self._memory.snapshot, query, limit, stopped)

        if here is None or not here.foreign or (filters and filters.nugget) or here.meant(text):
            return search(query, limit)
        from core.search import Filters

        admitted = replace(filters or Filters(), other_than=here.foreign)
        own = search(msgspec.structs.replace(query, filters=admitted), limit)
        room = limit - len(own.hits)
        if not room:
            return own
        hits = search(query, limit + len(own.hits)).hits
        others = [(hit, owner) for hit in hits if (owner := here.owner_of(hit.note.nugget_name))]
        marked = tuple(
            replace(hit, rank=rank, sure=False, project=owner)
            for rank, (hit, owner) in enumerate(others[:room], len(own.hits) + 1)
        )
        nothing = own.judgement == "nothing" and marked
        return replace(own, hits=own.hits + marked, judgement="not sure" if nothing else own.judgement)

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

        shown: how many hits the asker sees; `needed` is the score of the last of them. Else as `result`.
        """
        query, beside = SearchQuery(text, filters, new_since, settings, syntax), self.beside()
        if beside is not None:
            return beside.explain(query, note_id, shown)
        return self.own.explain(self._memory.snapshot, query, note_id, shown)

    def answer(self, text: str, filters: Filters, found: SearchResult) -> Recall:
        """What a search answers, as a recall of the same words does where no condition asks for more; uncounted."""
        from core.facts.recall import Recall
        from core.search.query_syntax import parse_question
        from core.search.results import Filters

        question = parse_question(text)
        if question.narrow or not question.words or filters != Filters(nugget=filters.nugget):
            return Recall(judgement=found.judgement)
        return self._memory.recall(text, filters.nugget, record=False, syntax=True, decode=False)

    def document_text(self, document_id: str) -> str:
        """The whole text of a document that a search found a part of; "" where it cannot be read."""
        source = self._known()[1]
        return "" if source is None else source.document_text(document_id)

    def index(self, progress: Progress | None = None) -> SearchIndex:
        """The index of this memory and the team's, brought up to their present notes. progress: called with how many
        notes of how many are read while a first index is built; an exception from it ends the building.
        """
        beside = self.beside()
        return self.own.index(self._memory.snapshot, progress) if beside is None else beside.index(progress)

    def keep(self) -> bool:
        """Writes the index into the cache where that is worth it. Returns whether it was written."""
        kept = self.own.keep()
        return self._both.keep() or kept

    def forget(self) -> None:
        """Drops all that is held of the notes; the next search begins anew."""
        self.own.forget()
        self._both.forget()

    def _known(self) -> tuple[SignalSource | None, PassageSource | None]:
        known = self.pipeline()
        return self.signals or known, self.passages or known

    def _known_of_own(self) -> tuple[SignalSource | None, PassageSource | None]:
        signals, passages = self._known()
        joined = self._joined
        return (None if signals is None or joined is None else _OfOwn(signals, joined.whose)), passages

    # The team's notes

    def use_team(self, team: Memory | Callable[[], Memory | None]) -> None:
        """From now on searches and recalls look at a team's notes as well. They are never part of this memory: no
        change, no cleanup and no promotion of it sees them. A recall that one of them answers counts in the team's
        memory.

        team: their memory, or what gives it each time it is wanted; None where there is none to use now.
        """
        self._open = team if callable(team) else lambda: team

    @property
    def team(self) -> Memory | None:
        """The team's memory beside this one; None where there is none, or it cannot be opened."""
        with self._guard:
            self._team = None if self._open is None else self._tried(self._open)
            return self._team

    def beside(self) -> JoinedSearch | None:
        """The notes of this memory and of the team's, as the team's files are now. None where there is no team's
        memory, or it cannot be read: then only one's own notes are there, and `take_notices` says so.
        """
        if self._open is None:
            return None
        with self._guard:
            memory, own = self.team, self._memory.snapshot
            theirs = None if memory is None else self._tried(lambda: self._current(memory))
            if memory is None or theirs is None:
                return None
            if self._joined is None or self._joined.own is not own or self._joined.team is not theirs:
                from core.model.joined import join

                self._joined = join(own, theirs)
            return JoinedSearch(self._joined, memory, self._both)

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

    def take_notices(self) -> tuple[str, ...]:
        """What a person should know of the team's notes since the last call, each once."""
        with self._guard:
            told, self._notices = tuple(self._notices), []
            return told

    def close(self) -> None:
        """Closes the files of the team's memory; it is opened again when it is wanted."""
        with self._guard:
            if self._team is not None:
                self._team.close()

    @property
    def snapshot(self) -> Snapshot:
        """The notes that a search looks at: this memory's, and the team's behind them."""
        beside = self.beside()
        return self._memory.snapshot if beside is None else beside.snapshot

    def holding(self, text: str) -> tuple[Memory, Note]:
        """The note that a text names, as `Snapshot.resolve` reads it, and the memory that has it: this one, else the
        team's. Errors as there.
        """
        beside = self.beside()
        if beside is None:
            return self._memory, self._memory.snapshot.resolve(text)
        note = beside.joined.resolve(text)
        if beside.joined.whose(note.id) != "team":
            return self._memory, note
        return beside.memory, beside.joined.team.note(beside.joined.in_team[note.id])

    def named(self, text: str) -> Note:
        """The note of `snapshot` that a text names, of this memory's if it has such a one. Errors as `holding`."""
        beside = self.beside()
        return self._memory.snapshot.resolve(text) if beside is None else beside.joined.resolve(text)
