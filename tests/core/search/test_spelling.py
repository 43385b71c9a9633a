"""A word that nobody wrote is read as those it was meant to be, never as just any other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search.terms import beginnings, forms, may_be_begun, misspelt

KNOWN = sorted(
    ["postgres", "deployed", "gateway", "kubernetes", "mailing", "mouse", "connect", "connector", "conf",
     "configuration", "config", "の秋", "秋は", "물은"]
)  # fmt: skip
WORD = st.text(st.sampled_from("abcon秋물é\ud800"), max_size=9)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("postrges", "postgres"), ("depolyed", "deployed"), ("gatway", "gateway"), ("kuberntes", "kubernetes"),
     ("konnector", "connector")],
)  # fmt: skip
def test_a_slip_is_understood(word: str, meant: str) -> None:
    assert misspelt(word, KNOWN)[0][0] == meant


@pytest.mark.parametrize("word", ["sailing", "house", "volcano", "tea", "", "x", "zzzzzzzz", "pos", "con"])
def test_another_word_is_not(word: str) -> None:
    assert misspelt(word, KNOWN) == []


def test_a_word_being_typed_stands_for_those_it_begins_the_shortest_first() -> None:
    assert [word for word, _ in beginnings("conn", KNOWN)] == ["connect", "connector"]
    assert len(beginnings("co", KNOWN)) == 5
    assert [word for word, _ in beginnings("물", KNOWN)] == ["물은"]
    assert beginnings("c", KNOWN) == []


def test_forms_of_a_word_begin_alike() -> None:
    assert [word for word, _ in forms("configure", KNOWN)] == ["config", "configuration"]
    assert forms("con", KNOWN) == []
    assert forms("connection", KNOWN, 0.95) == []


@given(WORD, st.lists(WORD, unique=True, max_size=30).map(sorted))
def test_what_is_found_is_known_and_never_the_word_itself(word: str, known: list[str]) -> None:
    for found in (forms(word, known), beginnings(word, known), misspelt(word, known)):
        names = [name for name, _ in found]
        assert set(names) <= set(known) - {word}
        assert len(set(names)) == len(names) <= 8
        assert all(0 < likeness <= 1 for _, likeness in found)
        assert [likeness for _, likeness in found] == sorted((one for _, one in found), reverse=True)


@pytest.mark.parametrize(
    ("word", "expected"), [("migra", True), ("prod", True), ("mig", False), ("v123", False)]
)
def test_only_letters_enough_may_be_a_word_half_typed_anywhere(word: str, expected: bool) -> None:
    assert may_be_begun(word) is expected
