"""The judging of kept searches: how many hits each has, and whether the note that it must find is among the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from core.model.kept import KeptSearch
from core.model.snapshot import Snapshot
from core.search.asked import asked, standing
from core.search.index import SearchIndex
from core.search.language import read
from core.settings import SearchSettings

# Why the note that must be found is not among the first; "" when it is.
Trouble = Literal["", "deleted", "hidden", "no hit", "too low"]


@dataclass(frozen=True)
class Verdict:
    """How it stands with one kept search. total: how many hits it has.

    note_id: the note that counts; where the one to be found was merged away, its survivor. rank: that note's place
    among all hits, from 1; 0 for no hit and for a search that is no golden one.
    """

    search: KeptSearch
    total: int
    note_id: str = ""
    rank: int = 0
    trouble: Trouble = ""

    @property
    def lost(self) -> bool:
        """Whether a golden search does not find its note."""
        return bool(self.trouble)

    @property
    def merged(self) -> bool:
        """Whether it counts what the note was merged into."""
        return bool(self.note_id) and self.note_id != self.search.must_find


def verdicts(
    searches: Iterable[KeptSearch],
    index: SearchIndex,
    snapshot: Snapshot,
    settings: SearchSettings,
    *,
    now: datetime,
    survivor: Callable[[str], str],
    new_since: str | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Iterator[Verdict]:
    """Judges one search after the other, each when it is asked for, until `stopped` says yes.

    now: with the time zone in which dates are meant. survivor: the id of what a note was merged into, its own for one
    that was not.
    """
    for search in searches:
        wanted = asked(read(search.query, index.excludes), now=now, new_since=new_since)
        note_id = survivor(search.must_find) if search.golden else ""
        found = standing(index, snapshot, wanted, note_id, settings, stopped)
        if found is None or (stopped is not None and stopped()):
            return
        verdict = Verdict(search, found.total, note_id, found.rank)
        yield replace(verdict, trouble=_trouble(verdict, snapshot)) if search.golden else verdict


def _trouble(verdict: Verdict, snapshot: Snapshot) -> Trouble:
    note = snapshot.by_id.get(verdict.note_id)
    if note is None:
        return "deleted"
    if verdict.rank:
        return "" if verdict.rank <= verdict.search.within else "too low"
    return "hidden" if note.hidden else "no hit"
