"""Orders the times of successive entries where a clock was wrong for some of them."""

from __future__ import annotations

from collections.abc import Sequence

from core.model.names import iso, parse_iso


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
