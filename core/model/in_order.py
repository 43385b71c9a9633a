"""Orders the times of successive entries where a clock was wrong for some of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from core.model.names import parse_iso

# Programs that write at the same time may be so far out of order; nobody's clock is wrong then.
_JITTER_SECONDS: Final = 60.0


def times_in_order(times: Sequence[str], now: str = "") -> list[str]:
    """For each entry, oldest first, when it was made at the latest: a list that never goes back.

    times: ISO 8601 times in UTC, as the entries bear them. The order of the entries is true, a time need not be:
    believed are the most entries whose times do not go back, of equally many those closest together; none that is
    later than `now` or before the first of them. Any other entry was made when the one before it was.
    """
    if all(earlier <= later for earlier, later in pairwise(times)) and not (
        now and times and times[-1] > now
    ):
        return list(times)
    moments = [parse_iso(time) for time in times]
    end = parse_iso(now) if now else None
    seconds = [
        None if moment is None or (end is not None and moment > end) else moment.timestamp()
        for moment in moments
    ]
    if not any(second is not None for second in seconds):
        seconds = [moment.timestamp() if moment is not None else None for moment in moments]
    first = next((second for second in seconds if second is not None), 0.0) - _JITTER_SECONDS
    return _carried_on(
        times, _believed([second if second is not None and second >= first else None for second in seconds])
    )


def _believed(seconds: Sequence[float | None]) -> list[bool]:
    """Which of them make up the longest sequence that does not go back, and spans the least among those as long."""
    ranks = sorted({second for second in seconds if second is not None})
    # A Fenwick tree over the times: the longest sequence that ends by then, and of those the one that begins last.
    tree: list[tuple[int, float, int]] = [(0, 0.0, -1)] * (len(ranks) + 1)
    former = [-1] * len(seconds)
    best, best_end = (0, 0.0), -1
    for place, second in enumerate(seconds):
        if second is None:
            continue
        rank = bisect_right(ranks, second)
        longest = (0, 0.0, -1)
        at = rank
        while at:
            longest = max(longest, tree[at])
            at &= at - 1
        length, first, former[place] = longest
        first = first if length else second
        at = rank
        while at < len(tree):
            tree[at] = max(tree[at], (length + 1, first, place))
            at += at & -at
        if (length + 1, first - second) >= best or best_end < 0:
            best, best_end = (length + 1, first - second), place
    kept = [False] * len(seconds)
    while best_end >= 0:
        kept[best_end] = True
        best_end = former[best_end]
    return kept


def _carried_on(times: Sequence[str], believed: Sequence[bool]) -> list[str]:
    last = next((time for time, kept in zip(times, believed, strict=True) if kept), next(iter(times), ""))
    found: list[str] = []
    for time, kept in zip(times, believed, strict=True):
        last = max(last, time) if kept else last
        found.append(last)
    return found
