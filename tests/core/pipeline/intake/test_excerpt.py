"""The part of a text that stands around what is looked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.pipeline.intake.sentences import excerpt

LONG = " ".join(f"word{number}" for number in range(1000))


def test_a_text_that_fits_is_whole() -> None:
    assert excerpt("short", ["or"], 50) == (0, 5)


def test_what_was_said_stands_in_the_middle_and_no_word_is_cut() -> None:
    span = excerpt(LONG, ["no such", "word500 word501", "word1"], 100)
    found = span.of(LONG)
    assert "word500 word501" in found
    assert 70 <= len(found) <= 100
    assert set(found.split()) <= set(LONG.split())
    assert abs(found.index("word500") - len(found) // 2) < 20


@pytest.mark.parametrize(("wording", "start"), [("word0", "word0"), ("nowhere", "word0"), ("", "word0")])
def test_the_beginning_is_shown_when_nothing_is_found(wording: str, start: str) -> None:
    assert excerpt(LONG, [wording], 60).of(LONG).startswith(start)


def test_what_stands_at_the_end_is_shown_with_what_comes_before() -> None:
    found = excerpt(LONG, ["word999"], 60).of(LONG)
    assert found.endswith("word999")
    assert len(found) > 50


def test_of_something_longer_than_the_part_its_beginning_is_shown() -> None:
    assert excerpt(LONG, [LONG[500:900]], 100).start == 500


@given(st.text("ab \n", max_size=200), st.text("ab ", max_size=20), st.integers(1, 50))
def test_a_part_is_never_longer_than_asked_and_holds_what_was_found(
    text: str, wording: str, most: int
) -> None:
    span = excerpt(text, [wording], most)
    assert 0 <= span.start <= span.end <= len(text)
    assert span.end - span.start <= most
    if wording in text and len(wording) <= most:
        assert wording in span.of(text)
