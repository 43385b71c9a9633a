"""Tidying content: what may go, and everything that may not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.reflection.words import tidied

PIECES = (
    "a",
    "b",
    "- a",
    "  - a",
    "    code",
    "```",
    "# h",
    "a:",
    "k: v",
    "",
    "  ",
    "a |",
    "> a",
    "---",
    "===",
    "f(x)",
    "\ta",
)


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("milk\nmilk\n\nbread\neggs and ham\nbread", "milk\n\nbread\neggs and ham"),
        ("roses are red\n\nviolets are blue\n\nroses are red", "roses are red\n\nviolets are blue"),
        ("- one\n- two\n- one", "- one\n- two"),
        ("first line\nfirst line", "first line"),
        ("text  \r\nmore\t\n\n\n\nend\n\n", "text\nmore\n\nend"),
        ("京都\n奈良\n京都", "京都\n奈良"),
    ],
)
def test_repeated_lines_of_prose_and_lists_and_empty_white_space_go(content: str, wanted: str) -> None:
    assert tidied(content) == wanted


@pytest.mark.parametrize(
    "content",
    [
        "```python\nreturn 1\nreturn 1\n\n\nreturn 1\n```",
        "~~~\nx\nx\n~~~\ntext",
        "see\n\n    make\n    make\n    make",
        "servers:\n  host: a\n  port: 1\nclients:\n  host: b\n  port: 1",
        "host: a\nport: 1\nhost: b\nport: 1",
        "- name: x\n- name: x",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 1 | 2 |",
        "a\tb\na\tb",
        "## Monday\n- gym\n\n## Tuesday\n- gym",
        "Monday:\n- gym\nTuesday:\n- gym",
        "- one\n  - yes\n- two\n  - yes",
        "- parent\n  - first child\n- parent\n  - second child",
        "# A\n## Notes\n# B\n## Notes",
        "Title\n-----\nx\n\nTitle\n-----\nx",
        "> yes\ntext\n> yes",
        "x\n---\ny\n---",
        "if (a) {\nb();\n}\nif (c) {\nb();\n}",
        "open(door)\nwalk\nopen(door)",
    ],
)
def test_code_tables_indentation_and_structure_stay_as_they_are(content: str) -> None:
    assert tidied(content) == content


def test_a_line_with_indented_ones_below_it_is_never_dropped() -> None:
    content = "step\n  with a detail\nstep\n  with another"
    assert tidied(content) == content


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("\n".join))
def test_tidying_twice_changes_nothing_more_and_loses_no_distinct_line(content: str) -> None:
    once = tidied(content)
    assert tidied(once) == once
    lines = {line.rstrip() for line in content.split("\n")} - {""}
    if "\n" not in content.strip():
        lines = {line.strip() for line in lines}  # a text of one line has no indentation to keep
    assert set(once.split("\n")) - {""} == lines


@given(st.text(max_size=60))
def test_any_text_can_be_tidied_and_stays_tidy(content: str) -> None:
    assert tidied(tidied(content)) == tidied(content)
