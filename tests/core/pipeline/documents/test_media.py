"""Bytes of documents: what kind they are, and the text that they hold."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from core.pipeline.documents.errors import DocumentError, Fault
from core.pipeline.documents.media import check_readable, media_type_of, read_text

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
