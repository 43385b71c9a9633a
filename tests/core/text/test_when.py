"""Times in questions: the usual spellings of a day, and whether what holds now is asked for."""

from __future__ import annotations

from datetime import date

import pytest

from core.text.when import asks_for_before, asks_for_now, named_time

TODAY = date(2026, 11, 27)


@pytest.mark.parametrize(
    "spelt",
    [
        "2 June 2026", "June 2, 2026", "June 2nd 2026", "2nd of June 2026", "2026-06-02", "2.6.2026", "2. Juni 2026",
        "2 jun 2026", "2 June",
    ],
)  # fmt: skip
def test_a_day_is_read_in_the_usual_spellings(spelt: str) -> None:
    found = named_time(f"what did we decide on {spelt}?", TODAY)
    assert found is not None
    assert (found.first, found.last, found.is_day) == (date(2026, 6, 2), date(2026, 6, 2), True)
    assert found.rest.rstrip(" ?") == "what did we decide"


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("yesterday", date(2026, 11, 26), date(2026, 11, 26)),
        ("last Tuesday", date(2026, 11, 24), date(2026, 11, 24)),
        ("last friday", date(2026, 11, 20), date(2026, 11, 20)),
        ("3 days ago", date(2026, 11, 24), date(2026, 11, 24)),
        ("in June 2026", date(2026, 6, 1), date(2026, 6, 30)),
        ("in December 2025", date(2025, 12, 1), date(2025, 12, 31)),
    ],
)
def test_times_are_read_from_today(said: str, first: date, last: date) -> None:
    found = named_time(f"what broke {said}", TODAY)
    assert found is not None
    assert (found.first, found.last) == (first, last)


@pytest.mark.parametrize("text", ["", "what may I do", "version 1.2.3", "31 February", "march on", "2026"])
def test_what_names_no_time_is_left_alone(text: str) -> None:
    assert named_time(text, TODAY) is None


def test_a_text_is_of_a_day_by_when_it_was_written_and_by_what_it_names() -> None:
    day = named_time("on 2 June 2026", TODAY)
    assert day is not None
    assert day.admits("anything", "2026-06-02T10:00:00.000Z")
    for text in ("due 2026-06-02", "on 2 June 2026", "June 2, 2026", "am 2. Juni 2026", "2 june"):
        assert day.admits(text, "2026-01-01T10:00:00.000Z"), text
    for text in ("12 June 2026", "2026-06-021", "June 20"):
        assert not day.admits(text, "2026-01-01T10:00:00.000Z"), text


def test_now_and_before_are_told_apart() -> None:
    assert asks_for_now("which port do we use now")
    assert asks_for_now("welcher Port gilt derzeit")
    assert asks_for_before("what was the limit originally")
    assert not asks_for_now("what was the latest limit originally")
    assert not asks_for_now("which port do we use")
    assert not asks_for_before("which port do we use")
