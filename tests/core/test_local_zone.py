"""The zone of the machine's clock behaves as the zone it is set to, also around changes of the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest

from core.schedule import local_zone

NAMES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia")
# Every half hour around the changes of 2026 in these zones.
BEGINS = [
    datetime(2026, month, day, tzinfo=UTC)
    for month, day in ((3, 8), (3, 28), (4, 4), (10, 3), (10, 25), (11, 1))
]
INSTANTS = [begin + timedelta(minutes=30 * step) for begin in BEGINS for step in range(80)]


@pytest.fixture
def live_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ZoneInfo]]:
    if not hasattr(time, "tzset"):
        pytest.skip("the zone of a process cannot be set there")

    def move(name: str) -> ZoneInfo:
        try:
            zone = ZoneInfo(name)
        except ZoneInfoNotFoundError:
            pytest.skip(f"this system knows nothing of {name}")
        monkeypatch.setenv("TZ", name)
        return zone

    yield move
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("name", NAMES)
def test_it_shows_what_the_zone_shows(live_in: Callable[[str], ZoneInfo], name: str) -> None:
    zone, here = live_in(name), local_zone()
    for instant in INSTANTS:
        there, shown = instant.astimezone(zone), instant.astimezone(here)
        assert shown.replace(tzinfo=None) == there.replace(tzinfo=None)
        assert (shown.fold, shown.utcoffset(), shown.tzname()) == (
            there.fold,
            there.utcoffset(),
            there.tzname(),
        )
        assert shown.astimezone(UTC) == instant


def test_who_travels_has_another_zone_at_once(live_in: Callable[[str], ZoneInfo]) -> None:
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC)
    live_in("Europe/Berlin")
    assert noon.astimezone(local_zone()).hour == 13
    live_in("America/New_York")
    assert noon.astimezone(local_zone()).hour == 7
