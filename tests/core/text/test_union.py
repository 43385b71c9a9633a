"""Merging two texts: every line of both, and no line without what gives it its meaning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.normalise import normalise_content, squeeze
from core.text.union import merged_content


def test_of_a_flat_list_only_the_new_lines_are_added() -> None:
    first = "1. freeze on Monday\n2. tag v1.4.0\n3. deploy to staging\n4. deploy to production"
    second = "1. freeze on Monday\n2. tag v1.4.0\n5. write the changelog"
    assert merged_content(first, second) == first + "\n5. write the changelog"


@pytest.mark.parametrize(
    ("first", "block"),
    [
        ("steps:\n1. stop\n2. start", "rollback:\n1. stop\n2. restore"),
        ("步骤：\n1. 停止\n2. 开始", "回滚：\n1. 停止\n2. 恢复"), ("a:\n  x: 1\n  w: 0", "z:\n  x: 1\n  y: 2"),
        ("z:\n  w: 0\n  x: 1\ny: 2\n  y: 2", "z:\n  x: 1\n  y: 2"),
        ("## Steps\n\n1. stop\n2. start", "## Rollback\n\n1. stop\n2. restore"),
        ("Steps:\n\n1. stop\n2. start", "Rollback:\n\n1. stop\n2. restore"),
        ("- fruit\n  - apple\n- tree", "- tree\n  - apple\n  - oak"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| c | d |\n|---|---|\n| 1 | 2 |"),
        ("a | b\n--|--\n1 | 2", "c | d\n--|--\n1 | 2"),
        ("return\nelse:\nif x:", "```py\nif x:\n\n\n    return\nelse:\n    return\n```"),
        ("return\nelse:\nif x:", "text\n\n    if x:\n        return\n\n    else:\n        return"),
        ("return", "~~~\nreturn\n~~~"),
    ],
)  # fmt: skip
def test_lines_stay_with_what_gives_them_their_meaning(first: str, block: str) -> None:
    merged = merged_content(first, block)
    assert merged.startswith(first)
    assert merged.endswith(block)
    assert merged_content(merged, block) == merged


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("z:\n  x: 1\n  y: 2\nlast", "z:\n  x: 1"),
        ("one\n\n```\na\n\nb\n```\n\ntwo", "two\n\n```\na\n\nb\n```"), ("a\nb\nc", "c\n\na"),
        ("  kept  as it is \n", "kept as it is"), ("text", ""), ("", ""),
    ],
)  # fmt: skip
def test_what_the_first_text_has_is_not_said_again(first: str, second: str) -> None:
    assert merged_content(first, second) == first


def test_what_is_added_keeps_apart_from_tables_and_code() -> None:
    assert merged_content("| a |\n|---|\n| 1 |", "plain") == "| a |\n|---|\n| 1 |\n\nplain"
    merged = merged_content("first", "new\n\n    code\n\nlast")
    assert merged == "first\n\nnew\n\n    code\n\nlast"


@pytest.mark.parametrize(
    ("first", "second", "between"),
    [("One.\nDeploys are on Friday.", "Ask Anna.", "\n\n"), ("- ham\n- eggs", "- milk", "\n"), ("eggs", "milk", "\n")],
)  # fmt: skip
def test_paragraphs_keep_a_blank_line_between_them_and_items_of_a_list_none(
    first: str, second: str, between: str
) -> None:
    assert merged_content(first, second) == first + between + second


def test_an_empty_text_takes_the_other_as_it_is_stored() -> None:
    assert merged_content("", "  a  \n") == "a"


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PIECES = st.sampled_from(
    ["", "", "a", "b", "  a", "    a", "\ta", "a:", "b：", "# a", "```", "~~~", "````", "| a |", "|--|", "- a",
     "  - a", "1. a", " ", "\u00a0", "a\r", "\x0c"]
)  # fmt: skip
TEXTS = st.lists(WORDS | PIECES, max_size=10).map("\n".join)


def _lines(text: str) -> set[str]:
    return {squeeze(line) for line in normalise_content(text).split("\n") if squeeze(line)}


@given(TEXTS, TEXTS)
def test_every_line_of_both_is_in_the_merged_text_and_merging_again_changes_nothing(
    first: str, second: str
) -> None:
    merged = merged_content(first, second)
    assert _lines(merged) == _lines(first) | _lines(second)
    assert merged_content(merged, second) == merged
    assert merged_content(merged, first) == merged
    if first.strip():
        assert normalise_content(merged).startswith(normalise_content(first))
