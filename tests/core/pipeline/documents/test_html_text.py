"""The text of pages: what people read of them, and nothing of scripts, however the page is written."""

from __future__ import annotations

import time

import pytest

from core.pipeline.documents.html_text import html_text


def test_blocks_stand_apart_and_what_is_no_text_is_left_out() -> None:
    for page, text in [
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<nav>Home <a href=/>All</a></nav><p>Said.</p>", "Said."),
        (
            "<p>Said.<nav>menu that is never closed<p>and more",
            "Said.\n\nmenu that is never closed\n\nand more",
        ),
        ("<script>if (a < b) x('</p>')</script>Said.", "Said."),
        ("<p>Said.<script>steal()", "Said."),
        ("<style>p{}</style><template>x</template><svg><text>y</text></svg>Said.", "Said."),
        ("<a title='x > y' href=z>link</a> after", "link after"),
        ("a < b and b <3", "a < b and b <3"),
        ("&amp;lt;b&amp;gt;", "&lt;b&gt;"),
        ("<h2>Head</h2><ul><li>one<li>two</ul>", "## Head\n\n- one\n- two"),
        ("<pre>  def f():\n      pass</pre>", "def f():\n      pass"),
        ("x<br>y<table><tr><td>1<td>2<tr><td>3</table>", "x\ny\n\n1 2\n3"),
        ("<!-- hidden --><p>shown", "shown"),
        ("<p>line\n  broken</p>", "line broken"),
        ("", ""),
    ]:
        assert html_text(page).text == text


def test_the_title_is_told_apart_from_the_text() -> None:
    found = html_text("<title> A &amp; B </title><svg><title>icon</title></svg><p>Hi&nbsp;there</p>")
    assert found == ("A & B", "Hi there")


@pytest.mark.parametrize(
    "part",
    ["<", "<!--", "<a ", "<a x='", "<a x=\"'>", "<?", "&#x", "</", "<nav>", "</svg>", "<script", "<p> "],
)
def test_what_is_never_closed_costs_no_more_than_its_length(part: str) -> None:
    def seconds(count: int) -> float:
        page = "<nav>" * 100 + part * count
        begun = time.process_time()
        html_text(page)
        return time.process_time() - begun

    few, many = seconds(5_000), seconds(40_000)
    assert many < 40 * few + 0.2
