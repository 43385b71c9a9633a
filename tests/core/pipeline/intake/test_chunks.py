"""Windows of a long text: nothing is left out, nothing is cut that belongs together, the size is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.hostile import HOSTILE
from kits.laws import examples

from core.pipeline.intake.sentences import chunks, next_chunk

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "chunking.json").read_text("utf-8"))
FAMILY = "👨‍👩‍👧‍👦"
PARTS = st.sampled_from(
    ["word ", "a", "\n", "\n\n", "\r\n", ". ", "# Title\n", "  ", "é", "e\u0301", FAMILY, "🇩🇪", "한", "\u1112\u1161",
     "क्ष", "東京。", "x" * 40, "-", "\u2028", *(one for one in HOSTILE if len(one) < 100)]
)  # fmt: skip
TEXTS = st.lists(PARTS, max_size=60).map("".join)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vectors_of_chunking(vector: dict[str, Any]) -> None:
    asked = vector["input"]
    found = chunks("x" * asked["length"], asked["size"], asked["overlap"])
    assert [list(window) for window in found] == vector["expected"]["ranges"]


@settings(max_examples=examples(200))
@given(TEXTS, st.integers(1, 300), st.integers(0, 400))
def test_windows_hold_everything_keep_their_size_and_move_on(text: str, size: int, overlap: int) -> None:
    found = list(chunks(text, size, overlap))
    assert bool(found) == bool(text.strip())
    ended = 0
    for window in found:
        assert 0 < window.end - window.start <= size
        assert window.start <= ended < window.end
        assert ended - window.start <= min(overlap, size // 2)
        ended = window.end
    assert not text[ended:].strip()
    # Whoever goes on after a crash cuts the same windows.
    for place, window in enumerate(found):
        assert list(chunks(text, size, overlap, start=window.end)) == found[place + 1 :]


def test_a_text_that_fits_is_one_window_and_a_blank_one_is_none() -> None:
    assert list(chunks("short", 200, 50)) == [(0, 5)]
    assert list(chunks(" \n\t ", 200, 50)) == []
    assert next_chunk("done.   \n", 5, 200, 50) is None


@pytest.mark.parametrize(
    ("tail", "ends"),
    [
        ("one two. three\n\nfour five\n# Head\nsix", "five\n"),
        ("one two. three\n\nfour five six", "three\n\n"),
        ("one two. three\nfour five six", "three\n"),
        ("one two. Three four five six", "two. "),
        ("one two three four five six", "five "),
        ("東京に住む。大阪に行く", "住む。"),
    ],
)
def test_a_window_ends_at_the_best_boundary_near_its_end(tail: str, ends: str) -> None:
    text = "x" * 400 + " " + tail
    first = next_chunk(text, 0, 401 + len(tail) - 2, 0)
    assert first is not None
    assert text[: first.end].endswith(ends)


def test_no_grapheme_is_cut() -> None:
    for shift in range(4):
        for cluster in ["e\u0301", FAMILY, "👍🏽", "\r\n"]:
            text = "x" * shift + cluster * 60
            for overlap in (0, 7):
                for window in chunks(text, 40, overlap):
                    for edge in window:
                        assert (edge - shift) % len(cluster) == 0 or edge <= shift


def test_a_window_begins_with_a_whole_sentence_or_word_of_the_one_before() -> None:
    text = "".join(f"Sentence number {number} says something. " for number in range(100))
    for window in list(chunks(text, 500, 100))[1:]:
        assert text[window.start :].startswith("Sentence number")
    words = "".join(f"word{number} " for number in range(400))
    assert all(words[window.start :].startswith("word") for window in chunks(words, 500, 100))


def test_a_letter_under_thousands_of_marks_and_a_line_of_a_megabyte_are_cut_in_time() -> None:
    for text in (
        "a" + "\u0301" * 50_000,
        "\n" * 200_000 + "x",
        " " * 200_000 + "x",
        "🇩" * 20_000,
        "#" * 300_000,
    ):
        for window in chunks(text, 2_000, 200):
            assert window.end - window.start <= 2_000
