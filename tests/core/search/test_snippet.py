"""A snippet shows the piece of a text in which the matched words stand closest together, with their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.search import highlights, snippet

FILLER = "Nothing of the kind stands in this sentence. " * 30


def marked(content: str, *matched: str, width: int = 80) -> list[str]:
    found = snippet(content, matched, width)
    return [found.text[start:end] for start, end in found.matches]


def test_the_words_are_shown_where_most_of_them_stand_together() -> None:
    content = f"A deploy.\n\n{FILLER}\n\nThe deploy of the token service needs a key.\n\n{FILLER} key"
    found = snippet(content, ["deploy", "token", "key"], 80)
    assert found.text.startswith("…The deploy of the token service needs a key.")
    assert found.text.endswith("…")
    assert marked(content, "deploy", "token", "key") == ["deploy", "token", "key"]


def test_a_short_text_is_shown_whole_and_on_one_line() -> None:
    assert snippet("one\n\n  two\tthree ", ["two"]) == ("one two three", ((4, 7),))


def test_without_a_match_it_is_the_beginning() -> None:
    assert snippet(FILLER, []).text.startswith("Nothing of the kind")
    assert snippet(FILLER, ["absent"]).matches == ()
    assert snippet("", ["absent"]) == snippet(" \n ", []) == ("", ())


@pytest.mark.parametrize("content", [FILLER, "word" * 5_000, "漢字" * 2_000, "é" * 3_000])
def test_it_is_never_much_longer_than_asked_for(content: str) -> None:
    for matched in ([], ["sentence"], ["word" * 5_000], ["漢"]):
        assert len(snippet(content, matched, 60).text) <= 64


def test_what_is_shown_is_as_it_is_stored() -> None:
    for raw in HOSTILE:
        content = f"before {raw} after"
        assert snippet(content, ["after"], len(content)).text == " ".join(content.split())


@given(
    st.lists(
        st.sampled_from(["Deploy", "deploying", "token", "Größe", "鍵", "x", "-", "\n", "\u200b", "  "]),
        max_size=200,
    ),
    st.lists(st.sampled_from(["deploy", "token", "grosse", "größe", "鍵", "-"]), max_size=4),
    st.integers(1, 120),
)
def test_its_places_are_those_of_matched_words(words: list[str], matched: list[str], width: int) -> None:
    content = " ".join(words)
    found = snippet(content, matched, width)
    assert list(found.matches) == (highlights(found.text, matched) if matched else [])
    assert found.text.strip("…") in " ".join(content.split())
    if width > 12 and highlights(content, matched):
        assert found.matches
