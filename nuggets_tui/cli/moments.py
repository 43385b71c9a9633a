"""Moments as a person types them: a date, a time, an age such as 2h, or "yesterday"."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

from core.errors import InvalidInputError

FORMS: Final = 'a date (2026-11-20), a time ("2026-11-20 14:30"), an age (2h, 3d) or yesterday'
_AGE: Final = re.compile(r"(\d{1,6})\s*([a-z]+)(?:\s+ago)?")
_CLOCK: Final = re.compile(r"(?:(today|yesterday)\s+)?(\d{1,2}):(\d{2})(?::(\d{2}))?")
_TO_THE_SECOND: Final = re.compile(r"\d:\d{2}:\d{2}(?![.,\d])")
_LAST_MILLISECOND: Final = timedelta(milliseconds=999)
_DAY: Final = 86_400.0
_SECONDS: Final = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0,
    "d": _DAY, "day": _DAY, "w": 7 * _DAY, "week": 7 * _DAY, "mo": 30.44 * _DAY, "month": 30.44 * _DAY,
    "y": 365.25 * _DAY, "year": 365.25 * _DAY,
}  # fmt: skip


def moment(text: str, now: datetime, *, end_of_day: bool = False, zone: tzinfo | None = None) -> datetime:
    """The moment that a text names, with its time zone. Raises InvalidInputError for a text that names none.

    now: with its time zone; ages count back from it. A day without a time is its beginning, or its end when
    `end_of_day`, but never later than now for the present day. So is a second: the log shows times to the second, and
    who copies one means all that it shows there. zone: of times that name none (None: the local one).
    """
    try:
        found = _parsed(" ".join(text.lower().split()), now, end_of_day, zone)
    except (ValueError, OverflowError, OSError):
        found = None
    if found is None:
        raise InvalidInputError(f'can\'t read "{text[:80]}" as a time', todo=f"give {FORMS}")
    if end_of_day and _TO_THE_SECOND.search(text):
        return max(found, min(found + _LAST_MILLISECOND, now))
    return found


def is_day(text: str) -> bool:
    """Whether a text is a bare date, as 2026-11-20."""
    return _date(text.strip()) is not None


def _parsed(text: str, now: datetime, end_of_day: bool, zone: tzinfo | None) -> datetime | None:
    today = now.astimezone(zone).date()
    if text == "now":
        return now
    days = {"today": today, "yesterday": today - timedelta(days=1)}
    day = days.get(text) or _date(text)
    if day is not None:
        return _of_day(day, now, end_of_day, zone)
    age = _AGE.fullmatch(text)
    if age is not None:
        unit = _SECONDS.get(age[2]) or _SECONDS.get(age[2].removesuffix("s"))
        return now - timedelta(seconds=int(age[1]) * unit) if unit else None
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        named = time(int(clock[2]), int(clock[3]), int(clock[4] or 0))
        found = _placed(datetime.combine(days.get(clock[1] or "", today), named), zone)
        # A time of day that is still to come was yesterday's.
        return found - timedelta(days=1) if found > now and not clock[1] else found
    found = datetime.fromisoformat(text.upper())
    return found if found.tzinfo is not None else _placed(found, zone)


def _of_day(day: date, now: datetime, end_of_day: bool, zone: tzinfo | None) -> datetime:
    if not end_of_day:
        return _placed(datetime.combine(day, time()), zone)
    end = _placed(datetime.combine(day + timedelta(days=1), time()), zone)
    begun = _placed(datetime.combine(day, time()), zone) <= now
    return min(end, now) if begun else end


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _placed(local: datetime, zone: tzinfo | None) -> datetime:
    return local.astimezone() if zone is None else local.replace(tzinfo=zone)
