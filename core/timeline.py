"""The memory at any moment of its history, computed by reverting entries from the present state."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from core.errors import NotFoundError
from core.model.change import ChangeSet
from core.model.compare import at_moment
from core.model.names import iso, parse_iso
from core.model.snapshot import Snapshot
from core.storage.journal.journal import Mark as Mark
from core.storage.journal.schema import BrokenJournalError, unreadable

if TYPE_CHECKING:
    from core.memory import Memory

# Every so many changes a state is kept, so that any other is few changes away from one.
_STRIDE: Final = 64
# So many of the states that were asked for last are kept beside those.
_RECENT: Final = 32

Read = Callable[[Collection[int]], Mapping[int, ChangeSet]]


class Timeline:
    """The states of a memory one after the other, from the present one backwards. Safe to use from several threads.

    A position is the number of entries of the log that are taken off: 0 is the present, as it was when this was made,
    `len(timeline)` the state before the oldest known entry. Nothing is written, and what is logged later is not seen.
    `marks` holds the entries newest first, so that the newest one that a position still has is `marks[position]`.
    """

    def __init__(self, present: Snapshot, marks: Iterable[Mark], read: Read, now: str = "") -> None:
        """read: the change sets of entries by their numbers; those that are gone are left out of what it returns.
        now: the time; an entry that is later was made with a wrong clock.
        """
        self.marks: list[Mark] = list(marks)
        self._now = now
        self._changes_at = [place for place, mark in enumerate(self.marks) if not mark.recall]
        # Where a person stops: at each change that is no mere recall, at the present, and at the beginning.
        self.stops = sorted({0, *self._changes_at, len(self.marks)})
        self._read = read
        self._kept: dict[int, Snapshot] = {0: present}
        self._recent: dict[int, Snapshot] = {}
        self._guard = threading.RLock()

    def __len__(self) -> int:
        return len(self.marks)

    # Positions

    @property
    def reach(self) -> str:
        """The time of the oldest entry, as files hold it; "" for an empty log."""
        return self.marks[-1].at if self.marks else ""

    def time_at(self, position: int) -> str:
        """The time at which the state at a position began, as files hold it; "" for the one before the log."""
        return self.marks[position].at if position < len(self.marks) else ""

    def changes_after(self, position: int) -> int:
        """How many changes that are no mere recalls were made since."""
        return bisect_left(self._changes_at, position)

    def earlier(self, position: int) -> int:
        """The stop before this position; the same position when it is the first that is known."""
        found = bisect_right(self.stops, position)
        return self.stops[found] if found < len(self.stops) else position

    def later(self, position: int) -> int:
        """The stop after this position; 0 after the newest."""
        found = bisect_left(self.stops, position)
        return self.stops[found - 1] if found else 0

    def position_at(self, moment: str) -> int:
        """The position of the state that was there at a time: the one that the last entry made by then left.
        The order of the entries rules over their times, of which a wrong clock may have made some.

        Raises NotFoundError for a time before the log begins.
        """
        made = times_in_order([mark.at for mark in reversed(self.marks)], self._now)[::-1]
        found = next((position for position, time in enumerate(made) if time <= moment), None)
        if found is None:
            what = "the history does not go back that far" if made else "the history is empty"
            raise NotFoundError(what, where=moment, todo=f"it begins at {made[-1]}" if made else "")
        return found

    # States

    def at(self, position: int) -> Snapshot:
        """The memory at a position, from 0 to `len(timeline)`. Raises StorageError, BrokenJournalError."""
        with self._guard:
            position = max(0, min(position, len(self.marks)))
            known = {**self._kept, **self._recent}
            start = max(place for place in known if place <= position)
            state = known[start]
            while start < position:
                end = min(position, (start // _STRIDE + 1) * _STRIDE)
                numbers = [mark.seq for mark in self.marks[start:end]]
                # What cannot be read is passed over.
                found = self._read(numbers)
                state = at_moment(state, [found[number] for number in numbers if number in found])
                if end % _STRIDE == 0:
                    self._kept[end] = state
                start = end
            # The one that was asked for last stands last.
            self._recent.pop(position, None)
            self._recent[position] = state
            if len(self._recent) > _RECENT:
                del self._recent[next(iter(self._recent))]
            return state


def timeline_of(present: Snapshot, memory: Memory) -> Timeline:
    """The states of a memory that is at `present`. Raises StorageError for a log that cannot be read,
    BrokenJournalError.
    """
    store = memory.store
    if store.log_problem is not None:
        raise store.log_problem

    def read(numbers: Collection[int]) -> dict[int, ChangeSet]:
        with memory.guard:
            journal = store.journal
            try:
                return dict(journal.change_sets(numbers)) if journal is not None else {}
            except BrokenJournalError as error:
                assert journal is not None
                raise unreadable(journal.path, str(error)) from error

    journal = store.journal
    return Timeline(present, journal.marks() if journal is not None else [], read, memory.now())


def times_in_order(times: Sequence[str], now: str = "") -> list[str]:
    """For each entry, oldest first, when it was made at the latest: a list that never goes back.

    times: ISO 8601 times in UTC, as the entries bear them. The order of the entries is true, a time need not be: one
    that is later than `now` is not believed, nor one that is earlier than the entry before. Such an entry was made when
    the one before it was.
    """
    made: list[str] = []
    believed = [
        time if (moment := parse_iso(time)) and (not now or iso(moment) <= now) else "" for time in times
    ]
    latest = next(filter(None, believed), next(iter(times), ""))
    for time in believed:
        latest = max(latest, time)
        made.append(latest)
    return made
