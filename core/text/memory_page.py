"""A MEMORY.md as lines that keep their ends: its headings, what is code or comment, and its bullets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2s
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it.token import Token

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_COMMENT_START: Final = re.compile(r"(?<!\\)<!--")
_ESCAPED: Final = re.compile(r"\\([\\*`<#])")
# What begins a heading, an underlined heading, a rule, a bullet, a quote, a code fence or an HTML block.
BLOCK_MARK: Final = re.compile(
    r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|(?:=+|-+|_{3,}|\*{3,})(?=\s*$)|`{3}|~{3}|<(?=[!/?A-Za-z])"
)
NUMBERED: Final = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_RAW_HTML: Final = re.compile(r" {0,3}<(pre|script|style|textarea)(?=[\s>]|$)", re.IGNORECASE)
_BULLET: Final = re.compile(r"[ \t]*[-*+][ \t]")
_TITLED: Final = re.compile(r"([-*+][ \t]+)\*\*((?:\\.|[^\\*]|\*(?!\*))+)\*\*:(?=\s|$)")


def split_lines(text: str) -> list[str]:
    """Lines with their ends; only LF, CRLF and CR end a line."""
    return _LINE.findall(text)


@dataclass(frozen=True)
class Heading:
    """A heading: its level, its name, the line it begins on and the first line below it."""

    level: int
    name: str
    start: int
    below: int


@dataclass(frozen=True)
class Bullet:
    """A bullet of the form `- **title**: ...`: its line, the one below its last, its section, marker and title."""

    line: int
    end: int
    section: str
    marker: str
    title: str


class MarkdownPage:
    """The structure of a page, as CommonMark has it. `bare`: lines without their ends. `opaque`: code, HTML with its
    comments, and front matter.

    `open_from`: the line from which on everything is code or comment because nothing closes it, else the
    number of lines. `comments`: where a comment that stands by itself begins, by the line below it.
    """

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.bare = [line.rstrip("\r\n") for line in lines]
        self.opaque = [False] * len(lines)
        self.open_from = len(lines)
        self.comments: dict[int, int] = {}
        self.headings: list[Heading] = []
        self._read_blocks(self._front_matter())
        self.bullets = self._find_bullets()

    def blank(self, line: int) -> bool:
        """Whether a line holds nothing but white space."""
        return not self.bare[line].strip()

    def section(self, name: str) -> Heading | None:
        """The first heading of the second level with this name."""
        return next((h for h in self.headings if h.level == 2 and h.name == name), None)

    def end_of(self, heading: Heading, *, deepest: int = 2) -> int:
        """The line below a heading's part: the next heading of level `deepest` or above, or the end."""
        later = (h.start for h in self.headings if h.start > heading.start and h.level <= deepest)
        return min(next(later, len(self.lines)), self.open_from)

    def _front_matter(self) -> int:
        """The first line below the front matter, which has no blank line; 0 for none."""
        if not self.bare or self.bare[0].rstrip() != "---":
            return 0
        for place, line in enumerate(self.bare[1:], 1):
            if not line.strip():
                return 0
            if line.rstrip() == "---":
                self.opaque[: place + 1] = [True] * (place + 1)
                return place + 1
        return 0

    def _read_blocks(self, start: int) -> None:
        from markdown_it import MarkdownIt

        parser = MarkdownIt("commonmark").disable("inline")
        tokens = parser.parse("\n".join([*[""] * start, *self.bare[start:]]))
        for token, inside in zip(tokens, [*tokens[1:], None], strict=False):
            first, end = token.map or (0, 0)
            if token.type == "heading_open" and token.level == 0 and inside is not None:
                self.headings.append(Heading(int(token.tag[1]), _name(inside.content), first, end))
            elif token.type in ("fence", "html_block"):
                self.opaque[first:end] = [True] * (end - first)
                if token.content.lstrip().startswith("<!--"):
                    self.comments[end] = first
                if token.level == 0 and end == len(self.bare) and not self._is_closed(token, first, end):
                    self.open_from = first

    def _is_closed(self, token: Token, first: int, end: int) -> bool:
        """Whether a code block or HTML at the end of the page is closed, so that what follows is none of it."""
        last = self.bare[end - 1].strip()
        if token.type == "fence":
            return end - first > 1 and last.startswith(token.markup) and not last.strip(token.markup[0])
        if token.content.lstrip().startswith("<!--"):
            return "-->" in token.content
        raw = _RAW_HTML.match(token.content)
        return raw is None or f"</{raw[1].lower()}>" in token.content.lower()

    def _find_bullets(self) -> list[Bullet]:
        found: list[Bullet] = []
        headings = {heading.start: heading for heading in self.headings}
        section = ""
        for place, line in enumerate(self.bare):
            heading = headings.get(place)
            if heading is not None and heading.level <= 2:
                section = heading.name if heading.level == 2 else ""
            title = None if self.opaque[place] else read_title(line)
            if title is not None:
                found.append(Bullet(place, self._end_of_part(place), section, *title))
        return found

    def digest(self, bullet: Bullet) -> str:
        """What a bullet says; see `digest_of`."""
        return digest_of(self.bare[bullet.line : bullet.end], bullet.marker)

    def parts(self) -> Iterator[tuple[int, int]]:
        """The page in pieces, as their first lines and the ones below them: bullets and single lines."""
        place = 0
        while place < len(self.lines):
            bullet = not self.opaque[place] and begins_bullet(self.bare[place])
            end = self._end_of_part(place) if bullet else place + 1
            yield place, end
            place = end

    def _end_of_part(self, bullet: int) -> int:
        end = bullet + 1
        while end < len(self.bare) and not self.opaque[end] and continues(self.bare[end]):
            end += 1
        return end


def parts_of(text: str) -> list[str]:
    """A text in pieces: each bullet with the lines that belong to it, and single lines; joined they are the text."""
    page = MarkdownPage(split_lines(text))
    return ["".join(page.lines[start:end]) for start, end in page.parts()]


def digest_of(lines: Sequence[str], marker: str) -> str:
    """What a bullet says, as 24 hexadecimal digits: its sign and indentation, which programs change, say nothing."""
    return digest([lines[0][len(marker) :].strip(), *map(str.strip, lines[1:])], size=12)


def digest(said: Iterable[str], size: int) -> str:
    """A short name that follows from some texts, as twice as many hexadecimal digits."""
    separated = "\0".join(said).encode("utf-8", "surrogatepass")
    return blake2s(separated, digest_size=size).hexdigest()


def read_title(line: str) -> tuple[str, str] | None:
    """The marker and the title of a line that begins a bullet with a title, else None."""
    found = _TITLED.match(line)
    return None if found is None else (found[1], " ".join(_ESCAPED.sub(r"\1", found[2]).split()))


def begins_bullet(line: str) -> bool:
    """Whether a line begins a bullet."""
    return bool(_BULLET.match(line))


def continues(line: str) -> bool:
    """Whether a line below a bullet belongs to it: a blank one does not, nor one that begins a block of its own."""
    bare = line.lstrip(" \t").rstrip()
    return bool(bare) and line[0] != "|" and not (BLOCK_MARK.match(bare) or NUMBERED.match(bare))


def heading_line(name: str) -> str:
    """A heading of the second level that reads back as this name."""
    return "## " + re.sub(r"[\\*`<#]", r"\\\g<0>", name)


def _name(text: str) -> str:
    return " ".join(_ESCAPED.sub(r"\1", _without_comments(text)).split())


def _without_comments(text: str) -> str:
    kept, at = [], 0
    while (found := _COMMENT_START.search(text, at)) and (end := text.find("-->", found.end())) >= 0:
        kept.append(text[at : found.start()])
        at = end + len("-->")
    return "".join([*kept, text[at:]])
