"""Orders the times of successive entries where a clock was wrong for some of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from core.model.names import parse_iso

# Programs that write at the same time may be so far out of order; nobody's clock is wrong then.
_JITTER_SECONDS: Final = 60.0


def times_in_order(times: Sequence[str], now: str = "") -> list[str]:
    """For each entry, oldest first, when it was made at the latest: a list that never goes back.

    times: ISO 8601 times in UTC, as the entries bear them. The order of the entries is true, a time need not be:
    believed are the most entries whose times do not go back, and none that is later than `now` or before the first of
    them. Any other entry was made when the one before it was.
    """
    if all(earlier <= later for earlier, later in pairwise(times)) and not (
        now and max(times, default="") > now
    ):
        return list(times)
    moments = [parse_iso(time) for time in times]
    end = parse_iso(now) if now else None
    past = [one for one in moments if one is not None and not (end is not None and one > end)]
    known = past or [one for one in moments if one is not None]
    first = known[0].timestamp() - _JITTER_SECONDS if known else 0.0
    seconds = [None if one is None or one not in known else one.timestamp() for one in moments]
    kept = _longest_run([None if second is None or second < first else second for second in seconds])
    believed = [time if place in kept else "" for place, time in enumerate(times)]
    return list(accumulate(believed, max, initial=next(filter(None, believed), times[0])))[1:]


def _longest_run(seconds: Sequence[float | None]) -> set[int]:
    """The places of the longest sequence that does not go back (patience sorting)."""
    tails: list[float] = []
    ends: list[int] = []
    former: dict[int, int | None] = {}
    for place, second in enumerate(seconds):
        if second is None:
            continue
        length = bisect_right(tails, second)
        former[place] = ends[length - 1] if length else None
        tails[length : length + 1], ends[length : length + 1] = [second], [place]
    kept: set[int] = set()
    at = ends[-1] if ends else None
    while at is not None:
        kept.add(at)
        at = former[at]
    return kept
