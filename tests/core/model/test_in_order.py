"""When entries were made, where a clock was wrong for some of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model.in_order import times_in_order

A, B, C, D = (f"2026-11-23T0{hour}:00:00.000Z" for hour in range(1, 5))
PAST, FUTURE = "1998-01-01T00:00:00.000Z", "2036-01-01T00:00:00.000Z"
EARLIER = "2026-11-23T00:59:30.000Z"


@pytest.mark.parametrize(
    ("times", "made"),
    [
        ([A, B, C], [A, B, C]), ([A, PAST, C], [A, A, C]), ([A, B, PAST], [A, B, B]),
        ([A, PAST, PAST, B, C, D], [A, A, A, B, C, D]), ([A, FUTURE, C], [A, A, C]),
        ([A, B, FUTURE], [A, B, B]), ([A, FUTURE], [A, A]), ([PAST, A], [PAST, A]),
        ([FUTURE, A, B], [A, A, B]), ([A, EARLIER, B], [A, A, B]), ([FUTURE], [FUTURE]),
        ([], []), ([A, "no time", B], [A, A, B]),
    ],
)  # fmt: skip
def test_the_order_of_entries_rules_over_their_times(times: list[str], made: list[str]) -> None:
    assert times_in_order(times, D) == made


@given(st.lists(st.sampled_from([A, B, C, D, PAST, FUTURE, EARLIER, "no time"]), max_size=12))
def test_times_never_go_back_and_each_is_one_that_was_given(times: list[str]) -> None:
    made = times_in_order(times, D)
    assert made == sorted(made)
    assert len(made) == len(times)
    assert set(made) <= set(times)
