"""Bullets of a page, each as one memory: as CLAUDE.md, AGENTS.md and their like hold them, and MEMORY.md."""

from __future__ import annotations

import re
from hashlib import blake2s
from typing import Final, NamedTuple

from core.exchange import front_matter
from core.exchange.records import (
    FormatError,
    LeftOut,
    Parsed,
    Record,
    Source,
    SourceFile,
    place,
    text_of,
    tidy_record,
    title_of,
)
from core.model.infer import MetaInput
from core.text.normalise import code_lines

_BULLET: Final = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])([ \t]+)(?=\S)")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_TITLED: Final = re.compile(r"\*\*((?:\\.|[^\\*]|\*(?!\*))+?):?\*\*:?(?:\s+[—–-])?(?=\s|$)\s*")
_ESCAPED: Final = re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>|~=])")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_TAG: Final = re.compile(r"[^\w-]+")
INSTRUCTIONS: Final = frozenset(
    (
        "claude.md",
        "claude.local.md",
        "agents.md",
        "agents.override.md",
        "gemini.md",
        "copilot-instructions.md",
    )
)
# What `nuggets agent install` put into the page. It tells how to ask the memory and is none of it.
_OURS: Final = re.compile(r"^<!-- nuggets:begin.*?^<!-- nuggets:end -->[^\r\n]*", re.MULTILINE | re.DOTALL)
_PERSONAL: Final = ("/.claude", "/.codex", "/.gemini")


class Bullet(NamedTuple):
    """One bullet with what belongs to it. headings: it stands below them, the outermost first."""

    file: str
    line: int
    content: str
    headings: tuple[str, ...]

    def record(self, meta: MetaInput) -> Record:
        """The bullet as a memory: what it begins with in bold is its title, else its first sentence."""
        titled = _TITLED.match(self.content)
        title = _plain(titled[1]) if titled else ""
        content = _plain(self.content[titled.end() :] if titled else self.content)
        if not content:
            title, content = "", title
        bare = (title or content).encode("utf-8", "replace")
        made = Record(
            where=place(self.file, self.line),
            key=f"{self.file}#{blake2s(bare, digest_size=8).hexdigest()}",
            title=title or title_of(content),
            content=content,
            derived=not title,
            tags=tuple(filter(None, (_tag(self.headings[-1]),))) if self.headings else (),
            meta=meta,
            names=(title,) if title else (),
        )
        return tidy_record(made) or made


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text).strip()


def _tag(heading: str) -> str:
    return _TAG.sub("-", heading.lower()).strip("-_")[:40]


def bullets_of(file: str, text: str) -> tuple[list[Bullet], list[int]]:
    """The bullets of a page, and the numbers of the lines that are none, headings, comments and rules aside.

    Lines that are indented below a bullet belong to it, inner bullets and code among them.
    """
    lines = _without_comments(text).split("\n")
    fenced = code_lines(lines)
    found: list[Bullet] = []
    others: list[int] = []
    headings: list[tuple[int, str]] = []
    at = front_matter.split(text)[0].count("\n")
    while at < len(lines):
        line = lines[at]
        heading = _HEADING.fullmatch(line)
        begins = _BULLET.match(line)
        if heading is not None and not fenced[at]:
            depth = len(heading[1])
            headings = [*(one for one in headings if one[0] < depth), (depth, heading[2].strip())]
        elif begins is not None and not fenced[at] and not _RULE.fullmatch(line):
            end = _end_of(lines, at, begins)
            body = _unindented(lines[at:end], begins)
            found.append(Bullet(file, at + 1, body, tuple(name for _, name in headings)))
            at = end
            continue
        elif line.strip() and not _RULE.fullmatch(line):
            others.append(at + 1)
        at += 1
    return found, others


def _without_comments(text: str) -> str:
    """The text with comments as blank lines, so that the others keep their numbers."""
    if "<!--" not in text:
        return text
    return re.sub(r"<!--.*?(?:-->|\Z)", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)


def _end_of(lines: list[str], start: int, begins: re.Match[str]) -> int:
    """Behind the last line of a bullet: what is indented belongs to it, and what goes on without a blank line."""
    outer, at, blank = len(begins[1]), start + 1, False
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            blank = True
        else:
            indent = len(line) - len(line.lstrip(" \t"))
            inner = indent > outer + 1 or line.startswith("\t")
            goes_on = not blank and not _BULLET.match(line) and not _HEADING.fullmatch(line)
            goes_on = goes_on and not line.lstrip().startswith(("```", "~~~", "|", ">"))
            if not (inner or goes_on):
                break
            blank = False
        at += 1
    while at > start + 1 and not lines[at - 1].strip():
        at -= 1
    return at


def _unindented(lines: list[str], begins: re.Match[str]) -> str:
    margin = begins.end()
    inner = [line[min(margin, len(line) - len(line.lstrip(" \t"))) :] for line in lines[1:]]
    return "\n".join([lines[0][begins.end() :], *inner])


# Instructions for agents


def read_instructions(source: Source) -> Parsed:
    """A note for each bullet; what stands between them is named, our own lines aside."""
    records: list[Record] = []
    left_out: list[LeftOut] = []
    folder = source.path.rstrip("/") if source.folder else source.path.rpartition("/")[0]
    meta = MetaInput(scope="user" if folder.endswith(_PERSONAL) else "project", source="explicit_user")
    for file in filter(is_named, source.files) if source.folder else source.files:
        try:
            found, lines = bullets_of(file.name, without_ours(text_of(file)))
        except FormatError as error:
            left_out.append(LeftOut(place(error.file or file.name, error.line), error.what))
            continue
        records += (bullet.record(meta) for bullet in found)
        if lines:
            what = f"{len(lines):,} lines are no bullets" if len(lines) > 1 else "is no bullet"
            left_out.append(LeftOut(place(file.name, lines[0]), what))
    return Parsed(tuple(records), None, tuple(left_out))


def is_named(file: SourceFile) -> bool:
    """Whether a file has a name of instructions for agents."""
    return file.name.rpartition("/")[2].lower() in INSTRUCTIONS


def without_ours(text: str) -> str:
    """Our lines as blank ones, so that the others keep their numbers."""
    return _OURS.sub(lambda found: "\n" * found[0].count("\n"), text)
