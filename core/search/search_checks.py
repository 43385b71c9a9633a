"""Runs saved searches: how many hits each has, and whether a check finds its note among the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from core.model.saved_search import SavedSearch
from core.model.snapshot import Snapshot
from core.search.conditions import NOWHERE_ELSE, Elsewhere
from core.search.index import SearchIndex, note_rank, question_filters
from core.search.query_syntax import Question, parse_question
from core.settings import SearchSettings

# Why the note that must be found is not among the first; "" when it is.
CheckFailure = Literal["", "deleted", "hidden", "no hit", "too low"]


@dataclass(frozen=True)
class SearchCheckResult:
    """How it stands with one saved search. total: how many hits it has.

    note_id: the note that counts; where the one to be found was merged away, its survivor. rank: that note's place
    among all hits, from 1; 0 for no hit and for a search that is no golden one.
    """

    search: SavedSearch
    total: int
    note_id: str = ""
    rank: int = 0
    trouble: CheckFailure = ""

    @property
    def lost(self) -> bool:
        """Whether a search check does not find its note."""
        return bool(self.trouble)

    @property
    def merged(self) -> bool:
        """Whether it counts what the note was merged into."""
        return bool(self.note_id) and self.note_id != self.search.must_find


def run_search_checks(
    searches: Iterable[SavedSearch],
    index: SearchIndex,
    snapshot: Snapshot,
    settings: SearchSettings,
    *,
    now: datetime,
    survivor: Callable[[str], str],
    new_since: str | None = None,
    elsewhere: Callable[[Question], Elsewhere] = lambda question: NOWHERE_ELSE,
    stopped: Callable[[], bool] | None = None,
) -> Iterator[SearchCheckResult]:
    """Judges one search after the other, each when it is asked for, until `stopped` says yes.

    now: with the time zone in which dates are meant. survivor: the id of what a note was merged into, its own for one
    that was not.
    """
    for search in searches:
        question = parse_question(search.query, index.excludes)
        wanted = question_filters(question, now=now, new_since=new_since)
        wanted = replace(wanted, elsewhere=elsewhere(question))
        note_id = survivor(search.must_find) if search.is_check else ""
        found = note_rank(index, snapshot, wanted, note_id, settings, stopped)
        if found is None or (stopped is not None and stopped()):
            return
        verdict = SearchCheckResult(search, found.total, note_id, found.rank)
        yield replace(verdict, trouble=_failure(verdict, snapshot)) if search.is_check else verdict


def _failure(verdict: SearchCheckResult, snapshot: Snapshot) -> CheckFailure:
    note = snapshot.by_id.get(verdict.note_id)
    if note is None:
        return "deleted"
    if verdict.rank:
        return "" if verdict.rank <= verdict.search.within else "too low"
    return "hidden" if note.hidden else "no hit"
