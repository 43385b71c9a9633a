"""Bars show values truthfully: right length, nothing lost, sums that add up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hostile import HOSTILE
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from nuggets_tui.widgets.bars import bar, capacity_bar, capacity_level, score_bars

EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Parts:
    vector: float = 0.0
    text: float = 0.0
    boost: float = 0.0
    matched: tuple[str, ...] = ()


def length(drawn: str) -> int:
    """Length of all bars in a text, in eighths of a cell."""
    return sum(EIGHTHS.index(char) for char in drawn if char in EIGHTHS)


@settings(deadline=None)
@given(st.floats(), st.integers(-2, 60))
def test_a_bar_has_the_width_asked_for(value: float, width: int) -> None:
    assert cell_len(bar(value, width)) == max(width, 0)


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 40))
def test_a_larger_value_never_has_a_shorter_bar(one: float, other: float, width: int) -> None:
    low, high = sorted((one, other))
    assert length(bar(low, width)) <= length(bar(high, width))


@settings(deadline=None)
@given(st.floats(0, 1, exclude_min=True, exclude_max=True), st.integers(1, 40))
def test_something_always_shows_and_only_all_is_full(value: float, width: int) -> None:
    assert 0 < length(bar(value, width)) < width * 8


@pytest.mark.parametrize(
    ("value", "drawn"),
    [
        (0.0, "    "),
        (1.0, "████"),
        (0.5, "██  "),
        (0.28, "█▏  "),
        (-1.0, "    "),
        (7.0, "████"),
        (math.nan, "    "),
    ],
)
def test_values_have_the_bars_expected(value: float, drawn: str) -> None:
    assert bar(value, 4) == drawn
    assert bar(value, 4, pad=False) == drawn.rstrip(" ")


@pytest.mark.parametrize(
    ("used", "capacity", "level"),
    [
        (0, 0, ""),
        (0, 10, ""),
        (80, 100, ""),
        (81, 100, "warning"),
        (90, 100, "warning"),
        (91, 100, "critical"),
    ],
)
def test_capacity_warns_above_80_and_90_percent(used: int, capacity: int, level: str) -> None:
    assert capacity_level(used, capacity) == level


def test_more_facts_than_capacity_fill_the_bar() -> None:
    assert capacity_bar(600, 512, 5) == "█████"
    assert capacity_bar(3, 0, 5) == "█████"
    assert capacity_level(3, 0) == "critical"
    assert capacity_bar(0, 0, 5) == "     "


@settings(deadline=None)
@given(st.floats(0, 0.5), st.floats(0, 0.4), st.floats(0, 0.1))
def test_the_bars_of_a_hit_add_up_to_its_blend(vector: float, text: float, boost: float) -> None:
    drawn = score_bars(Parts(vector, text, boost), 80).plain
    # 24 cells are a blend of 1; each bar is rounded to an eighth, and none that is above 0 vanishes.
    assert length(drawn.replace(" ", "")) == pytest.approx((vector + text + boost) * 24 * 8, abs=3)


@settings(deadline=None)
@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2), st.integers(-1, 90))
def test_score_bars_stay_within_their_width(vector: float, text: float, boost: float, width: int) -> None:
    assert score_bars(Parts(vector, text, boost, ("auth", "語" * 50)), width).cell_length <= max(width, 0)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_matched_words_are_harmless(text: str) -> None:
    shown = score_bars(Parts(0.4, 0.4, 0.1, (text,)), 70)
    assert shown.cell_length <= 70
    assert shown.plain.startswith("words ")
    assert "\x1b" not in shown.plain


def test_labels_shrink_where_there_is_little_room() -> None:
    assert score_bars(Parts(0.5, 0.25, -0.1), 60).plain.split()[::2] == ["words", "vector", "boost"]
    narrow = score_bars(Parts(0.5, 0.25, -0.1), 20).plain
    assert narrow.split()[::2] == ["w", "v", "b"]
    assert "b -" in narrow
