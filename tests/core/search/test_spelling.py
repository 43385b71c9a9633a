"""A word that nobody wrote is read as those it was meant to be, never as just any other."""

from __future__ import annotations

import pytest

from core.search.spelling import neighbours

KNOWN = sorted(
    ["postgres", "deployed", "gateway", "kubernetes", "mailing", "mouse", "connect", "connector", "conf"]
)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("postrges", "postgres"), ("depolyed", "deployed"), ("gatway", "gateway"), ("kuberntes", "kubernetes"),
     ("konnector", "connector")],
)  # fmt: skip
def test_a_slip_is_understood(word: str, meant: str) -> None:
    assert neighbours(word, KNOWN, unfinished=False)[0][0] == meant


@pytest.mark.parametrize("word", ["sailing", "house", "volcano", "tea", "", "x", "zzzzzzzz", "pos"])
def test_another_word_is_not(word: str) -> None:
    assert neighbours(word, KNOWN, unfinished=False) == []


def test_a_word_being_typed_stands_for_those_it_begins() -> None:
    found = dict(neighbours("conn", KNOWN, unfinished=True))
    assert set(found) == {"connect", "connector"}
    assert found["connect"] > found["connector"]
    assert all(0 < likeness <= 1 for likeness in found.values())
    assert neighbours("co", KNOWN, unfinished=True) == []
