"""When the daily pass is due: once a day of the person's clock, caught up in waking hours, right across any change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from core.schedule import LastRun, due, is_waking, latest, local_zone, moment_on, next_due
from core.settings import ReflectionSettings, ScheduleSettings, Settings

NAMES = (
    "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "America/Havana",
    "America/Nuuk",
)  # fmt: skip


def zone_of(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        pytest.skip(f"this system knows nothing of {name}")


def settings(hour: int = 9, minute: int = 0, waking: tuple[int, int] = (8, 22)) -> Settings:
    return Settings(
        reflection=ReflectionSettings(hour=hour, minute=minute),
        schedule=ScheduleSettings(waking_from=waking[0], waking_to=waking[1]),
    )


def at(text: str, zone: tzinfo = UTC) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def ran(text: str, zone: tzinfo = UTC) -> LastRun:
    moment = at(text, zone)
    return LastRun(moment.astimezone(UTC), moment.date())


# One zone, plain days


def test_it_is_due_from_the_set_time_on_and_done_once_it_ran() -> None:
    yesterday = ran("2026-11-21T09:00")
    assert not due(at("2026-11-22T08:59:59"), yesterday, settings())
    assert due(at("2026-11-22T09:00"), yesterday, settings())
    assert not due(at("2026-11-22T09:01"), ran("2026-11-22T09:00"), settings())
    assert next_due(at("2026-11-22T09:01"), ran("2026-11-22T09:00"), settings()) == at("2026-11-23T09:00")


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-11-22T03:00", True), ("2026-11-22T03:59", True), ("2026-11-22T04:00", False),
        ("2026-11-22T07:59", False), ("2026-11-22T08:00", True), ("2026-11-22T21:59", True),
        ("2026-11-22T22:00", False),
    ],
)  # fmt: skip
def test_a_missed_pass_waits_for_waking_hours(now: str, expected: bool) -> None:
    assert due(at(now), ran("2026-11-21T03:00"), settings(hour=3)) is expected


def test_waking_hours_may_go_over_midnight_and_may_be_none() -> None:
    owl, never = settings(waking=(22, 6)), settings(waking=(8, 8))
    hours = [hour for hour in range(24) if is_waking(at(f"2026-11-22T{hour:02}:00"), owl)]
    assert hours == [0, 1, 2, 3, 4, 5, 22, 23]
    assert not any(is_waking(at(f"2026-11-22T{hour:02}:00"), never) for hour in range(24))
    assert due(at("2026-11-22T09:30"), ran("2026-11-21T09:00"), never)
    assert not due(at("2026-11-22T10:00"), ran("2026-11-21T09:00"), never)
    assert is_waking(at("2026-11-22T23:59"), settings(waking=(0, 24)))


# Changes of the clock


def test_whoever_flies_gets_no_second_pass_on_a_day() -> None:
    tokyo, los_angeles = zone_of("Asia/Tokyo"), zone_of("America/Los_Angeles")
    there = ran("2026-11-22T09:00", tokyo)
    # West over the date line it is the 21st again, then the 22nd once more.
    assert not due(at("2026-11-21T20:00", los_angeles), there, settings())
    assert not due(at("2026-11-22T20:00", los_angeles), there, settings())
    assert due(at("2026-11-23T09:00", los_angeles), there, settings())
    # East it is the next day the sooner.
    assert due(at("2026-11-23T09:00", tokyo), ran("2026-11-22T09:00", los_angeles), settings())


def test_a_clock_set_back_neither_bars_the_pass_for_ever_nor_has_it_twice() -> None:
    strayed = [ran("2026-11-22T09:00"), ran("2036-01-05T09:00")]
    now = at("2026-11-22T12:00")
    assert latest(strayed, now) == strayed[0]
    assert not due(now, latest(strayed, now), settings())
    tomorrow = at("2026-11-23T09:00")
    assert due(tomorrow, latest(strayed, tomorrow), settings())
    assert due(tomorrow, strayed[1], settings())
    # A little back: it is the same day, or was the next one already.
    assert not due(at("2026-11-22T09:00"), ran("2026-11-22T11:00"), settings())
    assert not due(at("2026-11-21T23:00"), ran("2026-11-22T09:00"), settings())


# Laws

zones = st.sampled_from(NAMES).map(zone_of)
times = st.builds(
    settings,
    hour=st.integers(0, 23),
    minute=st.sampled_from([0, 1, 29, 30, 59]),
    waking=st.one_of(st.just((8, 22)), st.tuples(st.integers(0, 23), st.integers(0, 24))),
)
# Around changes of the clock in most of these zones, and over two years.
instants = st.one_of(
    st.datetimes(datetime(2011, 12, 27), datetime(2012, 1, 3)),
    st.datetimes(datetime(2024, 1, 1), datetime(2026, 1, 1)),
    st.builds(
        lambda day, minutes: day + timedelta(minutes=minutes),
        st.sampled_from(
            [datetime(2026, 3, 29), datetime(2026, 10, 25), datetime(2026, 3, 8), datetime(2026, 4, 5)]
        ),
        st.integers(-1500, 1500),
    ),
).map(lambda moment: moment.replace(tzinfo=UTC, microsecond=0))


def last_runs(now: datetime, ago: int | None) -> LastRun | None:
    if ago is None:
        return None
    moment = (now.astimezone(UTC) - timedelta(minutes=ago)).astimezone(now.tzinfo)
    return LastRun(moment.astimezone(UTC), moment.date())


@given(zones, times, instants, st.none() | st.integers(-3000, 8000), st.data())
@example(UTC, settings(), at("2024-05-05T05:05"), None, None)
def test_what_is_due_next_is_due_then_and_not_before(
    zone: tzinfo, set_time: Settings, instant: datetime, ago: int | None, data: st.DataObject | None
) -> None:
    now = instant.astimezone(zone)
    last = last_runs(now, ago)
    then = next_due(now, last, set_time)
    assert then.tzinfo is now.tzinfo
    assert due(then, last, set_time)
    between = int((then.astimezone(UTC) - instant).total_seconds())
    assert between >= 0
    if between and data is not None:
        seconds = data.draw(st.integers(0, between - 1))
        assert not due((instant + timedelta(seconds=seconds)).astimezone(zone), last, set_time)
        assert not due((then.astimezone(UTC) - timedelta(seconds=1)).astimezone(zone), last, set_time)


@pytest.mark.slow
@given(zones, times, instants)
def test_whoever_always_looks_runs_it_once_a_day_at_the_set_time(
    zone: tzinfo, set_time: Settings, instant: datetime
) -> None:
    now = instant.astimezone(zone)
    assume(due(now, None, set_time))
    last = LastRun(instant, now.date())
    for _ in range(8):
        then = next_due(last.at.astimezone(zone), last, set_time)
        assert then.date() > last.day
        assert then.astimezone(UTC) in [
            moment_on(then.date() - timedelta(days=back), zone, set_time) for back in (0, 1)
        ]
        last = LastRun(then.astimezone(UTC), then.date())


@given(
    times,
    instants,
    st.lists(
        st.tuples(zones, st.integers(1, 60 * 40), st.integers(-60 * 24 * 9, 60 * 24 * 9) | st.just(0)),
        max_size=40,
    ),
)
def test_no_day_that_the_clock_shows_has_two_passes_wherever_one_goes_and_however_it_is_set(
    set_time: Settings, begin: datetime, way: list[tuple[tzinfo, int, int]]
) -> None:
    runs: list[LastRun] = []
    instant, strayed = begin, timedelta()
    for zone, minutes, shift in way:
        instant += timedelta(minutes=minutes)
        strayed = timedelta(minutes=shift) if shift % 5 == 0 else strayed
        now = (instant + strayed).astimezone(zone)
        if due(now, latest(runs, now), set_time):
            runs.append(LastRun(now.astimezone(UTC), now.date()))
    days = [run.day for run in runs]
    assert len(days) == len(set(days))


@given(zones, times, instants, st.integers(-60 * 24 * 4000, 60 * 24 * 4000))
def test_nothing_bars_the_pass_for_more_than_a_few_days(
    zone: tzinfo, set_time: Settings, instant: datetime, ago: int
) -> None:
    now = instant.astimezone(zone)
    then = next_due(now, last_runs(now, ago), set_time)
    assert then.astimezone(UTC) - instant < timedelta(days=5)


# The zone of the machine's clock


ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia")
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


@pytest.mark.parametrize("name", ZONES)
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
