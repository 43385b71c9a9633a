"""A text beside the one it came from: marks where it differs, and every character of it in its place."""

from __future__ import annotations

from nuggets_tui.screens.conflict import CAME, WENT, plain_lines, version_lines


def shown(base: str, text: str, width: int = 60) -> list[str]:
    """The lines as plain text."""
    return [line.plain.rstrip() for line in version_lines(base, text)(width)]


def underlined(base: str, text: str) -> list[str]:
    """The pieces that are marked as new."""
    return [
        line.plain[span.start : span.end]
        for line in version_lines(base, text)(200)
        for span in line.spans
        if span.style == CAME
    ]


def test_new_words_are_marked_and_the_text_reads_as_it_is() -> None:
    assert shown("Redis holds sessions.", "Valkey holds all sessions.") == ["Valkey holds all sessions."]
    assert "Valkey" in underlined("Redis holds sessions.", "Valkey holds all sessions.")


def test_a_sign_stands_where_something_went() -> None:
    assert shown("one two three", "one three") == [f"one {WENT}three"]


def test_lines_stay_lines() -> None:
    assert shown("a\nb", "a\nB\n\nc") == ["a", "B", "", "c"]


def test_the_same_text_bears_no_marks() -> None:
    assert shown("a\nb", "a\nb") == ["a", "b"] == [line.plain for line in plain_lines("a\nb")(40)]


def test_texts_too_long_to_compare_by_words_are_compared_by_lines() -> None:
    base = "\n".join(f"line {number}" for number in range(2000))
    lines = shown(base, base.replace("line 1000", "line thousand"))
    assert "- line 1000" in lines
    assert "+ line thousand" in lines
    assert len(lines) < 20
