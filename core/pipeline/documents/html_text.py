"""The text of an HTML page: tags and scripts left out, blocks apart. Takes time in proportion to the page's length.

The standard library's parser is not used: pages may be hostile, and it takes quadratic time on what is never closed.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import Final, NamedTuple

# One pass over the page: a comment, a declaration, a tag, or a stray "<". Each alternative ends where it began at the
# latest, so that nothing is read twice.
_MARKUP: Final = re.compile(
    r"<(?:(?P<comment>!--)|(?P<declaration>[!?])"
    r"|(?P<end>/)?(?P<name>[a-zA-Z][a-zA-Z0-9:-]{0,63}+))"
)
# Ends of an open tag: a ">" inside quotes is part of an attribute.
_IN_TAG: Final = re.compile(r"[\"'>]")
# Elements whose text is none: it is dropped even where they are never closed.
_RAW: Final = frozenset(("script", "style"))
# Elements that are no part of what a page says. An unclosed one is kept: else it would take the rest of the page.
_DROPPED: Final = frozenset(
    (
        "nav", "noscript", "template", "svg", "iframe", "object", "canvas", "audio", "video", "select", "button",
        "textarea", "dialog", "math",
    )
)  # fmt: skip
_BLOCKS: Final = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt",
        "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header",
        "hr", "html", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody",
        "tfoot", "thead", "ul",
    )
)  # fmt: skip
_LINES: Final = frozenset(("br", "tr", "li", "dt", "dd"))
_HEADINGS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_CELLS: Final = frozenset(("td", "th"))
_PARAGRAPH: Final = "\n\n"
_SPACES: Final = re.compile(r"[\s\u00a0]+")
_BLANK_LINES: Final = re.compile(r"\n{3,}")
_LONGEST_TITLE: Final = 300


class PageText(NamedTuple):
    """What a page says. title: "" where it has none."""

    title: str
    text: str


def html_text(page: str) -> PageText:
    """The title of a page and its text, blocks apart by a blank line; nothing of scripts, styles and navigation.

    Entities are decoded once: what they spell is text, never markup.
    """
    return _Reader(page).read()


class _Reader:
    """Reads one page from its beginning to its end."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._parts: list[str] = []
        self._title: str | None = None
        # Names of open elements that are left out, each with where the parts before it end.
        self._dropped: list[tuple[str, int]] = []
        self._open_of: Counter[str] = Counter()
        self._title_from: int | None = None
        self._preformatted = 0
        # There is no end of a comment, or of an element of that name, from here on.
        self._never: set[str] = set()

    def read(self) -> PageText:
        page, place = self._page, 0
        while (found := _MARKUP.search(page, place)) is not None:
            self._text(page[place : found.start()])
            place = self._after(found)
        self._text(page[place:])
        return PageText(_one_line(self._title or "")[:_LONGEST_TITLE], _tidy("".join(self._parts)))

    def _after(self, found: re.Match[str]) -> int:
        """Takes markup in; where what follows it begins."""
        if found["comment"]:
            return self._skip(found.end(), "-->")
        if found["declaration"]:
            return self._skip(found.end(), ">")
        name = found["name"].lower()
        end, closed = self._tag_end(found.end())
        if found["end"]:
            self._close(name)
            return end
        if name in _RAW and not closed:
            return self._after_raw(end, name)
        self._open(name, closed)
        return end

    def _skip(self, place: int, until: str) -> int:
        if until in self._never:
            return place
        end = self._page.find(until, place)
        if end < 0:
            self._never.add(until)
            # A comment that is never closed is the rest of the page to a browser, too; the page is kept instead.
            return place
        return end + len(until)

    def _tag_end(self, place: int) -> tuple[int, bool]:
        """Where a tag ends, and whether it closes itself."""
        start = place
        while (found := _IN_TAG.search(self._page, place)) is not None:
            if found[0] == ">":
                return found.end(), self._page[max(start, found.start() - 1) : found.start()] == "/"
            quote = f"never {found[0]}"
            close = -1 if quote in self._never else self._page.find(found[0], found.end())
            if close < 0:
                self._never.add(quote)
                place = found.end()
            else:
                place = close + 1
        return len(self._page), False

    def _after_raw(self, place: int, name: str) -> int:
        """The end of a script or style; an unclosed one goes on to the end of the page."""
        found = re.compile(rf"</{name}(?=[\s/>])[^>]*>?", re.IGNORECASE).search(self._page, place)
        return len(self._page) if found is None else found.end()

    def _open(self, name: str, closed: bool) -> None:
        if closed and name not in _BLOCKS and name != "br":
            return
        if name == "title" and self._title is None and self._title_from is None:
            self._title_from = len(self._parts)
        elif name in _DROPPED and len(self._dropped) < 1_000:
            self._dropped.append((name, len(self._parts)))
            self._open_of[name] += 1
        if name == "pre":
            self._preformatted += 1
        if name in _BLOCKS or name in _LINES:
            self._parts.append("\n" if name in _LINES else _PARAGRAPH)
        if name in _HEADINGS:
            self._parts.append(_HEADINGS[name])
        elif name == "li":
            self._parts.append("- ")
        elif name in _CELLS:
            self._parts.append(" ")

    def _close(self, name: str) -> None:
        if name == "title" and self._title_from is not None:
            self._title = "".join(self._parts[self._title_from :])
            del self._parts[self._title_from :]
            self._title_from = None
        elif self._open_of[name]:
            # The innermost open one of this name, and what was opened within it.
            other = ""
            while other != name:
                other, start = self._dropped.pop()
                self._open_of[other] -= 1
                del self._parts[start:]
        if name == "pre":
            self._preformatted = max(0, self._preformatted - 1)
        if name in _BLOCKS:
            self._parts.append("\n" if name in _LINES else _PARAGRAPH)

    def _text(self, raw: str) -> None:
        if not raw:
            return
        # What is written between tags; line breaks that were only layout are spaces.
        text = html.unescape(raw)
        self._parts.append(text if self._preformatted else _SPACES.sub(" ", text))


def _tidy(text: str) -> str:
    """Without blank lines in a row, and without spaces around line breaks but before preformatted lines."""
    lines = [line.rstrip() for line in text.split("\n")]
    joined = "\n".join(line if line.startswith("  ") else line.lstrip(" ") for line in lines)
    return _BLANK_LINES.sub(_PARAGRAPH, joined).strip()


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
