"""Lines made of notes: Markdown, differences, rows of facts."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.content import Content

from core.model.change import NoteChange
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Link, Note
from nuggets_tui.widgets.diff_lines import diff_text_lines, note_change_lines, text_difference
from nuggets_tui.widgets.facts import FactRows
from nuggets_tui.widgets.markdown_lines import CHARACTERS, markdown_lines
from nuggets_tui.widgets.row_text import cut_middle, with_reasons


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


def test_quotes_tables_links_and_pictures_read_as_text() -> None:
    assert plain("> said") == ["▎ said"]
    assert plain("| a | b |\n|---|---|\n| 1 | two |") == ["a │ b", "──┼────", "1 │ two"]
    assert plain("[here](http://x.y) and <http://z.y>") == ["here (http://x.y) and http://z.y"]
    assert plain("![a cat](cat.png)") == ["[picture: a cat]"]
    assert plain("<b>raw</b>") == ["<b>raw</b>"]


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


def test_whole_notes_come_and_go_whole() -> None:
    assert _diff(None, _note())[1:] == ["+ the whole note", "+ a", "+ b", "+ c"]
    assert _diff(_note(), None)[1:] == ["- the whole note", "- a", "- b", "- c"]
    assert "+ hidden from search and recall" in _diff(_note(), _note(hidden=True))


def test_a_unified_difference_is_shown_without_its_places() -> None:
    shown = [line.plain for line in diff_text_lines(["@@ -1 +1 @@", "-a", "+b", " c"])]
    assert shown == ["- a", "+ b", "  c"]
    assert [line.plain for line in diff_text_lines(["@@ -9 +9 @@", "-a"])] == ["⋯", "- a"]
    assert text_difference("same", "same") == []


def _nugget(name: str, *keys: str) -> Nugget:
    facts = tuple(Fact(key=key, value="v") for key in keys)
    return Nugget(meta=NuggetMeta(name=name), facts=facts)


def test_fact_rows_are_headings_and_facts_in_order() -> None:
    rows = FactRows((_nugget("a", "x", "y"), _nugget("b"), _nugget("c", "z")))
    assert rows.count == 6
    assert [rows.at(index)[0].name for index in range(6)] == ["a", "a", "a", "b", "c", "c"]
    assert [rows.row(index).selectable for index in range(6)] == [False, True, True, False, False, True]
    assert len({rows.key(index) for index in range(6)}) == 6


def test_keys_keep_their_names_whatever_stands_beside_them() -> None:
    for others in ((), ("learned: retry",), ("port", "owner")):
        line = FactRows((_nugget("a", "learned: skip locked", *others),)).row(1).lines[0]
        assert callable(line)
        assert line(40).plain.startswith("learned: skip locked  v")


def test_a_long_key_keeps_beginning_and_end_and_leaves_the_value_room() -> None:
    line = FactRows((_nugget("a", "learned: skip locked rows when claiming"),)).row(1).lines[0]
    assert callable(line)
    key, _, value = line(30).plain.partition("  ")
    assert key.startswith("learn")
    assert key.endswith("claiming")
    assert len(key) <= 18
    assert value.startswith("v")


def test_a_text_cut_in_the_middle_fits() -> None:
    for width in [0, 1, 5, 8, 13, 30]:
        for text in ["", "short", "日本語の長い見出しがここにある", "e\u0301" * 40, "a\x1b[31mb" * 9]:
            assert cell_len(cut_middle(text, width)) <= width


def test_a_title_keeps_half_of_a_row_beside_reasons() -> None:
    line = with_reasons(
        Content("A title that is a good deal longer"), ("untagged", "unlinked", "never recalled")
    )
    assert line(45).plain.startswith("A title that is a good")
    assert line(45).plain.endswith("… untagged · unlinked")
    assert with_reasons(Content("Short"), ("untagged", "unlinked"))(20).plain.startswith("Short")


def test_a_full_nugget_says_so_under_its_name() -> None:
    meta = NuggetMeta(name="full", D=64, banks=1)
    nugget = Nugget(meta=meta, facts=tuple(Fact(key=str(n), value="v") for n in range(8)))
    rows = FactRows((nugget,))
    assert len(rows.row(0).lines) == 2
    assert callable(rows.height)
    assert rows.height(0) == 2
    assert rows.height(1) == 1


def test_the_name_of_a_nugget_is_whole_where_a_shorter_bar_makes_room_for_it() -> None:
    nugget = Nugget(
        file="learnings.nugget.json", meta=NuggetMeta(name="learnings"), facts=(Fact(key="a", value="b"),)
    )
    heading = FactRows((nugget,)).row(0).lines[0]
    assert callable(heading)
    for width in (20, 24, 40):
        assert "learnings " in heading(width).plain
        assert "1/" in heading(width).plain


def test_a_narrow_row_of_a_fact_gives_its_room_to_the_value() -> None:
    facts = (Fact(key="test command", value="pytest -q", hits=4),)
    rows = FactRows((Nugget(file="p.nugget.json", meta=NuggetMeta(name="p"), facts=facts),))
    line = rows.row(1).lines[0]
    assert callable(line)
    assert "4×" in line(40).plain
    assert "4×" not in line(20).plain
