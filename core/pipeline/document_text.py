"""What kind of document bytes are, the text that they hold, and why one could not be read."""

from __future__ import annotations

import codecs
import io
import logging
import re
import time
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from core.errors import ErrorCode, NuggetsError
from core.pipeline.extra import install_command


class Fault(StrEnum):
    """What was wrong, for counting; the class of the job's error."""

    EMPTY = "empty_document"
    UNREADABLE = "unreadable_document"
    LIBRARY_MISSING = "library_missing"
    UNSUPPORTED = "unsupported_content"
    TOO_LARGE = "too_large"
    BAD_ADDRESS = "bad_address"
    BLOCKED = "blocked_address"
    REDIRECTS = "too_many_redirects"
    REFUSED = "fetch_refused"
    TIMEOUT = "fetch_timeout"
    UNREACHABLE = "fetch_unreachable"
    SERVER = "fetch_failed"


# What may be better a while later.
_PASSING = frozenset((Fault.TIMEOUT, Fault.UNREACHABLE, Fault.SERVER))


class DocumentError(NuggetsError):
    """A document that could not be read. fault: why, for programs."""

    code = ErrorCode.UNREADABLE_SOURCE

    def __init__(self, what: str, fault: Fault, *, where: str = "", **said: Any) -> None:
        super().__init__(what, where=where, **said)
        self.fault = fault

    @property
    def error_class(self) -> str:
        """Under what name the queue counts it."""
        return str(self.fault)

    @property
    def permanent(self) -> bool:
        """Whether another try would end the same."""
        return self.fault not in _PASSING


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
        read = html_text(_decoded(data, charset or _meta_charset(data), media_type, where))
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


# Elements that are no part of what a page says.
_DROPPED: Final = (
    "nav", "noscript", "template", "svg", "iframe", "object", "canvas", "audio", "video", "select", "button",
    "textarea", "dialog", "math", "script", "style",
)  # fmt: skip
_BLOCKS: Final = (
    "address", "article", "aside", "blockquote", "center", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "ol", "p", "pre", "section",
    "summary", "table", "ul",
)  # fmt: skip
# What stands before and after an element, where it is no paragraph. Breaks are written as signs until white space that
# was only layout is one space.
_BREAK, _PARAGRAPH, _KEPT_SPACE = "\ue000", "\ue001", "\ue002"
_AROUND: Final = {
    "br": (_BREAK, ""), "tr": (_BREAK, ""), "li": (_BREAK + "- ", _BREAK), "td": (" ", ""), "th": (" ", ""),
}  # fmt: skip
# The parser takes a time that grows with the square of the depth, and no page that people read is so deep. Those that
# end by themselves and those without content add nothing to it.
_DEEPEST: Final = 2_000
_TAG: Final = re.compile(
    r"<(/?)(?!(?:p|li|d[dt]|t[dhr]|option|br|hr|img|input|link|meta|source|col|area|base|wbr)\b)([a-z][^\s/>]{0,40})",
    re.I,
)
_SPACES: Final = re.compile(r"[\s\u00a0]+")
_BREAKS: Final = re.compile(f" ?([{_BREAK}{_PARAGRAPH}][{_BREAK}{_PARAGRAPH} ]*)")


def html_text(page: str) -> ReadText:
    """The title of a page and its text, blocks apart by a blank line; nothing of scripts, styles and navigation.

    Entities are decoded once: what they spell is text, never markup. Raises DocumentError for what no person nested.
    """
    opened, depth = Counter[str](), 0
    for tag in _TAG.finditer(page):
        name = tag[2].lower()
        step = 1 if not tag[1] else -1 if opened[name] else 0
        opened[name] += step
        depth += step
        if depth > _DEEPEST:
            raise DocumentError("the page is nested too deep", Fault.UNREADABLE, todo="save it as text")
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(page)
    for node in reversed(tree.css(",".join(_DROPPED))):
        node.decompose()
    found = tree.css_first("title")
    title = _SPACES.sub(" ", found.text()).strip()[:_LONGEST_TITLE] if found is not None else ""
    for node in tree.css("pre"):
        kept = node.text().strip("\n").replace("\n", _BREAK).replace(" ", _KEPT_SPACE)
        node.replace_with(_PARAGRAPH + kept + _PARAGRAPH)
    for name in (*_BLOCKS, *_AROUND):
        before, after = _AROUND.get(name, (_PARAGRAPH, _PARAGRAPH))
        heading = f"{'#' * int(name[1])} " if name[0] == "h" and name[1:].isdigit() else ""
        for node in tree.css(name):
            node.insert_before(before + heading)
            node.insert_after(after)
    text = _SPACES.sub(" ", tree.body.text() if tree.body is not None else "")
    text = _BREAKS.sub(lambda run: "\n\n" if _PARAGRAPH in run[1] else "\n", text)
    return ReadText(title, text.replace(_KEPT_SPACE, " ").strip())
