"""Pages of Markdown as several programs keep them: their links, tags and names, with code left alone."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import unquote

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


def _is_plain_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str | int | float) for one in value)


def properties_of(fields: Mapping[str, Any]) -> str:
    """What front matter says, its title aside, as a list."""
    said = (
        (name, ", ".join(map(str, value)) if _is_plain_list(value) else value)
        for name, value in fields.items()
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
