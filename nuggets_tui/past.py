"""Looking back: the states of a memory with what the time slider shows of them, and searches in a state of the past."""

from __future__ import annotations

import threading
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from core.model.names import iso, parse_iso
from core.model.snapshot import Snapshot
from nuggets_tui.threads import run_in_thread
from nuggets_tui.view import Found, Past, prepare

if TYPE_CHECKING:
    from core.memory import Memory
    from core.search import SearchIndex
    from core.timeline import Timeline

_RESULTS: Final = 50


class TimeTravel:
    """The past of one memory as it was when somebody began to look. Calls that read run in threads."""

    def __init__(self, memory: Memory, clock: Callable[[], datetime]) -> None:
        """Raises as `History.timeline`."""
        self.memory = memory
        self.timeline: Timeline = memory.history.timeline()
        self.now = clock()
        marks, stops = self.timeline.marks, self.timeline.stops
        places = [place for place in stops if place < len(marks)]
        self._places = [place for place in places if not marks[place].recall]
        # For each change that is no recall, newest first: seconds before the present.
        self._ages, last = array("d"), 0.0
        for place in self._places:
            moment = parse_iso(marks[place].at)
            # A clock that was set back makes no change younger than those after it.
            last = max(last, (self.now - moment).total_seconds()) if moment is not None else last
            self._ages.append(last)

    # Moments

    def moment(self, position: int) -> tuple[Past, Snapshot]:
        """What is shown at a position, made ready for the panes. Raises StorageError."""
        timeline = self.timeline
        snapshot = prepare(timeline.at(position))
        return self.describe(position), snapshot

    def describe(self, position: int) -> Past:
        timeline = self.timeline
        return Past(
            position=position,
            at=timeline.time_at(position),
            seq=timeline.marks[position].seq if position < len(timeline) else 0,
            changes_after=timeline.changes_after(position),
            begins=position >= len(timeline),
        )

    def day(self, position: int, step: int) -> int:
        """The last state of the day before (step -1) or after (1) that of a position on which anything changed."""
        today = self._day_of(position)
        going = self.timeline.later if step > 0 else self.timeline.earlier
        found = position
        while True:
            following = going(found)
            if following == found:
                return found
            found = following
            day = self._day_of(found)
            if day != today and (step < 0 or self._day_of(self.timeline.later(found)) != day or not found):
                return found

    def _day_of(self, position: int) -> int:
        moment = parse_iso(self.timeline.time_at(position))
        return moment.astimezone().toordinal() if moment is not None else 0

    def after_entry(self, seq: int) -> int:
        return bisect_left(self.timeline.marks, -seq, key=lambda mark: -mark.seq)

    def follow(self, position: int, steps: Sequence[tuple[str, int]]) -> tuple[Past, Snapshot]:
        """What is shown after some steps from a position: by "change", by "day" or to the "end", earlier (-1) or later
        (1); or "to" a position.
        """
        for by, step in steps:
            if by == "to":
                position = step
            elif by == "end":
                position = 0 if step > 0 else len(self.timeline)
            elif by == "day":
                position = self.day(position, step)
            else:
                position = self.timeline.later(position) if step > 0 else self.timeline.earlier(position)
        return self.moment(position)

    def position_at(self, moment: datetime) -> int:
        """The position of what was there at a time. Raises NotFoundError."""
        return self.timeline.position_at(iso(moment))

    # The bar

    @property
    def span(self) -> float:
        """Seconds from the oldest change that is known to the present."""
        return max(self._ages[-1] if self._ages else 0.0, 1.0)

    def density(self, width: int) -> list[int]:
        """How many changes were made in each of so many equal parts of the time, oldest first."""
        counts = [0] * max(width, 1)
        for age in self._ages:
            counts[self._cell(age, len(counts))] += 1
        return counts

    def cell(self, position: int, width: int) -> int:
        """The part of the bar in which a position stands."""
        if not position:
            return width - 1
        found = bisect_left(self._places, position)
        return self._cell(self._ages[found], width) if found < len(self._ages) else 0

    def in_cell(self, cell: int, width: int) -> int:
        """The newest position of a part of the bar, or the nearest older one."""
        if cell >= width - 1:
            return 0
        least = self.span * (1.0 - (cell + 1) / width)
        found = bisect_left(self._ages, least)
        return self._places[found] if found < len(self._places) else len(self.timeline)

    def _cell(self, age: float, width: int) -> int:
        return max(0, min(width - 1, int((1.0 - age / self.span) * width)))


class PastSearch:
    """Searches in states of the past, with an index of its own that follows from one state to the next."""

    def __init__(self, memory: Memory, clock: Callable[[], datetime]) -> None:
        self._memory = memory
        self._clock = clock
        self._turn = threading.Lock()
        self._query_number = 0
        self._index: SearchIndex | None = None

    async def find(self, snapshot: Snapshot, typed: str) -> Found | None:
        """Hits among the notes of a state; None when something else was asked for meanwhile."""
        self._query_number += 1
        return await run_in_thread(self._find, snapshot, typed, self._query_number)

    def _find(self, snapshot: Snapshot, typed: str, turn: int) -> Found | None:
        from core.search.conditions import Asked
        from core.search.index import question_filters, search_question
        from core.search.query_syntax import parse_question

        def stale() -> bool:
            return turn != self._query_number

        with self._turn:
            if stale():
                return None
            index = self._following(snapshot)
            begun = time.perf_counter()
            asked = Asked(self._clock().astimezone())
            wanted = question_filters(parse_question(typed, index.excludes), asked)
            found = search_question(index, snapshot, wanted, _RESULTS, self._memory.settings.search, stale)
            seconds = time.perf_counter() - begun
            return None if stale() else Found.of(typed, found, seconds, _RESULTS)

    def _following(self, snapshot: Snapshot) -> SearchIndex:
        if self._index is None:
            # Most notes are the same as now: what was read of them need not be read again.
            self._index = self._memory.search.index().for_another(snapshot)
        self._index.update(snapshot)
        return self._index
