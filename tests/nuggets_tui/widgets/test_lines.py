"""Lines made of notes: Markdown, differences, rows of facts."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from core.model.change import NoteChange
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Link, Note
from nuggets_tui.widgets.facts import FactRows
from nuggets_tui.widgets.line_view import CHARACTERS, markdown_lines, note_change_lines
from nuggets_tui.widgets.row_text import cut_middle


def plain(text: str, width: int = 40) -> list[str]:
    """Markdown as plain lines."""
    return [line.plain.rstrip() for line in markdown_lines(text, width)]


def test_paragraphs_keep_their_lines_and_wrap_at_the_width() -> None:
    assert plain("one\ntwo") == ["one", "two"]
    assert plain("word " * 12, 20) == ["word word word word", "word word word word", "word word word word"]


def test_lists_nest_and_indent() -> None:
    assert plain("- one\n- two\n  - three\n\n3. a\n4. b") == [
        "• one", "• two", "  ◦ three", "", "3. a", "4. b",
    ]  # fmt: skip


def test_code_keeps_every_space_and_breaks_only_where_it_must() -> None:
    assert plain("```yaml\na:\n    - b   c\n```") == ["│ a:", "│     - b   c"]
    assert plain("```\n" + "x" * 50 + "\n```", 40) == ["│ " + "x" * 38, "│ " + "x" * 12]


def test_wide_characters_stay_within_the_width() -> None:
    for line in markdown_lines("日本語の長いノートです。" * 10, 21):
        assert line.cell_length <= 21


@pytest.mark.slow
def test_a_long_text_is_cut_and_says_so() -> None:
    lines = plain("word\n" * CHARACTERS)
    assert "cut here" in lines[-1]
    assert f"{5 * CHARACTERS:,}" in lines[-1]


def _note(**fields: object) -> Note:
    return Note(id="n", nugget_name="p", title="T", content="a\nb\nc", **fields)  # type: ignore[arg-type]


def _diff(before: Note | None, after: Note | None) -> list[str]:
    change = NoteChange(id="n", before=before, after=after)
    return [line.plain for line in note_change_lines(change, title_of=lambda id: f"title of {id}")]


def test_differences_bear_signs_beside_their_colour() -> None:
    after = Note(
        id="n", nugget_name="p", title="T", content="a\nB\nc", tags=("x",), links=(Link(to="m", reason="r"),)
    )
    lines = _diff(_note(), after)
    assert lines[0] == "T"
    assert "- b" in lines
    assert "+ B" in lines
    assert "+ tag x" in lines
    assert '+ link to "title of m" (r)' in lines


def _nugget(name: str, *keys: str) -> Nugget:
    facts = tuple(Fact(key=key, value="v") for key in keys)
    return Nugget(meta=NuggetMeta(name=name), facts=facts)


def test_fact_rows_are_headings_and_facts_in_order() -> None:
    rows = FactRows((_nugget("a", "x", "y"), _nugget("b"), _nugget("c", "z")))
    assert rows.count == 6
    assert [rows.at(index)[0].name for index in range(6)] == ["a", "a", "a", "b", "c", "c"]
    assert [rows.row(index).selectable for index in range(6)] == [False, True, True, False, False, True]
    assert len({rows.key(index) for index in range(6)}) == 6


def test_a_text_cut_in_the_middle_fits() -> None:
    for width in [0, 1, 5, 8, 13, 30]:
        for text in ["", "short", "日本語の長い見出しがここにある", "e\u0301" * 40, "a\x1b[31mb" * 9]:
            assert cell_len(cut_middle(text, width)) <= width
