"""The preview shows the Markdown of what is written, of a long text the part around the cursor."""

from __future__ import annotations

from nuggets_tui.screens.editor import Preview, previewed


def plain(preview: Preview) -> list[str]:
    return [line.plain for line in preview.lines]


def test_a_short_text_is_shown_whole_with_the_cursor_in_sight() -> None:
    text = "# Head\n\n" + "\n\n".join(f"- item {number}" for number in range(100))
    shown = previewed(text, 150, 40)
    assert plain(shown)[0] == "Head"
    assert "item 71" in plain(shown)[shown.place - 3 : shown.place + 4].__str__()


def test_a_long_text_is_shown_around_the_cursor() -> None:
    paragraphs = [f"Paragraph {number} says **this**." for number in range(5_000)]
    text = "\n\n".join(paragraphs)
    shown = previewed(text, 2 * 3_000, 60)
    near = plain(shown)[shown.place - 12 : shown.place + 13]
    assert "Paragraph 3000 says this." in near
    assert sum(map(len, plain(shown))) < 20_000


def test_a_part_that_begins_inside_of_code_is_read_as_such() -> None:
    text = "Before.\n\n```\n" + "code line here\n\n" * 800 + "```\n\nAfter **it**.\n" + "word " * 2_000
    line = text[: text.index("After")].count("\n")
    shown = plain(previewed(text, line, 60, most=4_000))
    assert "After it." in shown
