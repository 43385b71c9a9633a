"""What kind of document bytes are, and the text that they hold."""

from __future__ import annotations

import codecs
import io
import logging
import re
import time
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from core.pipeline.documents.errors import DocumentError, Fault
from core.pipeline.documents.html_text import html_text
from core.pipeline.extra import install_command

HTML: Final = "text/html"
MARKDOWN: Final = "text/markdown"
PLAIN: Final = "text/plain"
PDF: Final = "application/pdf"
_BY_ENDING: Final = {
    ".htm": HTML, ".html": HTML, ".xhtml": HTML, ".md": MARKDOWN, ".markdown": MARKDOWN, ".pdf": PDF,
}  # fmt: skip
_HTML_TYPES: Final = (HTML, "application/xhtml+xml")
_HTML_BEGINS: Final = re.compile(rb"\s*(?:<!--.{0,2000}?-->\s*)?(?:<!doctype\s+html|<html[\s>])", re.I | re.S)
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META_CHARSET: Final = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.I)
_META_WITHIN: Final = 4_096
_HEADING: Final = re.compile(r"^ {0,3}#{1,3}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_TITLE_WITHIN: Final = 20_000
_LONGEST_TITLE: Final = 200
# Pages of a PDF may be made to take for ever.
_PDF_SECONDS: Final = 120.0
# Characters of text; more than fits is no document.
LONGEST_TEXT: Final = 100 * 1024 * 1024


class ReadText(NamedTuple):
    """The text of a document. title: what the document calls itself, "" for nothing."""

    title: str
    text: str


def media_type_of(name: str, data: bytes) -> str:
    """The media type of a file, by what it begins with, then by the ending of its name."""
    if data.startswith(b"%PDF-"):
        return PDF
    ending = _BY_ENDING.get(PurePath(name).suffix.lower())
    if ending is not None and ending != PDF:
        return ending
    return HTML if _HTML_BEGINS.match(data[:4_096]) else PLAIN


def check_readable(data: bytes, media_type: str, where: str) -> None:
    """Raises DocumentError for what surely cannot be read, so that nobody waits to be told."""
    if not data.strip():
        raise _empty(where)
    if media_type == PDF:
        _pypdf(where)
    elif media_type not in _HTML_TYPES:
        _decoded(data, "", media_type, where, strict=True)


def read_text(
    data: bytes,
    media_type: str,
    *,
    charset: str = "",
    where: str = "",
    strict: bool = True,
    between: Callable[[], None] = lambda: None,
) -> ReadText:
    """The text that bytes hold, line breaks as they are in text and at blocks in a page.

    charset: what the server says of it, "" for nothing. strict: a plain text must be UTF-8 then, or say what it is by
    its first bytes; else what cannot be read becomes U+FFFD. between: called again and again while it takes long; what
    it raises ends it. Raises DocumentError.
    """
    if media_type == PDF:
        read = _pdf_text(data, where, between)
    elif media_type in _HTML_TYPES:
        read = ReadText(*html_text(_decoded(data, charset or _meta_charset(data), media_type, where)))
    else:
        text = _decoded(data, charset, media_type, where, strict=strict and not charset)
        text = text.replace("\r\n", "\n")
        read = ReadText(_heading(text) if media_type == MARKDOWN else "", text)
    text = read.text.replace("\x00", "\ufffd")
    if not text.strip():
        raise _empty(where)
    return ReadText(" ".join(read.title.split())[:_LONGEST_TITLE], text)


def _empty(where: str) -> DocumentError:
    return DocumentError("Empty content", Fault.EMPTY, where=where, todo="give a document with some text")


def _heading(text: str) -> str:
    found = _HEADING.search(text[:_TITLE_WITHIN])
    return found[1] if found else ""


def _meta_charset(data: bytes) -> str:
    found = _META_CHARSET.search(data[:_META_WITHIN])
    return found[1].decode("ascii", "replace") if found else ""


def _decoded(data: bytes, charset: str, media_type: str, where: str, *, strict: bool = False) -> str:
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data.decode(name, "replace")
    if charset:
        try:
            return data.decode(charset, "replace")
        except (LookupError, ValueError):
            pass  # a name that means nothing, or no encoding of text
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if strict:
            raise DocumentError(
                f"is not UTF-8 (byte {error.start})",
                Fault.UNREADABLE,
                where=where,
                todo="convert it to UTF-8",
            ) from error
        # What pages of former times are mostly in.
        return data.decode("utf-8" if b"\xc3" in data else "cp1252", "replace")
    if strict and "\x00" in text[:8_192]:
        raise DocumentError(
            "is no text", Fault.UNREADABLE, where=where, todo="give a text, a Markdown or HTML file, or a PDF"
        )
    return text


def _pypdf(where: str) -> Any:
    """The library."""
    try:
        import pypdf
    except ImportError:
        raise DocumentError(
            "the text of a PDF needs the library pypdf", Fault.LIBRARY_MISSING, where=where,
            todo=f"install it with: {install_command('pdf')}",
        ) from None  # fmt: skip
    # It warns of each flaw on standard error, where the app paints.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    return pypdf


def _pdf_text(data: bytes, where: str, between: Callable[[], None]) -> ReadText:
    """The text of each page, a blank line between two."""
    library, ends = _pypdf(where), time.monotonic() + _PDF_SECONDS
    pages, length = [], 0
    try:
        reader = library.PdfReader(io.BytesIO(data), strict=False)
        title = str(getattr(getattr(reader, "metadata", None), "title", None) or "")
        for page in reader.pages:
            between()
            said = str(page.extract_text() or "").strip()
            length += len(said)
            if length > LONGEST_TEXT or time.monotonic() > ends:
                raise DocumentError("the PDF takes too long to read", Fault.TOO_LARGE, where=where)
            pages.append(said)
    except DocumentError:
        raise
    except (
        MemoryError,
        RecursionError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
    ) as error:
        raise _bad_pdf(error, where) from error
    except Exception as error:
        # The library's own errors have no base among those of Python; whatever is not its own goes on.
        if not type(error).__module__.startswith("pypdf"):
            raise
        raise _bad_pdf(error, where) from error
    return ReadText(title, "\n\n".join(page for page in pages if page))


def _bad_pdf(error: Exception, where: str) -> DocumentError:
    said = " ".join(str(error).split())[:200] or type(error).__name__
    return DocumentError(f"the PDF cannot be read ({said})", Fault.UNREADABLE, where=where)
