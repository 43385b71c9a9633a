"""When the daily pass is due: from the local clock, the days on which it ran, and the settings.

A pass falls due once a calendar day, at the set time, as the clock where the person is shows both. It belongs to the
day that this clock showed when it ran:

- It is owed when the set time came since and no pass ran on the calendar day of that moment, nor on a later one. So
  there is never a second one on a day, wherever one flew meanwhile.
- What is owed runs within the hour after the set time, at whatever hour that is; later it was missed, and is caught
  up in waking hours. A day that was missed whole and its successor share one pass.
- A time that the clock jumps over runs as much later as it jumps, one that comes twice at its first coming. A day that
  a zone left out has no pass.
- A run later than now tells that the clock was set back. It counts while it may be one of a day nearby; one that lies
  farther off is not believed, or it would keep the pass from running until then.
"""

from __future__ import annotations

import contextlib
import time as clock
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, NamedTuple

from core.settings import Settings

ON_TIME: Final = timedelta(hours=1)
BELIEVED: Final = timedelta(hours=36)
_DAY: Final = timedelta(days=1)
# A believed run bars at most its own day, which lies fewer days ahead than this.
_DAYS_AHEAD: Final = 7


class LastRun(NamedTuple):
    """A pass that ran: the instant, with any zone, and the date that the person's clock showed then."""

    at: datetime
    day: date


def due(now: datetime, last: LastRun | None, settings: Settings) -> bool:
    """Whether the daily pass is to run now. now: with the zone of the person's clock. last: see `latest`."""
    moment = _last_moment(now, settings)
    ran = last is not None and _believed(last, now) and moment is not None and last.day >= moment.date()
    if moment is None or ran:
        return False
    late = now.astimezone(UTC) - moment.astimezone(UTC)
    on_time = moment.date() == now.date() and late < ON_TIME
    return on_time or is_waking(now, settings)


def next_due(now: datetime, last: LastRun | None, settings: Settings) -> datetime:
    """When the pass is to run next, in the zone of `now`: `now` itself when it is due, else the first moment it is."""
    if due(now, last, settings):
        return now
    moments = sorted(_moments(now, settings))
    for moment in moments:
        if moment > now.astimezone(UTC) and due(moment.astimezone(now.tzinfo), last, settings):
            return moment.astimezone(now.tzinfo)
    return moments[-1].astimezone(now.tzinfo)


def latest(runs: Iterable[LastRun], now: datetime) -> LastRun | None:
    """Of all runs known the one that counts: the latest that a clock set back does not make unbelievable."""
    return max((run for run in runs if _believed(run, now)), key=lambda run: (run.day, run.at), default=None)


def is_waking(now: datetime, settings: Settings) -> bool:
    """Whether a missed pass may be caught up: from one hour on to before the other, over midnight if that is later.

    None are waking hours when both are the same.
    """
    begin, end = settings.schedule.waking_from, settings.schedule.waking_to
    return begin <= now.hour < end if begin <= end else now.hour >= begin or now.hour < end


def moment_on(day: date, zone: tzinfo | None, settings: Settings) -> datetime | None:
    """The instant (UTC) of the set time on a day; None for a day that the zone left out."""
    instant = _instant(day, settings.reflection.hour, settings.reflection.minute, zone)
    return instant if instant.astimezone(zone).date() == day else None


def _instant(day: date, hour: int, minute: int, zone: tzinfo | None) -> datetime:
    """When a clock shows a time: the first of two, and as much later as a jump over it is long."""
    return datetime.combine(day, time(hour, minute), zone).astimezone(UTC)


def _believed(run: LastRun, now: datetime) -> bool:
    # Two times of one zone are subtracted as the clock shows them, not as they passed.
    return run.at.astimezone(UTC) - now.astimezone(UTC) <= BELIEVED


def _last_moment(now: datetime, settings: Settings) -> datetime | None:
    """The latest moment of a set time that is not later than now, in the zone of `now`."""
    days = (moment_on(now.date() - ago * _DAY, now.tzinfo, settings) for ago in range(4))
    found = (moment for moment in days if moment is not None and moment <= now.astimezone(UTC))
    return moment.astimezone(now.tzinfo) if (moment := next(found, None)) is not None else None


def _moments(now: datetime, settings: Settings) -> Iterator[datetime]:
    """Every instant (UTC) of the days ahead at which the pass can become due: set times, and waking hours' begin."""
    for ahead in range(-1, _DAYS_AHEAD):
        day = now.date() + ahead * _DAY
        moment = moment_on(day, now.tzinfo, settings)
        if moment is not None:
            yield moment
            yield _instant(day, settings.schedule.waking_from, 0, now.tzinfo)


# The zone of this machine's clock, with all its changes of summer and winter time


class LocalZone(tzinfo):
    """What the system's settings say now. A plain `astimezone()` knows one offset only, that of its own moment."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """How far the clock is ahead of UTC at a moment that it shows."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        """Not told apart."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """The zone's short name at a moment."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """What the clock shows at an instant of UTC."""
        instant = moment.replace(tzinfo=UTC)
        shown = instant.astimezone().replace(tzinfo=None, fold=0)
        if shown.astimezone(UTC) != instant:
            shown = shown.replace(fold=1)
        return shown.replace(tzinfo=self)


def local_zone() -> LocalZone:
    """The zone as it is set now: who travels changes it while a program runs."""
    if hasattr(clock, "tzset"):
        with contextlib.suppress(OSError):
            clock.tzset()
    return LocalZone()
