"""White space without meaning goes, white space with meaning stays, and a second time changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.text.normalise import code_lines, encodable, normalise_content, normalise_line

SPACED = st.lists(
    st.sampled_from(["", " ", "    ", "\t", "a", "  b", "    code", "```", "~~~~", "- x", "x  y ",
                     "\r\n", "\r", "\n", "`"]),
    max_size=14,
).map("\n".join)  # fmt: skip


@given(st.one_of(SPACED, st.text()))
def test_twice_is_once(text: str) -> None:
    once = normalise_content(text)
    assert normalise_content(once) == once


@given(st.one_of(SPACED, st.text()))
def test_only_white_space_is_ever_lost(text: str) -> None:
    lost = "".join(normalise_content(text).split()), "".join(text.split())
    assert lost[0] == lost[1]


BLOCKS = {
    "```\na\n```\nb": [True, True, True, False],
    "```py\n~~~\n```\nb": [True, True, True, False],
    "````\n```\n````\nb": [True, True, True, False],
    "```\nnever closed\n": [True, True, True],
    "   ```\na\n   ```": [True, True, True],
    "    ```\nb": [True, False],
    "text\n    lazy": [False, False],
    "text\n\n    code\n\n    code\n\nend": [False, False, True, True, True, False, False],
    "\tcode": [True],
    "": [False],
    "    code\n\n\n": [True, False, False, False],
}


@pytest.mark.parametrize("text", BLOCKS)
def test_fenced_and_indented_blocks_are_code(text: str) -> None:
    assert code_lines(text.split("\n")) == BLOCKS[text]


def test_yaml_python_and_tables_survive() -> None:
    for text in (
        "a:\n  b:\n    - c\n    - d: |\n        text\n",
        "def f():\n    if x:\n\n        return\n    return\n",
        "| a  | b   |\n|----|-----|\n| 1  | 2   |",
        "1. one\n   - two\n     three",
    ):
        assert normalise_content(text) == text.rstrip("\n")


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_hostile_text_passes(text: str) -> None:
    for found in (normalise_content(text), normalise_line(text)):
        assert "".join(found.split()) == "".join(encodable(text).split())
        found.encode()


@given(st.text())
def test_a_title_twice_is_once_and_holds_no_line_break(text: str) -> None:
    once = normalise_line(text)
    assert normalise_line(once) == once
    assert not set(once) & set("\r\n\t\f\v")


@pytest.mark.slow
def test_a_very_long_text_takes_no_more_than_a_moment() -> None:
    assert normalise_content("\n" * 200_000 + "x" + " " * 200_000) == "x"
    assert len(normalise_content("    code\n\n" * 50_000).split("\n")) == 99_999
    assert normalise_content("`" * 100_000) == "`" * 100_000
