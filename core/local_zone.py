"""The zone of this machine's clock, with all its changes of summer and winter time."""

from __future__ import annotations

import contextlib
import time
from datetime import UTC, datetime, timedelta, tzinfo


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
    if hasattr(time, "tzset"):
        with contextlib.suppress(OSError):
            time.tzset()
    return LocalZone()
