"""What leaves the command line: valid JSON, aligned lines, nothing that a terminal would obey."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets_tui.cli.output import Span, cell_width, json_text, render, shorten, table

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


@given(st.dictionaries(ANY_TEXT, st.one_of(ANY_TEXT, st.floats(allow_nan=False, allow_infinity=False))))
def test_json_comes_back_as_it_was_and_can_be_encoded(document: dict[str, object]) -> None:
    text = json_text(document)
    assert json.loads(text.encode("utf-8")) == document
    assert "\n" not in text


def test_json_escapes_what_would_act_on_a_terminal() -> None:
    assert json_text("\x9b31m\u202e\ud800\x7f\x1b é") == '"\\u009b31m\\u202e\\ud800\\u007f\\u001b é"'


def test_json_has_null_for_what_is_no_number() -> None:
    assert json.loads(json_text([float("nan"), {"a": float("inf")}, 1.5])) == [None, {"a": None}, 1.5]


@given(ANY_TEXT)
def test_a_line_is_one_line_without_control_characters(text: str) -> None:
    line = render((text, Span(text, "bad")), colour=False)
    assert "\n" not in line
    line.encode("utf-8")
    assert not [char for char in line if char != "\t" and (char < " " or "\x7f" <= char <= "\x9f")]


def test_looks_are_added_only_when_colours_are_wanted() -> None:
    assert render(Span("x", "bold"), colour=False) == "x"
    assert render(Span("x", "bold"), colour=True) == "\x1b[1mx\x1b[0m"


def test_columns_align_also_with_wide_characters() -> None:
    lines = [render(line, colour=False) for line in table([("日本", "1"), ("abcde", "22")], right=(1,))]
    assert lines == ["日本    1", "abcde  22"]
    assert {cell_width(line) for line in lines} == {9}


def test_empty_last_cells_leave_no_trailing_spaces() -> None:
    assert [render(line, colour=False) for line in table([("a", ""), ("b", "c")])] == ["a", "b  c"]


@pytest.mark.parametrize(("text", "short"), [("abcdef", "abc…"), ("abcd", "abcd"), ("日本語だ", "日…")])
def test_text_is_shortened_by_columns(text: str, short: str) -> None:
    assert shorten(text, 4) == short
