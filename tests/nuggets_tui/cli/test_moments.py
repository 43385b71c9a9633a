"""Moments as a person types them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInputError
from nuggets_tui.cli.moments import is_day, moment

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


def test_a_moment_is_understood_in_many_forms() -> None:
    for text, meant in [
        ("2026-11-17", "2026-11-17T00:00"),
        ("2026-11-17 09:30", "2026-11-17T09:30"),
        ("2026-11-17T09:30:15", "2026-11-17T09:30:15"),
        ("2026-11-17T09:30:15.250Z", "2026-11-17T09:30:15.250"),
        ("2026-11-17T09:30+02:00", "2026-11-17T07:30"),
        ("now", "2026-11-18T12:00"),
        ("today", "2026-11-18T00:00"),
        ("Yesterday", "2026-11-17T00:00"),
        ("yesterday 9:30", "2026-11-17T09:30"),
        ("09:30", "2026-11-18T09:30"),
        ("23:30", "2026-11-17T23:30"),
        ("90s", "2026-11-18T11:58:30"),
        ("30m", "2026-11-18T11:30"),
        ("30 min ago", "2026-11-18T11:30"),
        ("2h", "2026-11-18T10:00"),
        (" 3  days  ago ", "2026-11-15T12:00"),
        ("1w", "2026-11-11T12:00"),
    ]:
        assert moment(text, NOW, zone=UTC) == datetime.fromisoformat(meant).replace(tzinfo=UTC)


def test_what_is_no_moment_is_refused_with_the_forms_there_are() -> None:
    for text in [
        "",
        " ",
        "soon",
        "2026-13-40",
        "2026",
        "25:00",
        "today 9",
        "3 fortnights",
        "-2h",
        "2h3m",
        "999999y",
        "\x00",
    ]:
        with pytest.raises(InvalidInputError, match="yesterday"):
            moment(text, NOW, zone=UTC)


@given(st.text(max_size=20))
def test_any_text_is_a_moment_with_a_zone_or_refused(text: str) -> None:
    try:
        found = moment(text, NOW)
    except InvalidInputError:
        return
    assert found.tzinfo is not None


def test_a_day_can_be_its_end_but_the_present_one_ends_now() -> None:
    def end(text: str) -> datetime:
        return moment(text, NOW, end_of_day=True, zone=UTC)

    assert end("2026-11-16") == datetime(2026, 11, 17, tzinfo=UTC)
    assert end("yesterday") == datetime(2026, 11, 18, tzinfo=UTC)
    assert end("today") == end("2026-11-18") == NOW
    assert end("2026-11-19") > NOW


def test_a_bare_time_is_of_the_persons_own_zone() -> None:
    east = timezone(timedelta(hours=9))
    assert moment("2026-11-18 09:00", NOW, zone=east) == datetime(2026, 11, 18, tzinfo=UTC)
    late = NOW.replace(hour=20)
    # There it is the 19th already.
    assert moment("yesterday", late, zone=east) == datetime(2026, 11, 18, tzinfo=east)


def test_a_bare_date_is_told_from_a_time() -> None:
    assert is_day(" 2026-11-18 ")
    assert not is_day("2026-11-18T12:00")
    assert not is_day("yesterday")


@pytest.mark.parametrize("text", ["2026-11-20 14:30:05", "2026-11-20T14:30:05Z", "2026-11-20T14:30:05+00:00"])
def test_a_second_can_be_its_end_as_the_log_shows_no_less(text: str) -> None:
    def of(now: datetime, *, end: bool) -> datetime:
        return moment(text, now, end_of_day=end, zone=UTC)

    second = datetime(2026, 11, 20, 14, 30, 5, tzinfo=UTC)
    later = second + timedelta(days=1)
    assert of(later, end=False) == second
    assert of(later, end=True) == second.replace(microsecond=999_000)
    # Never later than now, and what is to come stays as it was typed.
    assert of(second.replace(microsecond=500_000), end=True) == second.replace(microsecond=500_000)
    assert of(second - timedelta(days=1), end=True) == second
