"""Bars show values truthfully: right length, nothing lost, sums that add up."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from kits.hostile import HOSTILE
from rich.cells import cell_len
from textual.content import Content

from nuggets_tui.safe_text import content, cut
from nuggets_tui.widgets.row_text import bar, score_bars, stacked

EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Parts:
    vector: float = 0.0
    text: float = 0.0
    boost: float = 0.0


def length(drawn: str) -> int:
    """Length of all bars in a text, in eighths of a cell."""
    return sum(EIGHTHS.index(char) for char in drawn if char in EIGHTHS)


@settings(deadline=None)
@given(st.floats(0, 1, exclude_min=True, exclude_max=True), st.integers(1, 40))
def test_something_always_shows_and_only_all_is_full(value: float, width: int) -> None:
    assert 0 < length(bar(value, width)) < width * 8


@settings(deadline=None)
@given(
    st.builds(Parts, *([st.floats(-2, 2) | st.just(math.nan)] * 3)),
    st.integers(-1, 120),
    st.sampled_from(HOSTILE),
)
def test_score_bars_stay_within_their_width(parts: Parts, width: int, text: str) -> None:
    def words(room: int) -> Content:
        return content(cut(text, room))

    assert score_bars(parts, width, words).cell_length <= max(width, 0)


@settings(deadline=None)
@given(st.lists(st.floats(0, 0.5), max_size=5), st.integers(0, 60))
def test_bars_that_begin_where_others_end_meet_and_together_are_the_whole(
    values: list[float], width: int
) -> None:
    start, ends = 0.0, 0
    for value in values:
        drawn = stacked([(value, "")], width, 2.5, start).plain
        assert cell_len(drawn) <= width
        if "█" in drawn:
            assert len(drawn) - len(drawn.lstrip(" ")) == ends
            ends = len(drawn)
        start += value
    assert stacked([(value, "") for value in values], width, 2.5).plain.count("█") == ends
