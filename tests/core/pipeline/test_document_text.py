"""Bytes of documents: what kind they are, and the text that they hold."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from types import ModuleType, SimpleNamespace

import pytest

from core.pipeline.document_text import (
    DocumentError,
    Fault,
    check_readable,
    html_text,
    media_type_of,
    read_text,
)

PDF = b"%PDF-1.4 made up"


def test_the_kind_is_told_by_the_first_bytes_and_then_by_the_name() -> None:
    assert media_type_of("x.txt", PDF) == "application/pdf"
    assert media_type_of("notes.MD", b"# T") == "text/markdown"
    assert media_type_of("page", b"\n<!DOCTYPE html><p>x") == "text/html"
    assert media_type_of("x.pdf", b"no pdf at all") == "text/plain"


@pytest.mark.parametrize(
    ("data", "kind", "charset", "text"),
    [
        ("é".encode(), "text/plain", "", "é"),
        ("é".encode("utf-16"), "text/plain", "", "é"),
        (b"\xef\xbb\xbfx", "text/plain", "", "x"),
        ("é".encode("latin-1"), "text/html", "iso-8859-1", "é"),
        (b'<meta charset="windows-1252"><p>\x80</p>', "text/html", "", "€"),
        (b"<p>x</p>", "text/html", "no-such-charset", "x"),
        (b"a\r\nb", "text/plain", "", "a\nb"),
    ],
)
def test_text_is_read_in_its_own_encoding(data: bytes, kind: str, charset: str, text: str) -> None:
    assert read_text(data, kind, charset=charset).text == text


@pytest.mark.parametrize(
    ("data", "kind", "fault"),
    [
        (b"", "text/plain", Fault.EMPTY),
        (b" \n ", "text/plain", Fault.EMPTY),
        (b"<p> </p><script>x</script>", "text/html", Fault.EMPTY),
        (b"caf\xe9", "text/plain", Fault.UNREADABLE),
        (b"\x00\x01\x02", "text/plain", Fault.UNREADABLE),
    ],
)
def test_what_holds_no_text_is_refused_with_its_reason(data: bytes, kind: str, fault: Fault) -> None:
    with pytest.raises(DocumentError) as refused:
        read_text(data, kind)
    assert refused.value.fault is fault
    assert refused.value.permanent


def test_a_markdown_title_is_its_first_heading() -> None:
    assert read_text(b"intro\n\n## The Plan ##\n", "text/markdown").title == "The Plan"


def test_without_its_library_a_pdf_is_refused_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(DocumentError, match="pypdf") as refused:
        check_readable(PDF, "application/pdf", "x.pdf")
    assert refused.value.fault is Fault.LIBRARY_MISSING
    assert "install it with" in str(refused.value)


def test_the_pages_of_a_pdf_stand_apart_and_one_that_cannot_be_read_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = ModuleType("pypdf")
    pages = [SimpleNamespace(extract_text=lambda said=said: said) for said in ("one ", "", "two")]
    library.PdfReader = lambda file, strict: SimpleNamespace(  # type: ignore[attr-defined]
        metadata=SimpleNamespace(title="The\nPaper"), pages=pages
    )
    monkeypatch.setitem(sys.modules, "pypdf", library)
    assert read_text(PDF, "application/pdf") == ("The Paper", "one\n\ntwo")

    def broken() -> str:
        raise KeyError("/Contents")

    pages[1] = SimpleNamespace(extract_text=broken)
    with pytest.raises(DocumentError, match="cannot be read") as refused:
        read_text(PDF, "application/pdf")
    assert refused.value.fault is Fault.UNREADABLE


# Pages


def test_blocks_stand_apart_and_what_is_no_text_is_left_out() -> None:
    for page, text in [
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<nav>Home <a href=/>All</a></nav><p>Said.</p>", "Said."),
        ("<p>Said.<nav>menu that is never closed<p>and more", "Said."),
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
    [
        "<",
        "<!--",
        "<a ",
        "<a x='",
        "<a x=\"'>",
        "<?",
        "&#x",
        "</",
        "<nav>",
        "<b><i>",
        "</svg>",
        "<script",
        "<p> ",
        "<svg><title>",
    ],
)  # fmt: skip
def test_what_is_never_closed_costs_no_more_than_its_length(part: str) -> None:
    def seconds(count: int) -> float:
        page = "<nav>" * 100 + part * count
        begun = time.process_time()
        with suppress(DocumentError):
            html_text(page)
        return time.process_time() - begun

    few, many = seconds(5_000), seconds(40_000)
    assert many < 40 * few + 0.2
