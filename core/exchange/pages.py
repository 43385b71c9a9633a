"""Pages of Markdown as several programs keep them: their links, tags and names, with code left alone; and one page
taken apart and given another text or heading, of which lines that stay keep every byte.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from core.exchange import front_matter
from core.exchange.records import SourceFile, as_texts
from core.text.normalise import code_lines
from core.text.wiki import without_code

PAGE_SUFFIXES: Final = (".md", ".markdown")
_WIKI: Final = re.compile(r"!?\[\[([^\[\]|\n]{1,400})(?:\|[^\[\]\n]{0,400})?\]\]")
_INLINE: Final = re.compile(r"\]\((?:<([^<>\n]{1,400})>|([^()<>\s]{1,400}))(?:\s[^()\n]{0,400})?\)")
_ATTACHED: Final = re.compile(
    r"(?i)\.(?:png|jpe?g|gif|svg|webp|bmp|avif|mp3|wav|m4a|ogg|flac|3gp|mp4|webm|ogv|mov|mkv|pdf|canvas|base)"
)
_TAG: Final = re.compile(r"(?<![\w#/&])#([^\W\d][\w/-]{0,60}|\d[\w/-]*[^\W\d][\w/-]*)")
_SIGNS_OF_CODE: Final = ("`", "~~~", "    ", "\t")
_TITLE: Final = re.compile(r"(?:[ \t]*\r?\n)*#[ \t]+(\S[^\r\n]*)")
_SLUG: Final = 60
# Names that Windows keeps for devices.
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)")


def is_page(name: str) -> bool:
    """Whether a file's name is one of a page."""
    return name.lower().endswith(PAGE_SUFFIXES)


def stem_of(name: str) -> str:
    """A page's name without folders and suffix."""
    return PurePosixPath(name).stem


def file_for(title: str, taken: Collection[str], reserved: str = "") -> str:
    """A name for a page, made of its title, that no file has. taken: names in lower case. reserved: what no page is
    called, without its suffix.
    """
    said = unicodedata.normalize("NFC", title.lower())
    # Vowel signs and accents are marks beside their letters in many scripts.
    kept = "".join(char if char == "_" or unicodedata.category(char)[0] in "LNM" else " " for char in said)
    slug = "-".join(kept.split()).strip("-_")[:_SLUG].strip("-_") or "note"
    while len(slug.encode()) > 2 * _SLUG:
        slug = slug[:-1]
    if _DEVICES.fullmatch(slug) or slug == reserved:
        slug = f"{slug}-note"
    number, name = 1, f"{slug}.md"
    while name in taken:
        number += 1
        name = f"{slug}-{number}.md"
    return name


def names_of(file: SourceFile, fields: Mapping[str, Any], title: str) -> tuple[str, ...]:
    """By what other pages refer to a page: title, name of the file, path, aliases, permalink."""
    path = str(PurePosixPath(file.name).with_suffix(""))
    permalink = fields.get("permalink")
    others = [permalink] if isinstance(permalink, str) else []
    aliases = (*as_texts(fields.get("aliases")), *as_texts(fields.get("alias")))
    return tuple(dict.fromkeys((title, stem_of(file.name), path, *others, *aliases)))


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that are no code, each with its number from 0, code within them taken out."""
    lines = text.split("\n")
    if not any(sign in text for sign in _SIGNS_OF_CODE):
        yield from enumerate(lines)
        return
    for number, (line, code) in enumerate(zip(lines, code_lines(lines), strict=True)):
        if not code:
            yield number, without_code(line, " ") if "`" in line else line


def links_of(line: str) -> Iterator[str]:
    """The names that a line of prose links to: [[Name]], [[folder/Name#Part|shown]], [shown](name.md)."""
    if "](" not in line and "[[" not in line:
        return
    for match in _WIKI.finditer(line):
        # In a table the bar before an alias is escaped.
        name = match[1].removesuffix("\\").split("#")[0].split("^")[0].strip()
        if name and not _ATTACHED.fullmatch(PurePosixPath(name).suffix):
            yield name.removesuffix(".md")
    for match in _INLINE.finditer(line):
        name = unquote((match[1] or match[2]).split("#")[0])
        if is_page(name) and "://" not in name:
            yield str(PurePosixPath(name).with_suffix("")).removeprefix("./")


def tags_of(text: str) -> Iterator[str]:
    """Tags that stand in the prose of a page, without "#"."""
    for _, line in prose(text):
        if "#" in line:
            bare = _INLINE.sub("]", _WIKI.sub(" ", line))
            yield from (match[1] for match in _TAG.finditer(bare))


def properties_of(fields: Mapping[str, Any]) -> str:
    """What front matter says, its title aside, as a list."""
    said = (
        (name, ", ".join(map(str, value)) if plain else value)
        for name, value in fields.items()
        for plain in [isinstance(value, list) and all(isinstance(one, str | int | float) for one in value)]
        if name != "title"
    )
    return "\n".join(
        f"- {name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in said
        if value not in (None, "", [], {})
    )


def title_of(file: SourceFile, given: object, body: str) -> str:
    """The title that front matter gives a page, else the heading at the top of its text, else the name of its file."""
    if isinstance(given, str) and given.strip():
        return given
    heading = _TITLE.match(body)
    return heading[1].strip() if heading is not None else stem_of(file.name)


def without_heading(text: str, title: str) -> str:
    """A text without the heading at its beginning that only repeats its title."""
    head, _, rest = text.lstrip("\n").partition("\n")
    return rest if head.strip() in (f"# {title}", title and f"#  {title}") else text


# One page in pieces

_BOM: Final = "\ufeff"
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\r?\n)*")
_HEADING: Final = re.compile(r"#[ \t]+(\S.*)(?:\n|\Z)")
_OWN_HEADING: Final = re.compile(r"(?m)^#[ \t]+(\S.*)$")
# A page with more lines than this is compared by its ends alone: all else takes a time that grows with its square.
_MOST_COMPARED: Final = 4000


class Parts(NamedTuple):
    """A page in pieces that make it again when they are joined: byte order mark, front matter with its fences, what
    stands before the text (blank lines, and a heading that says the title), the text, and what follows it.

    heading: what the first line of the text, or of what stands before it, says as a heading; "" for none.
    """

    bom: str
    front: str
    lead: str
    text: str
    tail: str
    heading: str

    @property
    def newline(self) -> str:
        """How lines end here."""
        return "\r\n" if "\r\n" in self.front + self.lead + self.text + self.tail else "\n"

    @property
    def body(self) -> str:
        """The text with plain line ends."""
        return self.text.replace("\r\n", "\n")

    def joined(self) -> str:
        """The page. What would be taken for front matter, and is none, stands behind a blank line."""
        rest = f"{self.lead}{self.text}{self.tail}"
        blank = self.newline if not self.front and front_matter.split(rest)[0] else ""
        return f"{self.bom}{self.front}{blank}{rest}"


def bare(page: str) -> str:
    """A page without its byte order mark."""
    return page.removeprefix(_BOM)


def take_apart(page: str, title: str = "") -> Parts:
    """A page in its pieces. title: the one that the front matter gives it; "" where a heading may say it."""
    bom = _BOM if page.startswith(_BOM) else ""
    front, body = front_matter.split(page[len(bom) :])
    lead = _BLANK_LINES.match(body)[0]  # type: ignore[index]
    found = _HEADING.match(body, len(lead))
    heading = found[1].strip() if found else ""
    if found and (not title or heading == title):
        lead = body[: found.end()] + _BLANK_LINES.match(body, found.end())[0]  # type: ignore[index]
    body = body[len(lead) :]
    text = body.rstrip()
    return Parts(bom, front, lead, text, body[len(text) :], heading)


def with_front(parts: Parts, front: str) -> Parts:
    """The page with other front matter: a blank line comes and goes with it."""
    lead, newline = parts.lead, parts.newline
    blank = lead[: len(lead) - len(lead.lstrip(" \t\r\n"))]
    if front and not parts.front and lead + parts.text and "\n" not in blank:
        lead = newline + lead
    if parts.front and not front and "\n" in blank:
        lead = lead[lead.index("\n") + 1 :]
    return parts._replace(front=front, lead=lead)


def with_text(parts: Parts, text: str) -> Parts:
    """The page with another text, whose lines end with "\n"; lines that stay keep their bytes."""
    newline, front, lead = parts.newline, parts.front, parts.lead
    text = _merged(parts.text, text, newline)
    if lead and not lead.endswith("\n") and text:
        lead += newline
    if front and not lead and not front.endswith("\n") and text:
        front += newline
    return parts._replace(front=front, text=text, lead=lead)


def with_heading(parts: Parts, title: str) -> Parts:
    """The page with another heading in the place of its own, or with one before its text where it has none."""
    newline = parts.newline
    found = _OWN_HEADING.search(parts.lead)
    if found is None:
        lead = f"{parts.lead}# {title}{newline}{newline}"
    else:
        end = found.start(1) + len(found[1].rstrip())
        lead = f"{parts.lead[: found.start(1)]}{title}{parts.lead[end:]}"
    return parts._replace(lead=lead, heading=title)


def _merged(old: str, new: str, newline: str) -> str:
    """A new text whose lines, white space at their ends aside, keep the bytes that they have in the old one. Blank
    lines in a row stay as they are, too: whoever edits writes one, and nobody asked for that.
    """
    ends = "\r" if newline == "\r\n" else ""
    before, after = _units(f"{old}{ends}"), _units(new)
    kept: list[str] = []
    for what, i, j, k, m in compared([said for said, _ in before], [said for said, _ in after]):
        if what == "equal":
            kept += [line for _, lines in before[i:j] for line in lines]
        elif what != "delete":
            kept += [line.rstrip("\r") + ends for _, lines in after[k:m] for line in lines]
    return "\n".join(kept).removesuffix("\r")


def _units(text: str) -> list[tuple[str, list[str]]]:
    """The lines of a text, each as what it says and its bytes; blank lines in a row outside of code are one."""
    lines = text.split("\n")
    found: list[tuple[str, list[str]]] = []
    blank = False
    for line, code in zip(lines, code_lines([line.removesuffix("\r") for line in lines]), strict=True):
        said = line.rstrip()
        if not said and blank and not code:
            found[-1][1].append(line)
        else:
            found.append((said, [line]))
        blank = not said and not code
    return found


def compared(before: list[str], after: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """How the one becomes the other, as `SequenceMatcher` says it; equal ends are told at once."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    inner, other = before[start : len(before) - end], after[start : len(after) - end]
    if start:
        yield "equal", 0, start, 0, start
    if len(inner) + len(other) > _MOST_COMPARED:
        yield "replace", start, start + len(inner), start, start + len(other)
    else:
        for what, i, j, k, m in SequenceMatcher(None, inner, other, autojunk=False).get_opcodes():
            yield what, start + i, start + j, start + k, start + m
    if end:
        yield "equal", len(before) - end, len(before), len(after) - end, len(after)
