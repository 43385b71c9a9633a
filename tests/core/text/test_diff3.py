"""Two versions of a text, brought together by lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.text.diff3 import merged_lines

LINES = st.lists(st.sampled_from(["a", "b", "", "c", "d"]), max_size=8).map("\n".join)


def test_changes_of_other_lines_go_together() -> None:
    assert merged_lines("a\nb\nc\nd\ne", "A\nb\nc\nd\ne", "a\nb\nc\nd\nE\nf") == "A\nb\nc\nd\nE\nf"
    assert merged_lines("a\nb\nc", "b\nc", "a\nb\nc\nd") == "b\nc\nd"


def test_changes_of_the_same_line_or_the_next_do_not() -> None:
    assert merged_lines("a\nb", "x\nb", "y\nb") is None
    assert merged_lines("a\nb", "x\nb", "a\ny") is None


@given(base=LINES, other=LINES)
def test_what_one_side_left_alone_is_the_other(base: str, other: str) -> None:
    assert merged_lines(base, base, other) == other
    assert merged_lines(base, other, base) == other
    assert merged_lines(base, other, other) == other


@given(base=LINES, ours=LINES, theirs=LINES)
def test_whose_changes_come_first_makes_no_difference(base: str, ours: str, theirs: str) -> None:
    assert merged_lines(base, ours, theirs) == merged_lines(base, theirs, ours)
