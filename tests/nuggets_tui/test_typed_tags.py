"""Tags as people type them: one sign before a tag goes, those that a note bears so stay."""

from __future__ import annotations

import pytest

from nuggets_tui.screens.typed import split_tags


@pytest.mark.parametrize(
    ("typed", "tags"),
    [
        ("#four, +bulk plain", ["four", "bulk", "plain"]),
        ("##two c++ c#", ["#two", "c++", "c#"]),
        ("# +", ["#", "+"]),
    ],
)
def test_one_leading_sign_is_taken_off(typed: str, tags: list[str]) -> None:
    assert split_tags(typed) == tags
