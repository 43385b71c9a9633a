"""Pieces of rows keep their width in cells, and cut no character in two, whatever is written."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from kits.hostile import RAW
from kits.laws import examples
from rich.cells import cell_len, split_graphemes

from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.widgets.row_text import columns, cut_middle, sides, with_reasons

# Families, flags, skin tones, keycaps, stacked accents, scripts whose letters join, halves and doubles of width.
PICTURES = (
    "👩‍👩‍👧",
    "🇩🇪",
    "👍🏽",
    "❤️",
    "1️⃣",
    "e\u0301\u0301",
    "ที่",
    "क्षि",
    "\u1112\u1161\u11ab",
    "日",
    "ｱ",
    "ש",
    "می\u200cخ",
)
texts = st.lists(st.sampled_from([*PICTURES, "a", " ", "-", "\u200b", "\u200d", "\u202e"]), max_size=30).map(
    "".join
)
widths = st.integers(0, 40)


def whole(shown: str, text: str) -> bool:
    """Whether each character of a cut text is one of the text it was cut from."""
    return pieces(shown.replace("…", "")) <= pieces(safe_line(text)) | {" "}


def pieces(text: str) -> set[str]:
    return {text[start:end] for start, end, _ in split_graphemes(text)[0]}


@given(texts, texts, widths)
def test_a_line_of_two_sides_never_passes_its_width(left: str, right: str, width: int) -> None:
    for line in (
        sides(content(left), content(right)),
        with_reasons(content(left), ["untagged", "unlinked"]),
        columns(content(left), content(right), content("×3"), wanted=cell_len(left)),
    ):
        shown = line(width)
        assert cell_len(shown.plain) <= width
        assert not RAW.search(shown.plain)


@given(texts, texts)
def test_the_right_side_stands_at_the_end_of_the_line(left: str, right: str) -> None:
    aside = content(right)
    if aside.cell_length and aside.cell_length + 5 <= 60:
        shown = sides(content(left), aside)(60).plain
        assert shown.endswith(safe_line(right))
        assert cell_len(shown) == 59


@given(texts, widths)
@settings(max_examples=examples(300))
def test_a_text_cut_in_its_middle_keeps_whole_characters(text: str, width: int) -> None:
    shown = cut_middle(text, width)
    assert cell_len(shown) <= width
    assert whole(shown, text)


def test_a_flag_is_not_cut_into_another_one() -> None:
    for width in range(8, 16):
        shown = cut_middle("🇩🇪" * 20, width)
        head, _, tail = shown.partition("…")
        assert head == "🇩🇪" * (len(head) // 2)
        assert tail == "🇩🇪" * (len(tail) // 2)
