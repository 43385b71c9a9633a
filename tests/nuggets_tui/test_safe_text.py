"""Stored text becomes harmless display text, and measures as it says."""

from __future__ import annotations

import ast
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.hostile import HOSTILE
from rich.cells import cell_len, set_cell_size
from textual.content import Content

import nuggets_tui
from nuggets_tui.safe_text import content, cut, fit, plain, safe_block, safe_content, safe_line

MEGABYTE = "wide 語 and [/x] " * 70_000
TEXTS = (*HOSTILE, MEGABYTE)
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


def obeyed(char: str) -> bool:
    """Whether a terminal may obey or reorder by a character, or cannot encode it."""
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in BIDI


@settings(deadline=None)
@given(any_text)
def test_nothing_a_terminal_obeys_is_left_in_a_line(text: str) -> None:
    assert not any(obeyed(char) for char in safe_line(text))


@settings(deadline=None)
@given(any_text)
def test_blocks_keep_newlines_and_tabs_and_nothing_else_that_is_obeyed(text: str) -> None:
    shown = safe_block(text)
    assert not any(obeyed(char) for char in shown if char not in "\n\t")
    assert shown.count("\n") == text.count("\n")
    assert shown.count("\t") == text.count("\t")


@settings(deadline=None)
@given(any_text)
def test_output_can_be_encoded_and_replacing_twice_changes_nothing(text: str) -> None:
    plain(text).encode()
    assert plain(plain(text)) == plain(text)


@pytest.mark.parametrize(
    "text", ["naïve – 語 “quotes” €", "e\u0301", "👩‍👩‍👧 👩‍💻 ❤️‍🔥 1️⃣", "می‌خواهم", "葛󠄀", "क्‍ष"]
)
def test_text_that_means_something_is_left_alone(text: str) -> None:
    assert plain(text) == text
    assert safe_line(text) == text


def test_what_only_hides_becomes_visible() -> None:
    for text in [
        "a\u200bb",
        "pass\u200dword",
        "pay\u00adpal",
        "x\u2060y",
        "\ufeffx",
        "a\u3164b",
        "ab\u200c",
        "\u200dx",
        "😀\ufe0f\ufe01\ufe02",
        "a\U000e0101",
        "\U000e0068\U000e0069",
        "a\u2028b",
    ]:
        assert "\ufffd" in plain(text)


@settings(deadline=None)
@given(any_text, st.integers(-1, 40))
def test_fitting_gives_exactly_the_cells_asked_for(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) == max(width, 0)
    assert cell_len(cut(text, width)) <= max(width, 0)


def test_hostile_text_fits_too() -> None:
    for width in [0, 1, 2, 7, 80]:
        for text in TEXTS:
            assert cell_len(fit(text, width)) == width


# What lies before a sign may depend on what comes behind it: marks, joiners, selectors, letters that join, flags.
_SIGNS = (
    "a",
    " ",
    "語",
    "\u0301",
    "\u200d",
    "\ufe0f",
    "👩",
    "👧",
    "❤",
    "ب",
    "\u1161",
    "\u0e33",
    "🇩",
    "🇪",
    "\t",
)


@settings(deadline=None)
@given(st.lists(st.sampled_from(_SIGNS), max_size=60).map("".join), st.integers(1, 40))
def test_a_line_is_cut_as_if_all_of_it_were_measured(text: str, width: int) -> None:
    line = safe_line(text)
    short = cell_len(line) <= width
    assert cut(text, width) == (line if short else set_cell_size(line, width - 1).rstrip(" ") + "…")


def test_content_is_never_read_as_markup() -> None:
    for text in TEXTS:
        assert content(text, "bold").plain == safe_line(text)


def test_styles_survive_when_content_is_made_harmless() -> None:
    shown = safe_content(Content.assemble(("a\x1b", "bold"), "\n", ("b\tc", "italic")))
    assert shown.plain == "a\ufffd b c"
    assert [(span.start, span.end, span.style) for span in shown.spans] == [(0, 2, "bold"), (3, 6, "italic")]
    harmless = Content("abc")
    assert safe_content(harmless) is harmless


@pytest.mark.slow
def test_the_command_line_gets_it_without_textual() -> None:
    code = (
        "import sys, nuggets_tui.safe_text as t; t.fit(t.plain('a\\x1b'), 4); print('textual' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.slow
def test_nothing_is_typed_into_a_field_that_draws_it_raw() -> None:
    raw = [
        (path.name, node.lineno)
        for path in Path(nuggets_tui.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("Input", "TextArea")
    ]
    assert raw == []
