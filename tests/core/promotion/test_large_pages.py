"""A MEMORY.md of any size and content is read in a time that grows with its size."""

from __future__ import annotations

from time import process_time

import pytest

from core.text.memory_page import MarkdownPage, split_lines
from core.text.wiki import with_renamed_links


@pytest.mark.slow
@pytest.mark.parametrize("start", ["", "- ** [[a]] <!-- "])
@pytest.mark.parametrize(
    "piece", ["---\n", "===\n", "a\n---\n", "<!--", "-->", "`", "`` ` ", "**", "# a\n", "[[a|"]
)
def test_no_page_takes_a_time_that_grows_with_its_square(start: str, piece: str) -> None:
    def seconds(size: int) -> float:
        text = start + piece * (size // len(piece))
        begun = process_time()
        MarkdownPage(split_lines(text))
        with_renamed_links(text, "a", "b")
        return process_time() - begun

    # A square would be 64 times as long.
    assert seconds(1 << 19) < 30 * max(seconds(1 << 16), 0.02)


def test_a_rule_below_an_underlined_heading_is_no_second_one() -> None:
    page = MarkdownPage(split_lines("One\n---\nTwo\n===\n\n---\n\n- a\n---\n"))
    assert [(one.level, one.name) for one in page.headings] == [(2, "One"), (1, "Two")]
