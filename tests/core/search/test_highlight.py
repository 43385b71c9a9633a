"""Matched words are marked where they stand, in characters of the text as it is stored."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model.note import Note
from core.search import SearchIndex, highlights

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]


@pytest.mark.parametrize(
    ("text", "matched", "marked"),
    [
        ("We deploy, they are Deploying.", ("deploy",), ["deploy", "Deploying"]),
        ("Im CAFE\u0301 und im Café", ("cafe",), ["CAFE\u0301", "Café"]),
        ("京都の秋は", ("京都",), ["京都"]),
        ("日本語です", ("日本", "本語"), ["日本語"]),
        ("set userName and user", ("username",), ["userName"]),
        ("docs/run_book.md", ("book",), ["book"]),
        ("espresso ☕ and ☕", ("☕",), ["☕", "☕"]),
        ("straße", ("strasse",), ["straße"]),
        ("start", ("art",), []),
        ("", ("art",), []),
        ("kettle", (), []),
        ("a\u0001kettle\ud800", ("kettle",), ["kettle"]),
    ],
)
def test_marks(text: str, matched: tuple[str, ...], marked: list[str]) -> None:
    assert [text[start:end] for start, end in highlights(text, matched)] == marked


@given(st.text(), st.lists(st.text(max_size=5), max_size=4))
def test_marks_lie_in_the_text_and_never_overlap(text: str, matched: list[str]) -> None:
    place = 0
    for start, end in highlights(text, matched):
        assert place <= start < end <= len(text)
        place = end


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("deploying", ["deploy"]),
        ("stag", ["staging"]),
        ("stagnig", ["staging"]),
        ("deploy to stag", ["deploy", "staging"]),
        ("☕", ["☕"]),
        ("cafe", ["Café"]),
    ],
)
def test_what_a_hit_matched_can_be_marked(
    make_note: MakeNote, make_index: MakeIndex, query: str, marked: list[str]
) -> None:
    text = "First deploy to staging, then ☕ in the Café."
    (hit,) = make_index(make_note("plan", text)).result(query).hits
    assert [text[start:end] for start, end in highlights(text, hit.breakdown.matched)] == marked
